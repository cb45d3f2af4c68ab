//===- HostCalls.cpp - functions that CUDA's device runtime provides -------------------------===//
//
// PTX declares them .extern and calls them with .param variables, which live in the caller's local
// memory:
//
//   vprintf(format, arguments)   appends to what the block has printed. The arguments lie in a
//                                buffer as C promotes them, each aligned to its size.
//   __assertfail(message, file, line, function, charSize)   ends the launch with a finding
//   malloc(bytes), free(address) allocations like the launch's own, null beyond a heap of 8 MiB, in
//                                which each takes 128 bytes or more; a use of one that is freed is
//                                a finding. Their presence makes the launch run on one host thread.
//
//===-----------------------------------------------------------------------------------===//
#include "KernelDecoder.h"
#include "LocalMemory.h"
#include "PrintFormat.h"
#include "vgpu/Exec/LaneMemory.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

/// Text on the device longer than this lacks its final zero.
constexpr size_t maxTextBytes = 1 << 16;
/// Characters that take as long as a warp instruction, about.
constexpr size_t charactersPerStep = 8;
/// What a launch prints beyond this is left out (CUDA keeps 1 MiB by default).
constexpr size_t maxPrintedBytes = 16 << 20;
/// What a block that prints costs beyond its text.
constexpr size_t printedBlockBytes = 128;
/// The heap of the device: CUDA's default (cudaLimitMallocHeapSize).
constexpr uint64_t heapBytes = 8 << 20;

const HostCall &callOf(const Warp &w, const Inst &in) {
  return w.launch->program->hostCalls[in.immediate];
}

uint64_t argument(Warp &w, const Inst &in, unsigned lane, unsigned position, unsigned bytes = 8) {
  uint64_t value = 0;
  std::memcpy(&value, LocalMemory(w, lane).data + callOf(w, in).arguments[position], bytes);
  return value;
}

void setResult(Warp &w, const Inst &in, unsigned lane, uint64_t value, unsigned bytes) {
  const HostCall &call = callOf(w, in);
  if (call.result < 0)
    return;
  LocalMemory local(w, lane);
  std::memcpy(local.data + call.result, &value, bytes);
  if (local.shadow)
    std::memset(local.shadow + call.result, 0, bytes);
}

/// One lane's bytes at a generic address; reports and gives false where there are none.
bool readBytes(Warp &w, const Inst &in, unsigned lane, uint64_t address, unsigned bytes,
               void *value) {
  LaneAddresses lanes;
  lanes.address[lane] = address;
  resolve(w, in, Space::Generic, bytes, AccessKind::Read, 1u << lane, lanes);
  if (lanes.mask)
    std::memcpy(value, lanes.host[lane], bytes);
  return lanes.mask != 0;
}

/// Text up to its final zero; what could be read of it if the rest is out of bounds.
std::string readText(Warp &w, const Inst &in, unsigned lane, uint64_t address) {
  std::string text;
  char c = 0;
  while (text.size() < maxTextBytes && readBytes(w, in, lane, address + text.size(), 1, &c) && c)
    text += c;
  return text;
}

/// The buffer that vprintf's second argument points at.
class ArgumentBuffer : public PrintArguments {
public:
  ArgumentBuffer(Warp &w, const Inst &in, unsigned lane, uint64_t address)
      : w(w), in(in), lane(lane), address(address) {}

  uint64_t next(unsigned bytes) override {
    address = (address + bytes - 1) / bytes * bytes;
    uint64_t value = 0, poison = 0;
    readBytes(w, in, lane, address, bytes, &value);
    if (w.launch->poison) {
      w.isShadowPass = true;
      readBytes(w, in, lane, address, bytes, &poison);
      w.isShadowPass = false;
    }
    if (poison)
      report(w, in, lane, FindingKind::Uninitialized,
             "a value that 'vprintf' prints depends on bits that were never written");
    address += bytes;
    return value;
  }
  std::string text(uint64_t at) override {
    if (w.launch->printedBytes >= maxPrintedBytes)
      return ""; // it is left out anyway
    return at ? readText(w, in, lane, at) : std::string("(null)");
  }

private:
  Warp &w;
  const Inst &in;
  unsigned lane;
  uint64_t address;
};

void print(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    std::string format = readText(w, in, lane, argument(w, in, lane, 0));
    ArgumentBuffer arguments(w, in, lane, argument(w, in, lane, 1));
    unsigned count = 0;
    std::string text = formatPrint(format, arguments, count);
    w.launch->extraSteps += (format.size() + text.size()) / charactersPerStep;
    setResult(w, in, lane, count, 4);
    size_t &total = w.launch->printedBytes;
    if (text.empty() || total >= maxPrintedBytes)
      return;
    std::string &output = w.launch->printed[w.block->linearIndex];
    total += text.size() + (output.empty() ? printedBlockBytes : 0);
    output += total < maxPrintedBytes ? text : "\n[what is printed beyond 16 MiB is left out]\n";
  });
}

