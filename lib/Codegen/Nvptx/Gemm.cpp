//===- Gemm.cpp - matrix products on tensor cores, and the plain form ------------------------===//
//
// On tensor cores each warp owns a contiguous part of C, made of 16 x 8 tiles numbered row by row,
// with four registers a lane each. With lane = 4 * group + t (Layout/MmaFragments.h):
//
//   A (16 x 16)   register r holds row group + 8 * (r % 2), columns 2 t + 8 * (r // 2) and the next
//   B (16 x 8)    register r holds column group, rows 2 t + 8 * r and the next
//   C (16 x 8)    slot s holds row group + 8 * (s // 2), column 2 t + s % 2
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadLowering.h"
#include "tilewright/Access/Matrices.h"
#include "tilewright/Layout/Algebra.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

Value ThreadLowering::loadMatrix(Value buffer, Value row, Value column, bool transposed) {
  SmallVector<Value> coordinates{row, column};
  if (transposed)
    std::swap(coordinates[0], coordinates[1]);
  auto type = cast<MemRefType>(buffer.getType());
  while (int64_t(coordinates.size()) < type.getRank())
    coordinates.insert(coordinates.begin(), index(0));
  return loadAt(storageOf(getRoot(buffer)), viewCoordinates(buffer, coordinates));
}

LogicalResult ThreadLowering::lowerGemm(GemmOp op) {
  if (auto warps = op->getAttrOfType<DenseI64ArrayAttr>(kWarpsAttr))
    return lowerMma(op, warps.asArrayRef());
  return lowerPlainGemm(op);
}

/// Reads an operand by ldmatrix, as its plan says.
class MatrixReader {
public:
  MatrixReader(ThreadLowering &lowering, GemmOp op, access::GemmOperand operand,
               ArrayRef<int64_t> warps)
      : lowering(lowering), buffer(operand == access::GemmOperand::A ? op.getA() : op.getB()),
        plan(op->getAttrOfType<AccessAttr>(operand == access::GemmOperand::A ? kAccessAAttr
                                                                             : kAccessBAttr)) {
    if (plan)
      loads = access::getMatrixLoads(op, operand, warps);
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
      it->second =
          lowering.addressOf(storage, lowering.viewCoordinates(buffer, std::move(coordinates)));
    }
    if (plan.getDeltas()[index] == 0)
      return it->second;
    return LLVM::GEPOp::create(lowering.b, it->second.getType(),
                               getStorageType(storage.elementType), it->second,
                               ArrayRef<LLVM::GEPArg>{int32_t(plan.getDeltas()[index])});
  }

  ThreadLowering &lowering;
  Value buffer;
  AccessAttr plan;
  access::MatrixLoads loads;
  llvm::DenseMap<int64_t, Value> addresses;
  llvm::DenseMap<int64_t, SmallVector<Value>> loaded;
};

