//===- Kernel.cpp - compile, run and verify, over the engines of the driver -------------------===//

#include "Program.h"
#include "tilewright/Driver/Export.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tilewright;

namespace tw {

struct Kernel::Impl {
  std::shared_ptr<driver::Executable> program;
  std::shared_ptr<driver::CompiledKernel> kernel;
  Device device;
};

//===----------------------------------------------------------------------------------------===//
// Between the driver's types and ours
//===----------------------------------------------------------------------------------------===//

Error toError(const frontend::UserError &report) {
  Error made{report.message, {}, {}};
  if (report.position)
    made.location = {report.position->file, report.position->line, report.position->column};
  for (const frontend::UserError::Note &note : report.notes)
    made.notes.push_back(
        {note.text, {note.position.file, note.position.line, note.position.column}});
  return made;
}

static Error toError(llvm::Error error) { return toError(driver::takeReport(std::move(error))); }

static runtime::CallArgument toCallArgument(const Argument &argument) {
  auto *tensor = std::get_if<Tensor>(&argument.get());
  if (!tensor)
    return std::visit(
        [](const auto &value) -> runtime::CallArgument {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Tensor>)
            return runtime::TensorView();
          else
            return value;
        },
        argument.get());
  runtime::TensorView view;
  view.data = tensor->data();
  view.shape = tensor->shape();
  view.strides.resize(view.shape.size());
  int64_t stride = 1;
  for (size_t dim = view.shape.size(); dim-- > 0; stride *= view.shape[dim])
    view.strides[dim] = stride;
  view.dtype = std::string(name(tensor->dtype()));
  view.isOnGpu = tensor->is_on_gpu();
  return view;
}

static std::vector<runtime::CallArgument> toCallArguments(std::span<const Argument> arguments) {
  std::vector<runtime::CallArgument> all;
  for (const Argument &argument : arguments)
    all.push_back(toCallArgument(argument));
  return all;
}

static Finding toFinding(const driver::Finding &found) {
  Finding finding;
  finding.severity = found.severity == interp::Severity::Error     ? Finding::Severity::Error
                     : found.severity == interp::Severity::Finding ? Finding::Severity::Finding
                                                                   : Finding::Severity::Note;
  finding.kind = found.kind;
  finding.message = found.message;
  finding.location = {found.file, found.line, found.column};
  finding.buffer = found.buffer;
  finding.index.assign(found.index.begin(), found.index.end());
  finding.block.assign(found.block.begin(), found.block.end());
  finding.thread.assign(found.thread.begin(), found.thread.end());
  finding.count = found.count;
  return finding;
}

