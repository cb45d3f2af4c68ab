//===- Library.cpp - exported libraries from C++ ----------------------------------------------===//
//
// A library is opened by dlopen, and called through the runtime that it was linked with: its symbols
// are looked up from the library, so that nothing here depends on which one that is.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/runtime.h"
#include "tilewright/tilewright.h"

#include <dlfcn.h>

namespace tw {

struct Library::Impl {
  void *handle = nullptr;
  tw_library *library = nullptr;
  decltype(&tw_call) call = nullptr;
  decltype(&tw_open) open = nullptr;
  decltype(&tw_close) close = nullptr;
  decltype(&tw_find) find = nullptr;
  decltype(&tw_name) name = nullptr;

  Impl() = default;
  Impl(const Impl &) = delete;
  ~Impl() {
    if (close && library)
      close(library);
    if (handle)
      dlclose(handle);
  }
  template <typename F> bool look(F &function, const char *symbol) {
    function = reinterpret_cast<F>(dlsym(handle, symbol));
    return function != nullptr;
  }
};

Result<Library> Library::open(const std::string &path) {
  auto impl = std::make_shared<Impl>();
  impl->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!impl->handle)
    return Error{std::string("cannot open the library: ") + dlerror(), {}, {}};
  impl->library = static_cast<tw_library *>(dlsym(impl->handle, "tilewright_library"));
  if (!impl->library || !impl->look(impl->call, "tw_call") || !impl->look(impl->open, "tw_open") ||
      !impl->look(impl->close, "tw_close") || !impl->look(impl->find, "tw_find") ||
      !impl->look(impl->name, "tw_name"))
    return Error{"'" + path + "' is no library that Tilewright exported", {}, {}};
  tw_error error;
  if (impl->open(impl->library, &error) != TW_OK)
    return Error{error.message, {}, {}};
  return Library(std::move(impl));
}

std::vector<std::string> Library::names() const {
  std::vector<std::string> all;
  while (const char *name = impl->name(impl->library, uint32_t(all.size())))
    all.emplace_back(name);
  return all;
}

/// A type as DLPack has it.
static DLDataType toDlType(DType dtype) {
  auto make = [&](int code) {
    DLDataType type{};
    type.code = static_cast<decltype(type.code)>(code);
    type.bits = static_cast<uint8_t>(8 * size_of(dtype));
    type.lanes = 1;
    return type;
  };
  switch (dtype) {
  case DType::Bool:
    return make(6);
  case DType::Int8:
  case DType::Int16:
  case DType::Int32:
  case DType::Int64:
    return make(0);
  case DType::UInt8:
  case DType::UInt16:
  case DType::UInt32:
  case DType::UInt64:
    return make(1);
  case DType::Float8E4M3FN:
    return make(10);
  case DType::Float8E5M2:
    return make(12);
  case DType::BFloat16:
    return make(4);
  default:
    return make(2);
  }
}

static DLTensor toDlTensor(const Tensor &tensor) {
  DLTensor made{};
  made.data = tensor.data();
  made.device.device_type = tensor.is_on_gpu() ? kDLCUDA : kDLCPU;
  made.ndim = int32_t(tensor.shape().size());
  made.dtype = toDlType(tensor.dtype());
  made.shape = const_cast<int64_t *>(tensor.shape().data()); // it is only read
  return made;
}

Result<void> Library::call(const std::string &name, std::span<const Argument> arguments,
                           void *stream) const {
  int32_t number = impl->find(impl->library, name.c_str());
  if (number < 0)
    return Error{"the library has no kernel '" + name + "'", {}, {}};
  std::vector<DLTensor> tensors;
  std::vector<tw_value> values;
  tensors.reserve(arguments.size()); // values point to them
  for (const Argument &argument : arguments) {
    tw_value &value = values.emplace_back();
    if (auto *tensor = std::get_if<Tensor>(&argument.get())) {
      tensors.push_back(toDlTensor(*tensor));
      value.kind = TW_TENSOR;
      value.as.tensor = &tensors.back();
    } else if (auto *boolean = std::get_if<bool>(&argument.get())) {
      value.kind = TW_BOOL;
      value.as.integer = *boolean;
    } else if (auto *integer = std::get_if<int64_t>(&argument.get())) {
      value.kind = TW_INT;
      value.as.integer = *integer;
    } else if (auto *number = std::get_if<uint64_t>(&argument.get())) {
      value.kind = TW_UINT;
      value.as.number = *number;
    } else {
      value.kind = TW_REAL;
      value.as.real = std::get<double>(argument.get());
    }
  }
  tw_error error;
  if (impl->call(impl->library, uint32_t(number), values.data(), uint32_t(values.size()), stream,
                 &error) == TW_OK)
    return {};
  return Error{error.message, {error.file, error.line, 0}, {}};
}

} // namespace tw
