//===- Objects.h - from LLVM IR to files of machine code ----------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_OBJECTS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_OBJECTS_H

#include "tilewright/Codegen/Cpu/HostCode.h"

#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace tilewright::cpu {

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const HostTarget &target);

/// The bytes of an object file or of assembly text. The module is consumed.
llvm::Expected<llvm::SmallVector<char, 0>> emit(llvm::Module &module, llvm::TargetMachine &machine,
                                                llvm::CodeGenFileType type);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_OBJECTS_H
