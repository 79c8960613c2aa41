#include "metrics/job_rows.hpp"

#include <algorithm>

namespace muster {

void JobRows::begin(const Header& h) {
  rows_.assign(h.workload->jobs.size(), JobRow{});
  pieces_.clear();
}

void JobRows::see(std::span<const Record> records) {
  for (const Record& r : records) {
    if (r.job >= rows_.size()) continue;
    JobRow& row = rows_[r.job];
    if (r.what == What::submit) row.submit = r.at;
    if (r.what == What::waits) row.reason = r.reason;
    if (r.what == What::start && row.start == kNever) row.start = r.at;
    if ((r.what == What::start || r.what == What::resize) && !r.pieces.empty()) {
      if (r.pieces.size() > row.pieces_count) row.pieces_begin = uint32_t(pieces_.size()), pieces_.resize(pieces_.size() + r.pieces.size());
      row.pieces_count = uint32_t(r.pieces.size());
      std::copy(r.pieces.begin(), r.pieces.end(), pieces_.begin() + row.pieces_begin);
    }
    if (r.what == What::end) {
      row.end = r.at;
      row.state = r.state;
      if (r.reason != Reason::none) row.reason = r.reason;
      if (r.time) row.time = *r.time;
    }
  }
}

}  // namespace muster
