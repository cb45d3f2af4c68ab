//===- MatrixStores.cpp - how a warp writes what mma leaves in registers ----------------------===//

#include "tilewright/Access/MatrixStores.h"
#include "tilewright/Layout/Enumerate.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// The rows of a matrix, and the elements of a row and of one lane in it.
static constexpr int64_t kRows = 8, kRowElements = 8, kLaneElements = 2;

MatrixRow MatrixRow::get(int64_t number) {
  IndexExpr thread = IndexExpr::dim(0), lane = thread % kWarpSize;
  IndexExpr row = lane % kRows, matrix = floorDiv(lane, kRows);
  return {floorDiv(thread, kWarpSize) * kWarpSize + row * (kRowElements / kLaneElements),
          matrix * kLaneElements + number * kMatrixSlots};
}

std::optional<Plan> planMatrixStores(const ElementAccess &access, const Request &request,
                                     const Context &context) {
  const analysis::OwnerTable &table = request.loop->table;
  bool hasInstruction = context.arch.version >= 90 && isa<StoreOp>(access.op) &&
                        !request.memory.isGlobal && request.memory.elementBytes == 2;
  if (!hasInstruction || request.isConditional || !request.arguments.empty() ||
      !request.hasCoordinates() || table.slots % kMatrixSlots || table.threads % kWarpSize)
    return std::nullopt;
  // Every lane brings all of its elements, and no element comes twice.
  if (llvm::any_of(table.element, [](int64_t element) { return element < 0; }) ||
      llvm::any_of(table.replica, [](int64_t replica) { return replica != 0; }))
    return std::nullopt;
  analysis::LoopDistribution rows;
  rows.extents = request.loop->extents;
  rows.table.threads = table.threads;
  rows.table.slots = table.slots;
  rows.table.element.resize(table.element.size());
  rows.table.replica.resize(table.element.size());
  for (int64_t number = 0; number < table.slots / kMatrixSlots; ++number) {
    MatrixRow row = MatrixRow::get(number);
    std::optional<ValueColumns> owners = enumerateValues({row.thread, row.slot}, table.threads);
    if (!owners)
      return std::nullopt;
    for (int64_t thread = 0; thread < table.threads; ++thread)
      for (int64_t e = 0; e < kRowElements; ++e)
        rows.table.element[thread * table.slots + number * kRowElements + e] = table.at(
            (*owners)[0][thread] + e / kLaneElements, (*owners)[1][thread] + e % kLaneElements);
  }
  Request ofRows = request;
  ofRows.loop = &rows;
  ofRows.maxWidth = kRowElements;
  ofRows.maxWidthReason.clear();
  Plan plan = planAccess(ofRows);
  bool isInOrder = llvm::equal(plan.slots, llvm::seq<int64_t>(0, table.slots));
  if (plan.width != kRowElements || !isInOrder || !plan.sources.empty() || plan.anchors.empty())
    return std::nullopt;
  return plan;
}

} // namespace tilewright::access
