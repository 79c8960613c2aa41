#include <gmock/gmock.h>

#include "muster/config.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"

namespace muster { namespace {

TEST(Numbers, ScaledDecimalIsExact) {
  struct Row {
    const char* text;
    int64_t scale, down, nearest, up;
  };
  const Row kTable[] = {
      {"0", 1000, 0, 0, 0},
      {"12", 1000, 12000, 12000, 12000},
      {"1.0005", 1000, 1000, 1001, 1001},
      {"1.0004999", 1000, 1000, 1000, 1001},
      {"0.1", 1024, 102, 102, 103},
      {"-0.0001", 1000, -1, 0, 0},
      {".5", 1, 0, 1, 1},
      {"1.5e3", 1, 1500, 1500, 1500},
      {"25E-1", 1, 2, 3, 3},
      {"9223372036854775807", 1, 9223372036854775807, 9223372036854775807, 9223372036854775807},
      {"1e-900", 1, 0, 0, 1},
      {"0.29", 1000000, 290000, 290000, 290000},
  };
  for (const Row& r : kTable) {
    EXPECT_EQ(scaled_decimal(r.text, r.scale, Round::down), r.down) << r.text;
    EXPECT_EQ(scaled_decimal(r.text, r.scale, Round::nearest), r.nearest) << r.text;
    EXPECT_EQ(scaled_decimal(r.text, r.scale, Round::up), r.up) << r.text;
  }
  for (const char* no :
       {"", ".", "-", "1x", "1..2", "e3", "1e", "1e+-3", "9223372036854775808", "1e19", "1e999999", "nan", "inf", "0x10", " 1"})
    EXPECT_FALSE(scaled_decimal(no, 1, Round::down)) << no;
}

TEST(Numbers, ForMessages) {
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(with_commas(2147483647), "2,147,483,647");
  EXPECT_EQ(in_quotes("a\nb"), "\"a\\nb\"");
}

TEST(Durations, Parse) {
  const std::pair<const char*, Duration> kTable[] = {
      {"90s", 90 * kSecond},
      {"1.5", 1'500'000},
      {"250ms", 250'000},
      {"360 s", 360 * kSecond},
      {"1h30m", 5400 * kSecond},
      {"1d 2h", 93'600 * kSecond},
      {"0", 0},
      {"2-01:00:00", 176'400 * kSecond},
      {"1:30", 90 * kSecond},
      {"2-3", 183'600 * kSecond},
      {"7us", 7},
      {"01:00:00.5", 3'600'500'000},
      {"100:00:00", 360'000 * kSecond},
      {"2-03:30", 185'400 * kSecond},
  };
  for (const auto& [text, ticks] : kTable) EXPECT_EQ(parse_duration(text), ticks) << text;
  EXPECT_EQ(parse_duration("3", 3600 * kSecond), 10'800 * kSecond);
  for (const char* no :
       {"", "-1", "x", "1m30h", "1h1h", "10:61", "1:2:3:4", "1e30", "5 parsecs", "-0:30", "1-", "300000 years", "h", "10000000000d"})
    EXPECT_THROW(parse_duration(no), InputError) << no;
}

TEST(Durations, Format) {
  const std::pair<Duration, const char*> kTable[] = {
      {0, "0s"},
      {5, "5us"},
      {250'000, "250ms"},
      {1'500'000, "1.5s"},
      {680 * kSecond, "11m 20s"},
      {11'520 * kSecond, "3h 12m"},
      {602 * kSecond, "10m 02s"},
      {183'600 * kSecond, "2d 03h"},
      {7200 * kSecond, "2h"},
      {kNever, "never"},
  };
  for (const auto& [ticks, text] : kTable) EXPECT_EQ(format_duration(ticks), text);
}

TEST(NearestName, DistanceAtMostThreeAndBelowHalfTheLength) {
  const std::string_view known[] = {"fifo", "drf", "backfill", "gpus"};
  EXPECT_EQ(nearest_name("fiof", known), "fifo");  // a swap is one step
  EXPECT_EQ(nearest_name("backfil", known), "backfill");
  EXPECT_EQ(nearest_name("bakfilll", known), "backfill");
  EXPECT_EQ(nearest_name("gpu", known), "gpus");
  EXPECT_EQ(nearest_name("ab", known), "");
  EXPECT_EQ(nearest_name("", known), "");
}

TEST(JsonConfig, ValuesAndPlaces) {
  const Config c = parse_json_config("// first\n{\"a\": {\"b/c\": [1, 2.50, \"x\"], \"t\": true, \"n\": null} /* last */}", "f.json");
  const Config& a = *c.find("a");
  EXPECT_EQ(a.where, "f.json: /a");
  const Config& list = *a.find("b/c");
  EXPECT_EQ(list.fields[2].second.where, "f.json: /a/b~1c/2");
  EXPECT_EQ(list.fields[0].second.as_integer(0, 9), 1);
  EXPECT_EQ(list.fields[1].second.value, "2.50");
  EXPECT_EQ(list.fields[2].second.as_text(), "x");
  EXPECT_TRUE(a.find("t")->as_boolean());
  EXPECT_FALSE(a.find("n")->given());
  EXPECT_EQ(parse_json_config("\"1h\"", "f").as_duration(), 3600 * kSecond);
}

TEST(JsonConfig, Errors) {
  const std::string deep(65, '['), very_deep(1'000'000, '[');
  const std::pair<std::string, const char*> kTable[] = {
      {"{\"a\": [1,\n 2", "f.json: line 2, column 3: not JSON"},
      {"", "f.json: line 1, column 1: not JSON"},
      {"{} {}", "f.json: line 1, column 4: not JSON"},
      {"{\"a\": {\"k\": 1, \"k\": 1}}", "f.json: /a: key \"k\" is given twice"},
      {"{\"a\": \"\xff\"}", "f.json: line 1, column 8: not JSON"},
      {deep, "f.json: /0/0/"},
      {very_deep, "f.json: /0/0/"},
  };
  for (const auto& [text, message] : kTable) {
    try {
      parse_json_config(text, "f.json");
      ADD_FAILURE() << text.substr(0, 80);
    } catch (const InputError& e) { EXPECT_THAT(e.what(), testing::StartsWith(message)); }
  }
  EXPECT_NO_THROW(parse_json_config(std::string(64, '[') + std::string(64, ']'), "f.json"));
}

TEST(Numbers, ATextForOneLine) {
  EXPECT_EQ(one_line("a b\xc3\xa9"), "a b\xc3\xa9");
  EXPECT_EQ(one_line(std::string_view("\x1b[2J\n\r\t\x7f\0", 9)), "\\x1b[2J\\x0a\\x0d\\x09\\x7f\\x00");
}

TEST(Config, TypesOfAFileAreKeptAndACommandLineHasNone) {
  EXPECT_EQ(Config::text("8", "--set k").as_integer(0, 9), 8);
  EXPECT_THROW(Config::text("8", "f.json: /k").as_integer(0, 9), InputError);
  EXPECT_THROW(Config::text("10", "--set k").as_integer(0, 9), InputError);
  Config c;
  c.set("weight", Config::text("2"));
  c.set("weight", Config::text("3"));
  EXPECT_EQ(c.fields.size(), 1u);
  EXPECT_EQ(c.find("weight")->value, "3");
  const std::string_view known[] = {"weights", "quota"};
  try {
    c.only(known);
    ADD_FAILURE();
  } catch (const InputError& e) { EXPECT_STREQ(e.what(), "unknown key \"weight\"; did you mean weights?"); }
}

}}  // namespace muster
