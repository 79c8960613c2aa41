// Rows of a trace and what becomes of them.
#include "workload/trace.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "muster/topology.hpp"
#include "workload/info.hpp"

namespace muster {
namespace {

constexpr std::string_view kHeader = "job_id,user,queue,submit_s,gpus,run_s\n";

TraceResult read(std::string_view text, const TraceOptions& options = {}) { return read_trace(text, "j.csv", options); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

/// Everything that a run depends on, as text.
std::string dump(const Workload& w) {
  std::ostringstream s;
  for (JobId j = 0; j < w.jobs.size(); j++) {
    const Job& job = w.jobs[j];
    s << w.names[j] << " " << w.tenants[job.tenant] << " " << w.queues[job.queue] << " " << job.submit << " " << w.truths[j].work;
    for (const auto& g : w.shapes[job.shape].groups) s << " " << g.min_tasks << ".." << g.max_tasks << "x" << g.gpus;
    s << " nodes " << int(w.shapes[job.shape].nodes) << " priority " << job.priority << "\n";
  }
  s << "origin " << w.origin;
  return s.str();
}

/// reason=count of all reasons.
std::string reasons(const TraceResult& t) {
  std::string s;
  for (const auto& l : t.left_out) s += (s.empty() ? "" : " ") + std::string(l.reason) + "=" + std::to_string(l.count);
  return s;
}

TEST(Trace, JobsAreSortedStablyAndRebased) {
  const auto t = read("job_id,user,submit_s,gpus,run_s\nc,ann,130,2,5\na,bob,100,1,10.5\nb,ann,100,8,0.25\n");
  EXPECT_EQ(dump(t.workload),
            "a bob  0 10500000 1..1x1 nodes 1 priority 0\n"
            "b ann  0 250000 1..1x8 nodes 1 priority 0\n"
            "c ann  30000000 5000000 1..1x2 nodes 1 priority 0\n"
            "origin 100000000");
  EXPECT_EQ(t.facts.unsorted, 1U);
  EXPECT_EQ(t.rows, 3U);
}

TEST(Trace, TheSameInEveryEncoding) {
  const std::string plain = "job_id,user,queue,submit_s,gpus,run_s\n1,ann,a,0,1,5400\n2,bob,b,60,8,90\n3,ann,a,120,0,0\n";
  const std::string want = dump(read(plain).workload);
  std::string crlf, tabs, bars, semicolons;
  for (const char c : plain) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
    tabs += c == ',' ? '\t' : c;
    bars += c == ',' ? '|' : c;
    semicolons += c == ',' ? ';' : c;
  }
  const std::pair<const char*, std::string> encodings[] = {
      {"CRLF", crlf},
      {"tabs", tabs},
      {"bars", bars},
      {"semicolons", semicolons},
      {"byte order mark", "\xef\xbb\xbf" + plain},
      {"no last newline", plain.substr(0, plain.size() - 1)},
      {"CRLF without the last", crlf.substr(0, crlf.size() - 2)},
      {"quoted", "\"job_id\",\"user\",\"queue\",\"submit_s\",\"gpus\",\"run_s\"\n\"1\",\"ann\",\"a\",\"0\",\"1\",\"5400\"\r\n2,bob,\"b\",60,8,90\n3,ann,a,120,0,\"0\""},
      {"comments and blank lines", "# made by hand\n\njob_id,user,queue,submit_s,gpus,run_s\n# first\n1,ann,a,0,1,5400\n\n2,bob,b,60,8,90\n   \n3,ann,a,120,0,0\n#"},
      {"blanks around", "job_id, user , queue,submit_s, gpus,run_s\n 1,ann , a,0 , 1,5400\n2, bob,b, 60,8 , 90 \n3,ann,a,120,0,0\n"},
      {"other order", "run_s,gpus,queue,job_id,submit_s,user\n5400,1,a,1,0,ann\n90,8,b,2,60,bob\n0,0,a,3,120,ann\n"},
      {"other names", "JobID,tenant,partition,Submit Time,num_gpu,service_sec\n1,ann,a,0,1,5400\n2,bob,b,60,8,90\n3,ann,a,120,0,0\n"},
      {"minutes and milliseconds", "job_id,user,queue,submit_min,gpus,run_ms\n1,ann,a,0,1,5400000\n2,bob,b,1,8,90000\n3,ann,a,2,0,0\n"},
      {"durations", "job_id,user,queue,submit_s,gpus,run_s\n1,ann,a,0,1,1h30m\n2,bob,b,60,8,00:01:30\n3,ann,a,120,0,0s\n"},
      {"exponents and fractions", "job_id,user,queue,submit_s,gpus,run_s\n1,ann,a,0.0,1.0,5.4e3\n2,bob,b,6E1,8,+90.000\n3,ann,a,1.2e+2,0,-0\n"},
      {"another column", "note,job_id,user,queue,submit_s,gpus,run_s\nx,1,ann,a,0,1,5400\n,2,bob,b,60,8,90\ny,3,ann,a,120,0,0\n"},
      {"trailing commas", "job_id,user,queue,submit_s,gpus,run_s\n1,ann,a,0,1,5400,\n2,bob,b,60,8,90,,\n3,ann,a,120,0,0\n"},
      {"JSON Lines", "{\"job_id\": 1, \"user\": \"ann\", \"queue\": \"a\", \"submit_s\": 0, \"gpus\": 1, \"run_s\": 5400}\n"
                     "{\"run_s\": 9e1, \"job_id\": \"2\", \"user\": \"bob\", \"queue\": \"b\", \"submit_s\": 60, \"gpus\": 8}\r\n\n"
                     "{\"job_id\": 3, \"user\": \"ann\", \"queue\": \"a\", \"submit_s\": 120.0, \"gpus\": 0, \"run_s\": \"0\", \"note\": null}"},
  };
  for (const auto& [name, text] : encodings) {
    EXPECT_EQ(dump(read(text).workload), want) << name;
    EXPECT_EQ(reasons(read(text)), "") << name;
  }
}

TEST(Trace, DatesCountFromTheFirst) {
  // The same four instants: 0 s, 5 s, 1 h and 1 day later, in every way to write them.
  const char* const ways[][4] = {
      {"2020-02-28 23:00:00", "2020-02-28 23:00:05", "2020-02-29 00:00:00", "2020-02-29 23:00:00"},
      {"2020-02-28T23:00:00Z", "2020-02-29T07:00:05+08:00", "2020-02-28 17:00:00 -0700", "2020/02/29 23:00"},
      {"2020-02-28 23:00", "2020-02-28T23:00:05.000000", "2020-02-29", "2020-02-29 23:00:00 UTC"},
  };
  for (const auto& way : ways) {
    std::string text = "submit_time,gpus,duration\n";
    for (const char* date : way) text += std::string(date) + ",1,10\n";
    const auto t = read(text);
    ASSERT_EQ(t.workload.jobs.size(), 4U) << text;
    EXPECT_EQ(t.workload.jobs[1].submit, 5 * kSecond);
    EXPECT_EQ(t.workload.jobs[2].submit, 3600 * kSecond);
    EXPECT_EQ(t.workload.jobs[3].submit, 86'400 * kSecond);
    EXPECT_EQ(t.workload.origin, 1'582'930'800 * kSecond);  // date -u -d '2020-02-28 23:00' +%s
    EXPECT_EQ(t.workload.origin_text, way[0]);
  }
  const auto bad = read("submit_time,gpus,duration\n2020-02-28,1,1\n2021-02-29,1,1\n2020-13-01,1,1\n2020-01-01 24:00:00,1,1\n1969-12-31,1,1\n12,1,1\n");
  EXPECT_EQ(reasons(bad), "not_a_number=4 contradiction=1");
  EXPECT_EQ(reasons(read("submit_time,gpus,duration\n12,1,1\n2020-02-28,1,1\n")), "contradiction=1");
}

struct BadRow {
  const char* row;
  const char* message;
};

TEST(Trace, SubmitTimesMayHaveUnits) {
  const auto plain = read(std::string(kHeader) + "1,,,90,1,5\n2,,,5400,1,5\n3,,,176400,1,5\n4,,,90.5,1,5\n");
  EXPECT_EQ(dump(plain.workload), dump(read(std::string(kHeader) + "1,,,90s,1,5\n2,,,1h30m,1,5\n3,,,2-01:00:00,1,5\n4,,,90.5,1,5\n").workload));
  EXPECT_EQ(dump(plain.workload),
            dump(read(R"({"job_id": 1, "submit_s": "1m30s", "gpus": 1, "run_s": 5})" "\n"
                      R"({"job_id": 2, "submit_s": "90 min", "gpus": 1, "run_s": 5})" "\n"
                      R"({"job_id": 3, "submit_s": "49h", "gpus": 1, "run_s": 5})" "\n"
                      R"({"job_id": 4, "submit_s": 90.5, "gpus": 1, "run_s": 5})").workload));
  // A file that counts has no dates, and one of dates does not count, with units or without.
  EXPECT_EQ(reasons(read(std::string(kHeader) + "1,,,1h,1,5\n2,,,2024-03-01,1,5\n")), "contradiction=1");
  EXPECT_EQ(reasons(read(std::string(kHeader) + "1,,,2024-03-01,1,5\n2,,,1h,1,5\n")), "contradiction=1");
  EXPECT_EQ(reasons(read(std::string(kHeader) + "1,,,0,1,5\n2,,,90000000h,1,5\n3,,,900000000h,1,5\n")), "too_large=1");
}

TEST(Trace, NamesOfWordsWithoutASign) {
  const auto t = read("JobID,UserName,SubmitTime,numGPUs,RunTimeMin\na,ann,0,8,90\n");
  EXPECT_EQ(dump(t.workload), "a ann  0 5400000000 1..1x8 nodes 1 priority 0\norigin 0");
  EXPECT_TRUE(t.facts.unused_columns.empty());
  // The ending of a column that is mapped counts as well.
  TraceOptions options;
  options.maps = {{"submit", "Begin"}, {"duration", "RunMinutes"}};
  EXPECT_EQ(dump(read("JobID,Begin,GPUs,RunMinutes\na,0,8,90\n", options).workload), "a   0 5400000000 1..1x8 nodes 1 priority 0\norigin 0");
}

TEST(Trace, ABadRowIsNamedAndLeftOutAndTheOthersRun) {
  const BadRow rows[] = {
      {"x,u,q,-1,1,1", "column submit_s: \"-1\" is negative"},
      {"x,u,q,0,1,-1", "column run_s: \"-1\" is negative"},
      {"x,u,q,0,1,-0.5", "column run_s: \"-0.5\" is negative"},
      {"x,u,q,0,-1,1", "column gpus: \"-1\" is negative"},
      {"x,u,q,nan,1,1", "column submit_s: \"nan\" is not a number"},
      {"x,u,q,0,1,NaN", "column run_s: \"NaN\" is not a number"},
      {"x,u,q,0,1,inf", "column run_s: \"inf\" is not a number"},
      {"x,u,q,0,one,1", "column gpus: \"one\" is not a number"},
      {"x,u,q,0,0x10,1", "column gpus: \"0x10\" is not a number"},
      {"x,u,q,0,1e,1", "column gpus: \"1e\" is not a number"},
      {"x,u,q,0,1.5,1", "column gpus: \"1.5\" is more than one GPU for a task, and no whole number of them"},
      {"x,u,q,0,4294967296,1", "column gpus: \"4294967296\" is too large"},
      {"x,u,q,0,9223372036854775808,1", "column gpus: \"9223372036854775808\" is too large"},
      {"x,u,q,0,1,9223372036854775808", "column run_s: \"9223372036854775808\" is too large"},
      {"x,u,q,9223372036854775807,1,1", "column submit_s: \"9223372036854775807\" is too large"},
      {"x,u,q,1e400,1,1", "column submit_s: \"1e400\" is too large"},
      {"x,u,q,1e99999999999999999999,1,1", "column submit_s: \"1e99999999999999999999\" is too large"},
      {"x,u,q,0,1,99999999999999999999999999999999999999999", "column run_s: \"99999999999999999999999999999999999999999\" is too large"},
      {"x,u,q,,1,1", "column submit_s is empty"},
      {"x,u,q,0,,1", "column gpus is empty"},
      {"x,u,q,0,1,", "column run_s is empty"},
      {"x,u,q,0,1, ", "column run_s is empty"},
      {",u,q,0,1,1", "column job_id is empty"},
      {"x,u,q,0,1", "the row has fewer fields than the header"},
      {"x,u,q,0,1,1,7", "the row has more fields than the header"},
      {"x,u,q,0,1,1h99", "column run_s: \"1h99\" is not a duration (a number, 1h30m, 2-01:00:00)"},
      {"x,u,q,0,1,10 parsecs", "column run_s: \"10 parsecs\" is not a duration (a number, 1h30m, 2-01:00:00)"},
      {"x,u,q,2020-06-01,1,1", "column submit_s: \"2020-06-01\" is a date, while rows above count from zero"},
      {"a,u,q,0,1,1", "column job_id: \"a\" is the id of a job above"},
      {"x,\"u,q,0,1,1", "the row opens a quote that is not closed"},
      {"x,\"u\"v,q,0,1,1", "the row has text after a closing quote"},
      {"\x01\x1b[31m,u,q,zero,1,1", "column submit_s: \"zero\" is not a number"},
      {"x,u,q,\x1b[31m,1,1", "column submit_s: \"\\x1b[31m\" is not a number"},
  };
  for (const auto& [row, message] : rows) {
    const std::string text = std::string(kHeader) + "a,u,q,0,1,1\n" + row + "\nz,u,q,5,2,3\n";
    const auto t = read(text);
    ASSERT_EQ(t.left_out.size(), 1U) << row;
    EXPECT_EQ(t.left_out[0].count, 1U) << row;
    EXPECT_EQ(t.left_out[0].examples[0], "j.csv:3: " + std::string(message) + "; row left out");
    EXPECT_EQ(t.rows, 3U) << row;
    ASSERT_EQ(t.workload.jobs.size(), 2U) << row;
    EXPECT_EQ(t.workload.names[1], "z");
    EXPECT_EQ(t.workload.tenants.size(), 1U) << "a row left out leaves nothing behind: " << row;
    TraceOptions strict;
    strict.strict = true;
    EXPECT_EQ(error_of([&] { read(text, strict); }), "j.csv:3: " + std::string(message));
  }
}

TEST(Trace, ProductsThatOverflowAreRefused) {
  const std::string header = "job_id,submit_s,tasks,min_tasks,gpus_per_task,cpus,mem_gib,run_s\n";
  const BadRow rows[] = {
      {"x,0,4000000000,1,4000000000,,,1", "column gpus_per_task: \"4000000000\" times the tasks is too large"},
      {"x,0,4294967296,1,1,,,1", "column tasks: \"4294967296\" is too large"},
      {"x,0,4000000000,1,1,4000000,,1", "column cpus: \"4000000\" times the tasks is too large"},
      {"x,0,4000000000,1,1,,4000000,1", "column mem_gib: \"4000000\" times the tasks is too large"},
      {"x,0,2,3,1,,,1", "column min_tasks: \"3\" is not from 1 to the number of tasks"},
      {"x,0,2,0,1,,,1", "column min_tasks: \"0\" is not from 1 to the number of tasks"},
      {"x,0,0,,1,,,1", "column tasks: \"0\" is less than one task"},
  };
  for (const auto& [row, message] : rows) {
    const auto t = read(header + row + "\nz,0,1,1,1,1,1,1\n");
    ASSERT_EQ(t.left_out.size(), 1U) << row;
    EXPECT_EQ(t.left_out[0].examples[0], "j.csv:2: " + std::string(message) + "; row left out");
    EXPECT_EQ(t.workload.jobs.size(), 1U);
  }
}

TEST(Trace, AllDurationsTogetherFitTheClock) {
  // 2^61 ticks are 2305843009213.693952 s; two such rows make the allowed sum of 2^62, the third passes it.
  const std::string row = ",0,1,2305843009213.693952\n";
  const auto t = read("job_id,submit_s,gpus,run_s\na" + row + "b" + row + "c" + row + "d,0,1,1e12\n");
  EXPECT_EQ(reasons(t), "too_large=2");
  EXPECT_EQ(t.workload.jobs.size(), 2U);
}

TEST(Trace, FiveExamplesOfEachReason) {
  std::string text(kHeader);
  for (int i = 0; i < 9; i++) text += std::to_string(i) + ",u,q,0,1,-1\n";
  text += "y,u,q,0,1,\nz,u,q,0,1,5\n";
  const auto t = read(text);
  EXPECT_EQ(reasons(t), "no_duration=1 negative=9");
  EXPECT_EQ(t.left_out[1].examples.size(), 5U);
  EXPECT_EQ(t.left_out[1].examples[4], "j.csv:6: column run_s: \"-1\" is negative; row left out");
}

TEST(Trace, NulBytes) {
  using namespace std::string_literals;
  const auto t = read("job_id,submit_s,gpus,run_s\na,0,1,5\nb\0,0,1,5\nc,0,1,5\n"s);
  EXPECT_EQ(reasons(t), "malformed=1");
  EXPECT_EQ(t.left_out[0].examples[0], "j.csv:3: the row holds a NUL byte; row left out");
  EXPECT_EQ(t.workload.jobs.size(), 2U);
}

TEST(Trace, ALineOf100MB) {
  std::string text = "job_id,submit_s,gpus,run_s\na,0,1,5\n";
  text.append(100'000'000, 'x');
  text += "\n";
  text.append(50'000'000, ',');
  text += "\nb,0,1,5\n";
  const auto t = read(text);
  EXPECT_EQ(reasons(t), "malformed=2");
  EXPECT_EQ(t.left_out[0].examples[1], "j.csv:4: the row has more than 4,096 fields; row left out");
  EXPECT_EQ(t.workload.jobs.size(), 2U);
}

TEST(Trace, ManyStrayQuotesTakeLinearTime) {
  std::string text = "job_id,submit_s,gpus,run_s\n\"";
  for (int i = 0; i < 2'000'000; i++) text += "\"\"\n";  // one field of doubled quotes and line ends that never closes
  const auto t = read(text);
  EXPECT_EQ(t.workload.jobs.size(), 0U);
  EXPECT_EQ(t.left_out[0].examples[0], "j.csv:2: the row opens a quote that is not closed; row left out");
}

TEST(Trace, QuotedFieldsSpanLinesAndDoubleQuotes) {
  const auto t = read("job_id,user,submit_s,gpus,run_s\n\"a, \"\"the\"\" job\",\"two\nlines\",0,1,5\nb,u,0,1,-1\n");
  EXPECT_EQ(t.workload.names[0], "a, \"the\" job");
  EXPECT_EQ(t.workload.tenants[0], "two\nlines");
  EXPECT_EQ(t.left_out[0].examples[0], "j.csv:4: column run_s: \"-1\" is negative; row left out");
}

TEST(Trace, RequestsAndShapes) {
  const auto t = read(
      "job_id,submit_s,tasks,min_tasks,gpus_per_task,cpus,mem_gib,gpu_type,locality,spread,run_s\n"
      "a,0,4,2,2,1.5,0.0001,A100,,,1\n"
      "b,0,4,2,2,1500e-3,0.0001,A100,none,,1\n"
      "c,0,4,,2,,,,node,,1\n"
      "d,0,4,,2,,,,,one-per-node,1\n"
      "e,0,,,8,,,,,,1\n"
      "f,0,2,,1,,,,rack,,1\n");
  const Workload& w = t.workload;
  ASSERT_EQ(w.jobs.size(), 6U);
  EXPECT_EQ(w.jobs[0].shape, w.jobs[1].shape);
  EXPECT_EQ(w.shapes.size(), 5U);
  const Shape& a = w.shapes[w.jobs[0].shape];
  EXPECT_EQ(a.nodes, Nodes::any);
  EXPECT_FALSE(a.fixed);
  EXPECT_EQ(a.total_gpus, 8U);
  EXPECT_EQ(a.groups[0].gpu_types, std::vector<std::string>{"A100"});
  EXPECT_EQ(a.groups[0].per_task[kGpu], 2000);
  EXPECT_EQ(a.groups[0].per_task[kCpu], 1500);
  EXPECT_EQ(a.groups[0].per_task[kMem], 1);  // a tenth of a MiB, rounded up
  EXPECT_EQ(w.shapes[w.jobs[2].shape].nodes, Nodes::one);
  EXPECT_EQ(w.shapes[w.jobs[3].shape].nodes, Nodes::each);
  EXPECT_EQ(w.shapes[w.jobs[4].shape].nodes, Nodes::any);
  EXPECT_EQ(w.shapes[w.jobs[5].shape].nodes, Nodes::any);
  EXPECT_EQ(w.shapes[w.jobs[5].shape].required_level, "rack");
}

TEST(Trace, WishesForNodesAndLevels) {
  auto t = read(
      "job_id,submit_s,gpus,gpu_type,driver,cuda,labels,locality,preferred_level,anti_affinity,numa,bandwidth_gbit,resource_Licence,run_s\n"
      "a,0,2,A100|H100,535.104.05,12.2,zone=a; disk!=hdd;fast,same-switch,rack,db,single-numa-node,1.5,2,1\n"
      "b,0,2,,,,,,,,,,,1\n"
      "c,0,2,A100|H100,535.104.05,12.2,zone=a; disk!=hdd;fast,switch,rack,db,single-numa-node,1.5,2,1\n");
  Workload& w = t.workload;
  ASSERT_EQ(w.jobs.size(), 3U);
  const Shape& a = w.shapes[w.jobs[0].shape];
  const TaskGroup& g = a.groups[0];
  EXPECT_EQ(g.gpu_types, (std::vector<std::string>{"A100", "H100"}));
  EXPECT_EQ(g.driver, "535.104.05");
  EXPECT_EQ(g.cuda, "12.2");
  ASSERT_EQ(g.labels.size(), 3U);
  EXPECT_EQ(to_text(g.labels[0]), "zone=a");
  EXPECT_EQ(to_text(g.labels[1]), "disk!=hdd");
  EXPECT_EQ(to_text(g.labels[2]), "fast");
  EXPECT_EQ(a.required_level, "switch");
  EXPECT_EQ(a.preferred_level, "rack");
  EXPECT_EQ(w.tags[a.apart], "db");
  EXPECT_EQ(a.numa, Numa::single);
  EXPECT_EQ(w.shapes[w.jobs[1].shape].apart, 0U);
  EXPECT_EQ(w.shapes[w.jobs[2].shape], a);
  // Kinds of resources are the topology's; what it does not name is not limited.
  EXPECT_EQ(w.resources, (std::vector<std::string>{"bandwidth", "Licence"}));
  TopologySpec spec;
  spec.levels = {"node"}, spec.kinds_of_resource = {"Licence"}, spec.kinds.resize(1), spec.top.resize(1);
  spec.top[0].kind = 0;
  fit_shapes(w, Topology::build(spec));
  EXPECT_EQ(g.per_task[3], 2);
  EXPECT_EQ(g.per_task[4], 0);
}

TEST(Trace, WishesThatCannotBeRead) {
  const auto t = read(
      "job_id,submit_s,gpus,driver,labels,numa,bandwidth_mbit,run_s\n"
      "a,0,1,v5,,,,1\nb,0,1,,=x,,,1\nc,0,1,,,tight,,1\nd,0,1,,,,-3,1\n");
  EXPECT_EQ(t.workload.jobs.size(), 0U);
  std::string all;
  for (const auto& l : t.left_out)
    for (const auto& e : l.examples) all += e + "\n";
  EXPECT_EQ(all,
            "j.csv:2: column driver: \"v5\" is not a version (12.2, 535.104.05); row left out\n"
            "j.csv:5: column bandwidth_mbit: \"-3\" is not a number from 0; row left out\n"
            "j.csv:3: column labels: \"=x\" is not a list of key=value, key!=value or key, separated by ;; row left out\n"
            "j.csv:4: column numa: \"tight\" is not one of none, best-effort, restricted, single-numa-node; row left out\n");
}

TEST(Trace, TasksOverAStatedNumberOfNodes) {
  const auto t = read(
      "job_id,submit_s,tasks,gpus_per_task,nodes,cpus,run_s\n"
      "a,0,5,2,2,3,1\nb,0,4,1,4,,1\nc,0,4,1,1,,1\nd,0,2,1,3,,1\ne,0,4,1,,,1\n");
  const Workload& w = t.workload;
  ASSERT_EQ(w.jobs.size(), 4U);
  const Shape& a = w.shapes[w.jobs[0].shape];  // three tasks on one node, two on the other
  EXPECT_EQ(a.nodes, Nodes::each);
  EXPECT_EQ(a.total_gpus, 10U);
  ASSERT_EQ(a.groups.size(), 2U);
  EXPECT_EQ(a.groups[0].max_tasks, 1U);
  EXPECT_EQ(a.groups[0].gpus, 6U);
  EXPECT_EQ(a.groups[0].per_task[kCpu], 9000);
  EXPECT_EQ(a.groups[1].gpus, 4U);
  EXPECT_EQ(a.groups[1].per_task[kCpu], 6000);
  EXPECT_EQ(w.shapes[w.jobs[1].shape].nodes, Nodes::each);
  EXPECT_EQ(w.shapes[w.jobs[1].shape].groups[0].max_tasks, 4U);
  EXPECT_EQ(w.shapes[w.jobs[2].shape].nodes, Nodes::one);
  EXPECT_EQ(w.shapes[w.jobs[3].shape].nodes, Nodes::any);
  EXPECT_EQ(t.left_out[0].examples[0], "j.csv:5: column nodes: \"3\" is more than the tasks; row left out");
}

TEST(Trace, GpusOverAStatedNumberOfNodes) {
  const auto t = read("job_id,submit_s,gpus,nodes,cpus,run_s\na,0,3,2,5,1\nb,0,16,2,,1\nc,0,8,1,,1\n");
  const Workload& w = t.workload;
  const Shape& a = w.shapes[w.jobs[0].shape];
  ASSERT_EQ(a.groups.size(), 2U);
  EXPECT_EQ(a.nodes, Nodes::each);
  EXPECT_EQ(a.total_gpus, 3U);
  EXPECT_EQ(a.groups[0].max_tasks * a.groups[0].gpus + a.groups[1].max_tasks * a.groups[1].gpus, 3U);
  EXPECT_EQ(a.groups[0].per_task[kCpu], 2500);
  const Shape& b = w.shapes[w.jobs[1].shape];
  ASSERT_EQ(b.groups.size(), 1U);
  EXPECT_EQ(b.groups[0].max_tasks, 2U);
  EXPECT_EQ(b.groups[0].gpus, 8U);
  EXPECT_EQ(w.shapes[w.jobs[2].shape].nodes, Nodes::one);
  const auto x = read("job_id,submit_s,gpus,nodes,locality,run_s\na,0,4,2,node,1\n");
  EXPECT_EQ(x.left_out[0].examples[0], "j.csv:2: column locality: \"node\" and more than one node exclude each other; row left out");
}

TEST(Trace, APartOfOneGpu) {
  const auto shape = [](const std::string& header, const std::string& row) {
    const auto t = read("submit_s,run_s," + header + "\n0,1," + row + "\n");
    if (t.workload.jobs.empty()) return t.left_out.at(0).examples.at(0);
    const Shape& s = t.workload.shapes[0];
    return std::to_string(s.groups[0].max_tasks) + " x " + std::to_string(s.groups[0].gpus) + " + " + std::to_string(s.groups[0].gpu_milli()) + "m = " +
           std::to_string(s.total_milli());
  };
  EXPECT_EQ(shape("gpus", "0.5"), "1 x 0 + 500m = 500");
  EXPECT_EQ(shape("gpus", "0.001"), "1 x 0 + 1m = 1");
  EXPECT_EQ(shape("gpus", "2.0"), "1 x 2 + 0m = 2000");
  EXPECT_EQ(shape("gpus", "5e-1"), "1 x 0 + 500m = 500");
  EXPECT_EQ(shape("tasks,gpus_per_task", "3,0.25"), "3 x 0 + 250m = 750");
  EXPECT_EQ(shape("tasks,gpus", "3,0.75"), "3 x 0 + 250m = 750");
  // openb: devices, and how much of each
  EXPECT_EQ(shape("num_gpu,gpu_milli", "1,460"), "1 x 0 + 460m = 460");
  EXPECT_EQ(shape("num_gpu,gpu_milli", "8,1000"), "1 x 8 + 0m = 8000");
  EXPECT_EQ(shape("num_gpu,gpu_milli", "0,0"), "1 x 0 + 0m = 0");
  EXPECT_EQ(shape("num_gpu,gpu_milli", "1,"), "1 x 1 + 0m = 1000");
  EXPECT_EQ(shape("gpu_milli", "460"), "1 x 0 + 460m = 460");
  EXPECT_EQ(shape("gpu_milli", "3000"), "1 x 3 + 0m = 3000");
  EXPECT_EQ(shape("gpus,gpu_milli", "0.46,460"), "1 x 0 + 460m = 460");
  const std::pair<std::pair<const char*, const char*>, const char*> bad[] = {
      {{"gpus", "1.5"}, "column gpus: \"1.5\" is more than one GPU for a task, and no whole number of them"},
      {{"gpus", "0.0001"}, "column gpus: \"0.0001\" is finer than a thousandth of a GPU"},
      {{"tasks,gpus", "2,1"}, "column gpus: \"1\" is not a multiple of the tasks"},
      {{"tasks,gpus", "2,0.005"}, "column gpus: \"0.005\" is not a multiple of the tasks"},
      {{"gpus,nodes", "0.5,2"}, "column nodes: \"2\" and a part of one GPU exclude each other"},
      {{"num_gpu,gpu_milli", "2,500"}, "column gpu_milli: \"500\" of each of several GPUs is not modelled"},
      {{"num_gpu,gpu_milli", "0,500"}, "column gpu_milli: \"500\" does not go with the number of GPUs"},
      {{"num_gpu,gpu_milli", "1,0"}, "column gpu_milli: \"0\" does not go with the number of GPUs"},
      {{"num_gpu,gpu_milli", "1,2000"}, "column gpu_milli: \"2000\" does not go with the number of GPUs"},
      {{"gpu_milli", "1500"}, "column gpu_milli: \"1500\" is more than one GPU for a task, and no whole number of them"},
      {{"gpu_milli", "0.5"}, "column gpu_milli: \"0.5\" is not a whole number"},
      {{"tasks,gpu_milli", "4294967295,2000"}, "column gpu_milli: \"2000\" times the tasks is too large"},
  };
  for (const auto& [columns, message] : bad) EXPECT_EQ(shape(columns.first, columns.second), "j.csv:2: " + std::string(message) + "; row left out");
}

TEST(Trace, ARowOfGpusTakesWholeNodesWhenItIsLargerThanOne) {
  auto t = read("job_id,submit_s,gpus,run_s\na,0,8,1\nb,0,9,1\n");
  fit_shapes(t.workload, Topology::parse_line("node:4 gpu:8"));
  EXPECT_EQ(t.workload.shapes[t.workload.jobs[0].shape].nodes, Nodes::one);
  EXPECT_EQ(t.workload.shapes[t.workload.jobs[1].shape].nodes, Nodes::whole);
  // A task that states its GPUs is never cut.
  t = read("job_id,submit_s,tasks,gpus_per_task,locality,run_s\na,0,1,9,node,1\n");
  fit_shapes(t.workload, Topology::parse_line("node:4 gpu:8"));
  EXPECT_EQ(t.workload.shapes[0].nodes, Nodes::any);
  // Nor is a row that wants one node.
  t = read("job_id,submit_s,gpus,locality,run_s\na,0,9,node,1\n");
  fit_shapes(t.workload, Topology::parse_line("node:4 gpu:8"));
  EXPECT_EQ(t.workload.shapes[0].nodes, Nodes::any);
}

TEST(Trace, ARowStatesOnlyGpusWhateverItsNeighboursState) {
  auto t = read(
      "job_id,submit_s,gpus,tasks,gpus_per_task,run_s\n"
      "a,0,9,,,1\n"
      "b,0,9,1,,1\n"
      "c,0,,,9,1\n"
      "d,0,,,,1\n");
  const Workload& w = t.workload;
  fit_shapes(t.workload, Topology::parse_line("node:4 gpu:8"));
  EXPECT_EQ(w.shapes[w.jobs[0].shape].nodes, Nodes::whole);
  EXPECT_EQ(w.shapes[w.jobs[1].shape].nodes, Nodes::any);
  EXPECT_EQ(w.jobs[1].shape, w.jobs[2].shape);
  EXPECT_EQ(w.shapes[w.jobs[3].shape].total_gpus, 0U);
}

TEST(Trace, ClaimsCostsAndFates) {
  const auto t = read(
      "job_id,submit_s,gpus,run_s,estimate_min,limit_s,deadline,earliest_start,priority,checkpoint_interval_s,checkpoint_cost_s,start_cost_s,"
      "restart_cost_s,status\n"
      "a,100,1,60,2,90,500,130,-3,10,1,5,7,CANCELLED by 1001\n"
      "b,100,1,60,,0,,,,never,,5,,FAILED\n"
      "c,100,1,60,,,,,,,,,,COMPLETED\n"
      "d,100,1,60,,,,,,,,,,Suspended\n");
  const Workload& w = t.workload;
  ASSERT_EQ(w.jobs.size(), 4U);
  EXPECT_EQ(w.jobs[0].estimate, 120 * kSecond);
  EXPECT_EQ(w.jobs[0].time_limit, 90 * kSecond);
  EXPECT_EQ(w.jobs[0].deadline, 400 * kSecond);
  EXPECT_EQ(w.jobs[0].earliest_start, 30 * kSecond);
  EXPECT_EQ(w.jobs[0].priority, -3);
  EXPECT_EQ(w.costs[w.truths[0].costs], (LifeCosts{10 * kSecond, kSecond, 5 * kSecond, 7 * kSecond, kNever}));
  EXPECT_EQ(w.truths[0].fate, Fate::cancelled);
  EXPECT_EQ(w.jobs[1].time_limit, 0);
  EXPECT_EQ(w.costs[w.truths[1].costs], (LifeCosts{kNever, 0, 5 * kSecond, 5 * kSecond, kNever}));
  EXPECT_EQ(w.truths[1].fate, Fate::failed);
  EXPECT_EQ(w.jobs[2].deadline, kNever);
  EXPECT_EQ(w.truths[2].costs, 0U);
  EXPECT_EQ(t.facts.unknown_fates, 1U);
  EXPECT_EQ(t.notes, std::vector<std::string>{"j.csv: 1 row with a state that is not known; taken as done"});
}

TEST(Trace, ClusterLogs) {
  // Both "vc" and "queue", which there is a time; a duration that is not end minus start (cf. the Helios logs).
  const auto t = read(
      "job_id,user,vc,gpu_num,state,submit_time,start_time,end_time,duration,queue\n"
      "1,u,vcA,8,COMPLETED,2020-06-01 00:00:00,2020-06-01 00:00:10,2020-06-01 00:10:10,600,10\n"
      "2,u,vcB,8,COMPLETED,2020-06-01 00:01:00,2020-06-01 00:02:00,2020-06-01 00:32:00,900,60\n");
  EXPECT_EQ(t.workload.queues[t.workload.jobs[1].queue], "vcB");
  EXPECT_EQ(t.workload.truths[0].work, 600 * kSecond);
  EXPECT_EQ(t.workload.truths[1].work, 1800 * kSecond);
  EXPECT_EQ(t.facts.other_durations, 1U);
  EXPECT_EQ(t.notes.size(), 2U);
}

TEST(Trace, MapsDropsAndOpenEnds) {
  TraceOptions o;
  o.maps = {{"gpus", "ours"}, {"duration_min", "service"}};
  auto t = read("job_id,submit_s,gpus,ours,service\na,0,99,4,2\n", o);
  EXPECT_EQ(t.workload.shapes[0].total_gpus, 4U);
  EXPECT_EQ(t.workload.truths[0].work, 120 * kSecond);
  EXPECT_EQ(t.facts.unused_columns, std::vector<std::string>{"gpus"});
  o.maps = {{"gpu", "num_gpuz"}};
  EXPECT_EQ(error_of([&] { read("job_id,submit_s,num_gpus,run_s\n", o); }),
            "j.csv:1: --map gpu=num_gpuz: there is no column \"num_gpuz\"; did you mean num_gpus?");
  o.maps = {{"gpsu", "num_gpus"}};
  EXPECT_EQ(error_of([&] { read("job_id,submit_s,num_gpus,run_s\n", o); }),
            "--map gpsu=num_gpus: no field of a job is called \"gpsu\"; did you mean gpus?");

  TraceOptions drop;
  set_drops(drop, "cpu-only,zero-duration");
  t = read(std::string(kHeader) + "a,u,q,0,0,5\nb,u,q,0,1,0\nc,u,q,0,1,5\n", drop);
  EXPECT_EQ(reasons(t), "cpu_only=1 zero_duration=1");
  EXPECT_EQ(error_of([&] { set_drops(drop, "cpu-only,all"); }),
            "--drop: want cpu-only or zero-duration, or both with a comma between, found \"all\"");
  t = read(std::string(kHeader) + "a,u,q,0,0,5\nb,u,q,0,1,0\nc,u,q,0,1,5\n");
  EXPECT_EQ(t.workload.jobs.size(), 3U);
  EXPECT_EQ(t.facts.cpu_only, 1U);
  EXPECT_EQ(t.facts.zero_duration, 1U);

  TraceOptions open;
  open.open_ended = true;
  t = read(std::string(kHeader) + "a,u,q,0,1,\n", open);
  EXPECT_EQ(t.workload.truths[0].work, kNever);
}

TEST(Trace, IdsRepeatedFarApart) {
  std::string text = "job_id,submit_s,gpus,run_s\n";
  for (int i = 0; i < 1000; i++) text += "j" + std::to_string(i) + ",0,1,1\n";
  text += "j5,0,1,1\nj999,0,1,1\nnew,0,1,1\nnew,0,1,1\n";
  const auto t = read(text);
  EXPECT_EQ(t.workload.jobs.size(), 1001U);
  EXPECT_EQ(reasons(t), "duplicate_id=3");
}

TEST(Trace, FilesWithoutIdsNumberTheirRows) {
  const auto t = read("submit_s,gpus,run_s\n0,1,1\n0,1,-1\n0,1,1\n");
  EXPECT_EQ(t.workload.names[0], "1");
  EXPECT_EQ(t.workload.names[1], "3");
  EXPECT_EQ(t.workload.tenants.size(), 1U);
}

TEST(Trace, WhatIsNoTrace) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> texts[] = {
      {"", "j.csv: is empty: want a header line with column names"},
      {"\n\n# nothing\n", "j.csv: is empty: want a header line with column names"},
      {"\xff\xfej\0o\0b\0"s, "j.csv: is UTF-16 text: want UTF-8"},
      {"\x7f"s + "ELF\x02\x01\x01\0\0\0"s, "j.csv:1: is not text: want a header line with column names"},
      {"a,b\n1,2\n", "j.csv:1: no column says when a job is submitted; the columns are a, b (--map submit=COLUMN names it)"},
      {"submit_s,gpus\n", "j.csv:1: no column says how long a job runs; the columns are submit_s, gpus (--map duration=COLUMN names it)"},
      {"submit_s,run_s\n", "j.csv:1: no column says how many GPUs a job asks; the columns are submit_s, run_s (--map gpus=COLUMN names it)"},
      {"[1, 2]", "j.csv:1: no column says when a job is submitted; the columns are [1, 2] (--map submit=COLUMN names it)"},
  };
  for (const auto& t : texts) EXPECT_EQ(error_of([&] { read(t.first); }), t.second);
  TraceOptions o;
  o.format = "jsnol";
  EXPECT_EQ(error_of([&] { read("", o); }), "--trace-format: want csv, jsonl or philly-csv, found \"jsnol\"; did you mean jsonl?");
}

TEST(Trace, JsonLines) {
  const auto t = read(
      "{\"id\": \"a\", \"submit\": 0, \"gpus\": 1, \"run\": 5}\n"
      "{\"id\": \"b\", \"submit\": 0, \"gpus\": [1], \"run\": 5}\n"
      "{\"id\": \"c\", \"submit\": 0, \"gpus\": 1, \"run\": 5\n"
      "7\n"
      "{\"id\": \"d\", \"submit\": 0, \"gpus\": 1, \"gpus\": 2, \"run\": 5}\n"
      "{\"id\": \"e\", \"submit\": 0, \"gpus\": 1e999, \"run\": 5}\n"
      "{\"id\": \"f\", \"submit\": 0, \"gpus\": 1}\n" +
      std::string(100'000, '[') + "\n{\"id\": \"g\", \"submit\": 0, \"gpus\": 1, \"run\": 9223372036854775808}\n");
  EXPECT_EQ(t.workload.jobs.size(), 1U);
  EXPECT_EQ(reasons(t), "malformed=6 no_duration=1 too_large=1");
  EXPECT_EQ(t.left_out[0].examples[0], "j.csv:2: the row holds a list or an object inside the object; row left out");
  EXPECT_EQ(t.left_out[0].examples[3], "j.csv:5: the row has a key twice; row left out");
}

TEST(Trace, ReducedPhilly) {
  TraceOptions o;
  o.format = "philly-csv";
  const auto t = read("timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n2017-10-09 06:13:03,2951.0,2,5902.0,6214e9\n", o);
  EXPECT_EQ(t.workload.queues[t.workload.jobs[0].queue], "6214e9");
  EXPECT_EQ(t.workload.tenants[t.workload.jobs[0].tenant], "6214e9");
  EXPECT_EQ(t.workload.jobs[1].submit, (48 * 60 + 52) * kSecond);
  EXPECT_EQ(t.workload.truths[0].work, 2951 * kSecond);
  EXPECT_NE(error_of([&] { read("timestamp,duration\n", o); }), "no error");
}

TEST(Trace, WishesThatAreNotModelledAreNotForgotten) {
  const auto t = read("job_id,submit_s,gpus,gpu_mem_mib,pin,run_s\na,0,1,,,5\nb,0,1,100,,5\nc,0,1,,n1,5\n");
  EXPECT_EQ(t.workload.jobs.size(), 1U);
  EXPECT_EQ(reasons(t), "unsupported=2");
  EXPECT_EQ(t.left_out[0].examples[1], "j.csv:4: column pin: \"n1\" is not modelled yet; row left out");
}

TEST(TraceInfo, CountsAndDoubts) {
  std::string text = "user,submit,gpus,duration\n";
  for (int i = 0; i < 30; i++) text += "u" + std::to_string(i % 3) + "," + std::to_string(i / 2 * 1000) + ",2,1200000\n";
  text += "u0,0,2,1200000\n";
  const auto info = trace_info(read(text));
  EXPECT_EQ(info.span, 14'000 * kSecond);
  EXPECT_EQ(info.sizes.at(2 * kMilli).jobs, 31U);
  EXPECT_EQ(info.gpu_time, Int128{31} * 2 * kMilli * 1'200'000 * kSecond);
  EXPECT_EQ(info.tenants[0].name, "u0");
  EXPECT_EQ(info.tenants[0].jobs, 11U);
  EXPECT_EQ(info.equal_jobs, 1U);
  ASSERT_EQ(info.suspicions.size(), 1U);
  EXPECT_EQ(info.suspicions[0],
            "column duration is read as seconds, and half of the jobs run more than 13d 21h: are they milliseconds? (--map duration_ms=duration)");
}

TEST(TraceInfo, LoadAsWorkedOutByHand) {
  // 30 jobs of 4 GPUs for 30 s, one per 10 s, on 9 GPUs: 3600 GPU s asked of 9 x 300 s.
  std::string text = "job_id,submit_s,tasks,gpus_per_task,run_s\n";
  for (int i = 0; i < 30; i++) text += std::to_string(i) + "," + std::to_string(10 * i) + ",1,4,30\n";
  const auto t = read(text);
  EXPECT_NEAR(validate(t.workload, Topology::parse_line("node:1 gpu:9")).load, 3600.0 / 2700, 1e-12);
}

}  // namespace
}  // namespace muster
