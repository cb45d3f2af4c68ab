# The compiler of every preset. A toolchain file, since presets that set CMAKE_CXX_COMPILER make CMake
# 3.25 throw the cache away, and fall back to another compiler, when an existing build is configured again.
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_CXX_COMPILER clang++-22)
