// One row of a trace to one job.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "workload/columns.hpp"
#include "workload/intern.hpp"
#include "workload/trace.hpp"

namespace muster {

/// Turns rows into jobs of `result`, in row order; finish() sorts and re-bases them.
class Rows {
 public:
  Rows(Columns columns, const TraceOptions& options, std::string_view file, TraceResult& result);
  /// A record of line `line`. `fault`: why it is malformed, or null.
  void add(std::span<const std::string_view> fields, uint64_t line, const char* fault);
  void finish();

 private:
  enum class Why : uint8_t {
    malformed, empty, no_duration, not_a_number, negative, too_large, contradiction, duplicate_id, unsupported, cpu_only, zero_duration,
    count,
  };
  struct Bad {
    Why why;
    Field field;
    const char* what;   // after the value, or the whole text when the field is none
    uint32_t column = Columns::kAbsent;  // when the field does not say it
  };
  struct Request {
    uint32_t gpus = 0;      // per task; of the whole row when nodes is one or each
    uint32_t milli = 0;     // of one GPU, per task, when it shares one
    uint32_t tasks = 1, min_tasks = 1;
    uint32_t over = 0;      // number of nodes that `gpus` is spread over, when the row states more than one
    int64_t cpus = 0, memory = 0;
    Nodes nodes = Nodes::any;
    uint32_t wish = 0;      // into wishes_, 0 for none
    friend bool operator==(const Request&, const Request&) = default;
  };

  struct Wish {             // what few rows ask for; texts by their number in texts_, 0 for none
    enum Text : uint8_t { type, driver, cuda, labels, level, preferred, apart, count };
    std::array<uint32_t, count> text{};
    Numa numa = Numa::none;
    std::array<int64_t, kMaxKinds - 3> amounts{};
    friend bool operator==(const Wish&, const Wish&) = default;
  };

  std::string_view field(Field f) const {
    const uint32_t i = columns_.at[size_t(f)];
    return i == Columns::kAbsent ? std::string_view{} : fields_[i];
  }
  // Rare faults of a field are thrown (as Bad) from where it is read; what whole files may be full of is left out without.
  void row(uint64_t line);
  void leave_out(const Bad& bad, uint64_t line);
  [[noreturn]] void refuse(Parsed p, Field f, const char* want = "is not a number") const;
  static bool with_units(std::string_view s, Scale scale, Parsed p, Duration& out);
  // Each reads one field, leaves `out` alone when it is empty, and throws Bad. They say whether there was a value.
  bool amount(Field f, Rounding rounding, int64_t most, int64_t& out) const;
  bool gpus(Field f, int64_t& milli) const;
  bool instant(Field f, Time& out) const;
  bool span(Field f, Duration& out) const;
  bool small(Field f, int32_t& out) const;
  Duration work() const;
  int64_t of_each_gpu(int64_t stated) const;
  Request request();
  void claims(Job& job) const;
  LifeCosts costs() const;
  Communication communication();
  Fate fate();
  uint32_t wish(Request& r, int64_t tasks);
  void grant(const Wish& wish, Shape& s);
  ShapeId shape_of(const Request& r);
  uint32_t id_of(Names& names, IdTable& table, std::string_view s);
  bool known_id(std::string_view id);

  const Columns columns_;
  const TraceOptions& options_;
  const std::string_view file_;
  TraceResult& result_;
  std::span<const std::string_view> fields_;
  bool plain_request_, has_wishes_ = false, has_claims_ = false, has_costs_ = false, has_communication_ = false;

  std::array<LeftOut, size_t(Why::count)> left_out_;
  IdTable tenants_, queues_, ids_, shapes_, costs_, tags_;
  Names texts_;
  IdTable text_ids_, wish_ids_, model_ids_;
  std::vector<Wish> wishes_{Wish{}};
  std::vector<Request> requests_;  // by ShapeId
  Request last_request_;
  ShapeId last_shape_ = kNone;
  bool ids_ascend_ = true, sorted_ = true;
  std::string first_submit_;
  Time least_ = kNever, last_submit_ = 0;
  Int128 total_ = 0;               // of all durations
};

}  // namespace muster
