//===- Layouts.cpp - Layout and Fragment in Python -------------------------------------------===//

#include "Bindings.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Layout/Picture.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Layout/SharedLayouts.h"

using namespace tilewright;
using namespace tilewright::bindings;

namespace {

std::vector<int64_t> toStaticShape(nb::handle sequence, llvm::StringRef what) {
  std::vector<int64_t> shape;
  for (const IndexExpr &extent : toShape(sequence, what))
    shape.push_back(extent.getConstant().value_or(kDynamic));
  return shape;
}

std::vector<IndexExpr> toOutputs(nb::handle sequence, llvm::StringRef what) {
  std::vector<IndexExpr> outputs;
  for (const IndexExpr &output : toShape(sequence, what)) {
    if (output.getNumSymbols() > 0)
      throw UserError((what + ": a layout cannot depend on shape symbols").str());
    outputs.push_back(output);
  }
  return outputs;
}

[[noreturn]] void refuse(llvm::Error error) { throw UserError(llvm::toString(std::move(error))); }

Layout makeLayout(nb::object shape, nb::object outputs) {
  std::vector<int64_t> extents = toStaticShape(shape, "layout shape");
  std::vector<IndexExpr> exprs = toOutputs(outputs, "layout");
  if (llvm::Error error = Layout::verify(extents, exprs))
    refuse(std::move(error));
  return Layout::get(extents, exprs);
}

Fragment makeFragment(nb::object shape, nb::object thread, nb::object slot, int64_t replicate) {
  std::vector<int64_t> extents = toStaticShape(shape, "fragment shape");
  IndexExpr threadExpr = toExtent(thread, "thread of a fragment");
  IndexExpr slotExpr = toExtent(slot, "slot of a fragment");
  if (llvm::Error error = Fragment::verify(extents, threadExpr, slotExpr, replicate))
    refuse(std::move(error));
  return Fragment::get(extents, threadExpr, slotExpr, replicate);
}

/// A layout or fragment in the notation of docs/internals/layouts.md.
nb::object parseNotation(const std::string &text, nb::object shape) {
  std::vector<int64_t> extents = toStaticShape(shape, "layout shape");
  auto checkRank = [&](const IndexNames &names) {
    if (names.dims.size() != extents.size())
      throw UserError(std::to_string(names.dims.size()) + " index names for a shape of " +
                      std::to_string(extents.size()) + " extents");
  };
  if (text.find("thread") != std::string::npos) {
    llvm::Expected<ParsedPlacement> placement = parseIndexPlacement(text);
    if (!placement)
      refuse(placement.takeError());
    checkRank(placement->names);
    if (llvm::Error error =
            Fragment::verify(extents, placement->thread, placement->slot, placement->replicas))
      refuse(std::move(error));
    return nb::cast(
        Fragment::get(extents, placement->thread, placement->slot, placement->replicas));
  }
  llvm::Expected<ParsedMap> map = parseIndexMap(text);
  if (!map)
    refuse(map.takeError());
  checkRank(map->names);
  if (!map->names.symbols.empty())
    throw UserError("'" + map->names.symbols.front() + "' has no value");
  if (llvm::Error error = Layout::verify(extents, map->outputs))
    refuse(std::move(error));
  return nb::cast(Layout::get(extents, map->outputs));
}

/// Extents as Python sees them: None where unknown.
nb::tuple fromExtents(llvm::ArrayRef<int64_t> extents) {
  nb::list list;
  for (int64_t extent : extents)
    list.append(extent == kDynamic ? nb::none() : nb::object(nb::int_(extent)));
  return nb::tuple(list);
}

template <typename T> T unwrap(llvm::Expected<T> value) {
  if (!value)
    refuse(value.takeError());
  return *value;
}

template <typename T> nb::object questionInjective(const T &map) {
  const Answer<Collision> &answer = isInjective(map);
  if (answer.isYes())
    return nb::make_tuple("yes", "");
  if (answer.isNo())
    return nb::make_tuple("no", answer.getCounterexample().str());
  return nb::make_tuple("unknown", answer.getReason());
}

} // namespace

