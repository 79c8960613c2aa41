// Exercises of kinds buddy (power-of-two blocks) and cells (blocks of any fan-out): what is free after each step.
#include <cmath>

#include "cases.hpp"
#include "parts/buddy.hpp"

namespace conformance {

using namespace muster;

namespace {

uint64_t units(const Json& op) { return op.size() > 2 ? op[2].get<uint64_t>() : 0; }

}  // namespace

void buddy(const Json& c, Tally& tally) {
  const Json& input = c.at("input");
  const auto size = input.at("size").get<uint64_t>(), least = input.value("min_block", uint64_t{1});
  Buddy b(1, halves(size, least));
  std::map<std::string, Buddy::Block> held;
  const auto map = [&] {  // left to right: who has which block
    std::map<uint64_t, Json> at;
    for (size_t l = 0; l < b.levels(); l++)
      for (const uint64_t first : b.free(l)) at[first] = Json::array({"free", b.size(l) * least});
    for (const auto& [name, block] : held)
      if (block.size) at[block.at] = Json::array({name, block.size * least});
    Json all = Json::array();
    for (const auto& [first, one] : at) all.push_back(one);
    return all;
  };
  const Json& steps = c.at("steps");
  std::string difference;
  for (size_t i = 0; i < input.at("ops").size() && difference.empty(); i++) {
    const Json& op = input["ops"][i];
    const std::string name = op[1].get<std::string>();
    const std::string where = "step " + std::to_string(i + 1) + ": ";
    if (op[0] == "alloc") {
      const Buddy::Block block = b.take((units(op) + least - 1) / least);
      held[name] = block;
      if (i < steps.size()) {
        const Json& s = steps[i];
        if (s.contains("block") && (s["block"].is_null() ? block.size != 0 : s["block"].get<uint64_t>() != block.size * least))
          difference = where + "block of " + std::to_string(block.size * least);
        else if (s.contains("at") && (s["at"].is_null() ? block.size != 0 : s["at"].get<uint64_t>() != block.at * least))
          difference = where + "at " + std::to_string(block.at * least);
        else if (s.contains("internal_waste") && !s["internal_waste"].is_null() &&
                 std::abs(number(s["internal_waste"]) - double(block.size * least - units(op))) > 1e-9)
          difference = where + "internal waste of " + std::to_string(block.size * least - units(op));
      }
    } else {
      if (held[name].size) b.give(held[name]);
      held.erase(name);
    }
    if (difference.empty() && i < steps.size() && steps[i].contains("map") && steps[i]["map"] != map()) difference = where + map().dump();
  }
  if (difference.empty() && c.at("expected").contains("final_map") && c["expected"]["final_map"] != map())
    difference = "at the end: " + map().dump();
  tally.judged(c.at("id").get<std::string>(), difference);
}

void cells(const Json& c, Tally& tally) {
  const Json& input = c.at("input");
  auto down = input.at("children_per_level_from_root").get<std::vector<uint64_t>>();
  Buddy b(input.at("roots").get<uint64_t>(), std::vector<uint64_t>(down.rbegin(), down.rend()));
  std::map<std::string, Buddy::Block> held;
  const auto lists = [&] {
    Json all = Json::object();
    for (size_t l = 0; l < b.levels(); l++)
      if (!b.free(l).empty()) all["level" + std::to_string(l)] = b.free(l);
    return all;
  };
  const Json& steps = c.at("steps");
  std::string difference;
  for (size_t i = 0; i < input.at("ops").size() && difference.empty(); i++) {
    const Json& op = input["ops"][i];
    const std::string name = op[1].get<std::string>();
    const std::string where = "step " + std::to_string(i + 1) + ": ";
    Buddy::Block block;
    if (op[0] == "alloc") {
      block = b.take(units(op));
      if (block.size) held[name] = block;
    } else if (held.count(name)) {
      b.give(held[name]);
      held.erase(name);
    }
    if (i >= steps.size()) continue;
    const Json& s = steps[i];
    if (s.contains("level") && (s["level"].is_null() ? block.size != 0 : block.size == 0 || s["level"] != block.level))
      difference = where + "level " + std::to_string(block.level);
    else if (s.contains("gpus") &&
             (s["gpus"].is_null() ? block.size != 0 : s["gpus"] != Json::array({block.at, block.at + block.size - 1})))
      difference = where + "from " + std::to_string(block.at);
    else if (s.contains("free") && s["free"] != lists()) difference = where + lists().dump();
  }
  if (difference.empty() && c.at("expected").contains("final_free_lists") && c["expected"]["final_free_lists"] != lists())
    difference = "at the end: " + lists().dump();
  tally.judged(c.at("id").get<std::string>(), difference);
}

}  // namespace conformance
