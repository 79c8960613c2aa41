// HiveD under random histories: nobody's guarantee depends on the others, nothing is lost, and every list is as the rule says.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "parts/hived.hpp"

namespace muster { namespace {

uint64_t cases() {
  const char* n = std::getenv("MUSTER_CASES");
  return n ? std::strtoull(n, nullptr, 10) : 10'000;
}

/// `property(seed)` for cases() seeds; a failure is named by its seed.
template <class F> void for_all(const char* name, F property) {
  const bool ok = rc::check(name, [&] {
    const uint64_t seed = *rc::gen::noShrink(rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>()));
    for (uint64_t i = 0; i < (cases() + 99) / 100; i++) {
      const std::string broken = property(seed + i);
      if (!broken.empty()) RC_FAIL("seed " + std::to_string(seed + i) + ": " + broken);
    }
  });
  EXPECT_TRUE(ok);
}

struct Dice {
  uint64_t x;
  uint32_t roll(uint32_t n) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    return uint32_t(x >> 33) % n;
  }
};

/// Two or three virtual clusters that fit into one or two racks of two or three nodes of two switches.
HivedConfig random_config(Dice& d) {
  HivedConfig c;
  const auto nodes = int32_t(2 + d.roll(2));
  c.types = {{"SWITCH", "GPU", int32_t(1 + d.roll(3)), false}, {"NODE", "SWITCH", 2, true}, {"RACK", "NODE", nodes, false}};
  const uint32_t racks = 1 + d.roll(2);
  int32_t node = 0;
  for (uint32_t r = 0; r < racks; r++) {
    HivedConfig::Cell rack;
    rack.type = "RACK";
    for (int32_t n = 0; n < nodes; n++) {
      HivedConfig::Cell one;
      one.address = "n" + std::to_string(node++);
      rack.children.push_back(one);
    }
    c.cells.push_back(rack);
  }
  static const char* kPaths[] = {"RACK", "RACK.NODE", "RACK.NODE.SWITCH", "RACK.NODE.SWITCH.GPU"};
  for (const char* vc : {"A", "B", "C"}) c.vcs.push_back({vc, {}, {}});
  for (int tries = 0; tries < 8; tries++) {
    HivedConfig more = c;
    more.vcs[d.roll(3)].cells.push_back({kPaths[d.roll(4)], int32_t(1 + d.roll(3)), {}});
    try {
      const CellForest fits(more);
      c = more;
    } catch (const InputError&) {}  // one cell too many
  }
  return c;
}

/// A gang in words.
struct Ask {
  uint32_t tag;
  HivedRequest request;
};

/// What happens in a history: a gang comes, or goes, or a node's health changes.
struct Happens {
  enum { comes, goes, hurts, heals } what;
  uint32_t which;
};

class Cluster {
 public:
  explicit Cluster(const HivedConfig& c) : hived(c) {}
  Hived hived;
  std::vector<int32_t> group;  // by tag
  std::vector<int32_t> virtual_cells;

  bool runs(uint32_t tag) const { return tag < group.size() && group[tag] >= 0; }
  /// Whether it was accepted; victims leave at once.
  bool comes(const Ask& a) {
    if (group.size() <= a.tag) group.resize(a.tag + 1, -1);
    HivedRequest r = a.request;
    r.tag = a.tag;
    int32_t g = -1;
    const Hived::Answer answer = hived.decide(r, false, {}, g);
    if (answer.why != HivedWait::none) return false;
    for (const int32_t v : answer.victims) {
      group[size_t(hived.group(v).tag)] = -1;
      hived.release(v);
    }
    if (g >= 0) hived.bind(g);
    else g = hived.commit(r, hived.placement());
    group[a.tag] = g;
    return true;
  }
  void goes(uint32_t tag) {
    if (!runs(tag)) return;
    hived.release(group[tag]);
    group[tag] = -1;
  }
  /// All that can change, as text.
  std::string state() const {
    std::string s;
    const auto put = [&](int64_t n) { s += std::to_string(n) + " "; };
    for (size_t c = 0; c < hived.forest.cells().size(); c++) {
      const Cell& x = hived.forest.cells()[c];
      for (const int32_t n : {x.bound, x.priority, x.used, x.opportunistic, x.user, x.state, x.bad, hived.forest.info(int32_t(c)).reserver}) put(n);
    }
    for (const Chain& c : hived.forest.chains())
      for (size_t l = 1; l < c.free.size(); l++) {
        for (const CellList* list : {&c.free[l], &c.bad_free[l]}) {
          s += "|";
          for (int32_t i = 0; i < list->size(); i++) put((*list)[i]);
        }
        put(c.left[l]), put(c.all_free[l]);
      }
    for (const auto& v : const_cast<Cluster*>(this)->hived.forest.views()) {
      s += "|";
      for (const int32_t slot : v->order()) put(slot);
    }
    return s;
  }
};

