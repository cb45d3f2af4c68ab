//===- Fragment.cpp - which thread holds an element in which register slot ------------------===//

#include "tilewright/Layout/Fragment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilewright;
using llvm::ArrayRef;
using llvm::Error;
using llvm::SmallVector;
using llvm::Twine;

static SmallVector<int64_t, 4> appended(ArrayRef<int64_t> list, int64_t last) {
  SmallVector<int64_t, 4> result(list.begin(), list.end());
  result.push_back(last);
  return result;
}

Fragment Fragment::get(ArrayRef<int64_t> shape, const IndexExpr &thread, const IndexExpr &slot,
                       int64_t replicas) {
#ifndef NDEBUG
  if (Error error = verify(shape, thread, slot, replicas))
    llvm::report_fatal_error(std::move(error));
#endif
  return Fragment(Layout::get(appended(shape, replicas), {thread, slot}));
}

Error Fragment::verify(ArrayRef<int64_t> shape, const IndexExpr &thread, const IndexExpr &slot,
                       int64_t replicas) {
  if (llvm::is_contained(shape, kDynamic))
    return llvm::createStringError("fragment: expected a static shape, got " +
                                   shapeToString(shape));
  if (replicas < 1)
    return llvm::createStringError("fragment: expected at least 1 replica, got " + Twine(replicas));
  return Layout::verify(appended(shape, replicas), {thread, slot});
}

std::optional<Owner> Fragment::ownerOf(ArrayRef<int64_t> index, int64_t replica) const {
  std::optional<SmallVector<int64_t, 4>> owner = placement.map(appended(index, replica));
  if (!owner)
    return std::nullopt;
  return Owner{(*owner)[0], (*owner)[1]};
}

void Fragment::print(llvm::raw_ostream &os) const { print(os, IndexNames::defaults(getRank())); }

void Fragment::print(llvm::raw_ostream &os, const IndexNames &names) const {
  assert(names.dims.size() == getRank() && "one name per logical dimension");
  IndexNames withReplica = names;
  std::string replica = "r";
  while (llvm::is_contained(names.dims, replica))
    replica += "r";
  withReplica.dims.push_back(replica);
  printIndexNames(os, names);
  if (getReplicas() != 1)
    os << " rep " << replica << " of " << getReplicas();
  os << " -> thread ";
  printIndexExpr(os, getThread(), withReplica);
  os << ", slot ";
  printIndexExpr(os, getSlot(), withReplica);
}

std::string Fragment::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::Expected<Fragment> tilewright::parseFragment(llvm::StringRef text, ArrayRef<int64_t> shape) {
  llvm::Expected<ParsedPlacement> parsed = parseIndexPlacement(text);
  if (!parsed)
    return parsed.takeError();
  if (parsed->names.dims.size() != shape.size())
    return llvm::createStringError("in '" + text + "': expected " + Twine(shape.size()) +
                                   " names for a tile of shape " + shapeToString(shape) + ", got " +
                                   Twine(parsed->names.dims.size()));
  if (Error error = Fragment::verify(shape, parsed->thread, parsed->slot, parsed->replicas))
    return error;
  return Fragment::get(shape, parsed->thread, parsed->slot, parsed->replicas);
}
