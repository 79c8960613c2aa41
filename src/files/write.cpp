#include "files/write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace muster {
namespace {

constexpr size_t kBuffer = size_t{1} << 18;

[[noreturn]] void fail(const std::string& name, const std::string& why) { throw OutputError(name + ": cannot be written: " + why); }
[[noreturn]] void fail(const std::string& name, int error) { fail(name, std::strerror(error)); }

}  // namespace

struct OutFile::Compressor {
  Compressor() : context(ZSTD_createCCtx()), block(ZSTD_CStreamOutSize()) { ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1); }
  ~Compressor() { ZSTD_freeCCtx(context); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ZSTD_CCtx* context;
  std::vector<char> block;
};

void write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(name, n == 0 ? ENOSPC : errno);
    bytes.remove_prefix(size_t(n));
  }
}

OutFile::OutFile(std::string path) : path_(std::move(path)), target_(path_) {
  namespace fs = std::filesystem;
  std::error_code e;
  struct stat s{};
  const bool there = ::stat(path_.c_str(), &s) == 0;
  if (there && S_ISDIR(s.st_mode)) fail(path_, EISDIR);
  if (there && !S_ISREG(s.st_mode)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail(path_, errno);
  } else {
    if (there) {
      const fs::path real = fs::canonical(path_, e);  // a link stays a link
      if (!e) target_ = real.string();
    }
    if (const fs::path folder = fs::path(target_).parent_path(); !folder.empty()) {
      fs::create_directories(folder, e);
      if (e) fail(path_, e.value());
    }
    for (int i = 0; fd_ < 0; i++) {
      temporary_ = target_ + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".part";
      fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd_ < 0 && errno != EEXIST) {
        temporary_.clear();
        fail(path_, errno);
      }
    }
  }
  if (path_.ends_with(".zst")) compressor_ = std::make_unique<Compressor>();
}

OutFile::~OutFile() { discard(); }

void OutFile::discard() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBuffer) {
    put(buffer_);
    buffer_.clear();
    if (bytes.size() > kBuffer) return put(bytes);
  }
  buffer_.append(bytes);
}

void OutFile::put(std::string_view bytes) {
  if (!compressor_) return write_all(fd_, bytes, path_);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out{compressor_->block.data(), compressor_->block.size(), 0};
    if (const size_t left = ZSTD_compressStream2(compressor_->context, &out, &in, ZSTD_e_continue); ZSTD_isError(left))
      fail(path_, ZSTD_getErrorName(left));
    write_all(fd_, {compressor_->block.data(), out.pos}, path_);
  }
}

void OutFile::commit() {
  put(buffer_);
  buffer_.clear();
  if (compressor_) {
    for (size_t left = 1; left != 0;) {
      ZSTD_inBuffer in{nullptr, 0, 0};
      ZSTD_outBuffer out{compressor_->block.data(), compressor_->block.size(), 0};
      left = ZSTD_compressStream2(compressor_->context, &out, &in, ZSTD_e_end);
      if (ZSTD_isError(left)) fail(path_, ZSTD_getErrorName(left));
      write_all(fd_, {compressor_->block.data(), out.pos}, path_);
    }
  }
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail(path_, errno);  // a full disk may only show here
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(path_, errno);
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view bytes) {
  OutFile f(path);
  f.write(bytes);
  f.commit();
}

}  // namespace muster
