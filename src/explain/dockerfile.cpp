#include "explain/dockerfile.hpp"

#include <algorithm>
#include <array>

#include "muster/config.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr std::array<std::string_view, 18> kInstructions = {"ADD",   "ARG",  "CMD",        "COPY",    "ENTRYPOINT", "ENV",        "EXPOSE", "FROM",   "HEALTHCHECK",
                                                            "LABEL", "MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"};

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

std::string upper(std::string_view s) {
  std::string r(s);
  for (char& c : r)
    if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  return r;
}

/// The first word, taken off `s`.
std::string_view word(std::string_view& s) {
  s = trimmed(s);
  size_t n = 0;
  while (n < s.size() && !blank(s[n])) n++;
  const std::string_view w = s.substr(0, n);
  s = trimmed(s.substr(n));
  return w;
}

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    number_++;
    return true;
  }
  size_t number() const { return number_; }

 private:
  std::string_view rest_;
  size_t number_ = 0;
};

/// The ends of the documents that a line begins: <<EOF, <<-EOF, <<"EOF".
std::vector<std::string> heredocs(std::string_view line) {
  std::vector<std::string> ends;
  for (size_t at = line.find("<<"); at != std::string_view::npos; at = line.find("<<", at + 2)) {
    size_t i = at + 2;
    if (i < line.size() && line[i] == '-') i++;
    const char quote = i < line.size() && (line[i] == '"' || line[i] == '\'') ? line[i++] : '\0';
    const size_t begin = i;
    while (i < line.size() && (std::isalnum(static_cast<unsigned char>(line[i])) || line[i] == '_')) i++;
    if (i > begin && (!quote || (i < line.size() && line[i] == quote))) ends.emplace_back(line.substr(begin, i - begin));
  }
  return ends;
}

/// `s` with ${name} and $name replaced by the values of ARG; ${name:-fallback} too.
std::string filled(std::string_view s, const std::vector<DockerInstruction>& args) {
  const auto value = [&](std::string_view name) -> std::string {
    for (auto a = args.rbegin(); a != args.rend(); ++a) {
      const size_t equals = a->text.find('=');
      if (std::string_view(a->text).substr(0, equals) == name) return equals == std::string::npos ? "" : a->text.substr(equals + 1);
    }
    return {};
  };
  std::string r;
  for (size_t i = 0; i < s.size();) {
    if (s[i] != '$') {
      r += s[i++];
      continue;
    }
    const bool braces = i + 1 < s.size() && s[i + 1] == '{';
    size_t begin = i + (braces ? 2 : 1), end = begin;
    while (end < s.size() && (std::isalnum(static_cast<unsigned char>(s[end])) || s[end] == '_')) end++;
    std::string v = value(s.substr(begin, end - begin));
    if (braces) {
      const size_t close = s.find('}', end);
      if (close == std::string_view::npos) return r + std::string(s.substr(i));
      if (v.empty() && s.substr(end, 2) == ":-") v = s.substr(end + 2, close - end - 2);
      end = close + 1;
    }
    if (v.empty()) v = s.substr(i, end - i);  // not known here: it stays as it is written
    r += v;
    i = end;
  }
  return r;
}

}  // namespace

