// Columns of a terminal, by Unicode's East Asian Width (UAX 11).
#include <gtest/gtest.h>

#include "explain/width.hpp"

namespace muster { namespace {

TEST(Width, WideMarksAndBadBytes) {
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("主导份额"), 8u);
  EXPECT_EQ(columns_of("，。"), 4u);
  EXPECT_EQ(columns_of("é"), 1u);
  EXPECT_EQ(columns_of("e\xCC\x81"), 1u) << "a letter and an accent that combines";
  EXPECT_EQ(columns_of("\xFF" "a"), 2u) << "no UTF-8";
  EXPECT_EQ(columns_of("a\xE4\xB8"), 3u) << "cut in the middle";
  EXPECT_EQ(padded_to("份", 4), "份  ");
  EXPECT_EQ(padded_to("份额", 3), "份额");
}

TEST(Width, LinesBreakAtBlanksAndBesideWideCharacters) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one  two", 20), (Lines{"one  two"}));
  EXPECT_EQ(wrapped("abcdefgh ij", 4), (Lines{"abcdefgh", "ij"})) << "a longer word stays whole";
  EXPECT_EQ(wrapped("a\n\nb", 4), (Lines{"a", "", "b"}));
  EXPECT_EQ(wrapped("", 4), (Lines{""}));
  EXPECT_EQ(wrapped("主导份额", 4), (Lines{"主导", "份额"}));
  EXPECT_EQ(wrapped("主导份额", 5), (Lines{"主导", "份额"}));
  EXPECT_EQ(wrapped("用户A的GPU", 6), (Lines{"用户A", "的GPU"})) << "letters between wide characters are a word";
  EXPECT_EQ(wrapped("份额。下", 4), (Lines{"份", "额。", "下"})) << "a full stop is never first";
}

TEST(Width, WidestPart) {
  EXPECT_EQ(widest_word("ab abc\nabcd a"), 4u);
  EXPECT_EQ(widest_word("主导份额"), 2u);
  EXPECT_EQ(widest_word("额。下"), 4u);
}

}}  // namespace muster
