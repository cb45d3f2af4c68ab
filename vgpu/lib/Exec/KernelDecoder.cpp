//===- KernelDecoder.cpp - a kernel and the functions it calls, as one program -----------===//
//
// Calls are inlined: the frame of the callee gets rows and local memory of its own, and its .param
// formals are the caller's .param variables themselves. A function that calls itself while it is
// being inlined is entered again by a jump (Recursion.cpp).
//
//===-----------------------------------------------------------------------------------===//
#include "KernelDecoder.h"
#include "Wgmma.h"
#include "vgpu/Memory/AddressMap.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace vgpu::ptx;

namespace vgpu {

static constexpr uint64_t moduleGlobalBase = 0x0000000800000000ull;
static constexpr uint64_t moduleGranule = 256;

void layOutModule(Module &module) {
  uint64_t nextGlobal = moduleGlobalBase, nextConstant = 0;
  for (const auto &variable : module.variables) {
    bool isGlobal = variable->space == Space::Global;
    uint64_t &next = isGlobal ? nextGlobal : nextConstant;
    if (!isGlobal && variable->space != Space::Const)
      continue;
    next =
        llvm::alignTo(next, std::max<uint64_t>(variable->alignBytes, isGlobal ? moduleGranule : 1));
    variable->address = next;
    // A gap of at least one granule keeps an overrun from landing in the next variable.
    next += variable->sizeBytes + (isGlobal ? moduleGranule : 0);
  }
  module.constantBytes = nextConstant;
}

KernelDecoder::KernelDecoder(const Module &module, const Function &entry)
    : mod(module), entry(entry), program(std::make_unique<Program>()) {
  program->name = entry.name;
  program->module = &module;
  program->entry = &entry;
}

bool KernelDecoder::fail(uint32_t line, const llvm::Twine &message) {
  if (error.empty())
    error = (mod.fileName + ":" + llvm::Twine(line) + ": error: " + message).str();
  return false;
}

uint32_t KernelDecoder::allocateRow(unsigned bytes) {
  // A predicate is one mask; rows are aligned to 64 bytes for SIMD.
  uint32_t offset = program->registerBytes;
  if (bytes != 0)
    offset = static_cast<uint32_t>(llvm::alignTo(offset, 64));
  program->registerBytes = offset + (bytes ? bytes * warpSize : 4);
  ++program->numRegisters;
  return offset;
}

Slot KernelDecoder::constantSlot(uint64_t value, unsigned bytes) {
  auto [it, isNew] = constantOffsets.try_emplace({value, bytes}, 0);
  if (isNew) {
    std::vector<uint8_t> &plane = program->constants;
    plane.resize(llvm::alignTo(plane.size(), 64));
    it->second = static_cast<uint32_t>(plane.size());
    unsigned width = bytes ? bytes : 4, lanes = bytes ? warpSize : 1;
    plane.resize(plane.size() + size_t(width) * lanes);
    for (unsigned lane = 0; lane < lanes; ++lane)
      std::memcpy(plane.data() + it->second + lane * width, &value, width);
  }
  Slot slot;
  slot.offset = it->second;
  slot.plane = Plane::Constant;
  slot.bytes = static_cast<uint8_t>(bytes);
  return slot;
}

Slot KernelDecoder::specialSlot(llvm::StringRef name, unsigned &bytes) {
  bool is64 = name == "%clock64" || name == "%globaltimer" || name == "%gridid";
  bytes = is64 ? 8 : 4;
  if (name.starts_with("%clock") || name.starts_with("%globaltimer"))
    bytes = 0; // volatile: only `mov` can read them
  for (const SpecialRow &row : program->specialRows)
    if (row.name == name)
      return row.slot;
  Slot slot;
  slot.plane = Plane::Register;
  slot.bytes = static_cast<uint8_t>(is64 ? 8 : 4);
  slot.offset = allocateRow(slot.bytes);
  program->specialRows.push_back({name.str(), slot});
  return slot;
}

bool KernelDecoder::addressOf(const Variable &variable, uint32_t line, VariableAddress &found) {
  found.space = variable.space;
  if (auto it = frames.back().addresses.find(&variable); it != frames.back().addresses.end()) {
    found = it->second;
    return true;
  }
  if (variable.space == Space::Shared) {
    if (variable.isUnsizedArray) {
      // All extern arrays begin where the static part ends, known when decoding is finished;
      // run() lays out the static variables of the whole module first, so it is known now.
      found.address = llvm::alignTo(program->staticSharedBytes, program->dynamicSharedAlign);
      return true;
    }
    auto it = sharedOffsets.find(&variable);
    if (it == sharedOffsets.end())
      return fail(line, "'" + variable.name + "' is not visible here");
    found.address = it->second;
    return true;
  }
  if (variable.isExtern)
    return fail(line, "'" + variable.name + "' is declared extern and defined nowhere");
  if (variable.space == Space::Global || variable.space == Space::Const) {
    found.address = variable.address;
    return variable.isOfModule ||
           fail(line, "'" + variable.name +
                          "': variables of this space must be declared at module level");
  }
  return fail(line, "'" + variable.name + "' is not visible here");
}

/// What kernels may have, so that nothing overflows and no file takes the host's memory. The first
/// two are CUDA's.
constexpr uint32_t maxLocalBytes = 512 << 10, maxParamBytes = 32764;
constexpr uint32_t maxRegisterBytes = 1 << 28; ///< of a warp; a register takes 128 or 256
constexpr size_t maxInstructions = 1 << 22;    ///< with all calls inlined
constexpr size_t maxTargets = 1 << 21;         ///< of all indexed branches

/// A sum of bytes that is too large stays too large.
static uint32_t saturate(uint64_t bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, 0xf0000000u));
}