Dockerfile read_dockerfile(std::string_view text, std::string_view file) {
  Dockerfile d;
  d.file = file;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  char escape = '\\';
  bool directives = true;
  const auto fault = [&](size_t line, const std::string& what) { throw InputError(d.file + ":" + std::to_string(line) + ": " + what); };
  Lines lines(text);
  for (std::string_view line; lines.next(line);) {
    line = trimmed(line);
    if (line.find('\0') != std::string_view::npos) fault(lines.number(), "a NUL byte; want a Dockerfile");
    if (line.empty() || line.front() == '#') {
      std::string_view directive = line.empty() ? line : trimmed(line.substr(1));
      if (directives && upper(directive.substr(0, 6)) == "ESCAPE" && directive.find('=') != std::string_view::npos && directive.back() == '`') escape = '`';
      continue;
    }
    directives = false;
    DockerInstruction in;
    in.line = lines.number();
    std::string all(line);
    while (!all.empty() && all.back() == escape) {  // empty lines and comments inside are left out
      all.pop_back();
      bool more = false;
      while ((more = lines.next(line)) && (trimmed(line).empty() || trimmed(line).front() == '#')) {}
      if (!more) break;
      while (!line.empty() && blank(line.back())) line.remove_suffix(1);
      all += line;  // with the blanks it begins with: they are part of the command
    }
    std::string_view rest = all;
    in.name = upper(word(rest));
    if (std::find(kInstructions.begin(), kInstructions.end(), in.name) == kInstructions.end()) {
      const std::string near = nearest_name(in.name, kInstructions);
      fault(in.line, "no instruction is called " + in_quotes(in.name) + (near.empty() ? " (FROM, RUN, COPY, WORKDIR, ENTRYPOINT, CMD, ...)" : "; did you mean " + near + "?"));
    }
    while (rest.substr(0, 2) == "--" && in.name != "CMD" && in.name != "ENTRYPOINT") {
      const std::string_view flag = word(rest).substr(2);
      const size_t equals = std::min(flag.find('='), flag.size());
      in.flags.emplace_back(flag.substr(0, equals), flag.substr(std::min(equals + 1, flag.size())));
    }
    if (rest.empty()) fault(in.line, in.name + " without arguments");
    if (in.name == "RUN" || in.name == "COPY" || in.name == "ADD")
      for (const std::string& end : heredocs(rest)) {
        bool closed = false;
        in.text = in.text.empty() ? std::string(rest) : in.text;
        for (std::string_view l; !closed && lines.next(l);) {
          in.text += "\n" + std::string(l);
          while (!l.empty() && l.front() == '\t') l.remove_prefix(1);
          closed = trimmed(l) == end;
        }
        if (!closed) fault(in.line, "the document <<" + end + " is not closed by a line " + end);
      }
    if (in.text.empty()) in.text = rest;
    if (rest.front() == '[') {
      try {
        const Config list = parse_json_config(in.text, "");
        in.is_exec = list.kind == Config::Kind::list;
        for (const auto& [none, item] : list.fields) in.exec.emplace_back(item.as_text());
      } catch (const InputError&) { in.exec.clear(), in.is_exec = false; }  // then the shell gets it, as Docker has it
    }
    if (in.name == "SHELL" && !in.is_exec) fault(in.line, "SHELL wants the form [\"program\", \"argument\"], found " + in_quotes(in.text));
    if ((in.name == "COPY" || in.name == "ADD") && (in.is_exec ? in.exec.size() < 2 : in.text.find_first_of(" \t") == std::string::npos))
      fault(in.line, in.name + " wants a source and a target, found " + in_quotes(in.text));
    if (in.name == "FROM") {
      DockerStage stage;
      std::string_view what = in.text;
      stage.base = filled(word(what), d.before);
      if (!what.empty()) {
        const std::string as = upper(word(what));
        stage.name = word(what);
        if (as != "AS" || stage.name.empty() || !what.empty()) fault(in.line, "want FROM IMAGE [AS NAME], found FROM " + in_quotes(in.text));
      }
      for (size_t s = 0; s < d.stages.size(); s++)
        if (!d.stages[s].name.empty() && upper(d.stages[s].name) == upper(stage.base)) stage.base_stage = s;
      d.stages.push_back(std::move(stage));
    } else if (d.stages.empty()) {
      if (in.name != "ARG") fault(in.line, in.name + " before the first FROM; only ARG may stand there");
      d.before.push_back(std::move(in));
      continue;
    }
    d.stages.back().instructions.push_back(std::move(in));
  }
  if (d.stages.empty()) throw InputError(d.file + ": has no FROM; an image begins with the one it is built on");
  return d;
}

}  // namespace muster
