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

/// Sums beyond these leave no registers for anything else; ptxas would serialise the products.
inline constexpr int64_t kMaxProductSlots = 224;

/// The wgmma instructions for the element types of a gemm.
struct ProductShape {
  int64_t k = 16; ///< Elements of 32 bytes.
  int64_t operandBits = 16;
  bool isInteger = false;
  /// Steps of K after which partial sums are added to the sums in float32; 0: never. The tensor cores
  /// keep about 14 bits of a sum of 8-bit floats.
  int64_t promotedSteps = 0;

  /// Whether one instruction may have so many columns.
  bool allowsColumns(int64_t n) const;
  /// The widest instruction, of at most `most` columns, that divides `columns` columns of an operand B
  /// whose products start at multiples of `step`.
  std::optional<int64_t> getColumns(int64_t columns, int64_t step, int64_t most = 256) const;
};

/// Nothing if the target has no wgmma for these element types.
std::optional<ProductShape> getProductShape(tile::GemmOp gemm, const Arch &arch);

/// A gemm as wgmma sees it: rows of `left`, from shared memory or registers, times columns of `right`,
/// from shared memory. A swapped product computes C^T = B^T A^T: B is left, and N counts the rows.
struct ProductRoles {
  bool isSwapped = false;
  GemmOperand left = GemmOperand::A, right = GemmOperand::B;
  int64_t m, n, k; ///< Rows, columns and depth of the product.

  static ProductRoles get(tile::GemmOp gemm, bool isSwapped);
  /// As `tile.swapped` says.
  static ProductRoles get(tile::GemmOp gemm);
};

mlir::Value getOperand(tile::GemmOp gemm, GemmOperand operand);
/// The plan of an operand in shared memory, if the gemm has one.
tile::OperandAttr getOperandPlan(tile::GemmOp gemm, GemmOperand operand);

/// How a gemm with `tile.groups` is cut into instructions; remarks and code generation both ask
/// here.
struct ProductDivision {
  int64_t products;     ///< Of 64 rows, of one group.
  int64_t groupColumns; ///< Of one group,
  int64_t columns;      ///< and of one instruction.
  int64_t steps;        ///< Along K.

  /// Of a gemm that `shape` fits, with plans of its operands.
  static ProductDivision get(tile::GemmOp gemm, const ProductShape &shape);
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
