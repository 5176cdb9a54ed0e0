#include "codegen/cpu/LowerElementwise.h"

#include "ir/lm/Lm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

namespace quire {

using namespace mlir;

namespace {

using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

class LinalgBuilder {
public:
  LinalgBuilder(Operation *op)
      : builder(op), location(op->getLoc()),
        function(op->getParentOfType<func::FuncOp>()) {}

  /// A loop over all of `type` with one value read from each input.
  Value map(RankedTensorType type, ValueRange inputs,
            ArrayRef<AffineMap> inputMaps, Body body);
  /// The same where every input is read at the result's own place.
  Value mapInPlace(RankedTensorType type, ValueRange inputs, Body body);

  Value sigmoidGate(lm::SigmoidGateOp op);
  Value rope(lm::RopeOp op);
  Value sliceHeads(lm::SliceHeadsOp op);
  Value concatHeads(lm::ConcatHeadsOp op);

  /// A call of quire_<name>(x), declared where it is not yet.
  Value callMath(OpBuilder &inner, StringRef name, Value x);
  static Value constant(OpBuilder &inner, Location location, double value) {
    return arith::ConstantOp::create(
        inner, location, inner.getF32FloatAttr(static_cast<float>(value)));
  }

private:
  /// `value`, [rows, heads, channels], as rows again.
  Value collapse(Value value, Type type);
  Value ropeOfWholeHeads(lm::RopeOp op);
  Value ropeOfPartOfHeads(lm::RopeOp op);
  /// All tensors of a function have the same rows: asking an argument keeps
  /// loops free of each other, so that they can fuse.
  Value rows() {
    return tensor::DimOp::create(builder, location, function.getArgument(0), 0);
  }
  /// [rows, features] as [rows, shape...].
  Value expand(Value tensor, ArrayRef<int64_t> shape);
  AffineMap affineMap(ArrayRef<AffineExpr> results, unsigned dims) {
    return AffineMap::get(dims, 0, results, builder.getContext());
  }

  OpBuilder builder;
  Location location;
  func::FuncOp function;
};

} // namespace

Value LinalgBuilder::map(RankedTensorType type, ValueRange inputs,
                         ArrayRef<AffineMap> inputMaps, Body body) {
  Value destination = tensor::EmptyOp::create(
      builder, location, type.getShape(), type.getElementType(), rows());
  SmallVector<AffineMap> maps(inputMaps);
  unsigned rank = static_cast<unsigned>(type.getRank());
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto loop = linalg::GenericOp::create(
      builder, location, type, inputs, destination, maps, loops,
      [&](OpBuilder &inner, Location at, ValueRange values) {
        linalg::YieldOp::create(inner, at, body(inner, at, values.drop_back()));
      });
  return loop.getResult(0);
}

Value LinalgBuilder::mapInPlace(RankedTensorType type, ValueRange inputs,
                                Body body) {
  SmallVector<AffineMap> maps(
      inputs.size(),
      builder.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank())));
  return map(type, inputs, maps, body);
}

Value LinalgBuilder::callMath(OpBuilder &inner, StringRef name, Value x) {
  std::string symbol = ("quire_" + name).str();
  Type type = x.getType();
  auto module = function->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
    func::FuncOp::create(atTop, location, symbol,
                         atTop.getFunctionType(type, type))
        .setPrivate();
  }
  return func::CallOp::create(inner, location, symbol, type, x).getResult(0);
}

Value LinalgBuilder::expand(Value tensor, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes = {ShapedType::kDynamic};
  SmallVector<OpFoldResult> results = {OpFoldResult(rows())};
  ReassociationIndices features;
  for (auto [index, size] : llvm::enumerate(shape)) {
    sizes.push_back(size);
    results.push_back(builder.getIndexAttr(size));
    features.push_back(static_cast<int64_t>(index) + 1);
  }
  auto type = RankedTensorType::get(sizes, builder.getF32Type());
  SmallVector<ReassociationIndices> groups = {{0}, features};
  return tensor::ExpandShapeOp::create(builder, location, type, tensor, groups,
                                       results);
}

Value LinalgBuilder::rope(lm::RopeOp op) {
  int64_t headDim = static_cast<int64_t>(op.getHeadDim());
  return lm::featuresOf(op.getTable().getType()) == headDim
             ? ropeOfWholeHeads(op)
             : ropeOfPartOfHeads(op);
}

