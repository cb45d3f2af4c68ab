//===- LowerOperands.cpp - matrices in the form a microkernel reads ---------------------------===//
//
// A product reads A by single elements, of any strides, and B by vectors along n. Operands that lie
// so, and whose elements already are what is summed up, are used in place. Others are converted
// into scratch memory; a transposed B is turned around there, a square of vectors at a time.
//
// A tile that one copy fills is prepared behind the copy, once for all products (and turns of
// loops) that read it in the same form. Where no product reads the tile as it is, there is no need
// for it at all: operands are prepared from what would have been copied. Nor is there where those
// that do read it once and the tensor does not change: they read the tensor. The same goes for
// copies of tiles.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// The type in which products of these elements are summed up.
Type tilewright::cpu::getSumType(OpBuilder &b, Type operand, Type result) {
  if (isa<FloatType>(result)) {
    bool isWide = isa<Float64Type>(operand) || isa<Float64Type>(result);
    return isWide ? b.getF64Type() : b.getF32Type();
  }
  return result.getIntOrFloatBitWidth() > 32 ? b.getI64Type() : b.getI32Type();
}

/// The last two dimensions of a view as a matrix in place, if all of it exists, is laid out
/// row-major and holds accumulators.
std::optional<Lowering::Matrix> Lowering::getMatrix(const View &view, Type sumType) {
  if (view.root->layout || getStorageType(view.elementType) != sumType ||
      isa<FloatTF32Type>(view.elementType))
    return std::nullopt;
  SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, view.getRank()));
  std::optional<Window> window = windowOf(view, dims, view.extents);
  if (!window || !window->isWhole)
    return std::nullopt;
  SmallVector<Value> origin = toSurface(view, SmallVector<Value>(view.getRank(), index(0)));
  auto strideOf = [&](unsigned dim) {
    Value stride = view.steps[dim];
    for (Value extent : ArrayRef(view.surface).drop_front(view.dims[dim] + 1))
      stride = mul(stride, extent);
    return stride;
  };
  unsigned rank = view.getRank();
  return Matrix{view.root, addressOf(view, origin), strideOf(rank - 2), strideOf(rank - 1)};
}

/// A copy in scratch memory, converted to accumulators.
View Lowering::convertMatrix(const View &view, MemRefType type, Type sumType) {
  View scratch = makeScratch(type.getShape(), sumType);
  copyView(view, scratch, pairDimensions(view, type, scratch, type));
  return scratch;
}

/// After the stage of distance d, bit d of row and column number have changed places.
void tilewright::cpu::transposeSquare(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows) {
  int64_t width = rows.size();
  for (int64_t distance = 1; distance < width; distance *= 2) {
    SmallVector<int64_t> lower, upper;
    for (int64_t lane = 0; lane < width; ++lane) {
      bool isOwn = (lane & distance) == 0;
      lower.push_back(isOwn ? lane : width + lane - distance);
      upper.push_back(isOwn ? lane + distance : width + lane);
    }
    for (int64_t row = 0; row < width; ++row) {
      if (row & distance)
        continue;
      Value first = rows[row], second = rows[row + distance];
      rows[row] = vector::ShuffleOp::create(b, first, second, lower);
      rows[row + distance] = vector::ShuffleOp::create(b, first, second, upper);
    }
  }
}

/// B given as n x k becomes k x n in scratch memory, converted.
View Lowering::transposeMatrix(const View &view, int64_t n, int64_t k, Type sumType) {
  View scratch = makeScratch({k, int64_t(llvm::alignTo(n, options.vectorWidth))}, sumType);
  int64_t width = options.vectorWidth * 32 / sumType.getIntOrFloatBitWidth();
  std::optional<Matrix> source = getMatrix(view, getStorageType(view.elementType));
  bool isSquareable = source && getConstantIntValue(source->columnStride) == 1 && n % width == 0 &&
                      k % width == 0 && !isa<FloatTF32Type>(view.elementType);
  if (!isSquareable) {
    loopNest({index(k), index(n)}, /*isParallel=*/true, [&](ArrayRef<Value> variables) {
      SmallVector<Value> place(view.getRank() - 2, index(0));
      place.append({variables[1], variables[0]});
      Value element = numbers.convert(load(view, place), view.elementType, sumType);
      store(scratch, variables, element);
    });
    return scratch;
  }
  Matrix target = *getMatrix(scratch, sumType);
  loopNest({index(n / width), index(k / width)}, /*isParallel=*/false, [&](ArrayRef<Value> block) {
    Value firstRow = mul(block[0], index(width)), firstColumn = mul(block[1], index(width));
    SmallVector<Value> rows;
    for (int64_t row = 0; row < width; ++row) {
      Value stored = loadVector(*source, getStorageType(view.elementType), width,
                                add(firstRow, index(row)), firstColumn);
      rows.push_back(
          numbers.convert(numbers.unpack(stored, view.elementType), view.elementType, sumType));
    }
    transposeSquare(b, rows);
    for (int64_t row = 0; row < width; ++row)
      storeVector(target, add(firstColumn, index(row)), firstRow, rows[row], width);
  });
  return scratch;
}

