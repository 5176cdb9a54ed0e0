#include "frontends/formats/Json.h"
#include "frontends/formats/MappedFile.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include "nlohmann/json.hpp"

#include <vector>

using nlohmann::json;

namespace quire {

namespace {

/// Builds the document from parser events, so that limits hold while parsing
/// and not after: the parser itself does not recurse.
class StrictBuilder final : public nlohmann::json_sax<json> {
public:
  explicit StrictBuilder(const JsonLimits &limits) : limits(limits) {}

  json &result() { return root; }
  /// Empty while all went well.
  const std::string &problem() const { return message; }

  bool null() override { return put(nullptr) != nullptr; }
  bool boolean(bool value) override { return put(value) != nullptr; }
  bool number_integer(int64_t value) override { return put(value) != nullptr; }
  bool number_unsigned(uint64_t value) override {
    return put(value) != nullptr;
  }
  bool number_float(double value, const std::string &) override {
    return put(value) != nullptr;
  }
  bool string(std::string &value) override {
    return put(std::move(value)) != nullptr;
  }
  bool binary(json::binary_t &) override { return fail("binary value"); }

  bool start_object(size_t) override { return push(json::object()); }
  bool start_array(size_t) override { return push(json::array()); }
  bool end_object() override { return pop(); }
  bool end_array() override { return pop(); }

  bool key(std::string &name) override {
    if (!count()) {
      return false;
    }
    auto [slot, isNew] =
        open.back()->get_ref<json::object_t &>().try_emplace(name);
    if (!isNew) {
      return fail(strCat("duplicate key '", printable(name), "'"));
    }
    field = &slot->second;
    return true;
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    // The library's text: "[id] parse error at ...: reason; last read: '...'"
    // The tail quotes the input, which may be long or binary.
    std::string_view reason = error.what();
    reason = reason.substr(0, reason.find("; last read"));
    // A number that overflows has no "parse error at" before its reason.
    bool bare = error.id != 101;
    size_t start = reason.find(bare ? "] " : ": ");
    reason = start == reason.npos ? reason : reason.substr(start + 2);
    return fail(strCat("not valid JSON at byte ", position, " (",
                       printable(reason), ")"));
  }

private:
  bool fail(std::string what) {
    message = std::move(what);
    return false;
  }

  bool count() {
    if (++values > limits.maxValues) {
      return fail(strCat("more than ", limits.maxValues,
                         " values, the most that is read"));
    }
    return true;
  }

  json *put(json value) {
    if (!count()) {
      return nullptr;
    }
    if (open.empty()) {
      root = std::move(value);
      return &root;
    }
    if (open.back()->is_array()) {
      json::array_t &array = open.back()->get_ref<json::array_t &>();
      return &array.emplace_back(std::move(value));
    }
    *field = std::move(value);
    return field;
  }

  bool push(json container) {
    if (static_cast<int>(open.size()) >= limits.maxDepth) {
      return fail(strCat("nested deeper than ", limits.maxDepth,
                         " levels, the most that is read"));
    }
    json *placed = put(std::move(container));
    if (placed) {
      open.push_back(placed);
    }
    return placed;
  }

  bool pop() {
    open.pop_back();
    return true;
  }

  const JsonLimits &limits;
  json root;
  // Addresses stay good: a container grows only while it is the innermost.
  std::vector<json *> open;
  json *field = nullptr;
  size_t values = 0;
  std::string message;
};

} // namespace

absl::StatusOr<json> parseJson(std::string_view text, std::string_view source,
                               const JsonLimits &limits) {
  if (text.size() > limits.maxBytes) {
    return absl::InvalidArgumentError(strCat("'", source, "': ", text.size(),
                                             " bytes of JSON; at most ",
                                             limits.maxBytes, " are read"));
  }
  StrictBuilder builder(limits);
  bool parsed = json::sax_parse(text.begin(), text.end(), &builder);
  if (!parsed || !builder.problem().empty()) {
    return absl::InvalidArgumentError(
        strCat("'", source, "': ", builder.problem()));
  }
  return std::move(builder.result());
}

absl::StatusOr<json> readJson(const std::string &path,
                              const JsonLimits &limits) {
  absl::StatusOr<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  return parseJson(file->text(), path, limits);
}

absl::Status inFile(std::string_view path, const absl::Status &status) {
  if (status.ok()) {
    return status;
  }
  return absl::Status(status.code(),
                      strCat("'", path, "': ", status.message()));
}

} // namespace quire
