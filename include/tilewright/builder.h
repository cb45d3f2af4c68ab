//===- tilewright/builder.h - write tile kernels in C++ ------------------------------*- C++ -*-===//
//
// A kernel is a C++ function that runs once, while the kernel is built. Its statements append to tile
// IR through the tracer that Python uses: types, refusals and messages are the same.
//
//   using namespace tw::lang;
//   tw::Result<tw::Program> program = build("scale", [] {
//     Buffer a = tensor("A", {64, 64}, tw::DType::Float32), b = tensor("B", {64, 64}, tw::DType::Float32);
//     kernel({4}, 128, [&](Value block) {
//       parallel({16, 64}, [&](Value i, Value j) { b(block * 16 + i, j) = a(block * 16 + i, j) * 2.0; });
//     });
//   });
//   tw::Result<tw::Kernel> kernel = tw::Compiler().compile(*program);
//
// A mistake is a value too: the first one ends the building, later statements do nothing, and `build`
// gives the Error with the line of C++. Remarks and findings have those lines as well. Macros are C++
// functions. A Value is used where it was made or deeper, in the `build` that made it. C++ does not fix
// the order in which arguments are evaluated: the order of independent ops may depend on the compiler,
// what they compute does not.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BUILDER_H
#define TILEWRIGHT_BUILDER_H

#include "tilewright/tilewright.h"

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>

namespace tw::lang {

/// The line of a statement; the last argument of each function, never written.
using Where = std::source_location;

namespace detail {
struct Node; // what the tracer knows of a value, a buffer or a layout
using Handle = std::shared_ptr<const Node>;
Handle number(bool value);
Handle number(int64_t value);
Handle number(uint64_t value);
Handle number(double value);
template <typename T> Handle toNumber(T value) {
  if constexpr (std::same_as<T, bool>)
    return number(value);
  else if constexpr (std::floating_point<T>)
    return number(double(value));
  else if constexpr (std::unsigned_integral<T>)
    return number(uint64_t(value));
  else
    return number(int64_t(value));
}
} // namespace detail

/// A number of C++.
template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

class Part;
class Variable;

//===----------------------------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------------------------===//

/// A scalar: a number, a size such as `dynamic("n")`, or a value that is known when the kernel runs.
class Value {
public:
  /// No value; to use it is a mistake.
  Value() = default;
  template <Number T> Value(T number) : node(detail::toNumber(number)) {}
  /// The element or variable as it is now.
  Value(const Part &element, Where where = Where::current());
  Value(const Variable &variable, Where where = Where::current());

  explicit Value(detail::Handle node) : node(std::move(node)) {}
  const detail::Handle &get() const { return node; }

private:
  detail::Handle node;
};

/// A scalar as an operand, with the line that it stands in.
class Operand {
public:
  template <Number T>
  Operand(T number, Where where = Where::current())
      : node(detail::toNumber(number)), place(where) {}
  Operand(const Value &value, Where where = Where::current()) : node(value.get()), place(where) {}
  Operand(const Part &element, Where where = Where::current());
  Operand(const Variable &variable, Where where = Where::current());

