// What became of HiveD's cells, by what its policy notes. Times are weighted over the makespan.
#include <algorithm>

#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

class Cells final : public Family {
 public:
  void begin(const Header& h) override {
    const size_t jobs = h.workload ? h.workload->jobs.size() : 0;
    run_.assign(jobs, 0);
    opportunistic_.assign(jobs, false);
  }

  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.at != since_) advance(r.at);
      if (window_.see(r)) at_end_ = sums_;
      if (r.what == What::note && r.kind == "hived") {
        noted_ = true;
        now_ = {number(r, "free"), number(r, "free_nodes"), number(r, "owned"), number(r, "guaranteed"), number(r, "opportunistic")};
        splits_ = number(r, "splits"), merges_ = number(r, "merges");
      } else if (r.what == What::note && r.kind == "hived_opportunistic") {
        if (const auto j = size_t(number(r, "job")); j < opportunistic_.size()) opportunistic_[j] = true;
      } else if (r.what == What::note && r.kind == "hived_violation") {
        violations_++;
      } else if (r.what == What::note && r.kind == "hived_lazy") {
        lazy_++;
      } else if (r.job < run_.size()) {
        if (r.what == What::start) run_[r.job] = 0;
        run_[r.job] += r.computed;
        if (r.what == What::preempt && opportunistic_[r.job]) preempted_ += run_[r.job];
      }
    }
  }

  void report(Report& out) override {
    const auto null = std::numeric_limits<double>::quiet_NaN();
    const Int128 all = at_end_.free + at_end_.owned;
    const auto share = [&](Int128 part) { return noted_ && all > 0 ? double(part) / double(all) : null; };
    out.add("cells_free", share(at_end_.free), "1");
    out.add("cells_owned_idle", share(at_end_.owned - at_end_.guaranteed), "1");
    out.add("cells_guaranteed", share(at_end_.guaranteed), "1", Better::higher);
    out.add("cells_opportunistic", share(at_end_.opportunistic), "1");
    out.add("buddy_fragmentation", noted_ && at_end_.free > 0 ? 1 - double(at_end_.free_nodes) / double(at_end_.free) : null, "1", Better::lower);
    out.add("cell_splits", noted_ ? double(splits_) : null, "splits");
    out.add("cell_merges", noted_ ? double(merges_) : null, "merges");
    out.add("guarantee_violations", noted_ ? double(violations_) : null, "requests", Better::lower);
    out.add("lazy_preemptions", noted_ ? double(lazy_) : null, "jobs", Better::lower);
    out.add("opportunistic_preempted_gpu_h", noted_ ? double(preempted_) / double(kMilli) / double(kSecond) / 3600 : null, "GPU-h", Better::lower);
  }

 private:
  struct Leaves {
    Int128 free = 0, free_nodes = 0, owned = 0, guaranteed = 0, opportunistic = 0;
  };

  static int64_t number(const Record& r, std::string_view name) {
    for (const NoteField& f : r.fields)
      if (f.name == name) return f.number;
    return 0;
  }

  void advance(Time to) {
    const Int128 dt = to - since_;
    sums_.free += now_.free * dt, sums_.free_nodes += now_.free_nodes * dt, sums_.owned += now_.owned * dt;
    sums_.guaranteed += now_.guaranteed * dt, sums_.opportunistic += now_.opportunistic * dt;
    since_ = to;
  }

  bool noted_ = false;
  Time since_ = 0;
  Leaves now_, sums_, at_end_;
  Window window_;
  int64_t splits_ = 0, merges_ = 0, violations_ = 0, lazy_ = 0;
  Int128 preempted_ = 0;
  std::vector<Int128> run_;  // computed since its last start
  std::vector<bool> opportunistic_;
};

}  // namespace

std::unique_ptr<Family> make_cells() { return std::make_unique<Cells>(); }

}  // namespace muster
