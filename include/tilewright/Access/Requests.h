//===- Requests.h - what the statements of a program ask the planner ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_ACCESS_REQUESTS_H
#define TILEWRIGHT_ACCESS_REQUESTS_H

#include "tilewright/Access/Planner.h"

namespace tilewright::access {

/// The buffer and indices of an op that touches one element; nothing for other ops.
struct ElementAccess {
  mlir::Operation *op;
  mlir::Value buffer;
  mlir::ValueRange indices;

  static std::optional<ElementAccess> get(mlir::Operation *op);
  bool isRead() const { return llvm::isa<tile::LoadOp>(op); }
};

/// The request of an access inside `loop`; nothing where it touches no memory, or memory through a
/// view with another element type (those go element by element, as bytes).
std::optional<Request> makeRequest(const ElementAccess &access, tile::ParallelOp loop,
                                   const analysis::LoopDistribution &distribution,
                                   const Context &context);

/// The widest update of neighbouring elements that one instruction makes; 1 where there is none.
int64_t getAtomicWidth(tile::AtomicKind kind, mlir::Type elementType, tile::MemoryOrder order,
                       bool isGlobal, bool isUsed, const Arch &arch);

/// `ld.global.v4.f32`: the instruction of a plan, as remarks name it.
std::string describeInstruction(const ElementAccess &access, int64_t width);

/// The plan as the attribute that later passes read.
tile::AccessAttr makeAttr(mlir::MLIRContext *context, const Plan &plan);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_REQUESTS_H
