// One-line topologies: "rack:4 node:8[cpus=64,gpu_type=A100] socket:2 switch:2 gpu:2".
#include <algorithm>

#include "muster/config.hpp"
#include "muster/topology.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr std::string_view kAttributes[] = {"cpus", "mem_gib", "mem_mib", "gpu_type", "gpu_mem_gib", "gpu_mem_mib", "driver", "cuda"};
constexpr std::string_view kLabel = "label.";

struct Line {
  std::string_view text;
  size_t at = 0;

  [[noreturn]] void fail(const std::string& what) const { throw InputError("topology " + in_quotes(text) + ": " + what); }
  bool space() const { return at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'); }
  bool done() {
    while (space()) at++;
    return at == text.size();
  }
  std::string_view until(std::string_view stops) {
    const size_t from = at;
    while (at < text.size() && stops.find(text[at]) == stops.npos) at++;
    return text.substr(from, at - from);
  }
};

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

void set_attribute(const Line& line, NodeKind& kind, std::string_view key, std::string_view value) {
  const std::string name(key);
  if (key == "gpu_type") {
    if (value.empty()) line.fail("gpu_type: want a name");
    kind.gpu_type = value;
    return;
  }
  if (key == "driver" || key == "cuda") {
    if (!is_version(value)) line.fail(name + ": want a version as in 535.104.05, found " + in_quotes(value));
    (key == "driver" ? kind.driver : kind.cuda) = value;
    return;
  }
  if (key.starts_with(kLabel) && key.size() > kLabel.size()) {
    kind.labels.emplace_back(key.substr(kLabel.size()), value);
    std::sort(kind.labels.begin(), kind.labels.end());
    return;
  }
  const int64_t scale = key == "cpus" ? kMilli : key.ends_with("_gib") ? 1024 : 1;
  const auto amount = scaled_decimal(value, scale, Round::down);
  if (!amount || *amount < 0 || *amount / scale > 1'000'000'000)
    line.fail(name + ": want a number from 0 to 1,000,000,000, found " + in_quotes(value));
  if (key == "cpus") kind.capacity[kCpu] = *amount, kind.limits_cpu = true;
  else if (key.starts_with("mem_")) kind.capacity[kMem] = *amount, kind.limits_mem = true;
  else if (key.starts_with("gpu_mem_")) kind.gpu_mem_mib = *amount;
  else {
    const std::string near = nearest_name(key, kAttributes);
    line.fail("no attribute of a node is called " + in_quotes(key) +
              (near.empty() ? "; there are cpus, mem_gib, mem_mib, gpu_type, gpu_mem_gib, gpu_mem_mib, driver, cuda and label.NAME"
                            : "; did you mean " + std::string(near) + "?"));
  }
}

}  // namespace

Topology Topology::parse_line(std::string_view text) {
  Line line{trim(text)};
  TopologySpec spec;
  spec.name = line.text;
  NodeKind kind;
  kind.name = "node";
  std::vector<uint64_t> counts;
  uint64_t gpus = 0;
  bool has_gpus = false, has_node = false;
  while (!line.done()) {
    if (has_gpus) line.fail("\"gpu\" comes last");
    const std::string_view level = line.until(": \t\r\n[");
    if (level.empty() || line.at == line.text.size() || line.text[line.at] != ':')
      line.fail("want level:count pairs as in \"rack:4 node:8 gpu:8\", found " + in_quotes(line.text.substr(line.at - level.size())));
    line.at++;
    const std::string_view number = line.until(" \t\r\n[");
    const int64_t least = level == "gpu" ? 0 : 1;
    const auto count = number.starts_with('-') ? std::nullopt : whole_number(number);
    if (!count || *count < least || *count > int64_t{1} << 40)
      line.fail(std::string(level) + ": want a whole number from " + std::to_string(least) + ", found " + in_quotes(number));
    if (level == "gpu") {
      has_gpus = true;
      gpus = uint64_t(*count);
    } else {
      if (counts.size() >= 16) line.fail("more than 16 levels");
      has_node |= level == "node";
      spec.levels.emplace_back(level);
      counts.push_back(uint64_t(*count));
    }
    if (line.at < line.text.size() && line.text[line.at] == '[') {
      if (level != "node") line.fail("attributes in brackets belong to the node, not to " + in_quotes(level));
      line.at++;
      std::vector<std::string_view> seen;
      for (bool more = true; more;) {
        const std::string_view pair = line.until(",]");
        if (line.at == line.text.size()) line.fail("a [ has no ]");
        more = line.text[line.at++] == ',';
        const size_t equals = pair.find('=');
        if (equals == pair.npos) line.fail("want attribute=value in the brackets, found " + in_quotes(pair));
        const std::string_view key = trim(pair.substr(0, equals));
        for (std::string_view s : seen)
          if (s == key || (s.substr(0, s.rfind('_')) == key.substr(0, key.rfind('_')) && key.find("mem_") != key.npos))
            line.fail(in_quotes(key) + " is given twice");
        seen.push_back(key);
        set_attribute(line, kind, key, trim(pair.substr(equals + 1)));
      }
      if (line.at < line.text.size() && !line.space()) line.fail("want a space after ]");
    }
  }
  if (!has_node) {
    if (!has_gpus) line.fail("neither \"node\" nor \"gpu\" is in it");
    spec.levels.emplace_back("node");
    counts.push_back(1);
  }
  uint64_t per_node = gpus;
  for (size_t l = counts.size(); l-- > 0 && spec.levels[l] != "node";) {
    if (!has_gpus) line.fail("levels below \"node\" end with \"gpu\"");
    // Each factor is below 2^41 and the product is given up at 2^20.
    if (per_node <= 1 << 20) per_node *= counts[l];
  }
  if (per_node > 16'384) line.fail("more than 16,384 GPUs a node");
  kind.gpus = uint32_t(per_node);
  spec.kinds.push_back(std::move(kind));

  TopologySpec::Vertex vertex;
  for (size_t l = counts.size(); l-- > 0;) {
    TopologySpec::Vertex v;
    v.count = counts[l];
    if (l + 1 == counts.size()) v.gpus = uint32_t(gpus);
    else v.children.push_back(std::move(vertex));
    if (spec.levels[l] == "node") v.kind = 0;
    vertex = std::move(v);
  }
  spec.top.push_back(std::move(vertex));
  try {
    return build(std::move(spec));
  } catch (const InputError& e) {
    const std::string_view what = e.what();
    line.fail(std::string(what.starts_with("topology: ") ? what.substr(10) : what));
  }
}

}  // namespace muster
