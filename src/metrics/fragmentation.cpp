// Fragmentation over time: how much of what is free the jobs of this workload could not use. The window is the run.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "metrics/family.hpp"
#include "metrics/occupancy.hpp"
#include "metrics/window.hpp"
#include "muster/fits.hpp"
#include "muster/id_set.hpp"

namespace muster {
namespace {

/// The cells of one level by how many GPUs are free in each: how often each number occurs, over time.
class Cells {
 public:
  Cells(size_t cells, uint32_t largest) : free_(cells), now_(largest + 1), counts_(largest + 1) {}
  void start(const std::vector<uint32_t>& free) {
    free_ = free;
    for (const uint32_t c : free_) count(c, 1, 0);
    most_.amount = most();
  }
  uint32_t free(uint32_t cell) const { return free_[cell]; }
  void set(uint32_t cell, uint32_t free, Time t) {
    if (free_[cell] == free) return;
    count(free_[cell], -1, t), count(free, 1, t);
    free_[cell] = free;
    if (const int64_t m = most(); m != most_.amount) most_.change(t, m - most_.amount);
  }
  void finish(Time t) {
    most_.advance(t);
    for (Integral& i : now_) i.advance(t);
  }
  Int128 most_time() const { return most_.now; }
  /// GPU-time of free GPUs that requests of `g` GPUs, each inside one cell, could have used; larger ones than a cell take wholly free cells.
  Int128 usable_time(uint32_t g) const {
    const auto largest = uint32_t(now_.size() - 1);
    Int128 sum = 0;
    if (g > largest) return now_[largest].now * largest;
    for (uint32_t c = g; c <= largest; c++) sum += now_[c].now * int64_t(c / g * g);
    return sum;
  }

 private:
  int64_t most() const {
    const uint32_t m = counts_.last();
    return m == kNone ? 0 : m;
  }
  void count(uint32_t c, int64_t by, Time t) {
    now_[c].change(t, by);
    if (by > 0 && now_[c].amount == 1) counts_.insert(c);
    if (by < 0 && now_[c].amount == 0) counts_.erase(c);
  }
  std::vector<uint32_t> free_;   // by cell
  std::vector<Integral> now_;    // cells with so many free GPUs
  IdSet counts_;                 // the numbers that some cell has
  Integral most_;
};

/// Equal tasks of the workload, as FGD sees them.
struct TaskClass {
  TaskGroup task;
  int64_t seen = 0;  // tasks submitted so far
  std::vector<int64_t> of_node;  // F_n, milli-GPUs
  int64_t sum = 0;
  std::vector<uint8_t> suits;    // by kind of node: an empty one holds such a task
};

class Fragmentation : public Family {
 public:
  void begin(const Header& h) override {
    if (!h.topology || !h.workload) return;
    topology_ = h.topology, workload_ = h.workload;
    now_.begin(h);
    const Topology& t = *topology_;
    for (size_t l = 0; l < t.levels().size(); l++) {
      std::vector<uint32_t> free;
      for (const Domain& d : t.domains(l)) free.push_back(d.gpu_end - d.gpu_begin);
      cells_.emplace_back(free.size(), free.empty() ? 0 : *std::max_element(free.begin(), free.end()));
      cells_.back().start(free);
    }
    whole_.resize(t.nodes()), left_.resize(t.nodes());
    for (NodeId n = 0; n < t.nodes(); n++) whole_[n] = t.gpus_of(n), left_[n] = int64_t{whole_[n]} * kMilli, free_.amount += whole_[n], milli_.amount += left_[n];
    stranded_.assign(kMaxKinds, {});
    stranded_of_.assign(t.nodes() * kMaxKinds, 0);
    for (size_t k = 0; k < kMaxKinds; k++)
      if (k == kGpu || t.limits(k)) kinds_.push_back(k);
    for (NodeId n = 0; n < t.nodes(); n++) strand(n, 0);
  }

  void see(std::span<const Record> records) override {
    if (!topology_) return;
    for (const Record& r : records) {
      if (r.at != at_) settle();
      at_ = r.at;
      if (r.what == What::submit) submit(r.job);
      now_.see(r);
    }
  }
  void finish(Time at) override {
    if (!topology_) return;
    settle();
    at_ = at;
    flush();
    free_.advance(at), milli_.advance(at);
    for (Cells& c : cells_) c.finish(at);
    for (Integral& s : stranded_) s.advance(at);
  }

