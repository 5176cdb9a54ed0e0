#include "ir/lm/Lm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/lm/LmDialect.cpp.inc"
#include "ir/lm/LmEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/lm/LmTypes.cpp.inc"

using namespace mlir;

namespace quire::lm {

void LmDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/lm/LmTypes.cpp.inc"
      >();
  registerOps();
}

bool isRowsType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2 && tensor.isDynamicDim(0) &&
         !tensor.isDynamicDim(1) && tensor.getElementType().isF32();
}

int64_t featuresOf(Type type) {
  if (auto activation = dyn_cast<ActivationType>(type)) {
    return activation.getFeatures();
  }
  return cast<RankedTensorType>(type).getDimSize(1);
}

RankedTensorType rowsType(MLIRContext *context, int64_t features) {
  return RankedTensorType::get({ShapedType::kDynamic, features},
                               Float32Type::get(context));
}

int64_t blockValues(NumberFormat format) {
  switch (format) {
  case NumberFormat::F32:
  case NumberFormat::F16:
  case NumberFormat::BF16:
  case NumberFormat::Int8Row:
    return 1;
  case NumberFormat::Q2_K:
  case NumberFormat::Q3_K:
  case NumberFormat::Q4_K:
  case NumberFormat::Q5_K:
  case NumberFormat::Q6_K:
    return 256;
  default:
    return 32;
  }
}

int64_t ActivationType::getGroup() const {
  switch (getFormat()) {
  case ActivationFormat::F32:
    return getFeatures();
  case ActivationFormat::Int8By32:
    return 32;
  case ActivationFormat::Int8By256:
    return 256;
  }
  llvm_unreachable("every activation format is listed");
}

LogicalResult WeightType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, NumberFormat format) {
  // C1
  if (shape.empty() || shape.size() > 3 ||
      llvm::any_of(shape, [](int64_t size) { return size <= 0; })) {
    return emitError() << "a weight has one to three positive dimensions";
  }
  // C2
  if (shape.back() % blockValues(format) != 0) {
    return emitError() << "rows of " << shape.back() << " values are not whole "
                       << stringifyNumberFormat(format) << " blocks of "
                       << blockValues(format);
  }
  return success();
}

/// ", name = " and an integer; the comma is left out before the first one.
static ParseResult parseSize(AsmParser &parser, StringRef name, int64_t &size,
                             bool first = false) {
  return failure((!first && parser.parseComma()) || parser.parseKeyword(name) ||
                 parser.parseEqual() || parser.parseInteger(size));
}

Type KvType::parse(AsmParser &parser) {
  int64_t heads = 1, key = 0, value = 0, page = 0, window = 0;
  std::string format;
  if (parser.parseLess()) {
    return {};
  }
  bool latent = succeeded(parser.parseOptionalKeyword("latent"));
  ParseResult widths =
      latent ? failure(parser.parseEqual() || parser.parseInteger(key) ||
                       parseSize(parser, "rotary", value))
             : failure(parseSize(parser, "heads", heads, /*first=*/true) ||
                       parseSize(parser, "key", key) ||
                       parseSize(parser, "value", value));
  if (widths || parser.parseComma() || parser.parseKeyword("format") ||
      parser.parseEqual()) {
    return {};
  }
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&format) || parseSize(parser, "page", page) ||
      parseSize(parser, "window", window) || parser.parseGreater()) {
    return {};
  }
  std::optional<NumberFormat> known = symbolizeNumberFormat(format);
  if (!known) {
    parser.emitError(at) << "'" << format << "' is no number format";
    return {};
  }
  return parser.getChecked<KvType>(parser.getContext(), latent, heads, key,
                                   value, *known, page, window);
}

void KvType::print(AsmPrinter &printer) const {
  if (getLatent()) {
    printer << "<latent = " << getKey() << ", rotary = " << getValue();
  } else {
    printer << "<heads = " << getHeads() << ", key = " << getKey()
            << ", value = " << getValue();
  }
  printer << ", format = " << stringifyNumberFormat(getFormat())
          << ", page = " << getPage() << ", window = " << getWindow() << ">";
}

LogicalResult KvType::verify(function_ref<InFlightDiagnostic()> emitError,
                             bool latent, int64_t heads, int64_t key,
                             int64_t value, NumberFormat format, int64_t page,
                             int64_t window) {
  // C1
  if (heads <= 0 || key <= 0 || value <= 0 || page <= 0 || window < 0) {
    return emitError() << "heads, key, value and page of a cache must be "
                          "positive, and its window not negative";
  }
  // C2
  if (format != NumberFormat::F32 && format != NumberFormat::F16 &&
      format != NumberFormat::BF16) {
    return emitError() << "a cache stores f32, f16 or bf16, not "
                       << stringifyNumberFormat(format);
  }
  // C3
  if (latent && heads != 1) {
    return emitError() << "a latent cache has one head, not " << heads;
  }
  return success();
}

} // namespace quire::lm
