//===- LaunchFile.h - a launch described in JSON ----------------------------------------------===//
//
//   {"entry": "saxpy", "grid": [4], "block": [256], "shared_bytes": 0, "arch": "sm_80",
//    "args": [{"dtype": "s32", "value": 1000},
//             {"dtype": "f32", "value": 2.0},
//             {"dtype": "f32", "shape": [1000], "range": true},
//             {"dtype": "f32", "shape": [1000], "zeros": true, "print": true}]}
//
// A scalar has `value`; an array has `shape` and one of `data` (a flat list), `file` (raw bytes),
// `zeros`, `range` (0, 1, 2, ...) or `random` (a seed; uniform in [-1, 1), integers in [0, 16)).
// An array with a `box` (and `swizzle`, `oob_fill`, as in Python) is passed as a tensor map of it.
// `cluster` has the blocks of a cluster; `mode` is "early" or "late" (Machine/Launch.h). `print` shows the array after the launch, `output` writes its bytes to a file.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_LAUNCHFILE_H
#define VGPU_LAUNCHFILE_H

#include "vgpu/Vgpu.h"

namespace vgpu {

struct LaunchArray {
  ptx::Type type = ptx::Type::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
  bool isPrinted = false;
  std::string outputFile;
  std::string name;
};

struct LaunchFile {
  LaunchConfig config;
  std::vector<Argument> arguments;
  /// Buffers of the arguments; a deque because arguments point into it.
  std::deque<LaunchArray> arrays;
};

/// `directory` is where relative `file` names start.
llvm::Expected<LaunchFile> parseLaunchFile(llvm::StringRef json, llvm::StringRef directory);

/// The elements of an array as numbers.
llvm::json::Value arrayToJson(const LaunchArray &array);

} // namespace vgpu

#endif // VGPU_LAUNCHFILE_H
