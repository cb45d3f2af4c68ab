//===- Products.h - how warpgroups read the operands of their products --------------*- C++ -*-===//
//
// wgmma (sm_90a) multiplies 64 rows by up to 256 columns for a group of four warps. This header
// says for which gemms it exists and proves the descriptors of their operands in shared memory:
// the operand is a view of a tile, and the view's elements must lie where the descriptor of its
// first element says (Layout/ProductLayouts.h).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ACCESS_PRODUCTS_H
#define TILEWRIGHT_ACCESS_PRODUCTS_H

#include "tilewright/Access/Matrices.h"
#include "tilewright/Layout/ProductLayouts.h"

namespace tilewright::access {

/// The wgmma instructions for the element types of a gemm.
struct ProductShape {
  int64_t k = 16; ///< Elements of 32 bytes.
  int64_t operandBits = 16;
  bool isInteger = false;

  /// Whether one instruction may have so many columns.
  bool allowsColumns(int64_t n) const;
  /// The widest instruction that divides `columns` columns of an operand B whose products start at
  /// multiples of `step`.
  std::optional<int64_t> getColumns(int64_t columns, int64_t step) const;
};

/// Nothing if the target has no wgmma for these element types.
std::optional<ProductShape> getProductShape(tile::GemmOp gemm, const Arch &arch);

/// How a gemm with `tile.groups` is cut into instructions; remarks and code generation both ask
/// here.
struct ProductDivision {
  int64_t products;     ///< Of 64 rows, of one group.
  int64_t groupColumns; ///< Of one group,
  int64_t columns;      ///< and of one instruction.
  int64_t steps;        ///< Along K.

  /// `operandB` as planned, of a gemm that `shape` fits.
  static ProductDivision get(tile::GemmOp gemm, const ProductShape &shape,
                             const ProductOperand &operandB);
};

/// A planned operand as the attribute that later passes read, and back.
tile::OperandAttr makeAttr(mlir::MLIRContext *context, const ProductOperand &operand);
ProductOperand readOperand(tile::OperandAttr attr, const ProductShape &shape);

/// The descriptor of the first element of an operand in shared memory whose root has this layout,
/// or the reason why there is none.
llvm::Expected<ProductOperand> planProductOperand(tile::GemmOp gemm, GemmOperand operand,
                                                  const Layout &layout);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_PRODUCTS_H
