#include "workload/columns.hpp"

#include <algorithm>

#include "muster/config.hpp"
#include "muster/resources.hpp"

namespace muster {
namespace {

enum class Measure : uint8_t { word, count, time, memory, bytes, cpu, rate, ratio };

struct Alias {
  std::string_view name;  // lower case, '_' between words, without a unit
  Field field;
};

// The first name of a field is the native one. Where a file has several columns for one field, the one listed first here wins.
constexpr Alias kAliases[] = {
    {"job_id", Field::id}, {"jobid", Field::id}, {"id", Field::id}, {"job", Field::id}, {"id_job", Field::id}, {"job_name", Field::id},
    {"jobname", Field::id}, {"name", Field::id},
    {"user", Field::tenant}, {"tenant", Field::tenant}, {"user_id", Field::tenant}, {"username", Field::tenant}, {"uid", Field::tenant},
    {"owner", Field::tenant}, {"account", Field::tenant}, {"group", Field::tenant}, {"organization", Field::tenant},
    {"project", Field::tenant}, {"team", Field::tenant},
    // In the cluster logs that have both, "queue" is the time spent waiting and "vc" is the queue.
    {"vc", Field::queue}, {"virtual_cluster", Field::queue}, {"queue", Field::queue}, {"queue_name", Field::queue},
    {"partition", Field::queue}, {"cluster", Field::queue},
    {"submit", Field::submit}, {"submit_time", Field::submit}, {"submitted_time", Field::submit}, {"submitted", Field::submit},
    {"submission_time", Field::submit}, {"arrival", Field::submit}, {"arrival_time", Field::submit}, {"time_submit", Field::submit},
    {"job_submit_time", Field::submit}, {"creation_time", Field::submit}, {"timestamp", Field::submit},
    {"gpus", Field::gpus}, {"num_gpus", Field::gpus}, {"num_gpu", Field::gpus}, {"gpu_num", Field::gpus}, {"gpu_count", Field::gpus},
    {"ngpus", Field::gpus}, {"n_gpus", Field::gpus}, {"total_gpus", Field::gpus}, {"gpu", Field::gpus},
    {"tasks", Field::tasks}, {"num_tasks", Field::tasks}, {"ntasks", Field::tasks}, {"task_num", Field::tasks}, {"inst_num", Field::tasks},
    {"num_inst", Field::tasks}, {"workers", Field::tasks}, {"worker_num", Field::tasks}, {"num_workers", Field::tasks},
    {"replicas", Field::tasks},
    {"min_tasks", Field::min_tasks}, {"min_available", Field::min_tasks}, {"min_member", Field::min_tasks},
    {"min_workers", Field::min_tasks},
    {"gpus_per_task", Field::gpus_per_task}, {"gpu_per_task", Field::gpus_per_task}, {"gpus_per_worker", Field::gpus_per_task},
    {"gpu_request", Field::gpus_per_task},
    {"nodes", Field::nodes}, {"node_num", Field::nodes}, {"num_nodes", Field::nodes}, {"nnodes", Field::nodes},
    {"duration", Field::duration}, {"run", Field::duration}, {"run_time", Field::duration}, {"runtime", Field::duration},
    {"service", Field::duration}, {"service_time", Field::duration}, {"work", Field::duration}, {"execution_time", Field::duration},
    {"exec_time", Field::duration}, {"elapsed", Field::duration},
    {"start_time", Field::start}, {"start", Field::start}, {"time_start", Field::start}, {"scheduled_time", Field::start},
    {"end_time", Field::end}, {"end", Field::end}, {"time_end", Field::end}, {"finish_time", Field::end}, {"deletion_time", Field::end},
    {"estimate", Field::estimate}, {"estimated_duration", Field::estimate}, {"user_estimate", Field::estimate},
    {"expected_duration", Field::estimate}, {"requested_time", Field::estimate},
    {"time_limit", Field::time_limit}, {"timelimit", Field::time_limit}, {"limit", Field::time_limit}, {"walltime", Field::time_limit},
    {"wall_time", Field::time_limit},
    {"priority", Field::priority}, {"prio", Field::priority},
    {"cpus", Field::cpus}, {"num_cpus", Field::cpus}, {"num_cpu", Field::cpus}, {"cpu_num", Field::cpus}, {"cpus_per_task", Field::cpus},
    {"cpu_request", Field::cpus}, {"cpu", Field::cpus},
    {"mem", Field::memory}, {"memory", Field::memory}, {"host_mem", Field::memory}, {"mem_per_task", Field::memory},
    {"ram", Field::memory},
    {"deadline", Field::deadline}, {"ddl", Field::deadline}, {"due", Field::deadline},
    {"earliest_start", Field::earliest_start}, {"not_before", Field::earliest_start}, {"eligible_time", Field::earliest_start},
    {"time_eligible", Field::earliest_start},
    {"gpu_type", Field::gpu_type}, {"gpu_types", Field::gpu_type}, {"gpu_model", Field::gpu_type}, {"gpu_spec", Field::gpu_type},
    {"driver", Field::driver}, {"driver_version", Field::driver}, {"min_driver", Field::driver},
    {"cuda", Field::cuda}, {"cuda_version", Field::cuda}, {"min_cuda", Field::cuda},
    {"labels", Field::labels}, {"node_selector", Field::labels}, {"node_labels", Field::labels}, {"constraint", Field::labels},
    {"locality", Field::locality}, {"required_level", Field::locality}, {"required_topology", Field::locality},
    {"preferred_level", Field::preferred_level}, {"preferred_topology", Field::preferred_level},
    {"spread", Field::spread},
    {"anti_affinity", Field::anti_affinity},
    {"numa", Field::numa}, {"numa_policy", Field::numa}, {"topology_manager_policy", Field::numa},
    {"checkpoint_interval", Field::checkpoint_interval}, {"ckpt_interval", Field::checkpoint_interval},
    {"checkpoint_cost", Field::checkpoint_cost}, {"ckpt_cost", Field::checkpoint_cost},
    {"start_cost", Field::start_cost}, {"startup_cost", Field::start_cost},
    {"restart_cost", Field::restart_cost}, {"restart_penalty", Field::restart_cost},
    {"gives_back_after", Field::gives_back_after},
    {"gradient", Field::gradient}, {"gradients", Field::gradient}, {"gradient_size", Field::gradient}, {"grad_size", Field::gradient},
    {"model_size", Field::gradient},
    {"compute", Field::compute}, {"compute_time", Field::compute}, {"iteration_compute", Field::compute}, {"step_time", Field::compute},
    {"model", Field::model}, {"model_name", Field::model}, {"job_type", Field::model}, {"network", Field::model},
    {"sensitivity", Field::sensitivity}, {"comm_sensitivity", Field::sensitivity}, {"locality_sensitivity", Field::sensitivity},
    {"fate", Field::fate}, {"status", Field::fate}, {"state", Field::fate}, {"job_state", Field::fate},
    {"gpu_mem", Field::unsupported}, {"gpu_mem_mib_per_device", Field::unsupported}, {"devices", Field::unsupported},
    {"gpu_milli", Field::gpu_milli}, {"gpu_share", Field::unsupported}, {"pin", Field::unsupported},
};

Measure measure_of(Field f) {
  switch (f) {
    case Field::submit:
    case Field::duration:
    case Field::start:
    case Field::end:
    case Field::estimate:
    case Field::time_limit:
    case Field::deadline:
    case Field::earliest_start:
    case Field::checkpoint_interval:
    case Field::checkpoint_cost:
    case Field::start_cost:
    case Field::restart_cost:
    case Field::gives_back_after:
    case Field::compute: return Measure::time;
    case Field::gradient: return Measure::bytes;
    case Field::sensitivity: return Measure::ratio;
    case Field::memory:
    case Field::unsupported: return Measure::memory;
    case Field::cpus: return Measure::cpu;
    case Field::gpus:
    case Field::tasks:
    case Field::min_tasks:
    case Field::gpus_per_task:
    case Field::gpu_milli:
    case Field::nodes: return Measure::count;
    default: return Measure::word;
  }
}

struct Ending {
  std::string_view text;
  Measure measure;
  Scale scale;
};

constexpr Ending kEndings[] = {
    {"_s", Measure::time, {1'000'000, 1}},      {"_sec", Measure::time, {1'000'000, 1}},        {"_secs", Measure::time, {1'000'000, 1}},
    {"_seconds", Measure::time, {1'000'000, 1}}, {"_ms", Measure::time, {1'000, 1}},            {"_us", Measure::time, {1, 1}},
    {"_min", Measure::time, {60'000'000, 1}},   {"_mins", Measure::time, {60'000'000, 1}},      {"_minutes", Measure::time, {60'000'000, 1}},
    {"_h", Measure::time, {3'600'000'000, 1}},  {"_hours", Measure::time, {3'600'000'000, 1}},  {"_kib", Measure::memory, {1, 1024}},
    {"_mib", Measure::memory, {1, 1}},          {"_gib", Measure::memory, {1024, 1}},           {"_tib", Measure::memory, {1024 * 1024, 1}},
    {"_mb", Measure::memory, {1'000'000, 1'048'576}}, {"_gb", Measure::memory, {1'000'000'000, 1'048'576}},
    {"_bytes", Measure::memory, {1, 1'048'576}}, {"_kb", Measure::memory, {1'000, 1'048'576}},
    {"_milli", Measure::cpu, {1, 1}},           {"_mbit", Measure::rate, {1, 1}},               {"_mbps", Measure::rate, {1, 1}},
    {"_gbit", Measure::rate, {1000, 1}},        {"_gbps", Measure::rate, {1000, 1}},
};

Scale usual_scale(Field f) {
  switch (measure_of(f)) {
    case Measure::time: return {kSecond, 1};
    case Measure::memory: return {1024, 1};
    case Measure::cpu: return {kMilli, 1};
    case Measure::ratio: return {kFullSpeed, 1};
    default: return {1, 1};
  }
}

std::string plain(std::string_view name) {
  std::string s;
  for (const char c : trim(name)) s += c == ' ' || c == '-' || c == '.' ? '_' : c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return s;
}

/// "submitTime" and "RunMinutes" as "submit_time" and "run_minutes".
std::string words_apart(std::string_view name) {
  std::string s;
  char before = ' ';
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z') s += '_';
    s += before = c;
  }
  return plain(s);
}

/// Whether a unit is one of the field: bytes are stated as memory is.
bool suits(Measure unit, Field f) {
  const Measure m = measure_of(f);
  return unit == (m == Measure::bytes ? Measure::memory : m);
}

/// What a unit counts in a field: bytes are kept as they are, memory in MiB.
Scale scale_of(const Ending& e, Field f) {
  constexpr int64_t kMiB = 1'048'576;
  return measure_of(f) == Measure::bytes ? Scale{e.scale.num * (kMiB / e.scale.den), 1} : e.scale;
}

const Ending* ending_of(std::string_view name) {
  for (const auto& e : kEndings)
    if (name.size() > e.text.size() && name.substr(name.size() - e.text.size()) == e.text) return &e;
  return nullptr;
}

const Alias* find_alias(std::string_view name) {
  const auto* it = std::find_if(std::begin(kAliases), std::end(kAliases), [&](const Alias& a) { return a.name == name; });
  return it == std::end(kAliases) ? nullptr : it;
}

/// Meaning of a column's name: alias and unit; alias null when it is not understood.
struct Meaning {
  const Alias* alias = nullptr;
  const Ending* ending = nullptr;
};

Meaning meaning_of_words(std::string_view name) {
  Meaning m{find_alias(name), nullptr};
  if (m.alias) return m;
  if (const Ending* e = ending_of(name)) {
    m.alias = find_alias(name.substr(0, name.size() - e->text.size()));
    if (m.alias && !suits(e->measure, m.alias->field)) m.alias = nullptr;
    m.ending = e;
  }
  return m;
}

Meaning meaning_of(std::string_view name) {
  const Meaning m = meaning_of_words(plain(name));
  return m.alias ? m : meaning_of_words(words_apart(name));
}

/// "resource_licence", "bandwidth", "bandwidth_gbit": an amount of a resource that the topology names.
bool names_resource(std::string_view header, Columns::Amount& out) {
  constexpr std::string_view kPrefix = "resource_", kBandwidth = "bandwidth";
  const std::string name = plain(header);
  if (name.starts_with(kPrefix) && name.size() > kPrefix.size()) {
    out.resource = trim(header).substr(kPrefix.size()), out.scale = {};
    return true;
  }
  const Ending* e = ending_of(name);
  if (name != kBandwidth && !(e && e->measure == Measure::rate && name == std::string(kBandwidth) + std::string(e->text))) return false;
  out.resource = kBandwidth, out.scale = e && name != kBandwidth ? e->scale : Scale{};
  return true;
}

std::string quote(std::string_view s) { return '"' + std::string(s) + '"'; }

}  // namespace

std::string_view native_name(Field f) {
  if (f == Field::queue) return "queue";  // not the first that wins
  for (const auto& a : kAliases)
    if (a.field == f) return a.name;
  return {};
}

Columns find_columns(std::span<const std::string_view> header, std::span<const std::pair<std::string, std::string>> maps,
                     std::string_view where) {
  Columns c;
  c.at.fill(Columns::kAbsent);
  for (size_t f = 0; f < kFields; f++) c.scale[f] = usual_scale(Field(f));
  for (const auto name : header) c.names.emplace_back(trim(name));

  std::vector<bool> taken(header.size());
  std::array<const Alias*, kFields> by{};
  std::array<bool, kFields> mapped{};
  const auto use = [&](Field f, uint32_t column, const Ending* ending) {
    c.at[size_t(f)] = column;
    c.unit_stated[size_t(f)] = ending && suits(ending->measure, f);
    c.scale[size_t(f)] = c.unit_stated[size_t(f)] ? scale_of(*ending, f) : usual_scale(f);
    taken[column] = true;
  };
  for (const auto& [native, column] : maps) {
    const Meaning m = meaning_of(native);
    if (!m.alias || m.alias->field == Field::unsupported) {
      std::vector<std::string_view> known;
      for (size_t f = 0; f < kFields; f++)
        if (Field(f) != Field::unsupported) known.push_back(native_name(Field(f)));
      const std::string near = nearest_name(native, known);
      throw InputError("--map " + native + "=" + column + ": no field of a job is called " + quote(native) +
                       (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    const auto it = std::find(c.names.begin(), c.names.end(), column);
    if (it == c.names.end()) {
      const std::vector<std::string_view> known(c.names.begin(), c.names.end());
      const std::string near = nearest_name(column, known);
      throw InputError(std::string(where) + ": --map " + native + "=" + column + ": there is no column " + quote(column) +
                       (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    const Field f = m.alias->field;
    if (mapped[size_t(f)]) throw InputError("--map " + native + "=" + column + ": " + std::string(native_name(f)) + " is mapped twice");
    mapped[size_t(f)] = true;
    use(f, uint32_t(it - c.names.begin()), m.ending ? m.ending : ending_of(words_apart(column)));
  }
  for (uint32_t i = 0; i < header.size(); i++) {
    if (taken[i]) continue;
    if (Columns::Amount a; names_resource(header[i], a)) {
      const bool again = std::any_of(c.amounts.begin(), c.amounts.end(), [&](const auto& other) { return other.resource == a.resource; });
      if (again || c.amounts.size() == kMaxKinds - 3) continue;
      a.column = i, taken[i] = true;
      c.amounts.push_back(std::move(a));
      continue;
    }
    const Meaning m = meaning_of(header[i]);
    if (!m.alias) continue;
    const Field f = m.alias->field;
    if (f == Field::unsupported) {
      c.unsupported.push_back(i), taken[i] = true;
      continue;
    }
    if (mapped[size_t(f)]) continue;
    const bool first = !c.has(f);
    if (!first) {
      const uint32_t other = c.at[size_t(f)];
      const bool better = m.alias < by[size_t(f)];
      c.notes.push_back(std::string(where) + ": columns " + quote(c.names[other]) + " and " + quote(c.names[i]) + " both say " +
                        std::string(native_name(f)) + "; " + quote(c.names[better ? i : other]) + " is used (--map " +
                        std::string(native_name(f)) + "=COLUMN chooses)");
      if (!better) continue;
      taken[other] = false;
    }
    by[size_t(f)] = m.alias;
    use(f, i, m.ending);
  }
  // A virtual cluster is whose the job is, when nothing says it better.
  if (const Alias* q = by[size_t(Field::queue)]; q && !c.has(Field::tenant) && q->name != "queue" && q->name != "queue_name")
    c.at[size_t(Field::tenant)] = c.at[size_t(Field::queue)];
  for (uint32_t i = 0; i < header.size(); i++)
    if (!taken[i]) c.unused.push_back(i);
  return c;
}

}  // namespace muster
