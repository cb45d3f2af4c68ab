//===- Products.cpp - matrix products of warpgroups (wgmma) -----------------------------------===//
//
// A product is asynchronous: wgmma returns at once, and the registers it writes (and those of A it
// reads) belong to it until a wait. LLVM knows nothing of that. So every such register is an operand
// and a result of the fence before the first product and of the wait after the last one, and of each
// product in between that writes it: there is no moment at which LLVM could put something else there.
//
//   fence     {sums, A} = asm("wgmma.fence")(sums, A)
//   products  sums = asm("wgmma.mma_async …")(sums, A, descriptor of B)      for each step of K
//   commit
//   wait      {sums, A} = asm("wgmma.wait_group 0")(sums, A)
//
// The wait is an op of its own (`tile.product_wait`) where the product is left open. Meanwhile the sums
// are where the fragment C always is, and nothing touches them. The registers of A are a copy, 32 bits
// each, that the product keeps until the wait (`Thread::heldOperands`).
//
// A descriptor is a constant plus the address of the operand's first element in units of 16 bytes;
// the steps along K, M and N add constants to it (Layout/ProductLayouts.h proved them). The group's
// number is read from lane 0 so that ptxas knows it to be the same in all lanes of a warp.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Access/Products.h"
#include "tilewright/Tile/InternalError.h"

#include "Lowerings.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// `f16`, as the instruction's name has it.
static StringRef getTypeName(Type type) {
  if (type.isInteger(32))
    return "s32";
  if (type.isInteger(8))
    return type.isUnsignedInteger() ? "u8" : "s8";
  if (isa<Float8E4M3FNType, Float8E5M2Type>(type))
    return isa<Float8E4M3FNType>(type) ? "e4m3" : "e5m2";
  return type.isF32() ? "f32" : type.isBF16() ? "bf16" : "f16";
}

/// The code of one gemm.
class ProductLowering {
public:
  ProductLowering(Thread &t, GemmOp op)
      : t(t), b(t.b), op(op), roles(access::ProductRoles::get(op)),
        groups(op->getAttrOfType<DenseI64ArrayAttr>(kGroupsAttr).asArrayRef()) {
    shape = *access::getProductShape(op, t.arch);
  }

  LogicalResult run();

private:
  /// Registers that a product works on while LLVM must not touch them.
  using Registers = SmallVector<Value>;

  Value groupNumber();
  Value makeDescriptor(Value buffer, const ProductOperand &operand, Value groupStart);
  Value addBytes(Value descriptor, int64_t bytes);
  Registers loadSums();
  void storeSums(ArrayRef<Value> sums);
  Registers loadA();
  void keepA(ArrayRef<Value> rows);
  /// Where the sums of an instruction start.
  enum class Start { FromSums, FromZero, Decided };
  Registers multiply(ArrayRef<Value> sums, ArrayRef<Value> rows, Value descriptorA,
                     Value descriptorB, Start start);
  void issue(MutableArrayRef<Value> part, ArrayRef<Value> rows, int64_t product, int64_t column,
             int64_t step, Start start);
  Registers accumulate(const Registers &sums, const Registers &rows);
  Registers accumulatePartial(const Registers &sums, Registers rows);
  Value i32(int64_t value) { return t.constant(b.getI32IntegerAttr(int32_t(value))); }
  Value i64(int64_t value) { return t.constant(b.getI64IntegerAttr(value)); }
  Value leftBuffer() { return access::getOperand(op, roles.left); }
  Value rightBuffer() { return access::getOperand(op, roles.right); }
  Type accumulatorType() { return op.getC().getType().getElementType(); }
  bool isPacked() { return accumulatorType().isF16(); }

  Thread &t;
  ImplicitLocOpBuilder &b;
  GemmOp op;
  access::ProductRoles roles;
  ArrayRef<int64_t> groups;
  access::ProductShape shape;
  access::ProductDivision division;
  ProductOperand left, right;     ///< Where they lie in shared memory,
  Value descriptorA, descriptorB; ///< and where the group's part of them starts.
  bool isClear = false;           ///< The sums start from 0.
  Value isCleared;                ///< The same, known at run time: not 0 if they do.
};

