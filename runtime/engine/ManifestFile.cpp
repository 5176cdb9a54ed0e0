#include "runtime/engine/ManifestFile.h"

#include "absl/strings/str_cat.h"
#include "runtime/engine/StepAbi.h"

#include <cstring>
#include <xxhash.h>

namespace quire {

namespace {

// Field 22, wire type 1 (eight bytes): (22 << 3 | 1) as a varint.
constexpr unsigned char kChecksumTag[2] = {0xB1, 0x01};
constexpr size_t kChecksumBytes = sizeof(kChecksumTag) + sizeof(uint64_t);

} // namespace

uint64_t contentHash(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string encodeManifest(const manifest::Manifest &manifest) {
  manifest::Manifest body = manifest;
  body.clear_manifest_xxh3();
  std::string bytes = body.SerializeAsString();
  uint64_t hash = contentHash(std::as_bytes(std::span(bytes)));
  // Two messages in a row parse as one: the checksum is a message of its own.
  bytes.append(reinterpret_cast<const char *>(kChecksumTag),
               sizeof(kChecksumTag));
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<char>(hash >> shift));
  }
  return bytes;
}

absl::StatusOr<manifest::Manifest>
decodeManifest(std::span<const std::byte> bytes) {
  if (bytes.size() < kChecksumBytes) {
    return absl::DataLossError(absl::StrCat(
        "the manifest is cut short: it has only ", bytes.size(), " bytes"));
  }
  std::span<const std::byte> body = bytes.first(bytes.size() - kChecksumBytes);
  std::span<const std::byte> tail = bytes.last(kChecksumBytes);
  uint64_t stored = 0;
  for (int i = 0; i < 8; ++i) {
    stored |= static_cast<uint64_t>(tail[2 + i]) << (8 * i);
  }
  if (std::memcmp(tail.data(), kChecksumTag, sizeof(kChecksumTag)) != 0 ||
      stored != contentHash(body)) {
    return absl::DataLossError("the manifest's checksum does not match its "
                               "contents; compile the model again");
  }
  manifest::Manifest manifest;
  if (body.size() > (size_t{1} << 30) ||
      !manifest.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return absl::DataLossError(
        "the manifest is not a valid message; compile the model again");
  }
  manifest.set_manifest_xxh3(stored);
  if (manifest.schema_version() != kManifestSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the engine's manifest has schema version ",
                     manifest.schema_version(), ", this build reads version ",
                     kManifestSchemaVersion, "; compile the model again"));
  }
  if (manifest.step_abi_version() != kStepAbiVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the engine's code speaks step ABI ", manifest.step_abi_version(),
        ", this build speaks ", kStepAbiVersion, "; compile the model again"));
  }
  return manifest;
}

} // namespace quire
