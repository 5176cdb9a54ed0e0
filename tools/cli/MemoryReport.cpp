#include "tools/cli/MemoryReport.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Report.h"

#include <algorithm>
#include <map>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

/// Stands in for the engine's code, which need not run on this machine for
/// its memory to be counted. Nothing calls it.
void noStep(const QuireStep *, const QuireWorkerApi *, QuireWorker *) {}

ordered_json buffersJson(const Ledger &ledger) {
  ordered_json rows = ordered_json::array();
  for (const LedgerEntry &entry : ledger.entries()) {
    rows.push_back({{"owner", entry.owner},
                    {"name", entry.name},
                    {"formula", entry.formula},
                    {"bytes", entry.bytes},
                    {"mapped", entry.mapped}});
  }
  return rows;
}

ordered_json ownersJson(const Ledger &ledger) {
  std::map<std::string, int64_t> sums;
  for (const LedgerEntry &entry : ledger.entries()) {
    sums[entry.owner] += entry.bytes;
  }
  ordered_json owners = ordered_json::object();
  for (const auto &[owner, bytes] : sums) {
    owners[owner] = bytes;
  }
  return owners;
}

/// One row a name and format: the layers of a kind share both.
ordered_json weightsJson(const manifest::Manifest &manifest) {
  ordered_json rows = ordered_json::array();
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const manifest::WeightEntry &entry : manifest.weights().entries()) {
    auto [found, fresh] =
        known.try_emplace({entry.name(), entry.format()}, rows.size());
    if (fresh) {
      rows.push_back({{"name", entry.name()},
                      {"format", entry.format()},
                      {"tensors", 0},
                      {"rows", entry.rows()},
                      {"columns", entry.columns()},
                      {"bytes", 0}});
    }
    ordered_json &row = rows[found->second];
    row["tensors"] = row["tensors"].get<int64_t>() + 1;
    row["bytes"] = row["bytes"].get<int64_t>() + entry.bytes();
  }
  return rows;
}

std::string groupFormula(const manifest::CacheGroup &group) {
  int64_t elements =
      group.layers() * group.kv_heads() * (group.key_dim() + group.value_dim());
  std::string formula =
      strCat(group.layers(), " layers x ", group.kv_heads(), " heads x (",
             group.key_dim(), " + ", group.value_dim(), ") x ");
  if (elements > 0 && group.bytes_per_token() % elements == 0) {
    strAppend(formula, group.bytes_per_token() / elements, " bytes");
  } else {
    strAppend(formula,
              static_cast<double>(group.bytes_per_token()) /
                  static_cast<double>(std::max<int64_t>(elements, 1)),
              " bytes, scales included");
  }
  return formula;
}

/// Tokens of a sequence of `context` that a group keeps.
int64_t keptTokens(const manifest::CacheGroup &group, int64_t context) {
  return group.window() > 0 ? std::min(context, group.window()) : context;
}

int64_t cacheBytes(const manifest::Manifest &manifest, int64_t context) {
  int64_t bytes = 0;
  for (const manifest::CacheGroup &group : manifest.cache_groups()) {
    bytes += group.bytes_per_token() * keptTokens(group, context);
  }
  return bytes;
}

ordered_json cacheJson(const manifest::Manifest &manifest) {
  ordered_json groups = ordered_json::array();
  int64_t perToken = 0;
  for (const manifest::CacheGroup &group : manifest.cache_groups()) {
    perToken += group.bytes_per_token();
    groups.push_back({{"name", group.name()},
                      {"format", group.format()},
                      {"window", group.window()},
                      {"page_size", group.page_size()},
                      {"page_bytes", group.page_bytes()},
                      {"bytes_per_token", group.bytes_per_token()},
                      {"formula", groupFormula(group)}});
  }
  ordered_json contexts = ordered_json::array();
  std::vector<int64_t> lengths;
  int64_t longest = manifest.model().max_context();
  for (int64_t length : {int64_t{1024}, int64_t{4096}, int64_t{32768}}) {
    if (length < longest) {
      lengths.push_back(length);
    }
  }
  lengths.push_back(longest);
  for (int64_t length : lengths) {
    contexts.push_back(
        {{"tokens", length}, {"bytes", cacheBytes(manifest, length)}});
  }
  return {{"bytes_per_token", perToken},
          {"groups", std::move(groups)},
          {"contexts", std::move(contexts)}};
}

