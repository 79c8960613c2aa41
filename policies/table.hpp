// Every policy of the tree: one function each, in the file of its name.
#pragma once
#include <memory>

#include "muster/policy.hpp"

namespace muster {

std::unique_ptr<Policy> make_list(const PolicyInput& in);
/// The parameters of `list` called `names`, in that order; all six of them when there are none.
std::vector<Parameter> list_parameters(std::initializer_list<std::string_view> names = {});

}  // namespace muster
