#include "topology/links_json.hpp"

#include <algorithm>

#include "text/json_text.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

using NvLink = NodeLinks::NvLink;
constexpr size_t kMostNics = 1'024, kMostPairs = 100'000;
constexpr uint32_t kMostGpus = 16'384;

[[noreturn]] void fail(const Config& at, const std::string& what) { throw InputError(at.where + ": " + what); }

/// A number above zero in thousandths of the unit.
int64_t thousandths(const Config& c, int64_t most) {
  const auto n = c.kind == Config::Kind::number ? scaled_decimal(c.value, 1000, Round::down) : std::nullopt;
  if (!n || *n < 1 || *n > most * 1000)
    fail(c, "want a number from 0.001 to " + with_commas(most) + ", found " +
                (c.kind == Config::Kind::text ? in_quotes(c.value)
                 : c.value.empty()            ? "something else"
                                              : c.value.substr(0, 60)));
  return *n;
}

LinkRate rate(const Config& c) {
  LinkRate r;
  if (const Config* gb_s = c.find("gb_s")) r.mb_s = thousandths(*gb_s, 1'000'000);
  if (const Config* us = c.find("us")) r.ns = thousandths(*us, 1'000'000);
  return r;
}

LinkRate only_rate(const Config& c) {
  static constexpr std::string_view kKeys[] = {"gb_s", "us"};
  c.only(kKeys);
  return rate(c);
}

const std::vector<Config::Field>& list(const Config& c, const char* what) {
  if (c.kind != Config::Kind::list) fail(c, std::string("want ") + what);
  return c.fields;
}

void read_nvlink(const Config& c, NodeLinks& links) {
  if (c.kind == Config::Kind::text) {
    if (c.value != "none") fail(c, "want \"none\" or an object with \"gb_s\" or \"pairs\", found " + in_quotes(c.value));
    links.nvlink = NvLink::none;
    return;
  }
  static constexpr std::string_view kKeys[] = {"gb_s", "us", "pairs"};
  c.only(kKeys);
  links.nvlink_rate = rate(c);
  const Config* pairs = c.find("pairs");
  links.nvlink = pairs ? NvLink::pairs : NvLink::all;
  if (!pairs) return;
  constexpr const char* kForm = "pairs of GPUs as [0, 1] or [0, 1, LINKS]";
  if (list(*pairs, kForm).size() > kMostPairs) fail(*pairs, "more than " + with_commas(kMostPairs) + " pairs");
  for (const auto& [none, p] : pairs->fields) {
    if (const size_t n = list(p, kForm).size(); n < 2 || n > 3) fail(p, std::string("want ") + kForm);
    NodeLinks::Pair pair;
    pair.a = uint32_t(p.fields[0].second.as_integer(0, kMostGpus - 1));
    pair.b = uint32_t(p.fields[1].second.as_integer(0, kMostGpus - 1));
    if (p.fields.size() == 3) pair.links = uint32_t(p.fields[2].second.as_integer(1, 1000));
    links.pairs.push_back(pair);
  }
}

void read_nics(const Config& c, NodeLinks& links) {
  links.states_nics = true;
  if (c.kind == Config::Kind::object) {
    static constexpr std::string_view kKeys[] = {"count", "gb_s", "us"};
    c.only(kKeys);
    const Config* count = c.find("count");
    links.nics.assign(size_t(count ? count->as_integer(0, kMostNics) : 1), {0, 0, rate(c)});
    return;
  }
  if (list(c, "an object with \"count\", or a list of cards").size() > kMostNics) fail(c, "more than " + with_commas(kMostNics) + " cards");
  for (const auto& [none, card] : c.fields) {
    static constexpr std::string_view kKeys[] = {"gpus", "gb_s", "us"};
    card.only(kKeys);
    NodeLinks::Nic nic;
    nic.rate = rate(card);
    if (const Config* gpus = card.find("gpus")) {
      if (list(*gpus, "the first and the last GPU it is nearest to, as [0, 1]").size() != 2)
        fail(*gpus, "want the first and the last GPU, as [0, 1]");
      nic.begin = uint32_t(gpus->fields[0].second.as_integer(0, kMostGpus - 1));
      nic.end = uint32_t(gpus->fields[1].second.as_integer(nic.begin, kMostGpus - 1)) + 1;
    }
    links.nics.push_back(nic);
  }
}

/// One key of either table; false when it is none of a node's.
bool read_node_key(const std::string& key, const Config& v, std::span<const std::string> levels, NodeLinks& links) {
  if (key == "nvlink") read_nvlink(v, links);
  else if (key == "nics") read_nics(v, links);
  else if (key == "gpu" || std::find(levels.begin(), levels.end(), key) != levels.end()) links.uplinks.push_back({key, only_rate(v)});
  else return false;
  return true;
}

