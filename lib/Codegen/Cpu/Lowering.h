//===- Lowering.h - from tile IR to loops on pointers -------------------------------*- C++ -*-===//
//
// One walk over a function of tile IR builds, op by op, host functions of scf, arith, math, vector
// and LLVM memory operations. Nothing is rewritten in place: `Lowering` reads the old IR, and every
// old value has its new one in the maps of the current `Scope`.
//
//   Outline.cpp          the host function, one block function a kernel, what passes between them
//   LowerControl.cpp     T.Pipelined, loops, branches
//   LowerParallel.cpp    T.Parallel
//   LowerScalars.cpp     arithmetic with the language's corners
//   LowerFunctions.cpp   exp, log, tanh and their family
//   Buffers.cpp          views, addresses, bounds, loads and stores
//   LowerCopy.cpp        copies, fills, im2col
//   LowerStreams.cpp     rows of tensors larger than the caches
//   LowerPrefetch.cpp    what the next turn of a loop will copy, and what products will update
//   LowerReduce.cpp      reductions and running sums
//   LowerAtomics.cpp     atomic updates and reducers
//   LowerUpdates.cpp     atomic updates of whole tiles under locks
//   LowerGemm.cpp        matrix products
//   LowerSums.cpp        the tiles they sum up in
//   LowerOperands.cpp    their operands, converted and turned around
//   LowerKeptTiles.cpp   operands that serve several blocks
//   LowerDots.cpp        the same by dot products of bfloat16 and int8
//   LowerNotes.cpp       print, assert
//   Services.cpp         calls of the runtime
//
// Expects tile IR that passed its verifier and tile-check-parallel. What it leaves has no tile op.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_LOWERING_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_LOWERING_H

#include "Combiner.h"
#include "Numbers.h"
#include "Ranges.h"
#include "tilewright/Codegen/Cpu/Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {
struct ContiguousBox;
}

namespace tilewright::cpu {

/// An allocation or argument inside the function being built.
struct Root {
  mlir::Value pointer;
  mlir::Type elementType;
  tile::Space space = tile::Space::Global;
  llvm::SmallVector<mlir::Value, 4> extents; ///< Logical, of index type.
  std::string name;
  /// Of a global tensor with a layout: the place of an element (dims 0 to rank - 1), a formula of
  /// the extents (the other dims).
  std::optional<IndexExpr> layout;
  bool hasLockedUpdates = false; ///< Some atomic update needs more than an instruction.
  mlir::TypedAttr safeValue;     ///< What a read outside gives; zero if null.
  /// Accesses to different roots with a scope do not overlap; null where that is not known.
  mlir::ArrayAttr ownScope;
  mlir::ArrayAttr otherScopes;
  bool isVariable = false; ///< A rank-0 local on the stack.

  bool isOnChip() const { return space != tile::Space::Global; }
};

/// A part of a root as the program sees it: element `x` of the view is element `base + steps * x`
/// (spread over `dims`) of the surface, a shape laid row-major over the whole root.
struct View {
  const Root *root = nullptr;
  mlir::Type elementType;
  llvm::SmallVector<mlir::Value, 4> surface;
  llvm::SmallVector<mlir::Value, 4> base;
  llvm::SmallVector<unsigned, 4> dims;
  llvm::SmallVector<mlir::Value, 4> steps;
  llvm::SmallVector<mlir::Value, 4> extents;

