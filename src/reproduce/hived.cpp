// HiveD (OSDI 2020): what sharing costs a tenant whose quota is counted in GPUs, and what it costs with cells.
#include <algorithm>
#include <map>

#include "metrics/job_rows.hpp"
#include "muster/simulator.hpp"
#include "parts/placer.hpp"
#include "reproduce/study.hpp"
#include "text/json_config.hpp"
#include "topology/resolve.hpp"
#include "workload/shipped.hpp"
#include "workload/trace.hpp"

namespace muster {

namespace {

constexpr int64_t kOwns = 32;  // GPUs of each of the four tenants: four nodes

/// A quota counted in GPUs: whoever fits and is within its quota starts, in order of submission, packed.
class GpuQuota final : public Policy {
 public:
  explicit GpuQuota(const Topology& t) : placer_(make_placer("pack", t, 0)) {}
  void schedule(const View& now, Plan& plan) override {
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const TenantId t = now.job(j).tenant;
      if (plan.usage(t) + int64_t(now.shape(j).total_gpus) * kMilli > kOwns * kMilli) {
        plan.reason(j, Reason::quota);
      } else if (const Pieces at = placer_->find(now, plan, j); !at.empty()) {
        plan.start(j, at);
      } else {
        plan.reason(j, placer_->why(now, plan, j));
      }
    }
  }

