//===- Findings.h - what the checks of an engine found, in the program's words ------*- C++ -*-===//
//
// Each engine reports what it saw where it saw it: the interpreter at a statement of the tile
// program, the virtual GPU at an instruction of a thread. A user's mistake is one line of source
// and one cause, however many unrolled copies of the statement and however many threads meet it. So
// findings have one form, are merged by line, kind and buffer, with a count and one example, and
// what the virtual GPU says about instructions stays in `details`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_FINDINGS_H
#define TILEWRIGHT_DRIVER_FINDINGS_H

#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Interp/Interp.h"
#include "tilewright/Runtime/Arguments.h"

#include "vgpu/Vgpu.h"

namespace tilewright::driver {

struct Finding {
  /// An error ended the run, a finding is a defect, a note is worth knowing.
  interp::Severity severity = interp::Severity::Finding;
  std::string kind;    ///< "race", "out_of_bounds", …
  std::string message; ///< Without position.
  std::string file;    ///< Empty for code of no source line.
  int64_t line = 0, column = 0;
  std::string buffer; ///< The user's name; of tiles that share these bytes, all of them.
  llvm::SmallVector<int64_t> index;         ///< The element of the buffer; empty if unknown.
  llvm::SmallVector<int64_t> block, thread; ///< Empty where the engine has none.
  std::string other;                        ///< `file:line` of the other access, if elsewhere.
  uint64_t count = 1;                       ///< How often it arose.
  std::vector<std::string> details;         ///< What the instructions did.
};

/// `file:line: error: message (3 times) [kind]`.
std::string toString(const Finding &finding);

/// Collects the findings of one run.
class FindingList {
public:
  FindingList(mlir::func::FuncOp function, llvm::ArrayRef<runtime::BoundArgument> arguments)
      : function(function), arguments(arguments) {}

  void add(const interp::Finding &finding);
  /// Of a launch of the virtual GPU; `kernel` tells which tile lies where in shared memory.
  void add(llvm::ArrayRef<vgpu::Finding> launch, const nvptx::KernelInfo &kernel);

  std::vector<Finding> take() { return std::move(findings); }

private:
  void add(const vgpu::Finding &finding, const nvptx::KernelInfo &kernel);
  Finding *findLike(const Finding &finding);
  llvm::SmallVector<int64_t> findIndex(const vgpu::TouchedMemory &memory,
                                       const nvptx::KernelInfo &kernel);

  mlir::func::FuncOp function;
  llvm::ArrayRef<runtime::BoundArgument> arguments;
  std::vector<Finding> findings;
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_FINDINGS_H
