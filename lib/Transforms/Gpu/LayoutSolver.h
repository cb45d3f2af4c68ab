//===- LayoutSolver.h - who holds each tile and who runs each iteration -------------*- C++ -*-===//
//
//   InferLayouts.cpp       rounds of solving, shared tiles, the results as attributes
//   CheckRequests.cpp      annotations and policies that contradict what statements need
//   PlaceGemms.cpp         what tensor cores need
//   PlaceProducts.cpp      the same for wgmma
//   PlaceLoops.cpp         loops and reductions follow what is placed; free loops choose
//   ConvertFragments.cpp   uses that a fragment's layout does not serve
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_LAYOUTSOLVER_H
#define TILEWRIGHT_LIB_TRANSFORMS_LAYOUTSOLVER_H

#include "tilewright/Access/Products.h"
#include "tilewright/Analysis/Conversion.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Layout/MmaFragments.h"
#include "tilewright/Tile/Teams.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {

/// The most elements of a fragment that a thread holds. It has 255 registers; what is far beyond
/// them would only spill, and code that names every slot takes ever longer to compile.
inline constexpr int64_t kMaxSlots = 1024;

/// One access to a fragment inside a loop.
struct FragmentAccess {
  mlir::Operation *op;
  tile::AllocOp fragment;
  llvm::SmallVector<IndexExpr, 4> indices;
  bool isWrite;
};

/// A statement that a fragment's register layout does not serve.
struct Refusal {
  mlir::Operation *statement;
  tile::AllocOp fragment;
  std::string reason;
};

class LayoutSolver {
public:
  LayoutSolver(tile::KernelOp kernel, const Arch &arch, CallFacts calls)
      : kernel(kernel), context{kernel, arch, std::move(calls)} {}
  void run();

private:
  void solve();
  void demoteLargeFragments();
  void readAnnotations();
  void placeGemms();
  void placeGemm(tile::GemmOp gemm);
  /// Gives a gemm to wgmma; false, with the reason in `warpGemms`, where it cannot be.
  bool placeProduct(tile::GemmOp gemm);
  bool mustRunOnce(tile::ParallelOp loop);
  void placeLoop(tile::ParallelOp loop, bool allowFree);
  void placeReduction(tile::ReduceOp reduce);
  bool placeRemaining();
  bool touchesMemory(tile::ParallelOp loop);
  void placeExchanges();
  void findUnsatisfied();
  void refuse(mlir::Operation *statement, tile::AllocOp fragment, const llvm::Twine &reason);
  bool resolveRefusals();
  bool isHeld(tile::AllocOp alloc);
  bool exchange(const Refusal &refusal);
  std::optional<analysis::ExchangePlan> planCheapExchange(tile::AllocOp from,
                                                          const analysis::OwnerTable &to);
  void remarkExchange(tile::ParallelOp loop);
  void remarkPolicy(tile::GemmOp gemm, WarpGrid grid);
  void demote(tile::AllocOp alloc, const llvm::Twine &reason);
  std::optional<llvm::SmallVector<FragmentAccess>> accessesOf(tile::ParallelOp loop,
                                                              tile::AllocOp *undecided);
  std::optional<Fragment> distributionFrom(const FragmentAccess &access,
                                           llvm::ArrayRef<int64_t> extents);
  void place(tile::AllocOp alloc, const Fragment &fragment) { placed.try_emplace(alloc, fragment); }
  tile::AllocOp fragmentRoot(mlir::Value buffer);
  const analysis::OwnerTable *tableOf(tile::AllocOp alloc);
  std::optional<int64_t> costOf(tile::ParallelOp loop, llvm::ArrayRef<int64_t> extents,
                                const Fragment &fragment);
  Fragment freeDistribution(tile::ParallelOp loop, llvm::ArrayRef<int64_t> extents);
  void placeShared();
  void placeDrained();
  void writeAttributes();
  void writeProducts();

  tile::KernelOp kernel;
  access::Context context;
  llvm::MapVector<mlir::Operation *, Fragment> placed;
  llvm::MapVector<mlir::Operation *, Fragment> distributions;
  llvm::MapVector<mlir::Operation *, WarpGrid> warps;
  llvm::MapVector<mlir::Operation *, std::pair<GroupGrid, bool>>
      groups; // of gemms that wgmma computes, and whether it computes C^T
  llvm::MapVector<mlir::Operation *, int64_t> alignments; // of the tiles that it reads
  llvm::MapVector<mlir::Operation *, std::string>
      warpGemms; // with what keeps them off wgmma, where the target has it
  llvm::SetVector<mlir::Operation *> movedAccumulators; // gemms whose C is no whole fragment
  llvm::MapVector<mlir::Operation *, std::string>
      plainGemms; // with what keeps them off the tensor cores
  llvm::DenseMap<mlir::Operation *, std::optional<analysis::OwnerTable>> tables;
  llvm::SetVector<mlir::Operation *> demoted;
  llvm::SmallVector<Refusal> refusals;         // of this round
  llvm::DenseSet<mlir::Operation *> copyLoops; // between a fragment and its copies
};

/// Whether and how a gemm runs on the tensor cores.
struct GemmFit {
  std::optional<MmaShape> shape; ///< Of the instruction for its element types.
  std::optional<WarpGrid> grid;  ///< Of the warps that share its result, where it runs on them.
  std::string obstacle;          ///< What keeps it off them, where there is no grid.
  bool warpsMisfit = false;      ///< That is: the warps cannot share the result in any way.
};

/// How a shared tile lies that tensor cores read: as the user says, else swizzled as its rows allow,
/// else row-major.
Layout getOperandLayout(tile::AllocOp alloc);

GemmFit fitGemm(tile::GemmOp gemm, const Arch &arch, int64_t numThreads);
/// `FullRow`, as users write it.
llvm::StringRef describePolicy(tile::GemmPolicy policy);

/// Refuses what the user requests and a statement of the kernel cannot have.
mlir::LogicalResult checkRequests(tile::KernelOp kernel, const Arch &arch);

/// Whether a thread can compute from its number which element a slot of it holds.
bool hasInverse(const Fragment &fragment);
/// The placement of a tile that a loop touches at `indices`, so that the loop finds it on its own
/// threads: solved for plain permutations of the loop's variables, with missing ones projected
/// away.
std::optional<Fragment> placementFor(const Fragment &distribution, llvm::ArrayRef<int64_t> extents,
                                     llvm::ArrayRef<IndexExpr> indices,
                                     llvm::ArrayRef<int64_t> shape);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_LAYOUTSOLVER_H
