//===- UnwrittenTiles.cpp - reads of tiles that nothing has written ---------------------------===//
//
// A path to a statement carries, for each tile, one of two states: *unwritten* or *written*. A
// write turns unwritten into written, and nothing turns it back. A read ends the paths on which the
// tile is unwritten: what matters is the first execution of each read, and a T.gemm in a loop that
// finds its own result of the iteration before must not hide that the first iteration found
// nothing.
//
//   T.Pipelined:  T.gemm(a, b, c)      the first execution is reached by unwritten paths only:
//   error
//
//   for k:        if k > 0: use(p)     the first execution is reached through an iteration that
//                 T.copy(A[k], p)      wrote p: no error
//
// The set of states of all paths is therefore a pair of bits for each tile, and a region is the
// function that maps a pair at its entry to one at its exit. Two bits describe that function:
// `passes` (some path neither reads nor writes the tile) and `writes` (some path writes it before
// it reads it). They are composed bottom up, one visit of each operation; a second visit, top down,
// has the pair at the entry of every region, loops included, and reports.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/UnwrittenTiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;
using llvm::BitVector;

namespace tilewright::analysis {
namespace {

/// What an operation or region does to the paths that reach it with a tile unwritten, for each
/// tile.
struct Summary {
  BitVector passes; ///< Some path leaves it unwritten.
  BitVector writes; ///< Some path writes it, before any read.

  /// First this, then `next`.
  void then(const Summary &next) {
    BitVector later = next.writes;
    later &= passes;
    writes |= later;
    passes &= next.passes;
  }
  /// Either this or `other`.
  void orElse(const Summary &other) {
    passes |= other.passes;
    writes |= other.writes;
  }
};

/// The tiles that may be unwritten, and those that may be written, when a path comes to a point.
struct State {
  BitVector unwritten, written;

  void advance(const Summary &summary) {
    BitVector newlyWritten = summary.writes;
    newlyWritten &= unwritten;
    written |= newlyWritten;
    unwritten &= summary.passes;
  }
};

/// Whether bounds are numbers that leave nothing to run.
bool isEmpty(OpFoldResult lower, OpFoldResult upper) {
  std::optional<int64_t> from = getConstantIntValue(lower), to = getConstantIntValue(upper);
  return from && to && *from >= *to;
}

/// Whether an operation is a loop that certainly has no iteration.
bool neverRuns(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case([](scf::ForOp loop) {
        return !loop.getUnsignedCmp() && isEmpty(loop.getLowerBound(), loop.getUpperBound());
      })
      .Case([](tile::PipelinedOp loop) { return isEmpty(loop.getLower(), loop.getUpper()); })
      .Case([](tile::ParallelOp loop) {
        return llvm::any_of(loop.getMixedExtents(),
                            [](OpFoldResult extent) { return isConstantIntValue(extent, 0); });
      })
      .Default(false);
}

class UnwrittenTiles {
public:
  explicit UnwrittenTiles(tile::KernelOp kernel) {
    kernel.getBody().walk([&](tile::AllocOp alloc) { numbers.insert({alloc, numbers.size()}); });
    summarise(kernel.getBody());
    visit(kernel.getBody(), {all(), none()});
  }

  SmallVector<UnwrittenRead> takeReads() { return std::move(reads); }

private:
  BitVector all() const { return BitVector(numbers.size(), true); }
  BitVector none() const { return BitVector(numbers.size(), false); }
  Summary skip() const { return {all(), none()}; }

  /// The number of the tile that `root` is, if it is one of the kernel's.
  std::optional<unsigned> numberOf(Value root) const {
    auto it = numbers.find(root.getDefiningOp());
    return it == numbers.end() ? std::nullopt : std::optional(it->second);
  }

  /// Whether the statement needs the tile's old value. A gemm that may clear C does not.
  static bool isRead(Operation *op, const tile::Effect &effect) {
    if (effect.kind == tile::EffectKind::Write)
      return false;
    auto gemm = dyn_cast<tile::GemmOp>(op);
    bool mayClear = gemm && gemm.getClear() && getConstantIntValue(gemm.getClear()) != 0;
    return !mayClear || effect.root != tile::getRoot(gemm.getC());
  }