void tilewright::bindings::bindLayouts(nb::module_ &module) {
  nb::class_<Layout>(module, "Layout", "A map from logical to physical indices.")
      .def(
          "__init__",
          [](Layout *self, nb::object shape, nb::object outputs) {
            new (self) Layout(makeLayout(shape, outputs));
          },
          nb::arg("shape"), nb::arg("outputs"))
      .def_prop_ro("input_shape", [](const Layout &self) { return fromExtents(self.getShape()); })
      .def_prop_ro("output_shape",
                   [](const Layout &self) { return fromExtents(self.getOutputShape()); })
      .def(
          "svg",
          [](const Layout &self, int64_t elementBits, const std::string &title) {
            return drawSvg(self, elementBits, {.title = title});
          },
          nb::arg("element_bits"), nb::arg("title") = "")
      .def("text",
           [](const Layout &self, int64_t elementBits) { return drawText(self, elementBits); })
      .def("map",
           [](const Layout &self, const std::vector<int64_t> &index) {
             if (index.size() != self.getRank())
               throw UserError("the layout has " + std::to_string(self.getRank()) +
                               " indices, got " + std::to_string(index.size()));
             auto image = self.map(index);
             if (!image)
               throw UserError("the physical index does not fit 64 bits");
             return nb::tuple(nb::cast(std::vector<int64_t>(image->begin(), image->end())));
           })
      .def("outputs",
           [](const Layout &self) {
             nb::list list;
             for (const IndexExpr &output : self.getOutputs())
               list.append(fromIndexExpr(output));
             return list;
           })
      .def("is_injective", &questionInjective<Layout>)
      .def("is_equal",
           [](const Layout &self, const Layout &other) { return isEqual(self, other).isYes(); })
      .def("inverse", [](const Layout &self) { return unwrap(invert(self)); })
      .def(
          "repeat",
          [](const Layout &self, unsigned dim, int64_t factor) {
            if (dim >= self.getRank() || factor < 1)
              throw UserError("repeat: expected a dimension below " +
                              std::to_string(self.getRank()) + " and a positive factor");
            return unwrap(repeat(self, dim, factor));
          },
          nb::arg("dim"), nb::arg("factor"))
      .def("reshape",
           [](const Layout &self, nb::object shape) {
             return unwrap(reshape(self, toStaticShape(shape, "shape")));
           })
      .def("__repr__", &Layout::str);
  nb::class_<Fragment>(module, "Fragment", "A map from logical indices to (thread, slot).")
      .def(
          "__init__",
          [](Fragment *self, nb::object shape, nb::object thread, nb::object slot,
             int64_t replicate) {
            new (self) Fragment(makeFragment(shape, thread, slot, replicate));
          },
          nb::arg("shape"), nb::arg("thread"), nb::arg("slot"), nb::arg("replicate") = 1)
      .def_prop_ro("input_shape", [](const Fragment &self) { return fromExtents(self.getShape()); })
      .def(
          "svg",
          [](const Fragment &self, const std::string &title) {
            return drawSvg(self, {.title = title});
          },
          nb::arg("title") = "")
      .def("text", [](const Fragment &self) { return drawText(self); })
      .def_prop_ro("replicate", &Fragment::getReplicas)
      .def_prop_ro("threads", &Fragment::getThreadExtent)
      .def_prop_ro("slots", &Fragment::getSlotsPerThread)
      .def(
          "owner_of",
          [](const Fragment &self, const std::vector<int64_t> &index, int64_t replica) {
            if (index.size() != self.getRank())
              throw UserError("the fragment has " + std::to_string(self.getRank()) +
                              " indices, got " + std::to_string(index.size()));
            auto owner = self.ownerOf(index, replica);
            if (!owner)
              throw UserError("the owner does not fit 64 bits");
            return nb::make_tuple(owner->thread, owner->slot);
          },
          nb::arg("index"), nb::arg("replica") = 0)
      .def("is_injective", &questionInjective<Fragment>)
      .def("is_equal",
           [](const Fragment &self, const Fragment &other) { return isEqual(self, other).isYes(); })
      .def(
          "repeat",
          [](const Fragment &self, const std::vector<int64_t> &repeats, bool onThreads,
             bool lowerDimFirst) {
            if (repeats.size() != self.getRank())
              throw UserError("repeat: expected " + std::to_string(self.getRank()) +
                              " factors, got " + std::to_string(repeats.size()));
            return unwrap(
                repeat(self, repeats, onThreads ? RepeatOver::Threads : RepeatOver::Slots,
                       lowerDimFirst ? RepeatOrder::FirstDimFirst : RepeatOrder::LastDimFirst));
          },
          nb::arg("repeats"), nb::arg("repeat_on_thread") = false,
          nb::arg("lower_dim_first") = true)
      .def("replicate_threads",
           [](const Fragment &self, int64_t count) {
             if (count < 1)
               throw UserError("replicate: expected a positive count");
             return unwrap(replicate(self, count));
           })
      .def("__repr__", &Fragment::str);
  module.def("parse_layout", &parseNotation, nb::arg("text"), nb::arg("shape"),
             "A layout or fragment from its text.");
  module.def(
      "make_swizzled_layout",
      [](nb::object shape, int64_t bits, bool kMajor, bool allowPad) {
        return unwrap(swizzledLayout(toStaticShape(shape, "shape"), bits, kMajor, allowPad));
      },
      nb::arg("shape"), nb::arg("bits"), nb::arg("k_major") = true, nb::arg("allow_pad") = true);
  module.def("make_linear_layout",
             [](nb::object shape) { return linearLayout(toStaticShape(shape, "shape")); });
  module.def("make_padded_layout", [](nb::object shape, int64_t pitch) {
    return unwrap(paddedLayout(toStaticShape(shape, "shape"), pitch));
  });
  module.def("make_bank_swizzled_layout", [](nb::object shape, int64_t bits, int64_t panelBytes) {
    if (panelBytes != 32 && panelBytes != 64 && panelBytes != 128)
      throw UserError("a swizzle works in panels of 32, 64 or 128 bytes");
    return unwrap(bankSwizzledLayout(toStaticShape(shape, "shape"), bits, BankSwizzle(panelBytes)));
  });
}
