// muster explain hived, muster explain buddy.
#include "explain/hived.hpp"

#include <algorithm>
#include <map>

#include "parts/buddy.hpp"

namespace muster {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string s;
  for (const std::string& w : words) s += (s.empty() ? "" : between) + w;
  return s;
}

}  // namespace

Document explain_hived(const Exercise& e) {
  const HivedSolution s = solve_hived(e);
  const CellForest& f = s.hived->forest;
  Document d;
  if (const Config* title = e.input.find("title")) d.title = title->value;
  for (const Chain& c : f.chains()) {
    std::string text = std::to_string(c.full[size_t(c.top)].size()) + " " + c.types[size_t(c.top)];
    for (int32_t l = c.top; l > 1; l--) text += ", each " + std::to_string(c.kids[size_t(l)]) + " " + c.types[size_t(l - 1)];
    d.say(text, "cells");
  }
  for (size_t v = 0; v < f.vcs().size(); v++) {
    std::vector<std::string> owns;
    for (const VirtualTree& t : f.trees()) {
      if (t.vc != int32_t(v)) continue;
      for (size_t l = t.roots.size(); l-- > 1;)
        if (!t.roots[l].empty())
          owns.push_back(std::to_string(t.roots[l].size()) + " " + f.chains()[size_t(t.chain)].types[l] + (t.pinned.empty() ? "" : " (pinned " + t.pinned + ")"));
    }
    d.say("owns " + (owns.empty() ? "nothing" : joined(owns, ", ")), f.vcs()[v]);
  }
  TableBlock table;
  table.steps = true;
  table.columns = {{"step", true}, {"what happens", false, true}};
  for (const std::string& level : s.levels) table.columns.push_back({"free " + level, false, true});
  for (const std::string& vc : f.vcs()) table.columns.push_back({vc + " has left", true});
  for (size_t i = 0; i < s.steps.size(); i++) {
    const HivedStep& step = s.steps[i];
    std::vector<std::string> row = {std::to_string(i), step.title + (step.outcome.empty() ? "" : ": " + step.outcome)};
    for (const auto& list : step.free) row.push_back(list.empty() ? "-" : joined(list, " "));
    for (const auto& [vc, left] : step.left) row.push_back(std::to_string(left));
    table.rows.push_back(std::move(row));
  }
  d.add(std::move(table));
  Steps steps;
  for (size_t i = 0; i < s.steps.size(); i++) {
    const HivedStep& step = s.steps[i];
    Steps::Step one;
    one.title = std::to_string(i) + "  " + step.title + (step.outcome.empty() ? "" : ": " + step.outcome);
    for (size_t l = 0; l < s.levels.size(); l++)
      if (!step.free[l].empty()) one.aside += (one.aside.empty() ? "free: " : "  ") + s.levels[l] + " " + std::to_string(step.free[l].size());
    if (one.aside.empty()) one.aside = "free: no cell";
    for (const Tree& t : step.trees) one.blocks.push_back({t});
    if (!step.bindings.empty()) one.blocks.push_back({Paragraph{"bound", step.bindings}});
    if (!step.reserved.empty()) one.blocks.push_back({Paragraph{"reserved", step.reserved}});
    if (!step.because.empty()) one.blocks.push_back({Paragraph{"why", joined(step.because, " ")}});
    steps.steps.push_back(std::move(one));
  }
  d.add(std::move(steps));
  return d;
}

