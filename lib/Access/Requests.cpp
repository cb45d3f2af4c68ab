//===- Requests.cpp - what the statements of a program ask the planner -----------------------===//

#include "tilewright/Access/Requests.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// The widest load or store of any architecture.
static constexpr int64_t kMaxVectorBytes = 16;

std::optional<ElementAccess> ElementAccess::get(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<ElementAccess>>(op)
      .Case<LoadOp, StoreOp, AtomicElementOp, ReducerUpdateOp>([](auto access) {
        return ElementAccess{access, access.getBuffer(), access.getIndices()};
      })
      .Default(std::nullopt);
}

int64_t getAtomicWidth(AtomicKind kind, Type elementType, MemoryOrder order, bool isGlobal,
                       bool isUsed, const Arch &arch) {
  if (kind != AtomicKind::Add || order != MemoryOrder::Relaxed || isUsed)
    return 1;
  bool hasVectors = isGlobal && arch.hasVectorRed;
  if (elementType.isF32())
    return hasVectors ? 4 : 1;
  if (elementType.isF16() || (elementType.isBF16() && arch.hasBf16Atomics))
    return hasVectors ? 8 : 2; // a packed pair is one operand everywhere
  return 1;
}

/// Whether an access stands inside a loop of its loop's body.
static bool isInInnerLoop(Operation *access, ParallelOp loop) {
  for (Operation *op = access->getParentOp(); op != loop; op = op->getParentOp())
    if (!isa<scf::IfOp>(op))
      return true;
  return false;
}

std::optional<Request> makeRequest(const ElementAccess &access, ParallelOp loop,
                                   const analysis::LoopDistribution &distribution,
                                   const Context &context) {
  Value root = getRoot(access.buffer);
  std::optional<Memory> memory = getMemory(root, context);
  Type elementType = cast<MemRefType>(root.getType()).getElementType();
  if (!memory || changesElement(access.buffer))
    return std::nullopt;
  Request request;
  request.loop = &distribution;
  request.memory = std::move(*memory);
  request.name = getName(root).str();
  request.isRead = access.isRead();
  request.isConditional = access.op->getBlock() != &loop.getBody().front();
  bool hasTests = !request.isConditional;
  if (auto found = getCoordinates(access.op, loop, access.buffer, access.indices)) {
    request.coordinates = std::move(found->coordinates);
    request.symbols = std::move(found->symbols);
    request.arguments = std::move(found->arguments);
    request.known = std::move(found->known);
    request.extents = std::move(found->extents);
    hasTests = found->tests.has_value();
    request.tests = found->tests.value_or(SmallVector<BranchTest, 2>());
  }
  request.maxWidth = std::max<int64_t>(1, kMaxVectorBytes / request.memory.elementBytes);
  auto limit = [&](int64_t width, const Twine &reason) {
    if (width < request.maxWidth) {
      request.maxWidth = width;
      request.maxWidthReason = reason.str();
    }
  };
  if (auto atomic = dyn_cast<AtomicElementOp>(access.op))
    limit(getAtomicWidth(atomic.getKind(), elementType, atomic.getOrder(), request.memory.isGlobal,
                         !atomic.getPrevious().use_empty(), context.arch),
          context.arch.name + " has no wider form of this update");
  if (isa<ReducerUpdateOp>(access.op))
    limit(1, "contributions to a reducer go one by one");
  if (isInInnerLoop(access.op, loop))
    limit(1, "it stands inside a loop");
  if (!hasTests)
    limit(1, "it stands inside a branch on a value that is no comparison of indices");
  if (auto cap = loop.getCoalescedWidth())
    limit(std::max<int64_t>(1, *cap), "'coalesced_width' says so");
  return request;
}

std::string describeInstruction(const ElementAccess &access, int64_t width) {
  Type elementType = cast<MemRefType>(access.buffer.getType()).getElementType();
  bool isGlobal = getSpace(getRoot(access.buffer)) == Space::Global;
  int64_t bytes = getStorageBytes(elementType);
  std::string space = isGlobal ? ".global" : ".shared", vector;
  std::string type = (isa<FloatType>(elementType) && bytes >= 4 ? "f" : "b") +
                     std::to_string(8 * std::min<int64_t>(bytes, 8));
  if (width > 1 && bytes < 4) { // narrow elements travel as words
    int64_t total = width * bytes;
    vector = total > 4 ? ".v" + std::to_string(total / 4) : "";
    type = total >= 4 ? "b32" : "b" + std::to_string(8 * total);
  } else if (width > 1) {
    vector = ".v" + std::to_string(width);
  }
  if (isa<LoadOp>(access.op))
    return "ld" + space + vector + "." + type;
  if (isa<StoreOp>(access.op))
    return "st" + space + vector + "." + type;
  auto atomic = dyn_cast<AtomicElementOp>(access.op);
  bool isUsed = atomic && !atomic.getPrevious().use_empty();
  StringRef kind = atomic ? stringifyAtomicKind(atomic.getKind()) : StringRef("reduce");
  if (bytes < 4)
    type = (elementType.isBF16()  ? "bf16"
            : elementType.isF16() ? "f16"
                                  : "b" + std::to_string(8 * bytes)) +
           (width > 1 ? "x2" : "");
  vector = width > 1 && bytes < 4 ? (width > 2 ? ".v" + std::to_string(width / 2) : "") : vector;
  return (isUsed ? "atom" : "red") + space + "." + kind.str() + vector + "." + type;
}

AccessAttr makeAttr(MLIRContext *context, const Plan &plan) {
  return AccessAttr::get(context, plan.width, plan.slots, plan.sources, plan.anchors, plan.deltas,
                         plan.guarded);
}

} // namespace tilewright::access
