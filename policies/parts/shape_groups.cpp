#include "parts/shape_groups.hpp"

#include <algorithm>

namespace muster {

bool same_gpus(const Shape& a, const Shape& b) {
  return a.nodes == b.nodes && a.total_gpus == b.total_gpus &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(), [](const TaskGroup& x, const TaskGroup& y) {
           return x.min_tasks == y.min_tasks && x.max_tasks == y.max_tasks && x.gpus == y.gpus && x.gpu_mem_mib == y.gpu_mem_mib &&
                  x.gpu_type == y.gpu_type;
         });
}

}  // namespace muster