/// Refuses what is too large as soon as it is.
bool KernelDecoder::checkSizes(uint32_t line) {
  if (program->localBytes > maxLocalBytes)
    return fail(line, "'" + program->name + "' needs " + llvm::Twine(program->localBytes) +
                          " bytes of local memory a thread; at most " + llvm::Twine(maxLocalBytes) +
                          " are possible");
  if (program->registerBytes > maxRegisterBytes)
    return fail(line, "'" + program->name + "' has " + llvm::Twine(program->numRegisters) +
                          " registers with all calls inlined; that is too many");
  if (program->code.size() > maxInstructions)
    return fail(line, "'" + program->name + "' has more than " + llvm::Twine(maxInstructions) +
                          " instructions with all calls inlined");
  return true;
}

KernelDecoder::Frame KernelDecoder::makeFrame(const Function &function) {
  Frame frame;
  frame.function = &function;
  frame.localBegin = program->localBytes;
  for (const Register &reg : function.registers) {
    Slot slot;
    slot.plane = Plane::Register;
    // .b8 registers exist only as ends of ld, st and cvt, .b128 ones as pairs of words.
    slot.bytes = static_cast<uint8_t>(reg.type == Type::Pred ? 0 : byteWidth(reg.type));
    slot.offset = allocateRow(slot.bytes);
    frame.registers.push_back(slot);
  }
  for (const auto &variable : function.variables) {
    bool isLocal = variable->space == Space::Local;
    bool isParam = variable->space == Space::Param;
    if (!isLocal && !isParam)
      continue;
    bool isFormalOfEntry = isParam && function.isEntry &&
                           llvm::any_of(function.params, [&](const Function::Formal &formal) {
                             return formal.variable == variable.get();
                           });
    if (isFormalOfEntry)
      continue;
    uint64_t begin =
        llvm::alignTo(program->localBytes, std::max<uint32_t>(variable->alignBytes, 4));
    frame.addresses[variable.get()] = {Space::Local, begin};
    program->localBytes = saturate(begin + variable->sizeBytes);
  }
  frame.localEnd = program->localBytes;
  return frame;
}

bool KernelDecoder::layOutParams() {
  uint64_t offset = 0;
  for (const Function::Formal &formal : entry.params) {
    const Variable &variable = *formal.variable;
    offset = llvm::alignTo(offset, variable.alignBytes);
    program->params.push_back({variable.name, saturate(offset),
                               static_cast<uint32_t>(variable.sizeBytes), variable.alignBytes});
    offset += variable.sizeBytes;
  }
  program->paramBytes = saturate(offset);
  return offset <= maxParamBytes ||
         fail(entry.line, "the parameters of '" + program->name + "' take " + llvm::Twine(offset) +
                              " bytes; at most " + llvm::Twine(maxParamBytes) + " are possible");
}

