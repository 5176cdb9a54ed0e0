// What each kernel of a launch computes (codegen/cpu/kernels/Args.h says it in
// words), with the reference functions.

#include "ir/reference/Attention.h"
#include "ir/reference/Linear.h"
#include "ir/reference/Norm.h"
#include "ir/reference/Rope.h"
#include "ir/reference/Rounding.h"
#include "ir/reference/RtPart.h"

#include "ir/rt/KernelTable.h"

#include <algorithm>

using namespace mlir;

namespace quire::reference {

static LogicalResult runEmbed(RtPart &part) {
  auto weight = part.weight("weight");
  if (failed(weight)) {
    return failure();
  }
  const Weight &table = **weight;
  float scale = static_cast<float>(part.number64("scale"));
  Rows out(part.input().rows(), table.columns());
  for (int64_t r = 0; r < out.rows; ++r) {
    int32_t token = part.input().token[r];
    if (token < 0 || token >= table.rows()) {
      return part.error() << "row " << r << " has token " << token << " of "
                          << table.rows();
    }
    std::ranges::transform(table.row(token), out.row(r).begin(),
                           [=](float value) { return value * scale; });
  }
  part.write("out", std::move(out));
  return success();
}

static LogicalResult runRopeTable(RtPart &part) {
  ArrayRef<float> frequency = part.table("inverseFrequency");
  RopeTable table;
  table.inverseFrequency = {frequency.data(), frequency.size()};
  table.amplitude = part.number64("amplitude");
  table.dynamicContext = part.integer("dynamicContext");
  table.dynamicBase = part.number64("dynamicBase");
  table.dynamicFactor = part.number64("dynamicFactor");
  part.write("out", ropeTable(table, part.input().position));
  return success();
}

static LogicalResult runRmsNorm(RtPart &part) {
  const Rows *x = part.read("x");
  const Rows *delta = part.isNull("delta") ? nullptr : part.read("delta");
  auto weight = part.weight("weight");
  if (!x || (!delta && !part.isNull("delta")) || failed(weight)) {
    return failure();
  }
  Rows sum = delta ? add(*x, *delta) : *x;
  Rows normed = rmsNorm(sum, **weight, part.number64("epsilon"));
  part.write("sum", std::move(sum));
  if (!part.isNull("quantized")) {
    part.write("quantized", quantizeActivation(normed, part.integer("group")));
  }
  part.write("out", std::move(normed));
  return success();
}

static LogicalResult runQuantize(RtPart &part) {
  const Rows *x = part.read("x");
  if (!x) {
    return failure();
  }
  part.write("quantized", quantizeActivation(*x, part.integer("group")));
  return success();
}

/// Products write rows `outStride` floats apart.
static Rows spread(Rows rows, int64_t stride) {
  if (rows.features == stride) {
    return rows;
  }
  Rows out(rows.rows, stride);
  for (int64_t r = 0; r < rows.rows; ++r) {
    std::ranges::copy(rows.row(r), out.row(r).begin());
  }
  return out;
}

static LogicalResult runLinear(RtPart &part) {
  const Rows *x = part.read("activation");
  auto weight = part.weight("weight");
  auto bias = part.weight("bias");
  if (!x || failed(weight) || failed(bias)) {
    return failure();
  }
  part.write("out", spread(linear(*x, **weight, bias->get()),
                           part.integer("outStride")));
  return success();
}

static LogicalResult runGatedLinear(RtPart &part) {
  const Rows *x = part.read("activation");
  auto gate = part.weight("gate");
  auto up = part.weight("up");
  if (!x || failed(gate) || failed(up)) {
    return failure();
  }
  auto kind = static_cast<Nonlinearity>(part.integer("activationKind"));
  part.write("out", spread(gatedLinear(kind, *x, **gate, **up),
                           part.integer("outStride")));
  return success();
}

static LogicalResult runKvAppend(RtPart &part) {
  const Rows *key = part.read("key");
  const Rows *value = part.read("value");
  if (!key || !value) {
    return failure();
  }
  const std::vector<int32_t> &slots =
      part.input().group[part.integer("group")].slot;
  for (int64_t r = 0; r < part.input().rows(); ++r) {
    if (slots[r] >= 0) {
      part.cache().store(part.layerInGroup(), slots[r],
                         key->values.data() + r * part.integer("keyStride"),
                         value->values.data() +
                             r * part.integer("valueStride"));
    }
  }
  return success();
}

static LogicalResult runAttention(RtPart &part) {
  const Rows *query = part.read("query");
  if (!query) {
    return failure();
  }
  AttentionShape shape;
  shape.heads = part.integer("heads");
  shape.kvHeads = part.integer("kvHeads");
  shape.keyDim = part.integer("keyDim");
  shape.valueDim = part.integer("valueDim");
  shape.scale = part.number64("scale");
  shape.softcap = part.number64("softcap");
  int64_t group = part.integer("group");
  Rows out(part.input().rows(), shape.heads * shape.valueDim);
  for (int64_t r = 0; r < out.rows; ++r) {
    if (part.input().group[group].slot[r] < 0) {
      continue;
    }
    auto visible = visibleIn(part.cache(), part.layerInGroup(), part.input(),
                             group, r, part.integer("window"));
    if (!visible.ok()) {
      return part.error() << std::string(visible.status().message());
    }
    attendRow(shape, query->values.data() + r * part.integer("queryStride"),
              *visible, out.row(r).data());
  }
  part.write("out", std::move(out));
  return success();
}

static LogicalResult runGather(RtPart &part) {
  const Rows *x = part.read("x");
  if (!x) {
    return failure();
  }
  const std::vector<int32_t> &wanted = part.input().logitRow;
  Rows out(wanted.size(), x->features);
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::ranges::copy(x->row(wanted[i]), out.row(i).begin());
  }
  part.write("out", std::move(out));
  return success();
}

