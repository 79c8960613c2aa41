// All families behind one observer.
#pragma once
#include <algorithm>
#include <vector>

#include "metrics/family.hpp"

namespace muster {

/// Folds the usual metrics while a run goes on, and those that the run's header or `more` asks for. Give it to Simulator::observe, or feed it
/// the records of a file.
class Metrics : public Observer {
 public:
  explicit Metrics(std::vector<std::string> more = {}) : more_(std::move(more)) {}
  void begin(const Header& h) override {
    const auto asked = [&](std::string_view name) {
      const auto in = [&](const std::vector<std::string>& list) {
        return std::any_of(list.begin(), list.end(), [&](const std::string& m) { return m == name || m == "all"; });
      };
      return in(more_) || in(h.metrics);
    };
    for (const FamilyInfo& f : metric_families())
      if (f.usual || asked(f.name)) families_.push_back(f.make());
    for (auto& f : families_) f->begin(h);
  }
  void see(std::span<const Record> records) override {
    for (auto& f : families_) f->see(records);
  }
  void finish(Time at) override {
    for (auto& f : families_) f->finish(at);
  }
  /// The numbers, once, after finish().
  Report report() {
    Report r;
    for (auto& f : families_) f->report(r);
    return r;
  }

 private:
  std::vector<std::string> more_;
  std::vector<std::unique_ptr<Family>> families_;
};

}  // namespace muster
