// Record streams written by hand, and the numbers worked out by hand from them.
#pragma once
#include <deque>
#include <initializer_list>

#include "muster/record.hpp"

namespace muster::test {

constexpr Int128 kGpuSecond = Int128{kMilli} * kSecond;

/// A run as a list of records, delivered as an engine does: a batch an instant.
struct Recorded {
  Topology topology;
  Workload workload;
  Header header;
  std::vector<Record> records;
  std::deque<std::vector<Piece>> pieces;
  std::deque<TimeParts> times;

  explicit Recorded(std::string_view line) : topology(Topology::parse_line(line)) {
    header.policy = "by-hand";
    workload.tenants.add("ann"), workload.queues.add("");
  }
  JobId job(std::string_view name, int64_t submit_s, uint32_t gpus, int64_t work_s) {
    Shape s;
    s.groups.resize(1);
    s.groups[0].gpus = s.total_gpus = gpus;
    s.groups[0].per_task[kGpu] = gpus * kMilli;
    workload.shapes.push_back(s);
    Job j;
    j.submit = submit_s * kSecond;
    j.shape = ShapeId(workload.shapes.size() - 1);
    workload.jobs.push_back(j);
    workload.truths.push_back({work_s * kSecond, 0, Fate::done});
    workload.names.add(name);
    return JobId(workload.jobs.size() - 1);
  }
  Record& add(int64_t at_s, What what, JobId job, State state) {
    Record r;
    r.at = at_s * kSecond, r.what = what, r.job = job, r.state = state;
    return records.emplace_back(r);
  }
  Pieces on(std::string_view text) { return pieces.emplace_back(parse_pieces(topology, text)); }
  void deliver(std::initializer_list<Observer*> observers) {
    header.topology = &topology, header.workload = &workload;
    for (Observer* o : observers) {
      o->begin(header);
      for (size_t i = 0, n; i < records.size(); i += n) {
        for (n = 1; i + n < records.size() && records[i + n].at == records[i].at; n++) {}
        o->see(std::span<const Record>(records).subspan(i, n));
      }
      o->finish(records.empty() ? 0 : records.back().at);
    }
  }
};

/// Two GPUs. a asks 2 for 10 s at 0, b asks 1 for 20 s at 2 s: b waits for a from 2 to 10 and ends at 30.
inline Recorded two_jobs() {
  Recorded r("node:1 gpu:2");
  const JobId a = r.job("a", 0, 2, 10), b = r.job("b,\"x\"", 2, 1, 20);
  r.add(0, What::submit, a, State::queued).waiting = 1;
  Record& start = r.add(0, What::start, a, State::running);
  start.waiting = -1, start.held = 2 * kMilli, start.pieces = r.on("n0/gpu0-1"), start.speed = kFullSpeed;
  r.add(2, What::submit, b, State::queued).waiting = 1;
  r.add(2, What::waits, b, State::queued).reason = Reason::no_gpus;
  Record& end = r.add(10, What::end, a, State::done);
  end.held = -2 * kMilli, end.computed = 20 * kGpuSecond, end.time = &r.times.emplace_back(TimeParts{.work = 10 * kSecond});
  Record& start_b = r.add(10, What::start, b, State::running);
  start_b.waiting = -1, start_b.held = kMilli, start_b.pieces = r.on("n0/gpu0"), start_b.speed = kFullSpeed;
  Record& end_b = r.add(30, What::end, b, State::done);
  end_b.held = -kMilli, end_b.computed = 20 * kGpuSecond;
  end_b.time = &r.times.emplace_back(TimeParts{.queue_first = 8 * kSecond, .work = 20 * kSecond});
  return r;
}

/// Two GPUs, one job of 10 s work on both. Told at 4 to go by 6, with 1 s of work since its checkpoint lost; waits, for fragmentation, until 8;
/// starts up again until 9; has 7 s left and ends at 16. Beside it a job that is rejected and one that asks no GPU.
inline Recorded preempted() {
  Recorded r("node:1 gpu:2");
  const JobId a = r.job("a", 0, 2, 10), big = r.job("big", 0, 99, 5), cpu = r.job("cpu", 1, 0, 3);
  r.add(0, What::submit, a, State::queued).waiting = 1;
  r.add(0, What::submit, big, State::queued);
  Record& reject = r.add(0, What::end, big, State::rejected);
  reject.reason = Reason::cluster_size, reject.time = &r.times.emplace_back();
  Record& start = r.add(0, What::start, a, State::running);
  start.waiting = -1, start.held = 2 * kMilli, start.pieces = r.on("n0/gpu0-1"), start.speed = kFullSpeed;
  r.add(1, What::submit, cpu, State::queued).waiting = 1;
  Record& start_cpu = r.add(1, What::start, cpu, State::running);
  start_cpu.waiting = -1, start_cpu.pieces = r.on("n0"), start_cpu.speed = kFullSpeed;
  Record& preempt = r.add(4, What::preempt, a, State::draining);
  preempt.computed = 8 * kGpuSecond, preempt.lost = 2 * kGpuSecond, preempt.lost_time = kSecond, preempt.grace = 2 * kSecond;
  Record& end_cpu = r.add(4, What::end, cpu, State::done);
  end_cpu.time = &r.times.emplace_back(TimeParts{.work = 3 * kSecond});
  Record& drained = r.add(6, What::drained, a, State::queued);
  drained.waiting = 1, drained.held = -2 * kMilli, drained.pieces = r.on("n0/gpu0-1");
  r.add(6, What::waits, a, State::queued).reason = Reason::fragmented;
  Record& again = r.add(8, What::start, a, State::starting);
  again.waiting = -1, again.held = 2 * kMilli, again.pieces = r.on("n0/gpu0-1");
  r.add(9, What::run, a, State::running).speed = kFullSpeed;
  Record& end = r.add(16, What::end, a, State::done);
  end.held = -2 * kMilli, end.computed = 14 * kGpuSecond;
  end.time = &r.times.emplace_back(TimeParts{.requeue = 2 * kSecond, .work = 10 * kSecond, .drain = 2 * kSecond, .restart = kSecond, .lost = kSecond});
  return r;
}

}  // namespace muster::test
