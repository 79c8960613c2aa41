#include "topology/write.hpp"

#include "text/json_text.hpp"
#include "topology/links_json.hpp"

namespace muster {
namespace {

constexpr JsonStyle kStyle{", ", ": "};

class Writer {
 public:
  explicit Writer(const TopologySpec& spec) : spec_(spec) {}

  std::string write() {
    out_ = "{\n";
    if (!spec_.name.empty()) out_ += "  \"name\": ", append_string(out_, spec_.name), out_ += ",\n";
    out_ += "  \"levels\": ", names(spec_.levels), out_ += ",\n";
    if (!spec_.kinds_of_resource.empty()) out_ += "  \"resources\": ", names(spec_.kinds_of_resource), out_ += ",\n";
    if (const std::string links = links_text(spec_.links, kStyle); !links.empty()) out_ += "  \"links\": " + links + ",\n";
    out_ += "  \"kinds\": {";
    for (size_t i = 0; i < spec_.kinds.size(); i++) out_ += i ? ",\n    " : "\n    ", kind(spec_.kinds[i]);
    out_ += "\n  },\n  \"tree\": [";
    list(spec_.top, 0);
    return out_ += "]\n}\n";
  }

 private:
  void names(const std::vector<std::string>& list) {
    out_ += '[';
    for (size_t i = 0; i < list.size(); i++) out_ += i ? ", " : "", append_string(out_, list[i]);
    out_ += ']';
  }

  void thousandths(int64_t n) {
    append_int(out_, n / kMilli);
    if (n % kMilli == 0) return;
    std::string digits = std::to_string(kMilli + n % kMilli);
    while (digits.back() == '0') digits.pop_back();
    digits[0] = '.';
    out_ += digits;
  }

  void kind(const NodeKind& k) {
    append_string(out_, k.name);
    out_ += ": {\"gpus\": ", append_int(out_, int64_t{k.gpus});
    if (k.limits_cpu) out_ += ", \"cpus\": ", thousandths(k.capacity[kCpu]);
    if (k.limits_mem) out_ += ", \"mem_mib\": ", append_int(out_, k.capacity[kMem]);
    if (!k.gpu_type.empty()) out_ += ", \"gpu_type\": ", append_string(out_, k.gpu_type);
    if (k.gpu_mem_mib) out_ += ", \"gpu_mem_mib\": ", append_int(out_, k.gpu_mem_mib);
    if (!k.driver.empty()) out_ += ", \"driver\": ", append_string(out_, k.driver);
    if (!k.cuda.empty()) out_ += ", \"cuda\": ", append_string(out_, k.cuda);
    for (size_t i = 0; i < k.labels.size(); i++) {
      out_ += i ? ", " : ", \"labels\": {", append_string(out_, k.labels[i].first), out_ += ": ", append_string(out_, k.labels[i].second);
      if (i + 1 == k.labels.size()) out_ += '}';
    }
    bool any = false;
    for (size_t r = 0; r < spec_.kinds_of_resource.size(); r++) {
      if (k.capacity[3 + r] == 0) continue;
      out_ += any ? ", " : ", \"resources\": {", any = true;
      append_string(out_, spec_.kinds_of_resource[r]), out_ += ": ", append_int(out_, k.capacity[3 + r]);
    }
    out_ += any ? "}" : "";
    if (const std::string links = links_text(k.links, kStyle); !links.empty()) out_ += ", \"links\": " + links;
    out_ += '}';
  }

  /// Without the braces and the count. Below the node the text is on one line, above it a line a part.
  std::string vertex(const TopologySpec::Vertex& v, size_t level) {
    std::string saved = std::move(out_);
    out_.clear();
    const auto key = [&](const char* name) { out_ += (out_.empty() ? "\"" : ", \"") + std::string(name) + "\": "; };
    if (!v.name.empty()) key("name"), append_string(out_, v.name);
    if (spec_.levels[level] == "node" && (v.kind != kNone || spec_.kinds.size() == 1))
      key("kind"), append_string(out_, spec_.kinds[v.kind == kNone ? 0 : v.kind].name);
    if (v.gpus) key("gpus"), append_int(out_, int64_t{v.gpus});
    if (!v.children.empty()) key("parts"), out_ += '[', list(v.children, level + 1), out_ += ']';
    std::swap(saved, out_);
    return saved;
  }

  void list(const std::vector<TopologySpec::Vertex>& all, size_t level) {
    const bool inside = level > 0 && below_node(level - 1);
    std::string last;
    uint64_t times = 0;
    bool first = true;
    const auto flush = [&] {
      if (times == 0) return;
      if (inside) out_ += first ? "" : ", ";
      else out_ += (first ? "\n" : ",\n") + std::string(4 + 2 * level, ' ');
      first = false;
      out_ += '{';
      if (times > 1) out_ += "\"count\": ", append_int(out_, int64_t(times)), out_ += last.empty() ? "" : ", ";
      out_ += last + '}';
    };
    for (const TopologySpec::Vertex& v : all) {
      std::string text = vertex(v, level);
      if (times > 0 && v.name.empty() && text == last) {
        times += v.count;
        continue;
      }
      flush();
      last = std::move(text), times = v.count;
    }
    flush();
    if (!inside && !first) out_ += "\n" + std::string(2 + 2 * level, ' ');
  }

  bool below_node(size_t level) const {
    for (size_t l = 0; l <= level; l++)
      if (spec_.levels[l] == "node") return true;
    return false;
  }

  const TopologySpec& spec_;
  std::string out_;
};

}  // namespace

std::string topology_file(const TopologySpec& spec) {
  Topology::build(spec);
  return Writer(spec).write();
}

}  // namespace muster
