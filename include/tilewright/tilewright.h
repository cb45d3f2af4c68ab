//===- tilewright/tilewright.h - compile and run tile kernels from C++ --------------*- C++ -*-===//
//
// The compiler as a library (libtilewright), for programs in C++20. No type of LLVM or MLIR is
// needed to use it.
//
//   tw::Compiler compiler;
//   tw::Result<tw::Kernel> kernel = compiler.compile(text);         // tile IR; on the CPU
//   if (!kernel)
//     return fail(kernel.error().str());                            // file:line:column: error: …
//   tw::Tensor a = tw::Tensor::zeros(tw::DType::Float32, {64}), b = a.clone();
//   tw::Result<tw::RunReport> run = (*kernel)(a, b, 2.0);           // b is updated in place
//
// Nothing throws for what a program or a call does wrong: a Result has a value or an Error with the
// place in the source. All classes may be used by several threads at once, a Tensor by one.
//
// Kernels that were exported need none of this, only tilewright/runtime.h; tw::Library loads them here.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILEWRIGHT_H
#define TILEWRIGHT_TILEWRIGHT_H

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tw {

//===----------------------------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------------------------===//

/// A line of a user's source; a line of 0 is none.
struct Location {
  std::string file;
  int64_t line = 0, column = 0;
};

/// Why something could not be done.
struct Error {
  std::string message;
  Location location;
  struct Note {
    std::string message;
    Location location;
  };
  std::vector<Note> notes;

  /// `file:line:column: error: message`, and a line for each note.
  std::string str() const;
};

/// A value, or an error. As C++23's std::expected<T, Error> has it.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return content.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T &operator*() & { return std::get<0>(content); }
  const T &operator*() const & { return std::get<0>(content); }
  T &&operator*() && { return std::get<0>(std::move(content)); }
  T *operator->() { return &std::get<0>(content); }
  const T *operator->() const { return &std::get<0>(content); }
  /// Throws std::bad_variant_access without a value.
  T &value() & { return std::get<0>(content); }
  T &&value() && { return std::get<0>(std::move(content)); }
  const Error &error() const { return std::get<1>(content); }

private:
  std::variant<T, Error> content;
};

/// Of a function that has no value to give.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : problem(std::move(error)) {}
  bool has_value() const { return !problem; }
  explicit operator bool() const { return has_value(); }
  const Error &error() const { return *problem; }

private:
  std::optional<Error> problem;
};

//===----------------------------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------------------------===//

enum class DType {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float8E4M3FN,
  Float8E5M2,
  Float16,
  BFloat16,
  Float32,
  Float64
};
/// "float32", as kernels name it.
std::string_view name(DType dtype);
/// The bytes of an element.
size_t size_of(DType dtype);

template <typename T> constexpr DType dtype_of();
template <> constexpr DType dtype_of<bool>() { return DType::Bool; }
template <> constexpr DType dtype_of<int8_t>() { return DType::Int8; }
template <> constexpr DType dtype_of<int16_t>() { return DType::Int16; }
template <> constexpr DType dtype_of<int32_t>() { return DType::Int32; }
template <> constexpr DType dtype_of<int64_t>() { return DType::Int64; }
template <> constexpr DType dtype_of<uint8_t>() { return DType::UInt8; }
template <> constexpr DType dtype_of<uint16_t>() { return DType::UInt16; }
template <> constexpr DType dtype_of<uint32_t>() { return DType::UInt32; }
template <> constexpr DType dtype_of<uint64_t>() { return DType::UInt64; }
template <> constexpr DType dtype_of<float>() { return DType::Float32; }
template <> constexpr DType dtype_of<double>() { return DType::Float64; }

/// A dense, row-major tensor in memory of the host or of a GPU. It owns its memory, or is a view of
/// memory that lives longer. A copy shares the memory; `clone` does not.
class Tensor {
public:
  using Shape = std::vector<int64_t>;

  /// A new tensor of the host, all zero, at an address that 64 divides.
  static Tensor zeros(DType dtype, Shape shape);
  /// A new tensor with these elements.
  template <typename T> static Tensor from(std::span<const T> elements, Shape shape) {
    Tensor tensor = zeros(dtype_of<T>(), std::move(shape));
    std::span<T> to = tensor.as<T>();
    for (size_t i = 0; i < to.size() && i < elements.size(); ++i)
      to[i] = elements[i];
    return tensor;
  }
  /// A view of memory of the host.
  static Tensor view(void *data, DType dtype, Shape shape);
  template <typename T> static Tensor view(T *data, Shape shape) {
    return view(data, dtype_of<T>(), std::move(shape));
  }
  /// A view of memory of a GPU, for kernels on cuda:N.
  static Tensor view_on_gpu(void *data, DType dtype, Shape shape);

  void *data() const { return memory; }
  const Shape &shape() const { return extents; }
  DType dtype() const { return type; }
  bool is_on_gpu() const { return isOnGpu; }
  /// The number of elements, and their bytes.
  size_t size() const;
  size_t bytes() const { return size() * size_of(type); }
  /// The elements, which must be of this type and on the host.
  template <typename T> std::span<T> as() const {
    return {static_cast<T *>(memory), dtype_of<T>() == type && !isOnGpu ? size() : 0};
  }
  /// A copy with memory of its own; of a tensor of the host.
  Tensor clone() const;

private:
  std::shared_ptr<void> owner; ///< Null for a view.
  void *memory = nullptr;
  Shape extents;
  DType type = DType::Float32;
  bool isOnGpu = false;
};

