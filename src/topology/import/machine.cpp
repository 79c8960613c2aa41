#include "topology/import/machine.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "muster/config.hpp"
#include "text/numbers.hpp"

namespace muster::import {
namespace {

constexpr size_t kMostGpus = 16'384, kMostCards = 1'024;

}  // namespace

void Machine::open(Container::Kind kind) {
  parent_.push_back(open_.empty() ? kNone : open_.back());
  open_.push_back(uint32_t(containers_.size()));
  containers_.push_back({kind, {uint32_t(gpus_.size())}});  // where its GPUs begin, until it is closed
}

void Machine::close() {
  Container& c = containers_[open_.back()];
  open_.pop_back();
  const uint32_t first = c.gpus[0];
  c.gpus.resize(gpus_.size() - first);
  std::iota(c.gpus.begin(), c.gpus.end(), first);
}

NodeLinks Machine::links(const std::vector<uint32_t>& number) const {
  NodeLinks links;
  const auto n = uint32_t(gpus_.size());
  const int64_t slot = gpus_[0].slot_mb_s;
  if (slot && std::all_of(gpus_.begin(), gpus_.end(), [&](const MachineGpu& g) { return g.slot_mb_s == slot; }))
    links.uplinks.push_back({"gpu", {slot, 0}});

  std::vector<int64_t> to_switch(n);
  std::map<std::pair<uint32_t, uint32_t>, int64_t> between;
  for (const NvLink& l : nvlinks_) {
    if (l.b == kNone) to_switch[l.a] += l.mb_s;
    else if (l.a != l.b) {
      int64_t& mb_s = between[std::minmax(number[l.a], number[l.b])];
      mb_s = std::max(mb_s, l.mb_s);
    }
  }
  if (n > 1 && *std::min_element(to_switch.begin(), to_switch.end()) > 0) {
    links.nvlink = NodeLinks::NvLink::all;
    links.nvlink_rate.mb_s = *std::min_element(to_switch.begin(), to_switch.end());
  } else if (!between.empty()) {
    links.nvlink = NodeLinks::NvLink::pairs;
    int64_t one = between.begin()->second;
    for (const auto& [pair, mb_s] : between) one = std::min(one, mb_s);
    links.nvlink_rate.mb_s = one;
    for (const auto& [pair, mb_s] : between) links.pairs.push_back({pair.first, pair.second, uint32_t(mb_s / one)});
  }

  links.states_nics = !cards_.empty();
  for (const Card& card : cards_) {
    NodeLinks::Nic nic{0, n, {card.mb_s, 0}};
    uint32_t c = card.container;
    while (c != kNone && containers_[c].gpus.empty()) c = parent_[c];
    if (c != kNone) {  // its GPUs are neighbours in the numbers of the node
      nic.begin = n, nic.end = 0;
      for (const uint32_t g : containers_[c].gpus) nic.begin = std::min(nic.begin, number[g]), nic.end = std::max(nic.end, number[g] + 1);
    }
    if (links.nics.size() < kMostCards) links.nics.push_back(nic);
  }
  return links;
}

Imported Machine::imported(const ImportSource& source, NodeKind kind, const std::string& what) {
  if (gpus_.empty()) fail(source, "no GPU in it (" + what + ")");
  if (gpus_.size() > kMostGpus) fail(source, "a node has at most 16,384 GPUs, found " + with_commas(int64_t(gpus_.size())));
  std::vector<uint32_t> order(gpus_.size()), as_counted(gpus_.size()), number(gpus_.size());
  std::iota(order.begin(), order.end(), 0U);
  const bool told = std::all_of(gpus_.begin(), gpus_.end(), [](const MachineGpu& g) { return g.number >= 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return told ? gpus_[a].number < gpus_[b].number : gpus_[a].bus < gpus_[b].bus; });
  for (uint32_t i = 0; i < order.size(); i++) as_counted[order[i]] = i;
  std::vector<Container> counted = containers_;
  for (Container& c : counted)
    for (uint32_t& g : c.gpus) g = as_counted[g];
  NodeShape shape = node_shape(uint32_t(gpus_.size()), counted);
  for (uint32_t i = 0; i < order.size(); i++) number[order[shape.order[i]]] = i;

  Imported r;
  if (shape.renumbered()) r.notes.push_back(renumbering(shape));
  r.spec.levels = {"node"};
  r.spec.levels.insert(r.spec.levels.end(), shape.levels.begin(), shape.levels.end());
  kind.gpus = uint32_t(gpus_.size());
  const bool one_type = std::all_of(gpus_.begin(), gpus_.end(), [&](const MachineGpu& g) { return g.type == gpus_[0].type; });
  if (one_type) kind.gpu_type = gpus_[0].type;
  else r.notes.push_back("GPUs of different types in one node; the type is left out");
  kind.links = links(number);
  kind_of(r.spec, std::move(kind));
  r.spec.top.push_back(std::move(shape.node));
  return r;
}

std::string_view root_of(std::string_view text) {
  text = trim(text);
  while (!text.empty() && text[0] == '<') {
    if (text.substr(0, 4) == "<!--") {
      const size_t end = text.find("-->");
      if (end == std::string_view::npos) return {};
      text = trim(text.substr(end + 3));
    } else if (text.substr(0, 2) == "<?" || text.substr(0, 2) == "<!") {
      const size_t end = text.find('>');
      if (end == std::string_view::npos) return {};
      text = trim(text.substr(end + 1));
    } else {
      return text.substr(1, std::min(text.find_first_of(" \t\r\n/>"), text.size()) - 1);
    }
  }
  return {};
}

void parse_xml(const ImportSource& source, pugi::xml_document& document) {
  const pugi::xml_parse_result r = document.load_buffer(source.text.data(), source.text.size());
  if (r) return;
  const size_t at = std::min(size_t(std::max(r.offset, ptrdiff_t{0})), source.text.size());
  fail(source, size_t(std::count(source.text.begin(), source.text.begin() + long(at), '\n')) + 1,
       std::string("not well-formed XML: ") + r.description());
}

std::string_view attribute(pugi::xml_node n, const char* name) { return n.attribute(name).as_string(); }

}  // namespace muster::import
