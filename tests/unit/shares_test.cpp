// Exact shares, weights and usage that fades.
#include "parts/shares.hpp"

#include <gmock/gmock.h>

#include "parts/decay.hpp"
#include "parts/filling.hpp"

namespace muster {
namespace {

TEST(UserShare, WeightZeroComesAfterEveryShare) {
  const UserShare third{1, 3}, same{2, 6}, full{1, 1}, weightless{0, -5}, more{1, -5};
  EXPECT_TRUE(third == same);
  EXPECT_TRUE(third < full);
  EXPECT_TRUE(full < weightless);
  EXPECT_TRUE(weightless < more);
  EXPECT_TRUE(more < std::numeric_limits<UserShare>::max());
  EXPECT_EQ(same.text(), "1/3");
}

TEST(Weights, FractionsShareAScale) {
  Names names;
  names.add("ann"), names.add("bob"), names.add("cy");
  Config c;
  c.set("weights", Config::text("ann=1/3,bob=0.5"));
  const Weights w(c, names);
  EXPECT_EQ(w.scale, 6);
  EXPECT_EQ(w.value, (std::vector<int64_t>{2, 3, 6}));
  Config wrong;
  wrong.set("weights", Config::text("bop=2"));
  EXPECT_THAT([&] { Weights(wrong, names); }, testing::ThrowsMessage<InputError>(testing::HasSubstr("no \"bop\"; did you mean bob?")));
}

TEST(Decay, HalfIsLeftAfterAHalfLife) {
  const Decay d(3600 * kSecond);
  EXPECT_EQ(d.over(0).factor, int64_t{1} << 62);
  EXPECT_EQ(d.over(3600 * kSecond).factor, int64_t{1} << 61);
  EXPECT_EQ(d.over(7200 * kSecond).factor, int64_t{1} << 60);
  // 2^(-1/2) and 2^(-3/4), to twelve digits.
  EXPECT_NEAR(double(d.over(1800 * kSecond).factor) / 0x1p62, 0.707106781187, 1e-12);
  EXPECT_NEAR(double(d.over(2700 * kSecond).factor) / 0x1p62, 0.594603557501, 1e-12);
  // One GPU for one half-life weighs (1 - 1/2) / ln 2 half-lives at its end.
  EXPECT_NEAR(double(d.over(3600 * kSecond).worth) / double(3600 * kSecond), 0.721347520444, 1e-9);
  EXPECT_EQ(Decay(kNever).over(5).worth, 5);
  EXPECT_EQ(Decay::left(Int128{3} << 80, int64_t{1} << 61), Int128{3} << 79);
}

TEST(Filling, WhoWantsLittleStopsFirst) {
  // 10 among demands 2, 2.6, 4, 5 (in tenths): 2, 2.6, 2.7, 2.7 (Keshav 1997).
  const std::vector<int64_t> capacity{100};
  std::vector<Filler> users(4);
  const int64_t wants[] = {20, 26, 40, 50};
  for (size_t u = 0; u < 4; u++) users[u].uses = {1}, users[u].most = wants[u];
  const Filled f = fill(capacity, users);
  EXPECT_EQ(f.units[0], Fraction(20));
  EXPECT_EQ(f.units[1], Fraction(26));
  EXPECT_EQ(f.units[2], Fraction(27));
  EXPECT_EQ(f.units[3], Fraction(27));
  ASSERT_EQ(f.rounds.size(), 3u);
  EXPECT_EQ(f.rounds[2].stopped, (std::vector<uint32_t>{2, 3}));
}

TEST(Fraction, TooLargeIsSaid) {
  const Fraction big(Int128{1} << 100, 3);
  EXPECT_THROW(big * big, InputError);
  EXPECT_EQ((Fraction(1, 3) + Fraction(1, 6)).text(), "1/2");
  EXPECT_EQ(Fraction::parse("2.50")->text(), "5/2");
  EXPECT_FALSE(Fraction::parse("-1"));
  EXPECT_FALSE(Fraction::parse("1/0"));
}

}  // namespace
}  // namespace muster
