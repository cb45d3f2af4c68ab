//===- Findings.cpp - what the checks of an engine found, in the program's words --------------===//

#include "tilewright/Driver/Findings.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using tilewright::nvptx::KernelInfo;
using tilewright::nvptx::SharedTile;
using vgpu::AccessSite;
using vgpu::FindingKind;
using vgpu::TouchedMemory;

namespace tilewright::driver {

std::string toString(const Finding &finding) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!finding.file.empty())
    os << finding.file << ":" << finding.line << ": ";
  os << (finding.severity == interp::Severity::Note ? "note: " : "error: ") << finding.message;
  if (finding.count > 1)
    os << " (" << finding.count << " times)";
  os << " [" << finding.kind << "]";
  return text;
}

//===----------------------------------------------------------------------------------------===//
// One for each line, kind and buffer
//===----------------------------------------------------------------------------------------===//

/// The finding that stands for this one too.
Finding *FindingList::findLike(const Finding &finding) {
  auto key = [](const Finding &entry) {
    return std::tie(entry.severity, entry.kind, entry.file, entry.line, entry.buffer, entry.other);
  };
  auto like =
      llvm::find_if(findings, [&](const Finding &known) { return key(known) == key(finding); });
  return like == findings.end() ? nullptr : &*like;
}

void FindingList::add(const interp::Finding &seen) {
  Finding finding;
  finding.severity = seen.severity;
  finding.kind = interp::getName(seen.kind).str();
  finding.message = seen.message;
  finding.file = seen.file;
  finding.line = seen.line;
  finding.column = seen.column;
  finding.buffer = seen.buffer;
  finding.index = seen.index;
  finding.block = seen.block;
  finding.count = seen.count;
  if (Finding *known = findLike(finding))
    known->count += finding.count;
  else
    findings.push_back(std::move(finding));
}

void FindingList::add(ArrayRef<vgpu::Finding> launch, const KernelInfo &kernel) {
  for (bool isNote : {false, true}) // defects first
    for (const vgpu::Finding &finding : launch)
      if (finding.isNote == isNote)
        add(finding, kernel);
}

//===----------------------------------------------------------------------------------------===//
// Memory: which buffer, which element
//===----------------------------------------------------------------------------------------===//

/// The tiles that contain a byte of shared memory.
static SmallVector<const SharedTile *> findTiles(uint64_t offset, const KernelInfo &kernel) {
  SmallVector<const SharedTile *> tiles;
  for (const SharedTile &tile : kernel.tiles)
    if (uint64_t(tile.offset) <= offset && offset < uint64_t(tile.offset + tile.bytes))
      tiles.push_back(&tile);
  return tiles;
}

/// The user's name; of tiles that share their bytes, all of them.
static std::string nameBuffer(const TouchedMemory &memory, const KernelInfo &kernel) {
  if (memory.space != "shared")
    return memory.name;
  return llvm::join(llvm::map_range(findTiles(memory.offset, kernel),
                                    [](const SharedTile *tile) { return tile->name; }),
                    "' or '");
}

/// The element of a tile that its layout puts at `offset`; none for padding.
static SmallVector<int64_t> findElement(const SharedTile &tile, int64_t offset) {
  llvm::Expected<Layout> layout = parseLayout(tile.layout, tile.shape);
  if (!layout) {
    llvm::consumeError(layout.takeError());
    return {};
  }
  SmallVector<int64_t> index(tile.shape.size(), 0);
  if (llvm::is_contained(tile.shape, 0))
    return {};
  while (true) {
    auto image = layout->map(index);
    int64_t at = 0;
    if (image)
      for (auto [coordinate, extent] : llvm::zip_equal(*image, layout->getOutputShape()))
        at = at * extent + coordinate;
    if (image && at == offset)
      return index;
    size_t dim = index.size(); // the next index, the last dimension first
    while (dim > 0 && ++index[dim - 1] == tile.shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return {};
  }
}

SmallVector<int64_t> FindingList::findIndex(const TouchedMemory &memory, const KernelInfo &kernel) {
  if (memory.space == "shared") {
    SmallVector<const SharedTile *> tiles = findTiles(memory.offset, kernel);
    if (tiles.size() != 1)
      return {};
    const SharedTile &tile = *tiles.front();
    return findElement(tile, int64_t(memory.offset - tile.offset) / tile.elementBytes);
  }
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    auto name = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
    auto *tensor = std::get_if<runtime::BoundTensor>(&argument);
    if (!tensor || !name || name.getValue() != memory.name)
      continue;
    int64_t offset = memory.offset / tile::getStorageBytes(tensor->elementType);
    auto index = interp::findLogicalIndex(function, position, tensor->shape, offset);
    return index ? SmallVector<int64_t>(index->begin(), index->end()) : SmallVector<int64_t>();
  }
  return {};
}

