//===- Launches.cpp - what launching a function on a GPU takes -------------------------------===//

#include "tilewright/Driver/Launches.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;
namespace json = llvm::json;

namespace tilewright::driver {

/// Whether some kernel updates memory atomically.
static bool isUpdated(func::FuncOp function, Value root) {
  auto updates = [&](Operation *op) {
    auto atomic = dyn_cast<tile::AtomicOp>(op);
    auto element = dyn_cast<tile::AtomicElementOp>(op);
    bool isFound = (atomic && tile::getRoot(atomic.getDest()) == root) ||
                   (element && tile::getRoot(element.getBuffer()) == root);
    return isFound ? WalkResult::interrupt() : WalkResult::advance();
  };
  return function.walk(updates).wasInterrupted();
}

LaunchFormulas::LaunchFormulas(func::FuncOp planned) : numArguments(planned.getNumArguments()) {
  analysis::IndexTranslator translator(planned);
  for (BlockArgument argument : planned.getArguments())
    translator.addDim(argument);
  for (tile::KernelOp kernel : planned.getOps<tile::KernelOp>())
    for (std::vector<Formula> &grid = grids.emplace_back(); Value extent : kernel.getGrid())
      grid.push_back(translator.translate(extent));
  for (tile::AllocOp alloc : planned.getOps<tile::AllocOp>()) {
    MemRefType type = alloc.getBuffer().getType();
    Workspace &entry = workspaces.emplace_back();
    entry.name = alloc.getName().str();
    entry.elementBytes = tile::getStorageBytes(type.getElementType());
    entry.isUpdated = isUpdated(planned, alloc.getBuffer());
    unsigned next = 0;
    for (int64_t extent : type.getShape())
      entry.extents.push_back(ShapedType::isDynamic(extent)
                                  ? translator.translate(alloc.getDynamicExtents()[next++])
                                  : IndexExpr(extent));
  }
}

/// The value of a formula; nothing if there is none, or it has none.
static std::optional<int64_t> evaluate(const std::optional<IndexExpr> &formula,
                                       ArrayRef<int64_t> numbers) {
  return formula ? formula->evaluate(numbers) : std::nullopt;
}

llvm::Expected<SmallVector<LaunchFormulas::Grid>>
LaunchFormulas::evaluateGrids(ArrayRef<int64_t> numbers) const {
  SmallVector<Grid> evaluated;
  for (const std::vector<Formula> &extents : grids) {
    Grid &grid = evaluated.emplace_back(Grid{1, 1, 1});
    for (auto [position, extent] : llvm::enumerate(extents)) {
      std::optional<int64_t> value = evaluate(extent, numbers);
      if (!value)
        return llvm::createStringError(
            "the grid of a kernel is not a formula of shapes and integers");
      if (*value < 0 || *value > INT32_MAX)
        return llvm::createStringError("grid extent " + Twine(*value) +
                                       " is not between 0 and 2^31 - 1");
      grid[position] = *value;
    }
  }
  return evaluated;
}

llvm::Expected<SmallVector<int64_t>>
LaunchFormulas::evaluateWorkspaces(ArrayRef<int64_t> numbers) const {
  SmallVector<int64_t> sizes;
  for (const Workspace &workspace : workspaces) {
    int64_t bytes = workspace.elementBytes;
    for (const Formula &extent : workspace.extents) {
      std::optional<int64_t> value = evaluate(extent, numbers);
      if (!value || *value < 0)
        return llvm::createStringError("an extent of workspace '" + workspace.name +
                                       "' is no formula of shapes and integers");
      bytes *= *value;
    }
    sizes.push_back(bytes);
  }
  return sizes;
}

//===----------------------------------------------------------------------------------------===//
// In an entry of the store
//===----------------------------------------------------------------------------------------===//

IndexNames nameArguments(unsigned count) {
  IndexNames names;
  for (unsigned position = 0; position < count; ++position)
    names.dims.push_back("d" + std::to_string(position));
  return names;
}

namespace {
/// Formulas as texts; nothing for one that does not exist.
using Texts = std::vector<std::optional<std::string>>;

/// A workspace in an entry.
struct WorkspaceText {
  std::string name;
  int64_t elementBytes = 1;
  bool isUpdated = false;
  Texts extents;
};

json::Value toJSON(const WorkspaceText &workspace) {
  return json::Object{{"name", workspace.name},
                      {"element_bytes", workspace.elementBytes},
                      {"updated", workspace.isUpdated},
                      {"extents", workspace.extents}};
}

bool fromJSON(const json::Value &value, WorkspaceText &workspace, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", workspace.name) &&
         map.map("element_bytes", workspace.elementBytes) &&
         map.map("updated", workspace.isUpdated) && map.map("extents", workspace.extents);
}
} // namespace

static Texts print(ArrayRef<LaunchFormulas::Formula> formulas, const IndexNames &names) {
  Texts texts;
  for (const LaunchFormulas::Formula &formula : formulas)
    texts.push_back(formula ? std::optional(toString(*formula, names)) : std::nullopt);
  return texts;
}

static bool parse(const Texts &texts, const IndexNames &names,
                  std::vector<LaunchFormulas::Formula> &formulas, json::Path path) {
  for (const std::optional<std::string> &text : texts) {
    LaunchFormulas::Formula &formula = formulas.emplace_back();
    if (!text)
      continue;
    llvm::Expected<IndexExpr> expr = parseIndexExpr(*text, names);
    if (!expr) {
      llvm::consumeError(expr.takeError());
      path.report("expected a formula");
      return false;
    }
    formula = *expr;
  }
  return true;
}

json::Value toJSON(const LaunchFormulas &formulas) {
  IndexNames names = nameArguments(formulas.numArguments);
  std::vector<Texts> grids;
  std::vector<WorkspaceText> workspaces;
  for (ArrayRef<LaunchFormulas::Formula> grid : formulas.grids)
    grids.push_back(print(grid, names));
  for (const LaunchFormulas::Workspace &workspace : formulas.workspaces)
    workspaces.push_back({workspace.name, workspace.elementBytes, workspace.isUpdated,
                          print(workspace.extents, names)});
  return json::Object{{"arguments", formulas.numArguments},
                      {"grids", json::Array(grids)},
                      {"workspaces", json::Array(workspaces)}};
}

bool fromJSON(const json::Value &value, LaunchFormulas &formulas, json::Path path) {
  json::ObjectMapper map(value, path);
  std::vector<Texts> grids;
  std::vector<WorkspaceText> workspaces;
  if (!map || !map.map("arguments", formulas.numArguments) || !map.map("grids", grids) ||
      !map.map("workspaces", workspaces))
    return false;
  auto isTooLong = [](const Texts &grid) {
    return grid.size() > std::tuple_size_v<LaunchFormulas::Grid>;
  };
  if (formulas.numArguments > kMaxArguments || llvm::any_of(grids, isTooLong)) {
    path.report("expected what a launch needs");
    return false;
  }
  IndexNames names = nameArguments(formulas.numArguments);
  for (const Texts &grid : grids)
    if (!parse(grid, names, formulas.grids.emplace_back(), path.field("grids")))
      return false;
  for (WorkspaceText &text : workspaces) {
    LaunchFormulas::Workspace &workspace = formulas.workspaces.emplace_back();
    workspace.name = std::move(text.name);
    workspace.elementBytes = text.elementBytes;
    workspace.isUpdated = text.isUpdated;
    if (!parse(text.extents, names, workspace.extents, path.field("workspaces")))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------------------------===//

int64_t getBytes(const runtime::BoundTensor &tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements *= extent;
  return elements * tile::getStorageBytes(tensor.elementType);
}

std::vector<uint8_t> packNumber(Type type, const runtime::BoundArgument &number) {
  uint64_t bits = 0;
  if (auto *real = std::get_if<double>(&number)) {
    llvm::APFloat value(*real);
    bool losesInfo = false;
    value.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
    bits = value.bitcastToAPInt().getZExtValue();
  } else {
    bits = uint64_t(std::get<int64_t>(number));
  }
  auto *bytes = reinterpret_cast<uint8_t *>(&bits);
  return std::vector<uint8_t>(bytes, bytes + tile::getStorageBytes(type));
}

} // namespace tilewright::driver
