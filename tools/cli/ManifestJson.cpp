#include "tools/cli/ManifestJson.h"

#include "absl/strings/str_format.h"

#include <map>
#include <string>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

ordered_json fileJson(const manifest::File &file) {
  return {{"path", file.path()},
          {"bytes", file.bytes()},
          {"xxh3", absl::StrFormat("%016x", file.xxh3())}};
}

ordered_json modelJson(const manifest::Model &model) {
  return {{"name", model.name()},
          {"architecture", model.architecture()},
          {"parameters", model.parameters()},
          {"vocabulary", model.vocabulary()},
          {"hidden", model.hidden()},
          {"layers", model.layers()},
          {"heads", model.heads()},
          {"kv_heads", model.kv_heads()},
          {"max_context", model.max_context()},
          {"max_batch_tokens", model.max_batch_tokens()},
          {"max_logit_rows", model.max_logit_rows()},
          {"materialised_block", model.materialised_block()}};
}

ordered_json weightsJson(const manifest::Weights &weights) {
  ordered_json entries = ordered_json::array();
  for (const manifest::WeightEntry &entry : weights.entries()) {
    entries.push_back({{"name", entry.name()},
                       {"layer", entry.layer()},
                       {"format", entry.format()},
                       {"rows", entry.rows()},
                       {"columns", entry.columns()},
                       {"offset", entry.offset()},
                       {"bytes", entry.bytes()}});
  }
  return {{"file", fileJson(weights.file())}, {"entries", std::move(entries)}};
}

ordered_json groupsJson(const manifest::Manifest &manifest) {
  ordered_json groups = ordered_json::array();
  for (const manifest::CacheGroup &group : manifest.cache_groups()) {
    groups.push_back({{"name", group.name()},
                      {"layers", group.layers()},
                      {"kv_heads", group.kv_heads()},
                      {"key_dim", group.key_dim()},
                      {"value_dim", group.value_dim()},
                      {"format", group.format()},
                      {"page_size", group.page_size()},
                      {"window", group.window()},
                      {"page_bytes", group.page_bytes()},
                      {"bytes_per_token", group.bytes_per_token()}});
  }
  return groups;
}

template <typename Tensors> ordered_json tensorsJson(const Tensors &tensors) {
  ordered_json result = ordered_json::array();
  for (const manifest::Tensor &tensor : tensors) {
    ordered_json shape = ordered_json::array();
    for (const std::string &size : tensor.shape()) {
      shape.push_back(size);
    }
    result.push_back({{"name", tensor.name()},
                      {"type", tensor.type()},
                      {"shape", std::move(shape)}});
  }
  return result;
}

ordered_json launchJson(const manifest::Launch &launch) {
  return {{"name", launch.name()},
          {"kernel", launch.kernel()},
          {"predicted_microseconds", launch.predicted_microseconds()},
          {"bytes", launch.bytes()}};
}

ordered_json programsJson(const manifest::Manifest &manifest) {
  ordered_json programs = ordered_json::array();
  for (const manifest::Program &program : manifest.programs()) {
    ordered_json launches = ordered_json::array();
    for (const manifest::Launch &launch : program.launches()) {
      launches.push_back(launchJson(launch));
    }
    programs.push_back({{"name", program.name()},
                        {"symbol", program.symbol()},
                        {"inputs", tensorsJson(program.inputs())},
                        {"outputs", tensorsJson(program.outputs())},
                        {"launches", std::move(launches)}});
  }
  return programs;
}

ordered_json generationJson(const manifest::GenerationDefaults &defaults) {
  ordered_json stops = ordered_json::array();
  for (int64_t token : defaults.stop_tokens()) {
    stops.push_back(token);
  }
  return {{"bos_token", defaults.bos_token()},
          {"stop_tokens", std::move(stops)},
          {"temperature", defaults.temperature()},
          {"top_k", defaults.top_k()},
          {"top_p", defaults.top_p()},
          {"repetition_penalty", defaults.repetition_penalty()}};
}

ordered_json optionsJson(const manifest::Manifest &manifest) {
  // The map has no order of its own; readers and diffs want one.
  std::map<std::string, std::string> sorted(manifest.options().begin(),
                                            manifest.options().end());
  ordered_json options = ordered_json::object();
  for (const auto &[name, value] : sorted) {
    options[name] = value;
  }
  return options;
}

ordered_json codeJson(const manifest::Manifest &manifest) {
  ordered_json code = ordered_json::array();
  for (const manifest::Code &entry : manifest.code()) {
    code.push_back(
        {{"isa", entry.isa()}, {"object", fileJson(entry.object())}});
  }
  return code;
}

} // namespace

ordered_json summaryJson(const manifest::Manifest &manifest) {
  ordered_json isas = ordered_json::array();
  for (const manifest::Code &entry : manifest.code()) {
    isas.push_back(entry.isa());
  }
  return {{"model", modelJson(manifest.model())},
          {"compiler_version", manifest.compiler_version()},
          {"machine_profile", manifest.machine_profile()},
          {"code", std::move(isas)},
          {"weight_bytes", manifest.weights().file().bytes()},
          {"tensors", manifest.weights().entries_size()},
          {"tokenizer", manifest.has_tokenizer()},
          {"chat_template", !manifest.chat_template().empty()},
          {"options", optionsJson(manifest)}};
}

ordered_json kernelsJson(const manifest::Manifest &manifest) {
  ordered_json rows = ordered_json::array();
  for (const manifest::Program &program : manifest.programs()) {
    for (const manifest::Launch &launch : program.launches()) {
      ordered_json row = {{"program", program.name()}};
      row.update(launchJson(launch));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

ordered_json manifestJson(const manifest::Manifest &manifest) {
  ordered_json buffers = ordered_json::array();
  for (const manifest::Buffer &buffer : manifest.buffers()) {
    buffers.push_back({{"name", buffer.name()},
                       {"offset", buffer.offset()},
                       {"bytes", buffer.bytes()},
                       {"formula", buffer.formula()}});
  }
  ordered_json tokenizer = nullptr;
  if (manifest.has_tokenizer()) {
    tokenizer = fileJson(manifest.tokenizer());
  }
  return {{"schema_version", manifest.schema_version()},
          {"step_abi_version", manifest.step_abi_version()},
          {"compiler_version", manifest.compiler_version()},
          {"machine_profile", manifest.machine_profile()},
          {"model", modelJson(manifest.model())},
          {"code", codeJson(manifest)},
          {"weights", weightsJson(manifest.weights())},
          {"cache_groups", groupsJson(manifest)},
          {"programs", programsJson(manifest)},
          {"buffers", std::move(buffers)},
          {"arena_bytes", manifest.arena_bytes()},
          {"scratch_bytes", manifest.scratch_bytes()},
          {"tokenizer", std::move(tokenizer)},
          {"chat_template", manifest.chat_template()},
          {"generation", generationJson(manifest.generation())},
          {"options", optionsJson(manifest)}};
}

} // namespace quire::cli
