// The writer. docs/records.md is the schema; the reader is records_read.cpp.
#include "report/records.hpp"

#include "files/write.hpp"
#include "report/report_json.hpp"
#include "text/json_text.hpp"
#include "topology/to_json.hpp"

namespace muster {

struct RecordWriter::Impl {
  OutFile& out;
  const Topology* topology = nullptr;
  const Workload* workload = nullptr;
  std::string line;
  uint64_t records = 0;

  std::string& key(const char* name) {
    line += ",\"", line += name, line += "\":";
    return line;
  }
  void text(const char* name, std::string_view v) { append_string(key(name), v, BadBytes::keep); }
  void texts(const char* name, const std::vector<std::string>& list) {
    key(name) += '[';
    for (size_t i = 0; i < list.size(); i++) line += i ? "," : "", append_string(line, list[i], BadBytes::keep);
    line += ']';
  }
  void number(const char* name, int64_t v) { append_int(key(name), v); }
  void number_or_none(const char* name, int64_t v, int64_t none) {
    if (v != none) number(name, v);
  }

  void submit(JobId j) {
    const Job& job = workload->jobs[j];
    const JobTruth& truth = workload->truths[j];
    const Shape& shape = workload->shapes[job.shape];
    text("id", workload->names[j]);
    text("user", workload->tenants[job.tenant]);
    text("queue", workload->queues[job.queue]);
    number("gpus", shape.total_gpus);
    number("nodes", int64_t(shape.nodes));
    key("groups") += '[';
    for (size_t i = 0; i < shape.groups.size(); i++) {
      const TaskGroup& g = shape.groups[i];
      line += i ? ",{" : "{";
      line += "\"min\":", append_int(line, int64_t{g.min_tasks});
      number("max", g.max_tasks);
      number("gpus", g.gpus);
      if (g.per_task != Resources{}) {
        key("amounts") += '[';
        for (size_t k = 0; k < kMaxKinds; k++) line += k ? "," : "", append_int(line, g.per_task[k]);
        line += ']';
      }
      number_or_none("gpu_mem_mib", g.gpu_mem_mib, 0);
      if (!g.gpu_types.empty()) texts("gpu_types", g.gpu_types);
      if (!g.driver.empty()) text("driver", g.driver);
      if (!g.cuda.empty()) text("cuda", g.cuda);
      if (!g.labels.empty()) {
        std::vector<std::string> labels;
        for (const LabelWish& l : g.labels) labels.push_back(to_text(l));
        texts("labels", labels);
      }
      line += '}';
    }
    line += ']';
    if (!shape.required_level.empty()) text("required_level", shape.required_level);
    if (!shape.preferred_level.empty()) text("preferred_level", shape.preferred_level);
    if (shape.apart) text("anti_affinity", workload->tags[shape.apart]);
    if (shape.numa != Numa::none) text("numa", to_text(shape.numa));
    number_or_none("estimate_us", job.estimate, kNever);
    number_or_none("time_limit_us", job.time_limit, kNever);
    number_or_none("deadline_us", job.deadline, kNever);
    number_or_none("earliest_start_us", job.earliest_start, 0);
    number_or_none("priority", job.priority, 0);
    number_or_none("work_us", truth.work, kNever);
    if (truth.fate != Fate::done) text("fate", truth.fate == Fate::failed ? "failed" : "cancelled");
    const LifeCosts& c = workload->costs[truth.costs];
    number_or_none("checkpoint_interval_us", c.checkpoint_interval, 0);
    number_or_none("checkpoint_cost_us", c.checkpoint_cost, 0);
    number_or_none("start_cost_us", c.start_cost, 0);
    number_or_none("restart_cost_us", c.restart_cost, 0);
    number_or_none("gives_back_after_us", c.gives_back_after, kNever);
    const Communication talk = workload->communication_of(j);
    number_or_none("gradient_bytes", talk.gradient_bytes, 0);
    number_or_none("compute_us", talk.compute, 0);
    if (talk.model) text("model", workload->models[talk.model]);
    number_or_none("sensitivity_ppm", talk.sensitivity, kFullSpeed);
  }

