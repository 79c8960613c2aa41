#include "explain/exercise_run.hpp"

#include <optional>

#include "files/write.hpp"
#include "metrics/metrics.hpp"
#include "muster/simulator.hpp"
#include "report/records.hpp"

namespace muster {
namespace {

class Keep : public Observer {
 public:
  explicit Keep(ExerciseRun& r) : r_(r) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what != What::note) {
        r_.seen.push_back({r.at, r.what, r.job, r.reason, r.state});
        continue;
      }
      Told& t = r_.notes.emplace_back();
      t.at = r.at, t.kind = r.kind;
      for (const NoteField& f : r.fields) t.fields.emplace_back(f.name, f.text.empty() ? std::to_string(f.number) : std::string(f.text));
    }
  }
  void finish(Time at) override { r_.end = at; }

 private:
  ExerciseRun& r_;
};

}  // namespace

std::string_view Told::operator[](std::string_view name) const {
  for (const auto& [n, v] : fields)
    if (n == name) return v;
  return {};
}

ExerciseRun run_exercise(const Exercise& e, std::string_view name, const Topology& t, Workload& w, std::string_view policy,
                         const Config& parameters, Time until) {
  fit_shapes(w, t);
  const PolicyInfo* info = nullptr;
  for (const PolicyInfo& p : builtin_policies())
    if (p.name == policy) info = &p;
  if (!info) throw InputError("no policy is called " + std::string(policy));
  Config all = info->preset;
  for (const auto& [key, value] : parameters.fields) all.set(key, value);
  RunOptions options;
  options.until = until;
  options.check = true;
  options.oracle = info->needs_oracle;
  options.header.policy = info->name;
  for (const Parameter& p : info->parameters) {
    const Config* c = all.find(p.name);
    options.header.parameters.emplace_back(p.name, c ? c->value : p.fallback);
  }
  options.header.rows = w.jobs.size();
  const std::unique_ptr<Policy> made = info->make({t, w, all, 0});
  Simulator simulator(t, w, *made, std::move(options));
  ExerciseRun r;
  Keep keep(r);
  Metrics metrics;
  std::optional<OutFile> file;
  std::optional<RecordWriter> writer;
  simulator.observe(keep);
  simulator.observe(metrics);
  simulator.observe(r.rows);
  if (!e.records.empty()) {
    file.emplace(e.records + "/" + std::string(name) + ".jsonl");
    simulator.observe(writer.emplace(*file));
  }
  simulator.run();
  r.report = metrics.report();
  if (file) file->commit();
  return r;
}

}  // namespace muster
