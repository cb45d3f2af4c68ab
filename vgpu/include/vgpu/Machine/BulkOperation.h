//===- BulkOperation.h - a decoded cp.async.bulk ---------------------------------------------===//
#ifndef VGPU_MACHINE_BULKOPERATION_H
#define VGPU_MACHINE_BULKOPERATION_H

#include "vgpu/Ptx/Types.h"
#include <cstdint>

namespace vgpu {

enum class BulkReduction : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// What a bulk copy does beyond its operands' values. `Inst::immediate` is its index in
/// Program::bulkOperations. Slots are indices of sources.
struct BulkOperation {
  enum class Kind : uint8_t {
    Load,  ///< global to shared
    Store, ///< shared to global
    Local, ///< shared to shared
    Prefetch,
  } kind = Kind::Load;
  enum class Mode : uint8_t {
    Tile,    ///< a box
    Im2col,  ///< pixels of a bounding box
    Gather4, ///< four rows; to global memory .tile::scatter4
  } mode = Mode::Tile;
  BulkReduction reduction = BulkReduction::None;
  ptx::Type type = ptx::Type::None; ///< of a reduction without a tensor map
  uint8_t rank = 0;                 ///< of the tensor; 0: plain bytes
  int8_t sharedSlot = -1;           ///< address in shared memory; Local: the source
  int8_t otherSlot = -1;            ///< global address, tensor map, or the destination of Local
  int8_t barrierSlot = -1;          ///< mbarrier, or -1: a bulk group
  int8_t sizeSlot = -1;
  int8_t coordinateSlot = -1; ///< the first of `rank`; Gather4: a column and four rows
  int8_t offsetSlot = -1;     ///< Im2col: the first of `rank` - 2 offsets; -1: none
  int8_t castMaskSlot = -1;   ///< .multicast::cluster
  int8_t byteMaskSlot = -1;   ///< .cp_mask
  int64_t sharedOffset = 0, otherOffset = 0, barrierOffset = 0;
};

} // namespace vgpu

#endif // VGPU_MACHINE_BULKOPERATION_H
