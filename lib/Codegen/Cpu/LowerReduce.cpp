//===- LowerReduce.cpp - reductions and running sums ------------------------------------------===//
//
// How values are combined is told in Combiner.h. The order of a sum is open. That is what the
// vectors of partial results below rest on:
//
//   along the contiguous dimension     four vectors walk a row, are combined, then folded to one
//   along another dimension            four vectors of neighbouring columns walk down together
//   anything else                      element by element
//
//===----------------------------------------------------------------------------------------===//

#include "Combiner.h"
#include "Copies.h"
#include "Lowerings.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {
/// The statement of one reduction: where its operands are and how far the loops run.
struct Reduction {
  View source, dest;
  unsigned dim;               ///< Of the source; the others are kept.
  bool keepsDim;              ///< The destination has it too, with extent 1.
  SmallVector<Value> extents; ///< Of the kept dimensions.
  Value along;                ///< The extent of `dim`.

  SmallVector<Value> sourceIndex(ArrayRef<Value> kept, Value position) const {
    SmallVector<Value> result(kept);
    result.insert(result.begin() + dim, position);
    return result;
  }
  SmallVector<Value> destIndex(ArrayRef<Value> kept, Value zero) const {
    SmallVector<Value> result(kept);
    if (keepsDim)
      result.insert(result.begin() + dim, zero);
    result.resize(dest.getRank(), zero); // a vector reduces to one element
    return result;
  }
};
} // namespace

void tilewright::cpu::lowerReduce(tile::ReduceOp op, Emitter &e) {
  Reduction reduction;
  View &dest = reduction.dest = e.buffers.getView(op.getDest());
  View &source = reduction.source =
      separateFrom(e, dest, e.buffers.getView(op.getSource()), op.getSource().getType());
  unsigned dim = reduction.dim = op.getDim();
  reduction.keepsDim = dest.getRank() == source.getRank();
  for (unsigned d = 0; d < source.getRank(); ++d) {
    if (d == dim)
      continue;
    unsigned destDim = reduction.keepsDim || d < dim ? d : d - 1;
    reduction.extents.push_back(
        requireEqual(e, source.extents[d], dest.extents[destDim],
                     "'" + source.root->name + "' and '" + dest.root->name + "'"));
  }
  Value along = reduction.along = source.extents[dim];
  Combiner combiner(e.b, op.getKind(), source.elementType, dest.elementType, op.getNanPropagate(),
                    e.options.hasRange);
  int64_t width = e.options.vectorWidth * 32 / combiner.getType().getIntOrFloatBitWidth();

  // The rows at `position`, as a value or a vector; `old` is what the destination holds there.
  auto widened = [&](Value stored) {
    return combiner.widen(e.numbers.unpack(stored, source.elementType), source.elementType);
  };
  bool isNeverEmpty = e.ranges.get(along).least > 0;
  auto finish = [&](Value total, llvm::function_ref<Value()> loadOld) {
    Value isEmpty =
        isNeverEmpty ? Value() : e.compare(arith::CmpIPredicate::sle, along, e.index(0));
    if (!op.getClear()) {
      Value old = e.numbers.unpack(loadOld(), dest.elementType);
      return e.numbers.pack(combiner.finishWith(total, old, isEmpty), dest.elementType);
    }
    if (isEmpty) {
      Value start = combiner.getStart(/*isEmpty=*/true, total.getType());
      total = arith::SelectOp::create(e.b, isEmpty, start, total);
    }
    return e.numbers.pack(combiner.finish(total), dest.elementType);
  };
  // Combines `count` vectors (or, for a width of 0, single elements) in each step from `first` on;
  // gives where it stopped.
  auto walkRow = [&](ArrayRef<Value> kept, Value first, int64_t count, int64_t lanes,
                     SmallVector<Value> &totals) {
    int64_t stride = count * std::max<int64_t>(lanes, 1);
    Value room = e.sub(along, first);
    Value left = e.b.createOrFold<arith::RemUIOp>(room, e.index(stride));
    Value past = e.sub(along, left);
    if (getConstantIntValue(past) && getConstantIntValue(past) == getConstantIntValue(first))
      return first;
    totals = e.loopCarrying(first, past, e.index(stride), totals,
                            [&](Value position, ValueRange carried) {
                              SmallVector<Value> next;
                              for (int64_t chain = 0; chain < count; ++chain) {
                                Value index = e.add(position, e.index(chain * lanes));
                                SmallVector<Value> element = reduction.sourceIndex(kept, index);
                                Value stored = lanes ? e.buffers.loadVector(source, element, lanes)
                                                     : e.buffers.loadStored(source, element);
                                next.push_back(combiner.combine(carried[chain], widened(stored)));
                              }
                              return next;
                            });
    return past;
  };
  auto reduceOne = [&](ArrayRef<Value> kept) {
    Value total = combiner.getStart(/*isEmpty=*/false), first = e.index(0);
    if (e.buffers.isContiguousAlong(source, dim)) {
      Value start = combiner.getStart(/*isEmpty=*/false, combiner.getType(width));
      SmallVector<Value> chains(Combiner::kChains, start);
      first = walkRow(kept, first, Combiner::kChains, width, chains);
      SmallVector<Value> lanes = {chains[0]};
      if (!matchPattern(first, m_Zero()))
        for (Value chain : ArrayRef(chains).drop_front())
          lanes[0] = combiner.combine(lanes[0], chain);
      first = walkRow(kept, first, 1, width, lanes);
      if (!matchPattern(first, m_Zero()))
        total = combiner.foldLanes(lanes[0]);
    }
    SmallVector<Value> rest = {total};
    walkRow(kept, first, 1, 0, rest);
    SmallVector<Value> index = reduction.destIndex(kept, e.index(0));
    e.buffers.storeStored(dest, index,
                          finish(rest[0], [&] { return e.buffers.loadStored(dest, index); }));
  };
  unsigned lastKept = reduction.extents.size() - 1;
  bool hasColumns = dim + 1 != source.getRank() &&
                    e.buffers.isContiguousAlong(source, source.getRank() - 1) &&
                    e.buffers.isContiguousAlong(dest, dest.getRank() - 1);
  if (!hasColumns)
    return e.loopNest(reduction.extents, /*isParallel=*/false, reduceOne);
  // Neighbouring columns, `lanes` at a time, from `first` on.
  SmallVector<Value> outer(ArrayRef(reduction.extents).drop_back());
  e.loopNest(outer, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    Value columns = reduction.extents[lastKept], past = e.index(0);
    // As many as come in groups of `count` vectors, which do not wait for each other.
    auto walkColumns = [&](int64_t count) {
      Value first = past;
      int64_t stride = count * width;
      Value left = e.b.createOrFold<arith::RemUIOp>(e.sub(columns, first), e.index(stride));
      past = e.sub(columns, left);
      if (getConstantIntValue(past) && getConstantIntValue(past) == getConstantIntValue(first))
        return;
      e.loopCarrying(first, past, e.index(stride), {}, [&](Value column, ValueRange) {
        SmallVector<SmallVector<Value>> kept;
        for (int64_t vector = 0; vector < count; ++vector) {
          kept.emplace_back(variables.begin(), variables.end());
          kept.back().push_back(e.add(column, e.index(vector * width)));
        }
        SmallVector<Value> starts(count,
                                  combiner.getStart(/*isEmpty=*/false, combiner.getType(width)));
        SmallVector<Value> totals = e.loopCarrying(
            e.index(0), along, e.index(1), starts, [&](Value row, ValueRange carried) {
              SmallVector<Value> next;
              for (int64_t vector = 0; vector < count; ++vector) {
                SmallVector<Value> index = reduction.sourceIndex(kept[vector], row);
                Value stored = e.buffers.loadVector(source, index, width);
                next.push_back(combiner.combine(carried[vector], widened(stored)));
              }
              return next;
            });
        for (auto [at, total] : llvm::zip_equal(kept, totals)) {
          SmallVector<Value> index = reduction.destIndex(at, e.index(0));
          e.buffers.storeVector(
              dest, index, finish(total, [&] { return e.buffers.loadVector(dest, index, width); }));
        }
        return SmallVector<Value>();
      });
    };
    walkColumns(Combiner::kChains);
    walkColumns(1);
    e.loopNest({past}, {columns}, /*isParallel=*/false, [&](ArrayRef<Value> column) {
      SmallVector<Value> kept(variables);
      kept.push_back(column[0]);
      reduceOne(kept);
    });
  });
}

