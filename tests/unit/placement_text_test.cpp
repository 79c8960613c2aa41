#include <gmock/gmock.h>

#include "muster/share.hpp"
#include "muster/topology.hpp"

namespace muster { namespace {

const Topology& cluster() {
  static const Topology t = Topology::parse_line("node:3 gpu:100");
  return t;
}

TEST(PlacementText, BothWays) {
  const std::pair<std::vector<Piece>, const char*> kTable[] = {
      {{}, ""},
      {{Piece::whole(1, 1, 0)}, "n1"},
      {{Piece::whole(1, 1, 0b1111), Piece::whole(2, 1, 0b1)}, "n1/gpu0-3,n2/gpu0"},
      {{Piece::whole(0, 1, 0b1001011)}, "n0/gpu0-1+3+6"},
      {{Piece::whole(0, 3, 0b11, 0, 2)}, "n0*3#2/gpu0-1"},
      {{Piece::whole(0, 1, ~uint64_t{0}), Piece::whole(0, 0, 0b11, 1)}, "n0/gpu0-65"},
      {{Piece::whole(0, 1, 0b1, 1)}, "n0/gpu64"},
      {{Piece::whole(0, 1, 0b1), Piece::whole(0, 1, 0b10)}, "n0/gpu0,n0/gpu1"},
      {{Piece::part(Share::mig, 1, 0, 2, 2, 0)}, "n1/gpu0@2g:2"},
      {{Piece::part(Share::slice, 1, 0, 0, 250, 0)}, "n1/gpu0:250m"},
      {{Piece::part(Share::mps, 1, 70, 0, 30, 4096)}, "n1/gpu70:30%+4096MiB"},
  };
  for (const auto& [pieces, text] : kTable) {
    EXPECT_EQ(to_text(cluster(), pieces), text);
    EXPECT_EQ(parse_pieces(cluster(), text), pieces) << text;
  }
}

TEST(PlacementText, Errors) {
  const std::pair<const char*, const char*> kTable[] = {
      {"n3", "no node is called \"n3\""},
      {"n0/gpu100", "node n0 has GPUs 0 to 99, not gpu100"},
      {"n0/gpu99999999999999999999", "GPU: want a whole number"},
      {"n0/gpu3-1", "goes backwards"},
      {"n0/gpu1+0-2", "gpu1 stands twice"},
      {"n0/cpu1", "want /gpu and a number"},
      {"n0/gpu", "GPU: want a whole number"},
      {"n0*70000", "tasks: want a whole number from 0 to 65,535"},
      {"n0#32", "group: want a whole number from 0 to 31"},
      {"n0/gpu0@7g:2", "1 to 8 slices of 8"},
      {"n0/gpu0:101%", "more than 100 %"},
      {"n0/gpu0:1001m", "more than 1000m"},
      {"n0/gpu0:5", "want thousandths"},
      {"n0/gpu0 ", "nothing is known to follow here"},
      {"n0,", "no node is called \"\""},
      {",n0", "no node is called \"\""},
  };
  for (const auto& [text, message] : kTable) {
    try {
      parse_pieces(cluster(), text);
      ADD_FAILURE() << text;
    } catch (const InputError& e) { EXPECT_THAT(e.what(), testing::HasSubstr(message)) << text; }
  }
}

}}  // namespace muster
