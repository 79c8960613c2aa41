// Recordings: what is read goes to an observer, which may look at all of it.
#include "report/records.hpp"

#include "muster/topology.hpp"

namespace {

class Reader : public muster::Observer {
 public:
  void begin(const muster::Header& h) override { topology_ = h.topology; }
  void see(std::span<const muster::Record> records) override {
    for (const muster::Record& r : records) size_ += muster::to_text(*topology_, r.pieces).size() + r.fields.size();
  }

 private:
  const muster::Topology* topology_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Reader reader;
  muster::Observer* observers[] = {&reader};
  try {
    muster::read_records({reinterpret_cast<const char*>(data), size}, "f.jsonl", observers);
  } catch (const muster::InputError&) {
  }
  return 0;
}
