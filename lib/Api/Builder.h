//===- Builder.h - the trace that tilewright/builder.h writes to --------------------------*- C++ -*-===//
//
// Each function of the public header calls `attempt`: it finds the trace of the innermost `build` of
// this thread, sets the line, and keeps the first mistake. After that it does nothing.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_API_BUILDER_H
#define TILEWRIGHT_API_BUILDER_H

#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Frontend/Trace.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/builder.h"

namespace tw::lang {

namespace frontend = tilewright::frontend;

/// A scalar, a buffer or region, or a layout.
struct detail::Node {
  std::variant<frontend::Operand, frontend::Buffer, tilewright::Layout> content;
};

struct State {
  explicit State(std::string_view name, const frontend::SourcePosition &position)
      : trace(llvm::StringRef(name), position) {}

  frontend::Trace trace;
  std::optional<frontend::UserError> error; ///< The first mistake.
  bool hasKernel = false;
};

/// The state of the innermost `build` of this thread, or null.
State *&current();
/// Keeps a mistake that was made outside `build`, for the next `build` of this thread.
void keepStray(frontend::UserError error);

frontend::SourcePosition toPosition(const Where &where);

/// Runs `work` on the trace. A mistake is kept, and gives an empty result.
template <typename F> auto attempt(const Where &where, F &&work) {
  using R = decltype(work(std::declval<State &>()));
  State *state = current();
  if (state && state->error)
    return R();
  try {
    if (!state)
      throw frontend::UserError("a statement of a kernel outside 'build'");
    state->trace.emitter.locate(toPosition(where));
    return work(*state);
  } catch (frontend::UserError &error) {
    if (!error.position)
      error.position = toPosition(where);
    if (state)
      state->error = error;
    else
      keepStray(error);
    return R();
  }
}

detail::Handle wrap(frontend::Operand operand);
detail::Handle wrap(frontend::Buffer buffer);
std::vector<Value> wrapAll(const std::vector<frontend::Scalar> &scalars);

/// What a handle holds; `what` names the statement in a refusal.
frontend::Operand toOperand(const detail::Handle &node, llvm::StringRef what);
std::vector<frontend::Operand> toOperands(const Shape &values, llvm::StringRef what);
std::vector<tilewright::IndexExpr> toShape(const Shape &shape, llvm::StringRef what);
frontend::TileOperand toTile(const detail::Handle &node, llvm::StringRef what);
frontend::Buffer toBuffer(const detail::Handle &node, llvm::StringRef what);
mlir::Type toType(State &state, DType dtype);

} // namespace tw::lang

#endif // TILEWRIGHT_API_BUILDER_H