llvm::Expected<std::unique_ptr<Program>> KernelDecoder::run() {
  auto layOutShared = [&](const std::vector<std::unique_ptr<Variable>> &variables) {
    for (const auto &variable : variables) {
      if (variable->space != Space::Shared)
        continue;
      if (variable->isUnsizedArray) {
        program->dynamicSharedAlign = std::max(program->dynamicSharedAlign, variable->alignBytes);
        continue;
      }
      uint64_t offset = llvm::alignTo(program->staticSharedBytes, variable->alignBytes);
      sharedOffsets[variable.get()] = offset;
      program->staticSharedBytes = saturate(offset + variable->sizeBytes);
    }
  };
  layOutShared(mod.variables);
  for (const auto &function : mod.functions)
    if (function.get() == &entry || !function->isEntry)
      layOutShared(function->variables);
  auto refuse = [&] {
    return llvm::createStringError(isUnsupported ? std::errc::not_supported
                                                 : std::errc::invalid_argument,
                                   "%s", error.c_str());
  };
  if (!layOutParams())
    return refuse();

  Frame frame = makeFrame(entry);
  for (size_t i = 0; i < entry.params.size(); ++i)
    frame.addresses[entry.params[i].variable] = {Space::Param, program->params[i].offsetBytes};
  if (!decodeBody(std::move(frame)))
    return refuse();

  // Falling off the end leaves the kernel.
  Inst exit;
  exit.flow = Flow::Exit;
  exit.instClass = InstClass::Control;
  exit.line = program->code.empty() ? entry.line : program->code.back().line;
  program->code.push_back(exit);
  insertReconvergence(*program);
  watchWgmmaRegisters(*program);
  return std::move(program);
}

bool KernelDecoder::decodeBody(Frame newFrame) {
  frames.push_back(std::move(newFrame));
  if (frames.size() > 64)
    return fail(frames.back().function->line, "calls are nested too deeply");
  const Function &function = *frames.back().function;
  if (!checkSizes(function.line))
    return false;
  startRecursive(frames.back());
  // Where in the program each instruction of the body begins; labels point at those.
  std::vector<uint32_t> starts(function.body.size() + 1);
  for (size_t i = 0; i < function.body.size(); ++i) {
    starts[i] = static_cast<uint32_t>(program->code.size());
    const Instruction &instruction = function.body[i];
    FamilyDecoder decode = findFamily(instruction.parts[0]);
    if (!decode)
      return fail(instruction.line, "unknown instruction '" + instruction.opcode + "'");
    if (!checkSizes(instruction.line))
      return false;
    InstBuilder builder(*this, instruction);
    if (!decode(builder))
      return fail(instruction.line, "'" + instruction.opcode + "' could not be decoded");
  }
  bool endsWithReturn = !function.body.empty() && function.body.back().parts[0] == "ret" &&
                        function.body.back().guard < 0;
  if (frames.back().returnTable >= 0 && !endsWithReturn) {
    isUnsupported = true;
    return fail(function.line, "recursive function '" + function.name + "' must end with 'ret'");
  }
  starts.back() = static_cast<uint32_t>(program->code.size());
  for (const Frame::Fixup &fixup : frames.back().fixups) {
    uint32_t pc = fixup.label == ~0u ? starts.back() : starts[function.labels[fixup.label].target];
    if (fixup.table >= 0)
      program->branchTables[fixup.table][fixup.entry] = pc;
    else
      program->code[fixup.pc].target = pc;
  }
  frames.pop_back();
  return true;
}

bool KernelDecoder::addCarry(InstBuilder &builder, bool isDestination) {
  if (!carry) {
    carry.emplace();
    carry->plane = Plane::Register;
    carry->offset = allocateRow(0);
  }
  (isDestination ? builder.dsts : builder.srcs).push_back({*carry, Role::Data});
  return true;
}

bool KernelDecoder::emit(InstBuilder &builder) {
  if (!builder.atEnd())
    return builder.fail("unknown modifier '." + builder.peek() + "'");
  Inst &inst = builder.inst;
  inst.numDst = static_cast<uint16_t>(builder.dsts.size());
  inst.numSrc = static_cast<uint16_t>(builder.srcs.size());
  if (inst.addressSlot != 0xff)
    inst.addressSlot = static_cast<uint8_t>(inst.addressSlot + inst.numDst);
  if (inst.memberSlot >= 0)
    inst.memberSlot = static_cast<int8_t>(inst.memberSlot + inst.numDst);
  std::vector<Slot> slots, shadow;
  for (auto *list : {&builder.dsts, &builder.srcs})
    for (const InstBuilder::RoleSlot &entry : *list) {
      slots.push_back(entry.slot);
      Slot redirected = entry.slot;
      if (entry.role == Role::Data) {
        redirected.plane = entry.slot.plane == Plane::Register ? Plane::Shadow : Plane::Zero;
        redirected.isNegated = false;
        if (redirected.plane == Plane::Zero)
          redirected.offset = 0;
      }
      shadow.push_back(redirected);
    }
  program->slotLists.push_back(std::move(slots));
  inst.slots = program->slotLists.back().data();
  program->slotLists.push_back(std::move(shadow));
  inst.shadowSlots = program->slotLists.back().data();
  if (builder.source.guard >= 0) {
    Slot guard = registerSlot(static_cast<uint32_t>(builder.source.guard));
    inst.isGuarded = true;
    inst.isGuardNegated = builder.source.isGuardNegated;
    inst.guardOffset = guard.offset;
  }
  program->code.push_back(inst);
  return true;
}

