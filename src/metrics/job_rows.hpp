// One row a job, for those who ask for rows.
#pragma once
#include <vector>

#include "muster/record.hpp"

namespace muster {

/// What became of a job.
struct JobRow {
  Time submit = kNever;     ///< kNever: it was never submitted (the run was cut before)
  Time start = kNever;      ///< first start; kNever: never
  Time end = kNever;
  State state = State::future;
  Reason reason = Reason::none;  ///< why it was rejected or dropped; else the last reason for which it waited
  TimeParts time;
  uint32_t pieces_begin = 0, pieces_count = 0;  ///< of JobRows::placement: where it ran last
};

/// Keeps a row for every job of the workload, in its order: submit time, then trace order.
class JobRows : public Observer {
 public:
  void begin(const Header& h) override;
  void see(std::span<const Record> records) override;
  const std::vector<JobRow>& rows() const { return rows_; }
  Pieces placement(const JobRow& r) const { return Pieces(pieces_).subspan(r.pieces_begin, r.pieces_count); }

 private:
  std::vector<JobRow> rows_;
  std::vector<Piece> pieces_;
};

}  // namespace muster
