#include "report/jobs_csv.hpp"

#include "text/json_text.hpp"

namespace muster {
namespace {

// RFC 4180: quoted when it has to be.
void append_cell(std::string& out, std::string_view s) {
  if (s.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += s;
    return;
  }
  out.push_back('"');
  for (char c : s) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

void append_time(std::string& out, Time t) {
  if (t != kNever) append_seconds(out, t);
}

}  // namespace

void jobs_csv(const JobRows& rows, const Header& h, const std::function<void(std::string_view)>& write) {
  const Workload& w = *h.workload;
  std::string out =
      "id,user,queue,submit_s,start_s,end_s,state,gpus,tasks,reason,placement,"
      "queue_first_s,requeue_s,start_first_s,work_s,checkpoint_s,drain_s,restart_s,lost_s\n";
  const auto next = [&] { out.push_back(','); };
  for (JobId j = 0; j < rows.rows().size(); j++) {
    const JobRow& r = rows.rows()[j];
    if (r.submit == kNever) continue;
    const Job& job = w.jobs[j];
    const Shape& shape = w.shapes[job.shape];
    int64_t tasks = 0;
    for (const TaskGroup& g : shape.groups) tasks += g.max_tasks;
    if (const int64_t most = h.topology->most_gpus(); shape.nodes == Nodes::whole && most) tasks = (int64_t{shape.total_gpus} + most - 1) / most;
    append_cell(out, w.names[j]), next();
    append_cell(out, w.tenants[job.tenant]), next();
    append_cell(out, w.queues[job.queue]), next();
    append_time(out, r.submit), next();
    append_time(out, r.start), next();
    append_time(out, r.end), next();
    out += to_text(r.state), next();
    append_gpus(out, shape.total_milli()), next();
    append_int(out, tasks), next();
    if (r.reason != Reason::none) out += to_text(r.reason);
    next();
    append_cell(out, to_text(*h.topology, rows.placement(r)));
    const TimeParts& t = r.time;
    for (Duration d : {t.queue_first, t.requeue, t.start_first, t.work, t.checkpoint, t.drain, t.restart, t.lost}) next(), append_seconds(out, d);
    out.push_back('\n');
    if (out.size() > size_t{1} << 18) write(out), out.clear();
  }
  write(out);
}

}  // namespace muster
