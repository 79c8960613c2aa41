#include "files/read.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace muster {
namespace {

constexpr size_t kMostBytes = size_t{16} << 30;
constexpr size_t kChunk = size_t{1} << 20;

[[noreturn]] void fail(const std::string& name, const std::string& what) { throw InputError(name + ": " + what); }

struct Descriptor {
  int fd = -1;
  bool owned = true;
  ~Descriptor() {
    if (owned && fd >= 0) close(fd);
  }
};

std::string read_all(int fd, size_t expected, const std::string& name) {
  std::string bytes;
  bytes.resize(expected + 1);  // one more, so that the end is seen without growing
  size_t used = 0;
  for (;;) {
    if (used == bytes.size()) {
      if (used >= kMostBytes) fail(name, "is larger than 16 GiB");
      bytes.resize(std::max(used * 2, kChunk));
    }
    const ssize_t n = read(fd, bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(name, std::string("cannot be read: ") + std::strerror(errno));
    if (n == 0) break;
    used += size_t(n);
  }
  bytes.resize(used);
  return bytes;
}

void append(std::string& out, const char* from, size_t n, const std::string& name) {
  if (out.size() + n > kMostBytes) fail(name, "is larger than 16 GiB when unpacked");
  out.append(from, n);
}

std::string gunzip(std::string_view bytes, const std::string& name) {
  z_stream z{};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) fail(name, "cannot be unpacked: no memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&z, inflateEnd);
  std::string out;
  std::vector<char> chunk(kChunk);
  size_t given = 0;
  for (;;) {
    if (z.avail_in == 0 && given < bytes.size()) {
      const size_t n = std::min(bytes.size() - given, kChunk);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + given));
      z.avail_in = uInt(n);
      given += n;
    }
    z.next_out = reinterpret_cast<Bytef*>(chunk.data());
    z.avail_out = uInt(chunk.size());
    const int status = inflate(&z, Z_NO_FLUSH);
    append(out, chunk.data(), chunk.size() - z.avail_out, name);
    if (status == Z_STREAM_END) {
      const size_t left = bytes.size() - given + z.avail_in;
      const std::string_view rest = bytes.substr(bytes.size() - left);
      if (rest.find_first_not_of('\0') == rest.npos) return out;  // done, perhaps with padding
      if (rest.substr(0, 2) != "\x1f\x8b") fail(name, "has other data after the gzip data");
      if (inflateReset(&z) != Z_OK) fail(name, "cannot be unpacked");
    } else if (status == Z_BUF_ERROR || (status == Z_OK && z.avail_in == 0 && given == bytes.size() && z.avail_out != 0)) {
      fail(name, "is truncated gzip data");
    } else if (status != Z_OK) {
      fail(name, "is damaged gzip data");
    }
  }
}

std::string unzstd(std::string_view bytes, const std::string& name) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  if (!stream) fail(name, "cannot be unpacked: no memory");
  std::string out;
  std::vector<char> chunk(kChunk);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t wanted = 1;
  bool full = false;
  while (in.pos < in.size || full) {
    ZSTD_outBuffer o{chunk.data(), chunk.size(), 0};
    wanted = ZSTD_decompressStream(stream.get(), &o, &in);
    if (ZSTD_isError(wanted)) fail(name, std::string("is damaged Zstandard data: ") + ZSTD_getErrorName(wanted));
    append(out, chunk.data(), o.pos, name);
    full = o.pos == o.size;
  }
  if (wanted != 0) fail(name, "is truncated Zstandard data");
  return out;
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "stdin" : path; }

std::string unpacked(std::string bytes, const std::string& name) {
  const std::string_view v = bytes;
  if (v.substr(0, 2) == "\x1f\x8b") return gunzip(v, name);
  if (v.substr(0, 4) == "\x28\xb5\x2f\xfd") return unzstd(v, name);
  return bytes;
}

std::string read_file(const std::string& path) {
  const std::string name = input_name(path);
  Descriptor file;
  if (path == "-") {
    file.fd = STDIN_FILENO, file.owned = false;
  } else {
    file.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file.fd < 0) fail(name, std::string("cannot be opened: ") + std::strerror(errno));
  }
  struct stat s {};
  size_t expected = kChunk;
  if (fstat(file.fd, &s) == 0) {
    if (S_ISDIR(s.st_mode)) fail(name, "is a directory");
    if (S_ISREG(s.st_mode)) {
      if (s.st_size > off_t(kMostBytes)) fail(name, "is larger than 16 GiB");
      expected = size_t(s.st_size);
    }
  }
  return unpacked(read_all(file.fd, expected, name), name);
}

}  // namespace muster
