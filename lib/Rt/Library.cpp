//===- Library.cpp - calls of exported kernels ------------------------------------------------===//
//
// Implements tilewright/runtime.h. A call converts its tensors, finds the form and the code whose
// assumptions hold, and runs it. A call that is right allocates nothing on the host, once its thread
// has made one.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Rt/CpuRun.h"
#include "tilewright/Rt/CudaLaunch.h"
#include "tilewright/Rt/DenseCopies.h"
#include "tilewright/Rt/Image.h"
#include "tilewright/Support/Environment.h"
#include "tilewright/runtime.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <new>

#ifndef TW_RELEASE
#define TW_RELEASE "0"
#endif

using namespace tilewright;
using namespace tilewright::rt;

namespace {

//===----------------------------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------------------------===//

void copyText(std::span<char> to, std::string_view text) {
  size_t count = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), count);
  to[count] = 0;
}

int32_t report(tw_error *error, tw_code code, std::string_view message, std::string_view file = "",
               int64_t line = 0) {
  if (error) {
    error->code = code;
    error->line = int32_t(line);
    copyText(error->file, file);
    copyText(error->message, message);
  }
  return code;
}

/// Runs a part of the interface: nothing is thrown to its caller.
template <typename F> int32_t guard(tw_error *error, F function) noexcept {
  if (error) {
    error->code = TW_OK;
    error->line = 0;
    error->file[0] = error->message[0] = 0;
  }
  try {
    return function();
  } catch (const std::bad_alloc &) {
    return report(error, TW_NO_MEMORY, "there is no memory for the call");
  } catch (const std::exception &exception) { // of threads that cannot be started
    return report(error, TW_RUN_ERROR, exception.what());
  }
}

//===----------------------------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------------------------===//

/// What the runtime made of a library.
struct State {
  Image image;
  ForkedMutex mutex;
  /// GPU code that was loaded, by what it is and for which device. Guarded by the mutex.
  std::map<std::pair<const GpuVariant *, int>, std::shared_ptr<CudaModule>> modules;
};

std::atomic<State *> &stateOf(tw_library &library) {
  static_assert(sizeof(std::atomic<State *>) == sizeof(void *));
  return *reinterpret_cast<std::atomic<State *> *>(&library.state);
}

/// The state of a library; null, with the error told, if it cannot be used.
State *open(tw_library *library, tw_error *error, int32_t &code) {
  code = TW_OK;
  auto fail = [&](std::string_view message) {
    code = report(error, TW_BAD_LIBRARY, message);
    return nullptr;
  };
  if (!library)
    return fail("the library is null");
  if (library->abi != TW_ABI_VERSION)
    return fail("the library was made for version " + std::to_string(library->abi) +
                " of tilewright/runtime.h, libtilewright_rt has version " +
                std::to_string(TW_ABI_VERSION) + "; export it again, or link the other runtime");
  std::atomic<State *> &state = stateOf(*library);
  if (State *known = state.load(std::memory_order_acquire))
    return known;
  Result<Image> image =
      readImage({library->image, size_t(library->image_bytes)}, library->num_entries);
  if (!image)
    return fail("the library '" + std::string(library->name ? library->name : "") +
                "' cannot be used: " + image.getFailure().message);
  auto made = std::make_unique<State>();
  made->image = std::move(*image);
  State *expected = nullptr;
  if (state.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel))
    return made.release();
  return expected; // another thread was faster
}

//===----------------------------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------------------------===//

/// The language's name of a type; empty if it has none.
std::string_view getName(DLDataType type) {
  struct Entry {
    uint8_t code, bits;
    std::string_view name;
  };
  static constexpr Entry table[] = {
      {2, 32, "float32"}, {2, 16, "float16"},       {4, 16, "bfloat16"},    {2, 64, "float64"},
      {0, 32, "int32"},   {0, 64, "int64"},         {0, 8, "int8"},         {0, 16, "int16"},
      {1, 8, "uint8"},    {1, 16, "uint16"},        {1, 32, "uint32"},      {1, 64, "uint64"},
      {6, 8, "bool"},     {10, 8, "float8_e4m3fn"}, {12, 8, "float8_e5m2"},
  };
  if (type.lanes == 1)
    for (const Entry &entry : table)
      if (entry.code == type.code && entry.bits == type.bits)
        return entry.name;
  return {};
}

