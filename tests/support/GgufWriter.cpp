#include "tests/support/GgufWriter.h"

#include <fstream>

namespace quire::test {

static void pad(std::string &bytes, uint64_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

std::string GgufWriter::sized(std::string_view text) {
  return rawBytes<uint64_t>(text.size()) + std::string(text);
}

std::string GgufWriter::arrayHead(GgufType element, uint64_t count) {
  return rawBytes(element) + rawBytes(count);
}

GgufWriter &GgufWriter::entry(std::string_view key, GgufType type,
                              std::string_view value) {
  ++entryCount;
  entries += sized(key) + rawBytes(type);
  entries += value;
  return *this;
}

GgufWriter &GgufWriter::string(std::string_view key, std::string_view value) {
  return entry(key, GgufType::String, sized(value));
}

GgufWriter &GgufWriter::strings(std::string_view key,
                                const std::vector<std::string> &values) {
  std::string raw = arrayHead(GgufType::String, values.size());
  for (const std::string &value : values) {
    raw += sized(value);
  }
  return entry(key, GgufType::Array, raw);
}

GgufWriter &GgufWriter::tensor(std::string_view name, NumberFormat format,
                               const std::vector<uint64_t> &shape,
                               std::string_view bytes) {
  pad(data, alignment);
  description(name, {shape.rbegin(), shape.rend()}, *ggmlTypeOfFormat(format),
              data.size());
  data += bytes;
  return *this;
}

GgufWriter &GgufWriter::description(std::string_view name,
                                    const std::vector<uint64_t> &dimensions,
                                    uint32_t ggmlType, uint64_t offset) {
  ++tensorCount;
  descriptions += sized(name);
  descriptions += rawBytes(static_cast<uint32_t>(dimensions.size()));
  for (uint64_t dimension : dimensions) {
    descriptions += rawBytes(dimension);
  }
  descriptions += rawBytes(ggmlType) + rawBytes(offset);
  return *this;
}

std::string GgufWriter::bytes() const {
  std::string file = "GGUF" + rawBytes(version) + rawBytes(tensorCount) +
                     rawBytes(entryCount) + entries + descriptions;
  if (!data.empty()) {
    pad(file, alignment);
  }
  return file + data;
}

void GgufWriter::write(const std::string &path) const {
  std::ofstream(path, std::ios::binary) << bytes();
}

} // namespace quire::test