/// A function of the module over row-wise `lm` ops.
static LogicalResult runGenerated(RtPart &part) {
  Operation *function = part.state.module.lookupSymbol(part.kernel());
  if (!function || function->getNumRegions() != 1 ||
      function->getRegion(0).empty()) {
    return part.error() << "the module has no such function";
  }
  SmallVector<RuntimeValue> arguments;
  for (Attribute buffer : part.list("inputs")) {
    const Rows *rows = part.read(cast<FlatSymbolRefAttr>(buffer));
    if (!rows) {
      return failure();
    }
    RuntimeValue argument;
    argument.rows = std::make_shared<const Rows>(*rows);
    arguments.push_back(argument);
  }
  SmallVector<RuntimeValue> results;
  if (failed(runFunction(part.state, function, arguments, part.layer(),
                         results))) {
    return failure();
  }
  for (auto [buffer, result] : llvm::zip(part.list("outputs"), results)) {
    part.write(cast<FlatSymbolRefAttr>(buffer), *result.rows);
  }
  return success();
}

static KernelRunners makeRunners() {
  KernelRunners kernels = {
      {"embed", runEmbed},
      {"rope_table", runRopeTable},
      {"rms_norm", runRmsNorm},
      {"quantize", runQuantize},
      {"linear", runLinear},
      {"gated_linear", runGatedLinear},
      {"kv_append", runKvAppend},
      {"attention", runAttention},
      {"gather_logit_rows", runGather},
      {"fused", runGenerated},
  };
  addExpertKernels(kernels);
  addLatentKernels(kernels);
  return kernels;
}

LogicalResult runPart(RtPart &part) {
  static const KernelRunners kKernels = makeRunners();
  auto found = kKernels.find(rt::findKernel(part.kernel())->name);
  if (found == kKernels.end()) {
    return part.error() << "the reference interpreter does not know it";
  }
  return found->second(part);
}

} // namespace quire::reference