  unsigned getRank() const { return extents.size(); }
};

/// The type in which products of these elements are summed up.
mlir::Type getSumType(mlir::OpBuilder &b, mlir::Type operand, mlir::Type result);

/// Turns a square of vectors around.
void transposeSquare(mlir::ImplicitLocOpBuilder &b, llvm::MutableArrayRef<mlir::Value> rows);

/// An operand of a product in the form its microkernel reads.
struct GemmOperand {
  View view;
  bool isPacked = false;          ///< B was turned around if it was transposed; words were made.
  mlir::Value smallest;           ///< Of bfloat16: the bits of the smallest magnitude, as an i32.
  std::optional<View> columnSums; ///< Of bytes: 128 times B's.
};

/// What a product begins with instead of the contents of its tile.
struct GemmStart {
  View row;              ///< Stands for all rows.
  mlir::Value isSkipped; ///< Whether the product never runs; null if it does.
};

/// What belongs to the function being built.
struct Scope {
  llvm::DenseMap<mlir::Value, mlir::Value> values; ///< Old scalars to carriers.
  llvm::DenseMap<mlir::Value, std::unique_ptr<Root>> roots;
  llvm::DenseMap<mlir::Value, View> views;               ///< Slices and views.
  llvm::DenseMap<mlir::Operation *, mlir::Value> stored; ///< What loads found, as it was there.
  std::vector<std::unique_ptr<Root>> scratch;
  /// Operands of products that were prepared where their tiles are filled; 1 stands for B.
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, GemmOperand> prepared;
  /// What copies read in the next turn, by the product that asks for it.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<View, 1>> nextTiles;
  llvm::DenseMap<mlir::Operation *, GemmStart> starts;
  /// Copies of sums that products write themselves, unless they are skipped.
  llvm::DenseMap<mlir::Operation *, mlir::Value> written;
  mlir::Value services;
  mlir::Value arena;            ///< Null in the host function.
  int64_t arenaBytes = 0;       ///< Taken so far.
  int64_t numKept = 0;          ///< Copies that look whether their tile is still filled.
  int64_t numAllocations = 0;   ///< Of memory whose size only the launch knows.
  mlir::Block *entry = nullptr; ///< Where allocas and addresses of tiles stand.
  bool hasAtomics = false;      ///< Other blocks may learn in the middle what this one has written.
  bool hasUnfenced = false;     ///< Stores past the caches are fenced when all blocks are done.
  /// The alias scopes of this function's buffers; null stands for scratch memory.
  llvm::MapVector<mlir::Value, mlir::LLVM::AliasScopeAttr> scopes;
};

/// The services of the runtime, by their positions in host::Services.
enum class Service : unsigned {
  Launch,
  Allocate,
  AllocateInBlock,
  Fail,
  Print,
  LockRow,
  UnlockRow,
  Poll
};

/// A loop nest's body gets the induction variables.
using NestBody = llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)>;
/// That of a loop which carries values gets its variable and them, and gives the next ones.
using CarryingBody =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;

/// How many turns the loops of a region may have, those inside others multiplied; a large number
/// where that is not known.
int64_t countTurns(mlir::Region &region);
/// Whether a loop works on whole tiles, element-wise loops aside.
bool hasStatement(mlir::Operation *loop);

class LoopVectorizer;

class Lowering {
public:
  Lowering(mlir::ModuleOp target, const LowerOptions &options);

  /// Builds the functions for `function`. Errors are emitted at its ops.
  mlir::LogicalResult lowerFunction(mlir::func::FuncOp function);

private:
  // Outline.cpp
  void lowerKernel(tile::KernelOp kernel);
  void bindArguments(mlir::func::FuncOp function, mlir::Value slots);
  void bindAnnotations(tile::KernelOp kernel);
  void lowerBlocks(tile::KernelOp kernel, mlir::Value gridPointer, mlir::Value first,
                   mlir::Value last);
  void createScopes(tile::KernelOp kernel, llvm::ArrayRef<mlir::Value> captured);
  Root &addRoot(mlir::Value old);
  void lowerAlloc(tile::AllocOp op);
  /// The extents that a shape attribute computes from the symbols of the function.
  llvm::SmallVector<mlir::Value, 4> evaluateShape(tile::ShapeAttr shape,
                                                  mlir::func::FuncOp function);

  // LowerControl.cpp
  void lowerRegion(mlir::Region &region);
  void lowerOp(mlir::Operation &op);
  void lowerLoad(tile::LoadOp op);
  void lowerStore(tile::StoreOp op);
  bool hasOneTurn(mlir::Operation *op);
  void lowerPipelined(tile::PipelinedOp op);
  void lowerFor(mlir::scf::ForOp op);
  void lowerIf(mlir::scf::IfOp op);
  void lowerWhile(mlir::scf::WhileOp op);
  /// Loops from `lowers` to `uppers`, the last one innermost. If `isParallel` the iterations of the
  /// innermost one are independent and marked so. An iteration has loops of `bodyTurns` turns.
  void loopNest(llvm::ArrayRef<mlir::Value> lowers, llvm::ArrayRef<mlir::Value> uppers,
                bool isParallel, NestBody body, int64_t bodyTurns = 1);
  void loopNest(llvm::ArrayRef<mlir::Value> extents, bool isParallel, NestBody body);
  void markParallel(mlir::scf::ForOp loop, mlir::LLVM::AccessGroupAttr group);
  void loopNestWithoutPolls(llvm::ArrayRef<mlir::Value> lowers, llvm::ArrayRef<mlir::Value> uppers,
                            bool isParallel, NestBody body);
  /// A sequential loop that carries values from iteration to iteration.
  llvm::SmallVector<mlir::Value> loopCarrying(mlir::Value lower, mlir::Value upper,
                                              mlir::Value step, mlir::ValueRange initial,
                                              CarryingBody body);
  void ifTrue(mlir::Value condition, llvm::function_ref<void()> body);

