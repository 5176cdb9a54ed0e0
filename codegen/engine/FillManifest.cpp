#include "codegen/engine/FillManifest.h"

#include "codegen/cpu/IrBuilding.h"
#include "codegen/cpu/PartCheck.h"
#include "frontends/formats/NumberFormat.h"
#include "frontends/formats/StrCat.h"
#include "ir/lm/Lm.h"
#include "ir/rt/Layout.h"
#include "runtime/engine/ManifestFile.h"
#include "runtime/engine/StepAbi.h"

#include "mlir/IR/SymbolTable.h"

namespace quire {

using namespace mlir;

static int64_t scratchOf(rt::PartAttr part) {
  StringRef family(rt::findKernel(part.getKernel())->name);
  auto number = [&](StringRef name) { return integerArgument(part, name); };
  if (family == "linear" || family == "gated_linear" ||
      family == "expert_linear" || family == "expert_gated_linear" ||
      family == "head_linear" || family == "head_linear_t") {
    return layout::kLinearScratchBytes;
  }
  if (family == "route") {
    return layout::routeScratchBytes(number("experts"));
  }
  if (family == "rms_norm") {
    return layout::normScratchBytes(number("features"));
  }
  if (family == "attention") {
    return layout::attentionScratchBytes(number("heads"), number("kvHeads"),
                                         number("keyDim"), number("valueDim"));
  }
  if (family == "latent_attention") {
    return layout::latentAttentionScratchBytes(number("latentDim"),
                                               number("rotaryDim"));
  }
  if (family == "materialised_attention") {
    return layout::materialisedAttentionScratchBytes(
        number("contentDim"), number("latentDim"), number("rotaryDim"),
        number("valueDim"));
  }
  return 0;
}

int64_t scratchBytes(const StepPlan &plan) {
  int64_t bytes = 0;
  for (const PlannedLaunch &launch : plan.launches()) {
    rt::LaunchOp op = launch.op;
    for (auto part : op.getParts().getAsRange<rt::PartAttr>()) {
      bytes = std::max(bytes, scratchOf(part));
    }
  }
  return layout::alignUp(bytes);
}

/// Bytes of weights that one row must read. An embedding reads one row of its
/// table; that is nothing.
static int64_t weightBytesOf(rt::LaunchOp launch, SymbolTable &symbols) {
  int64_t bytes = 0;
  for (auto part : launch.getParts().getAsRange<rt::PartAttr>()) {
    if (rt::findKernel(part.getKernel())->name == "embed") {
      continue;
    }
    for (FlatSymbolRefAttr slot : weightSlotsOf(part)) {
      auto weight = symbols.lookup<rt::WeightOp>(slot.getAttr());
      bytes += static_cast<int64_t>(weight.getBytes()) / weight.getMatrices() *
               weight.matricesOfRow(part);
    }
  }
  return bytes;
}

static void addLaunches(const StepPlan &plan, SymbolTable &symbols,
                        manifest::Program &program) {
  for (const PlannedLaunch &planned : plan.launches()) {
    rt::LaunchOp op = planned.op;
    manifest::Launch &launch = *program.add_launches();
    launch.set_name(planned.name);
    std::string kernels;
    for (auto part : op.getParts().getAsRange<rt::PartAttr>()) {
      kernels += (kernels.empty() ? "" : " + ") + part.getKernel().str();
    }
    launch.set_kernel(kernels);
    if (auto time = op->getAttrOfType<FloatAttr>("predicted_microseconds")) {
      launch.set_predicted_microseconds(time.getValueAsDouble());
    }
    auto bytes = op->getAttrOfType<IntegerAttr>("bytes");
    launch.set_bytes(bytes ? bytes.getInt() : weightBytesOf(op, symbols));
  }
}

static void addProgram(ModuleOp module, const StepPlan &plan,
                       manifest::Manifest &manifest) {
  SymbolTable symbols(module);
  manifest::Program &program = *manifest.add_programs();
  program.set_name(kStepSequence.str());
  program.set_symbol(kStepSymbol);
  manifest::Tensor &batch = *program.add_inputs();
  batch.set_name("batch");
  batch.set_type("batch");
  batch.add_shape("rows");
  if (auto logits = symbols.lookup<rt::BufferOp>(kLogitsBuffer)) {
    manifest::Tensor &output = *program.add_outputs();
    output.set_name(kLogitsBuffer.str());
    output.set_type("f32");
    output.add_shape("logit_rows");
    output.add_shape(std::to_string(logits.getRowBytes() / sizeof(float)));
    if (manifest.model().max_logit_rows() == 0) {
      manifest.mutable_model()->set_max_logit_rows(
          static_cast<int64_t>(logits.getRows()));
    }
  }
  addLaunches(plan, symbols, program);
}

static void addBuffers(ModuleOp module, manifest::Manifest &manifest) {
  int64_t end = 0;
  for (rt::BufferOp buffer : module.getOps<rt::BufferOp>()) {
    if (!buffer.getOffset()) {
      continue; // not in the arena
    }
    auto rows = static_cast<int64_t>(buffer.getRows());
    auto rowBytes = static_cast<int64_t>(buffer.getRowBytes());
    manifest::Buffer &entry = *manifest.add_buffers();
    entry.set_name(buffer.getSymName().str());
    entry.set_offset(static_cast<int64_t>(*buffer.getOffset()));
    entry.set_bytes(rows * rowBytes);
    entry.set_formula(strCat(rows, " rows x ", rowBytes, " bytes (",
                             buffer.getFormat().str(), ")"));
    end = std::max(end, entry.offset() + entry.bytes());
  }
  manifest.set_arena_bytes(layout::alignUp(end));
}

static void addCacheGroups(ModuleOp module, manifest::Manifest &manifest) {
  SmallVector<rt::CacheGroupOp> groups =
      llvm::to_vector(module.getOps<rt::CacheGroupOp>());
  llvm::sort(groups, [](rt::CacheGroupOp a, rt::CacheGroupOp b) {
    return a.getNumber() < b.getNumber();
  });
  for (rt::CacheGroupOp group : groups) {
    manifest::CacheGroup &entry = *manifest.add_cache_groups();
    StringRef formatName = group.getFormat();
    std::optional<NumberFormat> format = parseNumberFormat(
        std::string_view(formatName.data(), formatName.size()));
    layout::KvPage page{static_cast<int64_t>(group.getKvHeads()),
                        static_cast<int64_t>(group.getKeyDim()),
                        static_cast<int64_t>(group.getValueDim()),
                        format ? numberFormatInfo(*format).blockBytes : 0,
                        static_cast<int64_t>(group.getPageSize()),
                        static_cast<int64_t>(group.getLayers().size())};
    entry.set_name(group.getSymName().str());
    entry.set_layers(page.layers);
    entry.set_kv_heads(page.kvHeads);
    entry.set_key_dim(page.keyDim);
    entry.set_value_dim(page.valueDim);
    entry.set_format(formatName.str());
    entry.set_page_size(page.pageSize);
    entry.set_window(static_cast<int64_t>(group.getWindow()));
    entry.set_page_bytes(page.pageBytes());
    entry.set_bytes_per_token(
        page.layers * (page.keyBytes() + page.valueBytes()) / page.pageSize);
  }
}

/// Matrices of a row by the name of the slot.
static llvm::StringMap<int64_t> matricesPerRow(const StepPlan &plan,
                                               SymbolTable &symbols) {
  llvm::StringMap<int64_t> result;
  for (const PlannedLaunch &planned : plan.launches()) {
    rt::LaunchOp op = planned.op;
    for (auto part : op.getParts().getAsRange<rt::PartAttr>()) {
      for (FlatSymbolRefAttr slot : weightSlotsOf(part)) {
        result[slot.getValue()] =
            symbols.lookup<rt::WeightOp>(slot.getAttr()).matricesOfRow(part);
      }
    }
  }
  return result;
}

static void addWeights(ModuleOp module, const StepPlan &plan,
                       const WeightPlacement &placement,
                       manifest::Manifest &manifest) {
  SymbolTable symbols(module);
  llvm::StringMap<int64_t> perRow = matricesPerRow(plan, symbols);
  for (const PlacedWeight &weight : placement.inFileOrder()) {
    rt::WeightOp slot = weight.slot;
    manifest::WeightEntry &entry = *manifest.mutable_weights()->add_entries();
    entry.set_name(slot.getSymName().str());
    entry.set_layer(weight.layer);
    entry.set_format(slot.getFormat().str());
    ArrayRef<int64_t> shape = slot.getShape();
    entry.set_rows(slot.isStack() ? shape[0] * shape[1] : shape.front());
    if (slot.isStack()) {
      entry.set_matrices(slot.getMatrices());
      entry.set_matrices_per_row(perRow.lookup(slot.getSymName()));
    }
    entry.set_columns(shape.size() == 1 ? 1 : shape.back());
    entry.set_offset(weight.offset);
    entry.set_bytes(weight.bytes);
  }
}

void fillManifest(ModuleOp module, const StepPlan &plan,
                  const WeightPlacement &placement,
                  manifest::Manifest &manifest) {
  manifest.set_schema_version(kManifestSchemaVersion);
  manifest.set_step_abi_version(kStepAbiVersion);
  if (auto block = module->getAttrOfType<IntegerAttr>(lm::kMaterialisedBlock)) {
    manifest.mutable_model()->set_materialised_block(block.getInt());
  }
  addProgram(module, plan, manifest);
  addBuffers(module, manifest);
  addCacheGroups(module, manifest);
  addWeights(module, plan, placement, manifest);
  manifest.set_scratch_bytes(scratchBytes(plan));
}

} // namespace quire
