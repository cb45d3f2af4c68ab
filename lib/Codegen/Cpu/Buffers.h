//===- Buffers.h - the memory of a function being built -----------------------------*- C++ -*-===//
//
// The only place where a logical coordinate becomes an address. A `Root` is an allocation or an
// argument; a `View` is the part of a root that a slice or a reshaping names. An index into a view
// is first moved to the surface (base and steps), checked against the surface's extents unless
// Ranges proves it inside, and then laid out row-major, or through the layout that the kernel
// annotated on the root.
//
//   Buffers.cpp    roots, views and scratch memory
//   Elements.cpp   addresses, bounds, loads and stores
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_BUFFERS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_BUFFERS_H

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright::cpu {

class Emitter;

/// An allocation or argument inside the function being built.
struct Root {
  mlir::Value pointer;
  mlir::Type elementType;
  tile::Space space = tile::Space::Global;
  llvm::SmallVector<mlir::Value, 4> extents; ///< Logical, of index type.
  std::string name;
  /// Of a global tensor with a layout: the offset of an element (dims 0 to rank - 1), a formula of
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

/// An operand of a product in the form its microkernel reads.
struct GemmOperand {
  View view;
  bool isPacked = false;   ///< B was transposed if it had to be; words were made.
  bool isInTiles = false;  ///< The view is one of tiles (TileWords.cpp).
  bool isByPanels = false; ///< The view is as it was copied; the product packs it (Panels.cpp).
  mlir::Value smallest;    ///< Of bfloat16: the bits of the smallest magnitude, as an i32.
  std::optional<View> columnSums; ///< Of bytes: 128 times B's.
};

/// The part of a loop nest over a view in which its elements exist.
struct Window {
  llvm::SmallVector<mlir::Value> lowers, uppers; ///< One a loop.
  mlir::Value condition; ///< Of the dimensions that no loop runs over; null if always true.
  bool isWhole = true;   ///< Proven: every element exists.
};

/// The arguments that carry the symbols of a shape.
llvm::SmallVector<mlir::Value> getSymbols(tile::ShapeAttr shape, mlir::func::FuncOp function);

class Buffers {
public:
  /// `arena` is the worker's memory; null in the host function.
  Buffers(Emitter &e, mlir::Value arena, int64_t arenaBytes)
      : e(e), arena(arena), arenaBytes(arenaBytes) {}

  mlir::Value getArena() const { return arena; }
  int64_t getArenaBytes() const { return arenaBytes; } ///< Taken so far.

  // Roots
  /// One alias scope for each buffer that overlaps no other one, and one for scratch memory.
  void createScopes(tile::KernelOp kernel, llvm::ArrayRef<mlir::Value> captured,
                    llvm::StringRef functionName);
  Root &addRoot(mlir::Value old);
  Root *findRoot(mlir::Value old); ///< Null if the function does not know the buffer.
  /// A root like `root`, with other alias scopes.
  const Root *addRoot(Root root);

  // Views
  View getView(mlir::Value buffer);
  void setView(mlir::Value buffer, View view) { views[buffer] = std::move(view); }
  /// Views that other ops name by a number (Tile/CpuPlan.h).
  void nameView(int64_t id, mlir::Value buffer) { named[id] = buffer; }
  /// The view with that number, which must come before `user` in the program.
  std::optional<View> getNamedView(int64_t id, mlir::Operation *user);
  View makeSlice(tile::SliceOp op);
  View makeView(tile::ViewOp op);
  /// A tile of scratch memory in the worker's arena, for statements whose operands overlap and for
  /// packed matrices.
  View makeScratch(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
  /// The same with extents that only the launch knows, valid until the statement runs again.
  View makeScratch(llvm::ArrayRef<mlir::Value> extents, mlir::Type elementType);
  /// The extents that a shape attribute computes from the symbols of the function.
  llvm::SmallVector<mlir::Value, 4> evaluateShape(tile::ShapeAttr shape,
                                                  mlir::func::FuncOp function);

  // Bounds
  /// Whether the element exists; null if that is proven.
  mlir::Value isInside(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  /// Nothing where the bounds are not intervals (steps other than 1), or the view is on chip and an
  /// element outside is an error.
  std::optional<Window> windowOf(const View &view, llvm::ArrayRef<unsigned> loopDims,
                                 llvm::ArrayRef<mlir::Value> extents);
  /// Whether every element of the view is known to exist.
  bool isWhole(const View &view);
  /// Whether all elements exist and neighbours along `dim` are neighbours in memory.
  bool isContiguousAlong(const View &view, unsigned dim);
  void failOutside(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);

  // Addresses and elements
  /// The position of an element on the surface, one coordinate a dimension.
  llvm::SmallVector<mlir::Value> toSurface(const View &view, llvm::ArrayRef<mlir::Value> index);
  mlir::Value addressOf(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  /// An element in its storage type, at an address or through a layout that tears it apart.
  mlir::Value loadAt(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  void storeAt(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex, mlir::Value stored);
  /// Elements by their index in the view. Reads outside give the safe value, writes are dropped;
  /// on chip both end the launch. Stored form and carrier.
  mlir::Value loadStored(const View &view, llvm::ArrayRef<mlir::Value> index);
  void storeStored(const View &view, llvm::ArrayRef<mlir::Value> index, mlir::Value stored);
  mlir::Value load(const View &view, llvm::ArrayRef<mlir::Value> index);
  void store(const View &view, llvm::ArrayRef<mlir::Value> index, mlir::Value carrier);
  /// `width` neighbours from `index` on, in their storage type.
  mlir::Value loadVector(const View &view, llvm::ArrayRef<mlir::Value> index, int64_t width);
  void storeVector(const View &view, llvm::ArrayRef<mlir::Value> index, mlir::Value stored);
  mlir::Value safeStored(const View &view);
  /// Says of an access what is known: which buffers it cannot touch, and that it belongs to a loop
  /// whose iterations are independent. A variable on the stack becomes a register and needs
  /// neither.
  template <typename OpT> OpT tagged(OpT op, const Root *root) {
    if (root->isVariable)
      return op;
    if (root->ownScope) {
      op.setAliasScopesAttr(root->ownScope);
      op.setNoaliasScopesAttr(root->otherScopes);
    }
    if (mlir::ArrayAttr groups = getAccessGroups())
      op.setAccessGroupsAttr(groups);
    return op;
  }

private:
  View makeWholeView(const Root &root);
  View addScratch(llvm::ArrayRef<mlir::Value> extents, mlir::Type elementType, mlir::Value pointer);
  mlir::Value offsetThroughLayout(const View &view, llvm::ArrayRef<mlir::Value> surfaceIndex);
  mlir::ArrayAttr getAccessGroups();

  Emitter &e;
  mlir::Value arena;
  int64_t arenaBytes;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Root>> roots;
  llvm::DenseMap<mlir::Value, View> views; ///< Slices and views.
  llvm::DenseMap<int64_t, mlir::Value> named;
  std::vector<std::unique_ptr<Root>> scratch;
  /// The alias scopes of this function's buffers; null stands for scratch memory.
  llvm::MapVector<mlir::Value, mlir::LLVM::AliasScopeAttr> scopes;
};

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_BUFFERS_H