  // LowerPolls.cpp
  bool canPoll() const;
  std::optional<int64_t> getPollInterval(llvm::ArrayRef<mlir::Value> lowers,
                                         llvm::ArrayRef<mlir::Value> uppers, int64_t bodyTurns);
  /// `loopCarrying` for a loop of the program, which can be stopped in between.
  llvm::SmallVector<mlir::Value> loopWithPolls(mlir::scf::ForOp op, mlir::Value lower,
                                               mlir::Value upper, mlir::Value step,
                                               CarryingBody body);

  // LowerParallel.cpp
  /// A reducer's element that a row of iterations updates, held in a register meanwhile.
  struct CarriedSum {
    tile::ReducerUpdateOp update;
    Combiner combiner;
    mlir::Value operand; ///< What an iteration brings.
    mlir::Value current; ///< What it leaves.
  };
  /// The buffers that the accesses of a row touch.
  struct RowAccess {
    const Root *root = nullptr;
    bool isAgain = false; ///< An earlier loop has read the same elements.
  };
  using RowAccesses = llvm::DenseMap<mlir::Operation *, RowAccess>;
  void lowerParallel(tile::ParallelOp op);
  void lowerIteration(tile::ParallelOp op, llvm::ArrayRef<mlir::Value> variables);
  void lowerRow(tile::ParallelOp op, llvm::ArrayRef<mlir::Value> outer, mlir::Value extent,
                llvm::ArrayRef<tile::ReducerUpdateOp> carried);
  /// What the next row will read, asked for while a later statement works on this one.
  struct NextRow {
    tile::ParallelOp during;
    mlir::Value start;  ///< Of the present row.
    mlir::Value length; ///< From a row to the next, in elements.
    mlir::Type elementType;
  };
  tile::ParallelOp findWork(tile::ParallelOp op, mlir::Value extent);
  bool leaveNextRow(tile::ParallelOp op, LoopVectorizer &vectorizer, const RowAccesses &roots,
                    mlir::Value extent);
  mlir::LLVM::StoreOp findStreamedStore(const LoopVectorizer &vectorizer, const RowAccesses &roots,
                                        mlir::Value extent);
  void askForNextRow(tile::ParallelOp op, mlir::Value position);
  llvm::SmallVector<mlir::Value> runAsVectors(tile::ParallelOp op, mlir::scf::ForOp loop,
                                              llvm::MutableArrayRef<CarriedSum> sums,
                                              const RowAccesses &accesses);
  template <typename... AccessTs> bool touchesStreamed(tile::ParallelOp op, mlir::Value extent);
  static bool isReadAgain(tile::LoadOp load);

  // LowerScalars.cpp, LowerFunctions.cpp
  bool lowerScalar(mlir::Operation &op);
  mlir::Value lowerInteger(mlir::Operation &op);
  enum class Division { FloorDiv, FloorMod, TruncDiv, TruncMod };
  mlir::Value divide(Division kind, mlir::Value lhs, mlir::Value rhs, bool isUnsigned);
  mlir::Value divideSigned(Division kind, mlir::Value lhs, mlir::Value rhs);
  mlir::Value shift(mlir::Value lhs, mlir::Value rhs, bool isLeft, bool isUnsigned);
  mlir::Value lowerFloat(mlir::Operation &op);
  mlir::Value lowerFunctionOp(mlir::Operation &op);

