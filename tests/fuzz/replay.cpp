// Feeds kept inputs to a fuzz target: muster-replay NAME FOLDER. Beside each input as it is, its halves and its reverse, so that the few that
// are kept reach a little further.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define TARGET(name) extern "C" int fuzz_##name(const uint8_t*, size_t);
#include "targets.inc"
#undef TARGET

int main(int argc, char** argv) {
  using Target = int (*)(const uint8_t*, size_t);
  Target target = nullptr;
#define TARGET(name) \
  if (argc == 3 && std::strcmp(argv[1], #name) == 0) target = fuzz_##name;
#include "targets.inc"
#undef TARGET
  if (!target) {
    std::fprintf(stderr, "usage: muster-replay NAME FOLDER\n");
    return 2;
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  const auto feed = [&](const std::string& s) {
    // Exactly as long as the input: a read past its end is one past the allocation.
    const std::vector<uint8_t> bytes(s.begin(), s.end());
    target(bytes.data(), bytes.size());
  };
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string s(std::istreambuf_iterator<char>(in), {});
    feed(s);
    feed(s.substr(0, s.size() / 2));
    feed(s.substr(s.size() / 2));
    std::reverse(s.begin(), s.end());
    feed(s);
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
