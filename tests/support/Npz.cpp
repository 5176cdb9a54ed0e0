#include "tests/support/Npz.h"

#include <cstring>
#include <fstream>
#include <sstream>

namespace quire::test {

template <typename T> static T at(const std::string &bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T, typename To>
static std::vector<To> convert(const std::string &bytes) {
  std::vector<To> result(bytes.size() / sizeof(T));
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<To>(at<T>(bytes, i * sizeof(T)));
  }
  return result;
}

std::vector<float> NpyArray::floats() const {
  return type == "<f8" ? convert<double, float>(bytes)
                       : convert<float, float>(bytes);
}

std::vector<int64_t> NpyArray::integers() const {
  return type == "<i4" ? convert<int32_t, int64_t>(bytes)
                       : convert<int64_t, int64_t>(bytes);
}

/// An .npy file: magic, version, header length, a Python dict as text, data.
static NpyArray parseNpy(const std::string &file) {
  bool wide = file[6] >= 2;
  size_t headerBytes = wide ? at<uint32_t>(file, 8) : at<uint16_t>(file, 8);
  size_t begin = wide ? 12 : 10;
  std::string header = file.substr(begin, headerBytes);
  NpyArray array;
  size_t descr = header.find("'descr': '") + 10;
  array.type = header.substr(descr, header.find('\'', descr) - descr);
  size_t shape = header.find("'shape': (") + 10;
  std::istringstream sizes(
      header.substr(shape, header.find(')', shape) - shape));
  for (std::string size; std::getline(sizes, size, ',');) {
    if (size.find_first_of("0123456789") != std::string::npos) {
      array.shape.push_back(std::stoll(size));
    }
  }
  array.bytes = file.substr(begin + headerBytes);
  return array;
}

absl::StatusOr<std::map<std::string, NpyArray>>
readNpz(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string zip = text.str();
  std::map<std::string, NpyArray> arrays;
  // Sizes stand in the central directory; local headers may leave them out.
  size_t end = zip.rfind("PK\x05\x06");
  if (!stream || end == std::string::npos) {
    return absl::NotFoundError("cannot read " + path);
  }
  size_t entry = at<uint32_t>(zip, end + 16);
  for (int n = at<uint16_t>(zip, end + 10); n > 0; --n) {
    size_t bytes = at<uint32_t>(zip, entry + 20);
    size_t nameBytes = at<uint16_t>(zip, entry + 28);
    size_t extra = at<uint16_t>(zip, entry + 30);
    size_t comment = at<uint16_t>(zip, entry + 32);
    size_t local = at<uint32_t>(zip, entry + 42);
    std::string name = zip.substr(entry + 46, nameBytes);
    size_t data = local + 30 + at<uint16_t>(zip, local + 26) +
                  at<uint16_t>(zip, local + 28);
    if (at<uint16_t>(zip, entry + 10) != 0 || bytes == UINT32_MAX) {
      return absl::UnimplementedError(path + ": compressed or too large");
    }
    name = name.substr(0, name.rfind(".npy"));
    arrays[name] = parseNpy(zip.substr(data, bytes));
    entry += 46 + nameBytes + extra + comment;
  }
  return arrays;
}

} // namespace quire::test
