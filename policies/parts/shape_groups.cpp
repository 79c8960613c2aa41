#include "parts/shape_groups.hpp"

#include <algorithm>

namespace muster {

bool same_gpus(const Shape& a, const Shape& b) {
  return a.nodes == b.nodes && a.total_gpus == b.total_gpus && a.numa == b.numa && a.apart == b.apart &&
         a.required_level == b.required_level && a.preferred_level == b.preferred_level &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(), [](const TaskGroup& x, const TaskGroup& y) {
           return x.min_tasks == y.min_tasks && x.max_tasks == y.max_tasks && x.gpus == y.gpus && x.gpu_milli() == y.gpu_milli() &&
                  x.gpu_mem_mib == y.gpu_mem_mib &&
                  x.gpu_types == y.gpu_types && x.driver == y.driver && x.cuda == y.cuda && x.labels == y.labels;
         });
}

}  // namespace muster
