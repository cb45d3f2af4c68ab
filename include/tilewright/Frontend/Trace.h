//===- Trace.h - builds tile IR while a Python function runs ------------------------*- C++ -*-===//
//
// A Trace is one prim_func under construction. Python calls it for each statement and expression it
// meets; every call appends operations at the current place, with the current source position, and
// verifies them at once, so that an error is raised at the user's own line. All typing rules of the
// language (promotion, extents of copies, slices) live here; Python holds none of them.
//
// Errors of the user are thrown as UserError.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_TRACE_H
#define TILEWRIGHT_FRONTEND_TRACE_H

#include "tilewright/Frontend/Program.h"
#include "tilewright/Frontend/Values.h"
#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace tilewright::frontend {

/// One entry of a subscript.
struct Slice {
  std::optional<Operand> start, stop, step;
};
using Subscript = std::variant<Operand, Slice>;

/// A statement's tile operand: a buffer, or an element that stands for the region starting there.
using TileOperand = std::variant<Buffer, Element>;

enum class BinaryKind {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  FloorMod,
  TruncDiv,
  TruncMod,
  Pow,
  Max,
  Min,
  MaxNan,
  MinNan,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
  Atan2,
  Fmod
};
enum class UnaryKind {
  Exp,
  Exp2,
  Exp10,
  Log,
  Log2,
  Log10,
  Log1p,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tan,
  Tanh,
  Sinh,
  Cosh,
  Atan,
  Erf,
  Sigmoid,
  Floor,
  Ceil,
  Round,
  Trunc,
  Abs,
  Neg,
  Not,
  BitNot,
  IsNan,
  IsInf,
  IsFinite,
  Popcount
};
std::optional<BinaryKind> symbolizeBinary(llvm::StringRef name);
std::optional<UnaryKind> symbolizeUnary(llvm::StringRef name);

/// A name with its values at the ends of both branches of an `if`.
struct MergedName {
  std::string name;
  Operand thenValue, elseValue;
};

enum class LoopKind { Serial, Unroll, Vectorized };

class Trace {
public:
  Trace(llvm::StringRef name, const SourcePosition &position);
  ~Trace();
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  /// The trace that Python values act on; throws UserError outside a kernel.
  static Trace &current();
  static Trace *currentOrNull();
  void activate();
  void deactivate();
  uint64_t getId() const { return id; }
  mlir::MLIRContext *getContext() { return context.get(); }

  // Positions.
  void locate(const SourcePosition &position);
  void pushCall();
  void popCall();

  // Parameters.
  /// With `strides`, the caller's tensor has them; a call packs it.
  Buffer paramTensor(llvm::StringRef name, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype,
                     llvm::ArrayRef<IndexExpr> strides = {});
  Scalar paramScalar(llvm::StringRef name, mlir::Type dtype);
  Buffer allocGlobal(llvm::StringRef name, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype);

  // Threads (Threads.cpp).
  /// Where the thread that runs this stands in one dimension of the block's threads.
  Scalar threadIndex(int64_t dim);
  /// Barriers whose phases end after so many arrivals; 0 where each use says how many. With
  /// `atStart` they are allocated where the kernel begins.
  Buffer allocBarriers(llvm::StringRef name, llvm::ArrayRef<int64_t> arrivals, bool atStart);
  /// Each thread that comes arrives at a barrier; with `once` they make one arrival together.
  void barrierArrive(const Element &barrier, bool once, std::optional<int64_t> count,
                     std::optional<Operand> expectedBytes);
  /// Waits for the phase of a parity, or for that of the thread's own arrival.
  void barrierWait(const Element &barrier, std::optional<Operand> parity,
                   std::optional<int64_t> count);
  void gridSync();

