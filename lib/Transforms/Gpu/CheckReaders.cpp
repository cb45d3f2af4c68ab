//===- CheckReaders.cpp - versions are read between the wait and the release -----------------===//

#include "CheckReaders.h"

#include "tilewright/Tile/Schedule.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::schedule {

/// Looks for a wait that ends a product, from an op to another one of its block (null: the end). With
/// how many products have been issued after it, at least. Of a branch, both ways need one.
static bool findWait(Operation *from, Operation *to, int64_t &younger) {
  for (Operation *op = from; op && op != to; op = op->getNextNode()) {
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.getElseRegion().empty()) {
      int64_t first = younger, second = younger;
      bool ends = findWait(&branch.thenBlock()->front(), nullptr, first);
      ends &= findWait(&branch.elseBlock()->front(), nullptr, second);
      if (ends)
        return true;
      younger = std::min(first, second);
    }
    if (auto wait = dyn_cast<ProductWaitOp>(op); wait && int64_t(wait.getPending()) <= younger)
      return true;
    younger += isa<GemmOp>(op) && op->hasAttr(kAsyncAttr);
  }
  return false;
}

/// Whether a loop is known to have an iteration.
static bool isNonEmpty(PipelinedOp loop) {
  return subtract(IndexSum::get(getAsOpFoldResult(loop.getUpper())),
                  IndexSum::get(getAsOpFoldResult(loop.getLower())))
             .value_or(0) > 0;
}

/// Whether a product is over wherever the version that it reads is released: in a loop that of `shift` iterations
/// before its own, elsewhere that of `iteration`.
static bool hasEnded(GemmOp product, int64_t shift, const std::optional<IndexSum> &iteration,
                     const ChannelUse &use) {
  Block *last = use.releases.back().getStatement()->getBlock(),
        *first = use.releases.front().getStatement()->getBlock();
  int64_t younger = 0;
  Operation *from = product;
  auto isInLoop = [&]() -> const Piece * {
    auto loop = dyn_cast<PipelinedOp>(from->getParentOp());
    return loop ? findLoop(use.releases, loop) : nullptr;
  };
  // Out of what is inside.
  while (from->getBlock() != first && from->getBlock() != last && !isInLoop()) {
    if (findWait(from->getNextNode(), nullptr, younger))
      return true;
    from = from->getParentOp();
  }
  auto endsInside = [&](const Piece &piece, int64_t count) {
    return findWait(&piece.op->getBlock()->front(), piece.op, count);
  };
  // On every way from an op on to a release: through a loop, or past it; to the next segment, and after them.
  auto endsFrom = [&](auto &&again, Block *block, Operation *op, int64_t count,
                      bool goesRound) -> bool {
    for (const Piece &piece : use.releases) {
      Operation *statement = piece.getStatement();
      if (statement->getBlock() != block || !op || statement->isBeforeInBlock(op))
        continue;
      bool isOther = iteration && goesRound && !piece.loop &&
                     subtract(*iteration, piece.from).value_or(0) != 0;
      if (isOther)
        continue;
      if (findWait(op, statement, count))
        return true;
      if ((!piece.loop && !piece.branch) || !endsInside(piece, count))
        return false;
      if (piece.loop && isNonEmpty(piece.loop))
        return true; // no way past it
      op = statement->getNextNode();
    }
    if (findWait(op, nullptr, count))
      return true;
    scf::ForOp segments = getSegments(&block->front());
    return !segments || ((!goesRound || again(again, block, &block->front(), count, false)) &&
                         again(again, segments->getBlock(), segments->getNextNode(), count, false));
  };
  auto endsAfter = [&](Operation *statement, int64_t count) {
    return endsFrom(endsFrom, statement->getBlock(), statement->getNextNode(), count, true);
  };
  if (!isInLoop())
    return endsAfter(from, younger);
  const Piece *inLoop = isInLoop();
  int64_t count = younger;
  bool isBefore = from->isBeforeInBlock(inLoop->op);
  if (isBefore && findWait(from->getNextNode(), inLoop->op, count))
    return true;
  if (isBefore && inLoop->shift == shift) // it releases this one
    return false;
  if (findWait(from->getNextNode(), nullptr, younger))
    return true;
  return inLoop->shift != 0 && endsInside(*inLoop, younger) &&
         endsAfter(inLoop->getStatement(), younger);
}

