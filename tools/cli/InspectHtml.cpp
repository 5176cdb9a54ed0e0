#include "tools/cli/InspectHtml.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include "nlohmann/json.hpp"

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

constexpr const char kStyle[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;"
    "padding:0 1em;color:#222}h1{font-size:1.5em}h2{font-size:1.15em;"
    "margin-top:2em}table{border-collapse:collapse;width:100%}th,td{"
    "text-align:left;padding:.25em .8em .25em 0;border-bottom:1px solid #ddd;"
    "vertical-align:top}td.n{text-align:right;font-variant-numeric:"
    "tabular-nums}.bar{background:#4a7;height:.7em;min-width:1px}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}"
    "th,td{border-color:#444}}";

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : toValidUtf8(text)) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

std::string cell(const ordered_json &value) {
  if (value.is_string()) {
    return strCat("<td>", escaped(value.get<std::string>()), "</td>");
  }
  const char *kind = value.is_number() ? " class=\"n\"" : "";
  return strCat("<td", kind, ">", escaped(value.dump()), "</td>");
}

/// Rows of equal objects; the keys of the first are the header. Where
/// `scale` is given, a bar shows each row's bytes as a part of it.
std::string table(const ordered_json &rows, int64_t scale = 0) {
  if (rows.empty()) {
    return "<p>none</p>\n";
  }
  std::string text = "<table><tr>";
  for (const auto &[key, value] : rows[0].items()) {
    strAppend(text, "<th>", escaped(key), "</th>");
  }
  strAppend(text, scale > 0 ? "<th>share</th>" : "", "</tr>\n");
  for (const ordered_json &row : rows) {
    strAppend(text, "<tr>");
    for (const auto &[key, value] : row.items()) {
      strAppend(text, cell(value));
    }
    if (scale > 0) {
      int64_t part = row.at("bytes").get<int64_t>() * 100 / scale;
      strAppend(text, "<td><div class=\"bar\" style=\"width:", part,
                "%\"></div></td>");
    }
    strAppend(text, "</tr>\n");
  }
  return text + "</table>\n";
}

/// Nested objects become "outer.inner" rows.
void appendFields(std::string &text, const ordered_json &object,
                  const std::string &prefix) {
  for (const auto &[key, value] : object.items()) {
    if (value.is_object()) {
      appendFields(text, value, strCat(prefix, key, "."));
    } else {
      strAppend(text, "<tr><th>", escaped(prefix + key), "</th>", cell(value),
                "</tr>\n");
    }
  }
}

std::string fields(const ordered_json &object) {
  std::string text = "<table>";
  appendFields(text, object, "");
  return text + "</table>\n";
}

} // namespace

std::string inspectHtml(const InspectPage &page) {
  const ordered_json &memory = page.memory;
  const ordered_json &cache = memory.at("kv_cache");
  std::string title = escaped(page.title);
  return strCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>",
      title, "</title><style>", kStyle, "</style></head><body>\n<h1>", title,
      "</h1>\n", fields(page.summary), "<h2>Memory</h2>\n",
      table(memory.at("buffers"),
            std::max<int64_t>(1, memory.at("total_bytes").get<int64_t>())),
      "<p>", memory.at("total_bytes").get<int64_t>(), " bytes in all, ",
      memory.at("mapped_bytes").get<int64_t>(), " of them mapped</p>\n",
      "<h2>Key/value cache</h2>\n<p>",
      cache.at("bytes_per_token").get<int64_t>(), " bytes per token</p>\n",
      table(cache.at("groups")), table(cache.at("contexts")),
      "<h2>Weights</h2>\n", table(memory.at("weights")),
      "<h2>Activation arena</h2>\n", table(memory.at("arena")),
      "<h2>Kernels</h2>\n", table(page.kernels), "</body></html>\n");
}

} // namespace quire::cli
