//===- Products.cpp - matrix products of warpgroups (wgmma) -----------------------------------===//
//
// A product is asynchronous: wgmma returns at once, and the registers it writes (and those of A it
// reads) belong to it until a wait. LLVM knows nothing of that. So every such register is an operand
// and a result of the group of instructions and of the wait after it: there is no moment at which LLVM
// could put something else there.
//
//   group     {sums, A} = asm("wgmma.fence; wgmma.mma_async …; …; wgmma.commit_group")(sums, A, descriptors)
//   wait      {sums, A} = asm("wgmma.wait_group 0")(sums, A)
//
// A group is one statement to LLVM, whose time grows with the operands: a statement for each step of K
// would name all sums again, up to 128 of them.
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
  if (isa<FloatTF32Type>(type))
    return "tf32";
  return type.isF32() ? "f32" : type.isBF16() ? "bf16" : "f16";
}

static StringRef getConstraint(Type type) { return type.isF32() ? "f" : "r"; }

namespace {
/// Instructions that LLVM sees as one. Its results are the registers that they work on: sums, then A.
class ProductGroup {
public:
  /// Sums that only come into being here need not be brought, and must not be said to be read.
  ProductGroup(ArrayRef<Value> sums, ArrayRef<Value> rows, bool bringsSums)
      : numSums(sums.size()), numRows(rows.size()) {
    if (bringsSums)
      llvm::append_range(operands, sums);
    llvm::append_range(operands, rows);
    for (ArrayRef<Value> registers : {sums, rows})
      for (Value value : registers)
        types.push_back(value.getType());
    numTied = operands.size();
  }

  /// The name of a register in the text.
  std::string sum(size_t number) const { return "$" + std::to_string(number); }
  std::string row(size_t number) const { return sum(numSums + number); }
  std::string input(Value value);
  bool hasRows() const { return numRows; }
  void add(const Twine &instruction) { text += (instruction + "\n\t").str(); }
  SmallVector<Value> emit(ImplicitLocOpBuilder &b);

private:
  size_t numSums, numRows, numTied;
  SmallVector<Type> types;     ///< Of the results.
  SmallVector<Value> operands; ///< Those that results take the place of, then inputs.
  std::string text;
};
} // namespace

/// The name of a value that the instructions only read.
std::string ProductGroup::input(Value value) {
  auto inputs = MutableArrayRef(operands).drop_front(numTied);
  size_t number = llvm::find(inputs, value) - inputs.begin();
  if (number == inputs.size())
    operands.push_back(value);
  return "$" + std::to_string(types.size() + numTied + number);
}