  void report(Report& out) override {
    if (!topology_) return;
    const Topology& t = *topology_;
    const Int128 window = at_;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    out.add("fragmentation_fgd", window > 0 && t.gpus() ? fgd_ / (double(window) * double(t.gpus()) * double(kMilli)) : nan, "1", Better::lower);
    out.add("fragmentation_fgd_ratio", milli_.now > 0 ? fgd_ / double(milli_.now) : nan, "1", Better::lower);
    for (size_t l = t.levels().size(); l-- > 0;) {
      double topo = 0;
      int64_t jobs = 0;
      for (const auto& [g, n] : sizes_) jobs += n;
      for (const auto& [g, n] : sizes_) topo += double(n) / double(jobs) * (1 - divide(cells_[l].usable_time(g), free_.now));
      out.add("fragmentation_topo_" + t.levels()[l], jobs && free_.now > 0 ? topo : nan, "1", Better::lower);
    }
    for (size_t l = t.levels().size(); l-- > 0;) out.add("largest_free_" + t.levels()[l], divide(cells_[l].most_time(), window), "GPUs", Better::higher);
    for (const size_t k : kinds_) {
      // Milli-GPUs, milli-CPUs and MiB; named kinds as they are.
      const int64_t unit = k == kGpu || k == kCpu ? kMilli : k == kMem ? 1024 : 1;
      out.add("stranded_" + t.resource_names()[k], asked_[k] ? divide(stranded_[k].now, window * unit) : nan, k == kGpu ? "GPUs" : k == kCpu ? "CPUs" : k == kMem ? "GiB" : t.resource_names()[k],
              Better::lower);
    }
  }

 private:
  /// Tasks and jobs of a job that has come.
  void submit(JobId j) {
    const Shape& s = workload_->shapes[workload_->jobs[j].shape];
    if (s.total_gpus && s.total_gpus <= topology_->gpus()) sizes_[s.total_gpus]++;
    settle();
    flush();  // up to now by the popularity so far
    const ShapeId id = workload_->jobs[j].shape;
    if (id >= classes_of_.size()) classes_of_.resize(id + 1);
    if (classes_of_[id].empty())
      for (const TaskGroup& g : s.groups) classes_of_[id].push_back(class_of(g, s));
    for (size_t g = 0; g < s.groups.size(); g++) {
      const int64_t tasks = s.nodes == Nodes::whole ? 1 : s.groups[g].max_tasks;
      TaskClass& c = classes_[classes_of_[id][g]];
      c.seen += tasks, tasks_ += tasks;
      weighted_ += Int128{tasks} * c.sum;
    }
  }

  size_t class_of(TaskGroup g, const Shape& s) {
    if (s.nodes == Nodes::whole) g.gpus = std::min(s.total_gpus, topology_->most_gpus()), g.per_task[kGpu] = int64_t{g.gpus} * kMilli;  // a node of the gang
    g.min_tasks = g.max_tasks = 1;
    for (size_t k = 0; k < kMaxKinds; k++) asked_[k] |= g.per_task[k] > 0;
    for (size_t i = 0; i < classes_.size(); i++)
      if (classes_[i].task == g) return i;
    classes_.emplace_back().task = g;
    TaskClass& c = classes_.back();
    Shape one;
    one.groups = {g}, one.nodes = Nodes::one, one.total_gpus = g.gpus;
    c.suits.assign(topology_->kinds().size(), 2);
    for (NodeId n = 0; n < topology_->nodes(); n++)
      if (uint8_t& suits = c.suits[topology_->kind_id(n)]; suits == 2) suits = never_fits(one, *topology_, n, n + 1) == Reason::none;
    c.of_node.resize(topology_->nodes());
    for (NodeId n = 0; n < topology_->nodes(); n++) c.sum += c.of_node[n] = wasted(n, c);
    for (NodeId n = 0; n < topology_->nodes(); n++) strand(n, at_);
    return classes_.size() - 1;
  }

  /// Whether an empty node of the kind may have such a task, and the node has what it needs now.
  bool runs(NodeId n, const TaskClass& c) const {
    const TaskGroup& g = c.task;
    if (!c.suits[topology_->kind_id(n)]) return false;
    for (size_t kind = 1; kind < kMaxKinds; kind++)
      if (g.per_task[kind] > now_.free_amount(n, kind)) return false;
    if (g.gpus) return whole_[n] >= g.gpus;
    if (!g.per_task[kGpu]) return now_.usable(n);
    for (unsigned gpu = 0; gpu < topology_->gpus_of(n); gpu++)
      if (now_.left(n, gpu) >= g.per_task[kGpu]) return true;
    return false;
  }

