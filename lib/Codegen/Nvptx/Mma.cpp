//===- Mma.cpp - matrix products on tensor cores ---------------------------------------------===//
//
// Each warp owns a contiguous part of C, made of tiles of one instruction numbered row by row. With
// lane = 4 * group + t, v elements in a register and h = m / 8 (Layout/MmaFragments.h):
//
//   A (m x k)   register r holds row group + 8 * (r % h), columns v t + 4 v (r // h) and what
//   follows B (k x 8)   register r holds column group, rows v t + 4 v r and what follows C (m x 8)
//   slot s holds row group + 8 * (s // 2), column 2 t + s % 2
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Access/Matrices.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// Reads an operand by ldmatrix, as its plan says.
class MatrixReader {
public:
  MatrixReader(Thread &lowering, GemmOp op, access::GemmOperand operand, const MmaShape &shape,
               ArrayRef<int64_t> warps)
      : lowering(lowering), buffer(operand == access::GemmOperand::A ? op.getA() : op.getB()),
        plan(op->getAttrOfType<AccessAttr>(operand == access::GemmOperand::A ? kAccessAAttr
                                                                             : kAccessBAttr)) {
    if (plan)
      loads = access::getMatrixLoads(op, operand, shape, warps);
  }

  bool isPlanned() const { return bool(plan); }

  /// The registers of a load; made once.
  ArrayRef<Value> load(int64_t tile, int64_t step) {
    int64_t index = loads.indexOf(tile, step);
    SmallVector<Value> &words = loaded[index];
    if (!words.empty())
      return words;
    ImplicitLocOpBuilder &b = lowering.b;
    const access::MatrixLoad &load = loads.loads[index];
    SmallVector<Type> types(load.count, b.getI32Type());
    Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    Value matrices = NVVM::LdMatrixOp::create(
        b, result, addressOf(index), uint32_t(load.count),
        loads.isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    for (int64_t i = 0; i < load.count; ++i)
      words.push_back(LLVM::ExtractValueOp::create(b, matrices, i));
    return words;
  }

private:
  Value addressOf(int64_t index) {
    int64_t anchor = plan.getAnchors()[index];
    auto [it, isNew] = addresses.try_emplace(anchor);
    const Storage &storage = lowering.storageOf(getRoot(buffer));
    if (isNew) {
      const access::MatrixLoad &load = loads.loads[anchor];
      SmallVector<Value> coordinates{lowering.evaluate(load.row, lowering.threadId),
                                     lowering.evaluate(load.column, lowering.threadId)};
      while (int64_t(coordinates.size()) < cast<MemRefType>(buffer.getType()).getRank())
        coordinates.insert(coordinates.begin(), lowering.index(0));
      it->second = nvptx::addressOf(lowering, storage,
                                    viewCoordinates(lowering, buffer, std::move(coordinates)));
    }
    if (plan.getDeltas()[index] == 0)
      return it->second;
    return LLVM::GEPOp::create(lowering.b, it->second.getType(),
                               getStorageType(storage.elementType), it->second,
                               ArrayRef<LLVM::GEPArg>{int32_t(plan.getDeltas()[index])});
  }

  Thread &lowering;
  Value buffer;
  AccessAttr plan;
  access::MatrixLoads loads;
  llvm::DenseMap<int64_t, Value> addresses;
  llvm::DenseMap<int64_t, SmallVector<Value>> loaded;
};

/// One mma instruction for the element types of a gemm.
class MmaInstruction {
public:
  MmaInstruction(Thread &lowering, GemmOp op, const MmaShape &shape)
      : lowering(lowering), b(lowering.b), shape(shape), a(op.getA().getType().getElementType()),
        other(op.getB().getType().getElementType()),
        accumulator(op.getC().getType().getElementType()) {}

  int64_t getNumSlots() const { return shape.m * shape.n / kWarpSize; }

  /// The elements of one register of an operand, as the instruction takes them.
  Value pack(ArrayRef<Value> elements) {
    if (elements.size() == 1)
      return elements[0].getType().isF64() ? elements[0] : fromWord(elements[0]);
    return fromWord(packVector(lowering, elements));
  }
  /// The same for a register that ldmatrix filled.
  Value fromWord(Value word) {
    if (a.isF16()) {
      Type pair = VectorType::get({2}, a);
      return word.getType() == pair ? word : LLVM::BitcastOp::create(b, pair, word).getResult();
    }
    if (isa<FloatTF32Type>(a)) {
      bool isFloat = word.getType().isF32();
      Value number = isFloat ? word : LLVM::BitcastOp::create(b, b.getF32Type(), word).getResult();
      return roundToTf32(b, number);
    }
    return asBits(word);
  }

