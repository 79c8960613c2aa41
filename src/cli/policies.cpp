#include "cli/commands.hpp"
#include "cli/inputs.hpp"

namespace muster::cli {
namespace {

std::string row(std::string_view left, size_t width, std::string_view right) {
  std::string s = "  " + std::string(left);
  s.append(width > left.size() ? width - left.size() : 0, ' ');
  return s + "  " + std::string(right) + "\n";
}

void show(const PolicyInfo& p, Console& console) {
  console.out(p.name + ": " + p.summary + "\n");
  if (p.preset.given() && !p.preset.fields.empty()) console.out("is list with " + to_json(p.preset) + "\n");
  if (p.parameters.empty()) {
    console.out("It has no parameters.\n");
    return;
  }
  console.out("\nParameters (--set name=value)\n");
  size_t width = 0;
  for (const Parameter& q : p.parameters) width = std::max(width, q.name.size());
  for (const Parameter& q : p.parameters) {
    const Config* preset = p.preset.find(q.name);
    std::string text;
    for (const std::string& taker : q.takers) text += (text.empty() ? q.slot + "=" : "|") + taker;
    text += (text.empty() ? "" : ": ") + q.help;
    if (!q.allowed.empty()) {
      text += text.empty() ? "" : ": ";
      for (size_t i = 0; i < q.allowed.size(); i++) text += (i ? ", " : "") + q.allowed[i];
    }
    const std::string fallback = preset && !preset->value.empty() ? preset->value : q.fallback;
    if (!fallback.empty()) text += " (default " + fallback + ")";
    console.out(row(q.name, width, text));
  }
}

int run(const Arguments& a, Console& console) {
  if (!a.words().empty()) {
    show(*choose_policy(a.words()[0], {}).info, console);
    return kDone;
  }
  size_t width = 0;
  for (const PolicyInfo& p : builtin_policies()) width = std::max(width, p.name.size());
  for (const PolicyInfo& p : builtin_policies()) console.out(row(p.name, width, p.summary));
  console.out("\n`muster policies NAME` shows the parameters of one.\n");
  return kDone;
}

}  // namespace

Command policies_command() {
  return {"policies",
          "list the policies, or show the parameters of one",
          "[POLICY]",
          "  muster policies\n"
          "  muster policies list\n",
          {},
          0,
          1,
          run};
}

}  // namespace muster::cli
