//===- Description.cpp - what the passes decided, as data for reports -------------------------===//

#include "tilewright/Driver/Description.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;
using namespace tilewright::tile;
namespace json = llvm::json;

namespace tilewright::driver {

//===----------------------------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------------------------===//

static StringRef getSign(IndexExpr::Kind kind) {
  switch (kind) {
  case IndexExpr::Kind::Add:
    return "+";
  case IndexExpr::Kind::Sub:
    return "-";
  case IndexExpr::Kind::Mul:
    return "*";
  case IndexExpr::Kind::FloorDiv:
    return "//";
  case IndexExpr::Kind::Mod:
    return "%";
  case IndexExpr::Kind::Xor:
    return "^";
  case IndexExpr::Kind::Min:
    return "min";
  case IndexExpr::Kind::Max:
    return "max";
  default:
    llvm_unreachable("not binary");
  }
}

json::Value describeExpr(const IndexExpr &expr) {
  if (std::optional<int64_t> constant = expr.getConstant())
    return *constant;
  if (!expr.isBinary())
    return json::Array{expr.getKind() == IndexExpr::Kind::Dim ? "d" : "s", expr.getPosition()};
  return json::Array{getSign(expr.getKind()), describeExpr(expr.getLhs()),
                     describeExpr(expr.getRhs())};
}

json::Value describeLayout(const Layout &layout) {
  json::Array outputs;
  for (const IndexExpr &output : layout.getOutputs())
    outputs.push_back(describeExpr(output));
  return json::Object{{"notation", layout.str()},
                      {"shape", json::Array(layout.getShape())},
                      {"outputs", std::move(outputs)},
                      {"output_shape", json::Array(layout.getOutputShape())}};
}

json::Value describeLayout(const Fragment &fragment) {
  return json::Object{{"notation", fragment.str()},
                      {"shape", json::Array(fragment.getShape())},
                      {"replicas", fragment.getReplicas()},
                      {"thread", describeExpr(fragment.getThread())},
                      {"slot", describeExpr(fragment.getSlot())},
                      {"threads", fragment.getThreadExtent()},
                      {"slots", fragment.getSlotsPerThread()}};
}

static json::Value describePlacement(Operation *op, StringRef name) {
  Attribute attribute = op->getAttr(name);
  if (auto layout = dyn_cast_or_null<LayoutAttr>(attribute))
    return describeLayout(layout.getLayout());
  if (auto fragment = dyn_cast_or_null<FragmentAttr>(attribute))
    return describeLayout(fragment.getFragment());
  return nullptr;
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

static void addLocation(json::Object &entry, Location location) {
  auto position = location->findInstanceOf<FileLineColLoc>();
  entry["file"] = position ? position.getFilename().str() : "";
  entry["line"] = position ? int64_t(position.getLine()) : 0;
}

/// The user's name of a tile, a tensor or a barrier.
static std::string getName(Value root) {
  if (auto alloc = root.getDefiningOp<AllocOp>())
    return alloc.getName().str();
  if (auto barriers = root.getDefiningOp<BarrierAllocOp>())
    return barriers.getName().str();
  auto argument = dyn_cast<BlockArgument>(root);
  auto function = argument ? dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp())
                           : func::FuncOp();
  if (!function)
    return "";
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
  return name ? name.str() : "";
}

namespace {

/// Describes one kernel. Ops are numbered as live ranges count them: in program order, each before
/// what it contains.
class KernelDescription {
public:
  explicit KernelDescription(KernelOp kernel)
      : kernel(kernel), ranges(analysis::getLiveRanges(kernel)) {}

  json::Object make() {
    describe(kernel, 0);
    json::Object entry{{"threads", kernel.getNumThreads()},
                       {"ops", next},
                       {"tiles", std::move(tiles)},
                       {"statements", std::move(statements)}};
    addLocation(entry, kernel.getLoc());
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
      entry["shared_bytes"] = bytes.getInt();
    return entry;
  }

private:
  void describe(Operation *op, int64_t depth) {
    int64_t number = next++;
    if (auto alloc = dyn_cast<AllocOp>(op))
      addTile(alloc);
    if (auto barriers = dyn_cast<BarrierAllocOp>(op))
      addBarriers(barriers);
    bool isLoop = isa<ParallelOp>(op);
    bool isStatement = op != kernel && !isa<AllocOp, BarrierAllocOp>(op) &&
                       (op->getNumRegions() || isa<TileEffectsOpInterface>(op)) &&
                       !op->getParentOfType<ParallelOp>();
    size_t entryNumber = statements.size();
    if (isStatement)
      statements.push_back(nullptr); // it comes before what it contains
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          describe(&inner, depth + isStatement);
    if (!isStatement)
      return;
    json::Object entry{{"op", op->getName().stripDialect()},
                       {"first", number},
                       {"last", next - 1},
                       {"depth", depth}};
    addLocation(entry, op->getLoc());
    addEffects(entry, op);
    if (isLoop) {
      entry["distribution"] = describePlacement(op, kDistributionAttr);
      entry["accesses"] = listAccesses(cast<ParallelOp>(op));
    }
    statements[entryNumber] = std::move(entry);
  }

