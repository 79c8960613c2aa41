// report.json, jobs.csv, the summary, and records written and read back.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "files/write.hpp"
#include "metrics/metrics.hpp"
#include "recordings.hpp"
#include "report/jobs_csv.hpp"
#include "report/records.hpp"
#include "report/report_json.hpp"
#include "report/summary.hpp"
#include "text/json_text.hpp"
#include "topology/to_json.hpp"

namespace muster {
namespace {

using test::Recorded;
namespace fs = std::filesystem;

std::string read(const fs::path& p) {
  std::ostringstream s;
  s << std::ifstream(p, std::ios::binary).rdbuf();
  return s.str();
}

struct Folder {
  static inline int made = 0;
  fs::path path = fs::path(testing::TempDir()) / ("muster-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

std::string rows_text(const JobRows& rows, const Header& h) {
  std::string out;
  jobs_csv(rows, h, [&](std::string_view block) { out += block; });
  return out;
}

struct Results {
  std::string report, rows, records;
};

Results results_of(Recorded r) {
  Folder folder;
  OutFile file((folder.path / "r.jsonl").string());
  Metrics m;
  JobRows rows;
  RecordWriter w(file);
  r.deliver({&m, &rows, &w});
  file.commit();
  return {report_json(m.report(), r.header), rows_text(rows, r.header), read(folder.path / "r.jsonl")};
}

Results results_of(std::string_view records) {
  Metrics m;
  JobRows rows;
  Observer* const all[] = {&m, &rows};
  const Recording r = read_records(records, "r.jsonl", all);
  return {report_json(m.report(), r.header), rows_text(rows, r.header), {}};
}

std::string error_of(std::string_view records) {
  try {
    results_of(records);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(JobsCsv, TwoJobs) {
  EXPECT_EQ(results_of(test::two_jobs()).rows,
            "id,user,queue,submit_s,start_s,end_s,state,gpus,tasks,reason,placement,"
            "queue_first_s,requeue_s,start_first_s,work_s,checkpoint_s,drain_s,restart_s,lost_s\n"
            "a,ann,,0,0,10,done,2,1,,n0/gpu0-1,0,0,0,10,0,0,0,0\n"
            "\"b,\"\"x\"\"\",ann,,2,10,30,done,1,1," + std::string(to_text(Reason::no_gpus)) + ",n0/gpu0,8,0,0,20,0,0,0,0\n");
}

TEST(JobsCsv, NeverStarted) {
  const std::string rows = results_of(test::preempted()).rows;
  EXPECT_NE(rows.find("big,ann,,0,,0,rejected,99,1," + std::string(to_text(Reason::cluster_size)) + ",,0,0,0,0,0,0,0,0\n"), std::string::npos) << rows;
  EXPECT_NE(rows.find("a,ann,,0,0,16,done,2,1,"), std::string::npos) << rows;
  EXPECT_NE(rows.find(",n0/gpu0-1,0,2,0,10,0,2,1,1\n"), std::string::npos) << rows;
}

TEST(ReportJson, NumbersAndProvenance) {
  Recorded r = test::two_jobs();
  r.header.parameters = {{"order", "fifo"}};
  r.header.seed = ~uint64_t{0};
  r.header.inputs = {{"trace", "jobs.csv sha256:ab12"}, {"topology", "node:1 gpu:2"}};
  r.header.rows = 5;
  r.header.dropped_rows = {{"asks \"no\" GPU", 3}};
  const std::string text = results_of(std::move(r)).report;
  for (const char* part :
       {"\"schema\": \"muster-report-1\"", "\"policy\": {\"name\": \"by-hand\", \"parameters\": {\n      \"order\": \"fifo\"\n    }}",
        "\"seed\": 18446744073709551615", "{\"role\": \"trace\", \"name\": \"jobs.csv\", \"sha256\": \"ab12\"}", "{\"role\": \"topology\", \"name\": \"node:1 gpu:2\"}",
        "\"until_s\": null", "\"rows\": 5", "\"asks \\\"no\\\" GPU\": 3", "\"jct_mean_s\": {\"value\": 19, \"unit\": \"s\", \"better\": \"lower\"}",
        "\"gpu_utilization\": {\"value\": 0.6666666666666666, ", "\"complete\": true\n}\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Records, ReadBackGivesTheSameBytes) {
  for (auto make : {test::two_jobs, test::preempted}) {
    Recorded run = make();
    run.header.parameters = {{"order", "fifo"}, {"place", "pack \"x\""}};
    run.header.inputs = {{"trace", "jobs.csv sha256:ab12"}};
    run.header.dropped_rows = {{"no duration", 2}};
    run.header.seed = ~uint64_t{0}, run.header.rows = 7, run.header.until = 99 * kSecond;
    run.workload.origin = 1'700'000'000'000'000, run.workload.origin_text = "2023-11-14";
    const Results first = results_of(std::move(run)), again = results_of(first.records);
    EXPECT_EQ(first.report, again.report);
    EXPECT_EQ(first.rows, again.rows);
  }
}

TEST(Records, WrittenAgainFromTheReaderIsTheSameFile) {
  Recorded run = test::preempted();
  const NoteField fields[] = {{"share", -5, {}}, {"why", 0, "tie \xff\n\x01 \xc3\xa4"}};
  Record& note = run.add(16, What::note, kNone, State::future);
  note.kind = "split", note.fields = fields;
  Shape& shape = run.workload.shapes[0];
  TaskGroup& g = shape.groups.emplace_back();
  g.max_tasks = 4, g.gpus = 2, g.gpu_mem_mib = 40'960, g.gpu_types = {"A100", "H100"}, g.driver = "535.104.05", g.cuda = "12.2";
  for (const char* label : {"zone=a", "disk!=hdd", "fast"}) g.labels.push_back(parse_label_wish(label));
  run.workload.tags.add(""), run.workload.tags.add("db");
  shape.apart = 1, shape.numa = Numa::restricted, shape.required_level = "rack", shape.preferred_level = "switch";
  const std::string first = results_of(std::move(run)).records;
  Folder folder;
  OutFile file((folder.path / "again.jsonl").string());
  RecordWriter w(file);
  Observer* const all[] = {&w};
  read_records(first, "r.jsonl", all);
  file.commit();
  EXPECT_EQ(first, read(folder.path / "again.jsonl"));
}

TEST(Records, ACutFileIsNeverWhole) {
  const std::string whole = results_of(test::preempted()).records;
  EXPECT_EQ(error_of(whole), "no error");
  for (size_t n = 0; n < whole.size(); n++) {
    const std::string e = error_of(whole.substr(0, n));
    ASSERT_NE(e, "no error") << n;
    ASSERT_EQ(e.substr(0, 8), "r.jsonl:") << e;
  }
  EXPECT_NE(error_of(whole + "x\n").find("follows the end"), std::string::npos);
}

TEST(Records, MalformedLinesNameTheirLine) {
  const std::string whole = results_of(test::two_jobs()).records;
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string s = whole;
    const size_t at = s.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    s.replace(at, from.size(), to);
    return error_of(s);
  };
  const auto has = [](const std::string& e, std::string_view a, std::string_view b) {
    EXPECT_NE(e.find(a), std::string::npos) << e;
    EXPECT_NE(e.find(b), std::string::npos) << e;
  };
  has(with("muster-records-1", "muster-records-9"), "r.jsonl:1: ", "muster-records-1");
  has(with("\"what\":\"submit\"", "\"what\":\"submix\""), "r.jsonl:2: ", "did you mean submit");
  has(with("n0/gpu0-1", "n7/gpu0-1"), "r.jsonl:3: ", "n7");
  has(with("\"at_us\":10000000", "\"at_us\":1"), "r.jsonl:6: ", "time goes back");
  has(with("\"work_us\":10000000,\"check", "\"work_us\":10000001,\"check"), "r.jsonl:6: ", "parts of the job's time");
  has(with("\"held_mgpu\":2000", "\"held_mgpu\":-2000"), "r.jsonl:3: ", "below zero");
  has(with("\"held_mgpu\":2000", "\"held_mgpu\":99999999999999999999999999999999999999999999"), "r.jsonl:3: ", "too large");
  has(with("\"job\":0", "\"job\":2"), "r.jsonl:2: ", "range");
  has(with("\"records\":7", "\"records\":8"), "r.jsonl:9: ", "counts other records");
  has(with("\"jobs\":2", "\"jobs\":4000000000"), "r.jsonl:1: ", "more jobs");
}

TEST(Records, NoBytesCrashTheReader) {
  const std::string whole = results_of(test::preempted()).records;
  const size_t header = whole.find('\n');
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 1000; i++) {
    std::string s = whole;
    for (int n = 0; n < 1 + i % 3; n++) {
      const size_t at = header + random() % (s.size() - header);
      switch (random() % 4) {
        case 0: s[at] = char(random()); break;
        case 1: s.erase(at, 1 + random() % 20); break;
        case 2: s.insert(at, 1, "0123456789\"{}[],:-\\u"[random() % 20]); break;
        default: s.insert(at, s.substr(header + random() % (s.size() - header), 1 + random() % 80)); break;
      }
    }
    const std::string e = error_of(s);
    if (e == "no error") continue;
    refused++;
    ASSERT_EQ(e.substr(0, 8), "r.jsonl:") << e;
  }
  EXPECT_GT(refused, 700);
}

TEST(TopologyJson, BuildsTheSameTreeAgain) {
  TopologySpec uneven;
  uneven.levels = {"rack", "node", "socket"};
  uneven.kinds_of_resource = {"nic"};
  uneven.kinds.resize(3);
  uneven.kinds[0].name = "big", uneven.kinds[0].gpus = 5, uneven.kinds[0].gpu_type = "A100", uneven.kinds[0].gpu_mem_mib = 40'960;
  uneven.kinds[0].capacity[kCpu] = 64'000, uneven.kinds[0].limits_cpu = true, uneven.kinds[0].capacity[3] = 7;
  uneven.kinds[1].name = "small", uneven.kinds[1].gpus = 3;
  uneven.kinds[1].driver = "535.104.05", uneven.kinds[1].cuda = "12.2", uneven.kinds[1].labels = {{"fast", ""}, {"zone", "a"}};
  uneven.kinds[2].name = "cpu";
  const auto vertex = [](std::string name, uint32_t kind, uint32_t gpus, std::vector<TopologySpec::Vertex> in = {}) {
    TopologySpec::Vertex v;
    v.name = std::move(name), v.kind = kind, v.gpus = gpus, v.children = std::move(in);
    return v;
  };
  uneven.top = {vertex("left", kNone, 0, {vertex("", 0, 0, {vertex("", kNone, 2), vertex("odd", kNone, 3)}), vertex("tiny", 1, 0, {vertex("", kNone, 3)})}),
                vertex("", kNone, 0, {vertex("", 2, 0), vertex("", 1, 0, {vertex("", kNone, 3)}), vertex("", 1, 0, {vertex("", kNone, 3)})})};
  for (const Topology& t : {Topology::parse_line("rack:4 node:8 socket:2 switch:2 gpu:2"), Topology::parse_line("node:3"), Topology::parse_line("gpu:1"),
                            Topology::build(uneven)}) {
    const std::string text = topology_json(t);
    Recorded run("node:1 gpu:1");
    run.topology = t;
    const std::string records = results_of(std::move(run)).records;
    const Recording again = read_records(records, "r.jsonl", {});
    EXPECT_EQ(topology_json(*again.topology), text);
    ASSERT_EQ(again.topology->gpus(), t.gpus());
    ASSERT_EQ(again.topology->nodes(), t.nodes());
    for (size_t l = 0; l < t.levels().size(); l++) {
      ASSERT_EQ(again.topology->domains(l).size(), t.domains(l).size());
      for (size_t i = 0; i < t.domains(l).size(); i++) EXPECT_EQ(again.topology->domains(l)[i].name, t.domains(l)[i].name);
    }
    for (NodeId n = 0; n < t.nodes(); n++) EXPECT_EQ(again.topology->kind(n).capacity, t.kind(n).capacity);
  }
}

TEST(JsonText, Numbers) {
  const auto text = [](double v) {
    std::string s;
    append_number(s, v);
    return s;
  };
  EXPECT_EQ(text(1e6), "1000000");
  EXPECT_EQ(text(-0.0), "0");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(2871.5), "2871.5");
  EXPECT_EQ(text(1e300), "1e+300");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "null");
  const auto seconds = [](Duration d) {
    std::string s;
    append_seconds(s, d);
    return s;
  };
  EXPECT_EQ(seconds(0), "0");
  EXPECT_EQ(seconds(1'500'000), "1.5");
  EXPECT_EQ(seconds(-1), "-0.000001");
  EXPECT_EQ(seconds(kNever), "9223372036854.775807");
  std::string big;
  append_int(big, (Int128{1} << 70) * -1);
  EXPECT_EQ(big, "-1180591620717411303424");
}

TEST(Summary, AtMost80Columns) {
  for (auto make : {test::two_jobs, test::preempted}) {
    Recorded r = make();
    r.header.dropped_rows = {{"asks no GPU", 198}, {"no duration", 14}};
    r.header.parameters = {{"order", "fifo"}, {"place", "pack"}, {"blocked", "stop"}};
    Metrics m;
    r.deliver({&m});
    const std::string text = summary(m.report(), r.header, "campus.csv.zst", "a-rather-long-name-for-a-topology-of-two-gpus");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_NE(text.find("212 rows dropped"), std::string::npos) << text;
    EXPECT_NE(text.find("completion time"), std::string::npos) << text;
  }
}

TEST(OutFile, AppearsWholeOrNotAtAll) {
  Folder folder;
  const std::string path = (folder.path / "deep" / "f.txt").string();
  write_file(path, "old");
  {
    OutFile f(path);
    f.write("new");
  }
  EXPECT_EQ(read(path), "old");
  {
    OutFile f(path);
    f.write("new");
    f.commit();
  }
  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path / "deep"), {}), 1);
}

TEST(OutFile, FollowsLinksAndLeavesThem) {
  Folder folder;
  write_file((folder.path / "real").string(), "old");
  fs::create_symlink("real", folder.path / "link");
  write_file((folder.path / "link").string(), "new");
  EXPECT_TRUE(fs::is_symlink(folder.path / "link"));
  EXPECT_EQ(read(folder.path / "real"), "new");
}

TEST(OutFile, ErrorsNameTheFile) {
  Folder folder;
  const auto error = [](const std::string& path, std::string_view bytes) -> std::string {
    try {
      write_file(path, bytes);
    } catch (const OutputError& e) {
      return e.what();
    }
    return "no error";
  };
  write_file((folder.path / "file").string(), "x");
  EXPECT_NE(error((folder.path / "file" / "below").string(), "x").find("below: cannot be written: "), std::string::npos);
  EXPECT_NE(error(folder.path.string(), "x").find("directory"), std::string::npos);
  if (fs::exists("/dev/full")) {
    EXPECT_EQ(error("/dev/full", "x"), "/dev/full: cannot be written: No space left on device");
  }
}

TEST(OutFile, CompressesByName) {
  Folder folder;
  const std::string path = (folder.path / "f.zst").string(), text(3'000'000, 'm');
  write_file(path, text);
  const std::string packed = read(path);
  EXPECT_LT(packed.size(), 10'000u);
  std::string back(text.size() + 1, '\0');
  ASSERT_EQ(ZSTD_decompress(back.data(), back.size(), packed.data(), packed.size()), text.size());
  EXPECT_EQ(back.substr(0, text.size()), text);
}

}  // namespace
}  // namespace muster