  void time(const TimeParts& t) {
    key("time") += "{\"queue_first_us\":", append_int(line, t.queue_first);
    number("requeue_us", t.requeue), number("start_first_us", t.start_first), number("work_us", t.work), number("checkpoint_us", t.checkpoint);
    number("drain_us", t.drain), number("restart_us", t.restart), number("lost_us", t.lost);
    line += '}';
  }

  void record(const Record& r) {
    line = "{\"at_us\":";
    append_int(line, r.at);
    text("what", to_text(r.what));
    if (r.job != kNone) {
      number("job", r.job);
      text("state", to_text(r.state));
    }
    if (r.reason != Reason::none) text("reason", to_text(r.reason));
    if (r.what == What::submit) submit(r.job);
    number_or_none("held_mgpu", r.held, 0);
    number_or_none("waiting", r.waiting, 0);
    if (r.computed != 0) append_int(key("computed_mgpu_us"), r.computed);
    if (r.lost != 0) append_int(key("lost_mgpu_us"), r.lost);
    number_or_none("capacity_mgpu", r.capacity, 0);
    number_or_none("lost_us", r.lost_time, 0);
    number_or_none("grace_us", r.grace, 0);
    if (r.speed != 0 || r.what == What::run || r.what == What::resize || r.what == What::speed) number("speed_ppm", r.speed);
    if (!r.pieces.empty()) text("pieces", to_text(*topology, r.pieces));
    if (r.time) time(*r.time);
    if (!r.kind.empty()) text("kind", r.kind);
    if (!r.fields.empty()) {
      key("fields") += '{';
      for (size_t i = 0; i < r.fields.size(); i++) {
        const NoteField& f = r.fields[i];
        if (i) line += ',';
        append_string(line, f.name, BadBytes::keep);
        line += ':';
        if (f.text.empty()) append_int(line, f.number);
        else append_string(line, f.text, BadBytes::keep);
      }
      line += '}';
    }
    line += "}\n";
    out.write(line);
    records++;
  }
};

RecordWriter::RecordWriter(OutFile& out) : impl_(new Impl{out}) {}
RecordWriter::~RecordWriter() = default;

void RecordWriter::begin(const Header& h) {
  impl_->topology = h.topology;
  impl_->workload = h.workload;
  std::string& line = impl_->line;
  line = "{\"schema\":\"muster-records-1\"";
  impl_->text("version", program_version());
  append_string(impl_->key("policy"), h.policy);
  const auto pairs = [&](const char* name, const auto& list, auto value) {
    impl_->key(name) += '[';
    for (size_t i = 0; i < list.size(); i++) {
      line += i ? ",[" : "[";
      append_string(line, list[i].first);
      line += ',';
      value(list[i].second);
      line += ']';
    }
    line += ']';
  };
  const auto string = [&](const std::string& v) { append_string(line, v); };
  pairs("parameters", h.parameters, string);
  append_int(impl_->key("seed"), Int128(h.seed));
  impl_->number_or_none("until_us", h.until, kNever);
  pairs("inputs", h.inputs, string);
  append_int(impl_->key("rows"), Int128(h.rows));
  pairs("dropped_rows", h.dropped_rows, [&](uint64_t n) { append_int(line, Int128(n)); });
  if (!h.metrics.empty()) {
    impl_->key("metrics") += '[';
    for (size_t i = 0; i < h.metrics.size(); i++) line += i ? "," : "", append_string(line, h.metrics[i]);
    line += ']';
  }
  impl_->number("origin_us", h.workload->origin);
  append_string(impl_->key("origin_text"), h.workload->origin_text);
  impl_->number("jobs", int64_t(h.workload->jobs.size()));
  impl_->key("topology") += topology_json(*h.topology);
  line += "}\n";
  impl_->out.write(line);
}

void RecordWriter::see(std::span<const Record> records) {
  for (const Record& r : records) impl_->record(r);
}

void RecordWriter::finish(Time at) {
  std::string& line = impl_->line;
  line = "{\"end_of_run\":true";
  impl_->number("at_us", at);
  impl_->number("records", int64_t(impl_->records));
  line += "}\n";
  impl_->out.write(line);
}

}  // namespace muster
