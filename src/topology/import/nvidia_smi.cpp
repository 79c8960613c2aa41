// `nvidia-smi topo -m`: a matrix of how far devices are from each other, and the CPUs next to each GPU.
#include <algorithm>
#include <array>
#include <optional>

#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "topology/import/readers.hpp"
#include "topology/import/shape.hpp"
#include "workload/message.hpp"

namespace muster::import {
namespace {

/// Where two devices meet, nearest first; NVML's order.
enum Meet : uint8_t { kSelf, kPix, kPxb, kPhb, kNode, kSys, kHidden };
constexpr std::array<std::string_view, 7> kMeetNames{"X", "PIX", "PXB", "PHB", "NODE", "SYS", "NV#"};
constexpr size_t kMostDevices = 256;

bool is_gpu(std::string_view s) { return s.substr(0, 3) == "GPU" && s.size() > 3 && whole_number(s.substr(3)); }

/// Without the escape sequences (ESC [ ... letter) that some drivers put around the header.
std::string plain(std::string_view text) {
  std::string r;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\x1b') {
      r += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') i++;
    while (i + 1 < text.size() && !(text[i + 1] >= '@' && text[i + 1] <= '~')) i++;
    i++;
  }
  return r;
}

/// Device names of a header line, or none: it begins with a GPU and the next word is no cell.
std::vector<std::string_view> header_of(std::string_view line) {
  std::vector<std::string_view> names = words(line);
  if (names.empty() || !is_gpu(names[0]) || (names.size() > 1 && names[1] == "X")) return {};
  const auto tail = std::find(names.begin(), names.end(), "CPU");
  names.erase(tail, names.end());
  return names;
}

std::optional<Meet> meet_of(std::string_view cell) {
  if (cell == "SOC") return kSys;  // the old name
  if (cell.substr(0, 2) == "NV" && cell.size() > 2 && whole_number(cell.substr(2))) return kHidden;
  const auto at = std::find(kMeetNames.begin(), kMeetNames.end() - 1, cell);
  return at == kMeetNames.end() - 1 ? std::nullopt : std::optional(Meet(at - kMeetNames.begin()));
}

/// CPU and NUMA affinity of a GPU; empty: not known.
struct Affinity {
  std::string cpus, numa;
};

/// The words behind the cells. A blank first column and two columns run together both leave one word too few; a list with a comma is of
/// CPUs (perhaps with the NUMA node glued to it, which compares as well), a word without is of NUMA nodes.
Affinity affinity_of(std::vector<std::string_view> tail, size_t columns, bool blank_cpus) {
  const auto known = [](std::string_view s) { return s == "N/A" ? std::string() : std::string(s); };
  Affinity a;
  if (tail.empty()) return a;
  if (tail.size() < columns && (blank_cpus || tail[0].find(',') == std::string_view::npos)) {
    if (columns > 1) a.numa = known(tail[0]);
    return a;
  }
  a.cpus = known(tail[0]);
  if (tail.size() == columns && columns > 1) a.numa = known(tail[1]);
  return a;
}

struct Matrix {
  std::vector<std::string> names;
  size_t gpus = 0;
  std::vector<std::vector<Meet>> meet;         // kHidden: by NVLink, or a row is not there
  std::vector<std::vector<uint32_t>> nvlinks;  // between two GPUs
  std::vector<Affinity> affinity;
};

Matrix parse(const ImportSource& source, std::string_view text) {
  Matrix m;
  const auto all = lines(text);
  size_t at = 0;
  std::vector<std::string_view> names;
  while (at < all.size() && (names = header_of(all[at])).empty()) at++;
  if (at == all.size()) fail(source, "no header line with GPU0, GPU1, ...");
  const size_t header = at + 1, n = names.size();
  if (n > kMostDevices) fail(source, header, plural(n, "device") + "; at most " + std::to_string(kMostDevices));
  m.names.assign(names.begin(), names.end());
  while (m.gpus < n && is_gpu(names[m.gpus])) m.gpus++;
  for (size_t i = 0; i < n; i++) {
    if (i >= m.gpus && is_gpu(names[i])) fail(source, header, std::string(names[i]) + " stands behind other devices");
    if (std::find(names.begin(), names.begin() + long(i), names[i]) != names.begin() + long(i))
      fail(source, header, "two columns are called " + quoted(names[i]));
  }
  size_t columns = 0;  // of affinity
  for (const char* title : {"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"}) columns += all[at].find(title) != std::string_view::npos;
  m.meet.assign(n, std::vector<Meet>(n, kHidden));
  m.nvlinks.assign(m.gpus, std::vector<uint32_t>(m.gpus));
  m.affinity.resize(m.gpus);
  std::vector<size_t> line_of(n);
  std::vector<std::vector<std::string>> cells(n);
  size_t rows = 0;
  for (at++; at < all.size() && rows < n; at++) {
    auto row = words(all[at]);
    if (row.empty()) continue;
    if (row[0] == "Legend:" || row[0] == "NIC") break;
    const size_t i = size_t(std::find(names.begin(), names.end(), row[0]) - names.begin());
    if (i == n) fail(source, at + 1, "no column is called " + quoted(row[0]));
    if (line_of[i]) fail(source, at + 1, "a second row " + std::string(row[0]) + " (the first is line " + std::to_string(line_of[i]) + ")");
    line_of[i] = at + 1, rows++;
    if (row.size() < n + 1)
      fail(source, at + 1, "row " + std::string(row[0]) + " has " + plural(row.size() - 1, "cell") + " for " + plural(n, "column"));
    for (size_t j = 0; j < n; j++) {
      const auto meet = meet_of(row[j + 1]);
      if (!meet)
        fail(source, at + 1,
             "row " + std::string(row[0]) + ", column " + m.names[j] +
                 ": want X, PIX, PXB, PHB, NODE, SYS, SOC or NV and a number, found " + quoted(row[j + 1]));
      if ((*meet == kSelf) != (i == j))
        fail(source, at + 1,
             "row " + std::string(row[0]) + ", column " + m.names[j] + ": " +
                 (i == j ? "want X, found " + quoted(row[j + 1]) : "X off the diagonal"));
      m.meet[i][j] = *meet;
      if (*meet == kHidden && i < m.gpus && j < m.gpus)
        m.nvlinks[i][j] = uint32_t(std::min<int64_t>(*whole_number(row[j + 1].substr(2)), 1000));
      cells[i].emplace_back(row[j + 1]);
    }
    if (i >= m.gpus) continue;
    bool blank_cpus = false;
    if (all[at].find('\t') != std::string_view::npos) {  // the column right behind the cells, counted by tabs
      size_t begin = 0;
      for (size_t tabs = 0; tabs <= n && begin != std::string_view::npos; tabs++) begin = all[at].find('\t', begin + (tabs > 0));
      blank_cpus = begin == std::string_view::npos || begin + 1 >= all[at].size() || all[at][begin + 1] == '\t';
    }
    m.affinity[i] = affinity_of({row.begin() + long(n) + 1, row.end()}, columns, blank_cpus);
  }
  for (size_t i = 0; i < n; i++) {
    if (i < m.gpus && !line_of[i]) fail(source, "row " + m.names[i] + " is missing");
    for (size_t j = 0; j < i; j++) {
      if (line_of[i] && line_of[j] && m.meet[i][j] != m.meet[j][i])
        fail(source, line_of[i],
             m.names[i] + " to " + m.names[j] + " is " + cells[i][j] + ", but " + m.names[j] + " to " + m.names[i] + " is " + cells[j][i]);
      if (!line_of[i]) m.meet[i][j] = m.meet[j][i];  // symmetric, so one of both rows is enough
      else m.meet[j][i] = m.meet[i][j];
    }
    if (!line_of[i]) m.meet[i][i] = kSelf;
  }
  return m;
}

using Meets = std::vector<std::vector<Meet>>;

/// The least far two devices can be when every third one is at most as far from one as the other two links: the largest ultrametric below
/// `w`. Equal to it on all visible pairs exactly when those fit a tree.
Meets closure(Meets w) {
  for (size_t k = 0; k < w.size(); k++)
    for (size_t i = 0; i < w.size(); i++)
      for (size_t j = 0; j < w.size(); j++) w[i][j] = std::min(w[i][j], std::max(w[i][k], w[k][j]));
  return w;
}

/// Whether the tree `u` has every visible pair as far as `w` says.
bool keeps(const Meets& u, const Meets& w) {
  for (size_t i = 0; i < w.size(); i++)
    for (size_t j = 0; j < i; j++)
      if (w[i][j] != kHidden && u[i][j] != w[i][j]) return false;
  return true;
}

/// Refuses a matrix that no tree has, with three devices that show it.
void check_tree(const ImportSource& source, const Matrix& m, const Meets& u) {
  if (keeps(u, m.meet)) return;
  for (const Meets& w : {m.meet, u})  // first three of which all is seen
    for (size_t i = 0; i < w.size(); i++)
      for (size_t j = 0; j < i; j++)
        for (size_t k = 0; k < w.size(); k++)
          if (k != i && k != j && m.meet[i][j] != kHidden && m.meet[i][j] > std::max(w[i][k], w[k][j]))
            fail(source, "not a tree (not ultrametric): " + m.names[j] + " and " + m.names[i] + " meet at " +
                             std::string(kMeetNames[m.meet[i][j]]) + ", yet " + m.names[k] + " meets " + m.names[j] + " at " +
                             std::string(kMeetNames[w[k][j]]) + " and " + m.names[i] + " at " + std::string(kMeetNames[w[i][k]]));
}

std::optional<bool> same_affinity(const Affinity& a, const Affinity& b) {
  if (!a.numa.empty() && !b.numa.empty()) return a.numa == b.numa;
  if (!a.cpus.empty() && !b.cpus.empty()) return a.cpus == b.cpus;
  return std::nullopt;
}

/// Fills the pairs that NVLink hides, and says from what.
Meets recover(const Matrix& m, Meets u, std::vector<std::string>& notes) {
  size_t hidden = 0, from_columns = 0, from_affinity = 0, unknown = 0;
  Meets w = u;
  for (size_t i = 0; i < m.gpus; i++)
    for (size_t j = 0; j < i; j++) {
      if (m.meet[i][j] != kHidden) continue;
      hidden++;
      // A device nearer to one than to the other fixes the pair, at the farther of the two.
      bool fixed = u[i][j] < kSys;
      for (size_t k = 0; k < w.size(); k++)
        fixed = fixed || (u[i][k] != u[j][k] && k != i && k != j && std::max(u[i][k], u[j][k]) < kHidden);
      const auto same = u[i][j] <= kNode ? std::nullopt : same_affinity(m.affinity[i], m.affinity[j]);
      if (same == true) w[i][j] = w[j][i] = kNode;
      // Devices that are SYS apart may still be on one NUMA node: virtual machines show every bridge as a socket of its own.
      if (same == true || (same && !fixed)) from_affinity++;
      else if (fixed) from_columns++;
      else unknown++;
    }
  if (hidden == 0) return u;
  Meets with = closure(w);
  bool fits = true;
  for (size_t i = 0; i < m.gpus; i++)
    for (size_t j = 0; j < i; j++) fits = fits && (m.meet[i][j] == kHidden || with[i][j] == m.meet[i][j]);
  std::string note = "NVLink hides where " + plural(hidden, "pair") + " of GPUs meet on PCIe";
  if (fits) {
    u = std::move(with);
  } else {
    note += "; the affinity columns contradict the matrix and are not used", unknown += from_affinity, from_affinity = 0;
  }
  if (from_columns) note += "; " + std::to_string(from_columns) + " follow from the other columns";
  if (from_affinity) note += "; " + std::to_string(from_affinity) + " from CPU and NUMA affinity (the same: one NUMA node)";
  if (unknown) note += "; " + std::to_string(unknown) + " stay unknown and count as SYS, meeting only in the node";
  notes.push_back(note);
  return u;
}

/// NVLink and network cards, of GPUs as the node numbers them.
void add_links(const Matrix& m, const Meets& u, const NodeShape& shape, NodeLinks& links, std::vector<std::string>& notes) {
  const size_t n = m.gpus;
  std::vector<uint32_t> number(n);
  for (uint32_t i = 0; i < n; i++) number[shape.order[i]] = i;
  std::vector<std::vector<uint32_t>> counts(n, std::vector<uint32_t>(n));
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++) counts[number[a]][number[b]] = m.nvlinks[a][b];
  if (set_nvlink(links, counts))
    notes.emplace_back("an NVLink counts as 25 GB/s, as of V100, A100 and H100; those of B200 have twice as much");
  links.states_nics = m.names.size() > n;
  for (size_t d = n; d < m.names.size(); d++) {
    const Meet nearest = *std::min_element(u[d].begin(), u[d].begin() + long(n));
    NodeLinks::Nic nic{uint32_t(n), 0, {}};
    for (size_t g = 0; g < n; g++)
      if (u[d][g] == nearest) nic.begin = std::min(nic.begin, number[g]), nic.end = std::max(nic.end, number[g] + 1);
    links.nics.push_back(nic);
  }
}

}  // namespace

