// write-toy-engine DIRECTORY CODE TEXT_DIRECTORY: an engine of the toy model,
// with the tokenizer and the chat template that TEXT_DIRECTORY holds. Lets the
// commands be tested where there is no compiler.

#include "runtime/engine/ManifestFile.h"
#include "tests/runtime/ToyModel.h"
#include "tools/compile/ModelText.h"

#include "frontends/formats/HuggingFaceDirectory.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace quire {
namespace {

namespace fs = std::filesystem;

std::string readFile(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const fs::path &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The entry of a file that stands in the engine already.
manifest::File entryOf(const fs::path &engine, const std::string &name) {
  std::string bytes = readFile(engine / name);
  manifest::File file;
  file.set_path(name);
  file.set_bytes(bytes.size());
  file.set_xxh3(contentHash(std::as_bytes(std::span(bytes))));
  return file;
}

void describeModel(const toy::ToyOptions &options, manifest::Model &model) {
  model.set_name("toy");
  model.set_architecture("toy");
  model.set_vocabulary(toy::kVocabulary);
  model.set_layers(2);
  model.set_heads(1);
  model.set_kv_heads(1);
  model.set_max_context(options.maxContext);
  model.set_max_batch_tokens(options.maxRows);
  model.set_max_logit_rows(options.maxLogitRows);
}

void describeCache(const CacheGroup &from, manifest::CacheGroup &group) {
  group.set_name(from.name);
  group.set_layers(from.layers);
  group.set_kv_heads(from.kvHeads);
  group.set_key_dim(from.keyDim);
  group.set_value_dim(from.valueDim);
  group.set_format(from.format);
  group.set_page_size(from.pageSize);
  group.set_window(from.window);
  group.set_page_bytes(from.pageBytes);
  group.set_bytes_per_token(from.layers * from.kvHeads *
                            (from.keyDim + from.valueDim) *
                            int64_t{sizeof(float)});
}

absl::Status addText(const fs::path &engine, const std::string &from,
                     manifest::Manifest &manifest) {
  auto directory = HuggingFaceDirectory::openWithoutWeights(from);
  if (!directory.ok()) {
    return directory.status();
  }
  auto text = readModelText(**directory);
  if (!text.ok()) {
    return text.status();
  }
  absl::Status saved =
      text->tokenizer->save((engine / "tokenizer.bin").string());
  *manifest.mutable_tokenizer() = entryOf(engine, "tokenizer.bin");
  manifest.set_chat_template(text->chatTemplate);
  *manifest.mutable_generation() = text->generation;
  return saved;
}

absl::Status writeToyEngine(const fs::path &engine, const fs::path &code,
                            const std::string &text) {
  toy::ToyOptions options;
  options.maxContext = 1 << 16;
  toy::ToyModel toy(options);
  fs::create_directories(engine);
  writeFile(engine / "portable.so", readFile(code));
  writeFile(
      engine / "weights.bin",
      {reinterpret_cast<const char *>(&toy.constants), sizeof(toy.constants)});
  manifest::Manifest manifest;
  manifest.set_schema_version(kManifestSchemaVersion);
  manifest.set_step_abi_version(kStepAbiVersion);
  manifest.set_compiler_version("toy");
  describeModel(options, *manifest.mutable_model());
  manifest::Code *entry = manifest.add_code();
  entry->set_isa("portable");
  *entry->mutable_object() = entryOf(engine, "portable.so");
  *manifest.mutable_weights()->mutable_file() = entryOf(engine, "weights.bin");
  for (const CacheGroup &group : toy.model.cacheGroups) {
    describeCache(group, *manifest.add_cache_groups());
  }
  manifest.set_arena_bytes(toy.model.executor.arenaBytes);
  manifest.set_scratch_bytes(toy.model.executor.scratchBytes);
  manifest::Launch *launch = manifest.add_programs()->add_launches();
  launch->set_name("toy.attend");
  launch->set_kernel("toy");
  absl::Status status = addText(engine, text, manifest);
  writeFile(engine / kManifestFileName, encodeManifest(manifest));
  return status;
}

} // namespace
} // namespace quire

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fputs("write-toy-engine DIRECTORY CODE TEXT_DIRECTORY\n", stderr);
    return 2;
  }
  absl::Status status = quire::writeToyEngine(argv[1], argv[2], argv[3]);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