void unknown(const Config& c, std::vector<std::string_view> known, std::span<const std::string> levels) {
  known.insert(known.end(), levels.begin(), levels.end());
  c.only(known);
}

class Text {
 public:
  explicit Text(JsonStyle style) : style_(style) {}
  void key(std::string_view name) {
    if (!out_.empty() && out_.back() != '{') out_ += style_.comma;
    append_string(out_, name), out_ += style_.colon;
  }
  void number(std::string_view name, int64_t thousandths) {
    if (!thousandths) return;
    key(name), append_int(out_, thousandths / 1000);
    if (thousandths % 1000 == 0) return;
    std::string digits = std::to_string(1000 + thousandths % 1000);
    while (digits.back() == '0') digits.pop_back();
    digits[0] = '.', out_ += digits;
  }
  void rate(LinkRate r) { number("gb_s", r.mb_s), number("us", r.ns); }
  std::string& raw() { return out_; }
  void comma(bool first) {
    if (!first) out_ += style_.comma;
  }
  std::string object() const { return out_.empty() ? out_ : '{' + out_ + '}'; }

 private:
  JsonStyle style_;
  std::string out_;
};

}  // namespace

NodeLinks node_links_from(const Config& c, std::span<const std::string> levels) {
  unknown(c, {"gpu", "nvlink", "nics"}, levels);
  NodeLinks links;
  for (const auto& [key, v] : c.fields) read_node_key(key, v, levels, links);
  return links;
}

FabricLinks fabric_links_from(const Config& c, std::span<const std::string> levels, size_t node_level, NodeLinks& usual) {
  FabricLinks links;
  const auto above = levels.first(node_level), below = levels.subspan(std::min(node_level + 1, levels.size()));
  std::vector<std::string_view> known{"gpu", "nvlink", "nics", "rails"};
  known.insert(known.end(), above.begin(), above.end());
  unknown(c, known, below);
  for (const auto& [key, v] : c.fields) {
    if (key == "rails") {
      links.rails = v.as_boolean();
    } else if (const Config* level = key == "nvlink" ? v.find("level") : nullptr) {
      static constexpr std::string_view kKeys[] = {"level", "gb_s", "us"};
      v.only(kKeys);
      links.nvlink_level = level->as_text();
      links.nvlink_rate = rate(v);
      std::vector<std::string_view> names(above.begin(), above.end());
      if (std::find(names.begin(), names.end(), links.nvlink_level) == names.end()) {
        const std::string near = nearest_name(links.nvlink_level, names);
        fail(*level,
             "want a level above the node, found " + in_quotes(links.nvlink_level) + (near.empty() ? "" : "; did you mean " + near + "?"));
      }
    } else if (std::find(above.begin(), above.end(), key) != above.end()) {
      static constexpr std::string_view kKeys[] = {"gb_s", "us", "oversubscription"};
      v.only(kKeys);
      FabricLinks::Uplink up{key, rate(v), 0};
      if (const Config* o = v.find("oversubscription")) {
        if (up.rate.mb_s) fail(*o, "gb_s and oversubscription are both given");
        up.oversubscription = thousandths(*o, 1000);
      }
      links.uplinks.push_back(std::move(up));
    } else {
      read_node_key(key, v, below, usual);
    }
  }
  return links;
}

void complete(NodeLinks& stated, const NodeLinks& usual) {
  for (const NodeLinks::Uplink& u : usual.uplinks)
    if (std::none_of(stated.uplinks.begin(), stated.uplinks.end(), [&](const auto& s) { return s.level == u.level; }))
      stated.uplinks.push_back(u);
  if (stated.nvlink == NvLink::unstated) stated.nvlink = usual.nvlink, stated.nvlink_rate = usual.nvlink_rate, stated.pairs = usual.pairs;
  if (!stated.states_nics) stated.states_nics = usual.states_nics, stated.nics = usual.nics;
}