LogicalResult ThreadLowering::lowerMma(GemmOp op, ArrayRef<int64_t> warps) {
  auto [m, n, k] = op.getExtents();
  int64_t warpM = m / warps[0], warpN = n / warps[1];
  int64_t tilesM = warpM / 16, tilesN = warpN / 8, tilesK = k / 16;
  Type element = op.getA().getType().getElementType();
  Type accumulator = op.getC().getType().getElementType();
  const Storage &c = storageOf(getRoot(op.getC()));
  const Storage &a = storageOf(getRoot(op.getA()));
  auto expression = [&](const IndexExpr &expr) { return evaluate(expr, threadId); };
  IndexExpr tid = IndexExpr::dim(0), warp = floorDiv(tid, kWarpSize), lane = tid % kWarpSize;
  Value rowBase = expression(warp % warps[0] * warpM + floorDiv(lane, 4));
  Value columnBase = expression(floorDiv(warp, warps[0]) * warpN + floorDiv(lane, 4));
  Value depthBase = expression(lane % 4 * 2);
  auto plus = [&](Value value, int64_t constant) {
    return b.createOrFold<arith::AddIOp>(value, index(constant));
  };

  // Two neighbouring elements along k as one register.
  auto pair = VectorType::get({2}, element);
  bool asBits = element.isBF16(); // the operation takes bf16 pairs as integers
  auto pack = [&](Value low, Value high) -> Value {
    Value vector = LLVM::UndefOp::create(b, pair);
    for (auto [position, value] : {std::pair(0, low), std::pair(1, high)})
      vector = LLVM::InsertElementOp::create(
          b, vector, value, LLVM::ConstantOp::create(b, b.getI32IntegerAttr(position)));
    return asBits ? LLVM::BitcastOp::create(b, b.getI32Type(), vector).getResult() : vector;
  };
  MatrixReader readA(*this, op, access::GemmOperand::A, warps),
      readB(*this, op, access::GemmOperand::B, warps);
  auto asOperand = [&](ArrayRef<Value> words) {
    SmallVector<Value> registers(words);
    if (!asBits)
      for (Value &word : registers)
        word = LLVM::BitcastOp::create(b, pair, word);
    return registers;
  };
  auto loadA = [&](int64_t tile, int64_t step) {
    if (readA.isPlanned())
      return asOperand(readA.load(tile, step));
    SmallVector<Value> registers;
    for (int64_t r = 0; r < 4; ++r) {
      Value halves[2];
      for (int64_t half = 0; half < 2; ++half) {
        if (a.kind == Storage::Kind::Registers)
          halves[half] = loadRegister(a, (tile * tilesK + step) * 8 + 2 * r + half);
        else
          halves[half] =
              loadMatrix(op.getA(), plus(rowBase, 16 * tile + 8 * (r % 2)),
                         plus(depthBase, 16 * step + 8 * (r / 2) + half), op.getTransposeA());
      }
      registers.push_back(pack(halves[0], halves[1]));
    }
    return registers;
  };
  auto loadB = [&](int64_t tile, int64_t step) {
    if (readB.isPlanned()) // one load serves two tiles
      return asOperand(ArrayRef(readB.load(tile / 2, step)).slice(tile % 2 * 2, 2));
    SmallVector<Value> registers;
    for (int64_t r = 0; r < 2; ++r) {
      Value halves[2];
      for (int64_t half = 0; half < 2; ++half)
        halves[half] = loadMatrix(op.getB(), plus(depthBase, 16 * step + 8 * r + half),
                                  plus(columnBase, 8 * tile), op.getTransposeB());
      registers.push_back(pack(halves[0], halves[1]));
    }
    return registers;
  };

  // Accumulators: in registers from the first product to the last.
  bool isHalf = accumulator.isF16();
  Value clear = op.getClear() ? mapped(op.getClear()) : Value();
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(accumulator));
  SmallVector<SmallVector<Value, 4>> sums(tilesM * tilesN);
  for (int64_t tile = 0; tile < tilesM * tilesN; ++tile)
    for (int64_t slot = 0; slot < 4; ++slot) {
      Value value = loadRegister(c, tile * 4 + slot);
      sums[tile].push_back(clear ? b.createOrFold<arith::SelectOp>(clear, zero, value) : value);
    }
  auto halfPair = VectorType::get({2}, b.getF16Type());
  auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Type resultType = LLVM::LLVMStructType::getLiteral(
      b.getContext(), isHalf ? SmallVector<Type>(2, halfPair) : SmallVector<Type>(4, accumulator));
  for (int64_t step = 0; step < tilesK; ++step) {
    SmallVector<SmallVector<Value>> columns;
    for (int64_t tile = 0; tile < tilesN; ++tile)
      columns.push_back(loadB(tile, step));
    for (int64_t row = 0; row < tilesM; ++row) {
      SmallVector<Value> rows = loadA(row, step);
      for (int64_t column = 0; column < tilesN; ++column) {
        SmallVector<Value, 4> &sum = sums[row * tilesN + column];
        SmallVector<Value> operands = llvm::to_vector(sum);
        if (isHalf) {
          operands.clear();
          for (int64_t i = 0; i < 4; i += 2) {
            Value vector = LLVM::UndefOp::create(b, halfPair);
            for (int64_t half = 0; half < 2; ++half)
              vector = LLVM::InsertElementOp::create(
                  b, vector, sum[i + half], LLVM::ConstantOp::create(b, b.getI32IntegerAttr(half)));
            operands.push_back(vector);
          }
        }
        Value product = NVVM::MmaOp::create(b, resultType, rows, columns[column], operands,
                                            ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
                                            std::nullopt, std::array{type, type},
                                            std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        for (int64_t slot = 0; slot < 4; ++slot) {
          Value part = LLVM::ExtractValueOp::create(b, product, isHalf ? slot / 2 : slot);
          if (isHalf)
            part = LLVM::ExtractElementOp::create(
                b, part, LLVM::ConstantOp::create(b, b.getI32IntegerAttr(slot % 2)));
          sum[slot] = part;
        }
      }
    }
  }
  for (int64_t tile = 0; tile < tilesM * tilesN; ++tile)
    for (int64_t slot = 0; slot < 4; ++slot)
      storeRegister(c, tile * 4 + slot, sums[tile][slot]);
  return success();
}

