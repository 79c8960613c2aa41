#include "text/json_config.hpp"

#include <nlohmann/json.hpp>

#include "text/config_builder.hpp"

namespace muster {
namespace {

/// The reader underneath keeps a stack of its own and does not recurse.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(std::string_view text, std::string_view file) : text_(text), file_(file), out_(file) {}
  Config take() { return out_.take(); }

  bool null() override { return add(Config::Kind::none, {}); }
  bool boolean(bool b) override { return add(Config::Kind::boolean, b ? "true" : "false"); }
  bool number_integer(number_integer_t n) override { return add(Config::Kind::number, std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) override { return add(Config::Kind::number, std::to_string(n)); }
  bool number_float(number_float_t, const string_t& s) override { return add(Config::Kind::number, s); }
  bool string(string_t& s) override { return add(Config::Kind::text, std::move(s)); }
  bool binary(binary_t&) override { return false; }  // no such thing in JSON text
  bool start_object(std::size_t) override { return out_.open(Config::Kind::object), true; }
  bool start_array(std::size_t) override { return out_.open(Config::Kind::list), true; }
  bool key(string_t& s) override { return out_.key(std::move(s)), true; }
  bool end_object() override { return out_.close(), true; }
  bool end_array() override { return out_.close(), true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) override {
    std::string_view what = e.what();
    if (const size_t at = what.find("column "); at != what.npos)
      if (const size_t colon = what.find(": ", at); colon != what.npos) what.remove_prefix(colon + 2);
    const std::string where = file_ + ": " + line_and_column(text_, position ? position - 1 : 0);
    constexpr int kNumberTooLarge = 406;
    if (e.id == kNumberTooLarge) throw InputError(where + ": the number is too large");
    throw InputError(where + ": not JSON: " + std::string(what.substr(0, 200)));
  }

 private:
  bool add(Config::Kind kind, std::string value) { return out_.scalar(kind, std::move(value)), true; }

  std::string_view text_;
  std::string file_;
  ConfigBuilder out_;
};

}  // namespace

Config parse_json_config(std::string_view text, std::string_view file) {
  Reader reader(text, file);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader, nlohmann::json::input_format_t::json, true, true);
  return reader.take();
}

}  // namespace muster