Value ProductLowering::groupNumber() {
  return arith::ShRUIOp::create(b, warpNumber(t), i32(2)); // four warps each
}

/// How many bytes the versions of a tile lie apart, in units of a descriptor; 0 where it has one.
static int64_t getVersionPitch(const Storage &storage, AllocOp tile) {
  if (!tile || !tile->hasAttr(kVersionsAttr))
    return 0;
  // plan-pipeline places version v at v times a pitch.
  SmallVector<int64_t> second(storage.staticExtents.size(), 0);
  int64_t first = storage.layout->getOffset()->evaluate(second).value_or(0);
  second.front() = 1;
  int64_t pitch = storage.layout->getOffset()->evaluate(second).value_or(0) - first;
  return pitch * getStorageBytes(storage.elementType) / 16;
}

/// The descriptor of the group's first row or column at the first step of K. That of version 0 does
/// not change in a loop; the version adds a multiple of the pitch.
Value ProductLowering::makeDescriptor(Value buffer, const ProductOperand &operand,
                                      Value groupStart) {
  SmallVector<Value> first(cast<MemRefType>(buffer.getType()).getRank(), t.index(0));
  Value root = getRoot(buffer);
  const Storage &storage = t.storageOf(root);
  SmallVector<Value> corner = viewCoordinates(t, buffer, std::move(first));
  Value ofVersion;
  if (int64_t pitch = getVersionPitch(storage, root.getDefiningOp<AllocOp>())) {
    Value version = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), corner.front());
    ofVersion = b.createOrFold<arith::MulIOp>(version, i64(pitch));
    corner.front() = t.index(0);
  }
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), addressOf(t, storage, corner));
  if (groupStart)
    address = arith::AddIOp::create(b, address, groupStart);
  // Bits 4 to 17 of the address are all that the descriptor has room for; shared memory ends before.
  address = arith::AndIOp::create(b, arith::ShRUIOp::create(b, address, i32(4)), i32(0x3fff));
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), address);
  Value descriptor = arith::OrIOp::create(b, wide, i64(int64_t(operand.getDescriptor())));
  return ofVersion ? b.createOrFold<arith::AddIOp>(descriptor, ofVersion) : descriptor;
}

Value ProductLowering::addBytes(Value descriptor, int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  return arith::AddIOp::create(b, descriptor, i64(bytes / 16));
}

static StringRef getConstraint(Type type) { return type.isF32() ? "f" : "r"; }

/// `=f,=r,…,0,1,…`: results that take the place of as many operands.
static std::string getTiedConstraints(ArrayRef<Value> registers) {
  SmallVector<std::string> constraints;
  for (Value value : registers)
    constraints.push_back("=" + getConstraint(value.getType()).str());
  for (size_t i = 0; i < registers.size(); ++i)
    constraints.push_back(std::to_string(i));
  return llvm::join(constraints, ",");
}

/// An instruction without operands that LLVM takes to change these registers.
static SmallVector<Value> passThrough(ImplicitLocOpBuilder &b, StringRef text,
                                      ArrayRef<Value> registers) {
  SmallVector<Type> types;
  for (Value value : registers)
    types.push_back(value.getType());
  // Products read memory that LLVM must not move its own accesses across.
  std::string tied = getTiedConstraints(registers);
  return callPtx(b, text, tied + (tied.empty() ? "" : ",") + "~{memory}", types, registers);
}

/// The thread's sums, one value a register: pairs of float16 share one. Those of a product that is
/// known to start from 0 are never read; they only say how many there are.
ProductLowering::Registers ProductLowering::loadSums() {
  const Storage &c = t.storageOf(getRoot(op.getC()));
  Value clear = op.getClear() ? t.mapped(op.getClear()) : Value();
  int64_t slots = division.products * division.groupColumns / 2;
  isClear = clear && matchPattern(clear, m_One());
  if (clear && !isClear && !matchPattern(clear, m_Zero()))
    isCleared = arith::ExtUIOp::create(b, b.getI32Type(), clear);
  if (isClear) {
    Type type = isPacked() ? Type(b.getI32Type()) : t.loadRegister(c, 0).getType();
    return Registers(isPacked() ? slots / 2 : slots, LLVM::PoisonOp::create(b, type));
  }
  Registers sums;
  for (int64_t slot = 0; slot < slots; ++slot)
    sums.push_back(t.loadRegister(c, slot));
  if (!isPacked())
    return sums;
  Registers pairs;
  for (int64_t slot = 0; slot < slots; slot += 2)
    pairs.push_back(
        LLVM::BitcastOp::create(b, b.getI32Type(), packVector(t, ArrayRef(sums).slice(slot, 2))));
  return pairs;
}

