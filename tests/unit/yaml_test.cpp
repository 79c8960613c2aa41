#include <gmock/gmock.h>

#include "text/yaml_config.hpp"

namespace muster { namespace {

/// A value in one line, so that tables can state it.
std::string shown(const Config& c) {
  std::string s;
  switch (c.kind) {
    case Config::Kind::none: return "null";
    case Config::Kind::text: return '"' + c.value + '"';
    case Config::Kind::number:
    case Config::Kind::boolean: return c.value;
    case Config::Kind::list:
      for (const auto& [none, v] : c.fields) s += (s.empty() ? "" : ",") + shown(v);
      return '[' + s + ']';
    case Config::Kind::object:
      for (const auto& [key, v] : c.fields) s += (s.empty() ? "" : ",") + key + ':' + shown(v);
      return '{' + s + '}';
  }
  return s;
}

std::string read(const std::string& text) {
  try {
    return shown(parse_yaml_config(text, "f.yaml"));
  } catch (const InputError& e) { return e.what(); }
}

TEST(YamlConfig, ScalarsAreWhatJsonWouldReadElseText) {
  EXPECT_EQ(read("[1, -2.50, 1e3, 0, x y, 'a', \"b\\n\", true, False, null, ~, '']"),
            "[1,-2.50,1e3,0,\"x y\",\"a\",\"b\n\",true,false,null,null,\"\"]");
  EXPECT_EQ(read("[007, 0x1F, 1_000, yes, +1, .5, 1., .inf, 10.0.0.1, '1', 12:30:45]"),
            R"(["007","0x1F","1_000","yes","+1",".5","1.",".inf","10.0.0.1","1","12:30:45"])");
  EXPECT_EQ(read("[!!str 5, !!int 5, ! 5, !!null '']"), "[\"5\",5,\"5\",null]");
  EXPECT_EQ(read("a: |\n  x\n  y\nb: >-\n  p\n  q\n"), "{a:\"x\ny\n\",b:\"p q\"}");
}

TEST(YamlConfig, ListsObjectsAndPlaces) {
  const Config c = parse_yaml_config("# first\r\n---\r\na:\r\n  b/c: [1, {t: true}]\r\n  1: x\r\n...\r\n", "f.yaml");
  EXPECT_EQ(shown(c), "{a:{b/c:[1,{t:true}],1:\"x\"}}");
  EXPECT_EQ(c.find("a")->find("b/c")->fields[1].second.find("t")->where, "f.yaml: /a/b~1c/1/t");
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a: 1"),
            "{a:1}")
      << "a byte order mark";
  EXPECT_EQ(read("{\"a\": [1, 2.5, \"x\"], \"n\": null}"), "{a:[1,2.5,\"x\"],n:null}") << "JSON is YAML";
  EXPECT_EQ(read("- a: 1\n  b:\n- - c\n"), "[{a:1,b:null},[\"c\"]]");
}

TEST(YamlConfig, AliasesAndMergeKeysAreExpanded) {
  EXPECT_EQ(read("a: &x {k: 1, l: 2}\nb: *x\nc: &y s\nd: [*y, *y]\n"), "{a:{k:1,l:2},b:{k:1,l:2},c:\"s\",d:[\"s\",\"s\"]}");
  EXPECT_EQ(read("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  l: 3\n"), "{a:{k:1,l:2},b:{l:3,k:1}}");
  EXPECT_EQ(read("- &x {k: 1}\n- &y {k: 2, m: 3}\n- <<: [*x, *y]\n"), "[{k:1},{k:2,m:3},{k:1,m:3}]");
  EXPECT_EQ(read("'<<': 1"), "{<<:1}") << "a quoted key is only a key";
  EXPECT_EQ(parse_yaml_config("a: &x {k: z}\nb: *x\n", "f").find("b")->find("k")->where, "f: /a/k") << "where it is written";
}

TEST(YamlConfig, Errors) {
  std::string laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n", quadratic = "a: &a [";
  for (int i = 1; i < 30; i++) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; k++) laughs += "," + before;
    laughs += "]\n";
  }
  for (int i = 0; i < 20'000; i++) quadratic += "x,";
  quadratic += "x]\nb: [";
  for (int i = 0; i < 20'000; i++) quadratic += "*a,";
  quadratic += "*a]\n";
  std::string deep_alias =
      "- &a " + std::string(40, '[') + "x" + std::string(40, ']') + "\n- " + std::string(30, '[') + "*a" + std::string(30, ']');
  std::string deep_block;
  for (int i = 0; i < 65; i++) deep_block += std::string(size_t(i), ' ') + "a:\n";
  using testing::HasSubstr;
  const std::pair<std::string, const char*> kTable[] = {
      {"a: [1,\n 2", "f.yaml: line 2, column "},
      {"a: b: c", "f.yaml: line 1, column "},
      {"a: 1\n\tb: 2\n", "f.yaml: line 2, column "},
      {"", "f.yaml: line 1, column 1: no YAML document in it"},
      {"# only a remark\n", "f.yaml: line 1, column 1: no YAML document in it"},
      {"a: 1\n---\nb: 2\n", "f.yaml: more than one YAML document"},
      {"a:\n  k: 1\n  k: 1\n", "f.yaml: /a: key \"k\" is given twice"},
      {"a: \"\xff\"", "f.yaml: line 1, column 5: not YAML"},
      {"a: x\x04\nb: 1\n", "f.yaml: line 1, column 5: not YAML"},
      {"a: *nothing", "f.yaml: line 1, column "},
      {"a: &x [*x]", "f.yaml: line 1, column 8: an alias inside of what it stands for"},
      {"[a]: 1", "f.yaml: line 1, column 1: want a text as a key"},
      {"- &x a\n- *x : 1", "f.yaml: line 2, column "},
      {"a: !!binary aGk=", "f.yaml: line 1, column 4: \"aGk=\" has the tag"},
      {"a: !!int 1.5", "f.yaml: line 1, column 4: \"1.5\" has the tag"},
      {"a: !thing {b: 1}", "f.yaml: line 1, column 4: unknown tag \"!thing\""},
      {"<<: 1", "f.yaml: line 1, column 1: the merge key << wants an object"},
      {laughs, "f.yaml: line 5, column "},
      {quadratic, "f.yaml: line 2, column "},
      {deep_alias, "f.yaml: /1/0/0"},
      {deep_block, "f.yaml: /a/a/a"},
      {std::string(65, '[') + std::string(65, ']'), "f.yaml: /0/0/"},
      {std::string(1'000'000, '['), "f.yaml: "},
      {std::string(1'000'000, '{'), "f.yaml: "},
      {std::string(300'000, '-'), "\"---"},
  };
  for (const auto& [text, message] : kTable) EXPECT_THAT(read(text), testing::StartsWith(message)) << text.substr(0, 60);
  EXPECT_THAT(read(laughs), HasSubstr("anchors and aliases come to more than 100,000 values"));
  EXPECT_THAT(read(quadratic), HasSubstr("anchors and aliases come to more than 100,000 values"));
  EXPECT_THAT(read(deep_alias), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(read(std::string(64, '[') + std::string(64, ']')), testing::StartsWith("[[["));
  for (const char* ticks : {"? ", "- ", "a: ", "&a ", "[a: "}) {
    std::string s;
    for (int i = 0; i < 20'000; i++) s += ticks;
    read(s);  // ends, whatever it says
  }
}

TEST(YamlConfig, ALongKeyIsNotRepeatedInFullBelowIt) {
  const Config c = parse_yaml_config(std::string(1000, 'k') + ": [1]", "f");
  EXPECT_EQ(c.fields[0].second.fields[0].second.where, "f: /" + std::string(100, 'k') + ".../0");
}

}}  // namespace muster
