#include "cli/arguments.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <deque>

#include "muster/config.hpp"

namespace muster::cli {
namespace {

std::string hint(std::string_view command) { return " (`muster " + std::string(command) + " --help` lists them)"; }

[[noreturn]] void unknown_option(const Command& c, std::string_view word) {
  word = word.substr(0, word.find('='));
  std::vector<std::string_view> known;
  for (const Option& o : c.options) known.push_back(o.long_name());
  for (const Option& o : common_options()) known.push_back(o.long_name());
  const std::string near = nearest_name(word, known);
  std::string text = "muster " + std::string(c.name) + " has no option " + std::string(word);
  if (!near.empty()) text += "; did you mean " + near + "?";
  throw InputError(text + hint(c.name));
}

}  // namespace

std::span<const Option> common_options() {
  static const Option options[] = {
      {"-q,--quiet", "", "no warnings, no progress"}, {"-v,--verbose", "", "say more about what was read"}, {"-h,--help", "", "this text"}};
  return options;
}

std::string_view Arguments::get(std::string_view name, std::string_view fallback) const {
  const auto it = values_.find(name);
  return it == values_.end() || it->second.empty() ? fallback : std::string_view(it->second.back());
}

std::span<const std::string> Arguments::all(std::string_view name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) return {};
  return it->second;
}

std::string_view Arguments::want(std::string_view name) const {
  if (!has(name)) throw InputError("muster " + std::string(command_) + " needs " + std::string(name) + hint(command_));
  return get(name);
}

uint64_t Arguments::number(std::string_view name, uint64_t fallback, uint64_t least, uint64_t most) const {
  if (!has(name)) return fallback;
  const std::string_view text = get(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw InputError("option " + std::string(name) + ": want a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                     ", found \"" + std::string(text) + "\"");
  return value;
}

Arguments parse_arguments(const Command& c, std::span<char* const> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  struct Slot {
    const Option* option;
    CLI::Option* parsed;
    std::vector<std::string> values;
  };
  std::deque<Slot> slots;  // CLI11 keeps references into it
  const auto declare = [&](const Option& o) {
    Slot& s = slots.emplace_back();
    s.option = &o;
    if (o.value.empty()) {
      s.parsed = app.add_flag(std::string(o.name));
    } else {
      s.parsed = app.add_option(std::string(o.name), s.values);
      s.parsed->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  };
  for (const Option& o : c.options) declare(o);
  for (const Option& o : common_options()) declare(o);
  Arguments result;
  result.command_ = c.name;
  app.add_option("words", result.words_)->expected(0, 1 << 20);

  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch&) {
    // One value each is all that options want, so it can only be the last word that lacks one.
    throw InputError("option " + std::string(words.back()) + " of muster " + std::string(c.name) + " wants a value");
  } catch (const CLI::ParseError& e) { throw InputError("muster " + std::string(c.name) + ": " + e.what()); }
  const std::vector<std::string> unknown = app.remaining();
  if (!unknown.empty()) unknown_option(c, unknown.front());
  for (Slot& s : slots) {
    if (s.parsed->count() == 0) continue;
    const std::string name(s.option->long_name());
    if (s.option->value.empty())
      for (const std::string& value : s.parsed->results())
        if (value != "true") throw InputError("option " + name + " of muster " + std::string(c.name) + " takes no value");
    if (!s.option->many && !s.option->value.empty() && s.values.size() > 1) throw InputError("option " + name + " is given twice");
    result.values_[name] = std::move(s.values);
  }
  if (result.has("--help")) return result;
  if (result.words_.size() > c.most)
    throw InputError("muster " + std::string(c.name) + " does not know what to do with \"" + result.words_[c.most] + "\"" + hint(c.name));
  if (result.words_.size() < c.least) throw InputError("usage: muster " + std::string(c.name) + " " + std::string(c.usage));
  return result;
}

}  // namespace muster::cli
