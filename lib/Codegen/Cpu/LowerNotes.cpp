//===- LowerNotes.cpp - printing --------------------------------------------------------------===//

#include "Lowering.h"
#include "tilewright/Support/HostAbi.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static_assert(sizeof(host::PrintRequest) == 6 * 8, "a print request is six slots");

static host::NumberKind getNumberKind(Type elementType) {
  if (isa<FloatType>(elementType))
    return host::NumberKind::Float;
  return elementType.isUnsignedInteger() || elementType.isInteger(1) ? host::NumberKind::Unsigned
                                                                     : host::NumberKind::Signed;
}

/// Elements travel as doubles or 64-bit integers, copied to scratch memory first.
void Lowering::lowerPrint(tile::PrintOp op) {
  Type i64 = b.getI64Type();
  auto number = [&](int64_t value) { return numbers.integer(i64, value); };
  auto widen = [&](Value carrier, Type elementType) {
    bool isReal = isa<FloatType>(elementType);
    return numbers.convert(carrier, elementType, isReal ? Type(b.getF64Type()) : i64);
  };
  auto storeSlot = [&](Value slots, int64_t position, Value value) {
    LLVM::StoreOp::create(b, value, offsetPointer(slots, i64, number(position)), 8);
  };
  host::NumberKind kind = host::NumberKind::None;
  auto operandType = op.getValue() ? dyn_cast<MemRefType>(op.getValue().getType()) : MemRefType();
  int64_t rank = operandType ? operandType.getRank() : 0;
  Value extents = allocaAtEntry(i64, std::max<int64_t>(rank, 1)), elements = extents;
  if (Value operand = op.getValue()) {
    if (!operandType) {
      kind = getNumberKind(operand.getType());
      elements = allocaAtEntry(i64, 1);
      storeSlot(elements, 0, widen(lookup(operand), operand.getType()));
    } else {
      kind = getNumberKind(operandType.getElementType());
      View source = getView(operand);
      bool isReal = kind == host::NumberKind::Float;
      View wide = makeScratch(source.extents, isReal ? Type(b.getF64Type()) : Type(i64));
      loopNest(source.extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
        store(wide, variables, widen(load(source, variables), source.elementType));
      });
      elements = wide.root->pointer;
      for (int64_t dim = 0; dim < rank; ++dim)
        storeSlot(extents, dim, toI64(source.extents[dim]));
    }
  }
  Value request = allocaAtEntry(i64, 6);
  std::string text = op.getMessage().empty() ? " " : op.getMessage().str();
  storeSlot(request, 0, makeText(text));
  storeSlot(request, 1, number(op.getMessage().size()));
  storeSlot(request, 2, number(static_cast<int64_t>(kind)));
  storeSlot(request, 3, number(rank));
  storeSlot(request, 4, extents);
  storeSlot(request, 5, elements);
  callService(Service::Print, {request});
}