/// The operand as a matrix of sums: A of any strides, B contiguous along n.
Lowering::Operand Lowering::prepareForFma(tile::GemmOp op, bool isB, const View &view) {
  tile::GemmOp::Extents extents = op.getExtents();
  Type sumType =
      getSumType(b, op.getA().getType().getElementType(), op.getC().getType().getElementType());
  MemRefType type = isB ? op.getB().getType() : op.getA().getType();
  Operand operand;
  operand.view = view;
  std::optional<Matrix> inPlace = getMatrix(view, sumType);
  if (!isB) {
    if (!inPlace)
      operand.view = convertMatrix(view, type, sumType);
    return operand;
  }
  bool isTransposed = op.getTransposeB();
  Value stride = !inPlace ? Value() : isTransposed ? inPlace->rowStride : inPlace->columnStride;
  if (stride && getConstantIntValue(stride) == 1)
    return operand;
  operand.isPacked = true;
  operand.view = isTransposed ? transposeMatrix(view, extents.n, extents.k, sumType)
                              : convertMatrix(view, type, sumType);
  return operand;
}

//===----------------------------------------------------------------------------------------===//
// Operands that copies fill
//===----------------------------------------------------------------------------------------===//

/// The operand in the form its product wants, made here or where its tile was filled.
Lowering::Operand Lowering::getOperand(tile::GemmOp op, bool isB, const View &view) {
  if (auto it = scope->prepared.find({op, isB}); it != scope->prepared.end())
    return it->second;
  return usesDots(op) ? prepareForDots(op, isB, view) : prepareForFma(op, isB, view);
}

/// Whether the product reads this operand's elements as a tile has them.
bool Lowering::isReadInPlace(tile::GemmOp op, bool isB) {
  Type element = (isB ? op.getB() : op.getA()).getType().getElementType();
  if (usesDots(op))
    return element.isBF16() && !isB && !op.getTransposeA();
  Type sumType =
      getSumType(b, op.getA().getType().getElementType(), op.getC().getType().getElementType());
  return getStorageType(element) == sumType && !isa<FloatTF32Type>(element) &&
         !(isB && op.getTransposeB());
}

/// Up to so many rows of A, B is read from a tensor.
static constexpr int64_t kMaxRowsOverTensor = 128;

/// None if anything but the copy may write the tile.
Lowering::OperandReaders Lowering::findReaders(tile::CopyOp copy) {
  OperandReaders found;
  auto alloc = copy.getDest().getDefiningOp<tile::AllocOp>();
  if (!alloc || !scope->arena || !copy.getDest().getType().hasStaticShape())
    return found;
  for (OpOperand &use : alloc.getBuffer().getUses()) {
    Operation *user = use.getOwner();
    if (user == copy || isa<tile::AnnotateLayoutOp>(user))
      continue;
    if (isa<tile::LoadOp>(user)) {
      found.areAll = false;
      continue;
    }
    auto gemm = dyn_cast<tile::GemmOp>(user);
    bool isA = gemm && &use == &gemm.getAMutable(), isB = gemm && &use == &gemm.getBMutable();
    if (!isA && !isB)
      return {}; // may write it
    Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*gemm);
    bool isBehind = ancestor && copy->isBeforeInBlock(ancestor) &&
                    isa<tile::GemmOp, tile::PipelinedOp, scf::ForOp>(ancestor);
    bool isStatic =
        llvm::all_of(ArrayRef<Value>{gemm.getA(), gemm.getB(), gemm.getC()}, [](Value value) {
          return cast<MemRefType>(value.getType()).hasStaticShape();
        });
    if (isBehind && isStatic)
      found.readers.push_back({gemm, isB});
    else
      found.areAll = false;
  }
  return found;
}

/// What is copied from or to a tile, as a matrix of the tile's shape; nothing
/// unless all of it exists in rows and nothing is converted.
std::optional<View> Lowering::getDirectMatrix(Value other, Value tile) {
  View source = getView(other), dest = getView(tile);
  if (source.elementType != dest.elementType || dest.getRank() != 2)
    return std::nullopt;
  Pairing pairing = pairDimensions(source, cast<MemRefType>(other.getType()), dest,
                                   cast<MemRefType>(tile.getType()));
  if (pairing.source.size() != 2)
    return std::nullopt;
  View matrix = source;
  matrix.dims.clear();
  matrix.steps.clear();
  matrix.extents.clear();
  for (unsigned dim : pairing.source) {
    matrix.dims.push_back(source.dims[dim]);
    matrix.steps.push_back(source.steps[dim]);
    matrix.extents.push_back(source.extents[dim]);
  }
  return isContiguousAlong(matrix, 1) ? std::optional(matrix) : std::nullopt;
}