  /// F_n(m): free milli-GPUs of the node that the task cannot use (Weng et al., "Beware of fragmentation", ATC 2023).
  int64_t wasted(NodeId n, const TaskClass& c) const {
    const TaskGroup& g = c.task;
    if (left_[n] == 0 || !g.per_task[kGpu] || !runs(n, c)) return left_[n];
    if (g.gpus) return left_[n] - int64_t{whole_[n]} * kMilli;
    int64_t sum = 0;
    for (unsigned gpu = 0; gpu < topology_->gpus_of(n); gpu++)
      if (const int64_t left = now_.left(n, gpu); left < g.per_task[kGpu]) sum += left;
    return sum;
  }

  /// What of each kind is free on the node, though no task that asks for the kind, of all that came so far, can run there.
  void strand(NodeId n, Time t) {
    for (const size_t k : kinds_) {
      bool used = classes_.empty();
      for (size_t c = 0; c < classes_.size() && !used; c++) used = classes_[c].task.per_task[k] > 0 && runs(n, classes_[c]);
      const int64_t amount = used ? 0 : k == kGpu ? left_[n] : now_.free_amount(n, k) == kPlenty ? 0 : now_.free_amount(n, k);
      int64_t& before = stranded_of_[n * kMaxKinds + k];
      if (amount != before) stranded_[k].change(t, amount - before), before = amount;
    }
  }

  /// Brings everything up to the state at the end of an instant.
  void settle() {
    for (const NodeId n : now_.touched()) node(n);
    now_.clear_touched();
  }

  void node(NodeId n) {
    const Topology& t = *topology_;
    const GpuId base = t.first_gpu(n);
    uint32_t whole = now_.free_count(n);
    int64_t left = 0;
    for (unsigned gpu = 0; gpu < t.gpus_of(n); gpu++) left += now_.left(n, gpu);
    for (size_t l = t.node_level() + 1; l < cells_.size(); l++) {
      uint32_t free = 0, domain = kNone;
      for (unsigned gpu = 0; gpu <= t.gpus_of(n); gpu++) {
        const uint32_t d = gpu < t.gpus_of(n) ? t.domain_of_gpu(l, base + gpu) : kNone;
        if (d != domain && domain != kNone) cells_[l].set(domain, free, at_);
        if (d != domain) domain = d, free = 0;
        if (gpu < t.gpus_of(n)) free += now_.free(n, gpu / 64) >> (gpu % 64) & 1;
      }
    }
    if (whole != whole_[n]) {
      for (size_t l = 0; l <= t.node_level(); l++) {
        const uint32_t d = t.domain_of_node(l, n);
        cells_[l].set(d, cells_[l].free(d) + whole - whole_[n], at_);
      }
      free_.change(at_, int64_t{whole} - whole_[n]);
      whole_[n] = whole;
    }
    if (left != left_[n]) milli_.change(at_, left - left_[n]), left_[n] = left;
    flush();
    for (TaskClass& c : classes_) {
      const int64_t f = wasted(n, c);
      if (f == c.of_node[n]) continue;
      weighted_ += Int128{c.seen} * (f - c.of_node[n]);
      c.sum += f - c.of_node[n], c.of_node[n] = f;
    }
    strand(n, at_);
  }

  /// F(M) = sum over classes of popularity x F, over time: a division for each stretch without change, in the order of the records.
  void flush() {
    if (at_ != flushed_ && tasks_) fgd_ += double(weighted_) / double(tasks_) * double(at_ - flushed_);
    flushed_ = at_;
  }

  static constexpr int64_t kPlenty = std::numeric_limits<int64_t>::max() / 4;
  const Topology* topology_ = nullptr;
  const Workload* workload_ = nullptr;
  Occupancy now_;
  std::vector<Cells> cells_;     // by level
  std::vector<uint32_t> whole_;  // by node: GPUs wholly free
  std::vector<int64_t> left_;    // by node: free milli-GPUs
  Integral free_, milli_;
  std::map<uint32_t, int64_t> sizes_;  // jobs by the GPUs they ask
  std::vector<TaskClass> classes_;
  std::vector<std::vector<size_t>> classes_of_;  // by shape and group
  std::vector<size_t> kinds_;                    // of resources that are reported
  std::array<bool, kMaxKinds> asked_{};          // that some task asked for
  std::vector<Integral> stranded_;               // by kind
  std::vector<int64_t> stranded_of_;             // by node and kind
  Int128 weighted_ = 0;  // sum of tasks seen x F of their class
  int64_t tasks_ = 0;
  double fgd_ = 0;       // milli-GPUs x ticks
  Time at_ = 0, flushed_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_fragmentation() { return std::make_unique<Fragmentation>(); }

}  // namespace muster
