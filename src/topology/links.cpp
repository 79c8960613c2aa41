#include "muster/links.hpp"

#include <algorithm>
#include <array>

#include "topology/link_graph.hpp"

namespace muster {
namespace {

constexpr uint32_t kMostOfMesh = 10;  // GPUs of a node whose rings are searched: a table of 1,024

/// The widest ring over NVLink alone through a set of GPUs.
struct MeshRing {
  int64_t mb_s = 0;  // 0: there is none
  std::array<uint8_t, kMostOfMesh> order{};
};

/// By mask of GPUs. `wide[a * gpus + b]` is the NVLink between two.
std::vector<MeshRing> mesh_rings(uint32_t gpus, const std::vector<int64_t>& wide) {
  const auto link = [&](uint32_t a, uint32_t b) { return wide[a * gpus + b]; };
  std::vector<MeshRing> rings(size_t{1} << gpus);
  std::vector<int64_t> best(rings.size() * gpus);  // of the paths from the lowest GPU through a set to one of it (Held and Karp, 1962)
  for (uint32_t set = 1; set < rings.size(); set++) {
    const auto lowest = uint32_t(std::countr_zero(set));
    const auto path = [&](uint32_t of, uint32_t to) -> int64_t& { return best[of * gpus + to]; };
    if ((set & (set - 1)) == 0) {
      path(set, lowest) = Links::kUnlimited;
      continue;
    }
    const auto before = [&](uint32_t of, uint32_t to) {  // the last but one
      std::pair<int64_t, uint32_t> r{0, lowest};
      const uint32_t rest = of & ~(1U << to);
      for (uint32_t v = 0; v < gpus; v++)
        if (rest >> v & 1U)
          if (const int64_t w = std::min(path(rest, v), link(v, to)); w > r.first) r = {w, v};
      return r;
    };
    MeshRing& ring = rings[set];
    uint32_t last = lowest;
    for (uint32_t v = lowest + 1; v < gpus; v++) {
      if (!(set >> v & 1U)) continue;
      path(set, v) = before(set, v).first;
      if (const int64_t w = std::min(path(set, v), link(v, lowest)); w > ring.mb_s) ring.mb_s = w, last = v;
    }
    if (!ring.mb_s) continue;
    for (uint32_t rest = set, at = uint32_t(std::popcount(set)); at-- > 0;) {
      ring.order[at] = uint8_t(last);
      const uint32_t next = before(rest, last).second;
      rest &= ~(1U << last), last = next;
    }
  }
  return rings;
}

/// The tables with what rings need beside them.
struct RingTables : LinkTables {
  struct Mesh {
    std::vector<int64_t> wide;    // gpus x gpus: NVLink between two, 0: none
    std::vector<MeshRing> rings;  // by mask; empty for large nodes
  };

  explicit RingTables(const Topology& topology) : LinkTables(topology), meshes(insides.size()) {
    for (size_t i = 0; i < insides.size(); i++) {
      const NodeInside& in = insides[i];
      if (in.nvlink != NodeLinks::NvLink::pairs || by_rack()) continue;
      Mesh& m = meshes[i];
      m.wide.resize(size_t{in.gpus} * in.gpus);
      for (const NodeLinks::Pair& p : in.pairs)
        m.wide[p.a * in.gpus + p.b] = m.wide[p.b * in.gpus + p.a] = int64_t{p.links} * in.nvlink_rate.mb_s;
      if (in.gpus <= kMostOfMesh) m.rings = mesh_rings(in.gpus, m.wide);
    }
  }

  bool by_rack() const { return nvlink_level < t.node_level(); }
  bool by_switch(NodeId n) const { return by_rack() || inside(n).nvlink == NodeLinks::NvLink::all; }
  LinkRate switch_rate(NodeId n) const { return by_rack() ? nvlink_rate : inside(n).nvlink_rate; }
  uint32_t group(GpuId g) const { return t.domain_of_node(nvlink_level, t.node_of(g)); }

  int64_t nvlink(GpuId a, GpuId b) const {  // of two GPUs of one node, by cable
    const NodeId n = t.node_of(a);
    const Mesh& m = meshes[inside_of[n]];
    const GpuId first = t.first_gpu(n);
    return m.wide.empty() ? 0 : m.wide[(a - first) * inside(n).gpus + (b - first)];
  }
  LinkRate pcie(GpuId a, GpuId b) const {
    const NodeInside& in = inside(t.node_of(a));
    LinkRate r{in.gpu.mb_s, 2 * in.gpu.ns};
    for (size_t l = meet_inside(a, b) + 1; l < t.levels().size(); l++) {
      const LinkRate up = in.uplink[l - t.node_level() - 1];
      r = {std::min(r.mb_s, up.mb_s), r.ns + 2 * up.ns};
    }
    return r;
  }