void ProductLowering::storeSums(ArrayRef<Value> sums) {
  const Storage &c = t.storageOf(getRoot(op.getC()));
  for (auto [number, value] : llvm::enumerate(sums)) {
    if (!isPacked()) {
      t.storeRegister(c, number, value);
      continue;
    }
    Value pair = LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()), value);
    for (int64_t half : {0, 1})
      t.storeRegister(c, 2 * number + half, elementOf(t, pair, half));
  }
}

/// The thread's share of A, four registers for each product of 64 rows and step of K; none where A
/// lies in shared memory.
ProductLowering::Registers ProductLowering::loadA() {
  const Storage &storage = t.storageOf(getRoot(leftBuffer()));
  if (storage.kind != Storage::Kind::Registers)
    return {};
  Type element = cast<MemRefType>(leftBuffer().getType()).getElementType();
  int64_t packed = 32 / shape.operandBits;
  Registers words;
  for (int64_t word = 0; word < division.products * division.steps * 4; ++word) {
    // Both halves at once: they stay in one register from the rounding that made them to here.
    if (packed == 2) {
      Value pair = LLVM::LoadOp::create(b, VectorType::get({2}, getRegisterType(element)),
                                        t.registerAddress(storage, word * 2), /*alignment=*/2);
      words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), pair));
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t e = 0; e < packed; ++e)
      elements.push_back(toStorage(t, t.loadRegister(storage, word * packed + e), element));
    words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), packVector(t, elements)));
  }
  return words;
}

/// Addresses of the words in which products keep their share of this fragment until the wait. A
/// product from registers reads all of A, so their number is that of the fragment's slots, packed.
static SmallVector<Value> heldWords(Thread &t, Value fragment) {
  const Storage &storage = t.storageOf(fragment);
  int64_t count = storage.owners.slots * getStorageBits(storage.elementType) / 32;
  Value &words = t.heldOperands[fragment];
  if (!words)
    words = t.allocateStack(t.b.getI32Type(), count);
  SmallVector<Value> addresses;
  for (int64_t number = 0; number < count; ++number)
    addresses.push_back(LLVM::GEPOp::create(t.b, words.getType(), t.b.getI32Type(), words,
                                            ArrayRef<LLVM::GEPArg>{int32_t(number)}));
  return addresses;
}

void ProductLowering::keepA(ArrayRef<Value> rows) {
  if (rows.empty())
    return;
  for (auto [row, address] : llvm::zip_equal(rows, heldWords(t, getRoot(leftBuffer()))))
    LLVM::StoreOp::create(b, row, address);
}

