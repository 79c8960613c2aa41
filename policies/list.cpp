// The policy `list`: a queue composed of six parts.
#include <algorithm>

#include "parts/blocked.hpp"
#include "parts/none.hpp"
#include "parts/preempt.hpp"
#include "table.hpp"

namespace muster {

namespace {

/// A slot: its name, its default, what it is about, its parts.
struct Slot {
  std::string_view name, fallback, help;
  std::span<const PartInfo> (*parts)();
};
constexpr Slot kSlots[] = {
    {"order", "fifo", "who comes first; ties: earlier submit, then trace order", orders},
    {"quota", "none", "who may use how much", quotas},
    {"place", "pack", "which nodes a job gets", placers},
    {"blocked", "stop", "what becomes of the queue when a job does not fit", blocked_choices},
    {"preempt", "none", "who makes way for whom", preemptions},
    {"estimate", "trace", "run times that orders and reservations look at", estimates},
};

/// The part that the configuration names for a slot, or the fallback.
const PartInfo& part_for(const Config& c, const Slot& slot) {
  const Config* given = c.find(slot.name);
  return given ? choose(slot.parts(), given->as_text(), slot.name, given->where) : choose(slot.parts(), slot.fallback, slot.name, {});
}

std::string place(const Config* c) { return !c || c->where.empty() ? std::string() : c->where + ": "; }

/// What the configuration names must be a slot, or a parameter that some part takes and the chosen one does.
void check_names(const Config& c) {
  std::vector<Parameter> known;
  for (const Slot& s : kSlots) known.push_back({std::string(s.name), {}, {}, {}});
  for (const Slot& s : kSlots) add_part_parameters(known, s.name, s.parts());
  std::vector<std::string_view> names;
  for (const Parameter& p : known) names.push_back(p.name);
  c.only(names);
  for (const auto& [name, value] : c.fields) {
    bool taken = false;
    for (const Slot& s : kSlots) {
      taken |= name == s.name;
      for (const PartParameter& q : part_for(c, s).parameters) taken |= name == q.name;
    }
    const auto p = std::find_if(known.begin(), known.end(), [&name = name](const Parameter& q) { return q.name == name; });
    if (!taken) {
      std::string takers;
      for (const std::string& t : p->takers) takers += (takers.empty() ? "" : "|") + t;
      throw InputError(place(&value) + name + " is nothing to the parts chosen; it goes with " + p->slot + "=" + takers + ": " + p->help);
    }
  }
}

}  // namespace

std::vector<Parameter> list_parameters(std::initializer_list<std::string_view> names, const Config& preset) {
  std::vector<Parameter> all;
  const auto wanted = [&](const Slot& s) { return names.size() == 0 || std::find(names.begin(), names.end(), s.name) != names.end(); };
  for (const Slot& s : kSlots)
    if (wanted(s)) all.push_back(slot_parameter(s.name, s.fallback, s.help, s.parts()));
  for (const Slot& s : kSlots)
    if (wanted(s)) add_part_parameters(all, s.name, s.parts());
    else if (preset.find(s.name)) add_part_parameters(all, s.name, {&part_for(preset, s), 1});
  return all;
}

std::unique_ptr<Policy> make_list(const PolicyInput& in) {
  const Config& c = in.parameters;
  check_names(c);
  const auto part = [&](std::string_view slot) -> const PartInfo& {
    return part_for(c, *std::find_if(std::begin(kSlots), std::end(kSlots), [&](const Slot& s) { return s.name == slot; }));
  };
  for (const Slot& s : kSlots) part_for(c, s);
  const PartInfo &order = part("order"), &estimate = part("estimate"), &blocked = part("blocked"), &preempt = part("preempt");
  if (estimate.needs_oracle && !order.needs_estimate && !blocked.needs_estimate) {
    std::string who;
    for (const auto& [slot, all] : {std::pair{"order", orders()}, std::pair{"blocked", blocked_choices()}}) {
      who += (who.empty() ? "" : "; ") + std::string(slot);
      std::string_view between = " ";
      for (const PartInfo& p : all)
        if (p.needs_estimate) who += std::string(between) + std::string(p.name), between = ", ";
    }
    throw InputError(place(c.find("estimate")) + "estimate " + std::string(estimate.name) + " with order " + std::string(order.name) +
                     ": no part looks at run times (those that do: " + who + ")");
  }
  const std::vector<Job>& jobs = in.workload.jobs;
  if ((order.needs_estimate || blocked.needs_estimate) && estimate.name == "trace" && !jobs.empty() &&
      std::all_of(jobs.begin(), jobs.end(), [](const Job& j) { return j.estimate == kNever; }))
    throw InputError((order.needs_estimate ? "order " + std::string(order.name) : "blocked " + std::string(blocked.name)) +
                     " with estimate " + std::string(estimate.name) +
                     ": no job of the trace states an estimate (estimate exact uses true run times)");
  ListParts parts;
  parts.jobs = jobs.size();
  parts.input = &in;
  parts.order = make_order(order.name, in);
  parts.estimate = make_estimate(estimate.name, in);
  parts.placer = make_placer(part("place").name, in);
  if (preempt.name == "none") return make_blocked(blocked.name, std::move(parts));
  if (blocked.name != "stop" && blocked.name != "skip")
    throw InputError(place(c.find("blocked")) + "blocked " + std::string(blocked.name) + " with preempt " + std::string(preempt.name) +
                     ": who makes way for whom is told for blocked stop and skip alone");
  return make_preempting(std::move(parts), blocked.name == "stop");
}

}  // namespace muster