  const detail::Handle &get() const { return node; }
  const Where &where() const { return place; }

private:
  detail::Handle node;
  Where place;
};

/// Operators, with the types of docs/semantics.md. `/` of integers truncates as in C++; `%` is the
/// remainder of `floordiv`, which differs from C++ for negative numbers. Operators of sizes and integers
/// (+ - * % ^, floordiv, ceildiv) give sizes.
Value operator+(const Operand &lhs, const Operand &rhs);
Value operator-(const Operand &lhs, const Operand &rhs);
Value operator*(const Operand &lhs, const Operand &rhs);
Value operator/(const Operand &lhs, const Operand &rhs);
Value operator%(const Operand &lhs, const Operand &rhs);
Value operator<<(const Operand &lhs, const Operand &rhs);
Value operator>>(const Operand &lhs, const Operand &rhs);
Value operator&(const Operand &lhs, const Operand &rhs);
Value operator|(const Operand &lhs, const Operand &rhs);
Value operator^(const Operand &lhs, const Operand &rhs);
Value operator<(const Operand &lhs, const Operand &rhs);
Value operator<=(const Operand &lhs, const Operand &rhs);
Value operator>(const Operand &lhs, const Operand &rhs);
Value operator>=(const Operand &lhs, const Operand &rhs);
Value operator==(const Operand &lhs, const Operand &rhs);
Value operator!=(const Operand &lhs, const Operand &rhs);
/// The right side is evaluated where the left one leaves the answer open.
Value operator&&(const Operand &lhs, const Operand &rhs);
Value operator||(const Operand &lhs, const Operand &rhs);
Value operator-(const Operand &x);
Value operator!(const Operand &x);
Value operator~(const Operand &x);

Value floordiv(const Operand &a, const Operand &b);
/// a / b rounded up; of integers.
Value ceildiv(const Operand &a, const Operand &b);
constexpr int64_t ceildiv(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}
/// A NaN loses.
Value min(const Operand &a, const Operand &b);
Value max(const Operand &a, const Operand &b);
Value pow(const Operand &a, const Operand &b);
Value exp(const Operand &x);
Value exp2(const Operand &x);
Value log(const Operand &x);
Value log2(const Operand &x);
Value sqrt(const Operand &x);
Value rsqrt(const Operand &x);
Value sin(const Operand &x);
Value cos(const Operand &x);
Value tanh(const Operand &x);
Value erf(const Operand &x);
Value sigmoid(const Operand &x);
Value floor(const Operand &x);
Value ceil(const Operand &x);
Value round(const Operand &x);
Value abs(const Operand &x);
/// Any function of `tilewright.language` with one or two scalars, by its name there: "log1p", "atan2".
Value apply(std::string_view function, const Operand &x);
Value apply(std::string_view function, const Operand &a, const Operand &b);
Value cast(const Operand &x, DType dtype);
Value infinity(DType dtype, Where where = Where::current());
/// One of two values; only the chosen side is evaluated.
Value if_then_else(const Operand &condition, const Operand &a, const Operand &b);

/// A size that each call gives by the shapes of its tensors. The same name is the same size.
Value dynamic(std::string_view name);

//===----------------------------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------------------------===//

/// A part of a dimension, `range(start, stop)`, or all of it, `all`.
class Range {
public:
  Range() = default;
  Range(Value start, Value stop, int64_t step)
      : start(std::move(start)), stop(std::move(stop)), step(step) {}
  Value start, stop;
  int64_t step = 1;
};
inline Range range(Value start, Value stop, int64_t step = 1) {
  return {std::move(start), std::move(stop), step};
}
inline const Range all;

/// One entry of a subscript: a scalar or a range.
class Index {
public:
  enum class Kind { None, Scalar, Range };
  Index() = default;
  template <Number T> Index(T number) : kind(Kind::Scalar), scalar(number) {}
  Index(const Value &value) : kind(Kind::Scalar), scalar(value) {}
  Index(const Part &element, Where where = Where::current());
  Index(const Variable &variable, Where where = Where::current());
  Index(const Range &range) : kind(Kind::Range), range(range) {}

  Kind kind = Kind::None;
  Value scalar;
  Range range;
};

/// A tensor or a tile.
class Buffer {
public:
  Buffer() = default;
  /// An element if each dimension has a scalar, else a region; dimensions without an entry are whole.
  Part operator()(Index i0, Index i1 = {}, Index i2 = {}, Index i3 = {}, Index i4 = {},
                  Index i5 = {}, Where where = Where::current()) const;
  /// The extents; none of a buffer without content.
  std::vector<Value> shape() const;

  explicit Buffer(detail::Handle node) : node(std::move(node)) {}
  const detail::Handle &get() const { return node; }

private:
  detail::Handle node;
};

/// An element or a region. An element is read where it is used, and written by assignment; a scalar
/// fills a region. `Value x = a(i)` reads at once, `auto x = a(i)` does not.
class Part {
public:
  Part(const Part &) = default;
  const Part &operator=(const Operand &value) const;
  const Part &operator=(const Part &value) const;
  Part &operator=(const Part &value);
  const Part &operator+=(const Operand &value) const;
  const Part &operator-=(const Operand &value) const;
  const Part &operator*=(const Operand &value) const;
  const Part &operator/=(const Operand &value) const;

