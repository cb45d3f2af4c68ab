//===- LowerNotes.cpp - printing --------------------------------------------------------------===//

#include "Lowerings.h"
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
void tilewright::cpu::lowerPrint(tile::PrintOp op, Emitter &e) {
  Type i64 = e.b.getI64Type();
  auto number = [&](int64_t value) { return e.numbers.integer(i64, value); };
  auto widen = [&](Value carrier, Type elementType) {
    bool isReal = isa<FloatType>(elementType);
    return e.numbers.convert(carrier, elementType, isReal ? Type(e.b.getF64Type()) : i64);
  };
  auto storeSlot = [&](Value slots, int64_t position, Value value) {
    LLVM::StoreOp::create(e.b, value, e.offsetPointer(slots, i64, number(position)), 8);
  };
  host::NumberKind kind = host::NumberKind::None;
  auto operandType = op.getValue() ? dyn_cast<MemRefType>(op.getValue().getType()) : MemRefType();
  int64_t rank = operandType ? operandType.getRank() : 0;
  Value extents = e.allocaAtEntry(i64, std::max<int64_t>(rank, 1)), elements = extents;
  if (Value operand = op.getValue()) {
    if (!operandType) {
      kind = getNumberKind(operand.getType());
      elements = e.allocaAtEntry(i64, 1);
      storeSlot(elements, 0, widen(e.lookup(operand), operand.getType()));
    } else {
      kind = getNumberKind(operandType.getElementType());
      View source = e.buffers.getView(operand);
      bool isReal = kind == host::NumberKind::Float;
      View wide =
          e.buffers.makeScratch(source.extents, isReal ? Type(e.b.getF64Type()) : Type(i64));
      e.loopNest(source.extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
        e.buffers.store(wide, variables,
                        widen(e.buffers.load(source, variables), source.elementType));
      });
      elements = wide.root->pointer;
      for (int64_t dim = 0; dim < rank; ++dim)
        storeSlot(extents, dim, e.toI64(source.extents[dim]));
    }
  }
  Value request = e.allocaAtEntry(i64, 6);
  std::string text = op.getMessage().empty() ? " " : op.getMessage().str();
  storeSlot(request, 0, e.services.makeText(text));
  storeSlot(request, 1, number(op.getMessage().size()));
  storeSlot(request, 2, number(static_cast<int64_t>(kind)));
  storeSlot(request, 3, number(rank));
  storeSlot(request, 4, extents);
  storeSlot(request, 5, elements);
  e.services.call(Service::Print, {request});
}
