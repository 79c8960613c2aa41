#include "session.hpp"

namespace conformance {

using namespace muster;

namespace {

/// Gives the jobs what they hold, lets the policy decide once, and ends the run.
class Once final : public Policy {
 public:
  Once(Policy& inner, const std::vector<std::vector<Piece>>& holds, SessionResult& result) : inner_(inner), holds_(holds), result_(result) {}
  void schedule(const View& now, Plan& plan) override {
    if (now.now() == 0) {
      for (JobId j = 0; j < holds_.size(); j++)
        if (!holds_[j].empty()) plan.start(j, holds_[j]);
      return plan.wake_at(kSecond);
    }
    if (decided_) return;
    decided_ = true;
    std::vector<Event> events;
    for (JobId j = 0; j < holds_.size(); j++) events.push_back({holds_[j].empty() ? What::submit : What::resize, j, now.now(), {}});
    inner_.schedule(now.with(events), plan);
    for (JobId j = 0; j < holds_.size(); j++) result_[j].assign(plan.at(j).begin(), plan.at(j).end());
  }

 private:
  Policy& inner_;
  const std::vector<std::vector<Piece>>& holds_;
  SessionResult& result_;
  bool decided_ = false;
};

}  // namespace

SessionResult decide(const Topology& t, const std::vector<SessionJob>& jobs, const PolicyInfo& p, const Config& parameters) {
  Workload w;
  w.tenants.add("");
  std::map<std::string, QueueId> queue;
  // Ids are in order of submission, and ages are told by ids: all are there from the start, and only the pass at one second decides.
  std::vector<std::vector<Piece>> holds;
  for (const SessionJob& j : jobs) {
    const auto at = queue.emplace(j.queue, QueueId(queue.size()));
    if (at.second) w.queues.add(j.queue);
    Job job;
    job.queue = at.first->second;
    job.priority = j.priority;
    job.shape = ShapeId(std::find(w.shapes.begin(), w.shapes.end(), j.shape) - w.shapes.begin());
    if (job.shape == w.shapes.size()) w.shapes.push_back(j.shape);
    w.jobs.push_back(job);
    JobTruth truth;
    truth.work = 1000 * kSecond;
    w.truths.push_back(truth);
    w.names.add(j.name);
    holds.push_back(j.holds);
  }
  SessionResult result(jobs.size());
  const auto inner = p.make({t, w, parameters, 0});
  Once once(*inner, holds, result);
  RunOptions options;
  options.check = true;
  options.oracle = p.needs_oracle;
  options.until = 2 * kSecond;
  Simulator simulator(t, w, once, std::move(options));
  simulator.run();
  return result;
}

}  // namespace conformance