void tilewright::cpu::lowerCumsum(tile::CumsumOp op, Emitter &e) {
  View dest = e.buffers.getView(op.getDest());
  View source = separateFrom(e, dest, e.buffers.getView(op.getSource()), op.getSource().getType());
  unsigned dim = op.getDim();
  Combiner combiner(e.b, tile::ReduceKind::Sum, source.elementType, dest.elementType, false,
                    e.options.hasRange);
  SmallVector<Value> extents;
  for (unsigned d = 0; d < source.getRank(); ++d)
    if (d != dim)
      extents.push_back(requireEqual(e, source.extents[d], dest.extents[d], "'T.cumsum'"));
  Value along = requireEqual(e, source.extents[dim], dest.extents[dim], "'T.cumsum'");
  e.loopNest(extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    SmallVector<Value> position(variables);
    position.insert(position.begin() + dim, Value());
    e.loopCarrying(e.index(0), along, e.index(1), combiner.getStart(false),
                   [&](Value variable, ValueRange carried) -> SmallVector<Value> {
                     position[dim] = variable;
                     if (op.getReverse()) {
                       position[dim] = e.sub(e.sub(along, e.index(1)), variable);
                       e.ranges.set(position[dim], e.ranges.get(variable));
                     }
                     Value element =
                         combiner.widen(e.buffers.load(source, position), source.elementType);
                     Value sum = combiner.combine(carried[0], element);
                     e.buffers.store(dest, position, combiner.finish(sum));
                     return {sum};
                   });
  });
}
