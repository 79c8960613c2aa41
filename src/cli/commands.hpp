// The table of subcommands, and what happens around each of them.
#pragma once
#include <span>

#include "cli/arguments.hpp"
#include "cli/console.hpp"

namespace muster::cli {

/// Exit statuses.
enum Exit : int {
  kDone = 0,
  kFailed = 1,    ///< a gate or verify failed, or jobs were left unfinished
  kUsage = 2,     ///< usage or input
  kContract = 3,  ///< a policy broke its contract
  kInternal = 70,
  kOutput = 74,  ///< output could not be written
  kInterrupted = 130,
};

// One file each.
Command run_command();
Command report_command();
Command verify_command();
Command topo_command();
Command policies_command();
Command models_command();
Command trace_command();
Command validate_command();
Command generate_command();
Command compare_command();
Command diff_command();
Command rerun_command();
Command reproduce_command();
Command explain_command();
Command quiz_command();
Command completion_command();
Command man_command();

std::span<const Command> commands();

/// The help text of one subcommand.
std::string help_of(const Command& c);

/// Runs the subcommand that argv names and maps what it throws. Returns the exit status; nothing is left to flush.
int program(int argc, char* const* argv);

/// A signal asked the run to stop.
struct Interrupted {};
/// Whether SIGINT or SIGTERM came.
bool interrupted();
/// While one lives, a signal ends the process at once: it waits for input and has nothing to clean up.
struct Reading {
  Reading();
  ~Reading();
};

}  // namespace muster::cli
