// Events files.
#include "workload/events.hpp"

#include <gtest/gtest.h>

#include "workload/trace.hpp"

namespace muster {
namespace {

using Kind = ScriptedEvent::Kind;

class Events : public testing::Test {
 protected:
  std::vector<ScriptedEvent> read(std::string_view text) const { return read_events(text, "e.csv", topology, trace.workload); }
  std::string error_of(const std::string& row) const {
    try {
      read("time,kind,target,value\n" + row + "\n");
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  }
  Topology topology = Topology::parse_line("rack:2 node:4 socket:2 gpu:4");
  TraceResult trace = read_trace("job_id,queue,submit_s,gpus,run_s\na,prod,100,1,5\nb,dev,110,1,5\n", "j.csv");
};

TEST_F(Events, TargetsAndTimes) {
  const auto e = read(
      "kind,time,target,value\n"
      "# the clock is the trace's, whose first submit is 100\n"
      "cancel,160,b,\n"
      "down,110.5,n1,\n"
      "up,2m,n1/gpu3,\n"
      "down,130,n2/socket1,\n"
      "drain,140,rack1,1h\n"
      "drain,141,n0,\n"
      "quota,150,prod,12\n"
      "priority,155,a,-5\n"
      "remove,7,n3,\n");
  ASSERT_EQ(e.size(), 9U);
  EXPECT_EQ(e[0].at, 0);  // before the first submit: with it
  EXPECT_EQ(e[0].kind, Kind::remove);
  EXPECT_EQ(e[1].at, 10'500'000);
  EXPECT_EQ(e[1].node_begin, 1U);
  EXPECT_EQ(e[1].node_end, 2U);
  EXPECT_EQ(e[2].at, 20 * kSecond);
  EXPECT_EQ(e[2].node_begin, e[2].node_end);
  EXPECT_EQ(e[2].gpu_begin, 11U);  // n1 holds GPUs 8 to 15
  EXPECT_EQ(e[2].gpu_end, 12U);
  EXPECT_EQ(e[3].gpu_begin, 20U);  // the second half of n2's 16 to 23
  EXPECT_EQ(e[3].gpu_end, 24U);
  EXPECT_EQ(e[4].node_begin, 4U);
  EXPECT_EQ(e[4].node_end, 8U);
  EXPECT_EQ(e[4].value, 3600 * kSecond);
  EXPECT_EQ(e[5].value, kNever);
  EXPECT_EQ(e[6].queue, trace.workload.jobs[0].queue);
  EXPECT_EQ(e[6].value, 12);
  EXPECT_EQ(e[7].job, 0U);
  EXPECT_EQ(e[7].value, -5);
  EXPECT_EQ(e[8].job, 1U);
}

TEST_F(Events, DatesFollowTheTrace) {
  trace = read_trace("job_id,submit_time,gpus,run_s\na,2020-06-01 00:00:00,1,5\n", "j.csv");
  const auto e = read("time,kind,target\n2020-06-01 01:00:00,down,n0\n90,up,n0\n");
  EXPECT_EQ(e[0].at, 90 * kSecond);
  EXPECT_EQ(e[1].at, 3600 * kSecond);
}

TEST_F(Events, WhatIsWrongIsOneLine) {
  const std::pair<const char*, const char*> rows[] = {
      {"1,dwon,n0,", "e.csv:2: column kind: want one of down, up, drain, undrain, add, remove, quota, priority, cancel, found \"dwon\"; did you mean down?"},
      {"-1,down,n0,", "e.csv:2: column time: \"-1\" is negative"},
      {"1e30,down,n0,", "e.csv:2: column time: \"1e30\" is too large"},
      {"2020-06-01,down,n0,", "e.csv:2: column time: \"2020-06-01\" is a date, while the trace counts from zero"},
      {"1,down,n9,", "e.csv:2: column target: no node or domain is called \"n9\""},
      {"1,down,rakc0,", "e.csv:2: column target: no node or domain is called \"rakc0\"; did you mean rack0?"},
      {"1,down,n0/gpu8,", "e.csv:2: column target: \"n0/gpu8\": the node has 8 GPUs"},
      {"1,drain,n0/gpu1,", "e.csv:2: column target: \"n0/gpu1\" is a GPU: want a node or a domain of nodes"},
      {"1,add,n0/socket1,", "e.csv:2: column target: \"n0/socket1\" is part of a node: want a node or a domain of nodes"},
      {"1,down,,", "e.csv:2: column target: is empty"},
      {"1,down,n0,5", "e.csv:2: column value: down takes no value, found \"5\""},
      {"1,cancel,c,", "e.csv:2: column target: no job has the id \"c\""},
      {"1,quota,porod,4", "e.csv:2: column target: no job's queue is called \"porod\"; did you mean prod?"},
      {"1,quota,prod,-1", "e.csv:2: column value: want a whole number from 0 to 2147483648, found \"-1\""},
      {"1,quota,prod,", "e.csv:2: column value: want a whole number from 0 to 2147483648, found \"\""},
      {"1,priority,a,1.5", "e.csv:2: column value: want a whole number from -2147483648 to 2147483647, found \"1.5\""},
      {"1,down", "e.csv:2: the row has fewer fields than the header"},
      {"1,down,n0,,7", "e.csv:2: the row has more fields than the header"},
      {"1,\"down,n0,", "e.csv:2: the row opens a quote that is not closed"},
  };
  for (const auto& [row, message] : rows) {
    const std::string found = error_of(row);
    EXPECT_EQ(found.substr(0, std::string(message).size()), message) << found;
  }
  EXPECT_THROW(read(""), InputError);
  EXPECT_THROW(read("time,kind\n"), InputError);
  EXPECT_THROW(read("time,time,kind,target\n"), InputError);
  EXPECT_THROW(read("time,kind,target,valeu\n"), InputError);
}

}  // namespace
}  // namespace muster
