//===- Exchange.cpp - fragments that change their layout inside a warp -----------------------===//
//
// Does what an ExchangePlan says: slots are renamed by selections, words go from lane to lane by
// shuffles, and what arrives is renamed once more. Elements smaller than a word share it where they
// come from the same lane.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Analysis/Conversion.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace tilewright::nvptx {

namespace {

class Exchanger {
public:
  Exchanger(ImplicitLocOpBuilder &b, const ExchangePlan &plan, Value threadId, int64_t elementBits)
      : b(b), plan(plan), elementBits(elementBits) {
    Value thread = arith::IndexCastOp::create(b, b.getI32Type(), threadId);
    lane = arith::AndIOp::create(b, thread, constant(kWarpSize - 1));
  }

  /// The slots of the result, from those of the source: integers of an element's width.
  SmallVector<Value> run(SmallVector<Value> slots) {
    slots = rename(std::move(slots), plan.pre);
    return rename(takeAll(slots), plan.post);
  }

private:
  Value constant(int32_t value) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); }

  /// Whether an odd number of the lane's bits in `mask` is set.
  Value parity(int64_t mask) {
    Value bits = arith::AndIOp::create(b, lane, constant(mask));
    if (llvm::popcount(uint64_t(mask)) > 1)
      bits = arith::AndIOp::create(b, math::CtPopOp::create(b, bits), constant(1));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, constant(0));
  }

  /// Value n of the result is value n ^ word(lane): one bit of the word after the other.
  SmallVector<Value> rename(SmallVector<Value> values, const LaneWord &word) {
    for (unsigned bit = 0; int64_t(1) << bit < int64_t(values.size()); ++bit) {
      int64_t mask = word.parityMask(bit);
      if (!mask)
        continue;
      Value isSwapped = parity(mask);
      SmallVector<Value> renamed;
      for (size_t n = 0; n < values.size(); ++n)
        renamed.push_back(
            arith::SelectOp::create(b, isSwapped, values[n ^ size_t(1) << bit], values[n]));
      values = std::move(renamed);
    }
    return values;
  }

  /// The lane's word of `source`.
  Value sourceLane() {
    if (plan.source.isIdentity())
      return lane;
    Value word = constant(0);
    for (unsigned bit = 0; bit < LaneWord::kLaneBits; ++bit) {
      Value part = arith::SelectOp::create(b, parity(int64_t(1) << bit),
                                           constant(plan.source.columns[bit]), constant(0));
      word = arith::XOrIOp::create(b, word, part);
    }
    return word;
  }

  Value shuffle(Value word, Value from) {
    return NVVM::ShflOp::create(b, b.getI32Type(), constant(-1), word, from, constant(31),
                                NVVM::ShflKind::idx, UnitAttr());
  }

  /// Some values of one lane, all of an element's width, in as few words as they fill.
  SmallVector<Value> take(ArrayRef<Value> offered, Value from) {
    Type i32 = b.getI32Type(), own = b.getIntegerType(elementBits);
    SmallVector<Value> taken;
    if (elementBits > 32) {
      for (Value value : offered) {
        Value shift = arith::ConstantOp::create(b, b.getIntegerAttr(own, 32));
        Value low = shuffle(arith::TruncIOp::create(b, i32, value), from);
        Value high =
            shuffle(arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, value, shift)), from);
        Value upper = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, own, high), shift);
        taken.push_back(arith::OrIOp::create(b, arith::ExtUIOp::create(b, own, low), upper));
      }
      return taken;
    }
    auto packed = VectorType::get({32 / elementBits}, own);
    for (size_t first = 0; first < offered.size(); first += packed.getDimSize(0)) {
      ArrayRef<Value> part =
          offered.slice(first, std::min<size_t>(packed.getDimSize(0), offered.size() - first));
      if (elementBits == 32) {
        taken.push_back(shuffle(part[0], from));
        continue;
      }
      Value vector = LLVM::ZeroOp::create(b, packed);
      for (auto [position, value] : llvm::enumerate(part))
        vector = LLVM::InsertElementOp::create(b, vector, value, constant(position));
      Value word = shuffle(LLVM::BitcastOp::create(b, i32, vector), from);
      vector = LLVM::BitcastOp::create(b, packed, word);
      for (size_t position = 0; position < part.size(); ++position)
        taken.push_back(LLVM::ExtractElementOp::create(b, vector, constant(position)));
    }
    return taken;
  }

  /// What each round brings; rounds that turn to the same lane go together.
  SmallVector<Value> takeAll(ArrayRef<Value> names) {
    SmallVector<Value> results(plan.rounds.size());
    llvm::MapVector<int64_t, SmallVector<size_t>> byLane;
    for (auto [position, round] : llvm::enumerate(plan.rounds))
      byLane[round.laneMask].push_back(position);
    Value source = sourceLane();
    for (auto &[mask, rounds] : byLane) {
      SmallVector<Value> offered;
      for (size_t round : rounds)
        offered.push_back(names[plan.rounds[round].name]);
      bool isOwn = plan.source.isIdentity() && mask == 0;
      SmallVector<Value> taken =
          isOwn ? offered : take(offered, arith::XOrIOp::create(b, source, constant(mask)));
      for (auto [round, value] : llvm::zip(rounds, taken))
        results[round] = value;
    }
    return results;
  }

  ImplicitLocOpBuilder &b;
  const ExchangePlan &plan;
  int64_t elementBits;
  Value lane;
};

} // namespace

LogicalResult lowerExchange(Thread &t, ParallelOp op) {
  ImplicitLocOpBuilder &b = t.b;
  const Storage &from = t.storageOf(getRoot((*op.getOps<LoadOp>().begin()).getBuffer())),
                &to = t.storageOf(getRoot((*op.getOps<StoreOp>().begin()).getBuffer()));
  std::optional<ExchangePlan> plan = planExchange(from.owners, to.owners);
  if (!plan)
    return emitInternalError(op) << "an exchange that leaves the warp";
  int64_t bits = getStorageBits(from.elementType);
  Type stored = getRegisterType(from.elementType), integer = b.getIntegerType(bits);
  auto bitcast = [&](Value value, Type type) -> Value {
    return value.getType() == type ? value : LLVM::BitcastOp::create(b, type, value).getResult();
  };
  SmallVector<Value> slots;
  for (int64_t slot = 0; slot < from.owners.slots; ++slot)
    slots.push_back(bitcast(t.loadStored(from, slot), integer));
  slots = Exchanger(b, *plan, t.threadId, bits).run(std::move(slots));
  for (auto [slot, value] : llvm::enumerate(slots))
    t.storeStored(to, slot, bitcast(value, stored));
  return success();
}

} // namespace tilewright::nvptx
