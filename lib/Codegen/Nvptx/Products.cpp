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
// A descriptor is a constant plus the address of the operand's first element in units of 16 bytes;
// the steps along K, M and N add constants to it (Layout/ProductLayouts.h proved them). The group's
// number is read from lane 0 so that ptxas knows it to be the same in all lanes of a warp.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Access/Products.h"

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
  return type.isF32() ? "f32" : type.isBF16() ? "bf16" : "f16";
}

/// The code of one gemm.
class ProductLowering {
public:
  ProductLowering(Thread &t, GemmOp op)
      : t(t), b(t.b), op(op),
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
  Registers passThrough(StringRef text, ArrayRef<Value> registers);
  Registers multiply(ArrayRef<Value> sums, ArrayRef<Value> rows, Value descriptorA,
                     Value descriptorB, bool isFirst);
  Value i32(int64_t value) { return t.constant(b.getI32IntegerAttr(int32_t(value))); }
  Value i64(int64_t value) { return t.constant(b.getI64IntegerAttr(value)); }
  Type accumulatorType() { return op.getC().getType().getElementType(); }
  bool isPacked() { return accumulatorType().isF16(); }

  Thread &t;
  ImplicitLocOpBuilder &b;
  GemmOp op;
  ArrayRef<int64_t> groups;
  access::ProductShape shape;
  access::ProductDivision division;
  ProductOperand a, bOperand;
  bool isClear = false; ///< The sums start from 0.
};

Value ProductLowering::groupNumber() {
  Value thread = arith::IndexCastOp::create(b, b.getI32Type(), t.threadId);
  Value group = arith::DivUIOp::create(b, thread, i32(kWarpgroupThreads));
  return shuffle(t, group, /*lane=*/0, NVVM::ShflKind::idx);
}

/// The descriptor of the group's first row or column at the first step of K.
Value ProductLowering::makeDescriptor(Value buffer, const ProductOperand &operand,
                                      Value groupStart) {
  SmallVector<Value> first(cast<MemRefType>(buffer.getType()).getRank(), t.index(0));
  const Storage &storage = t.storageOf(getRoot(buffer));
  Value pointer = addressOf(t, storage, viewCoordinates(t, buffer, std::move(first)));
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
  if (groupStart)
    address = arith::AddIOp::create(b, address, groupStart);
  // Bits 4 to 17 of the address are all that the descriptor has room for.
  address = arith::AndIOp::create(b, arith::ShRUIOp::create(b, address, i32(4)), i32(0x3fff));
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), address);
  return arith::OrIOp::create(b, wide, i64(int64_t(operand.getDescriptor())));
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

ProductLowering::Registers ProductLowering::passThrough(StringRef text, ArrayRef<Value> registers) {
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
  if (isClear) {
    Type type = isPacked() ? Type(b.getI32Type()) : t.loadRegister(c, 0).getType();
    return Registers(isPacked() ? slots / 2 : slots, LLVM::PoisonOp::create(b, type));
  }
  Registers sums;
  for (int64_t slot = 0; slot < slots; ++slot) {
    Value value = t.loadRegister(c, slot);
    if (clear) {
      Value zero = t.constant(b.getZeroAttr(value.getType()));
      value = b.createOrFold<arith::SelectOp>(clear, zero, value);
    }
    sums.push_back(value);
  }
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
  const Storage &storage = t.storageOf(getRoot(op.getA()));
  if (storage.kind != Storage::Kind::Registers)
    return {};
  int64_t packed = 32 / shape.operandBits;
  Registers words;
  for (int64_t word = 0; word < division.products * division.steps * 4; ++word) {
    SmallVector<Value> elements;
    for (int64_t e = 0; e < packed; ++e)
      elements.push_back(toStorage(t, t.loadRegister(storage, word * packed + e),
                                   op.getA().getType().getElementType()));
    words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), packVector(t, elements)));
  }
  return words;
}

