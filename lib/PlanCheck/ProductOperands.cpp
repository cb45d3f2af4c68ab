//===- ProductOperands.cpp - do descriptors of wgmma read the operand? ------------------------===//
//
// Read off the PTX ISA ("Asynchronous Warpgroup Level Matrix Shared Memory Layout"), not off the
// planner. Memory is cut into rows of `swizzle` bytes. A K-major operand has eight rows of M (N) one
// after the other, then the next eight `stride` bytes on; further along K the next panel begins. An
// MN-major operand has eight rows of K, the next eight `stride` bytes on, and the next span of M (N)
// `leading` bytes on. At the end, the 16-byte chunk's number in its 128 bytes is xored with the
// number of these 128 bytes, as far as the swizzle reaches. The xor uses addresses, so the operand
// must start where a period of eight rows does.
//
//===----------------------------------------------------------------------------------------===//

#include "ProductOperands.h"
#include "AccessModel.h"
#include "tilewright/Tile/Teams.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::plancheck;

/// The byte, counted from a boundary that the swizzle starts on, where the hardware reads element
/// (mn, k).
static int64_t readByte(OperandAttr plan, int64_t size, int64_t mn, int64_t k) {
  int64_t span = plan.getSwizzle();
  int64_t along = (plan.getKMajor() ? k : mn) * size, row = plan.getKMajor() ? mn : k;
  int64_t byte = along / span * (plan.getKMajor() ? plan.getPanel() : plan.getLeading()) +
                 along % span + row / 8 * plan.getStride() + row % 8 * span;
  int64_t chunk = byte >> 4 & 7, line = byte >> 7 & (span / 16 - 1);
  return (byte & ~int64_t(0x70)) | (chunk ^ line) << 4;
}

static std::string findOperandFault(GemmOp gemm, bool isA, OperandAttr plan,
                                    const Options &options) {
  Value buffer = isA ? gemm.getA() : gemm.getB();
  auto type = cast<MemRefType>(buffer.getType());
  auto root = getRoot(buffer).getDefiningOp<AllocOp>();
  int64_t size = getStorageBytes(type.getElementType()), span = plan.getSwizzle();
  if (span != 32 && span != 64 && span != 128)
    return "there is no swizzle of " + std::to_string(span) + " bytes";
  if (!plan.getKMajor() && size != 2)
    return "only 16-bit operands are read along M or N";
  for (int64_t stride : {plan.getLeading(), plan.getStride()})
    if (stride < 0 || stride % 16 || stride >= int64_t(1) << 18)
      return "a stride of " + std::to_string(stride) + " bytes does not fit the descriptor";
  auto alignment = root ? root->getAttrOfType<IntegerAttr>(kAlignmentAttr) : IntegerAttr();
  if (!alignment || alignment.getInt() % (8 * span))
    return "its tile does not start on a period of the swizzle";
  Subject subject;
  subject.op = subject.scope = gemm;
  subject.buffer = buffer;
  subject.isMatrix = subject.isRead = true;
  subject.kernel = gemm->getParentOfType<KernelOp>();
  ArrayRef<int64_t> shape = type.getShape().take_back(2);
  subject.owners.extents.assign(shape.begin(), shape.end()); // its elements are the iterations
  AccessModel model(subject);
  // The operand as stored: rows of M (N), or of K.
  bool isMnFirst = isA ? !gemm.getTransposeA() : gemm.getTransposeB();
  for (uint64_t round = 0; round < (model.hasDraws() ? options.rounds : 1); ++round) {
    if (!model.startRound(round))
      continue;
    Point first = model.at({0, 0});
    if (first.state != Point::Runs)
      continue;
    int64_t start = first.offset * size;
    if (start % (8 * span))
      return "the operand starts at byte " + std::to_string(start) + " of its tile";
    for (int64_t row = 0; row < shape[0]; ++row)
      for (int64_t column = 0; column < shape[1]; ++column) {
        Point point = model.at({row, column});
        int64_t expected =
            start + readByte(plan, size, isMnFirst ? row : column, isMnFirst ? column : row);
        if (point.state == Point::Runs && point.offset * size != expected)
          return "element (" + std::to_string(row) + ", " + std::to_string(column) +
                 ") lies at byte " + std::to_string(point.offset * size) +
                 ", the descriptor reads byte " + std::to_string(expected);
      }
  }
  return "";
}

std::string plancheck::findProductFault(GemmOp gemm, const Options &options) {
  auto groups = gemm->getAttrOfType<DenseI64ArrayAttr>(kGroupsAttr);
  if (!options.arch.hasWgmma)
    return options.arch.name.str() + " has no wgmma";
  int64_t numThreads = getNumThreads(gemm);
  if (groups.size() != 2 || groups[0] * groups[1] * 128 != numThreads)
    return "it has no grid of all warpgroups";
  auto planA = gemm->getAttrOfType<OperandAttr>(kOperandAAttr),
       planB = gemm->getAttrOfType<OperandAttr>(kOperandBAttr);
  auto root = getRoot(gemm.getA()).getDefiningOp<AllocOp>();
  bool isInRegisters = root && isa_and_nonnull<FragmentAttr>(root->getAttr(kPlacementAttr));
  if (!planB || bool(planA) == isInRegisters)
    return "an operand in shared memory has no plan, or one in registers has";
  std::string fault = planA ? findOperandFault(gemm, true, planA, options) : std::string();
  return fault.empty() ? findOperandFault(gemm, false, planB, options) : fault;
}