/// What the program does to a tile stands between the wait for the version and its release.
static LogicalResult checkReader(Operation *op, const Effect &effect, const ChannelUse &use) {
  auto misplaced = [&] {
    return fail(op, "it touches '" + tile::getName(effect.root) +
                        "' outside of the wait for it and its release");
  };
  const Piece *wait = nullptr, *release = nullptr;
  Operation *statement = nullptr;
  for (const Piece &piece : use.waits) {
    PipelinedOp loop = piece.loop;
    statement = loop ? loop.getBody().front().findAncestorOpInBlock(*op) : nullptr;
    if (!statement)
      continue;
    wait = &piece;
    release = findLoop(use.releases, loop);
    break;
  }
  VersionOp version;
  if (use.versions > 1) {
    const auto &ranges = effect.region.ranges;
    if (!ranges || ranges->front().offset.terms.size() != 1 ||
        ranges->front().offset.constant != 0 || ranges->front().size.constant != 1)
      return fail(op, "it touches versions that are not known");
    version = ranges->front().offset.terms.front().first.getDefiningOp<VersionOp>();
    if (!version || int64_t(version.getCount()) != use.versions)
      return fail(op, "it touches a version that is not known");
  }
  int64_t shift = version ? wrap(-int64_t(version.getAhead()), use.versions) : 0;
  std::optional<IndexSum> iteration;
  if (statement) {
    PipelinedOp loop = wait->loop;
    if (version && version.getIteration() != loop.getInductionVar())
      return fail(op, "it touches a version of another loop");
    auto isBefore = [](Operation *a, int64_t shiftA, Operation *b, int64_t shiftB) {
      return shiftA < shiftB || (shiftA == shiftB && a->isBeforeInBlock(b));
    };
    if (!isBefore(wait->op, wait->shift, statement, shift) ||
        !isBefore(statement, shift, release->op, release->shift))
      return misplaced();
    // No iteration before the first one; a loop that follows another one does not begin before it.
    PipelinedOp firstLoop = findLoop(use.waits)->loop;
    IndexSum first = IndexSum::get(getAsOpFoldResult(firstLoop.getLower()));
    first.constant -= shift;
    std::optional<int64_t> after = subtract(first, dropLater(use.waits).front().from);
    if (!after || *after < 0)
      return misplaced();
  } else {
    if (!version)
      return misplaced();
    iteration = IndexSum::get(getAsOpFoldResult(version.getIteration()));
    iteration->constant -= shift;
    scf::ForOp segments = getSegments(use.waits.front().getStatement());
    bool isLater = bool(getLaterBranch(op));
    // Seen from after the loop over segments, a statement of it has been done for all that they stand for.
    auto getEnd = [&](const Piece &piece, ArrayRef<Piece> pieces) {
      return segments && getSegments(piece.getStatement()) && !segments->isAncestor(op)
                 ? getCover(pieces)->segmentsTo
                 : piece.to;
    };
    // Waits before it go beyond its iteration, releases before it do not reach it.
    bool isWaitedFor = false;
    for (const Piece &piece : use.waits)
      if (comesBefore(piece, op))
        isWaitedFor = (!piece.branch || isLater || !segments->isAncestor(op)) &&
                      subtract(getEnd(piece, use.waits), *iteration).value_or(0) >= 1;
    if (!isWaitedFor)
      return misplaced();
    bool isReleased = false;
    for (const Piece &piece : use.releases)
      if (comesBefore(piece, op))
        isReleased = subtract(*iteration, getEnd(piece, use.releases)).value_or(-1) < 0;
    if (isReleased)
      return misplaced();
  }
  auto product = dyn_cast<GemmOp>(op);
  if (product && product->hasAttr(kAsyncAttr) && !hasEnded(product, shift, iteration, use))
    return fail(op, "it may still read '" + tile::getName(effect.root) + "' when that is released");
  return success();
}

LogicalResult checkReaders(KernelOp kernel, const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  llvm::SmallDenseSet<Value> tiles;
  fill.walk([&](StoreOp store) { tiles.insert(getRoot(store.getBuffer())); });
  LogicalResult result = success();
  kernel.walk([&](TileEffectsOpInterface op) {
    if (op->getParentOfType<RoleOp>())
      return;
    SmallVector<Effect> touched;
    op.getTileEffects(touched);
    for (const Effect &effect : touched)
      if (succeeded(result) && tiles.contains(effect.root))
        result = checkReader(op, effect, use);
  });
  return result;
}

} // namespace tilewright::schedule
