//===- ControlFlow.h - kernels, loops and branches of a trace ----------------------*- C++ -*-===//
//
// Each function opens a region or goes on to the next part of one; Regions::end closes it.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_CONTROLFLOW_H
#define TILEWRIGHT_FRONTEND_CONTROLFLOW_H

#include "tilewright/Frontend/Arithmetic.h"
#include "tilewright/Frontend/Variables.h"
#include "tilewright/Layout/Fragment.h"

namespace tilewright::frontend {

enum class LoopKind { Serial, Unroll, Vectorized };

/// A name with its values at the ends of both branches of an `if`.
struct MergedName {
  std::string name;
  Operand thenValue, elseValue;
};

class ControlFlow {
public:
  ControlFlow(Emitter &emitter, Scalars &scalars, Arithmetic &arithmetic, Regions &regions,
              Variables &variables)
      : emitter(emitter), scalars(scalars), arithmetic(arithmetic), regions(regions),
        variables(variables), builder(emitter.getBuilder()) {}

  std::vector<Scalar> kernelBegin(llvm::ArrayRef<Operand> grid, llvm::ArrayRef<int64_t> threads);
  std::vector<Scalar> parallelBegin(llvm::ArrayRef<Operand> extents,
                                    std::optional<int64_t> coalescedWidth,
                                    const Fragment *loopLayout);
  Scalar pipelinedBegin(const Operand &start, const Operand &stop, int64_t numStages,
                        std::optional<llvm::ArrayRef<int64_t>> order,
                        std::optional<llvm::ArrayRef<int64_t>> stage);
  Scalar forBegin(const Operand &start, const Operand &stop, int64_t step, LoopKind kind);
  std::vector<Scalar> persistentBegin(llvm::ArrayRef<Operand> domain, const Operand &waveSize,
                                      const Operand &index);
  void ifBegin(const Operand &condition);
  void elseBegin();
  /// Names that the branches of the innermost `if` left with different values become variables, set
  /// at the end of both branches; called while its `else` is open.
  std::vector<Variable> ifMerge(llvm::ArrayRef<MergedName> names);
  void whileBegin();
  /// Leaves the condition region of a `while` whose condition turned out to be a Python value; its
  /// operations go before the loop or away.
  void whileCancel(bool keep);
  void whileBody(const Operand &condition);

private:
  Emitter &emitter;
  Scalars &scalars;
  Arithmetic &arithmetic;
  Regions &regions;
  Variables &variables;
  mlir::OpBuilder &builder;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_CONTROLFLOW_H
