//===- Variables.h - scalar variables of a trace -----------------------------------*- C++ -*-===//
//
// A variable is a cell of rank 0 that is read and assigned: `T.alloc_var`, or a Python name that
// control flow assigns.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_VARIABLES_H
#define TILEWRIGHT_FRONTEND_VARIABLES_H

#include "tilewright/Frontend/Regions.h"
#include "tilewright/Frontend/Scalars.h"

namespace tilewright::frontend {

class Variables {
public:
  Variables(Emitter &emitter, Scalars &scalars, Regions &regions)
      : emitter(emitter), scalars(scalars), regions(regions), builder(emitter.getBuilder()) {}

  Variable alloc(llvm::StringRef name, mlir::Type dtype, std::optional<Operand> init);
  /// Like alloc, before the region that was opened at `depth`.
  Variable allocOutside(unsigned depth, llvm::StringRef name, mlir::Type dtype,
                        std::optional<Operand> init);
  void assign(const Variable &variable, const Operand &value);

private:
  Emitter &emitter;
  Scalars &scalars;
  Regions &regions;
  mlir::OpBuilder &builder;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_VARIABLES_H
