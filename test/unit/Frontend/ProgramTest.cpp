//===- ProgramTest.cpp - the contexts that programs live in -----------------------------------===//

#include "tilewright/Frontend/Program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright::frontend;

// A remark that prints its operation numbers the values of the whole program, so that the time of
// the passes grew with the square of the number of statements.
TEST(Program, RemarksDoNotPrintTheirOperation) {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
  unsigned remarks = 0;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    ++remarks;
    EXPECT_TRUE(diagnostic.getNotes().empty()) << diagnostic.str();
    return success();
  });
  module->emitRemark("a decision");
  EXPECT_EQ(remarks, 1u);
}
