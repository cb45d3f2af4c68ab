# For wheels: TW_LLVM_LINK and TW_MLIR_LINK name the archives of Debian's packages, and the few system
# libraries that LLVM's code calls.
file(GLOB TW_LLVM_LINK ${LLVM_LIBRARY_DIR}/libLLVM*.a)
file(GLOB TW_MLIR_LINK ${LLVM_LIBRARY_DIR}/libMLIR*.a)
find_library(TW_LIBZ libz.a)
find_library(TW_LIBZSTD libzstd.a)
foreach(found TW_LLVM_LINK TW_MLIR_LINK TW_LIBZ TW_LIBZSTD)
  if(NOT ${found})
    message(FATAL_ERROR "A wheel contains LLVM, MLIR, zlib and zstd, and needs their archives (.a files): "
      "run 'scripts/bootstrap.sh wheel', which installs the Debian packages")
  endif()
endforeach()
list(APPEND TW_LLVM_LINK ${TW_LIBZ} ${TW_LIBZSTD})
mark_as_advanced(TW_LIBZ TW_LIBZSTD)
