#include <dlfcn.h>

#include "cli/inputs.hpp"

namespace muster::cli {

const PolicyInfo* load_plugin(const std::string& path) {
  // Without a slash the loader would look in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw InputError(path + ": cannot be loaded as a policy: " + dlerror());
  void* symbol = dlsym(library, "muster_policy_v1");
  if (!symbol)
    throw InputError(path + ": has no function muster_policy_v1; want `extern \"C\" const muster::PolicyInfo* muster_policy_v1()`");
  const PolicyInfo* info = reinterpret_cast<const PolicyInfo* (*)()>(symbol)();
  if (!info || !info->make || info->name.empty()) throw InputError(path + ": muster_policy_v1 gives no policy");
  return info;
}

}  // namespace muster::cli
