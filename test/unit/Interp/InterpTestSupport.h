//===- InterpTestSupport.h - parse a function, run it on vectors ------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TEST_UNIT_INTERP_INTERPTESTSUPPORT_H
#define TILEWRIGHT_TEST_UNIT_INTERP_INTERPTESTSUPPORT_H

#include "tilewright/Interp/Interp.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace tilewright::interp {

/// Holds the context and the parsed module of one test.
class InterpTest : public ::testing::Test {
protected:
  InterpTest() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
  }

  /// The first function of `text`.
  mlir::func::FuncOp parse(llvm::StringRef text) {
    std::string prefix = "#global = #tile.space<global>\n#shared = #tile.space<shared>\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(prefix + text.str(), &context);
    if (!module) {
      ADD_FAILURE() << "the test's program does not parse";
      return {};
    }
    return *module->getOps<mlir::func::FuncOp>().begin();
  }

  template <typename T>
  TensorArgument tensor(std::vector<T> &data, mlir::Type type, llvm::ArrayRef<int64_t> shape) {
    TensorArgument argument;
    argument.data = data.data();
    argument.shape.assign(shape.begin(), shape.end());
    argument.elementType = type;
    return argument;
  }
  TensorArgument tensor(std::vector<int32_t> &data) {
    return tensor(data, mlir::IntegerType::get(&context, 32), {static_cast<int64_t>(data.size())});
  }

  /// The message of a call that is refused.
  std::string refusal(mlir::func::FuncOp function, llvm::ArrayRef<Argument> arguments) {
    llvm::Expected<Result> result = run(function, arguments);
    return result ? "accepted" : llvm::toString(result.takeError());
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_TEST_UNIT_INTERP_INTERPTESTSUPPORT_H
