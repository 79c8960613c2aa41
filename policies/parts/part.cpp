#include "parts/part.hpp"

#include <algorithm>

namespace muster {

const PartInfo& choose(std::span<const PartInfo> parts, std::string_view name, std::string_view slot, std::string_view where) {
  std::vector<std::string_view> names;
  for (const PartInfo& p : parts) {
    if (p.name == name) return p;
    names.push_back(p.name);
  }
  std::string message = where.empty() ? std::string() : std::string(where) + ": ";
  message += "slot " + std::string(slot) + ": nothing is called \"" + std::string(name) + "\"";
  if (const std::string near = nearest_name(name, names); !near.empty()) message += "; did you mean " + near + "?";
  message += " (allowed:";
  for (const std::string_view n : names) message += " " + std::string(n);
  throw InputError(message + ")");
}

Parameter slot_parameter(std::string_view slot, std::string_view fallback, std::string_view help, std::span<const PartInfo> parts) {
  Parameter p;
  p.name = slot, p.fallback = fallback, p.help = help;
  for (const PartInfo& part : parts) p.allowed.emplace_back(part.name);
  return p;
}

void check_parameters(const Config& given, std::span<const Parameter> known) {
  std::vector<std::string_view> names;
  for (const Parameter& p : known) names.push_back(p.name);
  given.only(names);
  for (const Parameter& p : known) {
    const Config* c = given.find(p.name);
    if (!c || p.allowed.empty() || std::find(p.allowed.begin(), p.allowed.end(), c->as_text()) != p.allowed.end()) continue;
    const std::string near = nearest_name(c->value, std::vector<std::string_view>(p.allowed.begin(), p.allowed.end()));
    std::string list;
    for (const std::string& a : p.allowed) list += (list.empty() ? "" : ", ") + a;
    throw InputError((c->where.empty() ? "" : c->where + ": ") + p.name + " cannot be \"" + c->value + "\"" +
                     (near.empty() ? "" : "; did you mean " + near + "?") + " (allowed: " + list + ")");
  }
}

void add_part_parameters(std::vector<Parameter>& all, std::string_view slot, std::span<const PartInfo> parts) {
  for (const PartInfo& taker : parts)
    for (const PartParameter& q : taker.parameters) {
      if (std::any_of(all.begin(), all.end(), [&](const Parameter& p) { return p.name == q.name; })) continue;
      Parameter p{std::string(q.name), std::string(q.fallback), std::string(q.help), {}, std::string(slot), {}};
      for (const PartInfo& part : parts)
        for (const PartParameter& r : part.parameters)
          if (r.name == q.name) p.takers.emplace_back(part.name);
      if (p.takers.size() == parts.size()) p.slot.clear(), p.takers.clear();
      all.push_back(std::move(p));
    }
}

}  // namespace muster
