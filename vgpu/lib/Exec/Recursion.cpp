//===- Recursion.cpp - functions that call themselves -----------------------------------------===//
//
// The body of a function is inlined once for each call from outside. A call from inside, direct or
// through other functions, saves the registers and local variables of the frames in between on a
// stack of the lane, copies the arguments, and jumps to the body's begin. `ret` then asks the stack
// whether to go back to such a call, or on after the inlined body. Each lane has a stack of its
// own, so lanes may be at different depths.
//
//===-----------------------------------------------------------------------------------===//
#include "KernelDecoder.h"
#include "LocalMemory.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Report.h"
#include "vgpu/Machine/Shadow.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

/// Calls in a row after which a thread's stack counts as overflown.
constexpr size_t maxDepth = 1 << 14;
/// Bytes that all calls of a thread may save: the most local memory that CUDA gives a thread.
constexpr size_t maxStackBytes = 512 << 10;

/// What a lane needs to go on after a call.
struct Activation {
  uint32_t call;                ///< index in Program::recursiveCalls
  std::vector<uint64_t> values; ///< registers, then their shadow
  std::vector<uint8_t> bytes;   ///< local memory, then its shadow
};
/// The calls that a thread is in.
struct CallStack : std::vector<Activation> {
  size_t bytes = 0;
};
struct CallStacks {
  std::vector<CallStack> threads;
};

size_t bytesOf(const Activation &activation) {
  return activation.values.size() * sizeof(uint64_t) + activation.bytes.size();
}

CallStack &stackOf(Warp &w, unsigned lane) {
  static const char key = 0;
  CallStacks &stacks = w.block->state<CallStacks>(&key);
  stacks.threads.resize(w.block->warps.size() * warpSize);
  return stacks.threads[w.index * warpSize + lane];
}

Slot onPlane(Slot slot, Plane plane) {
  slot.plane = plane;
  return slot;
}

void save(Warp &w, unsigned lane, const RecursiveCall &call, Activation &activation) {
  bool hasShadow = w.launch->poison != nullptr;
  for (Plane plane : {Plane::Register, Plane::Shadow})
    for (const Slot &slot : call.registers)
      if (plane == Plane::Register || hasShadow)
        activation.values.push_back(w.lane(onPlane(slot, plane), lane));
  LocalMemory local(w, lane);
  for (uint8_t *memory : {local.data, local.shadow})
    for (const RecursiveCall::Bytes &piece : call.memory)
      if (memory)
        activation.bytes.insert(activation.bytes.end(), memory + piece.from,
                                memory + piece.from + piece.count);
}

void restore(Warp &w, unsigned lane, const RecursiveCall &call, const Activation &activation) {
  const uint64_t *value = activation.values.data();
  for (Plane plane : {Plane::Register, Plane::Shadow})
    for (const Slot &slot : call.registers) {
      if (plane == Plane::Shadow && !w.launch->poison)
        continue;
      if (slot.bytes == 0)
        w.setPredicate(onPlane(slot, plane), *value ? fullMask : 0, 1u << lane);
      else
        w.setLane(onPlane(slot, plane), lane, *value);
      if (plane == Plane::Shadow)
        markMayBePoison(w, slot);
      ++value;
    }
  const uint8_t *bytes = activation.bytes.data();
  LocalMemory local(w, lane);
  for (uint8_t *memory : {local.data, local.shadow})
    for (const RecursiveCall::Bytes &piece : call.memory)
      if (memory) {
        std::memcpy(memory + piece.from, bytes, piece.count);
        bytes += piece.count;
      }
}

void pushCall(Warp &w, const Inst &in, uint32_t mask) {
  const RecursiveCall &call = w.launch->program->recursiveCalls[in.immediate];
  forEachLane(mask, [&](unsigned lane) {
    CallStack &stack = stackOf(w, lane);
    if (stack.size() >= maxDepth || stack.bytes >= maxStackBytes) {
      report(w, in, lane, FindingKind::OutOfBounds,
             llvm::formatv("the stack overflows: {0} calls in a row, {1} bytes", stack.size(),
                           stack.bytes));
      w.launch->stop = true;
      return;
    }
    Activation activation;
    activation.call = static_cast<uint32_t>(in.immediate);
    save(w, lane, call, activation);
    stack.bytes += bytesOf(activation);
    stack.push_back(std::move(activation));
    LocalMemory local(w, lane);
    for (const RecursiveCall::Bytes &argument : call.arguments)
      local.copy(argument.from, argument.to, argument.count);
  });
}

