//===- Buffers.h - allocations, elements and regions of buffers --------------------*- C++ -*-===//
//
// `A[i, j]` is an element, `A[i, 0:n]` a region. A scalar entry drops its dimension from a region;
// missing trailing entries take all of theirs. A side of a copy that is only an element takes its
// extents from the other side, aligned at the last dimension.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_BUFFERS_H
#define TILEWRIGHT_FRONTEND_BUFFERS_H

#include "tilewright/Frontend/Arithmetic.h"
#include "tilewright/Frontend/Regions.h"

namespace tilewright::frontend {

/// One entry of a subscript.
struct Slice {
  std::optional<Operand> start, stop, step;
};
using Subscript = std::variant<Operand, Slice>;

/// A statement's tile operand: a buffer, or an element that stands for the region starting there.
using TileOperand = std::variant<Buffer, Element>;

class Buffers {
public:
  Buffers(Emitter &emitter, Signature &signature, Scalars &scalars, Arithmetic &arithmetic,
          Regions &regions)
      : emitter(emitter), signature(signature), scalars(scalars), arithmetic(arithmetic),
        regions(regions), builder(emitter.getBuilder()) {}

  Buffer allocTile(llvm::StringRef name, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype,
                   tile::Space space, std::optional<tile::ReduceKind> reducer);
  Buffer allocGlobal(llvm::StringRef name, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype);
  void rename(const Buffer &buffer, llvm::StringRef name);
  Buffer view(const Buffer &buffer, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype);

  std::variant<Buffer, Element> subscript(const Buffer &buffer, llvm::ArrayRef<Subscript> entries);
  void store(const Element &element, const Operand &value);
  /// The `count` elements along the last dimension that start at an element.
  Buffer runOf(const Element &element, int64_t count);
  /// The region that starts at an element and has the extents of a buffer; `what` names the
  /// statement in a refusal.
  Buffer regionAt(const Element &element, const Buffer &like, llvm::StringRef what);
  /// Both sides of a statement as buffers.
  std::pair<Buffer, Buffer> matchExtents(const TileOperand &source, const TileOperand &dest,
                                         llvm::StringRef what);
  /// Drops unit dimensions in front of a matrix.
  Buffer asMatrix(const Buffer &buffer);

private:
  mlir::Value extentValue(const Extent &extent);
  mlir::OpFoldResult extentOrConstant(const Extent &extent);
  /// A region of a tensor with the extents of a tile, where it is shorter and ends at the edge.
  Buffer reachBeyondEdge(const Buffer &region, const Buffer &tile);
  Buffer slice(const Buffer &source, llvm::ArrayRef<mlir::OpFoldResult> offsets,
               llvm::ArrayRef<Extent> sizes, llvm::ArrayRef<mlir::OpFoldResult> steps,
               llvm::ArrayRef<int64_t> dropped);

  Emitter &emitter;
  Signature &signature;
  Scalars &scalars;
  Arithmetic &arithmetic;
  Regions &regions;
  mlir::OpBuilder &builder;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_BUFFERS_H
