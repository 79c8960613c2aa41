#include "parts/user_queues.hpp"

namespace muster {

NoFit no_fit_from(const Config& parameters) {
  const Config* c = parameters.find("blocked");
  if (!c || c->as_text() == "skip") return NoFit::skip;
  if (c->as_text() != "stop") throw InputError((c->where.empty() ? "" : c->where + ": ") + "want stop or skip, found \"" + c->value + "\"");
  return NoFit::stop;
}

Parameter no_fit_parameter(std::string_view fallback) {
  return {"blocked",
          std::string(fallback),
          "when the job of the user chosen does not fit: the pass ends, or that user is left out",
          {"stop", "skip"}};
}

}  // namespace muster