bool is_nvidia_smi(std::string_view text) {
  if (text.find("GPU") == std::string_view::npos) return false;
  const std::string stripped = plain(text.substr(0, 1U << 20U));
  for (const auto line : lines(stripped))
    if (!header_of(line).empty()) return true;
  return false;
}

Imported read_nvidia_smi(Sources sources) {
  const std::string text = plain(sources[0].text);
  const Matrix m = parse(sources[0], text);
  Meets u = closure(m.meet);
  check_tree(sources[0], m, u);
  Imported r;
  u = recover(m, std::move(u), r.notes);
  struct Level {
    Meet meet;
    const char* name;
    int rank;
  };
  std::vector<Partition> partitions;
  for (const Level& l : {Level{kNode, "numa", 1}, Level{kPhb, "bridge", 0}, Level{kPxb, "complex", 2}, Level{kPix, "switch", 3}}) {
    Partition p{l.name, {}, l.rank};
    for (size_t i = 0; i < m.gpus; i++) {
      uint32_t first = 0;
      while (u[i][first] > l.meet) first++;
      p.of_gpu.push_back(first);
    }
    partitions.push_back(std::move(p));
  }
  NodeShape shape = node_shape(uint32_t(m.gpus), std::move(partitions));
  // Without switches below them the complexes are what a person calls a switch.
  if (std::find(shape.levels.begin(), shape.levels.end(), "switch") == shape.levels.end())
    std::replace(shape.levels.begin(), shape.levels.end(), std::string("complex"), std::string("switch"));
  if (shape.renumbered()) r.notes.push_back(renumbering(shape));
  r.spec.levels = {"node"};
  r.spec.levels.insert(r.spec.levels.end(), shape.levels.begin(), shape.levels.end());
  NodeKind kind;
  kind.gpus = uint32_t(m.gpus);
  add_links(m, u, shape, kind.links, r.notes);
  kind_of(r.spec, std::move(kind));
  r.spec.top.push_back(std::move(shape.node));
  return r;
}

}  // namespace muster::import