std::vector<Ask> random_asks(Dice& d, bool opportunistic) {
  std::vector<Ask> asks;
  for (uint32_t tag = 0; tag < 12; tag++) {
    Ask a;
    a.tag = tag;
    a.request.vc = int32_t(d.roll(3));
    a.request.priority = int32_t(d.roll(opportunistic ? 4 : 3)) - (opportunistic ? 1 : 0);
    a.request.lazy_preemption = d.roll(3) == 0;
    a.request.members = {{int32_t(1 + d.roll(3)), int32_t(1 + d.roll(4))}};
    asks.push_back(a);
  }
  return asks;
}

std::vector<Happens> random_history(Dice& d, bool health) {
  std::vector<Happens> all;
  for (int i = 0; i < 24; i++) {
    const uint32_t what = d.roll(health ? 12 : 10);
    all.push_back({what < 6 ? Happens::comes : what < 10 ? Happens::goes : what == 10 ? Happens::hurts : Happens::heals, d.roll(12)});
  }
  return all;
}

TEST(Hived, AVirtualClusterAloneGetsTheSameDecisions) {
  for_all("sharing safety", [](uint64_t seed) -> std::string {
    Dice d{seed};
    const HivedConfig config = random_config(d);
    const std::vector<Ask> asks = random_asks(d, true);
    const std::vector<Happens> history = random_history(d, false);
    Cluster shared(config), alone[3] = {Cluster(config), Cluster(config), Cluster(config)};
    for (const Happens& h : history) {
      const Ask& a = asks[h.which];
      Cluster& own = alone[a.request.vc];
      if (h.what == Happens::goes) {
        shared.goes(a.tag);
        if (a.request.priority >= 0) own.goes(a.tag);
        continue;
      }
      if (!shared.hived.wrong(a.request).empty()) continue;
      if (a.request.priority < 0) {
        if (!shared.runs(a.tag)) shared.comes(a);
        continue;
      }
      // What was lazily preempted may be evicted by others; from then on it is nobody's guarantee, so it is let go on both sides.
      if (shared.runs(a.tag) || own.runs(a.tag)) {
        shared.goes(a.tag), own.goes(a.tag);
        continue;
      }
      if (shared.comes(a) != own.comes(a)) return "tenant " + config.vcs[size_t(a.request.vc)].name + " is served in one cluster and waits in the other";
    }
    return {};
  });
}

/// What a history breaks, or empty.
std::string broken_by(uint64_t seed) {
  Dice d{seed};
  const HivedConfig config = random_config(d);
  const std::vector<Ask> asks = random_asks(d, true);
  Cluster c(config);
  for (const Happens& h : random_history(d, seed % 3 == 0)) {
    const auto node = int32_t(h.which % c.hived.forest.nodes().size());
    if (h.what == Happens::comes && !c.runs(h.which) && c.hived.wrong(asks[h.which].request).empty()) c.comes(asks[h.which]);
    if (h.what == Happens::goes) c.goes(h.which);
    if (h.what == Happens::hurts) c.hived.node_bad(node);
    if (h.what == Happens::heals) c.hived.node_healthy(node);
    if (const std::string broken = c.hived.forest.check(); !broken.empty()) return broken;
  }
  for (size_t n = 0; n < c.hived.forest.nodes().size(); n++) c.hived.node_healthy(int32_t(n));
  std::vector<uint32_t> order;
  for (uint32_t t = 0; t < 12; t++) order.insert(order.begin() + d.roll(uint32_t(order.size()) + 1), t);
  for (const uint32_t t : order) c.goes(t);
  if (const std::string broken = c.hived.forest.check(); !broken.empty()) return broken;
  for (const Chain& chain : c.hived.forest.chains())
    if (chain.free[size_t(chain.top)].size() != int32_t(chain.full[size_t(chain.top)].size())) return "all gangs have left, and not all top cells are whole and free";
  return {};
}

