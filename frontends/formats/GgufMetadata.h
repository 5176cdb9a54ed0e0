// The key/value part of a GGUF file: hyperparameters, vocabulary, templates.
// Values stay in the mapped file, which must outlive this object; reading
// checked their lengths, so access only has to check the type. Immutable once
// read; any thread may use it.

#ifndef QUIRE_FRONTENDS_FORMATS_GGUFMETADATA_H
#define QUIRE_FRONTENDS_FORMATS_GGUFMETADATA_H

#include "frontends/formats/ByteReader.h"
#include "frontends/formats/GgufTypes.h"

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

struct GgufValue {
  GgufType type = GgufType::U8;
  GgufType elementType = GgufType::U8; // of an array
  uint64_t count = 1;                  // elements of an array
  /// A scalar's bytes, a string's text, or an array's elements as stored.
  std::span<const std::byte> bytes;
};

class GgufMetadata {
public:
  /// Reads `count` entries; messages are fragments without the file's name.
  static absl::StatusOr<GgufMetadata> read(ByteReader &reader, uint64_t count);

  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// Null when there is no such key.
  const GgufValue *find(std::string_view key) const;
  const std::map<std::string, GgufValue, std::less<>> &entries() const {
    return values;
  }

  // Typed access. NotFound when the key is absent; InvalidArgument or
  // OutOfRange, naming the key, when the value is something else. All integer
  // widths read as int64, all floats and integers as double.
  absl::StatusOr<int64_t>
  getInt(std::string_view key,
         int64_t lowest = std::numeric_limits<int64_t>::min(),
         int64_t highest = std::numeric_limits<int64_t>::max()) const;
  absl::StatusOr<double> getFloat(std::string_view key) const;
  absl::StatusOr<bool> getBool(std::string_view key) const;
  /// Views into the file; the bytes need not be valid UTF-8.
  absl::StatusOr<std::string_view> getString(std::string_view key) const;
  absl::StatusOr<std::vector<std::string_view>>
  getStrings(std::string_view key) const;
  /// Booleans read as 0 and 1.
  absl::StatusOr<std::vector<int64_t>> getInts(std::string_view key) const;
  absl::StatusOr<std::vector<float>> getFloats(std::string_view key) const;

  /// One flat object of everything but arrays longer than
  /// kLongestArrayInJson and strings longer than kLongestStringInJson bytes.
  /// Text that is not UTF-8 is mended with U+FFFD.
  nlohmann::json toJson() const;

  /// Leaves vocabularies out, keeps lists with an entry per layer.
  static constexpr uint64_t kLongestArrayInJson = 1024;
  static constexpr uint64_t kLongestStringInJson = 1u << 20;

private:
  std::map<std::string, GgufValue, std::less<>> values;
};

} // namespace quire

#endif
