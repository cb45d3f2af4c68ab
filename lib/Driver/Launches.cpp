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

static std::vector<std::optional<rt::Formula>> describe(ArrayRef<LaunchFormulas::Formula> exprs) {
  std::vector<std::optional<rt::Formula>> formulas;
  for (const LaunchFormulas::Formula &expr : exprs)
    formulas.push_back(expr ? std::optional(runtime::toFormula(*expr)) : std::nullopt);
  return formulas;
}

rt::LaunchFormulas LaunchFormulas::describe() const {
  rt::LaunchFormulas formulas;
  for (const std::vector<Formula> &grid : grids)
    formulas.grids.push_back(driver::describe(grid));
  for (const Workspace &workspace : workspaces)
    formulas.workspaces.push_back(
        {workspace.name, workspace.elementBytes, driver::describe(workspace.extents)});
  return formulas;
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

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

rt::TensorMapRecipe describeMap(const nvptx::TensorMapRecipe &recipe) {
  rt::TensorMapRecipe map;
  map.argument = recipe.argument;
  map.type = recipe.type;
  for (const IndexExpr &extent : recipe.extents)
    map.extents.push_back(runtime::toFormula(extent));
  for (const IndexExpr &stride : recipe.strideBytes)
    map.strideBytes.push_back(runtime::toFormula(stride));
  map.box = recipe.box;
  map.steps = recipe.steps;
  map.swizzleBytes = recipe.swizzleBytes;
  map.fillsNan = recipe.fillsNan;
  map.promotionBytes = recipe.promotionBytes;
  return map;
}

std::vector<rt::GpuKernel> describeKernels(ArrayRef<nvptx::KernelInfo> kernels) {
  std::vector<rt::GpuKernel> all;
  for (const nvptx::KernelInfo &info : kernels) {
    rt::GpuKernel &kernel = all.emplace_back();
    kernel.name = info.name;
    kernel.numThreads = unsigned(info.numThreads);
    kernel.sharedBytes = unsigned(info.sharedBytes);
    kernel.overlapsLaunch = info.overlapsLaunch;
    for (const nvptx::TensorMapRecipe &recipe : info.maps)
      kernel.maps.push_back(describeMap(recipe));
  }
  return all;
}

llvm::Expected<const Arch *> findArch(const rt::CudaDeviceInfo &device) {
  // PTX for an architecture runs on all later ones.
  if (const Arch *arch = findNewestArch(10 * device.major + device.minor))
    return arch;
  return llvm::createStringError("the GPU '" + device.name + "' has compute capability " +
                                 Twine(device.major) + "." + Twine(device.minor) +
                                 "; GPU code is for 8.0 and above");
}

} // namespace tilewright::driver