/// What a caller passes for one parameter.
class Argument {
public:
  Argument(const Tensor &tensor) : content(tensor) {}
  Argument(bool value) : content(value) {}
  Argument(double value) : content(value) {}
  Argument(float value) : content(double(value)) {}
  Argument(int value) : content(int64_t(value)) {}
  Argument(int64_t value) : content(value) {}
  Argument(uint64_t value) : content(value) {}

  using Content = std::variant<Tensor, bool, int64_t, uint64_t, double>;
  const Content &get() const { return content; }

private:
  Content content;
};

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

/// Where a kernel runs: "cpu", "interp" (the reference interpreter), "vgpu:sm_80" (PTX on the virtual
/// GPU, checked) or "cuda:0".
class Device {
public:
  static Device cpu() { return Device("cpu"); }
  static Device interpreter() { return Device("interp"); }
  static Device virtual_gpu(std::string_view arch) { return Device("vgpu:" + std::string(arch)); }
  static Device cuda(int number = 0) { return Device("cuda:" + std::to_string(number)); }
  /// By its name; that it exists is checked when something is compiled for it.
  explicit Device(std::string name) : text(std::move(name)) {}
  const std::string &name() const { return text; }

private:
  std::string text;
};

/// A decision of the compiler, as `kernel.remarks` of Python has it.
struct Remark {
  Location location;
  std::string kind, buffer, message;
  std::string data; ///< More facts, as a JSON object.
};

/// What a check saw while a kernel ran.
struct Finding {
  enum class Severity { Error, Finding, Note };
  Severity severity = Severity::Finding;
  std::string kind; ///< "race", "out_of_bounds", …
  std::string message;
  Location location;
  std::string buffer;
  std::vector<int64_t> index, block, thread;
  uint64_t count = 1;

  std::string str() const;
};

/// What a run left besides the tensors it wrote.
struct RunReport {
  std::vector<Finding> findings; ///< Of the interpreter and the virtual GPU.
  std::string output;            ///< Of `T.print`.
  double seconds = 0;
  bool stopped = false; ///< An error, a fault or a limit ended the run early.
};

struct RunOptions {
  void *stream = nullptr; ///< CUDA: the stream to launch on.
  /// CPU: blocks run one after another, so that atomic sums come out the same in each run.
  bool deterministic = false;
};

/// What `Kernel::verify` saw; true if all engines agree and no check found anything.
struct Verification {
  struct Difference {
    std::string device;
    unsigned argument = 0; ///< Which one,
    size_t offset = 0;     ///< and the first element of its memory that differs.
    double expected = 0, got = 0;
    size_t count = 0; ///< Elements that differ.
  };
  std::vector<std::string> devices; ///< That ran, the interpreter first.
  std::vector<Difference> differences;
  std::vector<Finding> findings;
  size_t compared = 0, undecided = 0; ///< Values of one engine.

  explicit operator bool() const {
    return devices.size() > 1 && differences.empty() && findings.empty();
  }
};

/// A program compiled for a device.
class Kernel {
public:
  /// Checks the arguments and runs; tensors are updated in place.
  template <typename... Ts> Result<RunReport> operator()(const Ts &...arguments) const {
    std::initializer_list<Argument> list = {Argument(arguments)...};
    return run(std::span<const Argument>(list.begin(), list.size()));
  }
  Result<RunReport> run(std::span<const Argument> arguments, const RunOptions &options = {}) const;

  /// Runs on copies of the arguments: on the interpreter, and on each of these devices, whose values
  /// must be the interpreter's within the error radii that it carries.
  Result<Verification> verify(std::span<const Argument> arguments,
                              std::span<const Device> devices) const;

  /// The name of the function, where it runs, and its tile IR.
  std::string name() const;
  const Device &device() const;
  std::string text() const;
  /// What the compiler decided up to now: a call may need code that no other has needed.
  std::vector<Remark> remarks() const;
  /// PTX of a kernel for a GPU; empty on other devices.
  Result<std::string> ptx() const;

private:
  friend class Compiler;
  struct Impl;
  explicit Kernel(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<Impl> impl;
};

/// A program that was written in C++ (tilewright/builder.h).
class Program {
public:
  /// The name of the function, and its tile IR; with the lines of the source if wanted.
  std::string name() const;
  std::string text(bool with_locations = false) const;

  struct Impl;
  explicit Program(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}

private:
  friend class Compiler;
  std::shared_ptr<const Impl> impl;
};

/// What an exported library is made for (docs/howto/embed-in-cpp.md).
struct ExportOptions {
  std::vector<std::string> cpus = {"x86-64-v4", "x86-64-v3"};
  std::vector<std::string> archs;
};

class Compiler {
public:
  /// A program from the text of its tile IR, checked and compiled. Code is kept on disk.
  Result<Kernel> compile(std::string_view text, const Device &device = Device::cpu()) const;
  /// A program that was written in C++, in the same way.
  Result<Kernel> compile(const Program &program, const Device &device = Device::cpu()) const;

  /// Writes kernels as a library: PATH.h, PATH.a and PATH.json.
  Result<void> export_library(const std::string &path,
                              std::span<const std::pair<std::string, Kernel>> kernels,
                              const ExportOptions &options = {}) const;
};

/// An exported library (.so), loaded. Its runtime is the one that it was linked with.
class Library {
public:
  static Result<Library> open(const std::string &path);
  std::vector<std::string> names() const;
  Result<void> call(const std::string &name, std::span<const Argument> arguments,
                    void *stream = nullptr) const;

private:
  struct Impl;
  explicit Library(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<Impl> impl;
};

/// The release of libtilewright, as "0.1.0".
const char *version();

} // namespace tw

#endif // TILEWRIGHT_TILEWRIGHT_H