  // Buffers.cpp
  View getView(mlir::Value buffer);
  View makeWholeView(const Root &root);
  View makeSlice(tile::SliceOp op);
  View makeView(tile::ViewOp op);
  /// The position of an element on the surface, one coordinate a dimension.
  llvm::SmallVector<mlir::Value> toSurface(const View &view, llvm::ArrayRef<mlir::Value> index);
  /// Whether the element exists; null if that is proven.
  mlir::Value isInside(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  mlir::Value addressOf(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  mlir::Value offsetThroughLayout(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  /// An element in its storage type, at an address or through a layout that tears it apart.
  mlir::Value loadAt(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  void storeAt(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex, mlir::Value stored);
  /// Elements by their index in the view. Reads outside give the safe value, writes are dropped;
  /// on chip both end the launch. Stored form and carrier.
  mlir::Value loadStored(const View &view, llvm::ArrayRef<mlir::Value> index);
  void storeStored(const View &view, llvm::ArrayRef<mlir::Value> index, mlir::Value stored);
  mlir::Value load(const View &view, llvm::ArrayRef<mlir::Value> index) {
    return numbers.unpack(loadStored(view, index), view.elementType);
  }
  void store(const View &view, llvm::ArrayRef<mlir::Value> index, mlir::Value carrier) {
    storeStored(view, index, numbers.pack(carrier, view.elementType));
  }
  /// Whether all elements exist and neighbours along `dim` are neighbours in memory.
  bool isContiguousAlong(const View &view, unsigned dim);
  /// `width` such neighbours from `index` on, in their storage type.
  mlir::Value loadVector(const View &view, llvm::ArrayRef<mlir::Value> index, int64_t width);
  void storeVector(const View &view, llvm::ArrayRef<mlir::Value> index, mlir::Value stored);
  mlir::Value safeStored(const View &view);
  void failOutside(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  /// Says of an access what is known: which buffers it cannot touch, and that it belongs to a loop
  /// whose iterations are independent. A variable on the stack becomes a register and needs
  /// neither.
  template <typename OpT> OpT tagged(OpT op, const Root *root) {
    if (rowAccesses)
      (*rowAccesses)[op] = {root, readsAgain};
    if (root->isVariable)
      return op;
    if (root->ownScope) {
      op.setAliasScopesAttr(root->ownScope);
      op.setNoaliasScopesAttr(root->otherScopes);
    }
    if (parallelGroup)
      op.setAccessGroupsAttr(b.getArrayAttr({parallelGroup}));
    return op;
  }
  mlir::Value evaluate(const IndexExpr &expr, llvm::ArrayRef<mlir::Value> dims,
                       llvm::ArrayRef<mlir::Value> symbols);
  /// A tile of scratch memory, for statements whose operands overlap and for packed matrices, in
  /// the worker's arena.
  View makeScratch(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
  /// The same with extents that only the launch knows, valid until the statement runs again.
  View makeScratch(llvm::ArrayRef<mlir::Value> extents, mlir::Type elementType);
  View addScratch(llvm::ArrayRef<mlir::Value> extents, mlir::Type elementType, mlir::Value pointer);

  // LowerCopy.cpp
  /// The part of a loop nest over a view in which its elements exist.
  struct Window {
    llvm::SmallVector<mlir::Value> lowers, uppers; ///< One a loop.
    mlir::Value condition; ///< Of the dimensions that no loop runs over; null if always true.
    bool isWhole = true;   ///< Proven: every element exists.
  };
  /// Nothing where the bounds are not intervals (steps other than 1), or the view is on chip and an
  /// element outside is an error.
  std::optional<Window> windowOf(const View &view, llvm::ArrayRef<unsigned> loopDims,
                                 llvm::ArrayRef<mlir::Value> extents);
  /// The pairs of dimensions that an element-wise statement runs over, and their extents.
  struct Pairing {
    llvm::SmallVector<unsigned> source, dest;
    llvm::SmallVector<mlir::Value> extents;
  };
  Pairing pairDimensions(const View &source, mlir::MemRefType sourceType, const View &dest,
                         mlir::MemRefType destType);
  llvm::SmallVector<mlir::Value> spread(const View &view, llvm::ArrayRef<unsigned> dims,
                                        llvm::ArrayRef<mlir::Value> variables);
  /// `source`, or a copy of it in scratch memory if it is a part of the root that is written.
  View separateFrom(const View &dest, const View &source, mlir::MemRefType sourceType);
  mlir::Value convertStored(mlir::Value stored, mlir::Type from, mlir::Type to);
  void copyView(const View &source, const View &dest, const Pairing &pairing);
  void copyWindow(const View &source, const View &dest, const Pairing &pairing,
                  const Window &sourceWindow, const Window &destWindow);
  void lowerCopy(mlir::Value source, mlir::Value dest);
  void lowerFill(tile::FillOp op);
  void fillView(const View &dest, mlir::Value value);
  void lowerIm2col(tile::Im2colOp op);

  // LowerStreams.cpp
  static constexpr int64_t kCacheLine = 64;
  /// Whether rows of so many elements of a tensor are read ahead and written past the caches.
  bool isStreamed(const Root &root, mlir::Value rowLength);
  bool isStreamed(const View &source, const View &dest, const Pairing &pairing, const Root &large);
  bool movesRows(const View &source, const View &dest, const Pairing &pairing);
  bool readsAhead(const View &source, const View &dest, const Pairing &pairing);
  void copyReadingAhead(const View &source, const View &dest, const Pairing &pairing);
  void copyStreaming(const View &source, const View &dest, const Pairing &pairing);
  void readAhead(mlir::Value address);
  void noteStreamedStores();
  void fenceStores();

  // LowerPrefetch.cpp
  /// The loop whose body is being lowered, and its variables in the next turn.
  struct NextTurn {
    mlir::Region *region;
    llvm::DenseMap<mlir::Value, mlir::Value> values;
  };
  bool isReadAhead(const View &view);
  /// What a part of a tensor is in memory: stretches of so many lines each.
  struct Stretches {
    int64_t count, lines;
    std::function<mlir::Value(mlir::Value number)> startOf; ///< The address of one.
  };
  std::optional<Stretches> findStretches(const View &view);
  std::optional<View> findUpdated(tile::GemmOp op);
  std::optional<View> findNextTile(tile::CopyOp copy);
  void lowerCopyAndPrefetch(tile::CopyOp copy);

  // LowerReduce.cpp
  void lowerReduce(tile::ReduceOp op);
  void lowerCumsum(tile::CumsumOp op);

  // LowerAtomics.cpp
  void lowerAtomic(tile::AtomicOp op);
  void lowerAtomicElement(tile::AtomicElementOp op);
  void lowerReducerUpdate(tile::ReducerUpdateOp op);
  mlir::Value combine(tile::AtomicKind kind, mlir::Type elementType, mlir::Value old,
                      mlir::Value operand);
  mlir::Value updateElement(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex,
                            tile::AtomicKind kind, tile::MemoryOrder order, mlir::Value operand);
  mlir::Value updateByExchange(const View &view, mlir::Value address, tile::AtomicKind kind,
                               mlir::LLVM::AtomicOrdering order, mlir::Value operand);

  // LowerUpdates.cpp
  struct TileUpdate;
  bool isGuardedByRows(tile::AtomicOp op);
  void updateRows(tile::AtomicOp op);
  /// The smallest box of a tensor's layout of a multiple of `unit` elements, if not more than
  /// `limit`.
  static std::optional<ContiguousBox> findBox(const Root &root, int64_t unit, int64_t limit);
  llvm::SmallVector<mlir::Value, 2> lockOf(const TileUpdate &update,
                                           llvm::ArrayRef<mlir::Value> surfaceIndex);
  void updateByRows(const TileUpdate &update, const Window &window);
  bool canUpdateBoxes(const TileUpdate &update);
  mlir::Value startsAtBox(const TileUpdate &update, const Window &window);
  void updateByBoxes(const TileUpdate &update);
  llvm::SmallVector<mlir::Value> gatherBox(const TileUpdate &update,
                                           llvm::ArrayRef<mlir::Value> start, int64_t width);
  void updateBox(const TileUpdate &update, llvm::ArrayRef<mlir::Value> start);

  // LowerGemm.cpp
  void lowerGemm(tile::GemmOp op);
  /// A matrix of accumulators: element (r, c) is `pointer[r * rowStride + c * columnStride]`.
  struct Matrix {
    const Root *root;
    mlir::Value pointer;
    mlir::Value rowStride, columnStride;

    Matrix transposed() const { return {root, pointer, columnStride, rowStride}; }
  };
  /// C = source + A * B over m x n x k, with all but A contiguous along n.
  struct Product {
    /// What one step along k does with an element of A, spread, and a vector of B. The dot products
    /// take 32-bit words: two bfloat16, or four bytes of which one side is unsigned.
    enum class Step { Fma, DotBf16, DotUnsignedSigned, DotSignedUnsigned };

    Matrix a, b, c, source;
    int64_t m, n, k; ///< k counts elements of `operandType`.
    mlir::Type sumType;
    mlir::Type operandType; ///< Of A and B: `sumType`, or i32 for words.
    Step step;
    int64_t width;                ///< Elements of a vector of sums.
    int64_t alignmentA;           ///< Bytes.
    bool isCompact;               ///< Seldom runs: little code before speed.
    bool isPadded;                ///< B's rows may be read to the end of the last vector.
    bool startsAtZero;            ///< The source is added to the finished sum, not before it.
    bool isFarAway;               ///< C is not in the caches, and asked for before it is written.
    std::optional<Matrix> excess; ///< One row: by how much each column's sums come out too large.
    llvm::SmallVector<Stretches, 1> ahead; ///< What is asked for on the way, a line a step along k.
  };
  using Operand = GemmOperand;
  std::optional<Matrix> getMatrix(const View &view, mlir::Type sumType);
  View convertMatrix(const View &view, mlir::MemRefType type, mlir::Type sumType);
  View transposeMatrix(const View &view, int64_t n, int64_t k, mlir::Type sumType);
  mlir::Value addressIn(const Matrix &matrix, mlir::Type element, mlir::Value row,
                        mlir::Value column);
  mlir::Value loadVector(const Matrix &matrix, mlir::Type element, int64_t width, mlir::Value row,
                         mlir::Value column, int64_t count = -1);
  void storeVector(const Matrix &matrix, mlir::Value row, mlir::Value column, mlir::Value value,
                   int64_t count);
  void multiplyBlock(const Product &product, int64_t rows, int64_t columns, mlir::Value row,
                     mlir::Value column, mlir::Value number);
  void multiplyMatrices(const Product &product);
  void askAhead(tile::GemmOp op, Product &product);
  void prefetchLines(const Product &product, mlir::Value block, mlir::Value k);
  Operand prepareForFma(tile::GemmOp op, bool isB, const View &view);
  void multiplyByFma(tile::GemmOp op, const Operand &a, const Operand &other, Product product);
  Operand getOperand(tile::GemmOp op, bool isB, const View &view);
  /// The products behind a copy that read the tile it fills.
  struct OperandReaders {
    using Reader = std::pair<tile::GemmOp, bool>; ///< Whether it is B.
    llvm::SmallVector<Reader> readers;
    bool areAll = true; ///< Nothing else reads the tile.
  };
  OperandReaders findReaders(tile::CopyOp copy);
  bool isReadInPlace(tile::GemmOp op, bool isB);
  std::optional<View> getDirectMatrix(mlir::Value other, mlir::Value tile);
  bool isNeverWritten(tile::KernelOp kernel, mlir::Value tensor);
  bool staysUntilRead(tile::CopyOp copy, const OperandReaders &found);
  bool isReadOnce(tile::CopyOp copy, const OperandReaders::Reader &reader);
  std::optional<View> findDirectSource(tile::CopyOp copy, const OperandReaders &found, bool stays);
  void lowerTileCopy(tile::CopyOp copy);
  void fillTile(tile::CopyOp copy, const OperandReaders &found, const std::optional<View> &direct);
  mlir::Value multiplyAdd(const Product &product, mlir::Value left, mlir::Value right,
                          mlir::Value sum);
  void multiplyPlainly(tile::GemmOp op, const View &a, const View &bView, const View &c,
                       mlir::Type sumType);

  // LowerKeptTiles.cpp
  bool isKept(tile::CopyOp copy);
  View renew(View view);
  void keepTile(tile::CopyOp copy, const OperandReaders &found);

  // LowerSums.cpp
  struct SumTile;
  std::optional<SumTile> findSumTile(mlir::Value buffer);
  std::optional<mlir::Value> hasNoTurn(SumTile sums);
  bool startSums(tile::FillOp fill);
  bool canWriteEarly(SumTile sums);
  bool lowerAhead(mlir::Value value, mlir::Operation *place);
  std::optional<Matrix> findTarget(SumTile sums, mlir::Type sumType);
  Matrix chooseMatrix(mlir::Value condition, const Matrix &yes, const Matrix &no);
  void redirectSums(tile::GemmOp op, Product &product);

  // LowerDots.cpp
  bool usesDots(tile::GemmOp op);
  Operand prepareForDots(tile::GemmOp op, bool isB, const View &view, mlir::Value smallest = {});
  void multiplyByDots(tile::GemmOp op, const View &a, const View &bView, Product product);
  View asWords(const View &view, mlir::MemRefType type);
  std::optional<Matrix> getWords(const View &view);
  mlir::Value loadWords(const View &view, mlir::Value row, mlir::Value column, int64_t width);
  View transposeWords(const View &view, mlir::MemRefType type, int64_t rows, int64_t columns);
  View widenWords(const View &words, int64_t rows, int64_t columns);
  View interleaveRows(const View &view, int64_t rows, int64_t columns, mlir::Value &smallest);
  mlir::Value findSmallest(int64_t rows, int64_t columns, int64_t width,
                           llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> wordsAt);
  mlir::Value areFarFromSubnormal(mlir::Value smallestA, mlir::Value smallestB);
  View flipSigns(const View &view, int64_t rows, int64_t columns);
  View sumColumns(const View &words, int64_t rows, int64_t columns);
  mlir::Value dotBf16(mlir::Value left, mlir::Value right, mlir::Value sum);
  mlir::Value dotInt8(mlir::Value unsignedBytes, mlir::Value signedBytes, mlir::Value sum);

  // LowerNotes.cpp, Services.cpp
  void lowerPrint(tile::PrintOp op);
  void callService(Service member, llvm::ArrayRef<mlir::Value> operands);
  void callPoll();
  mlir::Value callAllocate(mlir::Value bytes);
  mlir::Value callAllocateInBlock(mlir::Value bytes);
  /// `named`, of 64 bits, takes the place of a character 1 in the message.
  void callFail(llvm::StringRef message, mlir::Value named = {});
  mlir::Value makeText(llvm::StringRef text);

  // Small pieces.
  /// How many elements of this type a vector has.
  int64_t getVectorWidth(mlir::Type elementType) {
    return options.vectorWidth * 32 / tile::getStorageBits(elementType);
  }
  mlir::Value index(int64_t value) { return numbers.integer(b.getIndexType(), value); }
  mlir::Value lookup(mlir::Value old) { return scope->values.lookup(old); }
  llvm::SmallVector<mlir::Value> lookupAll(mlir::ValueRange old) {
    return llvm::map_to_vector(old, [&](mlir::Value value) { return lookup(value); });
  }
  void define(mlir::Value old, mlir::Value now) { scope->values[old] = now; }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    return b.createOrFold<mlir::arith::AddIOp>(lhs, rhs);
  }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) {
    return b.createOrFold<mlir::arith::SubIOp>(lhs, rhs);
  }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) {
    return b.createOrFold<mlir::arith::MulIOp>(lhs, rhs);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs) {
    return b.createOrFold<mlir::arith::CmpIOp>(predicate, lhs, rhs);
  }
  mlir::Value bothTrue(mlir::Value lhs, mlir::Value rhs); ///< Null counts as true.
  mlir::Value toI64(mlir::Value index) {
    return b.createOrFold<mlir::arith::IndexCastOp>(b.getI64Type(), index);
  }
  mlir::Value asIndex(mlir::OpFoldResult value);
  mlir::Value allocaAtEntry(mlir::Type type, int64_t count);
  mlir::Value offsetPointer(mlir::Value pointer, mlir::Type element, mlir::Value offset);
  /// Extents that must agree; where neither is constant the launch checks them. Gives the better
  /// known.
  mlir::Value requireEqual(mlir::Value lhs, mlir::Value rhs, llvm::StringRef what);
  void refuse(mlir::Operation *op, const llvm::Twine &why);

  mlir::ModuleOp target;
  LowerOptions options;
  mlir::ImplicitLocOpBuilder b;
  Numbers numbers;
  Ranges ranges;
  Scope *scope = nullptr;
  std::optional<NextTurn> nextTurn;
  bool isAskedFor = false; ///< What the copy being lowered reads, by the turn before.
  mlir::LLVM::AccessGroupAttr parallelGroup; ///< Of the parallel loop being built, or null.
  /// Of the row of iterations being built: what it carries, and the buffers it touches.
  llvm::MutableArrayRef<CarriedSum> carriedSums;
  RowAccesses *rowAccesses = nullptr;
  bool readsAgain = false;
  llvm::SmallVector<NextRow> nextRows;
  bool holdsLock = false; ///< Of a row: nothing may stop or fail.
  bool isFastMath = false;
  bool hasFailed = false;
  unsigned numTexts = 0;
  unsigned numKernels = 0;
  std::string functionName;
};

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_LOWERING_H
