//===- SplitBlocks.h - long basic blocks become several ----------------------------*- C++ -*-===//
//
// LLVM selects instructions for one basic block at a time, in time that grows with the square of its
// length. A statement of a thousand terms is one block. So blocks are divided right in front of the
// selection, after the last pass that joins blocks; a value that crosses is a register in any case.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_SPLITBLOCKS_H
#define TILEWRIGHT_CODEGEN_SPLITBLOCKS_H

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Pass.h"

namespace tilewright {

/// Takes the passes of a code generator, and divides blocks after the preparation for selection.
class CodegenPasses : public llvm::legacy::PassManager {
public:
  CodegenPasses();
  void add(llvm::Pass *pass) override;

protected:
  /// Whether the code generator is to go without this pass.
  virtual bool isLeftOut(llvm::StringRef) const { return false; }

private:
  llvm::AnalysisID last = nullptr;
};

} // namespace tilewright

#endif // TILEWRIGHT_CODEGEN_SPLITBLOCKS_H