  std::vector<Mesh> meshes;  // by inside
};

/// Puts a ring together, group by group: a group is what NVLink switches join, or one node.
class RingBuilder {
 public:
  RingBuilder(const RingTables& tables, Ring& ring) : tables_(tables), t_(tables.t), ring_(ring) {}

  void build() {
    const size_t gpus = ring_.gpus.size();
    several_ = tables_.group(ring_.gpus.front()) != tables_.group(ring_.gpus.back());
    int64_t first_way = 0, last_way = 0, slowest = 0;
    for (size_t i = 0; i < gpus;) {
      size_t end = i + 1;
      while (end < gpus && tables_.group(ring_.gpus[end]) == tables_.group(ring_.gpus[i])) end++;
      const std::span<GpuId> group(ring_.gpus.data() + i, end - i);
      mark_ = ring_.uses.size();
      inside(group);
      if (several_) {
        const int64_t way = to_network(group);
        slowest = std::max(slowest, i ? last_way + way : 0);
        last_way = way;
        if (i == 0) first_way = way;
      }
      i = end;
    }
    if (several_) { hop(std::max(slowest, first_way + last_way) + fabric()); }
    ring_.mb_s = ring_.own_mb_s;
    int64_t stage = 0;
    for (size_t i = 0; i < ring_.uses.size(); i++) {
      const bool fresh = i == 0 || ring_.uses[i].stage != ring_.uses[i - 1].stage;
      stage = (fresh ? 0 : stage) + tables_.links[ring_.uses[i].link].rate.mb_s;
      if (i + 1 == ring_.uses.size() || ring_.uses[i + 1].stage != ring_.uses[i].stage) ring_.mb_s = std::min(ring_.mb_s, stage);
    }
  }

 private:
  void own(int64_t mb_s) { ring_.own_mb_s = std::min(ring_.own_mb_s, mb_s); }
  void hop(int64_t ns) { ring_.ns = std::max(ring_.ns, ns); }
  void next_stage() {
    if (!ring_.uses.empty()) stage_ = ring_.uses.back().stage + 1;
  }
  /// In the open stage, unless this group crosses it already.
  void use(uint32_t link) {
    for (size_t i = mark_; i < ring_.uses.size(); i++)
      if (ring_.uses[i].link == link) return;
    ring_.uses.push_back({link, stage_});
  }
  void cross(uint32_t link) { next_stage(), use(link); }

  /// The hops among the GPUs of a group.
  void inside(std::span<GpuId> group) {
    const NodeId n = t_.node_of(group[0]);
    const NodeInside& in = tables_.inside(n);
    if (tables_.by_switch(n)) {
      if (group.size() > 1) own(tables_.switch_rate(n).mb_s), hop(tables_.switch_rate(n).ns);
      if (several_) own(int64_t(group.size()) * in.gpu.mb_s);  // every GPU takes a part of what goes out
      return;
    }
    if (several_) own(in.gpu.mb_s);
    if (group.size() < 2) return;
    const GpuId first = t_.first_gpu(n);
    if (const auto& rings = tables_.meshes[tables_.inside_of[n]].rings; !rings.empty()) {
      uint32_t mask = 0;
      for (const GpuId g : group) mask |= 1U << (g - first);
      if (const MeshRing& r = rings[mask]; r.mb_s && r.mb_s >= tables_.pcie(group.front(), group.back()).mb_s) {
        for (size_t i = 0; i < group.size(); i++) group[i] = first + r.order[i];
        own(r.mb_s), hop(in.nvlink_rate.ns);
        return;
      }
    }
    // In order of the tree a ring crosses each uplink once, whatever the order of its parts.
    for (size_t i = 0; i < group.size(); i++) {
      const bool back = i + 1 == group.size();
      const GpuId a = group[i], b = group[back ? 0 : i + 1];
      const LinkRate over = tables_.pcie(a, b);
      if (const int64_t nvlink = tables_.nvlink(a, b); nvlink >= over.mb_s) {
        own(nvlink), hop(in.nvlink_rate.ns);
        continue;
      }
      own(in.gpu.mb_s), hop(over.ns);
      for (size_t l = tables_.meet_inside(a, b) + 1; l < t_.levels().size(); l++)
        cross(tables_.link_of(l, tables_.at(l, a))), cross(tables_.link_of(l, tables_.at(l, b)));
    }
  }

