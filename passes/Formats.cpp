#include "passes/Formats.h"

#include "frontends/formats/NumberFormat.h"

#include "llvm/ADT/StringSwitch.h"

namespace quire {

lm::ActivationFormat activationFormatFor(lm::NumberFormat weight) {
  auto format = parseNumberFormat(lm::stringifyNumberFormat(weight));
  switch (layout::activationFormatFor(*format)) {
  case layout::ActivationFormat::F32:
    return lm::ActivationFormat::F32;
  case layout::ActivationFormat::Int8By32:
    return lm::ActivationFormat::Int8By32;
  case layout::ActivationFormat::Int8By256:
    return lm::ActivationFormat::Int8By256;
  }
  llvm_unreachable("all cases return");
}

lm::NumberFormat formatUnder(llvm::StringRef to, lm::WeightType type,
                             bool vocabulary) {
  if (to == "keep") {
    return type.getFormat();
  }
  lm::NumberFormat wanted = *lm::symbolizeNumberFormat(to);
  bool fourBit = wanted == lm::NumberFormat::Int4Sym ||
                 wanted == lm::NumberFormat::Int4Asym;
  // Integer products take activations in whole groups of 32.
  if ((fourBit || wanted == lm::NumberFormat::Int8Row) &&
      type.getColumns() % 32 != 0) {
    return lm::NumberFormat::BF16;
  }
  // Its rows decide single tokens.
  return fourBit && vocabulary ? lm::NumberFormat::Int8Row : wanted;
}

lm::NumberFormat foldedFormatUnder(llvm::StringRef to, lm::WeightType type) {
  llvm::StringRef wider = llvm::StringSwitch<llvm::StringRef>(to)
                              .Cases({"int4", "int4a"}, "int8")
                              .Case("int8", "bf16")
                              .Default("f32");
  return formatUnder(wider, type, /*vocabulary=*/false);
}

layout::ActivationFormat toLayout(lm::ActivationFormat format) {
  switch (format) {
  case lm::ActivationFormat::F32:
    return layout::ActivationFormat::F32;
  case lm::ActivationFormat::Int8By32:
    return layout::ActivationFormat::Int8By32;
  case lm::ActivationFormat::Int8By256:
    return layout::ActivationFormat::Int8By256;
  }
  llvm_unreachable("all cases return");
}

int64_t bufferBytes(mlir::Type type, int64_t rows) {
  if (auto routes = llvm::dyn_cast<lm::RoutesType>(type)) {
    return layout::routesBytes(rows, routes.getTop());
  }
  if (auto groups = llvm::dyn_cast<lm::GroupsType>(type)) {
    return layout::PairTable{groups.getExperts(), rows, groups.getTop()}
        .bytes();
  }
  auto rounded = llvm::dyn_cast<lm::ActivationType>(type);
  return layout::activationBytes(rounded ? toLayout(rounded.getFormat())
                                         : layout::ActivationFormat::F32,
                                 rows, lm::featuresOf(type));
}

int64_t packedBytes(lm::WeightType type) {
  if (type.isVector()) {
    return layout::alignUp(type.getRows() * 4);
  }
  auto format = parseNumberFormat(lm::stringifyNumberFormat(type.getFormat()));
  return type.getMatrices() *
         layout::packedWeightBytes(*format, type.getRows(), type.getColumns());
}

} // namespace quire
