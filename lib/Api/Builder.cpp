//===- Builder.cpp - programs and buffers written in C++ --------------------------------------===//

#include "Builder.h"
#include "Program.h"
#include "tilewright/Layout/SharedLayouts.h"

using tilewright::IndexExpr;
using tilewright::frontend::Literal;
using tilewright::frontend::UserError;

namespace tw::lang {

//===----------------------------------------------------------------------------------------===//
// The state of a thread
//===----------------------------------------------------------------------------------------===//

static thread_local State *innermost = nullptr;
static thread_local std::optional<UserError> stray;

State *&current() { return innermost; }

void keepStray(UserError error) {
  if (!stray)
    stray = std::move(error);
}

frontend::SourcePosition toPosition(const Where &where) {
  return {where.file_name(), int64_t(where.line()), int64_t(where.column())};
}

namespace {
/// Makes a state the innermost one, also if the user's function throws.
struct Scope {
  explicit Scope(State &state) : outer(innermost) { innermost = &state; }
  ~Scope() { innermost = outer; }
  State *outer;
};
} // namespace

static bool isName(std::string_view name) {
  return !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
         !llvm::isDigit(name.front());
}

Result<Program> build(std::string_view name, const std::function<void()> &body,
                      const BuildOptions &options, Where where) {
  if (std::optional<UserError> earlier = std::exchange(stray, std::nullopt))
    return toError(*earlier);
  if (!isName(name)) {
    UserError error("'" + std::string(name) + "' is no name of a function");
    error.position = toPosition(where);
    return toError(error);
  }
  State state(name, toPosition(where));
  {
    Scope scope(state);
    body();
  }
  if (state.error)
    return toError(*state.error);
  try {
    state.trace.emitter.locate(toPosition(where));
    auto executable =
        std::make_shared<tilewright::driver::Executable>(state.trace.finish(options.fast_math));
    return Program(std::make_shared<Program::Impl>(Program::Impl{executable}));
  } catch (UserError &error) {
    if (!error.position)
      error.position = toPosition(where);
    return toError(error);
  }
}

//===----------------------------------------------------------------------------------------===//
// Between handles and the values of the trace
//===----------------------------------------------------------------------------------------===//

detail::Handle wrap(frontend::Operand operand) {
  return std::make_shared<detail::Node>(detail::Node{std::move(operand)});
}
detail::Handle wrap(frontend::Buffer buffer) {
  return std::make_shared<detail::Node>(detail::Node{std::move(buffer)});
}
std::vector<Value> wrapAll(const std::vector<frontend::Scalar> &scalars) {
  std::vector<Value> values;
  for (const frontend::Scalar &scalar : scalars)
    values.emplace_back(wrap(scalar));
  return values;
}

static const detail::Node &require(const detail::Handle &node, llvm::StringRef what) {
  if (!node)
    throw UserError((what + ": the value is empty; it was never set").str());
  return *node;
}

frontend::Operand toOperand(const detail::Handle &node, llvm::StringRef what) {
  if (auto *operand = std::get_if<frontend::Operand>(&require(node, what).content))
    return *operand;
  throw UserError(
      (what + ": expected a scalar, got a whole tile; index it, or write a 'T.Parallel' loop")
          .str());
}

std::vector<frontend::Operand> toOperands(const Shape &values, llvm::StringRef what) {
  std::vector<frontend::Operand> operands;
  for (const Value &value : values)
    operands.push_back(toOperand(value.get(), what));
  return operands;
}

std::vector<IndexExpr> toShape(const Shape &shape, llvm::StringRef what) {
  std::vector<IndexExpr> extents;
  for (const Value &value : shape) {
    frontend::Operand operand = toOperand(value.get(), what);
    auto *literal = std::get_if<Literal>(&operand);
    if (auto *size = std::get_if<IndexExpr>(&operand))
      extents.push_back(*size);
    else if (literal && literal->kind == Literal::Kind::Int && !literal->isUnsigned64)
      extents.emplace_back(literal->integer);
    else if (literal)
      throw UserError((what + ": expected an integer extent").str());
    else
      throw UserError((what + ": the extent is only known when the kernel runs; a tile needs "
                              "constants, a tensor 'dynamic' sizes")
                          .str());
  }
  return extents;
}

frontend::TileOperand toTile(const detail::Handle &node, llvm::StringRef what) {
  const detail::Node &content = require(node, what);
  if (auto *buffer = std::get_if<frontend::Buffer>(&content.content))
    return *buffer;
  if (auto *operand = std::get_if<frontend::Operand>(&content.content))
    if (auto *element = std::get_if<frontend::Element>(operand))
      return *element;
  throw UserError((what + ": expected a buffer or a part of one").str());
}

frontend::Buffer toBuffer(const detail::Handle &node, llvm::StringRef what) {
  frontend::TileOperand tile = toTile(node, what);
  if (auto *buffer = std::get_if<frontend::Buffer>(&tile))
    return *buffer;
  throw UserError(
      (what + ": expected a buffer, got one element of it; use ranges for a part").str());
}

mlir::Type toType(State &state, DType dtype) {
  return frontend::parseDType(llvm::StringRef(name(dtype)), state.trace.getContext());
}

//===----------------------------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------------------------===//

static void requireNoKernel(const State &state, std::string_view name) {
  if (state.hasKernel)
    throw UserError("parameter '" + std::string(name) +
                    "' is declared after a kernel; declare parameters first");
}

Buffer tensor(std::string_view name, const Shape &shape, DType dtype, Where where) {
  return attempt(where, [&](State &state) {
    requireNoKernel(state, name);
    return Buffer(wrap(state.trace.signature.addTensor(
        llvm::StringRef(name), toShape(shape, "shape of '" + std::string(name) + "'"),
        toType(state, dtype))));
  });
}

Value scalar(std::string_view name, DType dtype, Where where) {
  return attempt(where, [&](State &state) {
    requireNoKernel(state, name);
    return Value(
        wrap(state.trace.signature.addScalar(llvm::StringRef(name), toType(state, dtype))));
  });
}

static Buffer allocate(const Shape &shape, DType dtype, std::string_view name,
                       tilewright::tile::Space space, const Where &where) {
  return attempt(where, [&](State &state) {
    return Buffer(
        wrap(state.trace.buffers.allocTile(llvm::StringRef(name), toShape(shape, "shape of a tile"),
                                           toType(state, dtype), space, std::nullopt)));
  });
}
Buffer alloc_shared(const Shape &shape, DType dtype, std::string_view name, Where where) {
  return allocate(shape, dtype, name, tilewright::tile::Space::Shared, where);
}
Buffer alloc_fragment(const Shape &shape, DType dtype, std::string_view name, Where where) {
  return allocate(shape, dtype, name, tilewright::tile::Space::Fragment, where);
}

Buffer alloc_global(const Shape &shape, DType dtype, std::string_view name, Where where) {
  return attempt(where, [&](State &state) {
    return Buffer(wrap(state.trace.buffers.allocGlobal(
        llvm::StringRef(name), toShape(shape, "shape of a workspace"), toType(state, dtype))));
  });
}

Variable alloc_var(DType dtype, const Value &init, std::string_view name, Where where) {
  return Variable(attempt(where, [&](State &state) {
    state.trace.regions.requireKernel("'T.alloc_var'");
    return wrap(state.trace.variables.alloc(llvm::StringRef(name), toType(state, dtype),
                                            toOperand(init.get(), "initial value")));
  }));
}

Buffer view(const Buffer &buffer, const Shape &shape, DType dtype, Where where) {
  return attempt(where, [&](State &state) {
    return Buffer(
        wrap(state.trace.buffers.view(toBuffer(buffer.get(), "'T.view'"),
                                      toShape(shape, "shape of a view"), toType(state, dtype))));
  });
}

std::vector<Value> Buffer::shape() const {
  std::vector<Value> extents;
  if (!node)
    return extents;
  for (const frontend::Extent &extent : std::get<frontend::Buffer>(node->content).shape)
    extents.emplace_back(
        std::visit([](const auto &value) { return wrap(frontend::Operand(value)); }, extent));
  return extents;
}

static frontend::Subscript toSubscript(const Index &index) {
  if (index.kind == Index::Kind::Scalar)
    return toOperand(index.scalar.get(), "index");
  frontend::Slice slice;
  if (index.range.start.get())
    slice.start = toOperand(index.range.start.get(), "slice");
  if (index.range.stop.get())
    slice.stop = toOperand(index.range.stop.get(), "slice");
  if (index.range.step != 1)
    slice.step = Literal::ofInt(index.range.step);
  return slice;
}

Part Buffer::operator()(Index i0, Index i1, Index i2, Index i3, Index i4, Index i5,
                        Where where) const {
  return Part(attempt(where,
                      [&](State &state) -> detail::Handle {
                        std::vector<frontend::Subscript> entries;
                        for (const Index *index : {&i0, &i1, &i2, &i3, &i4, &i5})
                          if (index->kind != Index::Kind::None)
                            entries.push_back(toSubscript(*index));
                        auto part =
                            state.trace.buffers.subscript(toBuffer(node, "subscript"), entries);
                        if (auto *element = std::get_if<frontend::Element>(&part))
                          return wrap(frontend::Operand(*element));
                        return wrap(std::get<frontend::Buffer>(part));
                      }),
              where);
}

//===----------------------------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------------------------===//

static std::vector<int64_t> toExtents(const std::vector<IndexExpr> &shape) {
  std::vector<int64_t> extents;
  for (const IndexExpr &extent : shape)
    extents.push_back(extent.getConstant().value_or(tilewright::kDynamic));
  return extents;
}

static detail::Handle wrapLayout(llvm::Expected<tilewright::Layout> layout) {
  if (!layout)
    throw UserError(llvm::toString(layout.takeError()));
  return std::make_shared<detail::Node>(detail::Node{*layout});
}

Layout detail::layout(const Shape &shape, const Map &map, Where where) {
  return Layout(attempt(where, [&](State &) {
    if (map.count != shape.size())
      throw UserError("the layout's function takes " + std::to_string(map.count) +
                      " indices, the shape has " + std::to_string(shape.size()));
    std::vector<Value> indices;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      indices.emplace_back(wrap(IndexExpr::dim(dim)));
    std::vector<int64_t> extents = toExtents(toShape(shape, "layout shape"));
    std::vector<IndexExpr> outputs = toShape(map.run(indices), "layout");
    for (const IndexExpr &output : outputs)
      if (output.getNumSymbols() > 0)
        throw UserError("layout: a layout cannot depend on shape symbols");
    if (llvm::Error error = tilewright::Layout::verify(extents, outputs))
      throw UserError(llvm::toString(std::move(error)));
    return wrapLayout(tilewright::Layout::get(extents, outputs));
  }));
}

Layout swizzled_layout(const Buffer &tile, Where where) {
  return Layout(attempt(where, [&](State &) {
    frontend::Buffer buffer = toBuffer(tile.get(), "swizzled_layout");
    std::vector<int64_t> shape;
    for (unsigned dim = 0; dim < buffer.getRank(); ++dim)
      shape.push_back(buffer.getStaticExtent(dim).value_or(tilewright::kDynamic));
    return wrapLayout(tilewright::swizzledLayout(shape, buffer.dtype.getIntOrFloatBitWidth()));
  }));
}

void annotate_layout(const Buffer &buffer, const Layout &layout, Where where) {
  attempt(where, [&](State &state) {
    frontend::Buffer target = toBuffer(buffer.get(), "'T.annotate_layout'");
    const detail::Node &node = require(layout.get(), "'T.annotate_layout'");
    state.trace.statements.annotateLayout(target, std::get<tilewright::Layout>(node.content));
  });
}

} // namespace tw::lang
