// Model `ring`: iterations that end in an all-reduce round the job's GPUs, over the narrowest link between them.
#include <map>

#include "model/all_reduce.hpp"
#include "model/numa.hpp"
#include "muster/links.hpp"
#include "text/numbers.hpp"
#include "workload/ideal.hpp"

namespace muster {
namespace {

class RingModel : public Model {
 public:
  explicit RingModel(const ModelInput& in)
      : topology_(in.topology), workload_(in.workload), links_(in.topology), best_(in.topology), numa_(in.topology, in.given),
        overlap_(double(ratio_of(in.given, "overlap", kFullSpeed, kFullSpeed, 10 * kFullSpeed)) / double(kFullSpeed)) {
    const Config* c = in.given.find("contention");
    const std::string_view word = c ? std::string_view(c->value) : "on";
    if (word != "on" && word != "off" && word != "true" && word != "false")
      throw InputError((c->where.empty() ? "contention" : c->where) + ": want on or off, found " + in_quotes(word));
    contention_ = word == "on" || word == "true";
    slot_.assign(workload_.jobs.size(), kNone);
    flows_.resize(links_.size());
    users_.resize(links_.size());
    uint64_t silent = 0, several = 0;
    for (JobId j = 0; j < workload_.jobs.size(); j++) {
      if (workload_.shapes[workload_.jobs[j].shape].total_gpus < 2) continue;
      several++;
      silent += !talks(j);
    }
    if (silent) in.notes.push_back("model ring: " + std::to_string(silent) + " of " + std::to_string(several) +
                                   " jobs of several GPUs do not state gradient and compute; they run at full speed");
  }

  void computes(JobId j, Pieces at, std::vector<JobId>& others) override {
    if (slot_[j] != kNone) {
      use(j, rings_[slot_[j]], false, others);
      free_.push_back(slot_[j]);
      slot_[j] = kNone;
    }
    if (at.empty() || !talks(j)) return;
    if (free_.empty()) free_.push_back(uint32_t(rings_.size())), rings_.emplace_back();
    const uint32_t slot = free_.back();
    links_.ring(at, rings_[slot]);
    if (rings_[slot].gpus.size() < 2) return;
    free_.pop_back();
    slot_[j] = slot;
    use(j, rings_[slot], true, others);
  }

  Speed speed(JobId j, Pieces at, const Cluster&) const override {
    const Shape& s = workload_.shapes[workload_.jobs[j].shape];
    int64_t slowed = kFullSpeed;
    if (slot_[j] != kNone) {
      const Ring& ring = rings_[slot_[j]];
      const auto gpus = uint32_t(ring.gpus.size());
      const Communication talk = workload_.communication_of(j);
      const Best& best = best_of(j, s, gpus, ring);
      const double here = step(talk, gpus, contention_ ? links_.mb_s(ring, flows_) : ring.mb_s, ring.ns);
      const double ideal = step(talk, gpus, best.mb_s, best.ns);
      if (here > ideal) slowed = int64_t(std::min(here / ideal, 4294.0) * double(kFullSpeed) + 0.5);
    }
    const int64_t numa = numa_.factor(s, at);
    if (numa != kFullSpeed) slowed = int64_t(Int128(slowed) * numa / kFullSpeed);
    return slowed == kFullSpeed ? Speed{} : Speed::slowed(slowed);
  }

 private:
  struct Best {
    int64_t mb_s = 0, ns = 0;
  };

  bool talks(JobId j) const {
    const Communication c = workload_.communication_of(j);
    return c.gradient_bytes > 0 && c.compute > 0;
  }
  double step(const Communication& c, uint32_t gpus, int64_t mb_s, int64_t ns) const {
    return overlapped(double(c.compute) * 1000, all_reduce_ns(double(c.gradient_bytes), gpus, double(std::max<int64_t>(1, mb_s)), double(ns)), overlap_);
  }

  void use(JobId j, const Ring& ring, bool on, std::vector<JobId>& others) {
    if (!contention_) return;
    for (const Ring::Use& u : ring.uses) {
      std::vector<JobId>& users = users_[u.link];
      if (on) {
        others.insert(others.end(), users.begin(), users.end());
        users.push_back(j);
      } else {
        *std::find(users.begin(), users.end(), j) = users.back();
        users.pop_back();
        others.insert(others.end(), users.begin(), users.end());
      }
      flows_[u.link] = uint32_t(users.size());
    }
  }

  /// The ring of a job of this shape on so many GPUs if it had the cluster to itself.
  const Best& best_of(JobId j, const Shape& s, uint32_t gpus, const Ring& here) const {
    const auto [at, fresh] = ideal_.try_emplace({workload_.jobs[j].shape, gpus});
    if (fresh) {
      const std::vector<Piece> p = ideal_placement(best_, topology_, s, gpus);
      const Ring ring = links_.ring(p);
      // Not found so (tasks that compete for few nodes): then the first placement that the policy finds is the measure.
      at->second = ring.gpus.size() == gpus ? Best{ring.mb_s, ring.ns} : Best{here.mb_s, here.ns};
    }
    return at->second;
  }

  const Topology& topology_;
  const Workload& workload_;
  Links links_;
  BestLevel best_;
  NumaCrossing numa_;
  double overlap_;
  bool contention_ = true;
  std::vector<uint32_t> slot_;  // by job, into rings_; kNone: sends nothing now
  std::vector<Ring> rings_;
  std::vector<uint32_t> free_, flows_;      // flows by link
  std::vector<std::vector<JobId>> users_;   // by link, in the order in which they came but for those that left
  mutable std::map<std::pair<ShapeId, uint32_t>, Best> ideal_;
};

}  // namespace

ModelInfo ring_model() {
  return {.name = "ring",
          .summary = "iterations that end in a ring all-reduce over the narrowest link between a job's GPUs",
          .parameters = {{"contention", "on", "jobs share the links they both cross, in equal parts: on, off", {"on", "off"}},
                         {"overlap", "1", "of computing and sending: 1 one after the other, 10 all but at once", {}},
                         NumaCrossing::parameter()},
          .make = [](const ModelInput& in) -> std::unique_ptr<Model> { return std::make_unique<RingModel>(in); }};
}

}  // namespace muster
