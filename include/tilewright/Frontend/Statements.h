//===- Statements.h - tile statements of a trace -----------------------------------*- C++ -*-===//
//
// One function for each statement of the language that works on tiles. Statements of threads are in
// ThreadStatements.h.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_STATEMENTS_H
#define TILEWRIGHT_FRONTEND_STATEMENTS_H

#include "tilewright/Frontend/Buffers.h"
#include "tilewright/Frontend/Variables.h"
#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/Layout.h"

namespace tilewright::frontend {

class Statements {
public:
  Statements(Emitter &emitter, Scalars &scalars, Regions &regions, Buffers &buffers,
             Variables &variables)
      : emitter(emitter), scalars(scalars), regions(regions), buffers(buffers),
        variables(variables), builder(emitter.getBuilder()) {}

  // Movement and products.
  void copy(const TileOperand &source, const TileOperand &dest, std::optional<int64_t> width,
            const Fragment *loopLayout, mlir::DictionaryAttr hints);
  void fill(const TileOperand &dest, const Operand &value);
  void gemm(const Buffer &a, const Buffer &b, const Buffer &c, bool transposeA, bool transposeB,
            tile::GemmPolicy policy, std::optional<Operand> clear, int64_t kPack);
  void im2col(const Buffer &image, const Buffer &dest, const Operand &rowTile,
              const Operand &columnTile, int64_t kernel, int64_t stride, int64_t dilation,
              int64_t pad);

  // Reductions.
  void reduce(tile::ReduceKind kind, const Buffer &source, const Buffer &dest, int64_t dim,
              bool clear, bool nanPropagate);
  void cumsum(const Buffer &source, const Buffer &dest, int64_t dim, bool reverse);
  std::optional<Scalar> atomic(tile::AtomicKind kind, const TileOperand &dest,
                               const std::variant<Operand, Buffer> &value, tile::MemoryOrder order,
                               bool returnPrevious);
  void reducerInit(const Buffer &buffer);
  void reducerUpdate(const Element &element, const Operand &value);
  void finalizeReducer(const Buffer &buffer, const Buffer &dest);

  // Notes to the compiler and to the user.
  void annotateLayout(const Buffer &buffer, const std::variant<Layout, Fragment> &layout);
  void annotateSafeValue(const Buffer &buffer, const Literal &value);
  void useSwizzle(int64_t panelSize, tile::RasterOrder order);
  void hint(llvm::StringRef name, llvm::ArrayRef<Buffer> hinted, mlir::DictionaryAttr attributes);
  void assume(const Operand &condition);
  void assertThat(const Operand &condition, llvm::StringRef message);
  void print(llvm::StringRef message, const std::variant<std::monostate, Operand, Buffer> &value);

private:
  Emitter &emitter;
  Scalars &scalars;
  Regions &regions;
  Buffers &buffers;
  Variables &variables;
  mlir::OpBuilder &builder;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_STATEMENTS_H
