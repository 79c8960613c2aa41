// What becomes of the queue when a job does not fit: each choice is a form of the policy `list`.
#pragma once
#include "parts/order.hpp"
#include "parts/placer.hpp"

namespace muster {

/// What `list` is composed of, as its forms get it.
struct ListParts {
  size_t jobs = 0;                     ///< of the run
  const PolicyInput* input = nullptr;  ///< good while the form is made
  std::unique_ptr<Order> order;
  std::unique_ptr<Estimate> estimate;
  std::unique_ptr<Placer> placer;
};

std::span<const PartInfo> blocked_choices();
std::unique_ptr<Policy> make_blocked(std::string_view name, ListParts parts);

// ---- the forms, one function each
std::unique_ptr<Policy> make_stop(ListParts p);
std::unique_ptr<Policy> make_skip(ListParts p);
std::unique_ptr<Policy> make_drop(ListParts p);
std::unique_ptr<Policy> make_easy(ListParts p);
std::unique_ptr<Policy> make_conservative(ListParts p);
std::unique_ptr<Policy> make_hybrid(ListParts p);

/// The form of easy, conservative and hybrid: at most `depth` reservations at a time.
std::unique_ptr<Policy> make_reserve(ListParts p, size_t depth);
/// Whether reservations hold counts of GPUs alone: parameter `reserve`.
bool reserves_counts(const ListParts& p);

}  // namespace muster
