// What a part of a policy says about itself, and how one is chosen by name.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/policy.hpp"

namespace muster {

/// A parameter that only some parts take. Parts of one slot that take the same one name it alike.
struct PartParameter {
  std::string_view name, fallback, help;
};

/// A choice for one slot of a composed policy.
struct PartInfo {
  std::string_view name, help;
  bool needs_estimate = false;                     ///< reads how long jobs run
  bool needs_oracle = false;                       ///< reads how long jobs truly run
  std::span<const PartParameter> parameters = {};  ///< beside the slots of the policy
};

/// The row of `parts` called `name`. Throws InputError with the nearest name when there is none; `slot` and `where` are for the message.
const PartInfo& choose(std::span<const PartInfo> parts, std::string_view name, std::string_view slot, std::string_view where);

/// Throws InputError when `given` names a parameter that is not in `known`, or gives one a value that it does not allow.
void check_parameters(const Config& given, std::span<const Parameter> known);

/// A policy's parameter whose values are the names of `parts`.
Parameter slot_parameter(std::string_view slot, std::string_view fallback, std::string_view help, std::span<const PartInfo> parts);

/// Adds the parameters of `parts` to `all`, each once, with the parts that take it unless all of them do.
void add_part_parameters(std::vector<Parameter>& all, std::string_view slot, std::span<const PartInfo> parts);

}  // namespace muster
