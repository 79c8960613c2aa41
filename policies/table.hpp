// Every policy of the tree: one function each, in the file of its name.
#pragma once
#include <memory>

#include "muster/policy.hpp"

namespace muster {

std::unique_ptr<Policy> make_hived(const PolicyInput& in);
std::unique_ptr<Policy> make_list(const PolicyInput& in);
std::unique_ptr<Policy> make_drf(const PolicyInput& in);
std::vector<Parameter> drf_parameters();
std::unique_ptr<Policy> make_muri(const PolicyInput& in);
std::unique_ptr<Policy> make_rounds(const PolicyInput& in);
std::unique_ptr<Policy> make_taskwise(const PolicyInput& in);
std::unique_ptr<Policy> make_split(const PolicyInput& in);
std::vector<Parameter> hived_parameters();
std::vector<Parameter> muri_parameters();
/// The policy called `name`, its preset below the given parameters. Throws InputError, with `where` and the nearest name.
std::unique_ptr<Policy> make_policy(std::string_view name, PolicyInput in, std::string_view where);
/// The parameters of `list` called `names`, in that order, and those of their parts; all when there are none. Then those of the parts
/// that `preset` fixes.
std::vector<Parameter> list_parameters(std::initializer_list<std::string_view> names = {}, const Config& preset = {});

}  // namespace muster
