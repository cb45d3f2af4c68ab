//===- Trace.h - builds tile IR while a Python function runs -----------------------*- C++ -*-===//
//
// A Trace is one prim_func under construction. Python calls one of its services for each statement
// and expression it meets; every call appends operations at the current position, with the current
// source line, and verifies them at once, so that an error is raised at the user's own line. All
// typing rules of the language (promotion, extents of copies, slices) live here; Python holds none of
// them.
//
// A service knows one thing and uses only the services above it:
//
//     emitter            where the next op goes, and the line it belongs to
//     signature          parameters and shape symbols
//     scalars            constants, reads, conversions
//     arithmetic         operators and functions
//     regions            the regions that are open
//     variables          cells that control flow assigns
//     controlFlow        kernels, loops, branches
//     conditionals       expressions that evaluate one of two sides
//     buffers            allocations, elements and slices
//     statements         copies, products, reductions, ...
//     threadStatements   thread indices, barriers, grid syncs
//     clusters           copies and arrivals between the blocks of a cluster
//
// Errors of the user are thrown as UserError.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_TRACE_H
#define TILEWRIGHT_FRONTEND_TRACE_H

#include "tilewright/Frontend/Clusters.h"
#include "tilewright/Frontend/Conditionals.h"
#include "tilewright/Frontend/ControlFlow.h"
#include "tilewright/Frontend/Program.h"
#include "tilewright/Frontend/Statements.h"
#include "tilewright/Frontend/ThreadStatements.h"

#include <memory>

namespace tilewright::frontend {

class Trace {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

public:
  Trace(llvm::StringRef name, const SourcePosition &position);
  ~Trace();
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  /// The trace that Python values act on; throws UserError outside a kernel.
  static Trace &current();
  static Trace *currentOrNull();
  void activate();
  void deactivate();
  mlir::MLIRContext *getContext() { return context.get(); }

  /// Closes the function, cleans up and verifies it.
  std::unique_ptr<Program> finish(bool fastMath);

  Emitter emitter;
  Signature signature;
  Scalars scalars{emitter, signature};
  Arithmetic arithmetic{emitter, scalars};
  Regions regions{emitter};
  Variables variables{emitter, scalars, regions};
  ControlFlow controlFlow{emitter, scalars, arithmetic, regions, variables};
  Conditionals conditionals{emitter, scalars, regions};
  Buffers buffers{emitter, signature, scalars, arithmetic, regions};
  Statements statements{emitter, scalars, regions, buffers, variables};
  ThreadStatements threadStatements{emitter, scalars, regions};
  Clusters clusters{emitter, regions, buffers};
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_TRACE_H