std::string describe(DLDataType type) {
  return "DLPack type " + std::to_string(type.code) + " of " + std::to_string(type.bits) +
         " bits and " + std::to_string(type.lanes) + " lanes";
}

bool isOnGpu(const DLTensor &tensor) {
  return int(tensor.device.device_type) == 2 || int(tensor.device.device_type) == 13;
}

/// Memory of one call, kept from call to call of a thread.
struct Scratch {
  std::vector<Argument> arguments;
  std::vector<std::string> names; ///< Of types that the language does not have.
  Binding binding;
  bool isBusy = false;
};
thread_local Scratch scratch;

/// Where a call runs.
struct Place {
  bool isOnGpu = false;
  int device = 0;
};

/// Converts what a caller passes; gives a message about what no kernel can take.
MaybeFailure convert(std::span<const tw_value> values, Place &place) {
  scratch.arguments.clear();
  scratch.names.clear();
  scratch.names.reserve(values.size());
  for (size_t position = 0; position < values.size(); ++position) {
    const tw_value &value = values[position];
    Argument &argument = scratch.arguments.emplace_back();
    argument.kind = Argument::Kind(value.kind);
    if (value.kind < TW_TENSOR || value.kind > TW_REAL)
      return Failure{"argument " + std::to_string(position) + " has no kind of tw_kind"};
    if (value.kind == TW_REAL)
      argument.real = value.as.real;
    else if (value.kind != TW_TENSOR)
      argument.integer = value.as.integer;
    if (value.kind != TW_TENSOR || !value.as.tensor)
      continue;
    const DLTensor &tensor = *value.as.tensor;
    auto refuse = [&](const std::string &why) {
      return Failure{"argument " + std::to_string(position) + ": " + why};
    };
    if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape))
      return refuse("the tensor has no shape");
    int device = int(tensor.device.device_type);
    if (device != 1 && device != 3 && !isOnGpu(tensor))
      return refuse("the tensor is on a device of DLPack's kind " + std::to_string(device) +
                    ", kernels run on the host and on CUDA's GPUs");
    argument.data = static_cast<char *>(tensor.data) + (tensor.data ? tensor.byte_offset : 0);
    argument.shape = {tensor.shape, size_t(tensor.ndim)};
    if (tensor.strides)
      argument.strides = {tensor.strides, size_t(tensor.ndim)};
    argument.dtype = getName(tensor.dtype);
    if (argument.dtype.empty())
      argument.dtype = scratch.names.emplace_back(describe(tensor.dtype));
    argument.isOnGpu = isOnGpu(tensor);
    if (argument.isOnGpu && place.isOnGpu && place.device != tensor.device.device_id)
      return refuse("the tensor is on cuda:" + std::to_string(tensor.device.device_id) +
                    ", another one on cuda:" + std::to_string(place.device));
    if (argument.isOnGpu)
      place = {true, tensor.device.device_id};
  }
  return std::nullopt;
}

/// The form that the arguments fit, which are bound then; null, with all refusals told.
const Form *findForm(const Function &function, tw_error *error) {
  std::string refusals;
  for (const Form &form : function.forms) {
    DenseCopies::mark(form.signature, scratch.arguments);
    MaybeFailure failure = bindArguments(form.signature, scratch.arguments, scratch.binding);
    if (!failure)
      return &form;
    refusals += (refusals.empty() ? "" : "; or ") + failure->message;
  }
  report(error, TW_BAD_ARGUMENT, refusals);
  return nullptr;
}

//===----------------------------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------------------------===//

struct PrintTo {
  void (*print)(const char *line, size_t length, void *context);
  void *context;
};
std::mutex printMutex;
PrintTo printTo{};

Result<bool> keepsOrder(const Form &form) {
  if (!form.dependsOnBlockOrder)
    return false;
  if (form.isDeterministic)
    return true;
  return environment::readSwitch(environment::Variable::Deterministic, false);
}