static llvm::Expected<driver::RunResult> run(driver::CompiledKernel &kernel,
                                             std::span<const Argument> arguments,
                                             const driver::RunOptions &options) {
  llvm::Expected<driver::BoundArguments> bound = kernel.bind(toCallArguments(arguments));
  if (!bound)
    return bound.takeError();
  return kernel.run(*bound, options);
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

Result<RunReport> Kernel::run(std::span<const Argument> arguments,
                              const RunOptions &options) const {
  driver::RunOptions run;
  run.stream = options.stream;
  if (options.deterministic)
    run.deterministic = true;
  llvm::Expected<driver::RunResult> result = tw::run(*impl->kernel, arguments, run);
  if (!result)
    return toError(result.takeError());
  RunReport report;
  for (const driver::Finding &finding : result->findings)
    report.findings.push_back(toFinding(finding));
  report.output = std::move(result->output);
  report.seconds = result->seconds;
  report.stopped = result->stopped;
  return report;
}

std::string Kernel::name() const {
  return impl->program->getProgram()->getFunction().getName().str();
}
const Device &Kernel::device() const { return impl->device; }
std::string Kernel::text() const {
  return llvm::cantFail(impl->program->getText(/*withLocations=*/false));
}

std::vector<Remark> Kernel::remarks() const {
  std::vector<Remark> all;
  for (const driver::Decision &decision : impl->kernel->getDecisions()) {
    Remark &remark = all.emplace_back();
    remark.location = {decision.file, decision.line, decision.column};
    remark.kind = decision.kind;
    remark.buffer = decision.buffer;
    remark.message = decision.message;
    llvm::raw_string_ostream(remark.data) << llvm::json::Value(llvm::json::Object(decision.data));
  }
  return all;
}

Result<std::string> Kernel::ptx() const {
  bool isGpu = impl->device.name().starts_with("vgpu:") || impl->device.name().starts_with("cuda:");
  if (!isGpu)
    return std::string();
  auto code = impl->kernel->getCode();
  if (!code)
    return toError(code.takeError());
  return (*code)->code;
}

//===----------------------------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------------------------===//

/// An element as a double; an integer of 64 bits is compared by its bytes before.
static double readElement(const Tensor &tensor, size_t position) {
  const char *at = static_cast<const char *>(tensor.data()) + position * size_of(tensor.dtype());
  auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return double(value);
  };
  auto readFloat = [&](const llvm::fltSemantics &semantics, auto bits) {
    std::memcpy(&bits, at, sizeof(bits));
    llvm::APFloat value(semantics, llvm::APInt(8 * sizeof(bits), bits));
    bool losesInfo = false;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  };
  switch (tensor.dtype()) {
  case DType::Bool:
  case DType::UInt8:
    return read(uint8_t());
  case DType::Int8:
    return read(int8_t());
  case DType::Int16:
    return read(int16_t());
  case DType::Int32:
    return read(int32_t());
  case DType::Int64:
    return read(int64_t());
  case DType::UInt16:
    return read(uint16_t());
  case DType::UInt32:
    return read(uint32_t());
  case DType::UInt64:
    return read(uint64_t());
  case DType::Float8E4M3FN:
    return readFloat(llvm::APFloat::Float8E4M3FN(), uint8_t());
  case DType::Float8E5M2:
    return readFloat(llvm::APFloat::Float8E5M2(), uint8_t());
  case DType::Float16:
    return readFloat(llvm::APFloat::IEEEhalf(), uint16_t());
  case DType::BFloat16:
    return readFloat(llvm::APFloat::BFloat(), uint16_t());
  case DType::Float32:
    return read(float());
  case DType::Float64:
    return read(double());
  }
  return NAN;
}

static bool isSame(const Tensor &lhs, const Tensor &rhs, size_t position, double radius) {
  size_t size = size_of(lhs.dtype());
  if (std::memcmp(static_cast<const char *>(lhs.data()) + position * size,
                  static_cast<const char *>(rhs.data()) + position * size, size) == 0)
    return true;
  if (lhs.dtype() < DType::Float8E4M3FN)
    return false;
  double left = readElement(lhs, position), right = readElement(rhs, position);
  return left == right || (std::isnan(left) && std::isnan(right)) ||
         std::abs(left - right) <= 2 * radius;
}

/// Copies of the arguments; a tensor that is given twice stays one.
static std::vector<Argument> copy(std::span<const Argument> arguments) {
  std::vector<Argument> copies;
  for (size_t position = 0; position < arguments.size(); ++position) {
    auto *tensor = std::get_if<Tensor>(&arguments[position].get());
    if (!tensor) {
      copies.push_back(arguments[position]);
      continue;
    }
    std::optional<Argument> made;
    for (size_t earlier = 0; earlier < position && !made; ++earlier)
      if (auto *other = std::get_if<Tensor>(&arguments[earlier].get());
          other && other->data() == tensor->data())
        made = copies[earlier];
    copies.push_back(made ? *made : Argument(tensor->clone()));
  }
  return copies;
}

