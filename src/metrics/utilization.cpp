// What share of the GPU-time installed was computing, was held, and was of use. The window is the makespan.
#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

class Utilization : public Family {
 public:
  void begin(const Header& h) override {
    if (h.topology) capacity_.amount = int64_t{h.topology->gpus()} * kMilli;
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what == What::submit && window_.begin == kNever) capacity_.advance(r.at), capacity_.now = 0;
      if (r.capacity != 0) capacity_.change(r.at, r.capacity);
      if (r.held != 0) held_.change(r.at, r.held);
      computed_ += r.computed;
      lost_ += r.lost;
      if (window_.see(r)) at_end_ = {capacity_, held_};
    }
  }
  void report(Report& out) override {
    // What was held or installed after the last end lies outside the window.
    at_end_.capacity.advance(std::max(window_.end, at_end_.capacity.since));
    at_end_.held.advance(std::max(window_.end, at_end_.held.since));
    const Int128 capacity = window_.known() ? at_end_.capacity.now : 0;
    out.add("gpu_utilization", divide(computed_, capacity), "1", Better::higher);
    out.add("gpu_allocation", divide(at_end_.held.now, capacity), "1", Better::higher);
    out.add("gpu_useful", divide(computed_ - lost_, capacity), "1", Better::higher);
  }

 private:
  struct Both {
    Integral capacity, held;
  };
  Window window_;
  Integral capacity_, held_;
  Both at_end_;
  Int128 computed_ = 0, lost_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_utilization() { return std::make_unique<Utilization>(); }

}  // namespace muster