int32_t runOnHost(const Function &function, const Form &form, const tw_library &library,
                  tw_error *error) {
  const Binding &binding = scratch.binding;
  if (MaybeFailure failure = checkAlignment(form.signature, binding.tensors, binding.slots))
    return report(error, TW_BAD_ARGUMENT, failure->message);
  bool areDisjoint = !haveOverlap(binding.tensors, binding.slots);
  static const CpuFeatures features = CpuFeatures::detect();
  auto code = std::ranges::find_if(form.cpu, [&](const CpuVariant &variant) {
    return features.hasAll(variant.needs) && (areDisjoint || !variant.assumesDisjoint);
  });
  if (code == form.cpu.end()) {
    std::string targets;
    for (const CpuVariant &variant : form.cpu)
      if (!variant.assumesDisjoint || form.cpu.size() == 1)
        targets += (targets.empty() ? "" : ", ") + variant.target;
    return report(error, TW_NO_CODE,
                  "'" + function.name +
                      "' has no code for this processor; the library has code for " + targets);
  }
  Result<bool> isDeterministic = keepsOrder(form);
  if (!isDeterministic)
    return report(error, TW_BAD_ARGUMENT, isDeterministic.getFailure().message);
  CpuRunOptions options;
  options.isDeterministic = *isDeterministic;
  options.print = [](std::string_view line) {
    std::lock_guard lock(printMutex);
    if (printTo.print)
      return printTo.print(line.data(), line.size(), printTo.context);
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
  };
  auto entry = reinterpret_cast<host::Entry>(const_cast<void *>(library.entries[code->entry]));
  if (std::optional<RunFailure> failure = runOnCpu(entry, binding.slots.data(), options))
    return report(error, TW_RUN_ERROR, failure->message, failure->file, failure->line);
  return TW_OK;
}

/// Whether code may run on a GPU of this version.
bool isFor(const GpuVariant &code, int64_t version) {
  return code.isExact ? code.version == version : code.version <= version;
}

/// Code for a GPU of this version: of the newest architecture that it runs, those that the call
/// allows, in order.
std::vector<const GpuVariant *> findCode(const Form &form, int64_t version, int64_t alignment) {
  const Binding &binding = scratch.binding;
  bool areDisjoint = !haveOverlap(binding.tensors, binding.slots);
  const GpuVariant *newest = nullptr;
  for (const GpuVariant &code : form.gpu)
    if (isFor(code, version) && (!newest || code.version > newest->version ||
                                 (code.version == newest->version && code.isExact)))
      newest = &code;
  std::vector<const GpuVariant *> found;
  for (const GpuVariant &code : form.gpu)
    if (newest && code.arch == newest->arch && isFor(code, version) &&
        (areDisjoint || !code.assumesDisjoint) && alignment % code.alignment == 0 &&
        std::ranges::all_of(code.divisible,
                            [&](unsigned symbol) { return binding.symbols[symbol] % 16 == 0; }))
      found.push_back(&code);
  return found;
}

/// A module of a library on a GPU, loaded at the first call. Within a CudaScope.
Result<std::shared_ptr<CudaModule>> load(State &state, const GpuVariant &code, CudaDriver &driver,
                                         int device) {
  std::lock_guard lock(state.mutex);
  std::shared_ptr<CudaModule> &module = state.modules[{&code, device}];
  if (module)
    return module;
  auto loaded = CudaModule::load(driver, device, code.code.data(), code.kernels);
  if (loaded)
    module = *loaded;
  return loaded;
}

