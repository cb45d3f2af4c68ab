//===- ControlFlow.cpp - kernels, loops and branches written in C++ ---------------------------===//

#include "Builder.h"

using tilewright::frontend::Literal;
using tilewright::frontend::LoopKind;
using tilewright::frontend::UserError;

namespace tw::lang {

/// Runs the body of a region that `open` opens, and closes it.
static void inRegion(const Where &where, llvm::function_ref<std::vector<Value>(State &)> open,
                     llvm::function_ref<void(std::span<const Value>)> body) {
  bool isOpen = false;
  std::vector<Value> indices = attempt(where, [&](State &state) {
    std::vector<Value> opened = open(state);
    isOpen = true;
    return opened;
  });
  if (!isOpen)
    return;
  body(indices);
  attempt(where, [](State &state) { state.trace.regions.end(); });
}

static void checkCount(size_t expected, size_t got, const char *what) {
  if (expected != got)
    throw UserError(std::string(what) + " has " + std::to_string(expected) +
                    " extents, its function takes " + std::to_string(got) + " indices");
}

void detail::kernel(const Shape &grid, const std::vector<int64_t> &threads, const Body &body,
                    Where where) {
  inRegion(
      where,
      [&](State &state) {
        if (state.trace.regions.getDepth() > 0)
          throw UserError(
              "'T.Kernel' inside another region: kernels are launched one after another");
        if (grid.empty())
          throw UserError("a kernel has 1 to 3 grid extents, got 0");
        checkCount(grid.size(), body.count, "the grid");
        state.hasKernel = true;
        return wrapAll(
            state.trace.controlFlow.kernelBegin(toOperands(grid, "grid extent"), threads));
      },
      body.run);
}

void detail::parallel(const Shape &extents, std::optional<int64_t> coalescedWidth, const Body &body,
                      Where where) {
  inRegion(
      where,
      [&](State &state) {
        checkCount(extents.size(), body.count, "'T.Parallel'");
        return wrapAll(state.trace.controlFlow.parallelBegin(
            toOperands(extents, "'T.Parallel' extent"), coalescedWidth, nullptr));
      },
      body.run);
}

void pipelined(const Value &start, const Value &stop, const PipelineOptions &options,
               const LoopBody &body, Where where) {
  inRegion(
      where,
      [&](State &state) {
        return wrapAll({state.trace.controlFlow.pipelinedBegin(
            toOperand(start.get(), "start of 'T.Pipelined'"),
            toOperand(stop.get(), "stop of 'T.Pipelined'"), options.num_stages, std::nullopt,
            std::nullopt)});
      },
      [&](std::span<const Value> indices) { body(indices[0]); });
}
void pipelined(const Value &stop, const PipelineOptions &options, const LoopBody &body,
               Where where) {
  pipelined(0, stop, options, body, where);
}

static void loop(const Value &start, const Value &stop, LoopKind kind, const LoopBody &body,
                 const Where &where) {
  inRegion(
      where,
      [&](State &state) {
        return wrapAll(
            {state.trace.controlFlow.forBegin(toOperand(start.get(), "start of a loop"),
                                              toOperand(stop.get(), "stop of a loop"), 1, kind)});
      },
      [&](std::span<const Value> indices) { body(indices[0]); });
}
void serial(const Value &start, const Value &stop, const LoopBody &body, Where where) {
  loop(start, stop, LoopKind::Serial, body, where);
}
void serial(const Value &stop, const LoopBody &body, Where where) {
  loop(0, stop, LoopKind::Serial, body, where);
}
void unroll(const Value &start, const Value &stop, const LoopBody &body, Where where) {
  loop(start, stop, LoopKind::Unroll, body, where);
}

void when(const Operand &condition, const std::function<void()> &then,
          const std::function<void()> &otherwise) {
  inRegion(
      condition.where(),
      [&](State &state) {
        state.trace.controlFlow.ifBegin(toOperand(condition.get(), "condition"));
        return std::vector<Value>();
      },
      [&](std::span<const Value>) {
        then();
        if (!otherwise)
          return;
        attempt(condition.where(), [](State &state) { state.trace.controlFlow.elseBegin(); });
        otherwise();
      });
}

} // namespace tw::lang
