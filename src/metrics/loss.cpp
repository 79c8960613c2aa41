// Loss of capacity: GPUs that idled while somebody waited. The window is the run.
#include <algorithm>

#include "metrics/family.hpp"
#include "metrics/window.hpp"
#include "muster/id_set.hpp"

namespace muster {
namespace {

class Loss : public Family {
 public:
  void begin(const Header& h) override {
    if (!h.topology || !h.workload) return;
    topology_ = h.topology, workload_ = h.workload;
    idle_.amount = capacity_.amount = int64_t{topology_->gpus()} * kMilli;
    size_.assign(workload_->jobs.size(), 0);
    sizes_ = IdSet(topology_->gpus() + 1);
    waiting_.assign(topology_->gpus() + 1, 0);
    out_of_order_.assign(topology_->gpus(), 0);
  }

  void see(std::span<const Record> records) override {
    if (!topology_) return;
    for (const Record& r : records) {
      if (r.at != since_) advance(r.at);
      capacity_.amount += r.capacity;
      idle_.amount += r.capacity - r.held;
      if (r.what == What::fault || r.what == What::repair) devices(r);
      if (r.job < size_.size()) waits(r);
    }
  }

  void finish(Time at) override {
    if (topology_) advance(at);
  }

  void report(Report& out) override {
    if (!topology_) return;
    out.add("loss_of_capacity_any", divide(any_, all_), "1", Better::lower);
    out.add("loss_of_capacity_fit", divide(fit_, all_), "1", Better::lower);
  }

 private:
  void advance(Time t) {
    const Int128 dt = t - since_;
    all_ += dt * capacity_.amount;
    // The smallest request decides whether some job would fit by the count of GPUs.
    if (const uint32_t least = sizes_.first(); least != kNone && idle_.amount > 0) {
      any_ += dt * idle_.amount;
      if (int64_t{least} * kMilli <= idle_.amount) fit_ += dt * idle_.amount;
    }
    since_ = t;
  }

  void waits(const Record& r) {
    uint32_t& size = size_[r.job];
    const bool now = r.state == State::queued;
    if (now == (size != 0)) return;
    if (now) {
      // Whoever asks no GPU waits for none.
      const Shape& s = workload_->shapes[workload_->jobs[r.job].shape];
      int64_t gpus = s.total_gpus;
      for (const TaskGroup& g : s.groups) gpus += g.gpus ? 0 : (g.per_task[kGpu] * g.max_tasks + kMilli - 1) / kMilli;
      size = uint32_t(std::min<int64_t>(gpus, topology_->gpus()));
      if (size && waiting_[size]++ == 0) sizes_.insert(size);
    } else {
      if (--waiting_[size] == 0) sizes_.erase(size);
      size = 0;
    }
  }

  /// GPUs out of order are no capacity that could be lost.
  void devices(const Record& r) {
    for (const Piece& p : r.pieces)
      for (uint64_t m = p.what; m; m &= m - 1) {
        uint8_t& bad = out_of_order_[topology_->first_gpu(p.node) + 64u * p.word + unsigned(std::countr_zero(m))];
        if (bad != (r.what == What::fault)) idle_.amount += (bad ? 1 : -1) * kMilli, bad = !bad;
      }
  }

  const Topology* topology_ = nullptr;
  const Workload* workload_ = nullptr;
  std::vector<uint32_t> size_;     // by job: GPUs it waits for, 0 when it does not
  std::vector<uint32_t> waiting_;  // jobs by that number
  IdSet sizes_{0};
  std::vector<uint8_t> out_of_order_;
  Integral idle_, capacity_;
  Int128 any_ = 0, fit_ = 0, all_ = 0;
  Time since_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_loss() { return std::make_unique<Loss>(); }

}  // namespace muster