  // Regions; `end` closes the innermost.
  std::vector<Scalar> kernelBegin(llvm::ArrayRef<Operand> grid, llvm::ArrayRef<int64_t> threads);
  std::vector<Scalar> parallelBegin(llvm::ArrayRef<Operand> extents,
                                    std::optional<int64_t> coalescedWidth,
                                    const Fragment *loopLayout);
  Scalar pipelinedBegin(const Operand &start, const Operand &stop, int64_t numStages,
                        std::optional<llvm::ArrayRef<int64_t>> order,
                        std::optional<llvm::ArrayRef<int64_t>> stage);
  Scalar forBegin(const Operand &start, const Operand &stop, int64_t step, LoopKind kind);
  std::vector<Scalar> persistentBegin(llvm::ArrayRef<Operand> domain, const Operand &waveSize,
                                      const Operand &index);
  void ifBegin(const Operand &condition);
  void elseBegin();
  /// Names that the branches of the innermost `if` left with different values become variables, set
  /// at the end of both branches; called while its `else` is open.
  std::vector<Variable> ifMerge(llvm::ArrayRef<MergedName> names);
  void whileBegin();
  /// Leaves the condition region of a `while` whose condition turned out to be a Python value; its
  /// operations go before the loop or away.
  void whileCancel(bool keep);
  void whileBody(const Operand &condition);
  void end();
  unsigned getDepth() const { return frames.size(); }
  /// "function", "kernel", "parallel", "pipelined", "for", "while", "if", "else", "select".
  llvm::StringRef getRegionKind() const;

  // Values of which only one side is evaluated.
  void selectBegin(const Operand &condition);
  void selectElse(const Operand &value);
  Scalar selectEnd(const Operand &value);
  Scalar ifThenElse(const Operand &condition, const Operand &thenValue, const Operand &elseValue);

  // Variables.
  Variable allocVar(llvm::StringRef name, mlir::Type dtype, std::optional<Operand> init);
  /// Like allocVar, placed before the region that was opened at `depth`.
  Variable allocVarOutside(unsigned depth, llvm::StringRef name, mlir::Type dtype,
                           std::optional<Operand> init);
  void assign(const Variable &variable, const Operand &value);
  Scalar read(const Variable &variable);
  Scalar read(const Element &element);

  // Buffers.
  Buffer alloc(llvm::StringRef name, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype,
               tile::Space space, std::optional<tile::ReduceKind> reducer);
  void rename(const Buffer &buffer, llvm::StringRef name);
  std::variant<Buffer, Element> subscript(const Buffer &buffer, llvm::ArrayRef<Subscript> entries);
  void store(const Element &element, const Operand &value);
  /// The `count` elements along the last dimension that start at an element.
  Buffer runOf(const Element &element, int64_t count);
  Buffer view(const Buffer &buffer, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype);

  // Statements.
  void copy(const TileOperand &source, const TileOperand &dest, std::optional<int64_t> width,
            const Fragment *loopLayout, mlir::DictionaryAttr hints);
  void fill(const TileOperand &dest, const Operand &value);
  void gemm(const Buffer &a, const Buffer &b, const Buffer &c, bool transposeA, bool transposeB,
            tile::GemmPolicy policy, std::optional<Operand> clear, int64_t kPack);
  void reduce(tile::ReduceKind kind, const Buffer &source, const Buffer &dest, int64_t dim,
              bool clear, bool nanPropagate);
  void cumsum(const Buffer &source, const Buffer &dest, int64_t dim, bool reverse);
  std::optional<Scalar> atomic(tile::AtomicKind kind, const TileOperand &dest,
                               const std::variant<Operand, Buffer> &value, tile::MemoryOrder order,
                               bool returnPrevious);
  void reducerInit(const Buffer &buffer);
  void reducerUpdate(const Element &element, const Operand &value);
  void finalizeReducer(const Buffer &buffer, const Buffer &dest);
  void im2col(const Buffer &image, const Buffer &dest, const Operand &rowTile,
              const Operand &columnTile, int64_t kernel, int64_t stride, int64_t dilation,
              int64_t pad);
  void annotateLayout(const Buffer &buffer, const std::variant<Layout, Fragment> &layout);
  void annotateSafeValue(const Buffer &buffer, const Literal &value);
  void useSwizzle(int64_t panelSize, tile::RasterOrder order);
  void hint(llvm::StringRef name, llvm::ArrayRef<Buffer> buffers, mlir::DictionaryAttr attributes);
  void assume(const Operand &condition);
  void assertThat(const Operand &condition, llvm::StringRef message);
  void print(llvm::StringRef message, const std::variant<std::monostate, Operand, Buffer> &value);

  // Scalars.
  Scalar unary(UnaryKind kind, const Operand &operand);
  Scalar binary(BinaryKind kind, const Operand &lhs, const Operand &rhs);
  Scalar cast(const Operand &operand, mlir::Type dtype,
              tile::Rounding rounding = tile::Rounding::NearestEven, bool saturate = false);
  Scalar bitcast(const Operand &operand, mlir::Type dtype);
  Scalar constant(const Literal &literal, mlir::Type dtype);
  /// The dtype in which both sides of a choice meet.
  mlir::Type commonType(const Operand &lhs, const Operand &rhs);
  /// The operand as a value of this trace; a literal takes its default type.
  Scalar materialize(const Operand &operand);

