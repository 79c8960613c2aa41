#include "topology/import/import.hpp"

#include <algorithm>
#include <cctype>

#include "topology/import/readers.hpp"
#include "topology/write.hpp"

namespace muster {
namespace import {
namespace {

struct Reader {
  std::string_view name;
  bool (*is)(std::string_view text);  ///< whether a text is of this kind, good or bad
  Imported (*read)(Sources sources);
  bool several = false;  ///< takes more than one file
};

constexpr Reader kReaders[] = {
    {"nvidia-smi topo -m", is_nvidia_smi, read_nvidia_smi},
    {"Slurm's topology.conf, gres.conf and slurm.conf", is_slurm, read_slurm, true},
    {"NCCL topology XML", is_nccl, read_nccl},
    {"hwloc XML", is_hwloc, read_hwloc},
    {"openb nodes", is_openb, read_openb},
    {"Lingjun topo.csv", is_lingjun, read_lingjun},
    {"kubectl get nodes -o json or yaml", is_kubernetes, read_kubernetes},
    {"HiveD configuration", is_hived, read_hived},
};

/// Whether some line begins with `word`; white space counts.
bool has_line(std::string_view text, std::string_view word) {
  return text.starts_with(word) || text.find("\n" + std::string(word)) != text.npos;
}

/// What people take for a description of a cluster or a machine, and why it is none.
struct Refusal {
  bool (*is)(std::string_view text);
  const char* why;
};
constexpr Refusal kRefusals[] = {
    {[](std::string_view t) {
       return has_line(t, "jobVC:") || has_line(t, "kind: Framework") || (has_line(t, "taskRoles:") && !has_line(t, "virtualClusters:"));
     },
     "a job request for HiveD: it asks for GPUs and describes none; want the configuration of the scheduler (physicalCluster with "
     "cellTypes and physicalCells)"},
    {[](std::string_view t) { return has_line(t, "switches:") && has_line(t, "blocks:"); },
     "a topograph model: switches and nodes without a count of GPUs; want topology.conf with slurm.conf or gres.conf, or kubectl get nodes "
     "-o json"},
    {[](std::string_view t) { return has_line(t, "device_defaults:") || has_line(t, "pcie_topology:"); },
     "a profile for mock NVML: it configures a test double, not a machine; want the output of `nvidia-smi topo -m`"},
    {[](std::string_view t) {
       return t.find("| NVIDIA-SMI ") != t.npos || t.find("==NVSMI LOG==") != t.npos ||
              (has_line(t, "GPU 0: ") && t.find("(UUID: ") != t.npos);
     },
     "nvidia-smi without the topology; want the output of `nvidia-smi topo -m`"},
};

std::string known() {
  std::string s;
  for (const Reader& r : kReaders) s += (s.empty() ? "" : ", ") + std::string(r.name);
  return s;
}

/// A text with a mark, remarks and blank lines only.
bool only_remarks(std::string_view text) {
  for (const std::string_view line : lines(text))
    if (const std::string_view s = trim(line); !s.empty() && s[0] != '#' && s != "---") return false;
  return true;
}

const Reader& reader_of(const ImportSource& s) {
  for (const Refusal& r : kRefusals)
    if (r.is(s.text)) fail(s, r.why);
  for (const Reader& r : kReaders)
    if (r.is(s.text)) return r;
  if (trim(s.text).empty()) fail(s, "empty; want one of: " + known());
  if (only_remarks(s.text)) fail(s, "nothing but remarks, hence no GPU; want one of: " + known());
  fail(s, "not a description of a machine or cluster that is known here; want one of: " + known());
}

}  // namespace

void fail(const ImportSource& at, size_t line, const std::string& what) {
  throw InputError(std::string(at.file) + ": line " + std::to_string(line) + ": " + what);
}

void fail(const ImportSource& at, const std::string& what) { throw InputError(std::string(at.file) + ": " + what); }

std::string plural(size_t n, std::string_view noun) { return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s"); }

uint32_t kind_of(TopologySpec& spec, NodeKind kind) {
  for (uint32_t i = 0; i < spec.kinds.size(); i++) {
    kind.name = spec.kinds[i].name;  // the first of its kind named it
    if (spec.kinds[i] == kind) return i;
  }
  const std::string stem = kind.gpus == 0 ? "cpu" : std::to_string(kind.gpus) + "-" + (kind.gpu_type.empty() ? "gpu" : kind.gpu_type);
  const auto taken = [&](const std::string& name) {
    return std::any_of(spec.kinds.begin(), spec.kinds.end(), [&](const NodeKind& k) { return k.name == name; });
  };
  kind.name = stem;
  for (int i = 2; taken(kind.name); i++) kind.name = stem + "-" + std::to_string(i);
  spec.kinds.push_back(std::move(kind));
  return uint32_t(spec.kinds.size() - 1);
}

std::string_view trim(std::string_view s) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const size_t first = s.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view() : s.substr(first, s.find_last_not_of(kBlank) - first + 1);
}

std::string lower(std::string_view s) {
  std::string r(s);
  std::transform(r.begin(), r.end(), r.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return r;
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> r;
  for (size_t i = 0; (i = line.find_first_not_of(" \t\r", i)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t\r", i), line.size());
    r.push_back(line.substr(i, end - i));
    i = end;
  }
  return r;
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> r;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    r.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return r;
}

}  // namespace import

Imported import_topology(std::span<const ImportSource> given) {
  std::vector<ImportSource> stripped(given.begin(), given.end());
  for (ImportSource& s : stripped) {
    if (s.text.starts_with("\xff\xfe") || s.text.starts_with("\xfe\xff")) import::fail(s, "UTF-16 (PowerShell writes it); want UTF-8");
    if (s.text.starts_with("\xef\xbb\xbf")) s.text.remove_prefix(3);
  }
  const std::span<const ImportSource> sources = stripped;
  const import::Reader& reader = import::reader_of(sources[0]);
  for (const ImportSource& s : sources.subspan(1)) {
    const import::Reader& other = import::reader_of(s);
    if (!reader.several || &other != &reader)
      import::fail(s, "a second file (" + std::string(other.name) + " after " + std::string(reader.name) +
                          "); only those of one Slurm cluster are read together");
  }
  Imported r = reader.read(sources);
  for (std::string& note : r.notes) note.insert(0, std::string(reader.name) + ": ");
  try {
    (void)topology_file(r.spec);
  } catch (const InputError& e) { import::fail(sources[0], e.what()); }
  return r;
}

}  // namespace muster
