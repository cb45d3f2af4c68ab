# Compiler, linker and package settings that hold for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(TW_CCACHE ccache)
if(TW_CCACHE)
  # With a precompiled header ccache must not look at time macros and defines inside it.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${TW_CCACHE})
endif()
find_program(TW_LLD NAMES ld.lld-22 ld.lld)
if(TW_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()
add_link_options(-Wl,--build-id) # part of the key of cached code (Support/BuildId.h)

find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22) # brings LLVM; "22" alone is refused by Debian's version file
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

if(TW_SANITIZE)
  add_compile_options(-fsanitize=${TW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -gline-tables-only)
  add_link_options(-fsanitize=${TW_SANITIZE})
  if(TW_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr) # libMLIR.so is not instrumented
  endif()
endif()

if(TW_FUZZ) # coverage of our own code steers the fuzzers
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

if(TW_PREBUILT) # a release build of the same sources
  load_cache(${TW_PREBUILT} READ_WITH_PREFIX prebuilt_ CMAKE_HOME_DIRECTORY CMAKE_BUILD_TYPE)
  if(NOT "${prebuilt_CMAKE_HOME_DIRECTORY} ${prebuilt_CMAKE_BUILD_TYPE}" STREQUAL "${PROJECT_SOURCE_DIR} ${CMAKE_BUILD_TYPE}")
    message(FATAL_ERROR "TW_PREBUILT: expected a ${CMAKE_BUILD_TYPE} build of ${PROJECT_SOURCE_DIR}, "
      "got a ${prebuilt_CMAKE_BUILD_TYPE} build of ${prebuilt_CMAKE_HOME_DIRECTORY}")
  endif()
  set(TW_GENERATED_INCLUDES ${TW_PREBUILT}/include)
else()
  set(TW_GENERATED_INCLUDES ${PROJECT_BINARY_DIR}/include)
endif()

# What a program links: Debian's shared libraries, or every archive of Debian's packages: the
# linker takes what is used.
set(TW_LLVM_LINK LLVM)
set(TW_MLIR_LINK MLIR)
if(TW_STATIC_LLVM)
  include(TwStatic)
endif()

# tw_llvm: LLVM alone (Support, Layout, Target, vgpu). tw_mlir: MLIR on top of it.
# We do not include(HandleLLVMOptions): it would force -fno-exceptions on the nanobind module.
separate_arguments(TW_LLVM_DEFINITIONS UNIX_COMMAND "${LLVM_DEFINITIONS}")
add_library(tw_llvm INTERFACE)
target_include_directories(tw_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_include_directories(tw_llvm INTERFACE ${PROJECT_SOURCE_DIR}/include)
# Generated code does not meet -Wextra; it is a system header for us.
target_include_directories(tw_llvm SYSTEM INTERFACE ${TW_GENERATED_INCLUDES})
target_compile_definitions(tw_llvm INTERFACE ${TW_LLVM_DEFINITIONS})
target_link_libraries(tw_llvm INTERFACE ${TW_LLVM_LINK})
add_library(tw_mlir INTERFACE)
target_include_directories(tw_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
target_link_libraries(tw_mlir INTERFACE tw_llvm ${TW_MLIR_LINK})

# The flags of our own code; third-party sources (nanobind) do not get them.
add_library(tw_warnings INTERFACE)
target_compile_options(tw_warnings INTERFACE -Wall -Wextra -Werror)
