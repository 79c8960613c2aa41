// muster completion and muster man: written from the table of subcommands, so that they cannot fall behind it.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "muster/config.hpp"

namespace muster::cli {
namespace {

std::string_view short_name(const Option& o) { return o.name.starts_with("--") ? std::string_view() : o.name.substr(0, o.name.find(',')); }

/// A value that names something on disk: the shell completes it.
bool is_file(const Option& o) { return o.value == "FILE" || o.value == "DIR" || o.value == "PATH" || o.value == "X"; }

std::string all_options(const Command& c, char between) {
  std::string s;
  const auto add = [&](const Option& o) {
    if (!s.empty()) s += between;
    s += o.long_name();
  };
  for (const Option& o : c.options) add(o);
  for (const Option& o : common_options()) add(o);
  return s;
}

/// For a single-quoted word of sh, zsh or fish.
std::string in_quotes(std::string_view text) {
  std::string s;
  for (const char ch : text)
    if (ch == '\'') s += "'\\''";
    else s += ch;
  return s;
}

std::string bash() {
  std::string names, cases;
  for (const Command& c : commands()) {
    names += (names.empty() ? "" : " ") + std::string(c.name);
    cases += fmt::format("    {}) options='{}' ;;\n", c.name, all_options(c, ' '));
  }
  return fmt::format(R"(# bash completion for muster: . <(muster completion bash)
_muster() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{0} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{1}  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _muster muster
)",
                     names, cases);
}

/// Inside _arguments a description may not hold [ ] and a colon ends a field.
std::string zsh_text(std::string_view text) {
  std::string s;
  for (const char ch : text)
    if (ch == '[' || ch == ']' || ch == ':' || ch == '\\') s += std::string("\\") + ch;
    else s += ch;
  return in_quotes(s);
}

std::string zsh() {
  std::string names, cases;
  for (const Command& c : commands()) {
    names += fmt::format("    '{}:{}'\n", c.name, zsh_text(c.summary));
    cases += fmt::format("    {})\n      _arguments \\\n", c.name);
    const auto add = [&](const Option& o) {
      const std::string value = o.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(o.value), is_file(o) ? "_files" : " ");
      for (const std::string_view name : {short_name(o), o.long_name()})
        if (!name.empty()) cases += fmt::format("        '{}{}[{}]{}' \\\n", o.many ? "*" : "", name, zsh_text(o.help), value);
    };
    for (const Option& o : c.options) add(o);
    for (const Option& o : common_options()) add(o);
    cases += "        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef muster
# zsh completion for muster: put into a folder of $fpath as _muster
_muster() {{
  local -a commands
  commands=(
{0}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
{1}  esac
}}
if [ "$funcstack[1]" = _muster ]; then _muster "$@"; else compdef _muster muster; fi
)",
                     names, cases);
}

std::string fish() {
  std::string s = "# fish completion for muster: muster completion fish > ~/.config/fish/completions/muster.fish\n";
  for (const Command& c : commands()) {
    s += fmt::format("complete -c muster -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name, in_quotes(c.summary));
    const auto add = [&](const Option& o) {
      s += fmt::format("complete -c muster -n '__fish_seen_subcommand_from {}' -l {}", c.name, o.long_name().substr(2));
      if (const std::string_view name = short_name(o); !name.empty()) s += fmt::format(" -s {}", name.substr(1));
      if (!o.value.empty()) s += is_file(o) ? " -r -F" : " -x";
      s += fmt::format(" -d '{}'\n", in_quotes(o.help));
    };
    for (const Option& o : c.options) add(o);
    for (const Option& o : common_options()) add(o);
  }
  return s;
}

/// Text for roff: no escapes, and no line that starts with a request.
std::string roff(std::string_view text) {
  std::string s;
  for (const char ch : text) {
    if ((s.empty() || s.back() == '\n') && (ch == '.' || ch == '\'')) s += "\\&";
    if (ch == '\\') s += "\\e";
    else if (ch == '-') s += "\\-";
    else s += ch;
  }
  return s;
}

std::string man_page() {
  std::string s = fmt::format(R"(.TH MUSTER 1 "" "muster {}" "User Commands"
.SH NAME
muster \- simulate the scheduling of GPU clusters
.SH SYNOPSIS
.B muster
.I command
.RI [ options ]
.SH DESCRIPTION
Replays a job trace against a modelled cluster under a scheduling policy, and reports completion times, waiting, utilisation and what else is
asked. Results go to standard output, all else to standard error.
.SH COMMANDS
)",
                              MUSTER_VERSION);
  const auto options = [&](std::span<const Option> list) {
    for (const Option& o : list) {
      s += fmt::format(".RS\n.TP\n.B {}{}\n{}\n.RE\n", roff(o.name), o.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(o.value)),
                       roff(o.help));
    }
  };
  for (const Command& c : commands()) {
    s += fmt::format(".SS \"muster {} {}\"\n{}.\n", c.name, roff(c.usage), roff(c.summary));
    options(c.options);
    if (!c.examples.empty()) s += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(c.examples));
  }
  s += ".SS \"Every command\"\n";
  options(common_options());
  s += R"(.SH EXIT STATUS
.TP
.B 0
done; rejected jobs included
.TP
.B 1
a gate or a check failed, or jobs were left unfinished
.TP
.B 2
the call or an input is wrong
.TP
.B 3
a policy broke its contract
.TP
.B 70
a fault of muster's own
.TP
.B 74
output could not be written
.SH ENVIRONMENT
.TP
.B NO_COLOR
no colour, even on a terminal
.TP
.B GITHUB_ACTIONS
when it is "true", muster compare adds annotations
)";
  return s;
}

int run_completion(const Arguments& arguments, Console& console) {
  const std::string& shell = arguments.words()[0];
  if (shell == "bash") console.out(bash());
  else if (shell == "zsh") console.out(zsh());
  else if (shell == "fish") console.out(fish());
  else throw InputError("completion is written for bash, zsh and fish, found \"" + shell + "\"");
  return kDone;
}

int run_man(const Arguments&, Console& console) {
  console.out(man_page());
  return kDone;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "print a completion script for bash, zsh or fish",
          .usage = "bash|zsh|fish",
          .examples = "  . <(muster completion bash)\n",
          .least = 1,
          .most = 1,
          .run = run_completion};
}

Command man_command() { return {.name = "man", .summary = "print the manual page", .examples = "  muster man | man -l -\n", .run = run_man}; }

}  // namespace muster::cli