/// One instruction: the sums after it.
ProductLowering::Registers ProductLowering::multiply(ArrayRef<Value> sums, ArrayRef<Value> rows,
                                                     Value descriptorA, Value descriptorB,
                                                     Start start) {
  Type elementA = cast<MemRefType>(leftBuffer().getType()).getElementType(),
       elementB = cast<MemRefType>(rightBuffer().getType()).getElementType();
  std::string text;
  llvm::raw_string_ostream os(text);
  // A cleared product writes sums that nothing has to bring.
  bool readsSums = start != Start::FromZero;
  size_t last = sums.size() * (readsSums ? 2 : 1) + (rows.empty() ? 1 : 4) + 1;
  bool decides = start == Start::Decided;
  if (decides)
    os << "{ .reg .pred p; setp.eq.b32 p, $" << last << ", 0; ";
  os << "wgmma.mma_async.sync.aligned.m64n" << division.columns << "k" << shape.k << "."
     << getTypeName(accumulatorType()) << "." << getTypeName(elementA) << "."
     << getTypeName(elementB) << " {";
  for (size_t i = 0; i < sums.size(); ++i)
    os << (i ? ", $" : "$") << i;
  os << "}, ";
  size_t next = readsSums ? 2 * sums.size() : sums.size();
  if (rows.empty()) {
    os << "$" << next++;
  } else {
    os << "{$" << next << ", $" << next + 1 << ", $" << next + 2 << ", $" << next + 3 << "}";
    next += 4;
  }
  os << ", $" << next << ", " << (decides ? "p" : readsSums ? "1" : "0");
  if (!shape.isInteger)
    os << ", 1, 1"; // neither operand is negated
  if (shape.operandBits == 16) {
    if (rows.empty())
      os << ", " << (left.isKMajor ? 0 : 1);
    os << ", " << (right.isKMajor ? 0 : 1);
  }
  os << (decides ? "; }" : ";");
  std::string constraints;
  SmallVector<Value> operands;
  if (readsSums) {
    constraints = getTiedConstraints(sums);
    llvm::append_range(operands, sums);
  } else {
    for (size_t i = 0; i < sums.size(); ++i)
      constraints += (i ? ",=" : "=") + getConstraint(sums[i].getType()).str();
  }
  if (rows.empty()) {
    constraints += ",l";
    operands.push_back(descriptorA);
  } else {
    constraints += ",r,r,r,r";
    llvm::append_range(operands, rows);
  }
  constraints += ",l";
  operands.push_back(descriptorB);
  if (decides) {
    constraints += ",r";
    operands.push_back(isCleared);
  }
  SmallVector<Type> types;
  for (Value value : sums)
    types.push_back(value.getType());
  return callPtx(b, text, constraints, types, operands);
}

/// The instruction of one product of 64 rows, some columns and one step of K; `part` are its sums,
/// `rows` all registers of A.
void ProductLowering::issue(MutableArrayRef<Value> part, ArrayRef<Value> rows, int64_t product,
                            int64_t column, int64_t step, Start start) {
  ArrayRef<Value> rowsOfStep;
  if (!rows.empty())
    rowsOfStep = rows.slice((product * division.steps + step) * 4, 4);
  Value fromA;
  if (descriptorA)
    fromA = addBytes(descriptorA, left.getStart(product * kProductRows, step * shape.k));
  Value fromB = addBytes(descriptorB, right.getStart(column, step * shape.k));
  Registers next = multiply(part, rowsOfStep, fromA, fromB, start);
  llvm::copy(next, part.begin());
}

/// All instructions as one group; gives the sums, which belong to the group until the wait.
ProductLowering::Registers ProductLowering::accumulate(const Registers &sums,
                                                       const Registers &rows) {
  auto [products, groupColumns, columns, steps] = division;
  size_t perProduct = sums.size() / products, perInstruction = perProduct * columns / groupColumns;
  Start start = isClear ? Start::FromZero : isCleared ? Start::Decided : Start::FromSums;
  // A register that nothing wrote needs no fence, and must not be said to be read.
  Registers brought = isClear ? Registers() : sums;
  llvm::append_range(brought, rows);
  Registers held = isClear ? sums : Registers();
  llvm::append_range(held, passThrough(b, "wgmma.fence.sync.aligned;", brought));
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t product = 0; product < products; ++product)
      for (int64_t column = 0; column < groupColumns; column += columns) {
        size_t first = product * perProduct + column / columns * perInstruction;
        issue(MutableArrayRef(held).slice(first, perInstruction),
              ArrayRef(held).drop_front(sums.size()), product, column, step,
              step == 0 ? start : Start::FromSums);
      }
  passThrough(b, "wgmma.commit_group.sync.aligned;", {});
  if (op->hasAttr(kAsyncAttr))
    keepA(ArrayRef(held).drop_front(sums.size()));
  else
    held = passThrough(b, "wgmma.wait_group.sync.aligned 0;", held);
  held.truncate(sums.size());
  return held;
}