ordered_json arenaJson(const manifest::Manifest &manifest) {
  ordered_json rows = ordered_json::array();
  for (const manifest::Buffer &buffer : manifest.buffers()) {
    rows.push_back({{"name", buffer.name()},
                    {"offset", buffer.offset()},
                    {"bytes", buffer.bytes()},
                    {"formula", buffer.formula()}});
  }
  return rows;
}

template <typename Row>
void appendRows(std::string &text, const ordered_json &rows, const Row &row) {
  for (const ordered_json &entry : rows) {
    strAppend(text, row(entry));
  }
}

std::string str(const ordered_json &json, const char *key) {
  return json.at(key).get<std::string>();
}
int64_t num(const ordered_json &json, const char *key) {
  return json.at(key).get<int64_t>();
}

} // namespace

absl::StatusOr<ordered_json> memoryReport(const EngineDirectory &directory,
                                          const EngineOptions &options) {
  EngineModel model = engineModelOf(directory);
  model.executor.step = noStep;
  QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                         Engine::create(model, options));
  Ledger ledger;
  directory.addTo(ledger);
  Ledger allocated = engine->ledger();
  for (const LedgerEntry &entry : allocated.entries()) {
    ledger.add(entry);
  }
  int64_t mapped = 0;
  for (const LedgerEntry &entry : ledger.entries()) {
    mapped += entry.mapped ? entry.bytes : 0;
  }
  const manifest::Manifest &manifest = directory.manifest();
  return ordered_json{{"buffers", buffersJson(ledger)},
                      {"owners", ownersJson(ledger)},
                      {"total_bytes", ledger.totalBytes()},
                      {"mapped_bytes", mapped},
                      {"allocated_bytes", ledger.totalBytes() - mapped},
                      {"kv_cache", cacheJson(manifest)},
                      {"weights", weightsJson(manifest)},
                      {"arena", arenaJson(manifest)}};
}

std::string memoryText(const ordered_json &report) {
  std::string text = absl::StrFormat("%-10s %-18s %15s  %s\n", "owner",
                                     "buffer", "bytes", "formula");
  appendRows(text, report.at("buffers"), [](const ordered_json &row) {
    return absl::StrFormat("%-10s %-18s %15d  %s%s\n", str(row, "owner"),
                           str(row, "name"), num(row, "bytes"),
                           str(row, "formula"),
                           row.at("mapped") ? " (mapped file)" : "");
  });
  int64_t total = num(report, "total_bytes");
  strAppend(text, absl::StrFormat("%-10s %-18s %15d  %s, of which mapped %s\n",
                                  "total", "", total, readableBytes(total),
                                  readableBytes(num(report, "mapped_bytes"))));
  const ordered_json &cache = report.at("kv_cache");
  strAppend(text, "\nkey/value cache: ", num(cache, "bytes_per_token"),
            " bytes per token\n");
  appendRows(text, cache.at("groups"), [](const ordered_json &row) {
    int64_t window = num(row, "window");
    return strCat("  ", str(row, "name"), ": ", str(row, "formula"), " = ",
                  num(row, "bytes_per_token"), " bytes (", str(row, "format"),
                  ", pages of ", num(row, "page_size"), " tokens",
                  window > 0 ? strCat(", window ", window) : "", ")\n");
  });
  appendRows(text, cache.at("contexts"), [](const ordered_json &row) {
    return strCat("  a sequence of ", num(row, "tokens"),
                  " tokens: ", num(row, "bytes"), " bytes, ",
                  readableBytes(num(row, "bytes")), "\n");
  });
  strAppend(text, "\nweights\n");
  appendRows(text, report.at("weights"), [](const ordered_json &row) {
    return absl::StrFormat("  %-28s %15d  %d x [%d, %d] %s\n", str(row, "name"),
                           num(row, "bytes"), num(row, "tensors"),
                           num(row, "rows"), num(row, "columns"),
                           str(row, "format"));
  });
  strAppend(text, "\nactivation arena (buffers share places over time)\n");
  appendRows(text, report.at("arena"), [](const ordered_json &row) {
    return absl::StrFormat("  %-28s %15d  at %d: %s\n", str(row, "name"),
                           num(row, "bytes"), num(row, "offset"),
                           str(row, "formula"));
  });
  return text;
}

} // namespace quire::cli