Result<Verification> Kernel::verify(std::span<const Argument> arguments,
                                    std::span<const Device> devices) const {
  Verification verification;
  for (const Argument &argument : arguments)
    if (auto *tensor = std::get_if<Tensor>(&argument.get()); tensor && tensor->is_on_gpu())
      return Error{"verify takes tensors of the host", {}, {}};
  auto launch = [&](const std::string &device, std::span<const Argument> values,
                    const driver::RunOptions &options) -> llvm::Expected<driver::RunResult> {
    auto kernel = impl->program->getKernel(device);
    if (!kernel)
      return kernel.takeError();
    llvm::Expected<driver::RunResult> result = tw::run(**kernel, values, options);
    if (!result)
      return result;
    verification.devices.push_back(device);
    for (const driver::Finding &finding : result->findings)
      if (finding.severity != interp::Severity::Note)
        verification.findings.push_back(toFinding(finding));
    return result;
  };
  driver::RunOptions options;
  options.bounds = true;
  std::vector<Argument> expected = copy(arguments);
  llvm::Expected<driver::RunResult> reference = launch("interp", expected, options);
  if (!reference)
    return toError(reference.takeError());
  if (!verification.findings.empty()) // values that depend on a defect differ because of it
    return verification;
  for (const Device &device : devices) {
    std::vector<Argument> got = copy(arguments);
    llvm::Expected<driver::RunResult> result = launch(device.name(), got, {});
    if (!result)
      return toError(result.takeError());
    verification.compared = verification.undecided = 0;
    for (unsigned position = 0; position < got.size(); ++position) {
      auto *tensor = std::get_if<Tensor>(&got[position].get());
      if (!tensor)
        continue;
      const auto &wanted = std::get<Tensor>(expected[position].get());
      auto radii = llvm::find_if(reference->radii, [&](const interp::TensorRadii &entry) {
        return entry.argument == position;
      });
      Verification::Difference difference;
      for (size_t element = 0; element < tensor->size(); ++element) {
        bool hasRadius = radii != reference->radii.end() && element < radii->radii.size();
        double radius = hasRadius ? radii->radii[element] : 0;
        ++verification.compared;
        verification.undecided += std::isinf(radius);
        if (std::isinf(radius) || isSame(*tensor, wanted, element, radius))
          continue;
        if (!difference.count++)
          difference = {device.name(),
                        position,
                        element,
                        readElement(wanted, element),
                        readElement(*tensor, element),
                        1};
      }
      if (difference.count)
        verification.differences.push_back(difference);
    }
  }
  return verification;
}

//===----------------------------------------------------------------------------------------===//
// The compiler
//===----------------------------------------------------------------------------------------===//

Result<Kernel> Compiler::compile(std::string_view text, const Device &device) const {
  auto program = driver::Executable::parse(std::string(text));
  if (!program)
    return toError(program.takeError());
  return compile(Program(std::make_shared<Program::Impl>(Program::Impl{*program})), device);
}

Result<Kernel> Compiler::compile(const Program &program, const Device &device) const {
  const std::shared_ptr<driver::Executable> &executable = program.impl->executable;
  if (llvm::Error error = executable->check())
    return toError(std::move(error));
  auto kernel = executable->getKernel(device.name());
  if (!kernel)
    return toError(kernel.takeError());
  return Kernel(std::make_shared<Kernel::Impl>(Kernel::Impl{executable, *kernel, device}));
}

std::string Program::name() const {
  return impl->executable->getProgram()->getFunction().getName().str();
}
std::string Program::text(bool with_locations) const {
  return llvm::cantFail(impl->executable->getText(with_locations));
}

static Result<void> write(const std::string &path, const std::string &content) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  file << content;
  file.close();
  if (file.has_error())
    code = file.error();
  if (!code)
    return {};
  file.clear_error();
  return Error{"cannot write '" + path + "': " + code.message(), {}, {}};
}

Result<void> Compiler::export_library(const std::string &path,
                                      std::span<const std::pair<std::string, Kernel>> kernels,
                                      const ExportOptions &options) const {
  driver::ExportOptions driverOptions;
  driverOptions.name = llvm::sys::path::filename(path).str();
  driverOptions.cpus = options.cpus;
  driverOptions.archs = options.archs;
  driverOptions.release = version();
  std::vector<driver::ExportedFunction> functions;
  for (const auto &[name, kernel] : kernels) {
    auto known = llvm::find_if(functions, [&name = name](const driver::ExportedFunction &function) {
      return function.name == name;
    });
    if (known == functions.end())
      known = functions.insert(known, {name, {}});
    known->forms.push_back({kernel.impl->program, false});
  }
  llvm::Expected<driver::ExportedLibrary> library = driver::exportLibrary(functions, driverOptions);
  if (!library)
    return toError(library.takeError());
  for (const auto &[ending, content] : {std::pair(".h", &library->header),
                                        {".a", &library->archive},
                                        {".json", &library->description}})
    if (Result<void> written = write(path + ending, *content); !written)
      return written;
  return {};
}

} // namespace tw