/// The tensor cores keep few bits of these sums, so each runs over a part of K from 0, and is added
/// to the sum in float32.
ProductLowering::Registers ProductLowering::accumulatePartial(const Registers &sums,
                                                              Registers rows) {
  auto [products, groupColumns, columns, steps] = division;
  size_t perInstruction = sums.size() / products * columns / groupColumns;
  Registers total = sums;
  auto add = [&](ArrayRef<Value> part, size_t first, bool isFirst) {
    for (auto [number, value] : llvm::enumerate(part)) {
      Value &sum = total[first + number];
      Value start = sum;
      if (isFirst && isCleared) {
        Value zero = t.constant(b.getF32FloatAttr(0));
        Value clear = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, isCleared, i32(0));
        start = arith::SelectOp::create(b, clear, zero, sum);
      }
      sum = isFirst && isClear ? value : arith::AddFOp::create(b, start, value).getResult();
    }
  };
  for (int64_t begin = 0; begin < steps; begin += shape.promotedSteps)
    for (int64_t product = 0; product < products; ++product)
      for (int64_t column = 0; column < groupColumns; column += columns) {
        size_t first = (product * (groupColumns / columns) + column / columns) * perInstruction;
        rows = passThrough(b, "wgmma.fence.sync.aligned;", rows);
        Registers part(perInstruction, LLVM::PoisonOp::create(b, b.getF32Type()));
        int64_t end = std::min(begin + shape.promotedSteps, steps);
        for (int64_t step = begin; step < end; ++step)
          issue(part, rows, product, column, step,
                step == begin ? Start::FromZero : Start::FromSums);
        passThrough(b, "wgmma.commit_group.sync.aligned;", {});
        llvm::append_range(part, rows);
        part = passThrough(b, "wgmma.wait_group.sync.aligned 0;", part);
        rows.assign(part.begin() + perInstruction, part.end());
        part.truncate(perInstruction);
        add(part, first, begin == 0);
      }
  return total;
}

LogicalResult ProductLowering::run() {
  OperandAttr planA = access::getOperandPlan(op, roles.left),
              planB = access::getOperandPlan(op, roles.right);
  bool isRegisterA = t.storageOf(getRoot(leftBuffer())).kind == Storage::Kind::Registers;
  if (!planB || bool(planA) == isRegisterA)
    return emitInternalError(op) << "a product without the plan of an operand";
  right = access::readOperand(planB, shape);
  division = access::ProductDivision::get(op, shape);
  Value group = groupNumber();
  // Group g has rows of number g % groupsM, columns of number g // groupsM.
  Value startA, startB;
  if (planA)
    left = access::readOperand(planA, shape);
  if (groups[0] > 1 && planA)
    startA = arith::MulIOp::create(b, arith::RemUIOp::create(b, group, i32(groups[0])),
                                   i32(left.getStart(division.products * kProductRows, 0)));
  if (groups[1] > 1)
    startB = arith::MulIOp::create(b, arith::DivUIOp::create(b, group, i32(groups[0])),
                                   i32(right.getStart(division.groupColumns, 0)));
  if (planA)
    descriptorA = makeDescriptor(leftBuffer(), left, startA);
  descriptorB = makeDescriptor(rightBuffer(), right, startB);
  Registers rows = loadA();
  Registers sums = loadSums();
  storeSums(shape.promotedSteps ? accumulatePartial(sums, rows) : accumulate(sums, rows));
  return success();
}

LogicalResult lowerProduct(Thread &t, GemmOp op) { return ProductLowering(t, op).run(); }

void lowerProductWait(Thread &t, ProductWaitOp op) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<Value> addresses, registers;
  auto hold = [&](Value address, Type type) {
    addresses.push_back(address);
    registers.push_back(LLVM::LoadOp::create(b, type, address));
  };
  for (Value fragment : op.getSums()) {
    const Storage &storage = t.storageOf(fragment);
    for (int64_t slot = 0; slot < storage.owners.slots; ++slot)
      hold(t.registerAddress(storage, slot), getRegisterType(storage.elementType));
  }
  for (Value fragment : op.getFactors())
    for (Value address : heldWords(t, fragment))
      hold(address, b.getI32Type());
  std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
  for (auto [address, value] : llvm::zip_equal(addresses, passThrough(b, text, registers)))
    LLVM::StoreOp::create(b, value, address);
}

} // namespace tilewright::nvptx
