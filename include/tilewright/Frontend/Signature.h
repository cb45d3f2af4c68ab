//===- Signature.h - the parameters and shape symbols of a traced function ---------*- C++ -*-===//
//
// Knows the arguments of the function: tensors and scalars in the order of Python's parameters, then
// one argument for each shape symbol that the function uses.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_SIGNATURE_H
#define TILEWRIGHT_FRONTEND_SIGNATURE_H

#include "tilewright/Frontend/Emitter.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilewright::frontend {

class Signature {
public:
  /// Starts a function at the end of a module; building goes on inside it.
  Signature(Emitter &emitter, mlir::ModuleOp module, llvm::StringRef name);

  mlir::func::FuncOp getFunction() const { return function; }
  /// With `strides`, the caller's tensor has them; a call packs it.
  Buffer addTensor(llvm::StringRef name, llvm::ArrayRef<IndexExpr> shape, mlir::Type dtype,
                   llvm::ArrayRef<IndexExpr> strides = {});
  Scalar addScalar(llvm::StringRef name, mlir::Type dtype);
  /// The argument that holds a shape symbol.
  mlir::Value getSymbol(unsigned symbol);
  /// Extents as an attribute that names the symbols among the function's arguments.
  tile::ShapeAttr makeShapeAttr(llvm::ArrayRef<IndexExpr> extents);
  /// Writes the shapes and strides of all tensors on the arguments. Refuses a symbol that no call
  /// can find from them.
  void close();

private:
  /// An argument of a call. A tensor has its extents, and its strides if they were given.
  struct Parameter {
    mlir::BlockArgument argument;
    std::vector<IndexExpr> shape, strides;
  };
  struct Symbol {
    unsigned number;
    mlir::Value value;
  };
  mlir::Value addParameter(llvm::StringRef name, mlir::Type type, mlir::DictionaryAttr attributes,
                           llvm::ArrayRef<IndexExpr> shape, llvm::ArrayRef<IndexExpr> strides);
  void addSymbolsOf(const IndexExpr &expr);

  Emitter &emitter;
  mlir::OpBuilder &builder;
  mlir::func::FuncOp function;
  std::vector<Parameter> parameters;
  std::vector<Symbol> symbols;
};

/// The type of a buffer; an extent that is no number is dynamic.
mlir::MemRefType makeBufferType(const Emitter &emitter, llvm::ArrayRef<IndexExpr> shape,
                                mlir::Type dtype, tile::Space space);

/// The process-wide number of a shape symbol's name, so that `T.dynamic("n")` means the same symbol
/// wherever it is written.
unsigned internSymbol(llvm::StringRef name);
std::string getSymbolName(unsigned symbol);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_SIGNATURE_H