/// One instruction: the sums after it.
ProductLowering::Registers ProductLowering::multiply(ArrayRef<Value> sums, ArrayRef<Value> rows,
                                                     Value descriptorA, Value descriptorB,
                                                     bool isFirst) {
  Type elementA = op.getA().getType().getElementType(),
       elementB = op.getB().getType().getElementType();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "wgmma.mma_async.sync.aligned.m64n" << division.columns << "k" << shape.k << "."
     << getTypeName(accumulatorType()) << "." << getTypeName(elementA) << "."
     << getTypeName(elementB) << " {";
  for (size_t i = 0; i < sums.size(); ++i)
    os << (i ? ", $" : "$") << i;
  os << "}, ";
  // A cleared product writes sums that nothing has to bring.
  bool readsSums = !(isFirst && isClear);
  size_t next = readsSums ? 2 * sums.size() : sums.size();
  if (rows.empty()) {
    os << "$" << next++;
  } else {
    os << "{$" << next << ", $" << next + 1 << ", $" << next + 2 << ", $" << next + 3 << "}";
    next += 4;
  }
  os << ", $" << next << ", " << (readsSums ? 1 : 0);
  if (!shape.isInteger)
    os << ", 1, 1"; // neither operand is negated
  if (shape.operandBits == 16) {
    if (rows.empty())
      os << ", " << (a.isKMajor ? 0 : 1);
    os << ", " << (bOperand.isKMajor ? 0 : 1);
  }
  os << ";";
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
  SmallVector<Type> types;
  for (Value value : sums)
    types.push_back(value.getType());
  return callPtx(b, text, constraints, types, operands);
}

LogicalResult ProductLowering::run() {
  auto planA = op->getAttrOfType<OperandAttr>(kOperandAAttr),
       planB = op->getAttrOfType<OperandAttr>(kOperandBAttr);
  bool isRegisterA = t.storageOf(getRoot(op.getA())).kind == Storage::Kind::Registers;
  if (!planB || bool(planA) == isRegisterA)
    return op.emitError() << "internal error: a product without the plan of an operand";
  bOperand = access::readOperand(planB, shape);
  division = access::ProductDivision::get(op, shape, bOperand);
  auto [products, groupColumns, columns, steps] = division;
  Value group = groupNumber();
  // Group g has rows of number g % groupsM, columns of number g // groupsM.
  Value startA, startB, descriptorA;
  if (planA)
    a = access::readOperand(planA, shape);
  if (groups[0] > 1 && planA)
    startA = arith::MulIOp::create(b, arith::RemUIOp::create(b, group, i32(groups[0])),
                                   i32(a.getStart(products * kProductRows, 0)));
  if (groups[1] > 1)
    startB = arith::MulIOp::create(b, arith::DivUIOp::create(b, group, i32(groups[0])),
                                   i32(bOperand.getStart(groupColumns, 0)));
  if (planA)
    descriptorA = makeDescriptor(op.getA(), a, startA);
  Value descriptorB = makeDescriptor(op.getB(), bOperand, startB);

  Registers rows = loadA();
  Registers sums = loadSums();
  size_t perProduct = sums.size() / products, perInstruction = perProduct * columns / groupColumns;
  // A register that nothing wrote needs no fence, and must not be said to be read.
  Registers brought = isClear ? Registers() : sums;
  llvm::append_range(brought, rows);
  Registers held = isClear ? sums : Registers();
  llvm::append_range(held, passThrough("wgmma.fence.sync.aligned;", brought));
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t product = 0; product < products; ++product)
      for (int64_t column = 0; column < groupColumns; column += columns) {
        size_t first = product * perProduct + column / columns * perInstruction;
        MutableArrayRef<Value> part = MutableArrayRef(held).slice(first, perInstruction);
        ArrayRef<Value> rowsOfStep;
        if (!rows.empty())
          rowsOfStep = ArrayRef(held).slice(sums.size() + (product * steps + step) * 4, 4);
        Value fromA =
            planA ? addBytes(descriptorA, a.getStart(product * kProductRows, step * shape.k))
                  : Value();
        Value fromB = addBytes(descriptorB, bOperand.getStart(column, step * shape.k));
        Registers next = multiply(part, rowsOfStep, fromA, fromB, step == 0);
        llvm::copy(next, part.begin());
      }
  passThrough("wgmma.commit_group.sync.aligned;", {});
  held = passThrough("wgmma.wait_group.sync.aligned 0;", held);
  storeSums(ArrayRef(held).take_front(sums.size()));
  return success();
}

LogicalResult lowerProduct(Thread &t, GemmOp op) { return ProductLowering(t, op).run(); }

} // namespace tilewright::nvptx
