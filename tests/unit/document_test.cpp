// Documents in all their forms, against text set by hand.
#include "explain/document.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "explain/explanation.hpp"

namespace muster { namespace {

size_t widest(const std::string& text) {
  size_t most = 0, now = 0;
  for (const char c : text) now = c == '\n' ? 0 : now + 1, most = std::max(most, now);
  return most;
}

Document cells() {
  Document d;
  d.title = "cells";
  Tree t;
  Tree::Node rack{"rack r0", {}, "split", {}};
  Tree::Node node{"node n0", {}, "split for B", {}};
  node.parts.push_back({"switch n0/0", {{"b1", "b1"}}, "B", {}});
  node.parts.push_back({"switch n0/1", {{".", "."}}, "free, buddy of n0/0", {}});
  rack.parts.push_back(node);
  rack.parts.push_back({"node n1", {{"a", "a"}, {"a", "a"}}, "A's node", {}});
  t.roots.push_back(rack);
  Steps s;
  s.steps.push_back({"t=20  B asks 2 GPUs", "free: rack 0", {Block{t}, Block{Paragraph{"why", "the lowest free level"}}}});
  d.add(std::move(s));
  return d;
}

TEST(Document, CellTreeAsText) {
  EXPECT_EQ(to_plain(cells()),
            "cells\n"
            "\n"
            "t=20  B asks 2 GPUs                                                 free: rack 0\n"
            "  rack r0                             split\n"
            "  |- node n0                          split for B\n"
            "  |  |- switch n0/0  [b1 b1]          B\n"
            "  |  `- switch n0/1  [.  . ]          free, buddy of n0/0\n"
            "  `- node n1         [a  a  | a  a ]  A's node\n"
            "  why  the lowest free level\n");
}

TEST(Document, CellTreeAsMarkdownKeepsItsBranches) {
  EXPECT_THAT(to_markdown(cells()), testing::HasSubstr("## t=20  B asks 2 GPUs\n\nfree: rack 0\n\n```text\nrack r0"));
}

TEST(Document, CellTreeAsJson) {
  EXPECT_EQ(to_json(cells()),
            "{\"title\":\"cells\",\"blocks\":[{\"kind\":\"steps\",\"steps\":[{\"title\":\"t=20  B asks 2 GPUs\",\"aside\":\"free: rack 0\","
            "\"blocks\":[{\"kind\":\"tree\",\"roots\":[{\"label\":\"rack r0\",\"note\":\"split\",\"parts\":[{\"label\":\"node n0\","
            "\"note\":\"split for B\",\"parts\":[{\"label\":\"switch n0/0\",\"note\":\"B\",\"cells\":[[\"b1\",\"b1\"]]},"
            "{\"label\":\"switch n0/1\",\"note\":\"free, buddy of n0/0\",\"cells\":[[\".\",\".\"]]}]},"
            "{\"label\":\"node n1\",\"note\":\"A's node\",\"cells\":[[\"a\",\"a\"],[\"a\",\"a\"]]}]}]},\n"
            "{\"kind\":\"text\",\"label\":\"why\",\"text\":\"the lowest free level\"}]}]}]}\n");
}

TEST(Document, WordsWrapInsideATable) {
  Document d;
  TableBlock t;
  t.columns = {{"step", true, false}, {"because", false, true}, {"left", false, false}};
  t.rows = {{"1", "equal shares: B is named first in the tie rule, and so it goes before A", "6 CPU  17 GB  and nothing else at all"}};
  d.add(t);
  EXPECT_EQ(to_plain(d),
            "step  because                              left\n"
            "   1  equal shares: B is named first in    6 CPU  17 GB  and nothing else at all\n"
            "      the tie rule, and so it goes before\n"
            "      A\n");
}

TEST(Document, TooManyColumnsGoBelowUnderTheFirst) {
  Document d;
  TableBlock t;
  t.columns.push_back({"step", true, false});
  t.rows = {{"1"}, {"2"}};
  for (int i = 0; i < 12; i++) {
    t.columns.push_back({"user" + std::to_string(10 + i), true, false});
    for (auto& row : t.rows) row.push_back("1234567890");
  }
  d.add(t);
  const std::string text = to_plain(d);
  EXPECT_LE(widest(text), 80u);
  EXPECT_THAT(text, testing::HasSubstr("\n\nstep      user16"));
}

TEST(Document, BarsAreToScaleAndNeverTooWide) {
  Document d;
  Bars b;
  b.end = 10;
  b.end_text = "10 s";
  b.rows = {{"A", {{0, 4, "a"}, {6, 10, ""}}, "wait 2"}, {"long name", {{4, 6, "label that does not fit"}}, ""}};
  d.add(b);
  EXPECT_EQ(to_plain(d),
            "A          |a===============........================|  wait 2\n"
            "long name  |................========................|\n"
            "           0                                     10 s\n");
  b.end = 123'456'789;
  EXPECT_LE(drawn(b, 80)[0].size(), 80u);
}

TEST(Document, HtmlEscapesWhatSomebodyTyped) {
  Document d;
  d.title = "<b>&\"";
  d.say("a < b");
  EXPECT_THAT(to_html(d), testing::HasSubstr("<h1>&lt;b&gt;&amp;&quot;</h1>\n<p>a &lt; b</p>\n</html>\n"));
}

TEST(Exercise, CsvRowsKnowTheirLine) {
  const Exercise e = read_exercise("user,cpu,mem\ncapacity, 9 ,18\nA,1,\n", "x.csv");
  const Config& rows = *e.input.find("rows");
  ASSERT_EQ(rows.fields.size(), 2u);
  EXPECT_EQ(rows.fields[0].second.find("cpu")->value, "9");
  EXPECT_EQ(rows.fields[0].second.find("cpu")->where, "x.csv:2: column cpu");
  EXPECT_EQ(rows.fields[1].second.find("mem"), nullptr);
}

TEST(Exercise, WhatCannotBeReadIsSaid) {
  const auto message = [](std::string_view text) {
    try {
      read_exercise(text, "x");
    } catch (const InputError& e) { return std::string(e.what()); }
    return std::string("nothing");
  };
  EXPECT_EQ(message(""), "x: is empty");
  EXPECT_EQ(message("user,cpu\n"), "x: want a JSON object or a CSV table with a header line, found no row");
  EXPECT_EQ(message("user,cpu\nA,1,2\n"), "x:2: 3 fields, but the header line names 2");
  EXPECT_THAT(message("{\"a\": }"), testing::HasSubstr("x: line 1, column 7"));
}

}}  // namespace muster