  /// The sums of a tile after one more product.
  SmallVector<Value, 4> multiply(ArrayRef<Value> rows, ArrayRef<Value> columns,
                                 ArrayRef<Value> sums) {
    if (isa<Float8E4M3FNType, Float8E5M2Type>(a))
      return multiplyFp8(rows, columns, sums);
    bool isHalf = accumulator.isF16();
    auto pair = VectorType::get({2}, b.getF16Type());
    SmallVector<Value> operands(sums);
    if (isHalf) {
      operands.clear();
      for (size_t i = 0; i < sums.size(); i += 2)
        operands.push_back(pack(sums.slice(i, 2)));
    }
    Type result = LLVM::LLVMStructType::getLiteral(
        b.getContext(), isHalf ? SmallVector<Type>(sums.size() / 2, pair)
                               : SmallVector<Type>(sums.size(), sums[0].getType()));
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (accumulator.isInteger(32))
      overflow = NVVM::MMAIntOverflow::wrapped;
    Value product = NVVM::MmaOp::create(b, result, rows, columns, operands,
                                        ArrayRef<int64_t>{shape.m, shape.n, shape.k}, std::nullopt,
                                        overflow, std::array{typeOf(a), typeOf(other)},
                                        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    SmallVector<Value, 4> next;
    for (size_t slot = 0; slot < sums.size(); ++slot) {
      Value part = LLVM::ExtractValueOp::create(b, product, isHalf ? slot / 2 : slot);
      if (isHalf)
        part = elementOf(lowering, part, slot % 2);
      next.push_back(part);
    }
    return next;
  }

private:
  Value asBits(Value value) {
    Type bits = b.getI32Type();
    return value.getType() == bits ? value : LLVM::BitcastOp::create(b, bits, value).getResult();
  }

  static NVVM::MMATypes typeOf(Type element) {
    if (element.isBF16())
      return NVVM::MMATypes::bf16;
    if (element.isF64())
      return NVVM::MMATypes::f64;
    if (isa<FloatTF32Type>(element))
      return NVVM::MMATypes::tf32;
    if (element.isInteger(8))
      return element.isUnsignedInteger() ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
    return NVVM::MMATypes::f16;
  }

  /// MLIR's operation has no 8-bit floats.
  SmallVector<Value, 4> multiplyFp8(ArrayRef<Value> rows, ArrayRef<Value> columns,
                                    ArrayRef<Value> sums) {
    auto name = [](Type type) { return isa<Float8E4M3FNType>(type) ? "e4m3" : "e5m2"; };
    std::string text = std::string("mma.sync.aligned.m16n8k32.row.col.f32.") + name(a) + "." +
                       name(other) +
                       ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                       "{$10, $11, $12, $13};";
    SmallVector<Value> operands(rows);
    llvm::append_range(operands, columns);
    llvm::append_range(operands, sums);
    SmallVector<Type> results(4, b.getF32Type());
    return llvm::to_vector<4>(
        callPtx(b, text, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", results, operands));
  }

  Thread &lowering;
  ImplicitLocOpBuilder &b;
  MmaShape shape;
  Type a, other, accumulator;
};

LogicalResult lowerMma(Thread &t, GemmOp op, ArrayRef<int64_t> warps) {
  ImplicitLocOpBuilder &b = t.b;
  auto [m, n, k] = op.getExtents();
  MmaShape shape = *access::getMmaShape(op, t.arch);
  int64_t warpM = m / warps[0], warpN = n / warps[1];
  int64_t tilesM = warpM / shape.m, tilesN = warpN / shape.n, tilesK = k / shape.k;
  int64_t packed = std::max<int64_t>(1, 32 / shape.operandBits), halves = shape.m / 8;
  int64_t registersB = shape.k / (4 * packed), registersA = registersB * halves;
  const Storage &c = t.storageOf(getRoot(op.getC()));
  const Storage &a = t.storageOf(getRoot(op.getA()));
  auto expression = [&](const IndexExpr &expr) { return t.evaluate(expr, t.threadId); };
  IndexExpr tid = IndexExpr::dim(0), warp = floorDiv(tid, kWarpSize), lane = tid % kWarpSize;
  Value rowBase = expression(warp % warps[0] * warpM + floorDiv(lane, 4));
  Value columnBase = expression(floorDiv(warp, warps[0]) * warpN + floorDiv(lane, 4));
  Value depthBase = expression(lane % 4 * packed);
  auto plus = [&](Value value, int64_t constant) {
    return b.createOrFold<arith::AddIOp>(value, t.index(constant));
  };
  MmaInstruction instruction(t, op, shape);
  MatrixReader readA(t, op, access::GemmOperand::A, shape, warps),
      readB(t, op, access::GemmOperand::B, shape, warps);
  auto fromWords = [&](ArrayRef<Value> words) {
    SmallVector<Value> registers;
    for (Value word : words)
      registers.push_back(instruction.fromWord(word));
    return registers;
  };
  auto asElement = [&](Value value, Type type) { return toStorage(t, value, type); };
  auto loadA = [&](int64_t tile, int64_t step) {
    if (readA.isPlanned())
      return fromWords(readA.load(tile, step));
    SmallVector<Value> registers;
    for (int64_t r = 0; r < registersA; ++r) {
      SmallVector<Value> elements;
      for (int64_t e = 0; e < packed; ++e) {
        if (a.kind == Storage::Kind::Registers)
          elements.push_back(
              t.loadRegister(a, ((tile * tilesK + step) * registersA + r) * packed + e));
        else
          elements.push_back(loadMatrix(
              t, op.getA(), plus(rowBase, shape.m * tile + 8 * (r % halves)),
              plus(depthBase, shape.k * step + 4 * packed * (r / halves) + e), op.getTransposeA()));
        elements.back() = asElement(elements.back(), op.getA().getType().getElementType());
      }
      registers.push_back(instruction.pack(elements));
    }
    return registers;
  };
  auto loadB = [&](int64_t tile, int64_t step) {
    if (readB.isPlanned()) // one load serves two tiles
      return fromWords(ArrayRef(readB.load(tile / 2, step)).slice(tile % 2 * 2, 2));
    SmallVector<Value> registers;
    for (int64_t r = 0; r < registersB; ++r) {
      SmallVector<Value> elements;
      for (int64_t e = 0; e < packed; ++e)
        elements.push_back(
            asElement(loadMatrix(t, op.getB(), plus(depthBase, shape.k * step + 4 * packed * r + e),
                                 plus(columnBase, shape.n * tile), op.getTransposeB()),
                      op.getB().getType().getElementType()));
      registers.push_back(instruction.pack(elements));
    }
    return registers;
  };

  // Accumulators: in registers from the first product to the last.
  Value clear = op.getClear() ? t.mapped(op.getClear()) : Value();
  int64_t slots = instruction.getNumSlots();
  SmallVector<SmallVector<Value, 4>> sums(tilesM * tilesN);
  for (int64_t tile = 0; tile < tilesM * tilesN; ++tile)
    for (int64_t slot = 0; slot < slots; ++slot) {
      Value value = t.loadRegister(c, tile * slots + slot);
      if (clear) {
        Value zero = t.constant(b.getZeroAttr(value.getType()));
        value = b.createOrFold<arith::SelectOp>(clear, zero, value);
      }
      sums[tile].push_back(value);
    }
  for (int64_t step = 0; step < tilesK; ++step) {
    SmallVector<SmallVector<Value>> columns;
    for (int64_t tile = 0; tile < tilesN; ++tile)
      columns.push_back(loadB(tile, step));
    for (int64_t row = 0; row < tilesM; ++row) {
      SmallVector<Value> rows = loadA(row, step);
      for (int64_t column = 0; column < tilesN; ++column) {
        SmallVector<Value, 4> &sum = sums[row * tilesN + column];
        sum = instruction.multiply(rows, columns[column], sum);
      }
    }
  }
  for (int64_t tile = 0; tile < tilesM * tilesN; ++tile)
    for (int64_t slot = 0; slot < slots; ++slot)
      t.storeRegister(c, tile * slots + slot, sums[tile][slot]);
  return success();
}

} // namespace tilewright::nvptx
