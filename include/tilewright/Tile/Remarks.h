//===- Remarks.h - decisions of the compiler, for readers and for programs ----------*- C++ -*-===//
//
// A decision is emitted as an MLIR remark: a sentence at the statement it is about. What a program
// would want to know of it travels along as metadata, which no printer shows:
//
//   kind     what was decided: "access", "gemm", "placement", "pipeline"
//   buffer   the user's name of the tensor or tile, empty if there is none
//   data     numbers and words, such as width = 4, instruction = "ld.global.v4.f32"
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_REMARKS_H
#define TILEWRIGHT_TILE_REMARKS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace tilewright::tile {

/// A fact about a decision: an integer or a word.
struct RemarkFact {
  RemarkFact(llvm::StringRef name, int64_t value) : name(name), number(value) {}
  RemarkFact(llvm::StringRef name, llvm::StringRef value) : name(name), text(value.str()) {}

  llvm::StringRef name;
  std::optional<int64_t> number;
  std::string text;
};

/// Says what the remark in `diagnostic` is about.
void describeRemark(mlir::InFlightDiagnostic &diagnostic, llvm::StringRef kind,
                    llvm::StringRef buffer, llvm::ArrayRef<RemarkFact> data = {});

/// What `describeRemark` said: {kind, buffer, data}; empty for other diagnostics.
mlir::DictionaryAttr getRemarkFacts(mlir::Diagnostic &diagnostic);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_REMARKS_H