  void addTile(AllocOp alloc) {
    MemRefType type = alloc.getBuffer().getType();
    auto versions = alloc->getAttrOfType<IntegerAttr>(kVersionsAttr);
    auto offset = alloc->getAttrOfType<IntegerAttr>(kOffsetAttr);
    json::Object entry{{"name", alloc.getName()},
                       {"space", stringifySpace(getSpace(type))},
                       {"dtype", frontend::getDTypeName(type.getElementType())},
                       {"element_bytes", getStorageBytes(type.getElementType())},
                       {"shape", json::Array(type.getShape())},
                       {"versions", versions ? versions.getInt() : 1},
                       {"layout", describePlacement(alloc, kPlacementAttr)}};
    addLocation(entry, alloc.getLoc());
    if (offset) {
      entry["offset"] = offset.getInt();
      entry["bytes"] = analysis::getPlacedBytes(alloc);
      analysis::LiveRange range = ranges.lookup(alloc);
      if (range.first <= range.last)
        entry["live"] = json::Array{range.first, range.last};
    }
    tiles.push_back(std::move(entry));
  }

  void addBarriers(BarrierAllocOp barriers) {
    auto offset = barriers->getAttrOfType<IntegerAttr>(kOffsetAttr);
    if (!offset)
      return;
    json::Object entry{{"name", barriers.getName()},
                       {"space", "barrier"},
                       {"offset", offset.getInt()},
                       {"bytes", *getStorageBytes(barriers.getBarriers().getType())},
                       {"versions", 1},
                       {"layout", nullptr}};
    addLocation(entry, barriers.getLoc());
    tiles.push_back(std::move(entry));
  }

  void addEffects(json::Object &entry, Operation *op) {
    llvm::SmallVector<std::string> read, written;
    auto add = [](llvm::SmallVector<std::string> &list, std::string name) {
      if (!name.empty() && !llvm::is_contained(list, name))
        list.push_back(std::move(name));
    };
    if (std::optional<SmallVector<Effect>> effects = getEffects(op))
      for (const Effect &effect : *effects)
        add(effect.kind == EffectKind::Read ? read : written, getName(effect.root));
    entry["reads"] = json::Array(read);
    entry["writes"] = json::Array(written);
  }

  /// What a loop of elements reads and writes, and how wide.
  json::Array listAccesses(ParallelOp loop) {
    json::Array list;
    loop.walk([&](Operation *op) {
      auto add = [&](StringRef kind, Value buffer, ValueRange indices) {
        json::Object entry{{"kind", kind}, {"name", getName(getRoot(buffer))}};
        addLocation(entry, op->getLoc());
        if (auto plan = op->getAttrOfType<AccessAttr>(kAccessAttr))
          entry["width"] = plan.getWidth();
        if (auto exprs = analysis::getAccessIndices(loop, buffer, indices)) {
          json::Array list;
          for (const IndexExpr &expr : *exprs)
            list.push_back(describeExpr(expr));
          entry["indices"] = std::move(list);
        }
        list.push_back(std::move(entry));
      };
      if (auto load = dyn_cast<LoadOp>(op))
        add("read", load.getBuffer(), load.getIndices());
      else if (auto store = dyn_cast<StoreOp>(op))
        add("write", store.getBuffer(), store.getIndices());
      else if (auto atomic = dyn_cast<AtomicElementOp>(op))
        add("atomic", atomic.getBuffer(), atomic.getIndices());
    });
    return list;
  }

  KernelOp kernel;
  llvm::DenseMap<Operation *, analysis::LiveRange> ranges;
  int64_t next = 0;
  json::Array tiles, statements;
};

} // namespace

json::Value describePlan(ModuleOp module) {
  json::Array kernels;
  module.walk([&](KernelOp kernel) { kernels.push_back(KernelDescription(kernel).make()); });
  return json::Object{{"kernels", std::move(kernels)}};
}

//===----------------------------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------------------------===//

json::Value describeText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  AsmState::LocationMap positions; // of each operation in the text, counted from 1
  AsmState state(op, OpPrintingFlags(), &positions);
  op->print(os, state);
  std::vector<std::string> files;
  std::vector<std::pair<int64_t, int64_t>> lines(StringRef(text).count('\n') + 1, {-1, 0});
  op->walk([&](Operation *inner) {
    auto found = positions.find(inner);
    auto source = inner->getLoc()->findInstanceOf<FileLineColLoc>();
    if (found == positions.end() || !source || found->second.first > lines.size())
      return;
    size_t file = llvm::find(files, source.getFilename().getValue()) - files.begin();
    if (file == files.size())
      files.push_back(source.getFilename().str());
    lines[found->second.first - 1] = {int64_t(file), int64_t(source.getLine())};
  });
  json::Array list;
  for (auto [file, line] : lines)
    list.push_back(file < 0 ? json::Value(nullptr) : json::Value(json::Array{file, line}));
  return json::Object{{"text", text}, {"files", json::Array(files)}, {"lines", std::move(list)}};
}

} // namespace tilewright::driver