Document explain_buddy(const Exercise& e) {
  const auto need = [&](const char* key, const char* what) -> const Config& {
    const Config* c = e.input.find(key);
    if (!c) throw InputError((e.input.where.empty() ? e.file : e.input.where) + ": want " + key + ": " + what);
    return *c;
  };
  constexpr int64_t kMost = int64_t{1} << 40;
  uint64_t roots = 1, unit = 1;
  std::vector<uint64_t> fan_out;
  const bool cells = e.input.find("roots") != nullptr;
  if (cells) {
    roots = uint64_t(need("roots", "how many top cells").as_integer(1, 1'000'000));
    for (const auto& [none, n] : need("children_per_level_from_root", "[2, 2, 2]").fields) fan_out.insert(fan_out.begin(), uint64_t(n.as_integer(1, 1'000'000)));
  } else {
    const auto size = uint64_t(need("size", "units in all, a power of two").as_integer(1, kMost));
    if (const Config* least = e.input.find("min_block")) unit = uint64_t(least->as_integer(1, kMost));
    fan_out = halves(size, unit);
  }
  Buddy b(roots, std::move(fan_out));
  const auto level_name = [&](size_t l) {
    const Config* names = cells ? e.input.find("level_names_from_leaf") : nullptr;
    if (names && l < names->fields.size()) return names->fields[l].second.value;
    return cells ? "level " + std::to_string(l) : std::to_string(b.size(l) * unit);
  };
  std::map<std::string, Buddy::Block> held;
  Document d;
  if (const Config* title = e.input.find("title")) d.title = title->value;
  TableBlock t;
  t.steps = true;
  t.columns = {{"step", true}, {"what happens", false, true}, {"because", false, true}, {"left to right", false, true}};
  size_t number = 0;
  for (const auto& [none, op] : need("ops", "[[\"alloc\", \"a\", 2], [\"free\", \"a\"]]").fields) {
    if (op.fields.size() < 2) throw InputError(op.where + ": want [\"alloc\", NAME, AMOUNT] or [\"free\", NAME]");
    const std::string what = op.fields[0].second.value, name = op.fields[1].second.value;
    std::string happens, because;
    if (what == "alloc") {
      if (op.fields.size() < 3) throw InputError(op.where + ": want how much");
      if (held.count(name)) throw InputError(op.where + ": " + name + " holds a block already");
      const auto amount = uint64_t(op.fields[2].second.as_integer(1, kMost));
      const uint64_t units = (amount + unit - 1) / unit;
      size_t want = 0;
      while (want < b.levels() && b.size(want) < units) want++;
      size_t from = want;
      while (from < b.levels() && b.free(from).empty()) from++;
      const Buddy::Block block = b.take(units);
      happens = name + " asks " + std::to_string(amount);
      if (block.size == 0) {
        happens += ": refused";
        because = want == b.levels() ? "no block is that large" : "no block of that size or above is free";
      } else {
        held[name] = block;
        const uint64_t size = block.size * unit;
        happens += ": " + (cells ? level_name(block.level) + " at " + std::to_string(block.at) : std::to_string(size) + " at " + std::to_string(block.at * unit));
        because = from == want ? "the lowest free one of its size" : "nothing free below " + level_name(from) + ": the lowest one is split " + std::to_string(from - want) + (from - want == 1 ? " time" : " times");
        if (size > amount) because += "; " + std::to_string(size - amount) + " wasted inside";
      }
    } else if (what == "free") {
      const auto it = held.find(name);
      if (it == held.end()) throw InputError(op.where + ": " + name + " holds no block");
      std::vector<size_t> before;
      for (size_t l = 0; l < b.levels(); l++) before.push_back(b.free(l).size());
      b.give(it->second);
      happens = name + " gives back " + (cells ? level_name(it->second.level) : std::to_string(it->second.size * unit));
      size_t merged = it->second.level;
      while (merged + 1 < b.levels() && b.free(merged).size() <= before[merged] && !(b.free(merged).count(it->second.at) && merged == it->second.level)) {
        if (b.free(merged).size() > before[merged]) break;
        merged++;
        if (b.free(merged).size() > before[merged]) break;
      }
      because = merged == it->second.level ? "a buddy is in use: no merge" : "its buddies are free: merged up to " + level_name(merged);
      held.erase(it);
    } else {
      throw InputError(op.where + ": want alloc or free, found \"" + what + "\"");
    }
    std::map<uint64_t, std::string> at;
    for (size_t l = 0; l < b.levels(); l++)
      for (const uint64_t first : b.free(l)) at[first] = std::to_string(b.size(l) * unit);
    for (const auto& [who, block] : held) at[block.at] = who + ":" + std::to_string(block.size * unit);
    std::vector<std::string> map;
    for (const auto& [first, text] : at) map.push_back(text);
    t.rows.push_back({std::to_string(++number), happens, because, joined(map, " ")});
  }
  d.add(std::move(t));
  d.say("A request takes the smallest block that holds it, the lowest one; what is larger is split and the lowest part kept. A block that comes back "
        "merges with its buddies, the parts of the same block, as soon as all of them are free.",
        "rule");
  return d;
}

}  // namespace muster