/// A row seen as [heads, 2, half] (or [heads, half, 2] where pairs are
/// neighbours): one loop over that space, which reads both members of a pair
/// and yields the one it stands at. Reading at a constant place of the pair's
/// dimension is an affine access, so what comes before and after fuses.
Value LinalgBuilder::ropeOfWholeHeads(lm::RopeOp op) {
  int64_t half = static_cast<int64_t>(op.getHeadDim()) / 2;
  int64_t features = lm::featuresOf(op.getInput().getType());
  int64_t heads = features / (2 * half);
  bool interleaved = op.getInterleaved();
  SmallVector<int64_t> shape = interleaved
                                   ? SmallVector<int64_t>{heads, half, 2}
                                   : SmallVector<int64_t>{heads, 2, half};
  Value input = expand(op.getInput(), shape);
  Value table = expand(op.getTable(), {2, half});

  AffineExpr row = builder.getAffineDimExpr(0);
  AffineExpr head = builder.getAffineDimExpr(1);
  AffineExpr pair = builder.getAffineDimExpr(interleaved ? 2 : 3);
  auto member = [&](int64_t which) {
    AffineExpr at = builder.getAffineConstantExpr(which);
    return interleaved ? affineMap({row, head, pair, at}, 4)
                       : affineMap({row, head, at, pair}, 4);
  };
  auto angle = [&](int64_t which) {
    return affineMap({row, builder.getAffineConstantExpr(which), pair}, 4);
  };
  auto type = cast<RankedTensorType>(input.getType());
  Value rotated = map(
      type, {input, input, table, table},
      {member(0), member(1), angle(0), angle(1)},
      [&](OpBuilder &inner, Location at, ValueRange values) -> Value {
        Value first = values[0], second = values[1];
        Value cosine = values[2], sine = values[3];
        auto mul = [&](Value a, Value b) -> Value {
          return arith::MulFOp::create(inner, at, a, b);
        };
        Value turnedFirst = arith::SubFOp::create(inner, at, mul(first, cosine),
                                                  mul(second, sine));
        Value turnedSecond = arith::AddFOp::create(
            inner, at, mul(second, cosine), mul(first, sine));
        Value which = linalg::IndexOp::create(inner, at, interleaved ? 3 : 2);
        Value zero = arith::ConstantIndexOp::create(inner, at, 0);
        Value isFirst = arith::CmpIOp::create(
            inner, at, arith::CmpIPredicate::eq, which, zero);
        return arith::SelectOp::create(inner, at, isFirst, turnedFirst,
                                       turnedSecond);
      });
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2, 3}};
  return tensor::CollapseShapeOp::create(
      builder, location, op.getOutput().getType(), rotated, groups);
}

