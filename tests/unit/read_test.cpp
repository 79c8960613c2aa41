// Input files, plain, packed and broken.
#include "files/read.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace muster {
namespace {

std::string gzip(const std::string& s) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, s.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.data())), z.avail_in = uInt(s.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data()), z.avail_out = uInt(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd(const std::string& s) {
  std::string out(ZSTD_compressBound(s.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), s.data(), s.size(), 3));
  return out;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ReadFile, PackedDataByContent) {
  std::string text;
  for (int i = 0; i < 300'000; i++) text += std::to_string(i) + ",";
  EXPECT_EQ(unpacked(text, "x"), text);
  EXPECT_EQ(unpacked(gzip(text), "x"), text);
  EXPECT_EQ(unpacked(gzip("a") + gzip("b"), "x"), "ab");
  EXPECT_EQ(unpacked(gzip("a") + std::string(512, '\0'), "x"), "a");
  EXPECT_EQ(unpacked(gzip(""), "x"), "");
  EXPECT_EQ(unpacked(zstd(text), "x"), text);
  EXPECT_EQ(unpacked(zstd("a") + zstd("b"), "x"), "ab");
}

TEST(ReadFile, BrokenPackedData) {
  std::string text;
  for (int i = 0; i < 10'000; i++) text += std::to_string(i * 7919 % 10'007) + ",";
  const std::string gz = gzip(text), zs = zstd(text);
  for (const size_t n : {size_t{2}, size_t{10}, size_t{20}, gz.size() / 2, gz.size() - 8, gz.size() - 1})
    EXPECT_EQ(error_of([&] { unpacked(gz.substr(0, n), "t.gz"); }), "t.gz: is truncated gzip data") << n;
  for (const size_t n : {size_t{4}, size_t{20}, zs.size() / 2, zs.size() - 1})
    EXPECT_EQ(error_of([&] { unpacked(zs.substr(0, n), "t.zst"); }), "t.zst: is truncated Zstandard data") << n;
  std::string bad = gz;
  bad[gz.size() / 2] = char(bad[gz.size() / 2] ^ 0x55);
  EXPECT_EQ(error_of([&] { unpacked(bad, "t.gz"); }), "t.gz: is damaged gzip data");
  EXPECT_EQ(error_of([&] { unpacked(gz + "more", "t.gz"); }), "t.gz: has other data after the gzip data");
  EXPECT_EQ(error_of([&] { unpacked(zs + "more", "t.zst"); }).substr(0, 34), "t.zst: is damaged Zstandard data: ");
}

TEST(ReadFile, Paths) {
  const auto folder = std::filesystem::temp_directory_path() / ("muster-read-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "a").string();
  std::ofstream(path) << "hello\n";
  EXPECT_EQ(read_file(path), "hello\n");
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(error_of([&] { read_file(folder.string()); }), folder.string() + ": is a directory");
  EXPECT_EQ(error_of([&] { read_file((folder / "none").string()); }), (folder / "none").string() + ": cannot be opened: No such file or directory");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster
