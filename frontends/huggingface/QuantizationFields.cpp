#include "frontends/huggingface/QuantizationFields.h"

#include "frontends/formats/StrCat.h"

#include <algorithm>
#include <array>

namespace quire::huggingface {

using nlohmann::json;
using Names = std::string_view;

static constexpr Names kObject = "quantization_config";

static constexpr std::array kFields = {
    Names("quant_method"), Names("fmt"), Names("weight_block_size"),
    // How activations are rounded is the engine's own decision.
    Names("activation_scheme"),
    // Which tensors have scales is seen in the file.
    Names("modules_to_not_convert")};

/// A field that may be left out, and has one value where it is not.
static void expectValue(Reader &fields, std::string_view name,
                        const json &value) {
  auto found = fields.object.find(name);
  if (found != fields.object.end() && *found != value) {
    fields.fail(absl::UnimplementedError(
        strCat("'", name, "' in '", kObject, "' of config.json is ",
               found->dump().substr(0, 60), "; Quire reads ", value.dump(),
               ", or the model converted to bf16")));
  }
}

bool readBlockFp8(Reader &reader) {
  auto found = findObject(reader.object, kObject);
  reader.fail(found.status());
  if (!found.ok() || *found == nullptr) {
    return false;
  }
  Reader fields(**found);
  std::string method = fields.text("quant_method", "");
  if (fields.status.ok() && method != "fp8") {
    fields.fail(absl::UnimplementedError(
        strCat("'quant_method' in '", kObject, "' of config.json is '", method,
               "'; Quire knows 'fp8'; take the model as it was before it was "
               "quantised")));
  }
  for (const auto &item : fields.object.items()) {
    if (std::ranges::find(kFields, item.key()) == kFields.end() &&
        !item.value().is_null()) {
      fields.fail(absl::UnimplementedError(
          strCat("'", kObject, "' of config.json has the field '", item.key(),
                 "', which Quire does not know and which may change the "
                 "numbers; remove it if it does not")));
    }
  }
  expectValue(fields, "fmt", "e4m3");
  expectValue(fields, "activation_scheme", "dynamic");
  if (!fields.object.contains("weight_block_size")) {
    fields.fail(absl::UnimplementedError(
        strCat("'", kObject,
               "' of config.json has no 'weight_block_size'; Quire reads FP8 "
               "with [128,128], or the model converted to bf16")));
  }
  expectValue(fields, "weight_block_size", json::array({128, 128}));
  reader.fail(fields.status);
  return fields.status.ok();
}

} // namespace quire::huggingface