 private:
  std::unique_ptr<Placer> placer_;
};

struct Waits {
  std::map<std::string, Duration> by_job;
  std::vector<double> mean;  // seconds, by tenant
};

Waits run(const Topology& t, const std::string& trace, Policy* given, std::string_view policy, const char* parameters, size_t tenants) {
  Workload w = read_trace(trace, "tenants.csv").workload;
  fit_shapes(w, t);
  std::unique_ptr<Policy> made;
  RunOptions options;
  for (const PolicyInfo& p : builtin_policies()) {
    if (given || p.name != policy) continue;
    Config all = p.preset;
    for (const auto& [name, value] : parse_json_config(parameters, "hived").fields) all.set(name, value);
    made = p.make({t, w, all, 0});
    options.oracle = p.needs_oracle;
  }
  JobRows rows;
  Simulator s(t, w, given ? *given : *made, std::move(options));
  s.observe(rows);
  s.run();
  Waits out;
  std::vector<int64_t> jobs(tenants, 0);
  std::vector<Int128> sums(tenants, 0);
  for (JobId j = 0; j < w.jobs.size(); j++) {
    const Duration wait = rows.rows()[j].start - rows.rows()[j].submit;
    out.by_job[std::string(w.names[j])] = wait;
    const size_t tenant = size_t(w.tenants[w.jobs[j].tenant].back() - '1');
    jobs[tenant]++, sums[tenant] += wait;
  }
  for (size_t i = 0; i < tenants; i++) out.mean.push_back(jobs[i] ? double(sums[i]) / double(jobs[i]) / double(kSecond) : 0);
  return out;
}

std::string padded(const std::string& s, size_t width) { return std::string(width > s.size() ? width - s.size() : 0, ' ') + s; }

std::string fixed(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}

StudyResult study(const StudyInput&) {
  constexpr size_t kTenants = 4;
  const Topology t = resolve_topology("dgx-a100-16", [](const std::string&) { return std::string(); });
  const std::string trace(*shipped_trace("tenants"));
  constexpr const char* kCells = R"({"vc": "tenant", "cells": {"virtualClusters": {
    "u1": {"virtualCells": [{"cellType": "rack.node", "cellNumber": 4}]}, "u2": {"virtualCells": [{"cellType": "rack.node", "cellNumber": 4}]},
    "u3": {"virtualCells": [{"cellType": "rack.node", "cellNumber": 4}]}, "u4": {"virtualCells": [{"cellType": "rack.node", "cellNumber": 4}]}}}})";
  constexpr const char* kPrivate = R"({"by": "tenant", "parts": {
    "u1": {"nodes": "n0-n3", "policy": "fifo-skip"}, "u2": {"nodes": "n4-n7", "policy": "fifo-skip"},
    "u3": {"nodes": "n8-n11", "policy": "fifo-skip"}, "u4": {"nodes": "n12-n15", "policy": "fifo-skip"}}})";
  GpuQuota quota(t);
  const Waits shared = run(t, trace, &quota, "", "{}", kTenants);
  const Waits alone = run(t, trace, nullptr, "split", kPrivate, kTenants);
  const Waits cells = run(t, trace, nullptr, "hived", kCells, kTenants);
  Waits cells_alone;
  for (size_t i = 0; i < kTenants; i++) {  // each tenant's jobs by themselves, under the same rules
    const std::string user = ",u" + std::to_string(i + 1) + ",";
    std::string own = trace.substr(0, trace.find('\n') + 1);
    for (size_t at = own.size(); at < trace.size();) {
      const size_t end = trace.find('\n', at);
      if (const std::string line = trace.substr(at, end - at + 1); line.find(user) != std::string::npos) own += line;
      at = end + 1;
    }
    cells_alone.by_job.merge(run(t, own, nullptr, "hived", kCells, kTenants).by_job);
  }
  std::vector<size_t> anomalies(kTenants, 0), differ(kTenants, 0), jobs(kTenants, 0);
  const Workload w = read_trace(trace, "tenants.csv").workload;
  std::string csv = "job_id,tenant,wait_quota_s,wait_private_s,wait_hived_s,wait_hived_alone_s\n";
  const auto seconds = [](Duration d) { return std::to_string(double(d) / double(kSecond)); };
  for (JobId j = 0; j < w.jobs.size(); j++) {
    const std::string name(w.names[j]);
    const std::string_view tenant = w.tenants[w.jobs[j].tenant];
    const size_t i = size_t(tenant.back() - '1');
    jobs[i]++;
    anomalies[i] += shared.by_job.at(name) > alone.by_job.at(name);
    differ[i] += cells.by_job.at(name) != cells_alone.by_job.at(name);
    csv += name + "," + std::string(tenant) + "," + seconds(shared.by_job.at(name)) + "," + seconds(alone.by_job.at(name)) + "," + seconds(cells.by_job.at(name)) + "," +
           seconds(cells_alone.by_job.at(name)) + "\n";
  }
  StudyResult r;
  r.text =
      "Four tenants own 4 of 16 nodes each (dgx-a100-16, trace tenants). Mean wait for the first start, in seconds:\n\n"
      "tenant  jobs     quota of GPUs  private cluster            HiveD   later than in private   HiveD: other than alone\n";
  size_t later = 0, other = 0;
  for (size_t i = 0; i < kTenants; i++) {
    r.text += padded("u" + std::to_string(i + 1), 6) + padded(std::to_string(jobs[i]), 6) + padded(fixed(shared.mean[i]), 18) + padded(fixed(alone.mean[i]), 17) +
              padded(fixed(cells.mean[i]), 17) + padded(std::to_string(anomalies[i]) + " jobs", 24) + padded(std::to_string(differ[i]) + " jobs", 26) + "\n";
    later += anomalies[i], other += differ[i];
  }
  r.holds = other == 0 && later > 0;
  r.text += "\nSharing anomaly: with quotas counted in GPUs " + std::to_string(later) +
            " jobs start later than in a private cluster as large as the quota, since other tenants' jobs\nlie across the nodes. With cells " +
            std::to_string(w.jobs.size() - other) + " of " + std::to_string(w.jobs.size()) + " jobs start at the very moment at which they start when their tenant is alone.\n" +
            (r.holds ? "The guarantee holds.\n" : "The guarantee does not hold.\n");
  r.files.push_back({"hived.csv", std::move(csv)});
  return r;
}

}  // namespace

Study hived_study() { return {"hived", "tenants under GPU quotas, in private clusters and under HiveD (needs no data)", "", study}; }

}  // namespace muster