  /// From the GPUs of a group to the cards; nanoseconds of the slowest such way.
  int64_t to_network(std::span<const GpuId> group) {
    const bool parallel = tables_.by_switch(t_.node_of(group[0]));
    int64_t slowest = 0;
    // Uplinks between a GPU and a card that is not beside it. Behind NVLink switches every GPU sends its own part.
    for (size_t l = t_.node_level() + 1; l < t_.levels().size(); l++) {
      next_stage();
      for (const GpuId g : group)
        each_card(g, [&](uint32_t, const NodeLinks::Nic& card) {
          const auto [meet, at] = place(g, card);
          if (l > meet) use(tables_.link_of(l, tables_.at(l, g)));
          if (l > meet && l <= at) use(tables_.link_of(l, tables_.at(l, t_.first_gpu(t_.node_of(g)) + card.begin)));
          if (!parallel) next_stage();
        });
    }
    next_stage();
    for (const GpuId g : group) {
      const NodeId n = t_.node_of(g);
      const NodeInside& in = tables_.inside(n);
      each_card(g, [&](uint32_t c, const NodeLinks::Nic& card) {
        use(tables_.first_nic[n] + c);
        const auto [meet, at] = place(g, card);
        int64_t ns = in.gpu.ns + card.rate.ns;
        for (size_t l = meet + 1; l < t_.levels().size(); l++) ns += in.uplink[l - t_.node_level() - 1].ns * (l <= at ? 2 : 1);
        slowest = std::max(slowest, ns);
      });
      if (in.nics.empty()) own(0);  // no way out
    }
    return slowest;
  }
  template <typename F> void each_card(GpuId g, F f) const {
    const NodeId n = t_.node_of(g);
    const NodeInside& in = tables_.inside(n);
    for (const uint32_t c : in.near[g - t_.first_gpu(n)]) f(c, in.nics[c]);
  }
  /// The level at which a GPU and a card are together, and that of the card itself.
  std::pair<size_t, size_t> place(GpuId g, const NodeLinks::Nic& card) const {
    const GpuId first = t_.first_gpu(t_.node_of(g));
    const size_t lowest = t_.levels().size() - 1;
    const size_t at = std::min(lowest, tables_.meet_inside(first + card.begin, first + card.end - 1));
    return {std::min(at, std::min(tables_.meet_inside(g, first + card.begin), tables_.meet_inside(g, first + card.end - 1))), at};
  }

  /// Uplinks of the domains above the nodes and below where all GPUs meet; nanoseconds of the way there and back.
  int64_t fabric() {
    const size_t node_level = t_.node_level();
    int64_t ns = 0;
    for (size_t l = node_level; l-- > 0;) {
      const bool met = ring_.level != Links::kCluster && l <= ring_.level;
      if (met && !(tables_.rails > 1 && l + 1 == node_level && l == ring_.level && rails_differ())) break;
      int64_t level_ns = 0;
      const bool beside = l >= tables_.nvlink_level;  // domains inside a group carry its traffic side by side
      mark_ = ring_.uses.size();
      for (size_t i = 0, first = 0; i < ring_.gpus.size(); i++) {
        const NodeId n = t_.node_of(ring_.gpus[i]);
        const uint32_t d = t_.domain_of_node(l, n);
        const NodeId before = i ? t_.node_of(ring_.gpus[i - 1]) : kNone;
        const bool fresh =
            i == 0 || (beside ? tables_.group(ring_.gpus[i]) != tables_.group(ring_.gpus[i - 1]) : d != t_.domain_of_node(l, before));
        if (fresh) next_stage(), mark_ = ring_.uses.size(), first = i;
        if (i > first && t_.node_of(ring_.gpus[i]) == before && tables_.rails == 1) continue;
        const uint32_t in_node = ring_.gpus[i] - t_.first_gpu(n);
        if (tables_.rails == 1) use(tables_.link_of(l, d));
        else
          for (const uint32_t c : tables_.inside(n).near[in_node]) use(tables_.link_of(l, d, c % tables_.rails));
        level_ns = std::max(level_ns, tables_.links[tables_.link_of(l, d)].rate.ns);
      }
      ns += 2 * level_ns;
    }
    return ns;
  }

  /// Whether some nodes use other cards than others, by number.
  bool rails_differ() const {
    std::vector<uint8_t> before, here(tables_.rails);
    for (size_t i = 0; i < ring_.gpus.size(); i++) {
      const NodeId n = t_.node_of(ring_.gpus[i]);
      for (const uint32_t c : tables_.inside(n).near[ring_.gpus[i] - t_.first_gpu(n)]) here[c % tables_.rails] = 1;
      if (i + 1 < ring_.gpus.size() && t_.node_of(ring_.gpus[i + 1]) == n) continue;
      if (!before.empty() && before != here) return true;
      before = here;
      std::fill(here.begin(), here.end(), 0);
    }
    return false;
  }

