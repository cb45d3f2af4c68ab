//===- Module.h - what a PTX file says, names resolved ---------------------------------===//
//
// The parser's result and the decoder's input. Names of registers, variables and labels are already
// resolved through PTX's nested scopes; opcodes are still text split at their dots, because what a
// modifier means is known only to the instruction family that owns the opcode.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_PTX_MODULE_H
#define VGPU_PTX_MODULE_H

#include "vgpu/Ptx/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace vgpu::ptx {

struct Function;

/// A named piece of memory: .global, .shared, .local, .const or .param.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type elementType = Type::B8;
  uint32_t alignBytes = 1;
  uint64_t sizeBytes = 0;
  bool isExtern = false;
  bool isUnsizedArray = false; ///< `.extern .shared .b8 buffer[];`: dynamic shared memory
  bool isArray = false;        ///< declared with [..]: a struct or array parameter
  bool isOfModule = false;     ///< declared outside of functions
  uint32_t line = 0;
  uint64_t address = 0; ///< layOutModule: a device address for .global, an offset for .const
  std::vector<uint8_t> initializer; ///< empty, or a prefix of the variable's bytes

  /// Bytes of the initializer that hold another variable's address.
  struct Relocation {
    uint64_t offsetBytes;
    std::string symbol;
    int64_t addend;
    bool isGeneric;
    uint8_t widthBytes;
  };
  std::vector<Relocation> relocations;
};

struct Register {
  std::string name;
  Type type = Type::B32;
};

/// Position in the file the PTX was compiled from, as `.loc` gives it; file 0 means unknown.
struct SourceLoc {
  uint32_t file = 0;
  uint32_t line = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    Register,
    Special,  ///< %tid.x, WARP_SZ: `name`
    Integer,  ///< `integer`
    Float,    ///< `integer` holds IEEE bits of width `floatBits`
    Variable, ///< address of `variable` plus `integer`
    Function, ///< `name`
    Label,    ///< index into Function::labels
    Targets,  ///< index into Function::branchTargets
    Vector,   ///< {a, b, ...}
    Address,  ///< [elements[0] + integer], TMA: [elements[0], elements[1]]
    Pair,     ///< p|q
    List,     ///< (a, b) of a call
    Sink,     ///< _
  };
  Kind kind = Kind::Sink;
  bool isNegated = false; ///< !p
  uint8_t floatBits = 0;
  uint32_t index = 0; ///< register, label or branch-target list
  uint64_t integer = 0;
  const ptx::Variable *variable = nullptr;
  std::string name;
  std::vector<Operand> elements;
};

struct Instruction {
  std::string opcode;                      ///< full text: "ld.global.nc.v4.u32"
  llvm::SmallVector<std::string, 6> parts; ///< split at dots: "ld", "global", ...
  int32_t guard = -1;                      ///< predicate register, or -1
  bool isGuardNegated = false;
  llvm::SmallVector<Operand, 4> operands;
  uint32_t line = 0;
  SourceLoc loc;
};

struct Label {
  std::string name;
  uint32_t target = 0; ///< index of the next instruction; body.size() at the end
  uint32_t line = 0;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool hasBody = false;
  uint32_t line = 0;
  uint32_t index = 0; ///< in Module::functions
  std::vector<Register> registers;
  std::vector<std::unique_ptr<Variable>> variables; ///< all declared inside, and the parameters
  /// Formal parameters; a `.reg` formal of a .func is a register, the others variables.
  struct Formal {
    const Variable *variable = nullptr;
    int32_t reg = -1;
  };
  std::vector<Formal> params, results;
  std::vector<Instruction> body;
  std::vector<Label> labels;
  std::vector<std::vector<uint32_t>> branchTargets;    ///< label indices
  std::array<uint32_t, 3> requiredThreads = {0, 0, 0}; ///< .reqntid, 0 if absent
  std::array<uint32_t, 3> maxThreads = {0, 0, 0};      ///< .maxntid, 0 if absent
  bool needsCluster = false;
  std::array<uint32_t, 3> requiredCluster = {0, 0, 0};
  uint32_t maxRegisters = 0;   ///< .maxnreg, 0 if absent
  uint32_t minBlocks = 0;      ///< .minnctapersm
  uint32_t maxClusterRank = 0; ///< .maxclusterrank
};

struct Module {
  std::string fileName; ///< of the PTX itself
  std::string version;
  std::string target; ///< first word of .target, e.g. "sm_80"
  std::vector<std::unique_ptr<Variable>> variables;
  std::vector<std::unique_ptr<Function>> functions;
  uint64_t constantBytes = 0;           ///< layOutModule: of all .const variables
  std::vector<std::string> sourceFiles; ///< by .file index; [0] unused

  llvm::StringMap<const Function *> functionsByName; ///< a definition wins over a declaration
  llvm::StringMap<const Variable *> variablesByName; ///< those of the module; likewise

  const Function *findFunction(llvm::StringRef name) const { return functionsByName.lookup(name); }
  /// Position of a function in `functions`: stands for the function's address.
  size_t functionIndex(const Function *function) const {
    return function ? function->index : functions.size();
  }
  const Variable *findVariable(llvm::StringRef name) const { return variablesByName.lookup(name); }
};

} // namespace vgpu::ptx

#endif // VGPU_PTX_MODULE_H
