// Where two runs part, and what is said about it.
#include "report/run_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/types.hpp"

namespace muster {
namespace {

using testing::HasSubstr;

const std::string kHeader = R"({"schema":"muster-records-1","policy":"fifo","parameters":[["order","fifo"]],"seed":0})"
                            "\n";
const std::string kOther = R"({"schema":"muster-records-1","policy":"sjf","parameters":[["order","sjf"]],"seed":0})"
                           "\n";
const std::string kCommon = R"({"at_us":0,"what":"submit","job":0,"state":"queued","id":"long","user":"u"}
{"at_us":0,"what":"submit","job":1,"state":"queued","id":"short","user":"u"}
{"at_us":0,"what":"waits","job":1,"state":"queued","reason":"no_gpus"}
)";
const std::string kA = R"({"at_us":5000000,"what":"start","job":0,"state":"running","pieces":"n0/gpu0"}
{"at_us":5000000,"what":"waits","job":1,"state":"queued","reason":"behind_head"}
{"end_of_run":true,"at_us":5000000,"records":5}
)";
const std::string kB = R"({"at_us":5000000,"what":"start","job":1,"state":"running","pieces":"n0/gpu0"}
{"end_of_run":true,"at_us":5000000,"records":4}
)";

TEST(RunDiff, EqualRunsDoNotPart) {
  const RunDiff d = diff_runs(kHeader + kCommon + kA, "a", kHeader + kCommon + kA, "b");
  EXPECT_FALSE(d.parts);
  EXPECT_EQ(d.text, "the runs are equal to the byte\n");
}

TEST(RunDiff, HeadersAloneAreNoParting) {
  const RunDiff d = diff_runs(kHeader + kCommon + kA, "a", kOther + kCommon + kA, "b");
  EXPECT_FALSE(d.parts);
  EXPECT_EQ(d.text,
            "header  policy: fifo | sjf\n"
            "header  parameters: order=fifo | order=sjf\n"
            "every record is the same; only the headers differ\n");
}

TEST(RunDiff, TellsTheInstantBothLinesAndBothReasons) {
  const RunDiff d = diff_runs(kHeader + kCommon + kA, "a.jsonl", kHeader + kCommon + kB, "b.jsonl");
  EXPECT_TRUE(d.parts);
  EXPECT_EQ(d.text,
            "the runs part at line 5, record 4, 5s after the first submit (5.000000 s)\n"
            "a.jsonl\n"
            "  job long: start n0/gpu0 (running)\n"
            "  job short: waits (queued), reason behind_head\n"
            "  {\"at_us\":5000000,\"what\":\"start\",\"job\":0,\"state\":\"running\",\"pieces\":\"n0/gpu0\"}\n"
            "b.jsonl\n"
            "  job short: start n0/gpu0 (running)\n"
            "  job long: as before, queued since 0s\n"
            "  {\"at_us\":5000000,\"what\":\"start\",\"job\":1,\"state\":\"running\",\"pieces\":\"n0/gpu0\"}\n");
}

TEST(RunDiff, SeesACutFile) {
  const RunDiff d = diff_runs(kHeader + kCommon + kA, "a", kHeader + kCommon, "b");
  EXPECT_TRUE(d.parts);
  EXPECT_THAT(d.text, HasSubstr("b\n  ends here: the file was cut short\n"));
}

TEST(RunDiff, RefusesWhatIsNoRecording) {
  EXPECT_THROW(diff_runs("", "a", kHeader, "b"), InputError);
  EXPECT_THROW(diff_runs(kHeader, "a", "{}\n", "b"), InputError);
  EXPECT_THROW(diff_runs(kHeader + "3\n", "a", kHeader, "b"), InputError);
  EXPECT_THROW(diff_runs(kHeader + "{\n", "a", kHeader, "b"), InputError);
}

}  // namespace
}  // namespace muster
