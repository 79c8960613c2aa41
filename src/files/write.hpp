// Files appear whole or not at all.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster {

/// Output could not be written. The text names the file and what the system says about it. Exit status 74.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file under construction. It is written beside its destination under another name and takes its name by commit(); without commit(),
/// or after an error, nothing stays behind and a file that was there before is untouched. A name that ends in .zst is compressed.
/// What is there and is no regular file (a pipe, a device) is written straight. Missing folders are made.
/// A closed pipe is an error only in a process that ignores SIGPIPE, as muster does.
class OutFile {
 public:
  explicit OutFile(std::string path);  ///< throws OutputError
  ~OutFile();
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;
  void write(std::string_view bytes);  ///< throws OutputError
  void commit();                       ///< throws OutputError
  const std::string& path() const { return path_; }

 private:
  struct Compressor;
  void put(std::string_view bytes);
  void discard() noexcept;
  std::string path_, target_, temporary_;  // as given; links followed; empty: written straight
  std::string buffer_;
  std::unique_ptr<Compressor> compressor_;
  int fd_ = -1;
};

/// Writes a file in one go. Throws OutputError.
void write_file(const std::string& path, std::string_view bytes);

/// Writes all of `bytes` to the descriptor, 1 for standard output. Throws OutputError naming `name` when it cannot (closed pipe, full disk).
void write_all(int fd, std::string_view bytes, const std::string& name);

}  // namespace muster
