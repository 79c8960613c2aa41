// The six textbook cases of HiveD, step by step: free lists and quotas as they were derived by hand.
#include <gtest/gtest.h>

#include "explain/hived.hpp"

namespace muster { namespace {

const char* kRack = R"("cluster": {"cell_types": {"SWITCH": {"child": "GPU", "count": 4}, "NODE": {"child": "SWITCH", "count": 2, "is_node": true},
 "RACK": {"child": "NODE", "count": 2}}, "physical_cells": [{"type": "RACK", "children": [{"address": "n0"}, {"address": "n1"}]}]})";
const char* kNode = R"("cluster": {"cell_types": {"SWITCH": {"child": "GPU", "count": 4}, "NODE": {"child": "SWITCH", "count": 2, "is_node": true}},
 "physical_cells": [{"type": "NODE", "address": "n0"}]})";

std::string group(const char* name, const char* vc, int pods, int leaves, int priority = 0) {
  return std::string("\"") + name + "\": {\"vc\": \"" + vc + "\", \"priority\": " + std::to_string(priority) + ", \"members\": [{\"pods\": " +
         std::to_string(pods) + ", \"leaf_cells\": " + std::to_string(leaves) + "}]}";
}

std::string vcs(const char* a, int n, const char* b = nullptr, int m = 0) {
  std::string s = std::string("\"vcs\": {\"A\": {\"cells\": [{\"path\": \"") + a + "\", \"count\": " + std::to_string(n) + "}]}";
  if (b) s += std::string(", \"B\": {\"cells\": [{\"path\": \"") + b + "\", \"count\": " + std::to_string(m) + "}]}";
  return s + "}";
}

/// One line a step: "outcome | free list of each level from the top | what each VC has left".
std::vector<std::string> lines(const std::string& cluster, const std::string& vcs, const std::string& groups, const std::vector<std::string>& steps) {
  std::string events;
  for (const std::string& s : steps) {
    const std::string op = s.substr(0, s.find(' ')), who = s.substr(s.find(' ') + 1);
    events += (events.empty() ? "" : ", ") + std::string("{\"op\": \"") + op + "\", \"" + (op[0] == 'n' ? "node" : "group") + "\": \"" + who + "\"}";
  }
  const Exercise e = read_exercise("{" + cluster + ", " + vcs + ", \"groups\": {" + groups + "}, \"events\": [" + events + "]}", "test");
  const HivedSolution s = solve_hived(e);
  std::vector<std::string> out;
  for (const HivedStep& step : s.steps) {
    std::string line = step.outcome + " |";
    for (const auto& list : step.free) {
      std::string all;
      for (const std::string& c : list) all += (all.empty() ? "" : ",") + c;
      line += " " + (all.empty() ? "-" : all);
    }
    line += " |";
    for (const auto& [vc, left] : step.left) line += " " + std::to_string(left);
    if (!step.reserved.empty()) line += " | " + step.reserved;
    out.push_back(line);
  }
  for (const DocumentFormat& f : document_formats()) EXPECT_FALSE(f.write(explain_hived(e)).empty()) << f.name;
  return out;
}

using Lines = std::vector<std::string>;

TEST(ExplainHived, T1SplitAndMerge) {
  std::string groups;
  for (const char* j : {"j1", "j2", "j3", "j4", "j5"}) groups += (groups.empty() ? "" : ", ") + group(j, "A", 1, 1);
  EXPECT_EQ(lines(kNode, vcs("NODE.SWITCH.GPU", 8), groups,
                  {"submit j1", "submit j2", "release j1", "submit j3", "submit j4", "submit j5", "release j2", "release j3", "release j4", "release j5"}),
            (Lines{" | n0 - - | 8", "runs on n0: 0 | - n0/1 n0/0/3,n0/0/1,n0/0/2 | 7", "runs on n0: 3 | - n0/1 n0/0/2,n0/0/1 | 6",
                   "its GPUs come back | - n0/1 n0/0/2,n0/0/1,n0/0/0 | 7", "runs on n0: 2 | - n0/1 n0/0/0,n0/0/1 | 6", "runs on n0: 0 | - n0/1 n0/0/1 | 5",
                   "runs on n0: 1 | - n0/1 - | 4", "its GPUs come back | - n0/1 n0/0/3 | 5", "its GPUs come back | - n0/1 n0/0/3,n0/0/2 | 6",
                   "its GPUs come back | - n0/1 n0/0/3,n0/0/2,n0/0/0 | 7", "its GPUs come back | n0 - - | 8"}));
}

