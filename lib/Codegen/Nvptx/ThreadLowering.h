//===- ThreadLowering.h - the code of one thread of a kernel ---------------------------------===//
//
// One walk over a kernel builds, op by op, what a single thread does. Nothing is rewritten in
// place: every old scalar has its new one in `values`. A thread's share of a fragment is an array
// in a stack slot that is only ever indexed by constants, so that LLVM keeps it in registers.
//
//   Kernels.cpp    functions, storage of buffers, control flow
//   Accesses.cpp   addresses, bounds, loads, stores of one element
//   Views.cpp      elements seen through another element type
//   Vectors.cpp    accesses of many slots at once, as the access planner grouped them
//   Atomics.cpp    updates of one element by many threads
//   Loops.cpp      T.Parallel: which thread runs which iteration
//   Scalars.cpp    arithmetic with the language's corners
//   NarrowFloats.cpp  float8 and tfloat32, rounding modes
//   Gemm.cpp       matrix products without tensor cores
//   Mma.cpp        matrix products on tensor cores
//   Reduce.cpp     reductions and running sums
//   Packed.cpp     pairs of float16 and bfloat16
//   Notes.cpp      printing and assertions
//   Exchange.cpp   fragments that change their layout inside a warp
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_THREADLOWERING_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_THREADLOWERING_H

#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright::nvptx {

using mlir::Value;

/// The bits of an element in memory: bool as i8, tfloat32 as f32, everything else its scalar.
mlir::Type getStorageType(mlir::Type elementType);
/// The same for what a thread keeps to itself or is given, where an index may stand too.
mlir::Type getRegisterType(mlir::Type elementType);

/// The register of an element, NarrowFloats.cpp: float8 as its bits, tfloat32 as a float32, and
/// what the dialect says of all others.
mlir::Type getScalarType(mlir::Type elementType);
/// A constant of the dialect as a register holds it.
mlir::TypedAttr getRegisterConstant(mlir::TypedAttr constant);
/// A float32 without the digits that a tfloat32 has not, ties away from zero, as 32 bits: an
/// instruction that takes a tfloat32 would cut them off.
Value roundToTf32(mlir::ImplicitLocOpBuilder &b, Value value);
/// An instruction without side effects.
Value inlinePtx(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text, llvm::StringRef constraints,
                mlir::Type type, mlir::ValueRange operands);
/// float8 and tfloat32, which must be converted before they are numbers.
bool isStorageFloat(mlir::Type type);

/// Where a root lives, for one thread.
struct Storage {
  enum class Kind { Memory, Registers, Variable } kind = Kind::Memory;
  mlir::Type elementType;
  Value base; ///< Pointer: global (1), shared (3) or stack.
  /// Memory only: logical extents, and the layout that says where an element sits; row-major if
  /// none.
  llvm::SmallVector<Value, 4> extents;
  llvm::SmallVector<int64_t, 4> staticExtents;
  std::optional<Layout> layout;
  bool isGlobal = false;
  mlir::TypedAttr safeValue;
  /// Registers only.
  analysis::PlaceTable places;
};

/// The slots of a T.Parallel that are built together, op by op. Index values that depend only on
/// the loop's variables are computed when they are first needed, in front of the rest.
struct SlotChunk {
  tile::ParallelOp loop;
  const analysis::LoopDistribution *distribution = nullptr;
  const Layout *inverse = nullptr; ///< (thread, slot) -> iteration and replica.
  /// For each access to a fragment, its register in each slot of the loop.
  const llvm::DenseMap<mlir::Operation *, std::vector<int64_t>> *registers = nullptr;
  const llvm::DenseSet<mlir::Operation *> *lazyOps = nullptr;
  mlir::Operation *start = nullptr; ///< What is computed early goes in front of this.
  bool hasConstantSlots = true; ///< Slots have numbers, so distances between groups are constants.
};

/// One iteration: a slot of a chunk, with the values that are its own.
struct Iteration {
  SlotChunk *chunk = nullptr; ///< Null in loops with run-time extents.
  int64_t slot = 0;           ///< Its number, or its place in the chunk of a loop over slots.
  Value slotValue;
  Value isOwner; ///< Null where every place is the only copy of its iteration.
  llvm::DenseMap<Value, Value> values;
  /// Variables that iterations write: each has its own.
  llvm::MapVector<Value, std::unique_ptr<Storage>> variables;
};

