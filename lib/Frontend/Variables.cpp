//===- Variables.cpp - scalar variables of a trace -------------------------------------------===//

#include "tilewright/Frontend/Variables.h"

using namespace mlir;

namespace tilewright::frontend {

Variable Variables::alloc(StringRef name, Type dtype, std::optional<Operand> init) {
  auto type = tile::makeBufferType({}, dtype, tile::Space::Local);
  auto op = emitter.createVerified<tile::AllocOp>(type, builder.getStringAttr(name), ValueRange(),
                                                  tile::ReduceKindAttr());
  Variable variable{{op.getBuffer(), dtype, {}, false, emitter.getId()}};
  if (init)
    assign(variable, *init);
  return variable;
}

Variable Variables::allocOutside(unsigned depth, StringRef name, Type dtype,
                                 std::optional<Operand> init) {
  if (depth >= regions.getDepth())
    return alloc(name, dtype, init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(regions.getOp(depth));
  return alloc(name, dtype, init);
}

void Variables::assign(const Variable &variable, const Operand &value) {
  emitter.checkOwn(variable.cell.traceId);
  Scalar converted = scalars.convert(value, variable.cell.dtype);
  emitter.createVerified<tile::StoreOp>(converted.value, variable.cell.value, ValueRange());
}

} // namespace tilewright::frontend
