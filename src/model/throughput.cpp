// Model `throughput`: speeds that were measured, by what is trained, on which GPUs and how spread.
#include <algorithm>
#include <cctype>
#include <map>

#include "model/numa.hpp"
#include "model/throughput_table.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

/// The type of a table that a node's GPU type means: the longest one whose name is in it ("Tesla-V100-SXM2" is "v100").
std::string type_in(const std::vector<std::string>& types, std::string_view name) {
  std::string s(name), best;
  for (char& c : s) c = char(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string& t : types)
    if (s.find(t) != s.npos && t.size() > best.size()) best = t;
  return best;
}

class Throughput : public Model {
 public:
  explicit Throughput(const ModelInput& in) : topology_(in.topology), workload_(in.workload), numa_(in.topology, in.given) {
    const Config* file = in.given.find("table");
    if (!file) throw InputError(std::string(in.given.where.empty() ? "model throughput" : in.given.where) + ": wants a table, as in throughput:table=simulation_throughputs.json");
    table_ = ThroughputTable::read(in.table, file->value);
    const Config* usual = in.given.find("gpu");
    for (const NodeKind& k : topology_.kinds()) {
      const std::string_view name = k.gpu_type.empty() && usual ? usual->as_text() : std::string_view(k.gpu_type);
      types_.push_back(type_in(table_.types(), name));
    }
    uint64_t unknown = 0, asks = 0;
    for (JobId j = 0; j < workload_.jobs.size(); j++) {
      if (workload_.shapes[workload_.jobs[j].shape].total_gpus == 0) continue;
      asks++;
      unknown += !table_.knows(model_of(j));
    }
    if (unknown) in.notes.push_back("model throughput: " + std::to_string(unknown) + " of " + std::to_string(asks) +
                                    " jobs state no model that the table knows; they run at full speed");
    if (std::all_of(types_.begin(), types_.end(), [](const std::string& t) { return t.empty(); }) &&
        std::find(table_.types().begin(), table_.types().end(), "") == table_.types().end()) {
      std::string all;
      for (const std::string& t : table_.types()) all += (all.empty() ? "" : ", ") + t;
      throw InputError("model throughput: no type of GPU of the topology is in the table, which has " + all + "; the parameter gpu says which one is meant");
    }
  }

  Speed speed(JobId j, Pieces at, const Cluster&) const override {
    int64_t ppm = kFullSpeed;
    if (table_.knows(model_of(j))) {
      std::vector<uint32_t> by_node;
      std::vector<uint32_t> kinds;
      NodeId node = kNone;
      for (const Piece& p : at) {
        if (!p.gpus()) continue;
        if (p.node != node) by_node.push_back(0), kinds.push_back(topology_.kind_id(p.node)), node = p.node;
        by_node.back() += p.gpus();
      }
      std::sort(kinds.begin(), kinds.end());
      kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
      std::sort(by_node.rbegin(), by_node.rend());
      if (!by_node.empty()) ppm = relative(j, by_node, kinds);
    }
    const int64_t numa = numa_.factor(workload_.shapes[workload_.jobs[j].shape], at);
    if (numa != kFullSpeed) ppm = std::max<int64_t>(1, int64_t(Int128(ppm) * kFullSpeed / numa));
    return ppm == kFullSpeed ? Speed{} : Speed::millionths(ppm);
  }

 private:
  std::string_view model_of(JobId j) const {
    const uint32_t m = workload_.communication_of(j).model;
    return m ? workload_.models[m] : std::string_view();
  }

  /// Of the slowest of its GPU types, against the fastest type of the cluster with all GPUs on one node. What the table does not say is full speed.
  int64_t relative(JobId j, const std::vector<uint32_t>& by_node, const std::vector<uint32_t>& kinds) const {
    const auto [at, fresh] = known_.try_emplace({workload_.communication_of(j).model, by_node, kinds}, kFullSpeed);
    if (!fresh) return at->second;
    uint32_t gpus = 0;
    for (const uint32_t n : by_node) gpus += n;
    double best = 0, here = 0;
    for (const std::string& type : types_)
      if (const auto r = table_.rate(model_of(j), type, {gpus})) best = std::max(best, *r);
    bool all = true;
    for (const uint32_t k : kinds) {
      auto r = table_.rate(model_of(j), types_[k], by_node);
      if (!r) all = false;
      else if (here == 0 || *r < here) here = *r;
    }
    if (best == 0) {  // never measured on one node: the fewest nodes of its own placement are the measure, which the table has as 1
      for (const std::string& type : types_)
        if (const auto r = table_.rate(model_of(j), type, by_node)) best = std::max(best, *r > 1 ? *r : 1.0);
    }
    if (all && here > 0 && here < best) at->second = std::max<int64_t>(1, int64_t(here / best * double(kFullSpeed) + 0.5));
    return at->second;
  }

  const Topology& topology_;
  const Workload& workload_;
  NumaCrossing numa_;
  ThroughputTable table_;
  std::vector<std::string> types_;  // by kind of node; empty: not in the table
  mutable std::map<std::tuple<uint32_t, std::vector<uint32_t>, std::vector<uint32_t>>, int64_t> known_;
};

}  // namespace

ModelInfo throughput_model() {
  return {.name = "throughput",
          .summary = "measured speeds by what is trained, type of GPU and placement, from a published table",
          .parameters = {{"table", "", "file: Gavel's simulation_throughputs.json, or step times by placement as CSV", {}},
                         {"gpu", "", "the table's type for nodes whose GPU type is not stated", {}},
                         NumaCrossing::parameter()},
          .reads_table = true,
          .make = [](const ModelInput& in) -> std::unique_ptr<Model> { return std::make_unique<Throughput>(in); }};
}

}  // namespace muster
