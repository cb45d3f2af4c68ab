#include "vgpu/Exec/Decode.h"
namespace vgpu {
llvm::ArrayRef<FamilyEntry> asyncFamily() { return {}; }
llvm::ArrayRef<FamilyEntry> matrixLoadFamily() { return {}; }
llvm::ArrayRef<FamilyEntry> mmaFamily() { return {}; }
llvm::ArrayRef<FamilyEntry> wmmaFamily() { return {}; }
} // namespace vgpu
