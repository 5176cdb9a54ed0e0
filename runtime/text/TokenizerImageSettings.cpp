// The small part of a tokenizer file: flags, rule chains and special ids. One
// function walks the fields for both directions, so that the writer and the
// reader cannot disagree on their order.

#include "runtime/text/TokenizerImageFormat.h"

#include <cstring>
#include <type_traits>

namespace quire::image {

namespace {

struct Writer {
  std::string out;

  template <typename T> void plain(const T &value) {
    out.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void text(const std::string &value) {
    plain(static_cast<uint32_t>(value.size()));
    out += value;
  }
  template <typename T, typename F> void list(const std::vector<T> &v, F each) {
    plain(static_cast<uint32_t>(v.size()));
    for (const T &item : v) {
      each(item);
    }
  }
};

struct Reader {
  std::string_view in;
  bool failed = false;

  template <typename T> void plain(T &value) {
    if (in.size() < sizeof value) {
      failed = true;
      return;
    }
    if constexpr (std::is_same_v<T, bool>) {
      value = in[0] != 0;
    } else {
      std::memcpy(&value, in.data(), sizeof value);
    }
    in.remove_prefix(sizeof value);
  }
  void text(std::string &value) {
    uint32_t size = 0;
    plain(size);
    if (failed || size > in.size()) {
      failed = true;
      return;
    }
    value = in.substr(0, size);
    in.remove_prefix(size);
  }
  template <typename T, typename F> void list(std::vector<T> &v, F each) {
    uint32_t size = 0;
    plain(size);
    if (failed || size > in.size()) { // an item has a byte at least
      failed = true;
      return;
    }
    v.resize(size);
    for (T &item : v) {
      each(item);
    }
  }
};

template <typename Stream, typename Data>
void walk(Stream &stream, Data &data) {
  stream.plain(data.model);
  stream.plain(data.byteLevel);
  stream.plain(data.byteFallback);
  stream.plain(data.bytePiecesInText);
  stream.plain(data.floatScores);
  stream.plain(data.fuseUnknown);
  stream.plain(data.ignoreMerges);
  auto step = [&](auto &rule) {
    stream.plain(rule.kind);
    stream.plain(rule.behavior);
    stream.plain(rule.flags);
    stream.text(rule.pattern);
    stream.text(rule.content);
  };
  stream.list(data.normalizer, step);
  stream.list(data.preTokenizer, step);
  stream.list(data.decoder.replace, [&](auto &pair) {
    stream.text(pair.first);
    stream.text(pair.second);
  });
  stream.plain(data.decoder.byteFallback);
  stream.text(data.decoder.stripFirstPiece);
  stream.text(data.decoder.stripStart);
  stream.plain(data.decoder.stripStartCount);
  auto id = [&](auto &value) { stream.plain(value); };
  stream.list(data.prefixIds, id);
  stream.list(data.suffixIds, id);
  stream.list(data.endIds, id);
  stream.plain(data.bosId);
  stream.plain(data.unknownId);
  stream.plain(data.padId);
}

} // namespace

std::string writeSettings(const TokenizerData &data) {
  Writer writer;
  walk(writer, data);
  return std::move(writer.out);
}

absl::StatusOr<TokenizerData> readSettings(std::string_view bytes) {
  Reader reader{bytes};
  TokenizerData data;
  walk(reader, data);
  bool known = data.model <= PieceModelKind::Unigram;
  for (const TextStep &step : data.preTokenizer) {
    known = known && step.behavior <= SplitBehavior::Contiguous;
  }
  if (reader.failed || !known) {
    return absl::DataLossError("its settings are damaged");
  }
  return data;
}

} // namespace quire::image
