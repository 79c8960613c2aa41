#include "report/report_json.hpp"

#include "text/json_text.hpp"

namespace muster {
namespace {

/// `"key": "value"` pairs on lines of their own.
class Lines {
 public:
  Lines(std::string& out, std::string indent) : out_(out), indent_(std::move(indent)) {}
  std::string& key(std::string_view name) {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    out_ += indent_;
    append_string(out_, name);
    return out_ += ": ";
  }
  /// Whether nothing was written.
  bool empty() const { return first_; }

 private:
  std::string& out_;
  std::string indent_;
  bool first_ = true;
};

const char* text_of(Better b) {
  switch (b) {
    case Better::lower: return "lower";
    case Better::higher: return "higher";
    case Better::none: break;
  }
  return "none";
}

}  // namespace

const char* program_version() { return MUSTER_VERSION; }

std::string report_json(const Report& r, const Header& h) {
  std::string out = "{\n  \"schema\": \"muster-report-1\",\n  \"provenance\": {";
  Lines p(out, "    ");
  append_string(p.key("version"), program_version());
  p.key("policy") += "{\"name\": ";
  append_string(out, h.policy);
  out += ", \"parameters\": {";
  Lines parameters(out, "      ");
  for (const auto& [name, value] : h.parameters) append_string(parameters.key(name), value);
  out += parameters.empty() ? "}}" : "\n    }}";
  append_int(p.key("seed"), Int128(h.seed));
  p.key("until_s");
  if (h.until == kNever) out += "null";
  else append_seconds(out, h.until);
  p.key("inputs") += "[";
  for (size_t i = 0; i < h.inputs.size(); i++) {
    const auto& [role, text] = h.inputs[i];
    const size_t digest = text.rfind(" sha256:");
    out += i ? ",\n      {\"role\": " : "\n      {\"role\": ";
    append_string(out, role);
    out += ", \"name\": ";
    append_string(out, std::string_view(text).substr(0, digest));
    if (digest != std::string::npos) out += ", \"sha256\": ", append_string(out, std::string_view(text).substr(digest + 8));
    out += "}";
  }
  out += h.inputs.empty() ? "]" : "\n    ]";
  append_int(p.key("rows"), Int128(h.rows));
  p.key("dropped_rows") += "{";
  Lines dropped(out, "      ");
  for (const auto& [reason, n] : h.dropped_rows) append_int(dropped.key(reason), Int128(n));
  out += dropped.empty() ? "}" : "\n    }";
  append_seconds(p.key("origin_s"), h.workload ? h.workload->origin : 0);
  append_string(p.key("origin_text"), h.workload ? std::string_view(h.workload->origin_text) : std::string_view());
  out += "\n  },\n  \"metrics\": {";
  Lines metrics(out, "    ");
  for (const Metric& m : r.metrics) {
    metrics.key(m.name) += "{\"value\": ";
    append_number(out, m.value);
    out += ", \"unit\": ";
    append_string(out, m.unit);
    out += ", \"better\": \"";
    out += text_of(m.better);
    out += "\"}";
  }
  out += metrics.empty() ? "}" : "\n  }";
  out += ",\n  \"complete\": true\n}\n";
  return out;
}

}  // namespace muster
