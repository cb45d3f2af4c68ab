//===- ProductLayouts.cpp - what wgmma expects in memory and in registers ---------------------===//

#include "tilewright/Layout/ProductLayouts.h"
#include "Counterexamples.h"
#include "tilewright/Layout/Questions.h"

using namespace tilewright;
using llvm::Expected;
using llvm::Twine;

//===----------------------------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------------------------===//

/// Strides are 14 bits of 16-byte units.
static constexpr int64_t kMaxStrideBytes = (int64_t(1) << 14) * 16 - 16;

static int64_t getSpan(BankSwizzle swizzle) { return static_cast<int64_t>(swizzle); }

/// Where the swizzle moves a byte: bits 4-6 (4-5, 4) are xored with bits 7-9 (7-8, 7). Applied
/// twice, it gives the address back.
static IndexExpr swizzleAddress(const IndexExpr &address, BankSwizzle swizzle) {
  return address ^ 16 * (floorDiv(address, 128) % (getSpan(swizzle) / 16));
}

static IndexExpr getLinearAddress(const ProductOperand &operand, const IndexExpr &mn,
                                  const IndexExpr &k) {
  int64_t span = getSpan(operand.swizzle), size = operand.elementBytes;
  const IndexExpr &along = operand.isKMajor ? k : mn, &across = operand.isKMajor ? mn : k;
  int64_t spanPitch = operand.isKMajor ? operand.panelBytes : operand.leadingBytes;
  return floorDiv(along * size, span) * spanPitch + along * size % span +
         floorDiv(across, 8) * operand.strideBytes + across % 8 * span;
}

int64_t ProductOperand::getStart(int64_t mn, int64_t k) const {
  assert((isKMajor ? mn % 8 : mn * elementBytes % getSpan(swizzle)) == 0 && "inside a group");
  assert(k * elementBytes % kProductDepthBytes == 0 && "inside a product");
  return *getLinearAddress(*this, IndexExpr(mn), IndexExpr(k)).evaluate({});
}

uint64_t ProductOperand::getDescriptor() const {
  uint64_t mode = swizzle == BankSwizzle::Full ? 1 : swizzle == BankSwizzle::Half ? 2 : 3;
  return uint64_t(leadingBytes / 16) << 16 | uint64_t(strideBytes / 16) << 32 | mode << 62;
}

/// The descriptor of one form that agrees with the tile on the first element of each group, if its
/// strides can be written down. Extents of a single group leave a stride free; it is then 0.
static Expected<ProductOperand> guessOperand(const Layout &bytes, int64_t elementBytes,
                                             BankSwizzle swizzle, bool isKMajor) {
  int64_t span = getSpan(swizzle), inSpan = span / elementBytes;
  unsigned along = isKMajor ? 1 : 0;
  if (bytes.getShape()[along] % inSpan)
    return llvm::createStringError("rows of " + Twine(bytes.getShape()[along]) +
                                   " elements are no "
                                   "multiple of " +
                                   Twine(span) + " bytes");
  if (bytes.getShape()[1 - along] % 8)
    return llvm::createStringError(Twine(bytes.getShape()[1 - along]) +
                                   " rows are no multiple of 8");
  auto addressOf = [&](int64_t onSpan, int64_t across) -> std::optional<int64_t> {
    std::array<int64_t, 2> index{across, onSpan};
    if (!isKMajor)
      std::swap(index[0], index[1]);
    if (!isInShape(index, bytes.getShape()))
      return 0;
    auto offset = bytes.map(index);
    return offset ? swizzleAddress(IndexExpr((*offset)[0]), swizzle).evaluate({}) : std::nullopt;
  };
  std::optional<int64_t> start = addressOf(0, 0), stride = addressOf(0, 8),
                         pitch = addressOf(inSpan, 0);
  if (start != 0 || !stride || !pitch)
    return llvm::createStringError("the first element does not lie at the start of the tile");
  for (int64_t bytesApart : {*stride, *pitch})
    if (bytesApart < 0 || bytesApart % 16 || bytesApart > kMaxStrideBytes)
      return llvm::createStringError("a stride of " + Twine(bytesApart) +
                                     " bytes does not fit a descriptor");
  ProductOperand operand{swizzle, isKMajor, elementBytes, 0, *stride, 0};
  (isKMajor ? operand.panelBytes : operand.leadingBytes) = *pitch;
  return operand;
}

/// Proves that the tile lies where the descriptor says, element by element.
static llvm::Error verifyOperand(const Layout &bytes, const ProductOperand &operand) {
  // Groups must not break the swizzle's period, or starts inside the tile would shift it.
  if (operand.strideBytes % (8 * getSpan(operand.swizzle)) ||
      (operand.isKMajor ? operand.panelBytes : operand.leadingBytes) %
          (8 * getSpan(operand.swizzle)))
    return llvm::createStringError("groups of 8 rows do not start where the swizzle does");
  IndexExpr address = getLinearAddress(operand, IndexExpr::dim(0), IndexExpr::dim(1));
  Layout described = Layout::get(bytes.getShape(), {swizzleAddress(address, operand.swizzle)});
  Answer<Difference> answer = isEqual(described, bytes);
  if (answer.isYes())
    return llvm::Error::success();
  if (answer.isUnknown())
    return llvm::createStringError(answer.getReason());
  const Difference &difference = answer.getCounterexample();
  return llvm::createStringError("element " + indexToString(difference.index) + " lies at byte " +
                                 Twine(difference.second[0]) + ", wgmma reads it at byte " +
                                 Twine(difference.first[0]));
}