bool KernelDecoder::emitBranch(InstBuilder &builder, uint32_t label) {
  builder.inst.flow = Flow::Branch;
  builder.inst.instClass = InstClass::Control;
  frames.back().fixups.push_back({static_cast<uint32_t>(program->code.size()), label, -1, 0});
  return emit(builder);
}

bool KernelDecoder::emitIndexedBranch(InstBuilder &builder, uint32_t targets) {
  const std::vector<uint32_t> &labels = currentFunction().branchTargets[targets];
  int32_t table = static_cast<int32_t>(program->branchTables.size());
  if (!addBranchTable(builder, labels.size()))
    return false;
  for (uint32_t i = 0; i < labels.size(); ++i)
    frames.back().fixups.push_back({0, labels[i], table, i});
  builder.inst.flow = Flow::IndexedBranch;
  builder.inst.instClass = InstClass::Control;
  builder.inst.immediate = table;
  return emit(builder);
}

bool KernelDecoder::emitReturn(InstBuilder &builder) {
  if (frames.back().returnTable >= 0)
    return emitRecursiveReturn(builder);
  if (frames.size() > 1)
    return emitBranch(builder, ~0u);
  builder.inst.flow = Flow::Exit;
  builder.inst.instClass = InstClass::Control;
  return emit(builder);
}

bool KernelDecoder::isActive(const Function &function) const {
  return llvm::any_of(frames, [&](const Frame &frame) { return frame.function == &function; });
}

std::pair<const Operand *, const Operand *> callLists(const Instruction &call) {
  const Operand *results = nullptr, *arguments = nullptr;
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (call.operands[i].kind == Operand::Kind::List)
      (i == 0 ? results : arguments) = &call.operands[i];
  return {results, arguments};
}

bool isLike(const Variable &formal, const Variable &actual) {
  return formal.isUnsizedArray || formal.sizeBytes == actual.sizeBytes;
}

std::string differ(const Function &callee, const Variable &formal, const Variable &actual) {
  return "'" + formal.name + "' of '" + callee.name + "' has " + std::to_string(formal.sizeBytes) +
         " bytes, but '" + actual.name + "' has " + std::to_string(actual.sizeBytes);
}

/// A .param formal is the caller's .param variable itself, a .reg formal the caller's register.
bool KernelDecoder::bindArguments(InstBuilder &builder, const Function &callee, Frame &frame) {
  auto bind = [&](const Operand *list, const std::vector<Function::Formal> &formals) {
    size_t given = list ? list->elements.size() : 0;
    if (given != formals.size())
      return builder.fail("'" + callee.name + "' takes " + llvm::Twine(formals.size()) +
                          " parameters, got " + llvm::Twine(given));
    for (size_t i = 0; i < given; ++i) {
      const Operand &actual = list->elements[i];
      VariableAddress found;
      if (formals[i].reg >= 0) {
        if (actual.kind != Operand::Kind::Register)
          return builder.fail("a .reg parameter needs a register argument");
        frame.registers[formals[i].reg] = registerSlot(actual.index);
      } else if (actual.kind != Operand::Kind::Variable) {
        return builder.fail("a .param parameter needs a .param argument");
      } else if (!addressOf(*actual.variable, builder.source.line, found)) {
        return false;
      } else if (!isLike(*formals[i].variable, *actual.variable)) {
        return builder.fail(differ(callee, *formals[i].variable, *actual.variable));
      } else {
        frame.addresses[formals[i].variable] = found;
      }
    }
    return true;
  };
  auto [results, arguments] = callLists(builder.source);
  return bind(results, callee.results) && bind(arguments, callee.params);
}

