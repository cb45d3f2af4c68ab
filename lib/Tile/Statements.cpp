//===- Statements.cpp - what statements do to single elements ---------------------------------===//

#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::tile {

bool changesElement(Value buffer) {
  while (Value source = getViewSource(buffer)) {
    if (cast<MemRefType>(buffer.getType()).getElementType() !=
        cast<MemRefType>(source.getType()).getElementType())
      return true;
    buffer = source;
  }
  return false;
}

PairedDims pairDimensions(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  bool isOneToOne = areCompatibleShapes(lhs, rhs);
  auto collect = [&](ArrayRef<int64_t> shape) {
    SmallVector<unsigned> dims;
    for (auto [dim, extent] : llvm::enumerate(shape))
      if (isOneToOne || extent != 1)
        dims.push_back(dim);
    return dims;
  };
  return {collect(lhs), collect(rhs)};
}

SmallVector<Value> makePairedIndices(ImplicitLocOpBuilder &b, Value buffer, Value like,
                                     ValueRange iterators) {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  PairedDims dims = pairDimensions(shape, cast<MemRefType>(like.getType()).getShape());
  SmallVector<Value> indices(shape.size());
  for (auto [own, other] : llvm::zip_equal(dims.lhs, dims.rhs))
    indices[own] = iterators[other];
  for (Value &index : indices)
    if (!index)
      index = arith::ConstantIndexOp::create(b, 0);
  return indices;
}

std::string getLanguageName(AtomicKind kind) {
  return kind == AtomicKind::Exchange ? "atomic_store"
                                      : ("atomic_" + stringifyAtomicKind(kind)).str();
}

AtomicKind getAtomicKind(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::AbsSum:
    return AtomicKind::Add;
  case ReduceKind::Max:
  case ReduceKind::AbsMax:
    return AtomicKind::Max;
  case ReduceKind::Min:
    return AtomicKind::Min;
  case ReduceKind::And:
    return AtomicKind::And;
  case ReduceKind::Or:
    return AtomicKind::Or;
  case ReduceKind::Xor:
    return AtomicKind::Xor;
  }
  llvm_unreachable("unknown kind");
}

Value combineIntegers(ImplicitLocOpBuilder &b, AtomicKind kind, Value lhs, Value rhs,
                      bool isUnsigned) {
  // Bools are 0 and 1, without a sign. Their sum is a number, which becomes a bool by `x != 0`.
  if (getElementTypeOrSelf(lhs.getType()).isInteger(1)) {
    isUnsigned = true;
    if (kind == AtomicKind::Add)
      kind = AtomicKind::Or;
  }
  switch (kind) {
  case AtomicKind::Add:
    return arith::AddIOp::create(b, lhs, rhs);
  case AtomicKind::Max:
    return isUnsigned ? Value(arith::MaxUIOp::create(b, lhs, rhs))
                      : Value(arith::MaxSIOp::create(b, lhs, rhs));
  case AtomicKind::Min:
    return isUnsigned ? Value(arith::MinUIOp::create(b, lhs, rhs))
                      : Value(arith::MinSIOp::create(b, lhs, rhs));
  case AtomicKind::And:
    return arith::AndIOp::create(b, lhs, rhs);
  case AtomicKind::Or:
    return arith::OrIOp::create(b, lhs, rhs);
  case AtomicKind::Xor:
    return arith::XOrIOp::create(b, lhs, rhs);
  case AtomicKind::Exchange:
    return rhs;
  }
  llvm_unreachable("unknown kind");
}

} // namespace tilewright::tile
