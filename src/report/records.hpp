// records.jsonl: the record stream as a file, and back.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "muster/record.hpp"

namespace muster {

class OutFile;

/// Writes every record to a file while the run goes on: the header, a line a record, and a last line that says the file is whole.
/// docs/records.md is the schema. The caller commits the file after finish().
class RecordWriter : public Observer {
 public:
  explicit RecordWriter(OutFile& out);
  ~RecordWriter() override;
  void begin(const Header& h) override;
  void see(std::span<const Record> records) override;
  void finish(Time at) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a file of records is a recording of. The header points into it.
struct Recording {
  Recording();
  ~Recording();
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  std::unique_ptr<Topology> topology;
  std::unique_ptr<Workload> workload;
  Header header;
  uint64_t records = 0;
};

/// Feeds the records in `text` (decompressed; `file` names it in messages) to the observers as the run that wrote them did: begin,
/// a batch an instant, finish. Throws InputError, with the line, for a file that is malformed, that contradicts itself or that was cut.
Recording read_records(std::string_view text, std::string_view file, std::span<Observer* const> observers);

}  // namespace muster
