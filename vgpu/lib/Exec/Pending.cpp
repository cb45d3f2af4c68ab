#include "Families.h"
namespace vgpu {
llvm::ArrayRef<FamilyEntry> wmmaFamily() { return {}; }
bool decodeBulkCopy(InstBuilder &b) { return b.fail("unknown instruction"); }
bool decodeAsyncArrive(InstBuilder &b) { return b.fail("unknown instruction"); }
} // namespace vgpu