/// Sets each lane's entry of the return table: 0 leaves the inlined body.
void popCall(Warp &w, const Inst &in, uint32_t mask) {
  const std::vector<RecursiveCall> &calls = w.launch->program->recursiveCalls;
  forEachLane(mask, [&](unsigned lane) {
    CallStack &stack = stackOf(w, lane);
    bool isInner = !stack.empty() && calls[stack.back().call].function == uint32_t(in.immediate);
    w.setLane(in.dst(0), lane, isInner ? calls[stack.back().call].site : 0);
    if (!isInner)
      return;
    const RecursiveCall &call = calls[stack.back().call];
    LocalMemory local(w, lane);
    // The results are in the callee's variables, which are restored: keep them meanwhile.
    std::vector<uint8_t> results;
    for (const uint8_t *memory : {local.data, local.shadow})
      for (const RecursiveCall::Bytes &result : call.results)
        if (memory)
          results.insert(results.end(), memory + result.from, memory + result.from + result.count);
    restore(w, lane, call, stack.back());
    const uint8_t *bytes = results.data();
    for (uint8_t *memory : {local.data, local.shadow})
      for (const RecursiveCall::Bytes &result : call.results)
        if (memory) {
          std::memcpy(memory + result.to, bytes, result.count);
          bytes += result.count;
        }
    stack.bytes -= bytesOf(stack.back());
    stack.pop_back();
  });
}

/// The function that a call names directly, or null.
const Function *calleeOf(const Module &module, const Instruction &instruction) {
  if (instruction.parts[0] == "call")
    for (const Operand &operand : instruction.operands)
      if (operand.kind == Operand::Kind::Function)
        return module.findFunction(operand.name);
  return nullptr;
}

/// Whether direct calls lead from a function back to it.
bool canReachItself(const Module &module, const Function &function) {
  llvm::SmallPtrSet<const Function *, 8> seen;
  llvm::SmallVector<const Function *, 8> open = {&function};
  while (!open.empty()) {
    const Function *at = open.pop_back_val();
    for (const Instruction &instruction : at->body)
      if (const Function *callee = calleeOf(module, instruction)) {
        if (callee == &function)
          return true;
        if (seen.insert(callee).second)
          open.push_back(callee);
      }
  }
  return false;
}

} // namespace

uint64_t callDepthOf(Block &block) {
  uint64_t depth = 0;
  if (!block.launch->program->recursiveCalls.empty())
    for (Warp &warp : block.warps)
      for (unsigned lane = 0; lane < warpSize; ++lane)
        depth += stackOf(warp, lane).size();
  return depth;
}

void KernelDecoder::startRecursive(Frame &frame) {
  if (frame.function->isEntry)
    return;
  auto [known, isNew] = reachesItself.try_emplace(frame.function);
  if (isNew)
    known->second = canReachItself(mod, *frame.function);
  if (!known->second)
    return;
  frame.returnTable = static_cast<int32_t>(program->branchTables.size());
  program->branchTables.emplace_back(1);
  frame.fixups.push_back({0, ~0u, frame.returnTable, 0});
  frame.entryPc = static_cast<uint32_t>(program->code.size());
  frame.returnIndex.plane = Plane::Register;
  frame.returnIndex.bytes = 4;
  frame.returnIndex.offset = allocateRow(4);
}

