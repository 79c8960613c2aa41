// All families behind one observer.
#pragma once
#include <vector>

#include "metrics/family.hpp"

namespace muster {

/// Folds every metric of the table while a run goes on. Give it to Simulator::observe, or feed it the records of a file.
class Metrics : public Observer {
 public:
  Metrics() {
    for (const FamilyInfo& f : metric_families()) families_.push_back(f.make());
  }
  void begin(const Header& h) override {
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
  std::vector<std::unique_ptr<Family>> families_;
};

}  // namespace muster