//===----------------------------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------------------------===//

static std::string joinNumbers(ArrayRef<uint32_t> numbers) {
  return llvm::join(llvm::map_range(numbers, [](uint32_t n) { return std::to_string(n); }), ", ");
}

/// A thread; with its block where two blocks meet.
static std::string describe(const AccessSite &site, const AccessSite &other) {
  auto [x, y, z] = site.thread;
  std::string thread =
      y || z ? "thread (" + joinNumbers(site.thread) + ")" : "thread " + std::to_string(x);
  if (site.block == other.block)
    return thread;
  return thread + " of block (" + joinNumbers(site.block) + ")";
}

/// What an unwritten value decides.
static std::string describeUnwritten(vgpu::Decided decided) {
  StringRef what = decided == vgpu::Decided::Condition ? "a condition"
                   : decided == vgpu::Decided::Address ? "an index"
                   : decided == vgpu::Decided::Choice  ? "a choice"
                                                       : "a value";
  return (what + " depends on elements that were never written").str();
}

/// Without the lines of PTX, which a reader of the program does not know.
static std::string dropPtxLines(std::string message) {
  static const llvm::Regex pattern(" \\(ptx:[0-9]+\\)");
  SmallVector<StringRef> matches;
  while (pattern.match(message, &matches)) {
    size_t begin = matches[0].data() - message.data();
    message.erase(begin, matches[0].size());
  }
  return message;
}

/// What an instruction did, in the words of the program that it came from.
static std::string describe(const vgpu::Finding &seen, const Finding &finding) {
  const TouchedMemory &memory = seen.memory;
  std::string element;
  if (!finding.buffer.empty())
    element = "'" + finding.buffer + "'";
  if (!element.empty() && !finding.index.empty())
    element +=
        "[" +
        llvm::join(llvm::map_range(finding.index, [](int64_t n) { return std::to_string(n); }),
                   ", ") +
        "]";
  bool isPair = seen.kind == FindingKind::Race || seen.kind == FindingKind::SameValue;
  if (isPair && !element.empty() && seen.other.isKnown) {
    std::string text = element + " is " + memory.access + " by " + describe(seen.site, seen.other) +
                       " and " +
                       (memory.access == memory.otherAccess ? "" : memory.otherAccess + " ") +
                       "by " + describe(seen.other, seen.site);
    return text + (seen.kind == FindingKind::SameValue ? ", with the same bits"
                                                       : ", and nothing orders them");
  }
  if (seen.kind == FindingKind::Uninitialized) {
    if (element.empty())
      return describeUnwritten(seen.decided);
    return element + " is " + memory.access + " with a value that was never written";
  }
  bool isAsync =
      seen.kind == FindingKind::AsyncNotWaited || seen.kind == FindingKind::AsyncOverwrite;
  if (isAsync && !element.empty())
    return element + " is " + memory.access + " while a copy of it has not been waited for";
  return dropPtxLines(seen.message);
}

void FindingList::add(const vgpu::Finding &seen, const KernelInfo &kernel) {
  bool endsProgram = seen.kind == FindingKind::Assertion || seen.kind == FindingKind::Trap;
  Finding finding;
  finding.severity = endsProgram   ? interp::Severity::Error
                     : seen.isNote ? interp::Severity::Note
                                   : interp::Severity::Finding;
  finding.kind = vgpu::findingKindName(seen.kind).str();
  auto [file, line] = StringRef(seen.site.source).rsplit(':'); // empty for code of no Python line
  if (!line.getAsInteger(10, finding.line))
    finding.file = file.str();
  finding.count = seen.occurrences;
  if (!seen.memory.space.empty())
    finding.buffer = nameBuffer(seen.memory, kernel);
  if (seen.other.isKnown && seen.other.source != seen.site.source)
    finding.other = seen.other.source;
  if (Finding *known = findLike(finding)) {
    known->count += finding.count;
    return;
  }
  finding.block.assign(seen.site.block.begin(), seen.site.block.end());
  finding.thread.assign(seen.site.thread.begin(), seen.site.thread.end());
  if (!seen.memory.space.empty())
    finding.index = findIndex(seen.memory, kernel);
  finding.message = describe(seen, finding);
  std::string text = seen.text(), prefix = seen.site.source + ": " + finding.kind + ": ";
  finding.details.push_back(StringRef(text).starts_with(prefix) ? text.substr(prefix.size())
                                                                : text);
  findings.push_back(std::move(finding));
}

} // namespace tilewright::driver