/// Adds the registers and variables of a frame to what a call saves.
bool KernelDecoder::saveFrame(InstBuilder &builder, const Frame &frame, RecursiveCall &call) {
  for (const Slot &slot : frame.registers)
    if (slot.bytes == 16)
      llvm::append_range(call.registers, wordsOf(slot));
    else
      call.registers.push_back(slot);
  if (frame.localEnd > frame.localBegin)
    call.memory.push_back({frame.localBegin, 0, frame.localEnd - frame.localBegin});
  for (const auto *formals : {&frame.function->params, &frame.function->results})
    for (const Function::Formal &formal : *formals) {
      VariableAddress found =
          formal.variable ? frame.addresses.lookup(formal.variable) : VariableAddress();
      if (found.space != Space::Local || formal.variable->isUnsizedArray) {
        isUnsupported = true;
        return builder.fail("recursion is supported with .param parameters of known size only");
      }
      call.memory.push_back({found.address, 0, static_cast<uint32_t>(formal.variable->sizeBytes)});
    }
  return true;
}

bool KernelDecoder::emitRecursiveCall(InstBuilder &builder, const Function &callee) {
  size_t target = frames.size();
  while (frames[target - 1].function != &callee)
    --target;
  Frame &frame = frames[--target];
  if (frame.returnTable < 0)
    return builder.fail("a kernel cannot be called");
  RecursiveCall call;
  for (size_t i = target; i < frames.size(); ++i)
    if (!saveFrame(builder, frames[i], call))
      return false;
  auto bind = [&](const Operand *list, const std::vector<Function::Formal> &formals,
                  bool isResult) {
    if ((list ? list->elements.size() : 0) != formals.size())
      return builder.fail("'" + callee.name + "' takes " + llvm::Twine(formals.size()) +
                          " parameters");
    for (size_t i = 0; i < formals.size(); ++i) {
      const Operand &actual = list->elements[i];
      VariableAddress found, formal = frame.addresses.lookup(formals[i].variable);
      if (actual.kind != Operand::Kind::Variable)
        return builder.fail("a .param parameter needs a .param argument");
      if (!addressOf(*actual.variable, builder.source.line, found))
        return false;
      if (found.space != Space::Local)
        return builder.fail("'" + actual.variable->name + "' must be a .param variable");
      if (!isLike(*formals[i].variable, *actual.variable))
        return builder.fail(differ(callee, *formals[i].variable, *actual.variable));
      uint32_t size = static_cast<uint32_t>(formals[i].variable->sizeBytes);
      if (isResult)
        call.results.push_back({formal.address, found.address, size});
      else
        call.arguments.push_back({found.address, formal.address, size});
    }
    return true;
  };
  auto [results, arguments] = callLists(builder.source);
  if (!bind(results, callee.results, true) || !bind(arguments, callee.params, false))
    return false;
  std::vector<uint32_t> &table = program->branchTables[frame.returnTable];
  call.function = static_cast<uint32_t>(frame.returnTable);
  call.site = static_cast<uint32_t>(table.size());
  builder.inst.execute = pushCall;
  builder.inst.poison = PoisonRule::Defined;
  builder.inst.instClass = InstClass::Control;
  builder.inst.immediate = static_cast<int64_t>(program->recursiveCalls.size());
  program->recursiveCalls.push_back(std::move(call));
  InstBuilder jump(*this, builder.source);
  jump.modifier = builder.source.parts.size();
  jump.inst.flow = Flow::Branch;
  jump.inst.instClass = InstClass::Control;
  if (!emit(builder) || !emit(jump))
    return false;
  program->code.back().target = frame.entryPc;
  table.push_back(static_cast<uint32_t>(program->code.size()));
  return true;
}

bool KernelDecoder::emitRecursiveReturn(InstBuilder &builder) {
  const Frame &frame = frames.back();
  InstBuilder pop(*this, builder.source);
  pop.modifier = builder.source.parts.size();
  pop.inst.execute = popCall;
  pop.inst.poison = PoisonRule::Defined;
  pop.inst.instClass = InstClass::Control;
  pop.inst.immediate = frame.returnTable;
  pop.dsts.push_back({frame.returnIndex, Role::Data});
  builder.inst.flow = Flow::IndexedBranch;
  builder.inst.instClass = InstClass::Control;
  builder.inst.immediate = frame.returnTable;
  builder.srcs.push_back({frame.returnIndex, Role::Control});
  return emit(pop) && emit(builder);
}

} // namespace vgpu
