// Exercises from text.
#include "explain/explanation.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"
#include "workload/csv.hpp"

namespace muster {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

Config rows(std::string_view text, std::string_view file) {
  Config all;
  all.kind = Config::Kind::object;
  Config list;
  list.kind = Config::Kind::list;
  list.where = file;
  const size_t newline = std::min(text.find('\n'), text.size());
  CsvReader reader(text, find_separator(text.substr(0, newline)));
  std::vector<std::string> heads;
  while (reader.next()) {
    const std::string where = std::string(file) + ":" + std::to_string(reader.line());
    if (reader.fault()) throw InputError(where + ": " + reader.fault());
    if (heads.empty()) {
      for (const std::string_view f : reader.fields()) heads.emplace_back(trimmed(f));
      continue;
    }
    if (reader.fields().size() > heads.size())
      throw InputError(where + ": " + std::to_string(reader.fields().size()) + " fields, but the header line names " +
                       std::to_string(heads.size()));
    Config row;
    row.kind = Config::Kind::object;
    row.where = where;
    for (size_t i = 0; i < reader.fields().size(); i++) {
      const std::string_view value = trimmed(reader.fields()[i]);
      if (heads[i].empty() || value.empty()) continue;
      if (row.find(heads[i])) throw InputError(std::string(file) + ":1: column " + in_quotes(heads[i]) + " stands twice");
      row.set(heads[i], Config::text(std::string(value), where + ": column " + heads[i]));
    }
    list.fields.emplace_back("", std::move(row));
  }
  if (list.fields.empty()) throw InputError(std::string(file) + ": want a JSON object or a CSV table with a header line, found no row");
  all.set("rows", std::move(list));
  return all;
}

}  // namespace

Exercise read_exercise(std::string_view text, std::string_view file) {
  Exercise e;
  e.file = file;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw InputError(e.file + ": is empty");
  if (text[first] == '{' || text.substr(first, 2) == "//" || text.substr(first, 2) == "/*") {
    e.input = parse_json_config(text, file);
    if (const Config* inner = e.input.find("input"); inner && inner->kind == Config::Kind::object) {
      Config input = *inner;
      if (const Config* rule = e.input.find("tie_rule")) input.set("tie_rule", *rule);
      e.input = std::move(input);
    }
  } else {
    e.input = rows(text, file);
  }
  return e;
}

}  // namespace muster
