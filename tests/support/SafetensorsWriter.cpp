#include "tests/support/SafetensorsWriter.h"

#include "nlohmann/json.hpp"

#include <fstream>

namespace quire::test {

SafetensorsWriter &SafetensorsWriter::tensor(std::string_view name,
                                             std::string_view dtype,
                                             const std::vector<int64_t> &shape,
                                             std::string_view bytes) {
  nlohmann::json entry = {
      {"dtype", dtype},
      {"shape", shape},
      {"data_offsets", {data.size(), data.size() + bytes.size()}}};
  entries += entries.empty() ? "" : ",";
  entries += nlohmann::json(name).dump() + ":" + entry.dump();
  data += bytes;
  return *this;
}

SafetensorsWriter &SafetensorsWriter::floats(std::string_view name,
                                             const std::vector<int64_t> &shape,
                                             const std::vector<float> &values) {
  return tensor(name, "F32", shape,
                {reinterpret_cast<const char *>(values.data()),
                 values.size() * sizeof(float)});
}

std::string SafetensorsWriter::file(std::string_view header,
                                    std::string_view data) {
  uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char *>(&length), sizeof(length));
  bytes += header;
  bytes += data;
  return bytes;
}

void SafetensorsWriter::write(const std::string &path) const {
  std::ofstream(path, std::ios::binary) << bytes();
}

} // namespace quire::test
