// Dockerfiles by the Dockerfile reference: how lines become instructions, what starts, which layers two images share.
#include <gtest/gtest.h>

#include "explain/image.hpp"

namespace muster { namespace {

ImageLayers image(std::string_view text) { return image_layers(read_dockerfile(text, "Dockerfile")); }

std::string fault(std::string_view text) {
  try {
    read_dockerfile(text, "Dockerfile");
  } catch (const InputError& e) { return e.what(); }
  return "none";
}

TEST(Dockerfile, LinesAreContinuedAndCommentsLeftOut) {
  const Dockerfile d = read_dockerfile("# a comment\nfrom a:1\nRUN one \\\n  # between\n\n  two\n# escape=`\nRUN three\n", "f");
  ASSERT_EQ(d.stages.size(), 1u);
  const auto& in = d.stages[0].instructions;
  ASSERT_EQ(in.size(), 3u);
  EXPECT_EQ(in[0].name, "FROM");
  EXPECT_EQ(in[1].text, "one   two");
  EXPECT_EQ(in[1].line, 3u);
  EXPECT_EQ(in[2].line, 8u);
}

TEST(Dockerfile, AnotherEscapeCharacter) {
  EXPECT_EQ(read_dockerfile("# escape=`\nFROM a\nCOPY b c:\\\nRUN d `\ne\n", "f").stages[0].instructions.size(), 3u);
}

TEST(Dockerfile, DocumentsAreOneInstruction) {
  const Dockerfile d = read_dockerfile("FROM a\nRUN <<-END bash\n\techo 1\n\tEND\nCOPY <<x <<y /to/\n1\nx\n2\ny\nCMD z\n", "f");
  const auto& in = d.stages[0].instructions;
  ASSERT_EQ(in.size(), 4u);
  EXPECT_EQ(in[1].text, "<<-END bash\n\techo 1\n\tEND");
  EXPECT_EQ(in[2].line, 5u);
  EXPECT_EQ(in[3].line, 10u);
}

TEST(Dockerfile, ValuesBeforeFromAreFilledIn) {
  EXPECT_EQ(read_dockerfile("ARG V=3.11\nARG OS\nFROM --platform=linux/amd64 python:${V}-${OS:-slim} AS base\n", "f").stages[0].base, "python:3.11-slim");
}

TEST(Dockerfile, FaultsSayWhere) {
  EXPECT_EQ(fault(""), "Dockerfile: has no FROM; an image begins with the one it is built on");
  EXPECT_EQ(fault("RUN x"), "Dockerfile:1: RUN before the first FROM; only ARG may stand there");
  EXPECT_EQ(fault("FROM a\nWORKDR /x"), "Dockerfile:2: no instruction is called \"WORKDR\"; did you mean WORKDIR?");
  EXPECT_EQ(fault("FROM a\nENV"), "Dockerfile:2: ENV without arguments");
  EXPECT_EQ(fault("FROM a b"), "Dockerfile:1: want FROM IMAGE [AS NAME], found FROM \"a b\"");
  EXPECT_EQ(fault("FROM a\nCOPY b"), "Dockerfile:2: COPY wants a source and a target, found \"b\"");
  EXPECT_EQ(fault("FROM a\nSHELL sh"), "Dockerfile:2: SHELL wants the form [\"program\", \"argument\"], found \"sh\"");
  EXPECT_EQ(fault("FROM a\nRUN <<E\nx\n"), "Dockerfile:2: the document <<E is not closed by a line E");
}

// The table "how CMD and ENTRYPOINT interact" of the Dockerfile reference.
TEST(Image, WhatStarts) {
  const std::string shell_entry = "ENTRYPOINT exec_entry p1_entry\n", exec_entry = "ENTRYPOINT [\"exec_entry\", \"p1_entry\"]\n";
  const std::string exec_cmd = "CMD [\"exec_cmd\", \"p1_cmd\"]\n", shell_cmd = "CMD exec_cmd p1_cmd\n";
  EXPECT_EQ(image("FROM a\n").starts, "");
  EXPECT_EQ(image("FROM a\n" + shell_entry).starts, "/bin/sh -c \"exec_entry p1_entry\"");
  EXPECT_EQ(image("FROM a\n" + exec_entry).starts, "exec_entry p1_entry");
  EXPECT_EQ(image("FROM a\n" + exec_cmd).starts, "exec_cmd p1_cmd");
  EXPECT_EQ(image("FROM a\n" + shell_entry + exec_cmd).starts, "/bin/sh -c \"exec_entry p1_entry\"");
  EXPECT_EQ(image("FROM a\n" + exec_entry + exec_cmd).starts, "exec_entry p1_entry exec_cmd p1_cmd");
  EXPECT_EQ(image("FROM a\n" + shell_cmd).starts, "/bin/sh -c \"exec_cmd p1_cmd\"");
  EXPECT_EQ(image("FROM a\n" + shell_entry + shell_cmd).starts, "/bin/sh -c \"exec_entry p1_entry\"");
  EXPECT_EQ(image("FROM a\n" + exec_entry + shell_cmd).starts, "exec_entry p1_entry /bin/sh -c \"exec_cmd p1_cmd\"");
  EXPECT_EQ(image("FROM a\nSHELL [\"bash\", \"-c\"]\n" + shell_cmd).starts, "bash -c \"exec_cmd p1_cmd\"");
  // ENTRYPOINT resets the CMD of what the image is built on.
  EXPECT_EQ(image("FROM a AS base\n" + exec_cmd + "FROM base\n" + exec_entry).starts, "exec_entry p1_entry");
}

TEST(Image, SharedLayersEndWhereSomethingDiffers) {
  const auto shared = [](std::string_view a, std::string_view b) { return shared_layers(image(a), image(b)); };
  EXPECT_EQ(shared("FROM a\nRUN x\nRUN y\nCOPY p q\n", "FROM a\nRUN x\nRUN y\nCOPY r q\n"), 2u);
  EXPECT_EQ(shared("FROM a\nRUN x\n", "FROM b\nRUN x\n"), 0u);
  EXPECT_EQ(shared("FROM a\nCOPY . .\nRUN x\n", "FROM a\nRUN x\nCOPY . .\n"), 0u) << "equal layers on others are others";
  EXPECT_EQ(shared("FROM a\nENV v=1\nRUN x\n", "FROM a\nENV v=2\nRUN x\n"), 0u) << "a command sees its variables";
  EXPECT_EQ(shared("FROM a\nENV v=1\nCOPY p q\n", "FROM a\nENV v=2\nCOPY p q\n"), 1u) << "a copy does not";
  EXPECT_EQ(shared("FROM a\nLABEL v=1\nCMD x\nRUN x\n", "FROM a\nEXPOSE 80\nRUN x\n"), 1u) << "metadata make no layer and change none";
  EXPECT_EQ(shared("FROM a\nWORKDIR /x\nCOPY p q\n", "FROM a\nWORKDIR /y\nCOPY p q\n"), 0u) << "another target";
  EXPECT_EQ(shared("FROM a\nWORKDIR /x\nWORKDIR y\nRUN z\n", "FROM a\nWORKDIR /x/y\nRUN z\n"), 1u);
}

TEST(Image, OnlyTheLastStageIsTheImage) {
  const ImageLayers i = image("FROM go AS build\nRUN compile\nFROM scratch\nCOPY --from=build /app /app\n");
  EXPECT_EQ(i.base, "scratch");
  ASSERT_EQ(i.layers.size(), 1u);
  EXPECT_EQ(i.layers[0].line, 4u);
  EXPECT_EQ(image("FROM a AS one\nRUN x\nFROM one\nRUN y\n").layers.size(), 2u) << "a stage goes on from another";
  const auto built = [](std::string how) { return image("FROM go AS build\nRUN " + how + "\nFROM a\nCOPY --from=build /app /app\n"); };
  EXPECT_EQ(shared_layers(built("x"), built("x")), 1u);
  EXPECT_EQ(shared_layers(built("x"), built("y")), 0u) << "what is copied was made in another way";
}

}}  // namespace muster
