//===- Words.cpp - pairs, vectors, and what another lane has ---------------------------------===//

#include "Numbers.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

Value packVector(Emitter &e, ArrayRef<Value> elements) {
  ImplicitLocOpBuilder &b = e.b;
  if (elements.size() == 1)
    return elements[0];
  auto type = VectorType::get({int64_t(elements.size())}, elements[0].getType());
  auto isElement = [&](Value element, Value vector, int64_t position) {
    auto taken = element.getDefiningOp<LLVM::ExtractElementOp>();
    return taken && taken.getVector() == vector &&
           getConstantIntValue(taken.getPosition()) == position;
  };
  if (auto first = elements[0].getDefiningOp<LLVM::ExtractElementOp>();
      first && first.getVector().getType() == type &&
      llvm::all_of(llvm::enumerate(elements),
                   [&](auto it) { return isElement(it.value(), first.getVector(), it.index()); }))
    return first.getVector();
  Value vector = LLVM::UndefOp::create(b, type);
  for (auto [position, element] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(b, vector, element,
                                           e.constant(b.getI32IntegerAttr(position)));
  return vector;
}

SmallVector<Value> callPtx(ImplicitLocOpBuilder &b, StringRef text, StringRef constraints,
                           ArrayRef<Type> results, ArrayRef<Value> operands) {
  SmallVector<Type, 1> type(results.take_front());
  if (results.size() > 1)
    type[0] = LLVM::LLVMStructType::getLiteral(b.getContext(), results);
  auto call =
      LLVM::InlineAsmOp::create(b, type, operands, text, constraints,
                                /*has_side_effects=*/true, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  if (results.size() < 2)
    return SmallVector<Value>(call.getResults());
  SmallVector<Value> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, call.getResult(0), i));
  return values;
}

Value elementOf(Emitter &e, Value vector, int64_t position) {
  ImplicitLocOpBuilder &b = e.b;
  return LLVM::ExtractElementOp::create(b, vector, e.constant(b.getI32IntegerAttr(position)));
}

Value shuffle(Emitter &e, Value value, int64_t lane, NVVM::ShflKind kind) {
  ImplicitLocOpBuilder &b = e.b;
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Type word = b.getI32Type();
  auto number = [&](int64_t value) { return e.constant(b.getI32IntegerAttr(value)); };
  auto exchange = [&](Value bits) -> Value {
    // A shift upwards stops at lane 0, the other kinds at lane 31.
    int64_t bound = kind == NVVM::ShflKind::up ? 0 : kWarpSize - 1;
    return NVVM::ShflOp::create(b, word, number(-1), bits, number(lane), number(bound), kind,
                                UnitAttr());
  };
  Type integer = b.getIntegerType(width);
  Value bits =
      isa<FloatType>(type) ? LLVM::BitcastOp::create(b, integer, value).getResult() : value;
  if (width < 32) {
    bits = arith::ExtUIOp::create(b, word, bits);
    bits = arith::TruncIOp::create(b, integer, exchange(bits));
  } else if (width == 32) {
    bits = exchange(bits);
  } else {
    Value shift = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    Value low = exchange(arith::TruncIOp::create(b, word, bits));
    Value high = exchange(arith::TruncIOp::create(b, word, arith::ShRUIOp::create(b, bits, shift)));
    bits = arith::OrIOp::create(
        b, arith::ExtUIOp::create(b, integer, low),
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, integer, high), shift));
  }
  return isa<FloatType>(type) ? LLVM::BitcastOp::create(b, type, bits).getResult() : bits;
}

} // namespace tilewright::nvptx
