// Every policy of the tree: one function each, in the file of its name.
#pragma once
#include <memory>

#include "muster/policy.hpp"

namespace muster {

std::unique_ptr<Policy> make_kai(const PolicyInput& in);
std::vector<Parameter> kai_parameters();
std::unique_ptr<Policy> make_kueue(const PolicyInput& in);
std::vector<Parameter> kueue_parameters();
std::unique_ptr<Policy> make_hived(const PolicyInput& in);
std::unique_ptr<Policy> make_list(const PolicyInput& in);
std::unique_ptr<Policy> make_drf(const PolicyInput& in);
std::vector<Parameter> drf_parameters();
std::unique_ptr<Policy> make_fair_share(const PolicyInput& in);
std::vector<Parameter> fair_share_parameters();
std::unique_ptr<Policy> make_hdrf(const PolicyInput& in);
std::vector<Parameter> hdrf_parameters();
std::unique_ptr<Policy> make_muri(const PolicyInput& in);
std::unique_ptr<Policy> make_rounds(const PolicyInput& in);
std::unique_ptr<Policy> make_taskwise(const PolicyInput& in);
std::unique_ptr<Policy> make_split(const PolicyInput& in);
std::vector<Parameter> hived_parameters();
std::vector<Parameter> muri_parameters();
std::unique_ptr<Policy> make_yarn_capacity(const PolicyInput& in);
std::vector<Parameter> yarn_capacity_parameters();
/// The policy called `name`, its preset below the given parameters. Throws InputError, with `where` and the nearest name.
std::unique_ptr<Policy> make_policy(std::string_view name, PolicyInput in, std::string_view where);
/// The parameters of `list` called `names`, in that order, and those of their parts; all when there are none. Then those of the parts
/// that `preset` fixes.
std::vector<Parameter> list_parameters(std::initializer_list<std::string_view> names = {}, const Config& preset = {});

}  // namespace muster
