#include "cli/commands.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "files/write.hpp"
#include "muster/config.hpp"
#include "muster/types.hpp"
#include "text/numbers.hpp"

namespace muster::cli {
namespace {

volatile sig_atomic_t stop = 0, reading = 0;

void on_signal(int) {
  stop = 1;
  if (!reading) return;
  constexpr std::string_view text = "error: interrupted; no file was written\n";
  // Nothing is open but an input that may never come.
  (void)!write(2, text.data(), text.size());
  _exit(kInterrupted);
}

void handle_signals() {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  // The second one ends the process the hard way: a policy may never come back.
  action.sa_flags = int(SA_RESETHAND);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that went away is an error of the write, with its own exit status, not a silent end.
  action.sa_flags = 0;
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

std::string padded(std::string_view s, size_t width) {
  std::string r(s);
  if (r.size() < width) r.append(width - r.size(), ' ');
  return r;
}

std::string overview() {
  std::string s =
      "muster replays job traces on modelled GPU clusters under scheduling policies.\n"
      "`muster COMMAND --help` shows its options; `muster --version` the version.\n\n"
      "  muster run --topology dgx-a100-16 --trace campus --policy fifo\n"
      "  muster run --topology \"node:32 gpu:8\" --trace jobs.csv --policy sjf --out out\n"
      "  muster explain drf\n\n";
  size_t width = 0;
  for (const Command& c : commands()) width = std::max(width, c.name.size());
  for (const Command& c : commands()) s += "  " + padded(c.name, width + 2) + std::string(c.summary) + "\n";
  return s;
}

int dispatch(int argc, char* const* argv, Console& console) {
  const std::span<char* const> words(argv + 1, argc > 1 ? size_t(argc - 1) : 0);
  if (words.empty()) {
    console.note(overview());
    return kUsage;
  }
  const std::string_view first = words.front();
  if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) {
    console.out(overview());
    return kDone;
  }
  if (first == "--version") {
    console.out("muster " MUSTER_VERSION "\n");
    return kDone;
  }
  const bool help = first == "help";
  const std::string_view name = help ? std::string_view(words[1]) : first;
  const auto all = commands();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Command& c) { return c.name == name; });
  if (it == all.end()) {
    std::vector<std::string_view> known{"help", "--help", "--version"};
    for (const Command& c : all) known.push_back(c.name);
    const std::string near = nearest_name(name, known);
    throw InputError("muster has no " + std::string(name.substr(0, 1) == "-" ? "option " : "command ") + std::string(name) +
                     (near.empty() ? "" : "; did you mean " + near + "?") + " (`muster --help` lists them)");
  }
  if (help) {
    console.out(help_of(*it));
    return kDone;
  }
  const Arguments arguments = parse_arguments(*it, words.subspan(1));
  if (arguments.has("--help")) {
    console.out(help_of(*it));
    return kDone;
  }
  console.quiet = arguments.has("--quiet");
  console.verbose = arguments.has("--verbose");
  return it->run(arguments, console);
}

}  // namespace

std::span<const Command> commands() {
  static const Command table[] = {
      run_command(),      report_command(), verify_command(),   compare_command(),  diff_command(),       rerun_command(), topo_command(),
      policies_command(), models_command(), trace_command(),    validate_command(), generate_command(), explain_command(), quiz_command(), reproduce_command(),
      completion_command(), man_command(),
  };
  return table;
}

std::string help_of(const Command& c) {
  std::string s(c.examples);
  if (!s.empty()) s += "\n";
  s += "usage: muster " + std::string(c.name) + " " + std::string(c.usage) + "\n";
  s += std::string(c.summary) + "\n\n";
  size_t width = 0;
  const auto left = [](const Option& o) {
    std::string l(o.name);
    if (const size_t comma = l.find(','); comma != std::string::npos) l.insert(comma + 1, " ");
    if (!o.value.empty()) l += " " + std::string(o.value);
    return l;
  };
  const auto each = [&](auto f) {
    for (const Option& o : c.options) f(o);
    for (const Option& o : common_options()) f(o);
  };
  each([&](const Option& o) { width = std::max(width, left(o).size()); });
  each([&](const Option& o) { s += "  " + padded(left(o), width + 2) + std::string(o.help) + "\n"; });
  return s;
}

bool interrupted() { return stop != 0; }
Reading::Reading() { reading = 1; }
Reading::~Reading() { reading = 0; }

int program(int argc, char* const* argv) {
  handle_signals();
  Console console;
  int status = kDone;
  try {
    status = dispatch(argc, argv, console);
    console.flush();
    return status;
  } catch (const Interrupted&) { status = kInterrupted; } catch (const InputError& e) {
    console.error(one_line(e.what()));
    status = kUsage;
  } catch (const ContractError& e) {
    console.error(one_line(e.what()) + " (exit status 3, no report written)");
    status = kContract;
  } catch (const NoProgress& e) {
    const std::string_view text = e.what();  // one line, then one for each waiting job
    const size_t end = std::min(text.find('\n'), text.size());
    console.error(std::string(text.substr(0, end)) + " (exit status 1)" + std::string(text.substr(end)));
    status = kFailed;
  } catch (const OutputError& e) {
    console.error(one_line(e.what()));
    status = kOutput;
  } catch (const std::bad_alloc&) {
    console.error("out of memory");
    status = kInternal;
  } catch (const std::exception& e) {
    console.error(std::string("internal error: ") + e.what());
    status = kInternal;
  }
  if (interrupted()) {  // a read that it cut short shows as another error
    console.error("interrupted; no file was written");
    return kInterrupted;
  }
  // What was said before the error still holds: half of a result never gets here, since results are written last.
  try {
    console.flush();
  } catch (const OutputError&) { return kOutput; }
  return status;
}

}  // namespace muster::cli