  Part(detail::Handle node, Where where) : node(std::move(node)), place(where) {}
  const detail::Handle &get() const { return node; }
  const Where &where() const { return place; }

private:
  detail::Handle node;
  Where place;
};

/// A scalar that changes: assignment stores, use reads.
class Variable {
public:
  Variable(const Variable &) = default;
  const Variable &operator=(const Operand &value) const;
  Variable &operator=(const Variable &value);
  const Variable &operator+=(const Operand &value) const;

  explicit Variable(detail::Handle node) : node(std::move(node)) {}
  const detail::Handle &get() const { return node; }

private:
  detail::Handle node;
};

/// What a statement on tiles takes: a buffer, a region, or an element where the region begins.
class Tile {
public:
  Tile(const Buffer &buffer) : node(buffer.get()) {}
  Tile(const Part &part) : node(part.get()) {}
  const detail::Handle &get() const { return node; }

private:
  detail::Handle node;
};

using Shape = std::vector<Value>;

/// Parameters of the function, in the order of the calls; before the first kernel.
Buffer tensor(std::string_view name, const Shape &shape, DType dtype,
              Where where = Where::current());
Value scalar(std::string_view name, DType dtype, Where where = Where::current());

/// Tiles of a kernel, as in Python. The name is for messages.
Buffer alloc_shared(const Shape &shape, DType dtype, std::string_view name = "shared",
                    Where where = Where::current());
Buffer alloc_fragment(const Shape &shape, DType dtype, std::string_view name = "fragment",
                      Where where = Where::current());
/// A workspace of the launch, in global memory.
Buffer alloc_global(const Shape &shape, DType dtype, std::string_view name = "workspace",
                    Where where = Where::current());
Variable alloc_var(DType dtype, const Value &init, std::string_view name = "var",
                   Where where = Where::current());
/// The same storage with another shape or element type.
Buffer view(const Buffer &buffer, const Shape &shape, DType dtype, Where where = Where::current());

//===----------------------------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------------------------===//

/// Where the elements of a buffer are.
class Layout {
public:
  explicit Layout(detail::Handle node) : node(std::move(node)) {}
  const detail::Handle &get() const { return node; }

private:
  detail::Handle node;
};

namespace detail {

template <typename F, size_t... I> constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F, decltype((void)I, Value())...>;
}
/// How many values a function takes.
template <typename F, size_t N = 0> constexpr size_t arity() {
  static_assert(N <= 6, "the function must take up to six values of type tw::lang::Value");
  if constexpr (N > 6)
    return 0;
  else if constexpr (takes<F>(std::make_index_sequence<N>()))
    return N;
  else
    return arity<F, N + 1>();
}
template <typename F, size_t... I>
auto call(F &function, [[maybe_unused]] std::span<const Value> values, std::index_sequence<I...>) {
  return function(values[I]...);
}

/// A loop's body. It takes `count` indices.
struct Body {
  size_t count;
  std::function<void(std::span<const Value>)> run;
};
template <typename F> Body toBody(F &function) {
  constexpr size_t count = arity<F &>();
  return {count, [&function](std::span<const Value> values) {
            call(function, values, std::make_index_sequence<count>());
          }};
}
/// A layout's function. It gives the physical index.
struct Map {
  size_t count;
  std::function<std::vector<Value>(std::span<const Value>)> run;
};

Layout layout(const Shape &shape, const Map &map, Where where);
void kernel(const Shape &grid, const std::vector<int64_t> &threads, const Body &body, Where where);
void parallel(const Shape &extents, std::optional<int64_t> coalescedWidth, const Body &body,
              Where where);

} // namespace detail

/// `layout(shape, [](Value i, Value j) { return std::vector<Value>{…}; })`
template <typename F> Layout layout(const Shape &shape, F &&map, Where where = Where::current()) {
  constexpr size_t count = detail::arity<F &>();
  return detail::layout(shape,
                        {count,
                         [&map](std::span<const Value> values) {
                           return std::vector<Value>(
                               detail::call(map, values, std::make_index_sequence<count>()));
                         }},
                        where);
}
/// A shared tile's layout in which rows and columns fall into different banks.
Layout swizzled_layout(const Buffer &tile, Where where = Where::current());
/// On a tile this is a placement; the host's array of a tensor has the elements there.
void annotate_layout(const Buffer &buffer, const Layout &layout, Where where = Where::current());

