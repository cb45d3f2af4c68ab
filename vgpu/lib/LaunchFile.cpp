//===- LaunchFile.cpp - a launch described in JSON --------------------------------------------===//
#include "vgpu/LaunchFile.h"
#include "vgpu/Exec/SmallFloat.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <random>

namespace vgpu {

namespace {

llvm::Error refuse(const std::string &message) {
  return llvm::createStringError("launch file: " + message);
}

const FloatFormat *formatOf(ptx::Type type) {
  switch (type) {
  case ptx::Type::F16:
    return &formatF16;
  case ptx::Type::BF16:
    return &formatBF16;
  case ptx::Type::F32:
    return &formatF32;
  case ptx::Type::F64:
    return &formatF64;
  case ptx::Type::E4M3:
    return &formatE4M3;
  case ptx::Type::E5M2:
    return &formatE5M2;
  default:
    return nullptr;
  }
}

void writeElement(ptx::Type type, double value, uint8_t *at) {
  uint64_t bits = formatOf(type) ? encodeFloat(value, *formatOf(type), Rounding::Nearest)
                  : value < 0    ? static_cast<uint64_t>(static_cast<int64_t>(value))
                                 : static_cast<uint64_t>(value);
  std::memcpy(at, &bits, ptx::byteWidth(type));
}

/// Writes a number of the file, exactly; false if it is no number of this type.
bool writeNumber(ptx::Type type, const llvm::json::Value &value, uint8_t *at) {
  if (formatOf(type)) {
    std::optional<double> number = value.getAsNumber();
    if (number)
      writeElement(type, *number, at);
    return number.has_value();
  }
  std::optional<int64_t> integer = value.getAsInteger();
  std::optional<uint64_t> large = value.getAsUINT64();
  if (!integer && !large)
    return false;
  uint64_t bits = integer ? static_cast<uint64_t>(*integer) : *large;
  std::memcpy(at, &bits, ptx::byteWidth(type));
  return true;
}

/// An element as JSON has it; integers are exact.
llvm::json::Value readElement(ptx::Type type, const uint8_t *at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, ptx::byteWidth(type));
  if (const FloatFormat *format = formatOf(type)) {
    double value = decodeFloat(bits, *format);
    if (value != value || value - value != 0) // JSON has no such numbers
      return value != value ? "nan" : value > 0 ? "inf" : "-inf";
    return value;
  }
  if (!ptx::isSigned(type))
    return bits;
  unsigned width = ptx::bitWidth(type);
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

llvm::Error readExtents(const llvm::json::Object &object, llvm::StringRef key, Dim3 &extents) {
  const llvm::json::Value *value = object.get(key);
  if (!value)
    return llvm::Error::success();
  uint32_t *parts[] = {&extents.x, &extents.y, &extents.z};
  auto isExtent = [](std::optional<int64_t> number) {
    return number && *number >= 0 && *number <= 0xffffffff;
  };
  if (std::optional<int64_t> number = value->getAsInteger(); isExtent(number)) {
    extents.x = static_cast<uint32_t>(*number);
    return llvm::Error::success();
  }
  const llvm::json::Array *list = value->getAsArray();
  if (!list || list->size() > 3)
    return refuse("'" + key.str() + "' must be a number or a list of at most 3");
  for (size_t i = 0; i < list->size(); ++i) {
    std::optional<int64_t> number = (*list)[i].getAsInteger();
    if (!isExtent(number))
      return refuse("'" + key.str() + "' must hold integers that are not negative");
    *parts[i] = static_cast<uint32_t>(*number);
  }
  return llvm::Error::success();
}

llvm::Error fillArray(const llvm::json::Object &object, llvm::StringRef directory, size_t count,
                      LaunchArray &array) {
  unsigned width = ptx::byteWidth(array.type);
  array.bytes.resize(count * width);
  auto fill = [&](auto value) {
    for (size_t i = 0; i < count; ++i)
      writeElement(array.type, value(i), array.bytes.data() + i * width);
  };
  if (const llvm::json::Array *data = object.getArray("data")) {
    if (data->size() != count)
      return refuse("'data' has " + std::to_string(data->size()) + " elements, 'shape' " +
                    std::to_string(count));
    for (size_t i = 0; i < count; ++i)
      if (!writeNumber(array.type, (*data)[i], array.bytes.data() + i * width))
        return refuse("element " + std::to_string(i) + " of 'data' is no number of its dtype");
  } else if (std::optional<llvm::StringRef> file = object.getString("file")) {
    llvm::SmallString<128> path(*file);
    if (llvm::sys::path::is_relative(path)) {
      path = directory;
      llvm::sys::path::append(path, *file);
    }
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
    if (!buffer)
      return refuse("cannot read '" + path.str().str() + "': " + buffer.getError().message());
    if ((*buffer)->getBufferSize() != array.bytes.size())
      return refuse("'" + path.str().str() + "' has " + std::to_string((*buffer)->getBufferSize()) +
                    " bytes, expected " + std::to_string(array.bytes.size()));
    std::memcpy(array.bytes.data(), (*buffer)->getBufferStart(), array.bytes.size());
  } else if (std::optional<int64_t> seed = object.getInteger("random")) {
    std::mt19937 generator(static_cast<uint32_t>(*seed));
    bool isFloating = ptx::isFloat(array.type);
    fill([&](size_t) {
      return isFloating ? (static_cast<int32_t>(generator() >> 8) - (1 << 23)) * 0x1p-23
                        : static_cast<double>(generator() % 16);
    });
  } else if (object.getBoolean("range").value_or(false)) {
    fill([](size_t i) { return static_cast<double>(i); });
  } else if (!object.getBoolean("zeros").value_or(false)) {
    return refuse("an array needs 'data', 'file', 'random', 'range' or 'zeros'");
  }
  return llvm::Error::success();
}

/// An array with a "box" is passed as a tensor map of it.
llvm::Expected<TensorMap> readTensorMap(const llvm::json::Object &object,
                                        const LaunchArray &array) {
  TensorMap map;
  map.type = array.type;
  uint64_t stride = ptx::byteWidth(array.type);
  for (size_t i = array.shape.size(); i-- > 0;) {
    map.extents.push_back(static_cast<uint32_t>(array.shape[i]));
    if (i + 1 < array.shape.size())
      map.strideBytes.push_back(stride);
    stride *= static_cast<uint64_t>(array.shape[i]);
  }
  const llvm::json::Array *box = object.getArray("box");
  for (size_t i = box->size(); i-- > 0;)
    map.box.push_back(static_cast<uint32_t>((*box)[i].getAsInteger().value_or(0)));
  llvm::Expected<Swizzle> swizzle = parseSwizzle(object.getString("swizzle").value_or("none"));
  if (!swizzle)
    return swizzle.takeError();
  map.swizzle = *swizzle;
  llvm::StringRef fill = object.getString("oob_fill").value_or("zeros");
  if (fill != "zeros" && fill != "nan")
    return refuse("'oob_fill' must be 'zeros' or 'nan'");
  map.fillsNan = fill == "nan";
  return map;
}

/// Of an array.
constexpr int64_t maxElements = int64_t(1) << 32;

llvm::Error readArgument(const llvm::json::Object &object, llvm::StringRef directory,
                         LaunchFile &launch) {
  std::optional<ptx::Type> type = ptx::parseType(object.getString("dtype").value_or("f32"));
  if (!type || ptx::bitWidth(*type) % 8 != 0 || ptx::bitWidth(*type) > 64)
    return refuse("unknown dtype '" + object.getString("dtype").value_or("").str() + "'");
  const llvm::json::Array *shape = object.getArray("shape");
  if (!shape) {
    const llvm::json::Value *value = object.get("value");
    if (!value)
      return refuse("an argument needs 'value' or 'shape'");
    std::vector<uint8_t> bytes(ptx::byteWidth(*type));
    if (!writeNumber(*type, *value, bytes.data()))
      return refuse("'value' is no number of its dtype");
    launch.arguments.push_back(Argument::raw(bytes));
    return llvm::Error::success();
  }
  LaunchArray &array = launch.arrays.emplace_back();
  array.type = *type;
  size_t count = 1;
  for (const llvm::json::Value &extent : *shape) {
    array.shape.push_back(extent.getAsInteger().value_or(-1));
    if (array.shape.back() < 0 || array.shape.back() > maxElements)
      return refuse("'shape' must hold extents from 0 to 4294967296");
    if (__builtin_mul_overflow(count, size_t(array.shape.back()), &count) || count > maxElements)
      return refuse("an array of more than 4294967296 elements is too large");
  }
  if (llvm::Error error = fillArray(object, directory, count, array))
    return error;
  array.isPrinted = object.getBoolean("print").value_or(false);
  array.outputFile = object.getString("output").value_or("").str();
  array.name = object.getString("name").value_or("").str();
  Argument argument = Argument::buffer(array.bytes.data(), array.bytes.size(), array.name);
  if (object.getArray("box")) {
    llvm::Expected<TensorMap> map = readTensorMap(object, array);
    if (!map)
      return map.takeError();
    argument = Argument::tensorMap(*map, argument.host, argument.sizeBytes, array.name);
  }
  launch.arguments.push_back(std::move(argument));
  return llvm::Error::success();
}

} // namespace

llvm::Expected<LaunchFile> parseLaunchFile(llvm::StringRef json, llvm::StringRef directory) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return refuse("expected an object");
  LaunchFile launch;
  launch.config.entry = object->getString("entry").value_or("").str();
  launch.config.arch = object->getString("arch").value_or("sm_80").str();
  int64_t sharedBytes = object->getInteger("shared_bytes").value_or(0);
  if (sharedBytes < 0 || sharedBytes > INT32_MAX)
    return refuse("'shared_bytes' must be a number from 0 to 2147483647");
  launch.config.dynamicSharedBytes = static_cast<uint32_t>(sharedBytes);
  if (std::optional<int64_t> limit = object->getInteger("step_limit")) {
    if (*limit < 1)
      return refuse("'step_limit' must be at least 1");
    launch.config.stepLimit = static_cast<uint64_t>(*limit);
  }
  launch.config.timeLimitSeconds = object->getNumber("time_limit").value_or(0);
  if (llvm::Error error = readExtents(*object, "grid", launch.config.grid))
    return error;
  if (llvm::Error error = readExtents(*object, "block", launch.config.block))
    return error;
  if (object->get("cluster"))
    if (llvm::Error error = readExtents(*object, "cluster", launch.config.cluster.emplace()))
      return error;
  llvm::Expected<AsyncTime> time = parseAsyncTime(object->getString("mode").value_or("early"));
  if (!time)
    return time.takeError();
  launch.config.asyncTime = *time;
  if (const llvm::json::Array *arguments = object->getArray("args"))
    for (const llvm::json::Value &argument : *arguments) {
      if (!argument.getAsObject())
        return refuse("an argument must be an object");
      if (llvm::Error error = readArgument(*argument.getAsObject(), directory, launch))
        return error;
    }
  return launch;
}

llvm::json::Value arrayToJson(const LaunchArray &array) {
  unsigned width = ptx::byteWidth(array.type);
  llvm::json::Array list;
  for (size_t i = 0; i + width <= array.bytes.size(); i += width)
    list.push_back(readElement(array.type, array.bytes.data() + i));
  return list;
}

} // namespace vgpu
