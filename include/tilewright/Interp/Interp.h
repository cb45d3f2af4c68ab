//===- Interp.h - the reference interpreter, front door of the room ---------------*- C++ -*-===//
//
// Executes tile IR by its one meaning (docs/semantics.md): blocks one after another, statements one
// after another on whole tiles, iterations of `T.Parallel` in order. Simple and slow on purpose;
// the other engines are compared to it, so it shares no code with the lowering that they use.
//
// While it runs it can watch the program (`Options::check`) and report what no result shows:
// elements used before they are written, accesses out of bounds, iterations or blocks that race,
// and ops that touch more than they declare. With `Options::bounds` every float carries an error
// radius (Bounds.cpp), so that another engine's rounding can be judged without a free tolerance.
//
//   Numeric.h    what a number of each element type is
//   lib/Interp   Program.cpp resolves each op once to a handler; the handlers stand by family:
//                Arith, MathFunctions, Casts, Buffers, Statements, Gemm, Control
//                Threads.cpp runs kernels that name their threads, as they were traced
//                Scheduled.cpp runs kernels as the passes for GPUs have scheduled them
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_INTERP_INTERP_H
#define TILEWRIGHT_INTERP_INTERP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilewright::interp {

/// A tensor in the caller's memory, dense and row-major. A tensor with a layout annotation holds
/// its elements at `row_major(layout(index))`; `shape` is that of the array as the caller sees it.
struct TensorArgument {
  void *data = nullptr;
  llvm::SmallVector<int64_t> shape;
  mlir::Type elementType;
  /// Not yet written: a result that the call allocates.
  bool isUnwritten = false;
};

/// One argument of the function, in order, shape symbols included: a tensor, an integer (bool and
/// index too) or a float.
using Argument = std::variant<TensorArgument, int64_t, double>;

struct Options {
  /// Watch for undefined values, conflicts, races and undeclared effects. Costs about two to four
  /// times the time; never changes a value.
  bool check = true;
  /// Carry error radii. Never changes a value.
  bool bounds = false;
  /// In which order the roles of a kernel that names its threads take turns. 0 is the order of the
  /// text, which is the program's meaning. 1 is the reverse, any other number the seed of a random
  /// order; then accesses of two roles that no barrier orders are findings (`race`). Of a scheduled
  /// kernel also when asynchronous effects take place: at once, late, or at random; there a race is a
  /// finding in each order (lib/Interp/Scheduled.h).
  uint64_t threadOrder = 0;
  /// Findings of one kind at one statement are counted, not repeated; this limits distinct ones.
  uint64_t maxFindings = 100;
  /// Where `T.print` goes; standard output if null.
  llvm::raw_ostream *output = nullptr;
  /// Called now and then; gives false to end the run early.
  std::function<bool()> poll;
};

enum class Severity : uint8_t {
  Note,    ///< Defined behaviour worth knowing, e.g. a masked access at a tensor's edge.
  Finding, ///< The program's result depends on what it should not.
  Error    ///< The program cannot go on; the run stopped here.
};

enum class FindingKind : uint8_t {
  Uninitialized,    ///< An unwritten element decides a branch, an address or a global value.
  OutOfBounds,      ///< A masked global access (note) or an on-chip one (error).
  ParallelConflict, ///< Two iterations of one T.Parallel touch an element, one writing it.
  Race,             ///< Two blocks, or two roles that nothing orders, touch an element, one
                    ///< writing it, not both atomically.
  SameValue,        ///< Two iterations or blocks wrote the same bits.
  DivisionByZero,   ///< Integer division; defined, and rarely meant.
  IndexOverflow,    ///< An index value left 64 bits.
  Assume,           ///< A stated fact does not hold.
  Assert,           ///< The program's own check failed.
  BadExtent,        ///< A run-time extent is negative, or extents of a statement differ.
  Deadlock,         ///< All threads that are left wait for each other.
  UndeclaredEffect  ///< An op touched what its effects do not name: our bug.
};

/// `out_of_bounds` and so on, as reports and tests spell it.
llvm::StringRef getName(FindingKind kind);
llvm::StringRef getName(Severity severity);

struct Finding {
  Severity severity;
  FindingKind kind;
  std::string message; ///< Without position.
  std::string file;    ///< Empty if the op has no position.
  unsigned line = 0;
  unsigned column = 0;
  std::string buffer;               ///< The user's name; empty where no buffer is meant.
  llvm::SmallVector<int64_t> index; ///< The logical element of that buffer.
  llvm::SmallVector<int64_t> block; ///< Empty outside kernels.
  uint64_t count = 1;               ///< How often this kind arose at this statement and buffer.
};

/// `file:line: severity: message; block (0, 1) [kind]`, the form of every report.
std::string toString(const Finding &finding);

/// Error radii of one tensor argument after the run, element by element in the caller's memory
/// order. Infinity marks an element that is undecided: not to be compared.
struct TensorRadii {
  unsigned argument;
  std::vector<double> radii;
};

struct Result {
  std::vector<Finding> findings;
  bool stopped = false;           ///< An error ended the run early.
  std::vector<TensorRadii> radii; ///< With `Options::bounds`, for each tensor argument.
  uint64_t steps = 0;             ///< Operations executed, for throughput figures.

  bool hasFindings() const; ///< Anything above a note.
};

/// Runs `function` on `arguments`, whose tensors are updated in place. The error is about the call
/// (an argument that does not fit, an op without meaning here); what goes wrong inside the program
/// is a finding.
llvm::Expected<Result> run(mlir::func::FuncOp function, llvm::ArrayRef<Argument> arguments,
                           const Options &options = {});

/// The logical index of the element that lies at an offset in a tensor's memory (counted in
/// elements), through the layout that a kernel annotates; nothing if no element lies there.
std::optional<llvm::SmallVector<int64_t, 4>> findLogicalIndex(mlir::func::FuncOp function,
                                                              unsigned argument,
                                                              llvm::ArrayRef<int64_t> shape,
                                                              int64_t offset);

} // namespace tilewright::interp

#endif // TILEWRIGHT_INTERP_INTERP_H
