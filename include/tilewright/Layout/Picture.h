//===- Picture.h - layouts one can look at ----------------------------------------*- C++ -*-===//
//
// A picture has a cell for each logical element: the last dimension runs to the right, all others
// run down, row-major. Fragments show who owns the element, coloured by lane; layouts show the
// offset, coloured by the shared-memory bank of its address, so that a column of one colour is a
// conflict. Large tiles are cut to their low corner, and the picture says so.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_PICTURE_H
#define TILEWRIGHT_LAYOUT_PICTURE_H

#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/Layout.h"
#include <string>

namespace tilewright {

struct PictureOptions {
  std::string title; ///< Above the picture; the layout itself if empty.
  int64_t maxRows = 64;
  int64_t maxColumns = 64;
};

/// A stand-alone SVG document. Each cell has a tooltip with its index and all its owners.
std::string drawSvg(const Fragment &fragment, const PictureOptions &options = {});
/// `elementBits` converts offsets to byte addresses, and those to banks.
std::string drawSvg(const Layout &layout, int64_t elementBits, const PictureOptions &options = {});

/// The same as a table of text: `T5:2` is slot 2 of thread 5, `T5:2+3` has three more replicas;
/// `37.b5` is offset 37 in bank 5.
std::string drawText(const Fragment &fragment, const PictureOptions &options = {});
std::string drawText(const Layout &layout, int64_t elementBits, const PictureOptions &options = {});

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_PICTURE_H
