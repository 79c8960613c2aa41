// Placements as text: node [*tasks] [#group] [/gpus], pieces separated by commas.
//   n1               no GPU
//   n1/gpu0-3+6      whole GPUs, runs joined by +
//   n1*2#1/gpu0      2 tasks of group 1
//   n1/gpu0@2g:2     a MIG instance: 2 slices from slice 2
//   n1/gpu0:250m     a time slice of 250 thousandths
//   n1/gpu0:30%      an MPS client with 30 per cent of the threads
// A share that holds memory ends in +4096MiB.
#include "muster/config.hpp"
#include "muster/share.hpp"
#include "muster/topology.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

/// Whether `b` goes on with the whole GPUs of the next group of 64 of the node `a` began.
bool continues(const Piece& a, const Piece& b) {
  return a.share == Share::whole && b.share == Share::whole && a.node == b.node && a.group == b.group && b.tasks == 0 && b.word > a.word &&
         b.what;
}

void append_run(std::string& s, bool& first, unsigned from, unsigned to) {
  s += first ? "/gpu" : "+";
  first = false;
  s += std::to_string(from);
  if (to > from) s += '-' + std::to_string(to);
}

struct Reader {
  const Topology& topology;
  std::string_view all, piece;
  size_t at = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("placement " + in_quotes(all) + ": " + in_quotes(piece) + ": " + what);
  }
  bool next(char c) {
    if (at >= piece.size() || piece[at] != c) return false;
    at++;
    return true;
  }
  bool next(std::string_view s) {
    if (!piece.substr(at).starts_with(s)) return false;
    at += s.size();
    return true;
  }
  unsigned number(const char* what, uint64_t most) {
    const size_t from = at;
    while (at < piece.size() && piece[at] >= '0' && piece[at] <= '9') at++;
    const auto n = whole_number(piece.substr(from, at - from));
    if (!n || uint64_t(*n) > most)
      fail(std::string(what) + ": want a whole number from 0 to " + with_commas(int64_t(most)) + ", found " +
           in_quotes(piece.substr(from)));
    return unsigned(*n);
  }
  unsigned gpu(NodeId n) {
    const unsigned g = number("GPU", 1'000'000);
    const unsigned has = topology.gpus_of(n);
    if (g >= has)
      fail("node " + topology.node_name(n) + (has ? " has GPUs 0 to " + std::to_string(has - 1) : std::string(" has no GPU")) +
           ", not gpu" + std::to_string(g));
    return g;
  }

  void read(std::vector<Piece>& out) {
    const size_t end = std::min(piece.find_first_of("*#/"), piece.size());
    const NodeId n = topology.find_node(piece.substr(0, end));
    if (n == kNone) {
      std::vector<std::string_view> known;
      for (const Domain& d : topology.domains(topology.node_level())) known.push_back(d.name);
      const std::string near = nearest_name(piece.substr(0, end), known);
      fail("no node is called " + in_quotes(piece.substr(0, end)) + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    at = end;
    const uint16_t tasks = next('*') ? uint16_t(number("tasks", 65'535)) : 1;
    const uint8_t group = next('#') ? uint8_t(number("group", 31)) : 0;
    if (at == piece.size()) {
      out.push_back(Piece::whole(n, tasks, 0, 0, group));
      return;
    }
    if (!next("/gpu")) fail("want /gpu and a number after the node");
    const unsigned first = gpu(n);
    const bool mig = next('@');
    if (mig || next(':')) {
      if (tasks != 1) fail("a share holds one task");
      Share share = Share::mig;
      unsigned start = 0;
      unsigned size = number(mig ? "slices" : "share", 65'535);
      if (mig) {
        if (!next("g:")) fail("want slices and the first one, as in gpu0@2g:2");
        start = number("first slice", 7);
        if (size < 1 || size + start > 8) fail("a MIG instance is 1 to 8 slices of 8");
      } else if (next('%')) {
        share = Share::mps;
        if (size > 100) fail("more than 100 %");
      } else if (next('m')) {
        share = Share::slice;
        if (size > 1000) fail("more than 1000m");
      } else {
        fail("want thousandths (250m) or per cent (30%) after the colon");
      }
      uint32_t mib = 0;
      if (next('+')) {
        mib = number("MiB", ~uint32_t{0});
        if (!next("MiB")) fail("want MiB after the memory");
      }
      if (at != piece.size()) fail("nothing is known to follow here: " + in_quotes(piece.substr(at)));
      out.push_back(Piece::part(share, n, first, start, size, mib, group));
      return;
    }
    std::vector<uint64_t> words((topology.gpus_of(n) + 63) / 64);
    for (unsigned from = first;; from = gpu(n)) {
      const unsigned to = next('-') ? gpu(n) : from;
      if (to < from) fail("the run of GPUs goes backwards");
      for (unsigned g = from; g <= to; g++) {
        const uint64_t bit = uint64_t{1} << (g & 63);
        if (words[g / 64] & bit) fail("gpu" + std::to_string(g) + " stands twice");
        words[g / 64] |= bit;
      }
      if (!next('+')) break;
    }
    if (at != piece.size()) fail("nothing is known to follow here: " + in_quotes(piece.substr(at)));
    bool head = true;
    for (size_t w = 0; w < words.size(); w++)
      if (words[w]) {
        out.push_back(Piece::whole(n, head ? tasks : 0, words[w], uint8_t(w), group));
        head = false;
      }
  }
};

}  // namespace

std::string to_text(const Topology& t, Pieces pieces) {
  std::string s;
  for (size_t i = 0; i < pieces.size();) {
    const Piece& p = pieces[i];
    if (i) s += ',';
    s += t.node_name(p.node);
    if (p.tasks != 1) s += '*' + std::to_string(p.tasks);
    if (p.group) s += '#' + std::to_string(p.group);
    if (p.share != Share::whole) {
      s += "/gpu" + std::to_string(p.gpu());
      if (p.share == Share::mig) s += '@' + std::to_string(p.size()) + "g:" + std::to_string(p.first());
      else s += ':' + std::to_string(p.size()) + (p.share == Share::mps ? '%' : 'm');
      if (p.mib()) s += '+' + std::to_string(p.mib()) + "MiB";
      i++;
      continue;
    }
    bool first = true;
    unsigned from = 0, to = 0;
    bool open = false;
    for (size_t head = i; i == head || (i < pieces.size() && continues(pieces[i - 1], pieces[i])); i++)
      for (uint64_t left = pieces[i].what; left; left &= left - 1) {
        const unsigned g = pieces[i].word * 64u + unsigned(std::countr_zero(left));
        if (open && g == to + 1) {
          to = g;
          continue;
        }
        if (open) append_run(s, first, from, to);
        from = to = g;
        open = true;
      }
    if (open) append_run(s, first, from, to);
  }
  return s;
}

std::vector<Piece> parse_pieces(const Topology& t, std::string_view text) {
  std::vector<Piece> out;
  for (size_t at = 0; !text.empty();) {
    const size_t end = std::min(text.find(',', at), text.size());
    Reader{t, text, text.substr(at, end - at)}.read(out);
    if (end == text.size()) break;
    at = end + 1;
  }
  return out;
}

}  // namespace muster
