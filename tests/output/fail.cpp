// A preloaded library in which the n-th call of one kind fails: MUSTER_FAIL="write 3 28" fails the third write and all later ones with error
// 28 (ENOSPC); "short 3 0" writes only one byte of the third. Calls on standard error, and files opened for reading, are not counted.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Plan {
  char kind[16] = "";
  long at = 0;
  int error = 0;
  Plan() {
    if (const char* text = std::getenv("MUSTER_FAIL")) std::sscanf(text, "%15s %ld %d", kind, &at, &error);
  }
};

/// Counts a call; whether this one fails.
bool fails(const char* kind) {
  static const Plan plan;
  static long calls = 0;
  if (std::strcmp(plan.kind, kind) != 0 || ++calls < plan.at) return false;
  errno = plan.error;
  return true;
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

int open_with(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & O_ACCMODE) != O_RDONLY && fails("open")) return -1;
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = flags & O_CREAT ? mode_t(va_arg(list, unsigned)) : 0;
  va_end(list);
  return open_with("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = flags & O_CREAT ? mode_t(va_arg(list, unsigned)) : 0;
  va_end(list);
  return open_with("open64", path, flags, mode);
}

ssize_t write(int fd, const void* data, size_t size) {
  static const auto real = next<ssize_t(int, const void*, size_t)>("write");
  if (fd != 2 && fails("write")) return -1;
  if (fd != 2 && size > 1 && fails("short")) size = 1;
  return real(fd, data, size);
}

int close(int fd) {
  static const auto real = next<int(int)>("close");
  const int flags = fcntl(fd, F_GETFL);
  const bool out = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  const int result = real(fd);
  return out && fails("close") ? -1 : result;
}

int rename(const char* from, const char* to) {
  if (fails("rename")) return -1;
  return next<int(const char*, const char*)>("rename")(from, to);
}

int mkdir(const char* path, mode_t mode) {
  if (fails("mkdir")) return -1;
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}
}
