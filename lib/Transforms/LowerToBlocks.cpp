//===- LowerToBlocks.cpp - loops and branches become blocks -----------------------------------===//
//
// MLIR's own patterns for structured control flow, from the last operation of a block to the first:
//
//   a                       ^0: a, cond_br ^1, ^2
//   scf.if { b }     ──▶    ^1: b, br ^2                 a pattern moves what follows its operation
//   c                       ^2: c, cond_br ^3, ^4        into a block of its own
//   scf.if { d }            ^3: d, br ^4
//   e                       ^4: e
//
// MLIR's pass begins with the first: each of n branches in a row then moves all that follows, and its time
// is quadratic. From the last on, each moves what stands between it and the next.
//
// In functions of hundreds of loops, these are written in the form that LLVM's loop rotation would give them,
// with the test at the end:
//
//   scf.for %i = %l to %u { b }    ──▶    %l < %u ? ^1(%l) : ^2      ^1(%i): b, %i + 1 < %u ? ^1(%i + 1) : ^2
//
// Rotation updates the tree of dominators, in which all that follows a loop hangs below it: each loop costs
// as much as the rest of the function.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Transforms/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace tilewright {
#define GEN_PASS_DEF_LOWERTOBLOCKS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;

namespace {
/// A loop that tests at its end whether it goes on, and before it whether it begins.
struct RotatedLoop : OpRewritePattern<scf::ForOp> {
  explicit RotatedLoop(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    Location loc = loop.getLoc();
    auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    auto branch = [&](Value variable, ValueRange carried, Block *body, Block *after) {
      Value runs = arith::CmpIOp::create(rewriter, loc, predicate, variable, loop.getUpperBound());
      SmallVector<Value> arguments{variable};
      llvm::append_range(arguments, carried);
      cf::CondBranchOp::create(rewriter, loc, runs, body, arguments, after, carried);
    };
    Block *before = loop->getBlock(),
          *after = rewriter.splitBlock(before, std::next(loop->getIterator())),
          *body = &loop.getRegion().front(), *last = &loop.getRegion().back();
    after->addArguments(loop.getResultTypes(), SmallVector<Location>(loop.getNumResults(), loc));
    rewriter.inlineRegionBefore(loop.getRegion(), after);
    rewriter.setInsertionPointToEnd(before);
    branch(loop.getLowerBound(), loop.getInitArgs(), body, after);
    Operation *yield = last->getTerminator();
    rewriter.setInsertionPoint(yield);
    Value next = arith::AddIOp::create(rewriter, loc, body->getArgument(0), loop.getStep());
    branch(next, yield->getOperands(), body, after);
    rewriter.eraseOp(yield);
    rewriter.replaceOp(loop, after->getArguments());
    return success();
  }
};

struct LowerToBlocksPass : tilewright::impl::LowerToBlocksBase<LowerToBlocksPass> {
  using LowerToBlocksBase::LowerToBlocksBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    patterns.add<RotatedLoop>(&getContext());
    FrozenRewritePatternSet frozen(std::move(patterns));
    PatternApplicator applicator(frozen);
    applicator.applyDefaultCostModel();
    SmallVector<Operation *>
        structured; // outer ones first: a pattern looks at blocks that are whole
    int64_t numLoops = 0;
    getOperation()->walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
      if (isa<scf::SCFDialect>(op->getDialect()) && op->getNumRegions())
        structured.push_back(op);
      numLoops += isa<scf::ForOp>(op);
    });
    bool areRotated = rotateFrom > 0 && numLoops >= rotateFrom;
    auto isChosen = [&](const Pattern &pattern) {
      return areRotated || pattern.getBenefit() == PatternBenefit(1);
    };
    PatternRewriter rewriter(&getContext());
    for (Operation *op : structured) {
      rewriter.setInsertionPoint(op);
      if (failed(applicator.matchAndRewrite(op, rewriter, isChosen))) {
        op->emitError() << "'" << op->getName() << "' has no form in blocks";
        return signalPassFailure();
      }
    }
  }
};
} // namespace