bool KernelDecoder::inlineCall(InstBuilder &builder, const Function &callee) {
  Frame frame = makeFrame(callee);
  return bindArguments(builder, callee, frame) && decodeBody(std::move(frame));
}

bool KernelDecoder::addBranchTable(InstBuilder &builder, size_t numTargets) {
  this->numTargets += numTargets;
  if (this->numTargets > maxTargets)
    return builder.fail("the indexed branches have more than " + llvm::Twine(maxTargets) +
                        " targets with all calls inlined");
  program->branchTables.emplace_back(numTargets, noPc);
  return true;
}

/// Whether a function with these parameters may be what an indirect call reaches.
static bool fits(const Operand *actuals, const std::vector<Function::Formal> &formals) {
  size_t given = actuals ? actuals->elements.size() : 0;
  for (size_t i = 0; i < std::min(given, formals.size()); ++i) {
    const Operand &actual = actuals->elements[i];
    bool isVariable = actual.kind == Operand::Kind::Variable;
    if (isVariable != (formals[i].reg < 0) ||
        (isVariable && !isLike(*formals[i].variable, *actual.variable)))
      return false;
  }
  return given == formals.size();
}

/// A call through a register: a jump table over the functions that fit the call, each inlined.
bool KernelDecoder::emitIndirectCall(InstBuilder &builder, const Operand &pointer) {
  auto [results, arguments] = callLists(builder.source);
  size_t table = program->branchTables.size();
  if (!addBranchTable(builder, mod.functions.size()))
    return false;
  builder.inst.flow = Flow::IndexedBranch;
  builder.inst.instClass = InstClass::Control;
  builder.inst.immediate = static_cast<int64_t>(table);
  builder.inst.secondOffset = static_cast<int64_t>(functionBase);
  if (!builder.addSrc(pointer, Type::U64, Role::Control) || !emit(builder))
    return false;
  std::vector<uint32_t> leaving; // jumps past the whole call
  for (size_t i = 0; i < mod.functions.size(); ++i) {
    const Function &callee = *mod.functions[i];
    if (callee.isEntry || !callee.hasBody || isActive(callee) || !fits(results, callee.results) ||
        !fits(arguments, callee.params))
      continue;
    program->branchTables[table][i] = static_cast<uint32_t>(program->code.size());
    if (!inlineCall(builder, callee))
      return false;
    Inst leave;
    leave.flow = Flow::Branch;
    leave.instClass = InstClass::Control;
    leave.line = builder.source.line;
    leave.loc = builder.source.loc;
    leave.source = &builder.source;
    leaving.push_back(static_cast<uint32_t>(program->code.size()));
    program->code.push_back(leave);
  }
  for (uint32_t pc : leaving)
    program->code[pc].target = static_cast<uint32_t>(program->code.size());
  return true;
}

bool KernelDecoder::emitCall(InstBuilder &builder) {
  const Instruction &source = builder.source;
  const Operand *target = nullptr;
  for (const Operand &operand : source.operands)
    if (!target && operand.kind != Operand::Kind::List)
      target = &operand;
  bool isDirect = target && target->kind == Operand::Kind::Function;
  if (!isDirect && (!target || target->kind != Operand::Kind::Register))
    return builder.fail("expected a function or a register that holds its address");
  if (!isDirect)
    return source.guard < 0 ? emitIndirectCall(builder, *target)
                            : builder.fail("a guarded call through a register is not supported");
  const Function *callee = mod.findFunction(target->name);
  if (!callee->hasBody)
    return emitHostCall(builder, *callee);
  if (isActive(*callee))
    return emitRecursiveCall(builder, *callee);
  // A guarded call: lanes whose guard fails branch around the body.
  std::optional<uint32_t> skip;
  if (source.guard >= 0) {
    InstBuilder around(*this, source);
    around.modifier = source.parts.size();
    around.inst.flow = Flow::Branch;
    around.inst.instClass = InstClass::Control;
    skip = static_cast<uint32_t>(program->code.size());
    if (!emit(around))
      return false;
    program->code.back().isGuardNegated = !source.isGuardNegated;
  }
  if (!inlineCall(builder, *callee))
    return false;
  if (skip)
    program->code[*skip].target = static_cast<uint32_t>(program->code.size());
  return true;
}

llvm::Expected<std::unique_ptr<Program>> decodeKernel(const Module &module, const Function &entry) {
  return KernelDecoder(module, entry).run();
}

} // namespace vgpu
