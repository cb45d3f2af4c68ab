//===- IndexTape.cpp - index computations as straight-line code ------------------------------===//

#include "IndexTape.h"
#include "tilewright/Support/IndexMath.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilewright;
using namespace tilewright::plancheck;
using llvm::ArrayRef;

using Op = IndexTape::Op;
using Register = IndexTape::Register;

Register IndexTape::append(Instruction instruction) {
  Register r = code.size();
  (instruction.varies ? varyingPart : fixedPart).push_back(r);
  code.push_back(std::move(instruction));
  values.push_back(0);
  valid.push_back(false);
  return r;
}

Register IndexTape::constant(int64_t value) { return append({Op::Constant, 0, false, value, {}}); }

Register IndexTape::iterator(unsigned dim) {
  return append({Op::Iterator, 0, true, int64_t(dim), {}});
}

Register IndexTape::emit(Op op, ArrayRef<Register> operands, unsigned bits) {
  bool varies = llvm::any_of(operands, [&](Register r) { return code[r].varies; });
  draws |= op == Op::InRange || op == Op::Extent || op == Op::Opaque;
  return append({op, uint8_t(bits), varies, 0, llvm::SmallVector<Register, 3>(operands)});
}

Register IndexTape::emit(const IndexExpr &expr, ArrayRef<Register> dims,
                         ArrayRef<Register> symbols) {
  using K = IndexExpr::Kind;
  switch (expr.getKind()) {
  case K::Constant:
    return constant(*expr.getConstant());
  case K::Dim:
    return dims[expr.getPosition()];
  case K::Symbol:
    return symbols[expr.getPosition()];
  default:
    break;
  }
  Register lhs = emit(expr.getLhs(), dims, symbols), rhs = emit(expr.getRhs(), dims, symbols);
  auto op = [&] {
    switch (expr.getKind()) {
    case K::Add:
      return Op::Add;
    case K::Sub:
      return Op::Sub;
    case K::Mul:
      return Op::Mul;
    case K::FloorDiv:
      return Op::FloorDiv;
    case K::Mod:
      return Op::FloorMod;
    case K::Xor:
      return Op::Xor;
    case K::Min:
      return Op::Min;
    default:
      return Op::Max;
    }
  }();
  return emit(op, {lhs, rhs});
}

void IndexTape::startRound(uint64_t number) {
  round = number;
  for (Register r : fixedPart)
    run(r, {});
}

void IndexTape::runIteration(ArrayRef<int64_t> iterators) {
  for (Register r : varyingPart)
    run(r, iterators);
}

void IndexTape::run(Register r, ArrayRef<int64_t> iterators) {
  valid[r] = false;
  for (Register operand : code[r].operands)
    if (!valid[operand])
      return;
  if (std::optional<int64_t> value = compute(r, iterators)) {
    values[r] = *value;
    valid[r] = true;
  }
}

//===----------------------------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------------------------===//