Expected<ProductOperand> tilewright::matchProductOperand(const Layout &offset,
                                                         int64_t elementBits) {
  assert(offset.getRank() == 2 && offset.getNumOutputs() == 1 && "expected (mn, k) -> offset");
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return llvm::createStringError("wgmma has no operands of " + Twine(elementBits) + " bits");
  int64_t elementBytes = elementBits / 8;
  Layout bytes = Layout::get(offset.getShape(), {offset.getOutputs()[0] * elementBytes});
  bool isKMajor = bytes.getShape()[1] > 1 && bytes.map({0, 1}) == IndexVector{elementBytes};
  if (!isKMajor && elementBits != 16)
    return llvm::createStringError("wgmma reads operands of " + Twine(elementBits) +
                                   " bits only along K; transpose the tile");
  std::string reason; // of the widest swizzle
  for (BankSwizzle swizzle : {BankSwizzle::Full, BankSwizzle::Half, BankSwizzle::Quarter}) {
    Expected<ProductOperand> operand = guessOperand(bytes, elementBytes, swizzle, isKMajor);
    llvm::Error error = operand ? verifyOperand(bytes, *operand) : operand.takeError();
    if (!error)
      return operand;
    std::string text = llvm::toString(std::move(error));
    reason = reason.empty() ? text : reason;
  }
  return llvm::createStringError(reason);
}

//===----------------------------------------------------------------------------------------===//
// Sums and operands in registers
//===----------------------------------------------------------------------------------------===//

namespace {
/// The rows of a block's tile, cut into groups, products of 64 rows and warps of 16.
struct ProductRows {
  ProductRows(unsigned dim, int64_t extent, int64_t groups) : products(extent / groups / 64) {
    IndexExpr row = IndexExpr::dim(dim);
    IndexExpr inGroup = groups == 1 ? row : row % (extent / groups);
    group = groups == 1 ? IndexExpr(0) : floorDiv(row, extent / groups);
    product = products == 1 ? IndexExpr(0) : floorDiv(inGroup, kProductRows);
    warp = floorDiv(inGroup % kProductRows, 16);
    inTile = row % 16;
  }

  int64_t products; ///< Of one group.
  IndexExpr group, product, warp, inTile;
};
} // namespace

static llvm::Error verifyRows(int64_t m, int64_t groups) {
  if (m > 0 && groups > 0 && m % (groups * kProductRows) == 0)
    return llvm::Error::success();
  return llvm::createStringError("gemm: expected M to be a multiple of " +
                                 Twine(groups * kProductRows) + " (" + Twine(groups) +
                                 " warpgroups x " + Twine(kProductRows) + "), got " + Twine(m));
}

Expected<Fragment> tilewright::productAccumulator(int64_t m, int64_t n, GroupGrid groups) {
  if (llvm::Error error = verifyRows(m, groups.groupsM))
    return error;
  if (n <= 0 || n % (8 * groups.groupsN))
    return llvm::createStringError("gemm: expected N to be a multiple of " +
                                   Twine(8 * groups.groupsN) + " (" + Twine(groups.groupsN) +
                                   " warpgroups x 8), got " + Twine(n));
  ProductRows rows(0, m, groups.groupsM);
  int64_t columns = n / groups.groupsN;
  IndexExpr column = IndexExpr::dim(1);
  IndexExpr inGroup = groups.groupsN == 1 ? column : column % columns;
  IndexExpr groupN = groups.groupsN == 1 ? IndexExpr(0) : floorDiv(column, columns);
  Fragment tile = mmaAccumulator({16, 8, 16, 16});
  IndexExpr thread = tile.getThread().substitute({rows.inTile, column % 8});
  IndexExpr slot = tile.getSlot().substitute({rows.inTile, column % 8});
  IndexExpr number = rows.product * (columns / 8) + floorDiv(inGroup, 8);
  return Fragment::get(
      {m, n}, kWarpgroupThreads * (groups.groupsM * groupN + rows.group) + 32 * rows.warp + thread,
      tile.getSlotsPerThread() * number + slot);
}

Expected<Fragment> tilewright::productOperandA(int64_t m, int64_t k, int64_t elementBits,
                                               GroupGrid groups) {
  if (llvm::Error error = verifyRows(m, groups.groupsM))
    return error;
  int64_t depth = kProductDepthBytes * 8 / elementBits;
  if (k <= 0 || k % depth)
    return llvm::createStringError("gemm: expected K to be a multiple of " + Twine(depth) +
                                   ", got " + Twine(k));
  ProductRows rows(0, m, groups.groupsM);
  IndexExpr column = IndexExpr::dim(1);
  Fragment tile = mmaOperandA({16, 8, depth, elementBits});
  IndexExpr thread = tile.getThread().substitute({rows.inTile, column % depth});
  IndexExpr slot = tile.getSlot().substitute({rows.inTile, column % depth});
  IndexExpr number = rows.product * (k / depth) + floorDiv(column, depth);
  IndexExpr sharer = groups.groupsN == 1 ? IndexExpr(0) : IndexExpr::dim(2);
  return Fragment::get(
      {m, k}, kWarpgroupThreads * (groups.groupsM * sharer + rows.group) + 32 * rows.warp + thread,
      tile.getSlotsPerThread() * number + slot, groups.groupsN);
}
