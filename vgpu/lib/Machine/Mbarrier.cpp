//===- Mbarrier.cpp - barriers in shared memory -----------------------------------------------===//
#include "vgpu/Machine/Mbarrier.h"

namespace vgpu {

MbarrierTable &mbarriersOf(Block &block) {
  static const char key = 0;
  return block.state<MbarrierTable>(&key);
}

} // namespace vgpu
