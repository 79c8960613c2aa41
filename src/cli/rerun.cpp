// muster rerun: a report is repeated from its own provenance.
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/model.hpp"
#include "files/digest.hpp"
#include "files/read.hpp"
#include "files/write.hpp"
#include "report/gate.hpp"
#include "report/report_json.hpp"
#include "text/json_config.hpp"

namespace muster::cli {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) { throw InputError(where + ": " + what); }

const Config& want(const Config& c, std::string_view name) {
  const Config* f = c.find(name);
  if (!f) fail(c.where, "is no provenance to repeat a run from: \"" + std::string(name) + "\" is missing");
  return *f;
}

/// A file for the length of one run, for parameters that are lists or objects and so cannot stand behind --set.
class Preset {
 public:
  explicit Preset(const std::string& text) {
    const char* folder = std::getenv("TMPDIR");
    name_ = std::string(folder && *folder ? folder : "/tmp") + "/muster-XXXXXX.json";
    const int fd = mkstemps(name_.data(), 5);
    if (fd < 0) throw OutputError(name_ + ": cannot be made");
    try {
      write_all(fd, text, name_);
    } catch (...) {
      close(fd), unlink(name_.c_str());
      throw;
    }
    close(fd);
  }
  ~Preset() { unlink(name_.c_str()); }
  Preset(const Preset&) = delete;
  Preset& operator=(const Preset&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// The words of a call of `muster run` that the provenance describes.
struct Call {
  std::vector<std::string> words{"--json", "--quiet"};
  std::optional<Preset> preset;
};

/// The report keeps the options of the trace as they stood on the command line: "--map gpus=num gpu --strict".
void add_options(Call& call, std::string_view text) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(" --"));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t space = one.find(' ');
    call.words.emplace_back(one.substr(0, space));
    if (space != std::string_view::npos) call.words.emplace_back(one.substr(space + 1));
  }
}

/// Tells, before any time is spent, when an input is no longer what it was.
void check_digest(const std::string& role, const std::string& name, const std::string& digest, const std::string& bytes,
                  std::string& changed) {
  const std::string now = sha256(bytes);
  if (now != digest) changed += "the " + role + " " + name + " has other contents now: sha256 " + now + ", in the report " + digest + "\n";
}

void add_inputs(Call& call, const Config& inputs, std::string& changed) {
  for (const Config::Field& f : inputs.fields) {
    const std::string role(want(f.second, "role").as_text()), name(want(f.second, "name").as_text());
    const Config* digest = f.second.find("sha256");
    if (role == "options") {
      add_options(call, name);
      continue;
    }
    if (role != "trace" && role != "topology" && role != "events" && role != "model")
      fail(f.second.where, "an input of role " + role + " is none of muster run");
    if (name == "-" || name == "stdin") fail(f.second.where, "the " + role + " came from standard input, so the run cannot be repeated");
    call.words.insert(call.words.end(), {"--" + role, name});
    if (!digest) continue;
    Input input;
    if (role == "topology") {
      load_topology(name, input);
      check_digest(role, name, std::string(digest->as_text()), input.text, changed);
    } else if (role == "model") {
      check_digest(role, name, std::string(digest->as_text()), choose_model(name).input.text, changed);
    } else {
      check_digest(role, name, std::string(digest->as_text()), role == "trace" ? load_trace_text(name).text : read_file(name), changed);
    }
  }
}

void add_policy(Call& call, const Config& policy, std::string_view instead) {
  const std::string name(instead.empty() ? want(policy, "name").as_text() : instead);
  Config preset;
  preset.set("policy", Config::text(name));
  for (const Config::Field& f : want(policy, "parameters").fields) {
    const std::string value(f.second.as_text());
    if (value.starts_with('{') || value.starts_with('[')) preset.set(f.first, parse_json_config(value, f.second.where));
    else if (!value.empty()) call.words.insert(call.words.end(), {"--set", f.first + "=" + value});
  }
  call.words.emplace_back("--policy");
  if (preset.fields.size() == 1) {
    call.words.push_back(name);
  } else {
    call.preset.emplace(to_json(preset));
    call.words.push_back(call.preset->name());
  }
}

int run(const Arguments& arguments, Console& console) {
  const std::string& file = arguments.words()[0];
  const std::string report = read_file(file);
  read_run_report(report, input_name(file));  // refuses what is no whole report
  const Config root = parse_json_config(report, input_name(file));
  const Config& provenance = want(root, "provenance");

  Call call;
  std::string changed;
  const std::string version(want(provenance, "version").as_text());
  if (version != program_version()) changed += "the report is of muster " + version + ", this is " + program_version() + "\n";
  add_inputs(call, want(provenance, "inputs"), changed);
  add_policy(call, want(provenance, "policy"), arguments.get("--policy"));
  call.words.insert(call.words.end(), {"--seed", want(provenance, "seed").value});
  if (const Config& until = want(provenance, "until_s"); until.given()) call.words.insert(call.words.end(), {"--until", until.value});

  std::vector<char*> words;
  for (std::string& w : call.words) words.push_back(w.data());
  const Command command = run_command();
  std::string again;
  Console quiet;
  quiet.quiet = true, quiet.capture = &again;
  command.run(parse_arguments(command, words), quiet);
  quiet.flush();

  const std::optional<Parting> parting = first_difference(report, again);
  if (!parting) {
    console.out(file + ": repeated, equal to the byte\n");
    return kDone;
  }
  const auto line = [](const std::optional<std::string>& s) { return s ? s->substr(0, s->find('\n')) : std::string("(ends here)"); };
  console.out(changed + file + ": repeated, not equal: line " + std::to_string(parting->line) + "\n  report  " + line(parting->a) +
              "\n  again   " + line(parting->b) + "\n");
  return kFailed;
}

}  // namespace

Command rerun_command() {
  return {.name = "rerun",
          .summary = "repeat a run from its report; are the bytes equal?",
          .usage = "REPORT.json",
          .examples = "  muster rerun out/report.json\n",
          .options = {{"--policy", "FILE", "the shared library of a policy that is none of muster's own"}},
          .least = 1,
          .most = 1,
          .run = run};
}

}  // namespace muster::cli