class ThreadLowering {
public:
  ThreadLowering(mlir::ModuleOp module, tile::KernelOp kernel, const Arch &arch,
                 llvm::StringRef name, const LaunchAssumptions &assumptions);
  mlir::LogicalResult run();

private:
  friend class MatrixReader; // Mma.cpp
  friend class MmaInstruction;
  friend class RowWalker; // Rows.cpp

  // Kernels.cpp
  void beginFunction();
  mlir::LogicalResult checkAddresses();
  void describeParameters();
  /// A tensor argument, or a workspace of the launch.
  void addGlobal(Value tensor, Value pointer);
  void addTile(tile::AllocOp alloc);
  Value allocateStack(mlir::Type type, int64_t count);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerPipelined(tile::PipelinedOp op);
  mlir::LogicalResult lowerAsyncGroup(tile::AsyncGroupOp op);
  void lowerVersion(tile::VersionOp op);
  /// One branch for these iterations, which all take the same way; the current one may be null.
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op, llvm::ArrayRef<Iteration *> members);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult lowerLoopBody(mlir::Operation *op, Value lower, Value upper, Value step,
                                    Value variable, mlir::Block &body);
  /// An extent of a tensor or of a view of one, a formula of the function's symbols.
  Value extentOf(Value buffer, unsigned dim);
  void rasterise(tile::UseSwizzleOp op);
  void barrier();

  // Accesses.cpp
  const Storage &storageOf(Value root);
  llvm::SmallVector<Value> mappedAll(mlir::ValueRange indices);
  /// Coordinates in the root of the element of `buffer` at `indices` (old values).
  llvm::SmallVector<Value> rootCoordinates(Value buffer, mlir::ValueRange indices);
  Value insideView(tile::ViewOp view, llvm::ArrayRef<Value> coordinates);
  llvm::SmallVector<Value> viewCoordinates(Value buffer, llvm::SmallVector<Value> coordinates);
  /// One step of that: from a slice or a view of the same element type to its source.
  llvm::SmallVector<Value> viewStep(Value buffer, llvm::SmallVector<Value> coordinates);
  Value floorDivConstant(Value lhs, int64_t rhs);
  Value floorModConstant(Value lhs, int64_t rhs);
  Value evaluate(const IndexExpr &expr, llvm::ArrayRef<Value> dims);
  Value offsetOf(const Storage &storage, llvm::ArrayRef<Value> coordinates);
  Value addressOf(const Storage &storage, llvm::ArrayRef<Value> coordinates);
  /// Null where no check is needed. Only the dimensions in `dims` are tested, if it is given.
  Value inBounds(const Storage &storage, llvm::ArrayRef<Value> coordinates,
                 std::optional<llvm::ArrayRef<int64_t>> dims = std::nullopt);
  Value loadAt(const Storage &storage, llvm::ArrayRef<Value> coordinates);
  void storeAt(const Storage &storage, llvm::ArrayRef<Value> coordinates, Value value);
  /// The register that an access of the current iteration names.
  int64_t registerOf(mlir::Operation *op);
  Value registerAddress(const Storage &storage, int64_t slot);
  Value loadRegister(const Storage &storage, int64_t slot);
  void storeRegister(const Storage &storage, int64_t slot, Value value);
  Value toStorage(Value value, mlir::Type elementType);
  Value fromStorage(Value value, mlir::Type elementType);
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  void defineLoaded(tile::LoadOp op, Value value);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  /// Runs `body` only where `condition` holds; always, if it is null.
  void guarded(Value condition, llvm::function_ref<void()> body);
  Value both(Value lhs, Value rhs);

  /// Which thread does what only one may do: the owner of the iteration, or thread 0 outside loops.
  Value writerCondition();

  // Views.cpp
  std::pair<llvm::SmallVector<Value>, Value>
  byteCoordinates(Value buffer, llvm::SmallVector<Value> coordinates, int64_t byte);
  void forEachPiece(Value buffer, llvm::ArrayRef<Value> coordinates,
                    llvm::function_ref<void(Value address, Value condition, int64_t bit)> access);
  bool canSeeThrough(Value buffer);
  bool isOnePiece(Value buffer);
  /// Refuses a statement one of whose operands is seen through a view that `canSeeThrough` is not.
  mlir::LogicalResult checkViews(mlir::Operation *op);
  /// The element of a buffer in memory at `coordinates` (new values), through any chain of views.
  Value loadElement(Value buffer, llvm::ArrayRef<Value> coordinates);
  void storeElement(Value buffer, llvm::ArrayRef<Value> coordinates, Value value);
  Value loadThroughView(Value buffer, llvm::ArrayRef<Value> coordinates);
  void storeThroughView(Value buffer, llvm::ArrayRef<Value> coordinates, Value value);

  // Vectors.cpp
  /// The addresses of a plan's groups inside one chunk.
  struct GroupAddresses {
    llvm::DenseMap<int64_t, std::pair<Value, int64_t>> anchors; ///< With the anchor's delta.
  };
  bool isPlanned(mlir::Operation *op);
  mlir::LogicalResult lowerPlanned(mlir::Operation *op, llvm::ArrayRef<Iteration *> chunk);
  void loadGroup(tile::LoadOp op, tile::AccessAttr plan, int64_t group,
                 llvm::ArrayRef<Iteration *> members, GroupAddresses &addresses);
  void storeGroup(mlir::Operation *op, Value buffer, mlir::ValueRange indices,
                  tile::AccessAttr plan, int64_t group, llvm::ArrayRef<Iteration *> members,
                  GroupAddresses &addresses, llvm::function_ref<void(Value address)> write);
  Value groupAddress(const Storage &storage, Value buffer, mlir::ValueRange indices,
                     tile::AccessAttr plan, int64_t group, GroupAddresses &addresses);
  Value groupCondition(const Storage &storage, Value buffer, mlir::ValueRange indices,
                       tile::AccessAttr plan);
  /// The vector of these elements: the one they were taken from, if they are all of it.
  Value packVector(llvm::ArrayRef<Value> elements);
  /// The element of a vector.
  Value elementOf(Value vector, int64_t position);
  void copyAsync(tile::LoadOp load, tile::StoreOp store, llvm::ArrayRef<Iteration *> chunk);

  // Atomics.cpp
  void clearByteAtomics();
  void updateVector(const Storage &storage, Value address, llvm::ArrayRef<Value> operands);
  mlir::LogicalResult lowerAtomic(mlir::Operation *op, tile::AtomicKind kind, Value value,
                                  Value buffer, mlir::ValueRange indices, tile::MemoryOrder order,
                                  Value result);
  std::string atomicQualifiers(const Storage &storage, tile::MemoryOrder order);
  Value atomicInstruction(llvm::StringRef opcode, Value address, llvm::ArrayRef<Value> operands,
                          mlir::Type resultType);
  Value updatedElement(tile::AtomicKind kind, mlir::Type elementType, Value old, Value operand);
  Value updateByCas(tile::AtomicKind kind, const Storage &storage, Value address, Value operand,
                    tile::MemoryOrder order);
  Value updateElement(tile::AtomicKind kind, const Storage &storage, Value address, Value operand,
                      tile::MemoryOrder order, bool isUsed);

  // Loops.cpp
  using RegisterTable = llvm::DenseMap<mlir::Operation *, std::vector<int64_t>>;
  mlir::LogicalResult lowerParallel(tile::ParallelOp op);
  mlir::LogicalResult lowerRunTimeParallel(tile::ParallelOp op);
  mlir::FailureOr<RegisterTable> resolveRegisters(tile::ParallelOp op,
                                                  const analysis::LoopDistribution &distribution);
  mlir::LogicalResult lowerSlots(SlotChunk chunk, llvm::ArrayRef<int64_t> slots, Value firstSlot);
  /// Builds each op of a block for all of these iterations before the next op.
  mlir::LogicalResult lowerBlock(mlir::Block &block, llvm::ArrayRef<Iteration *> members);
  mlir::LogicalResult lowerBranches(mlir::scf::IfOp op, llvm::ArrayRef<Iteration *> members);
  Value activeCondition(const SlotChunk &chunk, int64_t slot, Value slotValue);
  void computeIterators(Iteration &at);
  /// Whether a value can be computed in front of the chunk: it depends on the loop's variables and
  /// on values from outside only.
  bool isKnownEarly(Value old);

  // Scalars.cpp
  mlir::LogicalResult lowerScalar(mlir::Operation *op);
  Value convertScalar(Value value, mlir::Type from, mlir::Type to,
                      tile::Rounding rounding = tile::Rounding::NearestEven, bool saturate = false);
  Value combine(tile::AtomicKind kind, Value lhs, Value rhs, mlir::Type elementType,
                bool propagate);
  Value combine(tile::ReduceKind kind, Value lhs, Value rhs, mlir::Type elementType,
                bool propagate) {
    return combine(tile::getAtomicKind(kind), lhs, rhs, elementType, propagate);
  }

  // NarrowFloats.cpp
  Value widenStorageFloat(Value value, mlir::Type from);
  Value narrowByLibrary(Value value, mlir::Type to, tile::Rounding rounding, bool saturate);
  Value saturateFloat(Value value);
  /// Of a float16, bfloat16, float32 or float64.
  Value convertFloat(Value value, mlir::Type to, tile::Rounding rounding, bool saturate);
  Value convertIntegerToFloat(Value value, bool isUnsigned, mlir::Type to, tile::Rounding rounding,
                              bool saturate);

  // Gemm.cpp
  mlir::LogicalResult lowerGemm(tile::GemmOp op);
  mlir::LogicalResult lowerMma(tile::GemmOp op, llvm::ArrayRef<int64_t> warps); // Mma.cpp
  mlir::LogicalResult lowerPlainGemm(tile::GemmOp op);
  /// The element (row, column) of a matrix operand that lives in memory.
  Value loadMatrix(Value buffer, Value row, Value column, bool transposed);

  // Reduce.cpp
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  mlir::LogicalResult lowerRegisterReduce(tile::ReduceOp op);
  /// The type in which elements are combined: sums of narrow floats are formed in float32, sums of
  /// integers in the width of the result.
  mlir::Type combiningType(tile::ReduceKind kind, mlir::Type element, mlir::Type result);
  /// An element as an operand: of that type, its magnitude if the kind asks for it.
  Value reductionOperand(tile::ReduceKind kind, Value value, mlir::Type element,
                         mlir::Type sumType);
  /// The element of the result, with what it held before if that takes part.
  Value finishReduction(tile::ReduceOp op, Value combined, mlir::Type sumType,
                        llvm::function_ref<Value()> loadOld);
  Value magnitudeOf(Value value, mlir::Type type);
  /// What another lane has; all lanes of the warp take part.
  Value shuffle(Value value, int64_t lane, mlir::NVVM::ShflKind kind = mlir::NVVM::ShflKind::bfly);
  Value scratchAddress(Value position, mlir::Type type);
  Value loadScratch(Value position, mlir::Type type);
  void storeScratch(Value position, Value value, mlir::Type type);

  // Rows.cpp
  mlir::LogicalResult lowerMemoryReduce(tile::ReduceOp op);
  mlir::LogicalResult lowerCumsum(tile::CumsumOp op);

  // Packed.cpp
  /// Whether two slots can do an op in one instruction.
  static bool isPackable(mlir::Operation *op);
  mlir::LogicalResult lowerPacked(mlir::Operation *op, llvm::ArrayRef<Iteration *> members);

  // Notes.cpp
  mlir::LogicalResult lowerPrint(tile::PrintOp op);
  void lowerAssert(tile::AssertOp op);
  void printText(llvm::StringRef format, llvm::ArrayRef<Value> values = {});
  void printElement(llvm::StringRef before, Value value, mlir::Type elementType,
                    llvm::StringRef after);
  Value textPointer(llvm::StringRef text);

  // Exchange.cpp
  mlir::LogicalResult lowerExchange(tile::ParallelOp op);

  /// A constant, once for the whole thread, in front of its code: most values of a thread are
  /// offsets and positions, and what is not made twice need not be found to be the same again.
  Value constant(mlir::TypedAttr value);
  Value index(int64_t value) { return constant(b.getIndexAttr(value)); }
  Value i64(Value indexValue);
  /// The new value of an old one, for the current iteration inside loops.
  Value mapped(Value old);
  void define(Value old, Value now) { (iteration ? iteration->values : values)[old] = now; }
  mlir::InFlightDiagnostic unsupported(mlir::Operation *op) {
    return op->emitError() << "not supported on the GPU yet: ";
  }

  mlir::ModuleOp module;
  tile::KernelOp kernel;
  mlir::func::FuncOp function;
  const Arch &arch;
  std::string name;
  LaunchAssumptions assumptions;
  mlir::ImplicitLocOpBuilder b;
  mlir::LLVM::LLVMFuncOp thread;
  Value threadId; ///< index
  Value arena;    ///< Pointer to dynamic shared memory.
  int64_t scratchOffset = 0;
  llvm::DenseMap<mlir::Attribute, Value> constants;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> registerAddresses; ///< By array and slot.
  llvm::DenseMap<Value, Value> workspaces; ///< Pointers of `T.alloc_global`, by allocation.
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<mlir::Operation *, Value> carried; ///< What a loop computes from round to round.
  llvm::MapVector<Value, std::unique_ptr<Storage>> storages;
  Iteration *iteration = nullptr;
};

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_THREADLOWERING_H