int32_t runOnGpu(const Function &function, const Form &form, State &state, int device, void *stream,
                 tw_error *error) {
  if (form.gpu.empty())
    return report(error, TW_NO_CODE,
                  "'" + function.name +
                      "' has no code for GPUs; its tensors are on cuda:" + std::to_string(device));
  Result<CudaDriver *> driver = CudaDriver::get();
  if (!driver)
    return report(error, TW_NO_DRIVER, driver.getFailure().message);
  Result<CudaScope> scope = CudaScope::enter(**driver, device);
  if (!scope)
    return report(error, TW_NO_DRIVER, scope.getFailure().message);
  Result<GpuTensors> tensors = GpuTensors::place(**driver, device, form.signature, scratch.binding);
  if (!tensors)
    return report(error, TW_BAD_ARGUMENT, tensors.getFailure().message);
  const CudaDeviceInfo &info = (*driver)->getDevices()[device];
  for (const GpuVariant *code :
       findCode(form, 10 * info.major + info.minor, tensors->getAlignment())) {
    auto module = load(state, *code, **driver, device);
    if (!module)
      return report(error, TW_GPU_ERROR, module.getFailure().message);
    Result<bool> hasRun = (*module)->run(code->launches, form.signature, scratch.binding, *tensors,
                                         stream, /*poll=*/nullptr);
    if (!hasRun)
      return report(error, TW_GPU_ERROR, hasRun.getFailure().message);
    if (*hasRun)
      return TW_OK;
  }
  std::string archs;
  for (const GpuVariant &code : form.gpu)
    if (archs.find(code.arch) == std::string::npos)
      archs += (archs.empty() ? "" : ", ") + code.arch;
  return report(error, TW_NO_CODE,
                "'" + function.name + "' has no code for this call on the GPU '" + info.name +
                    "' of compute capability " + std::to_string(info.major) + "." +
                    std::to_string(info.minor) + "; the library has code for " + archs);
}

struct Busy {
  Busy() { scratch.isBusy = true; }
  ~Busy() { scratch.isBusy = false; }
};

} // namespace

//===----------------------------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------------------------===//

int32_t tw_call(tw_library *library, uint32_t number, const tw_value *values, uint32_t count,
                void *stream, tw_error *error) {
  return guard(error, [&]() -> int32_t {
    int32_t code = TW_OK;
    State *state = open(library, error, code);
    if (!state)
      return code;
    if (number >= state->image.functions.size())
      return report(error, TW_BAD_ARGUMENT,
                    "the library '" + std::string(library->name) + "' has no kernel " +
                        std::to_string(number));
    if (count && !values)
      return report(error, TW_BAD_ARGUMENT, "the values are null");
    if (scratch.isBusy)
      return report(error, TW_RUN_ERROR,
                    "a kernel cannot be called while this thread's last call of one is still "
                    "running");
    Busy busy;
    const Function &function = state->image.functions[number];
    Place place;
    if (MaybeFailure failure = convert({values, count}, place))
      return report(error, TW_BAD_ARGUMENT, failure->message);
    const Form *form = findForm(function, error);
    if (!form)
      return TW_BAD_ARGUMENT;
    DenseCopies copies;
    if (MaybeFailure failure = copies.make(form->signature, scratch.arguments, scratch.binding))
      return report(error, TW_BAD_ARGUMENT, failure->message);
    code = place.isOnGpu || form->cpu.empty()
               ? runOnGpu(function, *form, *state, place.device, stream, error)
               : runOnHost(function, *form, *library, error);
    if (code == TW_OK)
      copies.writeBack();
    return code;
  });
}

int32_t tw_open(tw_library *library, tw_error *error) {
  return guard(error, [&] {
    int32_t code = TW_OK;
    open(library, error, code);
    return code;
  });
}

void tw_close(tw_library *library) {
  if (library && library->abi == TW_ABI_VERSION)
    delete stateOf(*library).exchange(nullptr);
}

int32_t tw_find(tw_library *library, const char *name) {
  int32_t found = -1;
  guard(nullptr, [&] {
    int32_t code = TW_OK;
    State *state = open(library, nullptr, code);
    for (size_t number = 0; state && name && number < state->image.functions.size(); ++number)
      if (state->image.functions[number].name == name)
        found = int32_t(number);
    return code;
  });
  return found;
}

const char *tw_name(tw_library *library, uint32_t function) {
  const char *name = nullptr;
  guard(nullptr, [&] {
    int32_t code = TW_OK;
    State *state = open(library, nullptr, code);
    if (state && function < state->image.functions.size())
      name = state->image.functions[function].name.c_str();
    return code;
  });
  return name;
}

void tw_set_print(void (*print)(const char *line, size_t length, void *context), void *context) {
  std::lock_guard lock(printMutex);
  printTo = {print, context};
}

uint32_t tw_abi_version(void) { return TW_ABI_VERSION; }
const char *tw_version(void) { return TW_RELEASE; }