TEST(Hived, EveryInvariantHoldsAfterEachStepAndNothingIsLost) { for_all("invariants", broken_by); }

// A gang of three takes a node and a single GPU. Taking the node leaves too few healthy GPUs, so a bad one is shown to the tenant, in the very
// place that was chosen for the gang's third.
TEST(Hived, ABadCellThatIsOnlyShownMakesWay) { EXPECT_EQ(broken_by(18446744073709550595U), ""); }

TEST(Hived, AWhatIfTakenBackLeavesNoTrace) {
  for_all("what-if", [](uint64_t seed) -> std::string {
    Dice d{seed};
    const HivedConfig config = random_config(d);
    const std::vector<Ask> asks = random_asks(d, true);
    Cluster c(config);
    for (const Happens& h : random_history(d, seed % 3 == 0)) {
      const auto node = int32_t(h.which % c.hived.forest.nodes().size());
      const auto act = [&] {
        if (h.what == Happens::comes && !c.runs(h.which) && c.hived.wrong(asks[h.which].request).empty()) c.comes(asks[h.which]);
        if (h.what == Happens::goes) c.goes(h.which);
        if (h.what == Happens::hurts) c.hived.node_bad(node);
        if (h.what == Happens::heals) c.hived.node_healthy(node);
      };
      c.hived.forest.journal().forget();
      const std::string before = c.state();
      const std::vector<int32_t> groups = c.group;
      act();
      c.hived.forest.journal().back_to(0);
      c.group = groups;
      if (c.state() != before) return "undone, and not as before";
      act();
    }
    return {};
  });
}

TEST(Hived, TheOrderOfNodesIsThatOfASortByTheLetter) {
  for_all("node order", [](uint64_t seed) -> std::string {
    Dice d{seed};
    const HivedConfig config = random_config(d);
    const std::vector<Ask> asks = random_asks(d, true);
    Cluster c(config);
    auto& forest = c.hived.forest;
    std::vector<std::vector<int32_t>> letter(forest.views().size());
    for (size_t v = 0; v < letter.size(); v++) letter[v] = forest.views()[v]->order();
    const size_t chains = forest.chains().size();
    for (const Happens& h : random_history(d, seed % 3 == 0)) {
      const auto node = int32_t(h.which % forest.nodes().size());
      const HivedRequest& r = asks[h.which].request;
      if (h.what == Happens::goes) c.goes(h.which);
      if (h.what == Happens::hurts) c.hived.node_bad(node);
      if (h.what == Happens::heals) c.hived.node_healthy(node);
      if (h.what != Happens::comes || c.runs(h.which) || !c.hived.wrong(r).empty()) continue;
      const int32_t tree = r.priority < 0 ? -1 : forest.tree_of(r.vc, 0);
      if (r.priority >= 0 && tree < 0) continue;
      const size_t view = r.priority < 0 ? 0 : chains + size_t(tree);
      std::vector<int32_t> cell_of(letter[view].size());
      for (size_t x = 0; x < forest.cells().size(); x++)
        if (forest.cells()[x].view == int32_t(view)) cell_of[size_t(forest.cells()[x].slot)] = int32_t(x);
      const auto key = [&](int32_t slot) {
        const Cell& x = forest[cell_of[size_t(slot)]];
        const int32_t physical = r.priority < 0 ? cell_of[size_t(slot)] : x.bound;
        const bool bad = physical != kNoCell && forest[physical].bad;
        return r.priority < 0 ? std::array<int32_t, 3>{bad, -x.opportunistic, x.used - x.opportunistic} : std::array<int32_t, 3>{bad, -x.used, 0};
      };
      std::stable_sort(letter[view].begin(), letter[view].end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
      c.comes(asks[h.which]);
      if (forest.views()[view]->order() != letter[view]) return "view " + std::to_string(view) + " is in another order";
    }
    return {};
  });
}

}}  // namespace muster
