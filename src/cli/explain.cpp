// muster explain: worked solutions of exercises.
#include <algorithm>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "explain/explanation.hpp"
#include "explain/language.hpp"
#include "files/read.hpp"
#include "files/write.hpp"
#include "muster/config.hpp"

namespace muster::cli {
namespace {

/// Leaves the first `n` steps of every list of steps.
void cut(std::vector<Block>& blocks, size_t n) {
  for (Block& b : blocks) {
    if (auto* s = std::get_if<Steps>(&b.what); s && s->steps.size() > n) s->steps.resize(n);
    if (auto* t = std::get_if<TableBlock>(&b.what); t && t->steps && t->rows.size() > n) t->rows.resize(n);
  }
}

int run(const Arguments& a, Console& console) {
  if (a.words().empty()) {
    size_t width = 0;
    for (const Explanation& e : explanations()) width = std::max(width, e.name.size());
    std::string s;
    for (const Explanation& e : explanations())
      s += std::string(e.name) + std::string(width + 2 - e.name.size(), ' ') + std::string(e.summary) + "\n";
    console.out(s);
    return kDone;
  }
  const Explanation& e = chosen(explanations(), a.words()[0], "explanation");
  if (a.words().size() == 1) {
    console.out(e.sample);
    return kDone;
  }
  const DocumentFormat& format = chosen(document_formats(), a.get("--format", "text"), "format");
  const size_t until = size_t(a.number("--until", 1'000'000'000, 1, 1'000'000'000));
  const Language& language = chosen(languages(), a.get("--lang", "en"), "language");
  const auto write = [&](Document d) {
    cut(d.blocks, until);
    const std::string text = format.write(translated(std::move(d), language));
    if (a.has("--out")) write_file(std::string(a.get("--out")), text);
    else console.out(text);
    return kDone;
  };
  if (e.explain_texts) {
    for (const char* option : {"--set", "--records"})
      if (a.has(option)) throw InputError("option " + std::string(option) + ": muster explain " + std::string(e.name) + " runs nothing");
    std::vector<ExplainedText> texts;
    for (size_t i = 1; i < a.words().size(); i++) texts.push_back({input_name(a.words()[i]), read_file(a.words()[i])});
    return write(e.explain_texts(texts));
  }
  if (a.words().size() > 2) throw InputError("muster explain " + std::string(e.name) + " reads one file; there is " + a.words()[2] + " too");
  Exercise exercise = read_exercise(read_file(a.words()[1]), input_name(a.words()[1]));
  for (const std::string& set : a.all("--set")) {
    const size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) throw InputError("--set " + set + ": want NAME=VALUE");
    exercise.input.set(set.substr(0, equals), Config::text(set.substr(equals + 1), "--set " + set.substr(0, equals)));
  }
  exercise.records = a.get("--records");
  return write(e.explain(exercise));
}

}  // namespace

Command explain_command() {
  return {.name = "explain",
          .summary = "solve an exercise step by step",
          .usage = "[KIND [FILE...] [options]]",
          .examples =
              "  muster explain                    the kinds of exercises\n"
              "  muster explain drf                what a file looks like\n"
              "  muster explain drf nsdi.json --format markdown\n",
          .options = {{"--format", "F", "text, markdown, html or json; default text"},
                      {"--set", "NAME=VALUE", "a field of the exercise, in place of the file's", true},
                      {"--until", "N", "only the first N steps"},
                      {"--records", "DIR", "write the records of the runs behind it there"},
                      {"--lang", "L", "en or zh (Chinese); default en"},
                      {"--out", "FILE", "write there instead of standard output"}},
          .least = 0,
          .most = 100,
          .run = run};
}

}  // namespace muster::cli
