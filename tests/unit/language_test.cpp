// Explanations in other languages: nothing of the table is malformed, nothing of the samples is left in English.
#include <gtest/gtest.h>

#include <set>

#include "explain/explanation.hpp"
#include "explain/language.hpp"

namespace muster { namespace {

void texts(const std::vector<Block>& blocks, std::vector<std::string>& out);

void texts(const Tree::Node& n, std::vector<std::string>& out) {
  out.push_back(n.note);
  for (const Tree::Node& p : n.parts) texts(p, out);
}

void texts(const std::vector<Block>& blocks, std::vector<std::string>& out) {
  for (const Block& b : blocks) {
    if (const auto* p = std::get_if<Paragraph>(&b.what)) out.insert(out.end(), {p->label, p->text});
    if (const auto* t = std::get_if<TableBlock>(&b.what)) {
      for (const auto& c : t->columns) out.push_back(c.head);
      for (const auto& r : t->rows) out.insert(out.end(), r.begin(), r.end());
    }
    if (const auto* t = std::get_if<Tree>(&b.what))
      for (const auto& n : t->roots) texts(n, out);
    if (const auto* s = std::get_if<Steps>(&b.what))
      for (const auto& step : s->steps) out.insert(out.end(), {step.title, step.aside}), texts(step.blocks, out);
  }
}

/// Words of four small letters and more.
std::set<std::string> words(const std::string& s) {
  std::set<std::string> all;
  std::string word;
  for (const char c : s + " ") {
    if (c >= 'a' && c <= 'z') word += c;
    else {
      if (word.size() >= 4) all.insert(word);
      word.clear();
    }
  }
  return all;
}

TEST(Language, EveryHoleIsFilledOnce) {
  for (const Language& l : languages())
    for (const Phrase& p : l.phrases) {
      size_t holes = 0;
      for (size_t at = p.english.find("{}"); at != std::string_view::npos; at = p.english.find("{}", at + 1)) holes++;
      std::multiset<char> filled, want;
      for (size_t at = p.other.find('{'); at != std::string_view::npos; at = p.other.find('{', at + 1)) {
        ASSERT_EQ(p.other.substr(at + 2, 1), "}") << p.english;
        filled.insert(p.other[at + 1]);
      }
      for (size_t h = 0; h < holes; h++) want.insert(char('1' + h));
      EXPECT_EQ(filled, want) << p.english;
    }
}

TEST(Language, NoPhraseStandsTwice) {
  for (const Language& l : languages()) {
    std::set<std::string_view> seen;
    for (const Phrase& p : l.phrases) EXPECT_TRUE(seen.insert(p.english).second) << p.english;
  }
}

TEST(Language, NothingOfTheSamplesIsLeftInEnglish) {
  // Policies, files and what a sample calls its resources and files.
  const std::set<std::string> names = {"fifo", "skip", "easy", "conservative", "srtf", "python", "slim", "requirements", "train", "install", "sample"};
  for (const Language& l : languages().subspan(1))
    for (const Explanation& e : explanations()) {
      const ExplainedText text{"sample", std::string(e.sample)};
      const Document d = translated(e.explain_texts ? e.explain_texts({&text, 1}) : e.explain(read_exercise(e.sample, "sample")), l);
      std::vector<std::string> all{d.title};
      texts(d.blocks, all);
      for (const std::string& s : all)
        for (const std::string& w : words(s)) EXPECT_TRUE(names.count(w)) << e.name << ": \"" << w << "\" in \"" << s << '"';
    }
}

TEST(Language, PartsAreTranslatedInTheirPlaces) {
  const Language& zh = languages()[1];
  ASSERT_EQ(zh.name, "zh");
  EXPECT_EQ(translated("a 2, b 2.6; 0 left over", zh), "a 2, b 2.6；剩余 0");
  EXPECT_EQ(translated("2: behind the head; 10: no free GPUs", zh), "2：排在队首之后；10：没有空闲 GPU");
  EXPECT_EQ(translated("A NODE is free: B takes 0/n1. B takes 0/n2.", zh), "有空闲的 NODE：B 取 0/n1。B 取 0/n2。");
  EXPECT_EQ(translated("nobody's phrase", zh), "nobody's phrase");
}

}}  // namespace muster
