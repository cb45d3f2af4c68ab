//===- Emitter.h - builds a host function from tile IR ------------------------------*- C++ -*-===//
//
// What every lowering needs: a builder at the point where code is written, arithmetic on indices
// that folds, numbers of the language (Numbers.h), what is known of the size of values (Ranges.h),
// loops, and the new value of each old one. Memory is in Buffers.h, calls of the runtime in
// Services.h. An emitter builds one function: the host function has one, each kernel another.
//
// Lowerings are free functions `lowerX(op, e)` (Lowerings.h). A lowering looks at its own op and
// at the attributes on it; what spans ops was decided by passes before it.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_EMITTER_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_EMITTER_H

#include "Buffers.h"
#include "Numbers.h"
#include "Ranges.h"
#include "Services.h"
#include "tilewright/Codegen/Cpu/Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::cpu {

/// What the functions built from one function of tile IR have in common.
struct HostProgram {
  HostProgram(mlir::ModuleOp target, mlir::func::FuncOp function, const LowerOptions &options)
      : target(target), name(function.getName().str()),
        isFastMath(function->hasAttr("tile.fast_math")), options(options), texts(target, name) {}

  mlir::ModuleOp target;
  const std::string name;
  const bool isFastMath;
  const LowerOptions options;
  Texts texts;
  unsigned numKernels = 0;
  bool hasFailed = false;
};

/// A loop nest's body gets the induction variables.
using NestBody = llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)>;
/// That of a loop which carries values gets its variable and them, and gives the next ones.
using CarryingBody =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;

/// Where a row begins that is read by a loop, and how far it is to the next one.
struct NextRow {
  mlir::Value start;  ///< The address of the present row.
  mlir::Value length; ///< From a row to the next, in elements.
  mlir::Type elementType;
};

/// What one statement made for a later one, by the numbers of the plan (Tile/CpuPlan.h).
struct PlannedValues {
  llvm::DenseMap<int64_t, GemmOperand> operands;
  llvm::DenseMap<int64_t, llvm::SmallVector<NextRow, 1>> nextRows;
};

class Emitter {
public:
  /// Builds `function`, whose argument `services` is the table of services; `arena` is null in the
  /// host function, and `arenaBytes` of it are taken.
  Emitter(HostProgram &program, mlir::LLVM::LLVMFuncOp function, mlir::Location loc,
          mlir::Value services, mlir::Value arena = {}, int64_t arenaBytes = 0);
  Emitter(const Emitter &) = delete;

  HostProgram &program;
  const LowerOptions &options;
  mlir::ImplicitLocOpBuilder b;
  Numbers numbers;
  Ranges ranges;
  Services services;
  Buffers buffers;
  PlannedValues planned;

  /// Of a kernel: whether its blocks tell each other what they have written, by atomic updates, and
  /// whether it has stores past the caches that are fenced at its end (Streams.h).
  bool hasAtomics = false;
  bool hasUnfencedStores = false;

  /// Reports an error at `op`. The lowering goes on where it is easy to, and gives no code.
  void refuse(mlir::Operation *op, const llvm::Twine &why);

  // Values of the program
  mlir::Value lookup(mlir::Value old) { return values.lookup(old); }
  llvm::SmallVector<mlir::Value> lookupAll(mlir::ValueRange old) {
    return llvm::map_to_vector(old, [&](mlir::Value value) { return lookup(value); });
  }
  void define(mlir::Value old, mlir::Value now) { values[old] = now; }
  mlir::Value asIndex(mlir::OpFoldResult value);
  /// The bits that a loaded value had in memory as an element of this type; null for other values.
  /// A store of the value writes them again: a NaN keeps its payload, a bool its byte.
  mlir::Value lookupStored(mlir::Value old, mlir::Type elementType) {
    auto it = stored.find(old);
    return it != stored.end() && it->second.first == elementType ? it->second.second
                                                                 : mlir::Value();
  }
  void defineStored(mlir::Value old, mlir::Type elementType, mlir::Value bits) {
    stored[old] = {elementType, bits};
  }

  // Arithmetic
  mlir::Value index(int64_t value) { return numbers.integer(b.getIndexType(), value); }
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
  mlir::Value allocaAtEntry(mlir::Type type, int64_t count);
  mlir::Value offsetPointer(mlir::Value pointer, mlir::Type element, mlir::Value offset);
  mlir::Block *getEntry() { return entry; } ///< Where allocas and addresses of tiles stand.
  /// How many elements of this type a vector has.
  int64_t getVectorWidth(mlir::Type elementType) const {
    return options.vectorWidth * 32 / tile::getStorageBits(elementType);
  }

  // Control flow (Loops.cpp)
  /// Loops from `lowers` to `uppers`, the last one innermost. If `isParallel` the iterations of the
  /// innermost one are independent and marked so. An iteration has loops of `bodyCount` iterations.
  void loopNest(llvm::ArrayRef<mlir::Value> lowers, llvm::ArrayRef<mlir::Value> uppers,
                bool isParallel, NestBody body, int64_t bodyCount = 1);
  void loopNest(llvm::ArrayRef<mlir::Value> extents, bool isParallel, NestBody body);
  /// The same where a launch cannot be stopped, such as under a lock that would stay taken.
  void loopNestWithoutPolls(llvm::ArrayRef<mlir::Value> lowers, llvm::ArrayRef<mlir::Value> uppers,
                            bool isParallel, NestBody body);
  /// A sequential loop that carries values from iteration to iteration.
  llvm::SmallVector<mlir::Value> loopCarrying(mlir::Value lower, mlir::Value upper,
                                              mlir::Value step, mlir::ValueRange initial,
                                              CarryingBody body);
  void ifTrue(mlir::Value condition, llvm::function_ref<void()> body);
  /// Whether the runtime can stop a launch here: in a block.
  bool canPoll() const { return bool(buffers.getArena()); }
  /// After how many iterations of the outermost loop of a nest a launch should look whether it is
  /// to stop; nothing for a nest that ends soon.
  std::optional<int64_t> getPollInterval(llvm::ArrayRef<mlir::Value> lowers,
                                         llvm::ArrayRef<mlir::Value> uppers, int64_t bodyCount);

  /// Marks a loop of independent iterations for as long as its body is built: accesses to memory
  /// name the loop's group (Buffers::tagged).
  class ParallelLoop {
  public:
    ParallelLoop(Emitter &e, mlir::scf::ForOp loop); ///< Without a loop: no accesses are marked.
    ~ParallelLoop() { e.parallelGroup = outer; }
    ParallelLoop(const ParallelLoop &) = delete;

  private:
    Emitter &e;
    mlir::LLVM::AccessGroupAttr outer;
  };
  mlir::LLVM::AccessGroupAttr getParallelGroup() const { return parallelGroup; }

private:
  mlir::Block *entry;
  llvm::DenseMap<mlir::Value, mlir::Value> values; ///< Old scalars to carriers.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Type, mlir::Value>> stored;
  mlir::LLVM::AccessGroupAttr parallelGroup; ///< Of the parallel loop being built, or null.
};

/// Keeps LLVM from unrolling a loop.
void keepRolled(mlir::scf::ForOp loop);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_EMITTER_H