/// Whether no statement of the kernel, of this or of another block, writes the tensor.
bool Lowering::isNeverWritten(tile::KernelOp kernel, Value tensor) {
  return options.calls.disjointArguments && !tile::mayWrite(kernel, tensor);
}

/// Whether what the copy reads stays as it is until the products behind it, in the same block, have
/// read the tile. Of a tensor, no block of the kernel may write anything.
bool Lowering::staysUntilRead(tile::CopyOp copy, const OperandReaders &found) {
  Value root = tile::getRoot(copy.getSource());
  auto kernel = copy->getParentOfType<tile::KernelOp>();
  if (!kernel || !tile::isOwnBuffer(root))
    return false;
  if (tile::getSpace(root) == tile::Space::Global)
    return isNeverWritten(kernel, root);
  Operation *last = copy;
  for (auto [gemm, isB] : found.readers)
    if (gemm->getBlock() == copy->getBlock() && last->isBeforeInBlock(gemm))
      last = gemm;
  for (Operation *op = copy; op != last; op = op->getNextNode())
    if (tile::mayWrite(op->getNextNode(), root))
      return false;
  return true;
}

/// Whether a product that reads its operand as the tile has it may as well read what was copied: it
/// does so once in a turn. Of a tensor, B is read again for every few rows of A. That pays for a
/// copy if they are many, or if vectors are short: of each of B's rows, which may lie such that
/// they take each other's place in the first cache, a pass then reads only a line.
bool Lowering::isReadOnce(tile::CopyOp copy, const OperandReaders::Reader &reader) {
  auto [gemm, isB] = reader;
  bool isCheap = !isB || getView(copy.getSource()).root->isOnChip() ||
                 (options.vectorWidth >= 16 && gemm.getExtents().m <= kMaxRowsOverTensor);
  return isCheap && gemm->getBlock() == copy->getBlock();
}

/// What is copied, as a matrix that stands for the tile, if nobody needs the tile: all products
/// read operands that are prepared from it, or, where it `stays` as it is, read it themselves.
std::optional<View> Lowering::findDirectSource(tile::CopyOp copy, const OperandReaders &found,
                                               bool stays) {
  auto needsTile = [&](const OperandReaders::Reader &reader) {
    return isReadInPlace(reader.first, reader.second) && !(stays && isReadOnce(copy, reader));
  };
  if (!found.areAll || found.readers.empty() || llvm::any_of(found.readers, needsTile))
    return std::nullopt;
  return getDirectMatrix(copy.getSource(), copy.getDest());
}

void Lowering::lowerTileCopy(tile::CopyOp copy) {
  if (auto written = scope->written.find(copy); written != scope->written.end()) {
    if (Value isSkipped = written->second)
      ifTrue(isSkipped, [&] { lowerCopy(copy.getSource(), copy.getDest()); });
    return;
  }
  OperandReaders found = findReaders(copy);
  std::optional<View> direct = findDirectSource(copy, found, staysUntilRead(copy, found));
  bool isWork = !direct || llvm::any_of(found.readers, [&](const OperandReaders::Reader &reader) {
    return usesDots(reader.first) || !isReadInPlace(reader.first, reader.second);
  });
  if (!found.readers.empty() && isWork && isKept(copy))
    keepTile(copy, found);
  else
    fillTile(copy, found, direct);
}

/// Fills the tile, unless `direct` stands for it, and prepares the operands of the products that
/// read it.
void Lowering::fillTile(tile::CopyOp copy, const OperandReaders &found,
                        const std::optional<View> &direct) {
  if (!direct)
    lowerCopy(copy.getSource(), copy.getDest());
  View source = direct ? *direct : getView(copy.getDest());
  // What is packed comes first, since the smallest magnitude is found on the way.
  SmallVector<OperandReaders::Reader> readers;
  for (bool isInPlace : {false, true})
    llvm::copy_if(found.readers, std::back_inserter(readers), [&](const auto &reader) {
      return isReadInPlace(reader.first, reader.second) == isInPlace;
    });
  // Products share an operand that they read in the same form, and all what is known of the tile.
  using Form = std::tuple<bool, bool, bool, Type, Type>;
  SmallVector<std::pair<Form, Operand>, 2> made;
  Value smallest;
  for (auto [gemm, isB] : readers) {
    MemRefType other = (isB ? gemm.getA() : gemm.getB()).getType();
    Form form{usesDots(gemm), isB, isB ? gemm.getTransposeB() : gemm.getTransposeA(),
              other.getElementType(), gemm.getC().getType().getElementType()};
    auto *same = llvm::find_if(made, [&](const auto &entry) { return entry.first == form; });
    if (same == made.end()) {
      made.push_back({form, usesDots(gemm) ? prepareForDots(gemm, isB, source, smallest)
                                           : prepareForFma(gemm, isB, source)});
      same = made.end() - 1;
      if (!smallest)
        smallest = same->second.smallest;
    }
    scope->prepared[{gemm, isB}] = same->second;
  }
}
