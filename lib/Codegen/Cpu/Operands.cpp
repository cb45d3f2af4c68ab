//===- Operands.cpp - matrices in the form a microkernel reads --------------------------------===//

#include "Operands.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

View tilewright::cpu::convertMatrix(Emitter &e, const View &view, MemRefType type, Type element,
                                    ReadAhead readAhead) {
  View scratch = e.buffers.makeScratch(type.getShape(), element);
  copyView(e, view, scratch, pairDimensions(e, view, type, scratch, type), readAhead);
  return scratch;
}

View tilewright::cpu::transposeMatrix(Emitter &e, const View &view, int64_t n, int64_t k,
                                      Type element) {
  View scratch =
      e.buffers.makeScratch({k, int64_t(llvm::alignTo(n, e.options.vectorWidth))}, element);
  int64_t width = e.options.vectorWidth * 32 / element.getIntOrFloatBitWidth();
  std::optional<Matrix> source = getMatrix(e, view, getStorageType(view.elementType));
  bool isSquareable = source && getConstantIntValue(source->columnStride) == 1 && n % width == 0 &&
                      k % width == 0 && !isa<FloatTF32Type>(view.elementType);
  if (!isSquareable) {
    e.loopNest({e.index(k), e.index(n)}, /*isParallel=*/true, [&](ArrayRef<Value> variables) {
      SmallVector<Value> index(view.getRank() - 2, e.index(0));
      index.append({variables[1], variables[0]});
      Value converted = e.numbers.convert(e.buffers.load(view, index), view.elementType, element);
      e.buffers.store(scratch, variables, converted);
    });
    return scratch;
  }
  Matrix target = *getMatrix(e, scratch, element);
  e.loopNest(
      {e.index(n / width), e.index(k / width)}, /*isParallel=*/false, [&](ArrayRef<Value> block) {
        Value firstRow = e.mul(block[0], e.index(width)),
              firstColumn = e.mul(block[1], e.index(width));
        SmallVector<Value> rows;
        for (int64_t row = 0; row < width; ++row) {
          Value stored = loadVector(e, *source, getStorageType(view.elementType), width,
                                    e.add(firstRow, e.index(row)), firstColumn);
          rows.push_back(e.numbers.convert(e.numbers.unpack(stored, view.elementType),
                                           view.elementType, element));
        }
        transposeSquare(e.b, rows);
        for (int64_t row = 0; row < width; ++row)
          storeVector(e, target, e.add(firstColumn, e.index(row)), firstRow, rows[row], width);
      });
  return scratch;
}

/// The operand as a matrix of sums: A of any strides, B contiguous along n.
static GemmOperand prepareSums(Emitter &e, const tile::OperandForm &form, MemRefType type,
                               const View &view, ReadAhead readAhead) {
  GemmOperand operand;
  operand.view = view;
  operand.isByPanels = form.isByPanels;
  if (form.isByPanels)
    return operand;
  std::optional<Matrix> inPlace = getMatrix(e, view, form.sumType);
  if (!form.isRight) {
    if (!inPlace)
      operand.view = convertMatrix(e, view, type, form.sumType, readAhead);
    return operand;
  }
  Value stride = !inPlace            ? Value()
                 : form.isTransposed ? inPlace->rowStride
                                     : inPlace->columnStride;
  if (stride && getConstantIntValue(stride) == 1)
    return operand;
  operand.isPacked = true;
  ArrayRef<int64_t> shape = type.getShape();
  operand.view = form.isTransposed
                     ? transposeMatrix(e, view, shape[shape.size() - 2], shape.back(), form.sumType)
                     : convertMatrix(e, view, type, form.sumType, readAhead);
  return operand;
}

GemmOperand tilewright::cpu::prepareOperand(Emitter &e, const tile::OperandForm &form,
                                            MemRefType type, const View &view, ReadAhead readAhead,
                                            Value smallest) {
  return form.isForDots ? prepareWords(e, form, type, view, readAhead, smallest)
                        : prepareSums(e, form, type, view, readAhead);
}