/// Gives the registers after the instructions. A result is written while later instructions still
/// have to read their inputs (`&`).
SmallVector<Value> ProductGroup::emit(ImplicitLocOpBuilder &b) {
  SmallVector<std::string> constraints;
  for (Type type : types)
    constraints.push_back("=&" + getConstraint(type).str());
  for (size_t i = types.size() - numTied; i < types.size(); ++i)
    constraints.push_back(std::to_string(i));
  for (Value value : ArrayRef(operands).drop_front(numTied))
    constraints.push_back(value.getType().isInteger(64) ? "l" : "r");
  // Products read memory that LLVM must not move its own accesses across.
  constraints.push_back("~{memory}");
  return callPtx(b, StringRef(text).rtrim(), llvm::join(constraints, ","), types, operands);
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
  void multiply(ProductGroup &group, size_t firstSum, size_t count, int64_t product, int64_t column,
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

/// One instruction, for 64 rows, some columns and one step of K.
void ProductLowering::multiply(ProductGroup &group, size_t firstSum, size_t count, int64_t product,
                               int64_t column, int64_t step, Start start) {
  Type elementA = cast<MemRefType>(leftBuffer().getType()).getElementType(),
       elementB = cast<MemRefType>(rightBuffer().getType()).getElementType();
  std::string text;
  llvm::raw_string_ostream os(text);
  bool decides = start == Start::Decided;
  if (decides)
    os << "{ .reg .pred p; setp.eq.b32 p, " << group.input(isCleared) << ", 0; ";
  os << "wgmma.mma_async.sync.aligned.m64n" << division.columns << "k" << shape.k << "."
     << getTypeName(accumulatorType()) << "." << getTypeName(elementA) << "."
     << getTypeName(elementB) << " {";
  for (size_t i = 0; i < count; ++i)
    os << (i ? ", " : "") << group.sum(firstSum + i);
  os << "}, ";
  if (group.hasRows()) {
    size_t first = (product * division.steps + step) * 4;
    os << "{";
    for (size_t i = 0; i < 4; ++i)
      os << (i ? ", " : "") << group.row(first + i);
    os << "}";
  } else {
    os << group.input(addBytes(descriptorA, left.getStart(product * kProductRows, step * shape.k)));
  }
  os << ", " << group.input(addBytes(descriptorB, right.getStart(column, step * shape.k))) << ", "
     << (decides                    ? "p"
         : start == Start::FromSums ? "1"
                                    : "0");
  if (!shape.isInteger)
    os << ", 1, 1"; // neither operand is negated
  if (shape.operandBits == 16) {
    if (!group.hasRows())
      os << ", " << (left.isKMajor ? 0 : 1);
    os << ", " << (right.isKMajor ? 0 : 1);
  }
  os << (decides ? "; }" : ";");
  group.add(text);
}

/// All instructions as one group; gives the sums, which belong to the group until the wait.
ProductLowering::Registers ProductLowering::accumulate(const Registers &sums,
                                                       const Registers &rows) {
  auto [products, groupColumns, columns, steps] = division;
  size_t perProduct = sums.size() / products, perInstruction = perProduct * columns / groupColumns;
  Start start = isClear ? Start::FromZero : isCleared ? Start::Decided : Start::FromSums;
  ProductGroup group(sums, rows, /*bringsSums=*/!isClear);
  group.add("wgmma.fence.sync.aligned;");
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t product = 0; product < products; ++product)
      for (int64_t column = 0; column < groupColumns; column += columns)
        multiply(group, product * perProduct + column / columns * perInstruction, perInstruction,
                 product, column, step, step == 0 ? start : Start::FromSums);
  group.add("wgmma.commit_group.sync.aligned;");
  bool isOpen = op->hasAttr(kAsyncAttr);
  if (!isOpen)
    group.add("wgmma.wait_group.sync.aligned 0;");
  Registers held = group.emit(b);
  if (isOpen)
    keepA(ArrayRef(held).drop_front(sums.size()));
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
  Registers blank(perInstruction, LLVM::PoisonOp::create(b, b.getF32Type()));
  for (int64_t begin = 0; begin < steps; begin += shape.promotedSteps)
    for (int64_t product = 0; product < products; ++product)
      for (int64_t column = 0; column < groupColumns; column += columns) {
        ProductGroup group(blank, rows, /*bringsSums=*/false);
        group.add("wgmma.fence.sync.aligned;");
        int64_t end = std::min(begin + shape.promotedSteps, steps);
        for (int64_t step = begin; step < end; ++step)
          multiply(group, 0, perInstruction, product, column, step,
                   step == begin ? Start::FromZero : Start::FromSums);
        group.add("wgmma.commit_group.sync.aligned;");
        group.add("wgmma.wait_group.sync.aligned 0;");
        Registers held = group.emit(b);
        rows.assign(held.begin() + perInstruction, held.end());
        size_t first = (product * (groupColumns / columns) + column / columns) * perInstruction;
        add(ArrayRef(held).take_front(perInstruction), first, begin == 0);
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

void dropHeldOperands(Thread &t, scf::IfOp branch) {
  for (GemmOp gemm : branch.thenBlock()->getOps<GemmOp>()) {
    Value left = getRoot(access::getOperand(gemm, access::ProductRoles::get(gemm).left));
    if (!t.heldOperands.contains(left))
      continue;
    Value none = LLVM::PoisonOp::create(t.b, t.b.getI32Type());
    for (Value address : heldWords(t, left))
      LLVM::StoreOp::create(t.b, none, address);
  }
}

void lowerProductWait(Thread &t, ProductWaitOp op) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<Value> sums, words, addresses;
  for (Value fragment : op.getSums()) {
    const Storage &storage = t.storageOf(fragment);
    for (int64_t slot = 0; slot < storage.owners.slots; ++slot)
      sums.push_back(t.loadStored(storage, slot));
  }
  for (Value fragment : op.getFactors())
    for (Value address : heldWords(t, fragment)) {
      addresses.push_back(address);
      words.push_back(LLVM::LoadOp::create(b, b.getI32Type(), address));
    }
  ProductGroup wait(sums, words, /*bringsSums=*/true);
  wait.add("wgmma.wait_group.sync.aligned " + Twine(op.getPending()) + ";");
  SmallVector<Value> held = wait.emit(b);
  ArrayRef<Value> rest = held;
  for (Value fragment : op.getSums()) {
    const Storage &storage = t.storageOf(fragment);
    for (int64_t slot = 0; slot < storage.owners.slots; ++slot, rest = rest.drop_front())
      t.storeStored(storage, slot, rest.front());
  }
  for (auto [address, value] : llvm::zip_equal(addresses, rest))
    LLVM::StoreOp::create(b, value, address);
}

} // namespace tilewright::nvptx