TEST(ExplainHived, T2TwoTenantsNoSharingAnomaly) {
  EXPECT_EQ(lines(kRack, vcs("RACK.NODE", 1, "RACK.NODE.SWITCH", 2), group("a", "A", 1, 8) + ", " + group("b1", "B", 1, 4) + ", " + group("b2", "B", 1, 4),
                  {"submit b1", "submit a", "submit b2", "release b1", "release a", "release b2"}),
            (Lines{" | 0 - - - | 1 2", "runs on n0: 0 1 2 3 | - 0/n1 0/n0/1 - | 1 1", "runs on n1: 0 1 2 3 4 5 6 7 | - - 0/n0/1 - | 0 1",
                   "runs on n0: 4 5 6 7 | - - - - | 0 0", "its GPUs come back | - - 0/n0/0 - | 0 1", "its GPUs come back | - 0/n1 0/n0/0 - | 1 1",
                   "its GPUs come back | 0 - - - | 1 2"}));
}

TEST(ExplainHived, T3Gang) {
  EXPECT_EQ(lines(kRack, vcs("RACK", 1), group("s", "A", 1, 2) + ", " + group("g", "A", 2, 8), {"submit s", "submit g", "release s", "submit g", "release g"}),
            (Lines{" | 0 - - - | 1", "runs on n0: 0 1 | - - - - | 0", "waits | - - - - | 0", "its GPUs come back | 0 - - - | 1",
                   "runs on n0: 0 1 2 3 4 5 6 7; n1: 0 1 2 3 4 5 6 7 | - - - - | 0", "its GPUs come back | 0 - - - | 1"}));
}

TEST(ExplainHived, T4OpportunisticWork) {
  EXPECT_EQ(lines(kRack, vcs("RACK.NODE", 1, "RACK.NODE", 1), group("o", "A", 2, 8, -1) + ", " + group("b", "B", 1, 8),
                  {"submit o", "submit b", "release o", "submit b", "submit o"}),
            (Lines{" | 0 - - - | 1 1", "runs on n0: 0 1 2 3 4 5 6 7; n1: 0 1 2 3 4 5 6 7 | 0 - - - | 1 1",
                   "preempts o | - 0/n1 - - | 1 0 | reserving n0: 0 1 2 3 4 5 6 7", "its GPUs come back | - 0/n1 - - | 1 0 | reserved n0: 0 1 2 3 4 5 6 7",
                   "runs on n0: 0 1 2 3 4 5 6 7 | - 0/n1 - - | 1 0", "waits | - 0/n1 - - | 1 0"}));
}

TEST(ExplainHived, T5PrioritiesInOneVirtualCluster) {
  EXPECT_EQ(lines(kNode, vcs("NODE", 1), group("lo", "A", 1, 4) + ", " + group("lo2", "A", 1, 4) + ", " + group("hi", "A", 1, 4, 1),
                  {"submit lo", "submit lo2", "submit hi", "release lo", "submit hi", "submit lo", "release lo2", "submit lo"}),
            (Lines{" | n0 - - | 1", "runs on n0: 0 1 2 3 | - - - | 0", "runs on n0: 4 5 6 7 | - - - | 0", "preempts lo | - - - | 0 | reserving n0: 0 1 2 3",
                   "its GPUs come back | - - - | 0 | reserved n0: 0 1 2 3", "runs on n0: 0 1 2 3 | - - - | 0", "waits | - - - | 0",
                   "its GPUs come back | - - - | 0", "runs on n0: 4 5 6 7 | - - - | 0"}));
}

TEST(ExplainHived, T6ABadNode) {
  EXPECT_EQ(lines(kRack, vcs("RACK.NODE", 1, "RACK.NODE", 1), group("a", "A", 1, 8) + ", " + group("b", "B", 1, 8),
                  {"node_bad n0", "submit a", "submit b", "node_healthy n0", "submit b"}),
            (Lines{" | 0 - - - | 1 1", " | 0 - - - | 1 1", "runs on n1: 0 1 2 3 4 5 6 7 | - - - - | 0 0", "waits | - - - - | 0 0", " | - 0/n0 - - | 0 1",
                   "runs on n0: 0 1 2 3 4 5 6 7 | - - - - | 0 0"}));
}

}}  // namespace muster