std::string links_text(const NodeLinks& links, JsonStyle style) {
  Text t(style);
  const auto object = [&](std::string_view key, LinkRate r) {
    Text in(style);
    in.rate(r);
    t.key(key), t.raw() += '{' + in.raw() + '}';
  };
  for (const NodeLinks::Uplink& u : links.uplinks) object(u.level, u.rate);
  if (links.nvlink == NvLink::none) t.key("nvlink"), t.raw() += "\"none\"";
  if (links.nvlink == NvLink::all) object("nvlink", links.nvlink_rate);
  if (links.nvlink == NvLink::pairs) {
    Text in(style);
    in.rate(links.nvlink_rate);
    in.key("pairs"), in.raw() += '[';
    for (size_t i = 0; i < links.pairs.size(); i++) {
      const NodeLinks::Pair& p = links.pairs[i];
      in.comma(i == 0), in.raw() += '[' + std::to_string(p.a), in.comma(false), in.raw() += std::to_string(p.b);
      if (p.links != 1) in.comma(false), in.raw() += std::to_string(p.links);
      in.raw() += ']';
    }
    t.key("nvlink"), t.raw() += '{' + in.raw() + "]}";
  }
  if (!links.states_nics) return t.object();
  t.key("nics");
  const bool alike =
      std::all_of(links.nics.begin(), links.nics.end(), [&](const auto& n) { return n.begin == n.end && n.rate == links.nics[0].rate; });
  Text in(style);
  if (alike) {
    in.key("count"), append_int(in.raw(), int64_t(links.nics.size()));
    if (!links.nics.empty()) in.rate(links.nics[0].rate);
    t.raw() += '{' + in.raw() + '}';
    return t.object();
  }
  t.raw() += '[';
  for (size_t i = 0; i < links.nics.size(); i++) {
    const NodeLinks::Nic& n = links.nics[i];
    Text card(style);
    if (n.begin < n.end)
      card.key("gpus"), card.raw() += '[' + std::to_string(n.begin), card.comma(false), card.raw() += std::to_string(n.end - 1) + ']';
    card.rate(n.rate);
    t.comma(i == 0), t.raw() += '{' + card.raw() + '}';
  }
  t.raw() += ']';
  return t.object();
}

std::string links_text(const FabricLinks& links, JsonStyle style) {
  Text t(style);
  for (const FabricLinks::Uplink& u : links.uplinks) {
    Text in(style);
    in.rate(u.rate), in.number("oversubscription", u.oversubscription);
    t.key(u.level), t.raw() += '{' + in.raw() + '}';
  }
  if (!links.nvlink_level.empty()) {
    Text in(style);
    in.key("level"), append_string(in.raw(), links.nvlink_level), in.rate(links.nvlink_rate);
    t.key("nvlink"), t.raw() += '{' + in.raw() + '}';
  }
  if (links.rails) t.key("rails"), t.raw() += "true";
  return t.object();
}

void check_links(const TopologySpec& spec, size_t node_level) {
  const auto is_level = [&](const std::string& name, size_t from, size_t to) {
    return std::find(spec.levels.begin() + long(from), spec.levels.begin() + long(to), name) != spec.levels.begin() + long(to);
  };
  for (const FabricLinks::Uplink& u : spec.links.uplinks)
    if (!is_level(u.level, 0, node_level))
      throw InputError("topology: links of " + in_quotes(u.level) + ", which is no level above the node");
  if (const std::string& l = spec.links.nvlink_level; !l.empty() && !is_level(l, 0, node_level))
    throw InputError("topology: NVLink domains of " + in_quotes(l) + ", which is no level above the node");
  for (const NodeKind& k : spec.kinds) {
    const std::string of = "topology: kind " + in_quotes(k.name) + ": ";
    for (const NodeLinks::Uplink& u : k.links.uplinks)
      if (u.level != "gpu" && !is_level(u.level, node_level + 1, spec.levels.size()))
        throw InputError(of + "links of " + in_quotes(u.level) + ", which is no level below the node");
    std::vector<std::pair<uint32_t, uint32_t>> seen;
    for (const NodeLinks::Pair& p : k.links.pairs) {
      if (p.a == p.b || std::max(p.a, p.b) >= k.gpus)
        throw InputError(of + "NVLink between GPUs " + std::to_string(p.a) + " and " + std::to_string(p.b) + " of " +
                         std::to_string(k.gpus));
      seen.emplace_back(std::min(p.a, p.b), std::max(p.a, p.b));
    }
    std::sort(seen.begin(), seen.end());
    if (const auto twice = std::adjacent_find(seen.begin(), seen.end()); twice != seen.end())
      throw InputError(of + "NVLink between GPUs " + std::to_string(twice->first) + " and " + std::to_string(twice->second) +
                       " is stated twice");
    for (const NodeLinks::Nic& n : k.links.nics)
      if (n.end > k.gpus)
        throw InputError(of + "a network card nearest to GPU " + std::to_string(n.end - 1) + " of " + std::to_string(k.gpus));
  }
}

}  // namespace muster
