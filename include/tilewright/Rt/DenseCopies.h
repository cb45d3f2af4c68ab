//===- DenseCopies.h - strided tensors of a call as dense ones ----------------------*- C++ -*-===//
//
// Kernels read and write dense memory. A parameter that is declared with strides of its own
// (T.StridedTensor) also takes tensors whose rows lie apart: they are copied together before the
// call, and back after it if the kernel writes them. What lies between the rows is never touched.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_DENSECOPIES_H
#define TILEWRIGHT_RT_DENSECOPIES_H

#include "tilewright/Rt/Signature.h"

#include <memory>

namespace tilewright::rt {

/// The copies of one call.
class DenseCopies {
public:
  /// Marks the arguments in memory of the host that need a copy (`isPacked`), for `bindArguments`.
  static void mark(const Signature &signature, std::span<Argument> arguments);

  /// Copies what was marked, and lets the binding point to the copies. Refuses a tensor that is
  /// written and shares an element with another one, where one of the two is a copy.
  MaybeFailure make(const Signature &signature, std::span<const Argument> arguments,
                    Binding &binding);

  /// Copies what the kernel has written to the caller's tensors.
  void writeBack() const;

private:
  struct Copy {
    const Argument *original;
    std::unique_ptr<char[]> memory;
    unsigned elementBytes;
    bool isWritten;
  };
  std::vector<Copy> copies;
};

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_DENSECOPIES_H
