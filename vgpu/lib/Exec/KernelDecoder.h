//===- KernelDecoder.h - state while one kernel is decoded -------------------------------===//
#ifndef VGPU_LIB_EXEC_KERNELDECODER_H
#define VGPU_LIB_EXEC_KERNELDECODER_H

#include "vgpu/Exec/Decode.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace vgpu {

/// An address and the space it is in; .param variables of called functions live in local memory.
struct VariableAddress {
  ptx::Space space = ptx::Space::Global;
  uint64_t address = 0;
};

class KernelDecoder {
public:
  KernelDecoder(const ptx::Module &module, const ptx::Function &entry);
  llvm::Expected<std::unique_ptr<Program>> run();

  // --- used by InstBuilder and the control family
  bool fail(uint32_t line, const llvm::Twine &message);
  Slot registerSlot(uint32_t reg) const { return frames.back().registers[reg]; }
  ptx::Type registerType(uint32_t reg) const { return frames.back().function->registers[reg].type; }
  Slot constantSlot(uint64_t value, unsigned bytes);
  Slot specialSlot(llvm::StringRef name, unsigned &bytes);
  bool addressOf(const ptx::Variable &variable, uint32_t line, VariableAddress &found);
  const ptx::Module &module() const { return mod; }
  const ptx::Function &currentFunction() const { return *frames.back().function; }

  /// The kernel uses mbarriers, bulk copies or wgmma; their checks are not made for others.
  void useAsyncProxy() { program->usesAsyncProxy = true; }

  /// Keeps a bulk copy; returns its index in the program.
  int64_t addBulkOperation(const BulkOperation &operation) {
    useAsyncProxy();
    program->bulkOperations.push_back(operation);
    return static_cast<int64_t>(program->bulkOperations.size() - 1);
  }

  /// The hidden predicate CC.CF as a destination or source.
  bool addCarry(InstBuilder &builder, bool isDestination);
  bool emit(InstBuilder &builder);
  /// Control family: a branch to a label of the current function.
  bool emitBranch(InstBuilder &builder, uint32_t label);
  bool emitIndexedBranch(InstBuilder &builder, uint32_t targets);
  /// ret: leaves the kernel, or goes on after the call being inlined.
  bool emitReturn(InstBuilder &builder);
  bool emitCall(InstBuilder &builder);

private:
  struct Frame {
    const ptx::Function *function;
    std::vector<Slot> registers;
    llvm::DenseMap<const ptx::Variable *, VariableAddress> addresses;
    struct Fixup {
      uint32_t pc;    ///< of the branch
      uint32_t label; ///< or ~0u: after the inlined body
      int32_t table;  ///< branch table and entry, or -1
      uint32_t entry;
    };
    std::vector<Fixup> fixups;
    // Functions that may call themselves (Recursion.cpp).
    int32_t returnTable = -1; ///< branch table of the points to return to; -1: not recursive
    uint32_t entryPc = 0;
    Slot returnIndex = {}; ///< row with the entry of that table
    uint32_t localBegin = 0, localEnd = 0;
  };
  bool decodeBody(Frame frame);
  bool bindArguments(InstBuilder &builder, const ptx::Function &callee, Frame &frame);
  bool emitIndirectCall(InstBuilder &builder, const ptx::Operand &pointer);
  bool emitHostCall(InstBuilder &builder, const ptx::Function &callee);
  bool addBranchTable(InstBuilder &builder, size_t numTargets);
  bool inlineCall(InstBuilder &builder, const ptx::Function &callee);
  bool isActive(const ptx::Function &function) const;
  void startRecursive(Frame &frame);
  bool emitRecursiveCall(InstBuilder &builder, const ptx::Function &callee);
  bool emitRecursiveReturn(InstBuilder &builder);
  bool saveFrame(InstBuilder &builder, const Frame &frame, RecursiveCall &call);
  Frame makeFrame(const ptx::Function &function);
  uint32_t allocateRow(unsigned bytes);
  bool layOutParams();
  bool checkSizes(uint32_t line);

  const ptx::Module &mod;
  const ptx::Function &entry;
  std::unique_ptr<Program> program;
  std::vector<Frame> frames;
  llvm::DenseMap<const ptx::Variable *, uint64_t> sharedOffsets;
  std::map<std::pair<uint64_t, unsigned>, uint32_t> constantOffsets;
  llvm::DenseMap<const ptx::Function *, bool> reachesItself; ///< of functions that were asked
  size_t numTargets = 0;                                     ///< of all branch tables
  std::optional<Slot> carry;
  std::string error;
  bool isUnsupported = false; ///< the error is a limit of the decoder, not of the PTX
};

/// The lists of a call: results (optional), and arguments (optional) after the callee.
std::pair<const ptx::Operand *, const ptx::Operand *> callLists(const ptx::Instruction &call);

/// Whether a variable can be passed for a formal: memory of the same size, or of any for an unsized
/// array. A larger formal would reach beyond the variable.
bool isLike(const ptx::Variable &formal, const ptx::Variable &actual);
std::string differ(const ptx::Function &callee, const ptx::Variable &formal,
                   const ptx::Variable &actual);

/// Finds each branch's reconvergence point and inserts Flow::Reconverge pseudo-instructions.
void insertReconvergence(Program &program);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_KERNELDECODER_H
