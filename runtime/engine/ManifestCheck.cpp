// checkManifest: each helper looks at one part of the message. Bounds are
// generous (no real model comes near them); they keep sums inside int64.

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "frontends/formats/NumberFormat.h"
#include "ir/rt/Layout.h"
#include "runtime/engine/ManifestFile.h"
#include "runtime/engine/StatusMacros.h"

#include <string>

namespace quire {

namespace {

constexpr int64_t kMaxCount = int64_t{1} << 31;
constexpr int64_t kMaxBytes = int64_t{1} << 50;

absl::Status bad(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the engine's manifest is not usable: ", what));
}

absl::Status checkRange(absl::string_view field, int64_t value, int64_t low,
                        int64_t high) {
  if (value < low || value > high) {
    return bad(absl::StrCat(field, " is ", value, ", outside [", low, ", ",
                            high, "]"));
  }
  return absl::OkStatus();
}

absl::Status checkFile(absl::string_view what, const manifest::File &file) {
  absl::string_view path = file.path();
  if (path.empty() || path.front() == '/') {
    return bad(absl::StrCat(what, " has the path '", path,
                            "', which is not inside the engine directory"));
  }
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "..") {
      return bad(absl::StrCat(what, " has the path '", path,
                              "', which leaves the engine directory"));
    }
  }
  return checkRange(absl::StrCat(what, " bytes"), file.bytes(), 0, kMaxBytes);
}

absl::Status checkModel(const manifest::Model &model) {
  QUIRE_RETURN_IF_ERROR(
      checkRange("model.vocabulary", model.vocabulary(), 1, 1 << 26));
  QUIRE_RETURN_IF_ERROR(
      checkRange("model.max_context", model.max_context(), 1, kMaxCount - 1));
  QUIRE_RETURN_IF_ERROR(checkRange("model.max_batch_tokens",
                                   model.max_batch_tokens(), 1, 1 << 24));
  QUIRE_RETURN_IF_ERROR(checkRange("model.materialised_block",
                                   model.materialised_block(), 0, 1 << 20));
  return checkRange("model.max_logit_rows", model.max_logit_rows(), 1,
                    model.max_batch_tokens());
}

absl::Status checkCacheGroup(const manifest::CacheGroup &group) {
  auto inGroup = [&](absl::string_view field) {
    return absl::StrCat("cache group '", group.name(), "' ", field);
  };
  QUIRE_RETURN_IF_ERROR(
      checkRange(inGroup("layers"), group.layers(), 1, 1 << 16));
  QUIRE_RETURN_IF_ERROR(
      checkRange(inGroup("kv_heads"), group.kv_heads(), 1, 1 << 16));
  QUIRE_RETURN_IF_ERROR(
      checkRange(inGroup("key_dim"), group.key_dim(), 0, 1 << 16));
  QUIRE_RETURN_IF_ERROR(
      checkRange(inGroup("value_dim"), group.value_dim(), 0, 1 << 16));
  QUIRE_RETURN_IF_ERROR(
      checkRange(inGroup("page_size"), group.page_size(), 1, 1 << 16));
  QUIRE_RETURN_IF_ERROR(
      checkRange(inGroup("window"), group.window(), 0, kMaxCount));
  QUIRE_RETURN_IF_ERROR(
      checkRange(inGroup("page_bytes"), group.page_bytes(), 1, kMaxBytes));
  if (group.page_bytes() % layout::kAlignment != 0) {
    return bad(absl::StrCat(inGroup("page_bytes"), " is ", group.page_bytes(),
                            ", not a multiple of ", layout::kAlignment));
  }
  std::optional<NumberFormat> format = parseNumberFormat(group.format());
  if (!format) {
    return bad(
        absl::StrCat(inGroup("format"), " '", group.format(), "' is unknown"));
  }
  const NumberFormatInfo &info = numberFormatInfo(*format);
  if (info.blockValues == 1) {
    layout::KvPage page{group.kv_heads(), group.key_dim(),   group.value_dim(),
                        info.blockBytes,  group.page_size(), group.layers()};
    if (page.pageBytes() != group.page_bytes()) {
      return bad(absl::StrCat(inGroup("page_bytes"), " is ", group.page_bytes(),
                              " where the layout needs ", page.pageBytes()));
    }
  }
  return absl::OkStatus();
}

/// A page holds tokens of one form.
absl::Status checkForms(const manifest::Manifest &manifest) {
  int64_t block = manifest.model().materialised_block();
  for (const manifest::CacheGroup &group : manifest.cache_groups()) {
    if (block % group.page_size() != 0) {
      return bad(absl::StrCat("cache group '", group.name(), "' has pages of ",
                              group.page_size(),
                              " tokens, which do not divide the ", block,
                              " of model.materialised_block"));
    }
  }
  return absl::OkStatus();
}

absl::Status checkWeights(const manifest::Weights &weights) {
  QUIRE_RETURN_IF_ERROR(checkFile("the weight file", weights.file()));
  int64_t size = weights.file().bytes();
  for (const manifest::WeightEntry &entry : weights.entries()) {
    if (entry.offset() < 0 || entry.bytes() < 0 || entry.offset() > size ||
        entry.bytes() > size - entry.offset()) {
      return bad(absl::StrCat("weight '", entry.name(), "' of layer ",
                              entry.layer(), " lies outside the ", size,
                              " bytes of the weight file"));
    }
  }
  return absl::OkStatus();
}

} // namespace

absl::Status checkManifest(const manifest::Manifest &manifest) {
  QUIRE_RETURN_IF_ERROR(checkModel(manifest.model()));
  QUIRE_RETURN_IF_ERROR(
      checkRange("arena_bytes", manifest.arena_bytes(), 0, kMaxBytes));
  QUIRE_RETURN_IF_ERROR(
      checkRange("scratch_bytes", manifest.scratch_bytes(), 0, 1 << 30));
  for (const manifest::Code &code : manifest.code()) {
    QUIRE_RETURN_IF_ERROR(
        checkFile(absl::StrCat("the code for ", code.isa()), code.object()));
  }
  QUIRE_RETURN_IF_ERROR(checkWeights(manifest.weights()));
  for (const manifest::CacheGroup &group : manifest.cache_groups()) {
    QUIRE_RETURN_IF_ERROR(checkCacheGroup(group));
  }
  QUIRE_RETURN_IF_ERROR(checkForms(manifest));
  for (const manifest::Buffer &buffer : manifest.buffers()) {
    if (buffer.offset() < 0 || buffer.bytes() < 0 ||
        buffer.offset() > manifest.arena_bytes() ||
        buffer.bytes() > manifest.arena_bytes() - buffer.offset()) {
      return bad(absl::StrCat("buffer '", buffer.name(), "' lies outside the ",
                              manifest.arena_bytes(), " bytes of the arena"));
    }
  }
  if (manifest.has_tokenizer()) {
    QUIRE_RETURN_IF_ERROR(checkFile("the tokenizer", manifest.tokenizer()));
  }
  for (int64_t id : manifest.generation().stop_tokens()) {
    QUIRE_RETURN_IF_ERROR(checkRange("generation.stop_tokens", id, 0,
                                     manifest.model().vocabulary() - 1));
  }
  return absl::OkStatus();
}

} // namespace quire
