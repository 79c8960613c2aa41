// What happens to a cluster and its jobs by script.
#pragma once
#include <string_view>
#include <vector>

#include "muster/simulator.hpp"

namespace muster {

/// Reads an events file: CSV with the columns time, kind, target, value, in any order. Throws InputError for the first row that is wrong.
///
///   time    a number of seconds in the trace's own clock, a duration ("1h30m") or a date; with a trace of dates, a number or a duration
///           counts from its first submit. What lies before the first submit happens with it.
///   kind    down, up             a domain, a node or a GPU breaks, is repaired
///           drain, undrain       a domain or a node takes no new jobs; value: notice after which jobs are evicted, empty: they may end
///           add, remove          a domain or a node is installed, taken out
///           quota                of a queue; value: whole GPUs
///           priority             of a job; value: a whole number
///           cancel               of a job
///   target  a node ("n3"), a domain of any level ("rack0", "n3/socket1" for down and up), a GPU ("n3/gpu0", down and up only), a job's id
///           or a queue's name
std::vector<ScriptedEvent> read_events(std::string_view text, std::string_view file, const Topology& t, const Workload& w);

}  // namespace muster
