//===- AsyncCopies.cpp - what a copy past the registers must satisfy -------------------------===//
//
// cp.async (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy") moves 4, 8 or
// 16 bytes from global to shared memory, and writes zeros for what it is told not to read. So the
// read and the write must be one and the same group, and zero must be what the program wants to see
// out of bounds.
//
//===----------------------------------------------------------------------------------------===//

#include "AsyncCopies.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

bool plancheck::isSafeValueZero(Value root, KernelOp kernel) {
  bool isZero = true;
  kernel.walk([&](AnnotateSafeValueOp note) {
    if (note.getBuffer() != root)
      return;
    Attribute value = note.getValue();
    if (auto number = dyn_cast<FloatAttr>(value))
      isZero &= number.getValue().isPosZero();
    else
      isZero &= matchPattern(value, m_Zero());
  });
  return isZero;
}

std::string plancheck::findAsyncFault(ParallelOp loop, const Arch &arch) {
  Block &body = loop.getBody().front();
  auto loads = body.getOps<LoadOp>();
  auto stores = body.getOps<StoreOp>();
  if (!llvm::hasSingleElement(loads) || !llvm::hasSingleElement(stores))
    return "it is more than one read and one write";
  LoadOp load = *loads.begin();
  StoreOp store = *stores.begin();
  auto read = load->getAttrOfType<AccessAttr>(kAccessAttr),
       write = store->getAttrOfType<AccessAttr>(kAccessAttr);
  if (!arch.hasAsyncCopy)
    return arch.name.str() + " has no asynchronous copies";
  if (!read || !write)
    return "its read or its write has no plan";
  if (store.getValue() != load.getValue())
    return "it changes the value on its way";
  if (getSpace(getRoot(load.getBuffer())) != Space::Global ||
      getSpace(getRoot(store.getBuffer())) != Space::Shared)
    return "it does not lead from global to shared memory";
  auto typeOf = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); };
  if (typeOf(load.getBuffer()) != typeOf(store.getBuffer()))
    return "its element type changes";
  if (read.getWidth() != write.getWidth() || read.getSlots() != write.getSlots() ||
      !read.getSources().empty())
    return "it reads other groups than it writes";
  int64_t bytes = read.getWidth() * getStorageBytes(typeOf(load.getBuffer()));
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return "no asynchronous copy moves " + std::to_string(bytes) + " bytes";
  if (!read.getGuarded().empty() &&
      !isSafeValueZero(getRoot(load.getBuffer()), loop->getParentOfType<KernelOp>()))
    return "it fills with zeros, and the safe value is another";
  return "";
}