/// Only the first channels of a head turn: a loop over [heads, blocks, lanes]
/// that looks the block (where pairs are neighbours, the lane) of its partner
/// up. Blocks divide both halves and the head, so that all lanes of one have
/// theirs in one other and the loop over them is straight. What produces the
/// input does not fuse into it.
Value LinalgBuilder::ropeOfPartOfHeads(lm::RopeOp op) {
  int64_t headDim = static_cast<int64_t>(op.getHeadDim());
  int64_t half = lm::featuresOf(op.getTable().getType()) / 2;
  int64_t heads = lm::featuresOf(op.getInput().getType()) / headDim;
  bool interleaved = op.getInterleaved();
  int64_t lanes = interleaved ? 2 : std::gcd(half, headDim);
  int64_t turning = 2 * half / lanes; // blocks
  Value input = expand(op.getInput(), {heads, headDim / lanes, lanes});
  Value table = op.getTable();
  Value rotated = mapInPlace(
      cast<RankedTensorType>(input.getType()), {input},
      [&](OpBuilder &inner, Location at, ValueRange values) -> Value {
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(inner, at, value);
        };
        auto index = [&](int64_t dim) -> Value {
          return linalg::IndexOp::create(inner, at, dim);
        };
        auto select = [&](Value condition, Value yes, Value no) -> Value {
          return arith::SelectOp::create(inner, at, condition, yes, no);
        };
        auto less = [&](Value a, int64_t b) -> Value {
          return arith::CmpIOp::create(inner, at, arith::CmpIPredicate::ult, a,
                                       number(b));
        };
        auto plus = [&](Value a, int64_t b) -> Value {
          return arith::AddIOp::create(inner, at, a, number(b));
        };
        Value row = index(0), head = index(1), block = index(2),
              lane = index(3);
        Value turns = less(block, turning);
        Value isFirst =
            less(interleaved ? lane : block, interleaved ? 1 : turning / 2);
        auto across = [&](Value place, int64_t apart) {
          return select(
              turns, select(isFirst, plus(place, apart), plus(place, -apart)),
              place);
        };
        Value other = tensor::ExtractOp::create(
            inner, at, input,
            interleaved
                ? ValueRange{row, head, block, across(lane, 1)}
                : ValueRange{row, head, across(block, turning / 2), lane});
        // Any pair will do for channels that pass.
        Value pair = interleaved
                         ? block
                         : select(isFirst, block, plus(block, -turning / 2));
        pair = select(turns, pair, number(0));
        if (!interleaved) {
          pair = arith::MulIOp::create(inner, at, pair, number(lanes));
          pair = arith::AddIOp::create(inner, at, pair, lane);
        }
        Value cosine =
            tensor::ExtractOp::create(inner, at, table, ValueRange{row, pair});
        Value sine = tensor::ExtractOp::create(
            inner, at, table, ValueRange{row, plus(pair, half)});
        Value own = arith::MulFOp::create(inner, at, values[0], cosine);
        Value mixed = arith::MulFOp::create(inner, at, other, sine);
        Value turned =
            select(isFirst, arith::SubFOp::create(inner, at, own, mixed),
                   arith::AddFOp::create(inner, at, own, mixed));
        return select(turns, turned, values[0]);
      });
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2, 3}};
  return tensor::CollapseShapeOp::create(
      builder, location, op.getOutput().getType(), rotated, groups);
}

Value LinalgBuilder::collapse(Value value, Type type) {
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
  return tensor::CollapseShapeOp::create(builder, location, type, value,
                                         groups);
}

/// Reads at computed places, as the rotation of a part does.
Value LinalgBuilder::sliceHeads(lm::SliceHeadsOp op) {
  int64_t heads = static_cast<int64_t>(op.getHeads());
  int64_t begin = static_cast<int64_t>(op.getBegin());
  int64_t size = lm::featuresOf(op.getOutput().getType()) / heads;
  int64_t width = lm::featuresOf(op.getInput().getType()) / heads;
  Value input = expand(op.getInput(), {heads, width});
  auto type = RankedTensorType::get({ShapedType::kDynamic, heads, size},
                                    builder.getF32Type());
  Value taken = mapInPlace(
      type, {}, [&](OpBuilder &inner, Location at, ValueRange) -> Value {
        Value channel = arith::AddIOp::create(
            inner, at, linalg::IndexOp::create(inner, at, 2),
            arith::ConstantIndexOp::create(inner, at, begin));
        return tensor::ExtractOp::create(
            inner, at, input,
            ValueRange{linalg::IndexOp::create(inner, at, 0),
                       linalg::IndexOp::create(inner, at, 1), channel});
      });
  return collapse(taken, op.getOutput().getType());
}

/// Reads both rows at a place that exists in each, and keeps the one that the
/// channel belongs to.
Value LinalgBuilder::concatHeads(lm::ConcatHeadsOp op) {
  int64_t heads = static_cast<int64_t>(op.getHeads());
  int64_t first = lm::featuresOf(op.getFirst().getType()) / heads;
  int64_t ofSecond = op.getShared() ? 1 : heads;
  int64_t second = lm::featuresOf(op.getSecond().getType()) / ofSecond;
  Value before = expand(op.getFirst(), {heads, first});
  Value after = expand(op.getSecond(), {ofSecond, second});
  auto type = RankedTensorType::get(
      {ShapedType::kDynamic, heads, first + second}, builder.getF32Type());
  Value joined = mapInPlace(
      type, {}, [&](OpBuilder &inner, Location at, ValueRange) -> Value {
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(inner, at, value);
        };
        auto select = [&](Value condition, Value yes, Value no) -> Value {
          return arith::SelectOp::create(inner, at, condition, yes, no);
        };
        Value row = linalg::IndexOp::create(inner, at, 0);
        Value head = linalg::IndexOp::create(inner, at, 1);
        Value channel = linalg::IndexOp::create(inner, at, 2);
        Value isFirst = arith::CmpIOp::create(
            inner, at, arith::CmpIPredicate::ult, channel, number(first));
        Value late = arith::SubIOp::create(inner, at, channel, number(first));
        Value fromFirst = tensor::ExtractOp::create(
            inner, at, before,
            ValueRange{row, head, select(isFirst, channel, number(0))});
        Value fromSecond = tensor::ExtractOp::create(
            inner, at, after,
            ValueRange{row, op.getShared() ? number(0) : head,
                       select(isFirst, number(0), late)});
        return select(isFirst, fromFirst, fromSecond);
      });
  return collapse(joined, op.getOutput().getType());
}