  /// Closes the function, cleans up and verifies it.
  std::unique_ptr<Program> finish(bool fastMath);

private:
  struct Frame {
    llvm::StringRef kind;
    mlir::Operation *op = nullptr;        // the outermost op of the frame
    mlir::OpBuilder::InsertPoint after;   // where building goes on once the frame is closed
    std::optional<Scalar> selectValue;    // value of the `then` side of a select,
    std::optional<Literal> selectLiteral; // or the number it is
  };

  Scalar wrap(mlir::Value value, mlir::Type dtype) const { return {value, dtype, id}; }
  void checkOwn(uint64_t traceId) const;
  void requireKernel(llvm::StringRef what) const;
  [[noreturn]] void fail(const llvm::Twine &message) const;
  /// Verifies a new op and throws what the verifier says; the op is erased then.
  template <typename Op> Op verified(Op op);
  void verifyOrThrow(mlir::Operation *op, bool recursively);
  template <typename Op, typename... Args> Op create(Args &&...args) {
    return Op::create(builder, location(), std::forward<Args>(args)...);
  }
  mlir::Location location() const { return currentLocation; }

  void openFrame(llvm::StringRef kind, mlir::Operation *op, mlir::Block *body);
  mlir::Value indexConstant(int64_t value);
  mlir::Value toIndex(const Operand &operand, llvm::StringRef what);
  mlir::OpFoldResult toIndexOrConstant(const Operand &operand, llvm::StringRef what);
  mlir::Value toCondition(const Operand &operand);
  Scalar convert(const Operand &operand, mlir::Type dtype);
  Scalar changeType(const Operand &operand, mlir::Type dtype, tile::Rounding rounding,
                    bool saturate);
  mlir::Value materializeIndexExpr(const IndexExpr &expr);
  /// Extents as an attribute that names the symbols among the function's arguments.
  tile::ShapeAttr makeShapeAttr(llvm::ArrayRef<IndexExpr> extents);
  mlir::Value symbolValue(unsigned symbol);
  mlir::Value extentValue(const Extent &extent);
  mlir::OpFoldResult extentOrConstant(const Extent &extent);
  mlir::Type operandType(BinaryKind kind, const Operand &lhs, const Operand &rhs);
  Scalar integerPower(Scalar lhs, Scalar rhs);
  Scalar binaryFloat(BinaryKind kind, Scalar lhs, Scalar rhs);
  Scalar unaryInteger(UnaryKind kind, Scalar x);
  Scalar unaryFloat(UnaryKind kind, Scalar x);
  Scalar sigmoid(Scalar x);
  Scalar binaryInteger(BinaryKind kind, Scalar lhs, Scalar rhs);
  Scalar compare(BinaryKind kind, Scalar lhs, Scalar rhs);
  Buffer slice(const Buffer &source, llvm::ArrayRef<mlir::OpFoldResult> offsets,
               llvm::ArrayRef<Extent> sizes, llvm::ArrayRef<mlir::OpFoldResult> steps,
               llvm::ArrayRef<int64_t> dropped);
  Buffer regionAt(const Element &element, const Buffer &like, llvm::StringRef what);
  std::pair<Buffer, Buffer> matchExtents(const TileOperand &source, const TileOperand &dest,
                                         llvm::StringRef what);
  Buffer asMatrix(const Buffer &buffer);
  mlir::MemRefType bufferType(llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype, tile::Space space);

  uint64_t id;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::Location currentLocation;
  std::vector<mlir::Location> callStack;
  std::vector<Frame> frames;
  std::vector<std::pair<unsigned, mlir::Value>> symbols; // symbol number -> function argument
  std::vector<std::pair<mlir::Value, std::vector<IndexExpr>>> parameterShapes;
  std::vector<std::pair<mlir::Value, std::vector<IndexExpr>>> parameterStrides;
  llvm::DenseMap<mlir::Value, int64_t> emptyingShifts; // shifts left by a constant that leave 0
};

/// The process-wide number of a shape symbol's name, so that `T.dynamic("n")` means the same symbol
/// wherever it is written.
unsigned internSymbol(llvm::StringRef name);
std::string getSymbolName(unsigned symbol);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_TRACE_H
