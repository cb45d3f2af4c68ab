//===- Statements.cpp - stores and statements on tiles written in C++ -------------------------===//

#include "Builder.h"

using namespace tilewright;
using tilewright::frontend::Literal;

namespace tw::lang {

//===----------------------------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------------------------===//

static void copyTiles(State &state, const detail::Handle &source, const detail::Handle &dest) {
  state.trace.statements.copy(toTile(source, "'T.copy' source"),
                              toTile(dest, "'T.copy' destination"), std::nullopt, nullptr,
                              mlir::DictionaryAttr::get(state.trace.getContext()));
}

static void store(const detail::Handle &dest, const detail::Handle &value, const Where &where) {
  attempt(where, [&](State &state) {
    bool isTile = value && std::holds_alternative<frontend::Buffer>(value->content);
    if (isTile)
      return copyTiles(state, value, dest);
    state.trace.statements.fill(toTile(dest, "store"), toOperand(value, "stored value"));
  });
}

const Part &Part::operator=(const Operand &value) const {
  store(node, value.get(), value.where());
  return *this;
}
const Part &Part::operator=(const Part &value) const {
  store(node, value.node, value.place);
  return *this;
}
Part &Part::operator=(const Part &value) {
  store(node, value.node, value.place);
  return *this;
}
const Part &Part::operator+=(const Operand &value) const {
  return *this = Operand(Operand(*this, value.where()) + value, value.where());
}
const Part &Part::operator-=(const Operand &value) const {
  return *this = Operand(Operand(*this, value.where()) - value, value.where());
}
const Part &Part::operator*=(const Operand &value) const {
  return *this = Operand(Operand(*this, value.where()) * value, value.where());
}
const Part &Part::operator/=(const Operand &value) const {
  return *this = Operand(Operand(*this, value.where()) / value, value.where());
}

const Variable &Variable::operator=(const Operand &value) const {
  attempt(value.where(), [&](State &state) {
    frontend::Operand target = toOperand(node, "assignment");
    state.trace.variables.assign(std::get<frontend::Variable>(target),
                                 toOperand(value.get(), "assigned value"));
  });
  return *this;
}
Variable &Variable::operator=(const Variable &value) {
  static_cast<const Variable &>(*this) = Operand(value);
  return *this;
}
const Variable &Variable::operator+=(const Operand &value) const {
  return *this = Operand(Operand(*this, value.where()) + value, value.where());
}

//===----------------------------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------------------------===//

void copy(const Tile &source, const Tile &dest, Where where) {
  attempt(where, [&](State &state) { copyTiles(state, source.get(), dest.get()); });
}

void fill(const Tile &dest, const Value &value, Where where) {
  attempt(where, [&](State &state) {
    state.trace.statements.fill(toTile(dest.get(), "'T.fill'"),
                                toOperand(value.get(), "value of 'T.fill'"));
  });
}
void clear(const Tile &dest, Where where) { fill(dest, 0, where); }

static tile::GemmPolicy toPolicy(GemmPolicy policy) {
  return policy == GemmPolicy::FullRow   ? tile::GemmPolicy::FullRow
         : policy == GemmPolicy::FullCol ? tile::GemmPolicy::FullCol
                                         : tile::GemmPolicy::Square;
}

void gemm(const Tile &a, const Tile &b, const Tile &c, const GemmOptions &options, Where where) {
  attempt(where, [&](State &state) {
    state.trace.statements.gemm(toBuffer(a.get(), "'T.gemm' A"), toBuffer(b.get(), "'T.gemm' B"),
                                toBuffer(c.get(), "'T.gemm' C"), options.transpose_a,
                                options.transpose_b, toPolicy(options.policy),
                                toOperand(options.clear_accum.get(), "clear_accum"), 1);
  });
}

//===----------------------------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------------------------===//

static void reduce(tile::ReduceKind kind, const Tile &source, const Tile &dest,
                   const ReduceOptions &options, const Where &where) {
  attempt(where, [&](State &state) {
    state.trace.statements.reduce(kind, toBuffer(source.get(), "source of a reduction"),
                                  toBuffer(dest.get(), "output of a reduction"), options.dim,
                                  options.clear, /*nanPropagate=*/false);
  });
}
void reduce_sum(const Tile &source, const Tile &dest, const ReduceOptions &options, Where where) {
  reduce(tile::ReduceKind::Sum, source, dest, options, where);
}
void reduce_max(const Tile &source, const Tile &dest, const ReduceOptions &options, Where where) {
  reduce(tile::ReduceKind::Max, source, dest, options, where);
}
void reduce_min(const Tile &source, const Tile &dest, const ReduceOptions &options, Where where) {
  reduce(tile::ReduceKind::Min, source, dest, options, where);
}
void reduce_absmax(const Tile &source, const Tile &dest, const ReduceOptions &options,
                   Where where) {
  reduce(tile::ReduceKind::AbsMax, source, dest, options, where);
}

void cumsum(const Tile &source, const Tile &dest, int64_t dim, bool reverse, Where where) {
  attempt(where, [&](State &state) {
    state.trace.statements.cumsum(toBuffer(source.get(), "'T.cumsum'"),
                                  toBuffer(dest.get(), "'T.cumsum'"), dim, reverse);
  });
}

static void atomic(tile::AtomicKind kind, const detail::Handle &dest, const detail::Handle &value,
                   const Where &where) {
  attempt(where, [&](State &state) {
    std::string what = ("'T.atomic_" + tile::stringifyAtomicKind(kind) + "'").str();
    std::variant<frontend::Operand, frontend::Buffer> operand = Literal::ofInt(0);
    bool isTile = value && std::holds_alternative<frontend::Buffer>(value->content);
    if (isTile)
      operand = toBuffer(value, what);
    else
      operand = toOperand(value, what + " value");
    state.trace.statements.atomic(kind, toTile(dest, what), operand, tile::MemoryOrder::Relaxed,
                                  /*returnPrevious=*/false);
  });
}
void atomic_add(const Part &dest, const Operand &value) {
  atomic(tile::AtomicKind::Add, dest.get(), value.get(), value.where());
}
void atomic_add(const Tile &dest, const Buffer &value, Where where) {
  atomic(tile::AtomicKind::Add, dest.get(), value.get(), where);
}
void atomic_max(const Part &dest, const Operand &value) {
  atomic(tile::AtomicKind::Max, dest.get(), value.get(), value.where());
}
void atomic_max(const Tile &dest, const Buffer &value, Where where) {
  atomic(tile::AtomicKind::Max, dest.get(), value.get(), where);
}
void atomic_min(const Part &dest, const Operand &value) {
  atomic(tile::AtomicKind::Min, dest.get(), value.get(), value.where());
}
void atomic_min(const Tile &dest, const Buffer &value, Where where) {
  atomic(tile::AtomicKind::Min, dest.get(), value.get(), where);
}

//===----------------------------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------------------------===//

void use_swizzle(int64_t panel_size, Where where) {
  attempt(where, [&](State &state) {
    state.trace.statements.useSwizzle(panel_size, tile::RasterOrder::Row);
  });
}
void assume(const Operand &condition) {
  attempt(condition.where(), [&](State &state) {
    state.trace.statements.assume(toOperand(condition.get(), "'T.assume'"));
  });
}
void print(std::string_view message, const Value &value, Where where) {
  attempt(where, [&](State &state) {
    state.trace.regions.requireKernel("'T.print'");
    state.trace.statements.print(llvm::StringRef(message), toOperand(value.get(), "'T.print'"));
  });
}

} // namespace tw::lang