/// The gate's only feature is read for every feature of the row.
Value LinalgBuilder::sigmoidGate(lm::SigmoidGateOp op) {
  Value share =
      mapInPlace(cast<RankedTensorType>(op.getGate().getType()), {op.getGate()},
                 [&](OpBuilder &inner, Location, ValueRange values) -> Value {
                   return callMath(inner, "sigmoid", values[0]);
                 });
  AffineExpr row = builder.getAffineDimExpr(0);
  AffineMap same = builder.getMultiDimIdentityMap(2);
  AffineMap first = affineMap({row, builder.getAffineConstantExpr(0)}, 2);
  return map(cast<RankedTensorType>(op.getOutput().getType()),
             {op.getInput(), share}, {same, first},
             [](OpBuilder &inner, Location at, ValueRange values) -> Value {
               return arith::MulFOp::create(inner, at, values[0], values[1]);
             });
}

static Value lower(Operation *op) {
  LinalgBuilder linalg(op);
  auto overAll = [&](auto body) {
    return linalg.mapInPlace(cast<RankedTensorType>(op->getResult(0).getType()),
                             op->getOperands(), body);
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](lm::AddOp) {
        return overAll([](OpBuilder &b, Location at, ValueRange v) -> Value {
          return arith::AddFOp::create(b, at, v[0], v[1]);
        });
      })
      .Case([&](lm::MulOp) {
        return overAll([](OpBuilder &b, Location at, ValueRange v) -> Value {
          return arith::MulFOp::create(b, at, v[0], v[1]);
        });
      })
      .Case([&](lm::ScaleOp scale) {
        double by = scale.getBy().convertToDouble();
        return overAll([=](OpBuilder &b, Location at, ValueRange v) -> Value {
          return arith::MulFOp::create(b, at, v[0],
                                       LinalgBuilder::constant(b, at, by));
        });
      })
      .Case([&](lm::NonlinearityOp nonlinearity) {
        StringRef name = lm::stringifyNonlinearity(nonlinearity.getKind());
        return overAll([&](OpBuilder &b, Location, ValueRange v) -> Value {
          return linalg.callMath(b, name, v[0]);
        });
      })
      .Case([&](lm::SoftcapOp softcap) {
        double by = softcap.getCap().convertToDouble();
        return overAll([&](OpBuilder &b, Location at, ValueRange v) -> Value {
          Value cap = LinalgBuilder::constant(b, at, by);
          Value share = arith::DivFOp::create(b, at, v[0], cap);
          return arith::MulFOp::create(b, at, linalg.callMath(b, "tanh", share),
                                       cap);
        });
      })
      .Case([&](lm::RopeOp rope) { return linalg.rope(rope); })
      .Case([&](lm::SliceHeadsOp slice) { return linalg.sliceHeads(slice); })
      .Case([&](lm::ConcatHeadsOp join) { return linalg.concatHeads(join); })
      .Case([&](lm::SigmoidGateOp gate) { return linalg.sigmoidGate(gate); })
      .Default(Value());
}

LogicalResult lowerElementwiseToLinalg(func::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator()) {
    ops.push_back(&op);
  }
  for (Operation *op : ops) {
    if (!isa<lm::LmDialect>(op->getDialect())) {
      continue;
    }
    Value lowered = lower(op);
    if (!lowered) {
      return op->emitError("is not a row-wise op; it cannot stand in a "
                           "generated function");
    }
    op->getResult(0).replaceAllUsesWith(lowered);
    op->erase();
  }
  return success();
}

} // namespace quire
