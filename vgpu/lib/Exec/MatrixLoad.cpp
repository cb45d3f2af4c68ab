//===- MatrixLoad.cpp - ldmatrix, stmatrix, movmatrix -----------------------------------------===//
//
// PTX ISA, "Warp-level matrix load instruction: ldmatrix". Lanes 8i to 8i+7 give the addresses of
// the rows of matrix i, each 16 bytes (8 elements of 16 bits). Lane l holds of every matrix the
// elements
//
//     row l/4, columns 2*(l%4) and 2*(l%4)+1          with .trans: of the transposed matrix
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/LaneMemory.h"
#include "vgpu/Exec/MatrixMath.h"
#include "vgpu/Exec/Rows.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum MatrixFlags : uint8_t { Trans = 1 };

/// Lane l's register is word l of the tile, row by row.
void distribute(HalfTile &tile, bool isTrans, uint32_t *row, uint32_t mask) {
  if (isTrans)
    transpose(tile);
  uint32_t words[warpSize];
  std::memcpy(words, tile, sizeof(tile));
  writeRow(row, mask, [&](unsigned lane) { return words[lane]; });
}
void collect(const uint32_t *row, bool isTrans, HalfTile &tile) {
  std::memcpy(tile, row, sizeof(tile));
  if (isTrans)
    transpose(tile);
}

/// The lanes whose addresses count.
uint32_t addressLanes(const Inst &in) {
  return in.count == 4 ? fullMask : (1u << (8 * in.count)) - 1;
}

void loadMatrix(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  computeAddresses(w, in.src(0), in.immediate, lanes.address);
  resolve(w, in, in.space, 16, AccessKind::Read, addressLanes(in) & mask, lanes);
  notify(w, in, AccessKind::Read, 16, lanes);
  for (unsigned m = 0; m < in.count; ++m) {
    HalfTile tile = {};
    for (unsigned r = 0; r < 8; ++r)
      if (lanes.mask >> (8 * m + r) & 1)
        std::memcpy(tile[r], lanes.host[8 * m + r], 16);
    distribute(tile, in.flags & Trans, w.row<uint32_t>(in.dst(m)), mask);
  }
}

void storeMatrix(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  computeAddresses(w, in.src(0), in.immediate, lanes.address);
  resolve(w, in, in.space, 16, AccessKind::Write, addressLanes(in) & mask, lanes);
  uint8_t values[warpSize * 16];
  for (unsigned m = 0; m < in.count; ++m) {
    HalfTile tile;
    collect(w.row<uint32_t>(in.src(1 + m)), in.flags & Trans, tile);
    std::memcpy(values + size_t(8) * m * 16, tile, sizeof(tile));
  }
  notify(w, in, AccessKind::Write, 16, lanes, values);
  forEachLane(lanes.mask,
              [&](unsigned lane) { std::memcpy(lanes.host[lane], values + lane * 16, 16); });
}

void moveMatrix(Warp &w, const Inst &in, uint32_t mask) {
  HalfTile tile;
  collect(w.row<uint32_t>(in.src(0)), false, tile);
  distribute(tile, true, w.row<uint32_t>(in.dst(0)), mask);
}

bool finish(InstBuilder &b, Handler handler) {
  b.inst.execute = handler;
  b.inst.flow = Flow::Collective;
  b.inst.isAligned = true;
  b.inst.instClass = InstClass::MatrixLoad;
  b.inst.poison = PoisonRule::SameMove;
  return emitInst(b);
}

bool decodeMatrix(InstBuilder &b, bool isStore) {
  if (!b.accept("sync") || !b.accept("aligned"))
    return b.fail("expected '.sync.aligned'");
  bool hasShape = false;
  b.inst.space = Space::Generic;
  // The qualifiers stand in either order in what compilers print.
  for (bool isAny = true; isAny;) {
    isAny = false;
    if (b.accept("m8n8"))
      isAny = hasShape = true;
    int count = b.acceptOneOf({"x1", "x2", "x4"});
    if (count >= 0) {
      b.inst.count = static_cast<uint8_t>(1 << count);
      isAny = true;
    }
    if (b.accept("trans")) {
      b.inst.flags |= Trans;
      isAny = true;
    }
    Space space = b.acceptSpace();
    if (space != Space::Generic) {
      b.inst.space = space;
      isAny = true;
    }
  }
  if (!hasShape || b.inst.count == 0 || b.expectType() != Type::B16)
    return b.fail("only '.m8n8' of '.b16' is supported");
  if (!b.expectOperands(2))
    return false;
  llvm::ArrayRef<Operand> parts = InstBuilder::elements(b.operand(isStore ? 1 : 0));
  if (parts.size() != b.inst.count)
    return b.fail("expected " + llvm::Twine(b.inst.count) + " registers");
  if (!b.addAddress(b.operand(isStore ? 0 : 1)))
    return false;
  for (const Operand &part : parts)
    if (!(isStore ? b.addSrc(part, Type::B32) : b.addDst(part, Type::B32)))
      return false;
  return finish(b, isStore ? storeMatrix : loadMatrix);
}

bool decodeMove(InstBuilder &b) {
  for (llvm::StringRef word : {"sync", "aligned", "m8n8", "trans"})
    if (!b.accept(word))
      return b.fail("expected '." + word + "'");
  return b.expectType() == Type::B16 && b.expectOperands(2) && b.addDst(b.operand(0), Type::B32) &&
         b.addSrc(b.operand(1), Type::B32) && finish(b, moveMatrix);
}

} // namespace

llvm::ArrayRef<FamilyEntry> matrixLoadFamily() {
  static constexpr FamilyEntry entries[] = {
      {"ldmatrix", [](InstBuilder &b) { return decodeMatrix(b, false); }},
      {"stmatrix", [](InstBuilder &b) { return decodeMatrix(b, true); }},
      {"movmatrix", decodeMove},
  };
  return entries;
}

} // namespace vgpu
