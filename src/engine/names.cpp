// What states, reasons and records are called, in text and in files.
#include "muster/record.hpp"

namespace muster {

std::string_view to_text(State s) {
  switch (s) {
    case State::future: return "future";
    case State::queued: return "queued";
    case State::claimed: return "claimed";
    case State::starting: return "starting";
    case State::running: return "running";
    case State::draining: return "draining";
    case State::done: return "done";
    case State::failed: return "failed";
    case State::timed_out: return "timed_out";
    case State::cancelled: return "cancelled";
    case State::rejected: return "rejected";
    case State::dropped: return "dropped";
    case State::unfinished: return "unfinished";
  }
  return "?";
}

std::string_view to_text(Reason r) {
  switch (r) {
    case Reason::none: return "";
    case Reason::no_gpus: return "no free GPUs";
    case Reason::fragmented: return "fragmented";
    case Reason::cpu: return "cpu";
    case Reason::memory: return "memory";
    case Reason::resource: return "resource";
    case Reason::type: return "type";
    case Reason::level: return "level";
    case Reason::driver: return "driver";
    case Reason::label: return "label";
    case Reason::apart: return "anti-affinity";
    case Reason::numa: return "numa";
    case Reason::behind_head: return "behind the head";
    case Reason::reservation: return "reservation";
    case Reason::quota: return "quota";
    case Reason::search_limit: return "search limit";
    case Reason::not_yet: return "not yet";
    case Reason::cluster_size: return "cluster size";
    case Reason::node_size: return "node size";
    case Reason::quota_size: return "quota size";
    case Reason::policy: return "policy";
  }
  return "?";
}

std::string_view to_text(What w) {
  switch (w) {
    case What::submit: return "submit";
    case What::start: return "start";
    case What::claim: return "claim";
    case What::run: return "run";
    case What::resize: return "resize";
    case What::preempt: return "preempt";
    case What::drained: return "drained";
    case What::gave_back: return "gave_back";
    case What::lost: return "lost";
    case What::end: return "end";
    case What::waits: return "waits";
    case What::fault: return "fault";
    case What::repair: return "repair";
    case What::cordon: return "cordon";
    case What::uncordon: return "uncordon";
    case What::capacity: return "capacity";
    case What::quota: return "quota";
    case What::priority: return "priority";
    case What::reshape: return "reshape";
    case What::reshaped: return "reshaped";
    case What::speed: return "speed";
    case What::note: return "note";
    case What::wake: return "wake";
  }
  return "?";
}

}  // namespace muster
