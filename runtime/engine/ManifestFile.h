// The manifest as bytes: encoding with a checksum at the end, decoding, and
// the checks every reader of an engine wants done. The compiler's engine
// writer and the runtime both use this file, so that they cannot disagree.

#ifndef QUIRE_RUNTIME_ENGINE_MANIFESTFILE_H
#define QUIRE_RUNTIME_ENGINE_MANIFESTFILE_H

#include "absl/status/statusor.h"
#include "runtime/engine/manifest.pb.h"

#include <cstddef>
#include <span>
#include <string>

namespace quire {

inline constexpr uint32_t kManifestSchemaVersion = 1;
inline constexpr const char kManifestFileName[] = "manifest.pb";

/// The bytes of manifest.pb: the message, then its checksum field.
/// `manifest_xxh3` of the argument is ignored.
std::string encodeManifest(const manifest::Manifest &manifest);

/// Parses and checks checksum and versions. Errors say what does not fit.
absl::StatusOr<manifest::Manifest>
decodeManifest(std::span<const std::byte> bytes);

/// Checks that sizes, offsets, paths and cache groups make sense together.
absl::Status checkManifest(const manifest::Manifest &manifest);

/// xxh3-64 of some bytes, as File::xxh3 holds it.
uint64_t contentHash(std::span<const std::byte> bytes);

} // namespace quire

#endif