  /// The tiles that a statement without regions reads and writes.
  std::pair<BitVector, BitVector> collect(Operation *op) const {
    std::pair<BitVector, BitVector> touched(none(), none());
    std::optional<SmallVector<tile::Effect>> effects = tile::getEffects(op);
    // It may write anything, or end the program: a barrier that is never met explains more than the
    // read that follows it.
    if (!effects || isa<tile::AssertOp>(op))
      touched.second = all();
    else
      for (const tile::Effect &effect : *effects)
        if (std::optional<unsigned> number = numberOf(effect.root))
          (isRead(op, effect) ? touched.first : touched.second).set(*number);
    return touched;
  }

  //===--------------------------------------------------------------------------------------===//
  // Bottom up: what each region does to a path
  //===--------------------------------------------------------------------------------------===//

  Summary summarise(Region &region) {
    Summary summary = skip();
    for (Operation &op : region.getOps())
      summary.then(summarise(&op));
    return regions[&region] = summary;
  }

  Summary summarise(Operation *op) {
    if (op->getNumRegions() == 0) {
      auto [read, written] = collect(op);
      Summary summary = skip();
      summary.passes.reset(read).reset(written);
      summary.writes = written.reset(read);
      return summary;
    }
    for (Region &region : op->getRegions())
      summarise(region);
    return compose(op);
  }

  /// The summary of an operation from those of its regions.
  Summary compose(Operation *op) const {
    if (neverRuns(op))
      return skip();
    if (auto loop = dyn_cast<scf::WhileOp>(op)) { // before (after before)*
      Summary again = regions.at(&loop.getAfter());
      again.then(regions.at(&loop.getBefore()));
      again.orElse(skip());
      Summary summary = regions.at(&loop.getBefore());
      summary.then(again);
      return summary;
    }
    // One side of a branch, or any number of iterations of a loop. (An empty `else` skips.)
    Summary summary = isa<scf::IfOp>(op) ? Summary{none(), none()} : skip();
    for (Region &region : op->getRegions())
      summary.orElse(regions.at(&region));
    return summary;
  }

  //===--------------------------------------------------------------------------------------===//
  // Top down: the states of the paths that come to each statement
  //===--------------------------------------------------------------------------------------===//

  void visit(Region &region, State state) {
    for (Operation &op : region.getOps()) {
      if (op.getNumRegions() == 0)
        report(&op, state);
      else
        visitRegions(&op, state);
      state.advance(op.getNumRegions() == 0 ? summarise(&op) : compose(&op));
    }
  }

  void visitRegions(Operation *op, const State &state) {
    if (neverRuns(op))
      return;
    State entry = state;
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      Summary iteration = regions.at(&loop.getBefore());
      iteration.then(regions.at(&loop.getAfter()));
      entry.advance({all(), iteration.writes});
      visit(loop.getBefore(), entry);
      entry.advance(regions.at(&loop.getBefore()));
      visit(loop.getAfter(), entry);
      return;
    }
    for (Region &region : op->getRegions()) {
      if (!isa<scf::IfOp>(op)) // earlier iterations lead here as well
        entry.advance({all(), regions.at(&region).writes});
      visit(region, entry);
    }
  }

  void report(Operation *op, const State &state) {
    BitVector certain = collect(op).first;
    certain &= state.unwritten;
    certain.reset(state.written);
    for (unsigned number : certain.set_bits())
      reads.push_back({op, cast<tile::AllocOp>(numbers.begin()[number].first)});
  }

  llvm::MapVector<Operation *, unsigned> numbers; ///< The kernel's tiles, in program order.
  std::map<Region *, Summary> regions;
  SmallVector<UnwrittenRead> reads;
};

} // namespace

SmallVector<UnwrittenRead> findUnwrittenReads(tile::KernelOp kernel) {
  return UnwrittenTiles(kernel).takeReads();
}

} // namespace tilewright::analysis
