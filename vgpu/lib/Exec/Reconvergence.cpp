//===- Reconvergence.cpp - where divergent lanes meet again ------------------------------===//
//
// The lanes that a branch separates meet at its immediate post-dominator: the first point that
// every path from the branch to the exit passes. Post-dominators are computed on basic blocks with
// the iterative algorithm of Cooper, Harvey and Kennedy on the reversed graph, with one virtual
// exit. Each such point gets a pseudo-instruction where lanes wait for each other.
//
//===-----------------------------------------------------------------------------------===//
#include "KernelDecoder.h"
#include "llvm/ADT/STLExtras.h"

namespace vgpu {

namespace {
struct FlowGraph {
  std::vector<uint32_t> begins;  ///< first pc of each block
  std::vector<uint32_t> blockOf; ///< by pc
  std::vector<llvm::SmallVector<uint32_t, 2>> successors, predecessors;
  uint32_t exitBlock;
};

FlowGraph buildGraph(const Program &program) {
  const std::vector<Inst> &code = program.code;
  std::vector<bool> starts(code.size() + 1);
  starts[0] = true;
  auto targetsOf = [&](const Inst &inst) {
    llvm::SmallVector<uint32_t, 4> targets;
    if (inst.flow == Flow::Branch)
      targets.push_back(inst.target);
    if (inst.flow == Flow::IndexedBranch)
      for (uint32_t target : program.branchTables[inst.immediate])
        if (target != noPc)
          targets.push_back(target);
    return targets;
  };
  auto endsBlock = [](const Inst &inst) {
    return inst.flow == Flow::Branch || inst.flow == Flow::IndexedBranch ||
           inst.flow == Flow::Exit || inst.flow == Flow::Trap;
  };
  for (size_t pc = 0; pc < code.size(); ++pc) {
    for (uint32_t target : targetsOf(code[pc]))
      starts[target] = true;
    if (endsBlock(code[pc]))
      starts[pc + 1] = true;
  }
  FlowGraph graph;
  graph.blockOf.resize(code.size());
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    if (starts[pc])
      graph.begins.push_back(pc);
    graph.blockOf[pc] = static_cast<uint32_t>(graph.begins.size() - 1);
  }
  uint32_t numBlocks = static_cast<uint32_t>(graph.begins.size());
  graph.exitBlock = numBlocks;
  graph.successors.resize(numBlocks + 1);
  graph.predecessors.resize(numBlocks + 1);
  std::vector<uint32_t> after; // of one block
  for (uint32_t block = 0; block < numBlocks; ++block) {
    uint32_t end =
        block + 1 < numBlocks ? graph.begins[block + 1] : static_cast<uint32_t>(code.size());
    const Inst &last = code[end - 1];
    after.clear();
    for (uint32_t target : targetsOf(last))
      after.push_back(graph.blockOf[target]);
    if (last.flow == Flow::Exit || last.flow == Flow::Trap)
      after.push_back(graph.exitBlock);
    bool fallsThrough = !endsBlock(last) || last.isGuarded;
    if (fallsThrough && end < code.size())
      after.push_back(graph.blockOf[end]);
    llvm::sort(after);
    after.erase(llvm::unique(after), after.end());
    graph.successors[block].assign(after.begin(), after.end());
    for (uint32_t to : after)
      graph.predecessors[to].push_back(block);
  }
  return graph;
}

/// Immediate post-dominator of each block; exitBlock where lanes meet only at the end.
std::vector<uint32_t> postDominators(const FlowGraph &graph) {
  constexpr uint32_t unknown = ~0u;
  uint32_t count = graph.exitBlock + 1;
  // Post-order of the reversed graph, from the exit.
  std::vector<uint32_t> order, number(count, unknown);
  std::vector<std::pair<uint32_t, unsigned>> stack;
  std::vector<bool> seen(count);
  seen[graph.exitBlock] = true;
  stack.push_back({graph.exitBlock, 0});
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next < graph.predecessors[block].size()) {
      uint32_t before = graph.predecessors[block][next++];
      if (!seen[before]) {
        seen[before] = true;
        stack.push_back({before, 0});
      }
    } else {
      number[block] = static_cast<uint32_t>(order.size());
      order.push_back(block);
      stack.pop_back();
    }
  }
  std::vector<uint32_t> ipdom(count, unknown);
  ipdom[graph.exitBlock] = graph.exitBlock;
  auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = ipdom[a];
      while (number[b] < number[a])
        b = ipdom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t block : llvm::reverse(order)) {
      if (block == graph.exitBlock)
        continue;
      uint32_t result = unknown;
      for (uint32_t after : graph.successors[block])
        if (ipdom[after] != unknown)
          result = result == unknown ? after : meet(result, after);
      if (result != ipdom[block]) {
        ipdom[block] = result;
        changed = true;
      }
    }
  }
  // Blocks of an endless loop never reach the exit: their lanes have no meeting point.
  for (uint32_t &value : ipdom)
    if (value == unknown)
      value = graph.exitBlock;
  return ipdom;
}
} // namespace

void insertReconvergence(Program &program) {
  FlowGraph graph = buildGraph(program);
  std::vector<uint32_t> ipdom = postDominators(graph);
  std::vector<bool> meets(program.code.size() + 1);
  for (uint32_t pc = 0; pc < program.code.size(); ++pc) {
    Inst &inst = program.code[pc];
    bool canDiverge =
        (inst.flow == Flow::Branch && inst.isGuarded) || inst.flow == Flow::IndexedBranch;
    if (!canDiverge)
      continue;
    uint32_t block = ipdom[graph.blockOf[pc]];
    inst.reconverge = block == graph.exitBlock ? noPc : graph.begins[block];
    if (inst.reconverge != noPc)
      meets[inst.reconverge] = true;
  }
  // Rebuild with a pseudo-instruction in front of each meeting point; branches land on it.
  std::vector<Inst> code;
  std::vector<uint32_t> moved(program.code.size() + 1);
  for (uint32_t pc = 0; pc < program.code.size(); ++pc) {
    moved[pc] = static_cast<uint32_t>(code.size());
    if (meets[pc]) {
      Inst meeting;
      meeting.flow = Flow::Reconverge;
      meeting.line = program.code[pc].line;
      meeting.loc = program.code[pc].loc;
      code.push_back(meeting);
    }
    code.push_back(program.code[pc]);
  }
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    code[pc].pc = pc;
    if (code[pc].target != noPc)
      code[pc].target = moved[code[pc].target];
    if (code[pc].reconverge != noPc)
      code[pc].reconverge = moved[code[pc].reconverge];
  }
  for (std::vector<uint32_t> &table : program.branchTables)
    for (uint32_t &pc : table)
      pc = pc == noPc ? noPc : moved[pc];
  program.code = std::move(code);
}

} // namespace vgpu