/// Mixes the round, the instruction and the values of its operands.
uint64_t IndexTape::hash(Register r) const {
  auto mix = [](uint64_t x) { // the finaliser of splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  uint64_t h = mix(round * 0x9e3779b97f4a7c15 + r);
  for (Register operand : code[r].operands)
    h = mix(h + 0x9e3779b97f4a7c15 + uint64_t(values[operand]));
  return h;
}

/// Which of `count` choices: the first, the last, their neighbours, or any. Rounds 0 and 1 take the
/// first and the last of everything.
static int64_t pick(uint64_t round, uint64_t hash, int64_t count) {
  if (round < 2)
    return round == 0 ? 0 : count - 1;
  switch (hash % 5) {
  case 0:
    return 0;
  case 1:
    return count - 1;
  case 2:
    return std::min<int64_t>(1, count - 1);
  case 3:
    return std::max<int64_t>(0, count - 2);
  default:
    return int64_t((hash / 5) % uint64_t(count));
  }
}

/// The smallest extent, a large round one, one more than a round one, or any.
static int64_t pickExtent(uint64_t round, uint64_t hash) {
  constexpr int64_t kRound = 256;
  int64_t some = int64_t(hash / 8 % 16) + 1;
  if (round < 3)
    return round == 0 ? 1 : some * kRound + (round == 2);
  switch (hash % 8) {
  case 0:
    return some;
  case 1:
    return some * kRound;
  case 2:
    return some * kRound + 1;
  case 3:
    return some * kRound - 1;
  case 4:
    return some * 16;
  default:
    return int64_t(hash / 8 % 5000) + 1;
  }
}

/// Small numbers, so that tensors are hit as often as missed.
static int64_t pickOpaque(uint64_t round, uint64_t hash) {
  if (round == 0)
    return 0;
  int64_t some = int64_t(hash >> 8 & 0xffff);
  switch (hash % 8) {
  case 0:
    return -1 - some % 64;
  case 1:
    return some % 4096;
  case 2:
  case 3:
    return some % 64;
  default:
    return some % 4;
  }
}

//===----------------------------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------------------------===//

/// The low bits of a value as the tape keeps them.
static int64_t wrap(int64_t value, unsigned bits) {
  if (bits == 1)
    return value & 1;
  if (bits == IndexTape::kIndex || bits >= 64)
    return value;
  return int64_t(uint64_t(value) << (64 - bits)) >> (64 - bits);
}

/// A sum, difference or product: exact for index values, modulo 2^64 for others.
static std::optional<int64_t> ring(Op op, int64_t a, int64_t b, bool isIndex) {
  int64_t result;
  bool overflows = op == Op::Add   ? __builtin_add_overflow(a, b, &result)
                   : op == Op::Sub ? __builtin_sub_overflow(a, b, &result)
                                   : __builtin_mul_overflow(a, b, &result);
  return overflows && isIndex ? std::nullopt : std::optional(result);
}

static std::optional<int64_t> divide(Op op, int64_t a, int64_t b) {
  switch (op) {
  case Op::FloorDiv:
    return checkedFloorDiv(a, b);
  case Op::FloorMod:
    return floorMod(a, b);
  case Op::TruncDiv:
    return b == 0 ? 0 : b == -1 ? checkedSub(0, a) : std::optional(a / b);
  default:
    return b == 0 ? a : b == -1 ? 0 : a % b;
  }
}

/// A shift by the width or more gives 0, or the sign.
static std::optional<int64_t> shift(Op op, int64_t a, int64_t b, unsigned bits) {
  int64_t width = bits == IndexTape::kIndex ? 64 : bits;
  if (b < 0)
    return 0;
  if (op == Op::Shr)
    return a >> std::min<int64_t>(b, 63);
  if (b >= width)
    return 0;
  if (bits == IndexTape::kIndex)
    return b == 63 ? std::nullopt : checkedMul(a, int64_t(1) << b);
  return int64_t(uint64_t(a) << b);
}

std::optional<int64_t> IndexTape::compute(Register r, ArrayRef<int64_t> iterators) const {
  const Instruction &in = code[r];
  auto operand = [&](unsigned k) { return values[in.operands[k]]; };
  auto wrapped = [&](std::optional<int64_t> value) {
    return value ? std::optional(wrap(*value, in.bits)) : std::nullopt;
  };
  switch (in.op) {
  case Op::Constant:
    return in.immediate;
  case Op::Iterator:
    return iterators[in.immediate];
  case Op::InRange: {
    int64_t lower = operand(0), upper = operand(1), step = operand(2);
    if (lower >= upper || step <= 0)
      return std::nullopt;
    return lower + step * pick(round, hash(r), (upper - lower - 1) / step + 1);
  }
  case Op::Extent:
    return pickExtent(round, hash(r));
  case Op::Opaque:
    return wrap(pickOpaque(round, hash(r)), in.bits);
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
    return wrapped(ring(in.op, operand(0), operand(1), in.bits == kIndex));
  case Op::FloorDiv:
  case Op::FloorMod:
  case Op::TruncDiv:
  case Op::TruncMod:
    return wrapped(divide(in.op, operand(0), operand(1)));
  case Op::Xor:
    return operand(0) ^ operand(1);
  case Op::And:
    return operand(0) & operand(1);
  case Op::Or:
    return operand(0) | operand(1);
  case Op::Shl:
  case Op::Shr:
    return wrapped(shift(in.op, operand(0), operand(1), in.bits));
  case Op::Min:
    return std::min(operand(0), operand(1));
  case Op::Max:
    return std::max(operand(0), operand(1));
  case Op::Equal:
    return operand(0) == operand(1);
  case Op::NotEqual:
    return operand(0) != operand(1);
  case Op::Less:
    return operand(0) < operand(1);
  case Op::LessEqual:
    return operand(0) <= operand(1);
  case Op::UnsignedLess:
    return uint64_t(operand(0)) < uint64_t(operand(1));
  case Op::UnsignedLessEqual:
    return uint64_t(operand(0)) <= uint64_t(operand(1));
  case Op::Select:
    return operand(0) ? operand(1) : operand(2);
  case Op::Convert:
    return wrap(operand(0), in.bits);
  case Op::ZeroExtend:
    return operand(1) >= 64 ? operand(0) : operand(0) & ((int64_t(1) << operand(1)) - 1);
  }
  llvm_unreachable("all instructions are handled");
}