/// Each thread forms the sums of the elements of C that it holds, or takes in turn where C lies in
/// memory. Narrow floats are summed in float32 and rounded once.
LogicalResult ThreadLowering::lowerPlainGemm(GemmOp op) {
  auto [m, n, k] = op.getExtents();
  Type element = op.getA().getType().getElementType(),
       elementB = op.getB().getType().getElementType(),
       result = op.getC().getType().getElementType();
  Type sumType = isa<FloatType>(result) ? (result.isF64() ? result : Type(b.getF32Type())) : result;
  const Storage &c = storageOf(getRoot(op.getC()));
  for (Value operand : {Value(op.getA()), Value(op.getB())})
    if (storageOf(getRoot(operand)).kind != Storage::Kind::Memory)
      return op.emitError() << "internal error: an operand of a plain gemm lives in registers";
  Value clear = op.getClear() ? mapped(op.getClear()) : Value();
  auto accumulate = [&](Value row, Value column, Value old) -> Value {
    Value start = convertScalar(old, result, sumType, Rounding::NearestEven, false);
    if (clear) {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(getScalarType(sumType)));
      start = b.createOrFold<arith::SelectOp>(clear, zero, start);
    }
    auto loop = scf::ForOp::create(b, index(0), index(k), index(1), start);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value depth = loop.getInductionVar(), sum = loop.getRegionIterArg(0);
      Value x = convertScalar(loadMatrix(op.getA(), row, depth, op.getTransposeA()), element,
                              sumType, Rounding::NearestEven, false);
      Value y = convertScalar(loadMatrix(op.getB(), depth, column, op.getTransposeB()), elementB,
                              sumType, Rounding::NearestEven, false);
      Value next = isa<FloatType>(sumType)
                       ? math::FmaOp::create(b, x, y, sum).getResult()
                       : arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y)).getResult();
      scf::YieldOp::create(b, next);
    }
    return convertScalar(loop.getResult(0), sumType, result, Rounding::NearestEven, false);
  };
  if (c.kind == Storage::Kind::Registers) {
    auto placement =
        getRoot(op.getC()).getDefiningOp<AllocOp>()->getAttrOfType<FragmentAttr>(kPlacementAttr);
    llvm::Expected<Layout> inverse = invert(placement.getFragment());
    if (!inverse)
      return op.emitError() << "internal error: " << llvm::toString(inverse.takeError());
    for (int64_t slot = 0; slot < c.places.slots; ++slot) {
      SmallVector<Value> place{threadId, index(slot)}, coordinates;
      for (const IndexExpr &output : inverse->getOutputs())
        coordinates.push_back(evaluate(output, place));
      coordinates.pop_back(); // every copy computes its own
      // Places without an element compute a value that nothing reads, from clamped coordinates.
      Value row = arith::MinUIOp::create(b, coordinates[coordinates.size() - 2], index(m - 1));
      Value column = arith::MinUIOp::create(b, coordinates.back(), index(n - 1));
      storeRegister(c, slot, accumulate(row, column, loadRegister(c, slot)));
    }
    return success();
  }
  auto loop = scf::ForOp::create(b, threadId, index(m * n), index(kernel.getNumThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  IndexExpr number = IndexExpr::dim(0);
  Value row = evaluate(floorDiv(number, n), loop.getInductionVar());
  Value column = evaluate(number % n, loop.getInductionVar());
  Value old = loadMatrix(op.getC(), row, column, false);
  Value sum = accumulate(row, column, old);
  SmallVector<Value> coordinates{row, column};
  while (int64_t(coordinates.size()) < op.getC().getType().getRank())
    coordinates.insert(coordinates.begin(), index(0));
  storeAt(c, viewCoordinates(op.getC(), coordinates), sum);
  return success();
}

} // namespace tilewright::nvptx
