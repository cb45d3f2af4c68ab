//===- BulkCopy.cpp - cp.async.bulk and cp.async.mbarrier.arrive
//---------------------------------------------------===//
//
// Not known yet: they are refused like any unknown instruction, with their line, before anything
// runs.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"

namespace vgpu {

bool decodeBulkCopy(InstBuilder &b) { return b.fail("unknown instruction"); }
bool decodeAsyncArrive(InstBuilder &b) { return b.fail("unknown instruction"); }

} // namespace vgpu
