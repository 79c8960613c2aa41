// Shapes of rows on a cluster, wishes as text, and names in another order.
#include <algorithm>

#include "muster/job.hpp"
#include "muster/topology.hpp"

namespace muster {

Names Names::permuted(const std::vector<uint32_t>& order) const {
  Names out;
  out.reserve(size(), text_.size());
  for (const uint32_t i : order) out.add((*this)[i]);
  return out;
}

std::string to_text(const LabelWish& l) {
  if (l.rule == LabelWish::Rule::exists) return l.key;
  return l.key + (l.rule == LabelWish::Rule::is ? "=" : "!=") + l.value;
}

LabelWish parse_label_wish(std::string_view text) {
  const auto trimmed = [](std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return std::string(s);
  };
  LabelWish l;
  const size_t equals = text.find('=');
  if (equals == text.npos) {
    l.rule = LabelWish::Rule::exists, l.key = trimmed(text);
  } else {
    const bool is_not = equals > 0 && text[equals - 1] == '!';
    l.rule = is_not ? LabelWish::Rule::is_not : LabelWish::Rule::is;
    l.key = trimmed(text.substr(0, equals - is_not)), l.value = trimmed(text.substr(equals + 1));
  }
  if (l.key.empty()) throw InputError("want key=value, key!=value or key");
  return l;
}

namespace {
constexpr std::string_view kNumaWords[] = {"none", "best-effort", "restricted", "single-numa-node"};
}

std::string_view to_text(Numa n) { return kNumaWords[size_t(n)]; }

std::optional<Numa> parse_numa(std::string_view text) {
  const auto* at = std::find(std::begin(kNumaWords), std::end(kNumaWords), text);
  if (at == std::end(kNumaWords)) return std::nullopt;
  return Numa(at - std::begin(kNumaWords));
}

void fit_shapes(Workload& w, const Topology& t) {
  const auto& known = t.resource_names();
  std::vector<std::string> mine(known.begin() + 3, known.end());
  if (!w.resources.empty() && w.resources != mine) {
    for (auto& s : w.shapes)
      for (TaskGroup& g : s.groups) {
        const Resources was = g.per_task;
        for (size_t k = 3; k < kMaxKinds; k++) g.per_task[k] = 0;
        for (size_t i = 0; i < w.resources.size(); i++)
          if (const auto at = std::find(known.begin() + 3, known.end(), w.resources[i]); at != known.end())
            g.per_task[size_t(at - known.begin())] = was[3 + i];
      }
    w.resources = std::move(mine);
  }
  for (auto& s : w.shapes) {
    const bool only_gpus = s.nodes == Nodes::one && s.groups.size() == 1 && s.groups[0].max_tasks == 1;
    if (only_gpus && s.total_gpus > t.most_gpus()) s.nodes = Nodes::whole;
  }
}

}  // namespace muster