  const RingTables& tables_;
  const Topology& t_;
  Ring& ring_;
  bool several_ = false;  // groups
  size_t mark_ = 0;       // uses of the group at hand begin here
  uint32_t stage_ = 0;
};

void gather(const Topology& t, Pieces p, std::vector<GpuId>& gpus) {
  gpus.clear();
  for (const Piece& q : p) {
    const GpuId first = t.first_gpu(q.node) + q.word * 64U;
    for (uint64_t m = q.mask(); m; m &= m - 1) gpus.push_back(first + GpuId(std::countr_zero(m)));
  }
  // Tree order but for the pieces of one node.
  if (!std::is_sorted(gpus.begin(), gpus.end())) std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
}

}  // namespace

struct Links::Tables : RingTables {
  using RingTables::RingTables;
};

Links::Links(const Topology& t) : tables_(std::make_unique<const Tables>(t)) { links_ = tables_->links; }
Links::~Links() = default;
Links::Links(Links&&) noexcept = default;
Links& Links::operator=(Links&&) noexcept = default;

std::string Links::name(uint32_t link) const {
  const Tables& tables = *tables_;
  const Topology& t = tables.t;
  if (links_[link].kind == Link::nic) {
    const auto at = std::upper_bound(tables.first_nic.begin(), tables.first_nic.end(), link) - 1;
    return t.node_name(NodeId(at - tables.first_nic.begin())) + "/nic" + std::to_string(link - *at);
  }
  size_t level = kCluster;
  for (size_t l = 0; l < t.levels().size(); l++)
    if (l != t.node_level() && tables.base[l] <= link && (level == kCluster || tables.base[l] >= tables.base[level])) level = l;
  const uint32_t i = link - tables.base[level], rails = level < t.node_level() ? tables.rails : 1;
  return t.domains(level)[i / rails].name + (rails > 1 ? "/rail" + std::to_string(i % rails) : "");
}

size_t Links::meet(GpuId a, GpuId b) const {
  const Topology& t = tables_->t;
  if (t.node_of(a) == t.node_of(b)) return tables_->meet_inside(a, b);
  for (size_t l = t.node_level(); l-- > 0;)
    if (tables_->at(l, a) == tables_->at(l, b)) return l;
  return kCluster;
}

size_t Links::meet(Pieces p) const {
  const Topology& t = tables_->t;
  GpuId least = kNone, most = 0;
  for (const Piece& q : p) {
    const uint64_t mask = q.mask();
    if (!mask) continue;
    const GpuId first = t.first_gpu(q.node) + q.word * 64U;
    least = std::min(least, first + GpuId(std::countr_zero(mask)));
    most = std::max(most, first + 63U - GpuId(std::countl_zero(mask)));
  }
  return least == kNone ? t.levels().size() : meet(least, most);
}

bool Links::all_by_nvlink(Pieces p) const {
  std::vector<GpuId> gpus;
  gather(tables_->t, p, gpus);
  if (gpus.size() < 2) return true;
  if (tables_->group(gpus.front()) != tables_->group(gpus.back())) return false;
  if (tables_->by_switch(tables_->t.node_of(gpus[0]))) return true;
  for (const GpuId a : gpus)
    for (const GpuId b : gpus)
      if (a < b && !tables_->nvlink(a, b)) return false;
  return true;
}

void Links::ring(Pieces p, Ring& ring) const {
  gather(tables_->t, p, ring.gpus);
  ring.uses.clear();
  ring.own_mb_s = ring.mb_s = kUnlimited;
  ring.ns = 0;
  ring.level = ring.gpus.empty() ? tables_->t.levels().size() : meet(ring.gpus.front(), ring.gpus.back());
  if (ring.gpus.size() > 1) RingBuilder(*tables_, ring).build();
}

int64_t Links::mb_s(const Ring& ring, std::span<const uint32_t> flows) const {
  int64_t least = ring.own_mb_s, stage = 0;
  for (size_t i = 0; i < ring.uses.size(); i++) {
    const auto [link, at] = ring.uses[i];
    stage += links_[link].rate.mb_s / std::max(flows[link], 1U);
    if (i + 1 < ring.uses.size() && ring.uses[i + 1].stage == at) continue;
    least = std::min(least, stage), stage = 0;
  }
  return least;
}

}  // namespace muster