//===----------------------------------------------------------------------------------------===//
// Kernels, loops, branches
//===----------------------------------------------------------------------------------------===//

struct BuildOptions {
  bool fast_math = false; ///< As `tl.enable_fast_math` of Python.
};

/// Runs `body`, which declares parameters and writes kernels, and gives the program. What `body`
/// throws passes through.
Result<Program> build(std::string_view name, const std::function<void()> &body,
                      const BuildOptions &options = {}, Where where = Where::current());

/// A launch. `body` takes an index for each of the 1 to 3 extents of the grid.
template <typename F>
void kernel(const Shape &grid, int64_t threads, F &&body, Where where = Where::current()) {
  detail::kernel(grid, {threads}, detail::toBody(body), where);
}
/// Independent iterations, `parallel({m, n}, [&](Value i, Value j) { … })`.
template <typename F>
void parallel(const Shape &extents, F &&body, Where where = Where::current()) {
  detail::parallel(extents, std::nullopt, detail::toBody(body), where);
}

struct PipelineOptions {
  int64_t num_stages = 0;
};
using LoopBody = std::function<void(Value)>;
/// A loop from `start` to `stop` whose copies may run ahead.
void pipelined(const Value &start, const Value &stop, const PipelineOptions &options,
               const LoopBody &body, Where where = Where::current());
void pipelined(const Value &stop, const PipelineOptions &options, const LoopBody &body,
               Where where = Where::current());
/// Ordinary loops.
void serial(const Value &start, const Value &stop, const LoopBody &body,
            Where where = Where::current());
void serial(const Value &stop, const LoopBody &body, Where where = Where::current());
void unroll(const Value &start, const Value &stop, const LoopBody &body,
            Where where = Where::current());

/// A branch that the kernel takes when it runs.
void when(const Operand &condition, const std::function<void()> &then,
          const std::function<void()> &otherwise = {});

//===----------------------------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------------------------===//

void copy(const Tile &source, const Tile &dest, Where where = Where::current());
void fill(const Tile &dest, const Value &value, Where where = Where::current());
void clear(const Tile &dest, Where where = Where::current());

enum class GemmPolicy { Square, FullRow, FullCol };
struct GemmOptions {
  bool transpose_a = false, transpose_b = false;
  GemmPolicy policy = GemmPolicy::Square;
  Value clear_accum = false; ///< True, or a condition such as `k == 0`.
};
/// c += a @ b.
void gemm(const Tile &a, const Tile &b, const Tile &c, const GemmOptions &options = {},
          Where where = Where::current());

struct ReduceOptions {
  int64_t dim = -1;
  bool clear = true; ///< False: what the result holds takes part.
};
void reduce_sum(const Tile &source, const Tile &dest, const ReduceOptions &options = {},
                Where where = Where::current());
void reduce_max(const Tile &source, const Tile &dest, const ReduceOptions &options = {},
                Where where = Where::current());
void reduce_min(const Tile &source, const Tile &dest, const ReduceOptions &options = {},
                Where where = Where::current());
void reduce_absmax(const Tile &source, const Tile &dest, const ReduceOptions &options = {},
                   Where where = Where::current());
void cumsum(const Tile &source, const Tile &dest, int64_t dim = 0, bool reverse = false,
            Where where = Where::current());

/// Updates of an element by a scalar, or of a region by a tile; each element by itself is atomic.
void atomic_add(const Part &dest, const Operand &value);
void atomic_add(const Tile &dest, const Buffer &value, Where where = Where::current());
void atomic_max(const Part &dest, const Operand &value);
void atomic_max(const Tile &dest, const Buffer &value, Where where = Where::current());
void atomic_min(const Part &dest, const Operand &value);
void atomic_min(const Tile &dest, const Buffer &value, Where where = Where::current());

/// Visits the blocks of the grid in panels.
void use_swizzle(int64_t panel_size, Where where = Where::current());
/// A fact that the compiler may rely on; the interpreter checks it.
void assume(const Operand &condition);
/// Prints when the kernel runs.
void print(std::string_view message, const Value &value, Where where = Where::current());

} // namespace tw::lang

#endif // TILEWRIGHT_BUILDER_H