/// Printing may take long: the warp's turn may be over.
Outcome printInTurn(Warp &w, const Inst &in, uint32_t mask) {
  print(w, in, mask);
  return Outcome::Continue;
}

void failAssertion(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    std::string function = readText(w, in, lane, argument(w, in, lane, 3));
    Finding finding;
    finding.kind = FindingKind::Assertion;
    finding.message = "'" + readText(w, in, lane, argument(w, in, lane, 0)) + "' is false";
    if (!function.empty())
      finding.message += ", in " + function;
    finding.site = siteOf(w, in, lane);
    finding.site.source = readText(w, in, lane, argument(w, in, lane, 1)) + ":" +
                          std::to_string(argument(w, in, lane, 2, 4));
    w.launch->findings->report(std::move(finding));
  });
}

void allocate(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t bytes = argument(w, in, lane, 0);
    GlobalMemory &memory = *w.launch->memory;
    uint64_t address = 0; // null: 0 bytes were requested, or there is no room
    if (bytes > 0 && GlobalMemory::heapBytesOf(bytes) <= heapBytes - memory.heapInUse())
      address = memory.allocate(bytes, llvm::formatv("malloc at ptx:{0}", in.line));
    setResult(w, in, lane, address, 8);
  });
}

void release(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t address = argument(w, in, lane, 0);
    if (address == 0)
      return;
    const Allocation *allocation = w.launch->memory->nearest(address);
    bool isKnown = allocation && allocation->address == address && allocation->isFromHeap;
    if (isKnown && !allocation->isFreed)
      return w.launch->memory->free(address);
    report(w, in, lane, isKnown ? FindingKind::UseAfterFree : FindingKind::InvalidAccess,
           llvm::formatv("free of {0}, which {1}", describeAddress(w, Space::Global, address),
                         isKnown ? "has been freed" : "malloc has not given"));
  });
}

struct HostFunction {
  llvm::StringLiteral name;
  llvm::StringLiteral argumentBytes; ///< a digit each
  unsigned resultBytes;              ///< 0: no result
  Handler execute;
  Flow flow = Flow::Plain;
  bool isHeap = false;
};
constexpr HostFunction functions[] = {
    {"vprintf", "88", 4, print, Flow::Blocking},
    {"__assertfail", "88488", 0, failAssertion, Flow::Trap},
    {"malloc", "8", 8, allocate, Flow::Plain, true},
    {"free", "8", 0, release, Flow::Plain, true},
};

} // namespace

bool KernelDecoder::emitHostCall(InstBuilder &builder, const Function &callee) {
  const auto *known = llvm::find_if(
      functions, [&](const HostFunction &function) { return function.name == callee.name; });
  if (known == std::end(functions))
    return builder.fail("calls '" + callee.name + "', which has no body in this module");
  HostCall call;
  auto [results, arguments] = callLists(builder.source);
  size_t numArguments = arguments ? arguments->elements.size() : 0;
  size_t numResults = results ? results->elements.size() : 0;
  size_t mostResults = known->resultBytes ? 1 : 0;
  if (numArguments != known->argumentBytes.size() || numResults > mostResults)
    return builder.fail("'" + callee.name + "' takes " + llvm::Twine(known->argumentBytes.size()) +
                        " parameters and gives " + llvm::Twine(mostResults) + ", got " +
                        llvm::Twine(numArguments) + " and " + llvm::Twine(numResults));
  auto localAddress = [&](const Operand &operand, unsigned bytes, uint32_t &address) {
    VariableAddress found;
    if (operand.kind != Operand::Kind::Variable)
      return builder.fail("a .param parameter needs a .param argument");
    if (!addressOf(*operand.variable, builder.source.line, found))
      return false;
    if (found.space != Space::Local || operand.variable->sizeBytes != bytes)
      return builder.fail("'" + operand.variable->name + "' of '" + callee.name + "' must have " +
                          llvm::Twine(bytes) + " bytes");
    address = static_cast<uint32_t>(found.address);
    return true;
  };
  uint32_t address = 0;
  for (size_t i = 0; i < numArguments; ++i) {
    if (!localAddress(arguments->elements[i], known->argumentBytes[i] - '0', address))
      return false;
    call.arguments.push_back(address);
  }
  if (numResults) {
    if (!localAddress(results->elements[0], known->resultBytes, address))
      return false;
    call.result = static_cast<int32_t>(address);
  }
  program->usesHeap |= known->isHeap;
  builder.inst.immediate = static_cast<int64_t>(program->hostCalls.size());
  program->hostCalls.push_back(std::move(call));
  builder.inst.execute = known->execute;
  builder.inst.flow = known->flow;
  if (known->flow == Flow::Blocking)
    builder.inst.executeBlocking = printInTurn;
  builder.inst.instClass = InstClass::Other;
  builder.inst.poison = PoisonRule::Defined;
  return emit(builder);
}

} // namespace vgpu
