//===- Thread.h - what one thread of a kernel holds, and where it lives ----------------------===//
//
// One walk over a kernel builds, op by op, what a single thread does (Lowerings.h). Nothing is
// rewritten in place: every old scalar has its new one, every root its storage. A thread's share of
// a fragment is an array in a stack slot that is only ever indexed by constants, so that LLVM keeps
// it in registers.
//
// Inside a distributed T.Parallel the slots of a chunk are built together, op by op: `iteration` is
// the slot that is being built, whose values stand before those of the thread.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_THREAD_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_THREAD_H

#include "Emitter.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Tile/Teams.h"

#include "llvm/ADT/MapVector.h"

namespace tilewright::nvptx {

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
  analysis::OwnerTable owners;
};

/// For each access to a fragment, its register in each slot of the loop.
using RegisterTable = llvm::DenseMap<mlir::Operation *, std::vector<int64_t>>;

/// The slots of a T.Parallel that are built together, op by op. Index values that depend only on
/// the loop's variables are computed when they are first needed, in front of the rest.
struct SlotChunk {
  tile::ParallelOp loop;
  const analysis::LoopDistribution *distribution = nullptr;
  const Layout *inverse = nullptr; ///< (thread, slot) -> iteration and replica.
  const RegisterTable *registers = nullptr;
  const llvm::DenseSet<mlir::Operation *> *lazyOps = nullptr;
  mlir::Operation *start = nullptr; ///< What is computed early goes in front of this.
  bool hasConstantSlots = true; ///< Slots have numbers, so distances between groups are constants.
};

/// One iteration: a slot of a chunk, with the values that are its own.
struct Iteration {
  SlotChunk *chunk = nullptr; ///< Null in loops with run-time extents.
  int64_t slot = 0;           ///< Its number, or its number in the chunk of a loop over slots.
  Value slotValue;
  Value isOwner; ///< Null if every owner has the only copy of its iteration.
  llvm::DenseMap<Value, Value> values;
  /// Variables that iterations write: each has its own.
  llvm::MapVector<Value, std::unique_ptr<Storage>> variables;
};

class Thread : public Emitter {
public:
  Thread(mlir::ModuleOp module, tile::KernelOp kernel, const Arch &arch, llvm::StringRef name,
         const CallFacts &calls)
      : Emitter(module, arch, kernel.getLoc()), kernel(kernel),
        function(kernel->getParentOfType<mlir::func::FuncOp>()), name(name.str()), calls(calls) {}

  /// The new value of an old one, for the current iteration inside loops.
  Value mapped(Value old);
  llvm::SmallVector<Value> mappedAll(mlir::ValueRange indices);
  void define(Value old, Value now) { (iteration ? iteration->values : values)[old] = now; }
  /// Whether a value can be computed in front of the chunk: it depends on the loop's variables and
  /// on values from outside only.
  bool isKnownEarly(Value old);

  const Storage &storageOf(Value root);
  /// The same outside the current iteration; null for what is not allocated there.
  const Storage *findStorage(Value root) const;
  /// A tensor argument, or a workspace of the launch.
  void addGlobal(Value tensor, Value pointer);
  void addTile(tile::AllocOp alloc);
  /// An extent of a tensor or of a view of one, a formula of the function's symbols.
  Value extentOf(Value buffer, unsigned dim);

  /// The register that an access of the current iteration names.
  int64_t registerOf(mlir::Operation *op);
  Value registerAddress(const Storage &storage, int64_t slot);
  /// What a register holds, as it is stored. Where the same block has stored it, that value: fewer loads
  /// for LLVM to look through.
  Value loadStored(const Storage &storage, int64_t slot);
  void storeStored(const Storage &storage, int64_t slot, Value value);
  Value loadRegister(const Storage &storage, int64_t slot);
  void storeRegister(const Storage &storage, int64_t slot, Value value);

  /// Which thread does what only one may do: the owner of the iteration, or thread 0 outside loops.
  Value writerCondition();

  /// How many threads run what is being written: those of the role, or of the program.
  int64_t getNumThreads() { return team ? team->count : kernel.getNumThreads(); }

  tile::KernelOp kernel;
  mlir::func::FuncOp function;
  std::string name; ///< Of the kernel's function.
  CallFacts calls;
  std::optional<tile::Team> team; ///< Of the role that is being written.
  Value threadId;                 ///< index, from 0 in each role
  Value arena;                    ///< Pointer to dynamic shared memory.
  int64_t scratchOffset = 0;
  int64_t roleScratch = 0; ///< Bytes of the scratch area of each role.
  Iteration *iteration = nullptr;
  llvm::DenseMap<mlir::Operation *, Value> carried; ///< What a loop carries between iterations.
  /// What open products read from registers, as an array of words: one of each fragment, since no
  /// two products under way read the same one.
  llvm::DenseMap<Value, Value> heldOperands;
  llvm::SmallVector<Value> maps; ///< Pointers to the tensor maps of the launch.
  Value warp;                    ///< The number of its warp, once `warpNumber` has computed it.
  bool isElected = false;        ///< One thread alone comes to the code that is written.

private:
  void computeIterators(Iteration &at);

  llvm::DenseMap<Value, Value> values;
  llvm::MapVector<Value, std::unique_ptr<Storage>> storages;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> registerAddresses; ///< By array and slot.
  /// The latest store to each register. All stores go through `storeStored`.
  llvm::DenseMap<std::pair<Value, int64_t>, mlir::LLVM::StoreOp> knownRegisters;
};

/// The error of an op that has no code for GPUs yet.
inline mlir::InFlightDiagnostic unsupported(mlir::Operation *op) {
  return op->emitError() << "not supported on the GPU yet: ";
}

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_THREAD_H
