/*===- tilewright/runtime.h - what exported kernels need while they run ------------------------===*
 *
 * A library that `tw compile --emit library` or `kernel.export_library` wrote has a header with one
 * function for each kernel. They take tensors as DLPack describes them, numbers as C types, a stream,
 * and a tw_error to fill:
 *
 *   int32_t gemm(const DLTensor *A, const DLTensor *B, const DLTensor *C, void *stream,
 *                tw_error *error);
 *
 * They return TW_OK or another tw_code; nothing is thrown, and nothing is printed but what the
 * kernel itself prints. Tensors on the host (kDLCPU, kDLCUDAHost) run code of the host, on the threads
 * of this process (TILEWRIGHT_THREADS); tensors of a GPU (kDLCUDA) run there, on the stream. All
 * functions may be called from several threads at once.
 *
 * This header and libtilewright_rt need neither LLVM nor Python.
 *
 *===-----------------------------------------------------------------------------------------===*/

#ifndef TILEWRIGHT_RUNTIME_H
#define TILEWRIGHT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* DLPack's own header if it is there; else the part of it that is used here. */
#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#ifndef DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e5m2 = 12
} DLDataTypeCode;
typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; null for a dense tensor */
  uint64_t byte_offset;
} DLTensor;
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

/** What libraries and libtilewright_rt must agree on: these structs, and the image of a library. */
#define TW_ABI_VERSION 3

typedef enum tw_code {
  TW_OK = 0,
  TW_BAD_ARGUMENT = 1, /**< A tensor or number that the kernel cannot take; the message names it. */
  TW_NO_CODE = 2,      /**< The library has no code for this processor or GPU. */
  TW_NO_DRIVER = 3,    /**< There is no CUDA driver, or no such GPU. */
  TW_GPU_ERROR = 4,    /**< The CUDA driver reports an error. */
  TW_RUN_ERROR = 5,    /**< The kernel stopped: an assertion failed, a grid cannot be. */
  TW_BAD_LIBRARY = 6,  /**< Made for another version of this interface, or damaged. */
  TW_NO_MEMORY = 7
} tw_code;

/** What went wrong, in words. `file` and `line` are those of the kernel's source, or empty and 0. */
typedef struct tw_error {
  int32_t code; /**< A tw_code. */
  int32_t line;
  char file[256];
  char message[1024];
} tw_error;

/** What a caller passes for one parameter, for `tw_call`. */
typedef enum { TW_TENSOR = 0, TW_BOOL = 1, TW_INT = 2, TW_UINT = 3, TW_REAL = 4 } tw_kind;
typedef struct tw_value {
  int64_t kind; /**< A tw_kind. */
  union {
    const DLTensor *tensor; /**< Null for one that the kernel does not use. */
    int64_t integer;        /**< Also a bool. */
    uint64_t number;
    double real;
  } as;
} tw_value;

/** An exported library. Its header has the one of this library as `<name>_library`. */
typedef struct tw_library {
  uint32_t abi; /**< TW_ABI_VERSION when it was made. */
  uint32_t num_entries;
  const char *name;
  const unsigned char *image; /**< What Rt/Image.h reads. */
  uint64_t image_bytes;
  const void *const *entries; /**< Code of the host. */
  void *state;                /**< What the runtime made of it. */
} tw_library;

/** Calls a kernel by its number. `stream` is a CUstream, or null for the default one. `error` may be
 *  null. */
TW_API int32_t tw_call(tw_library *library, uint32_t function, const tw_value *values,
                       uint32_t count, void *stream, tw_error *error);

/** Reads a library, which the first call does else: a library that cannot be used is told now. */
TW_API int32_t tw_open(tw_library *library, tw_error *error);
/** Frees what the runtime made of a library, GPU code included. No call of it may be under way. */
TW_API void tw_close(tw_library *library);

/** The number of a kernel by its name; negative if there is none, or the library cannot be read. */
TW_API int32_t tw_find(tw_library *library, const char *name);
/** The name of a kernel by its number; null if there is none. */
TW_API const char *tw_name(tw_library *library, uint32_t function);

/** Where the lines of `T.print` go; standard output if `print` is null. */
TW_API void tw_set_print(void (*print)(const char *line, size_t length, void *context),
                         void *context);

/** TW_ABI_VERSION of the runtime that is linked. */
TW_API uint32_t tw_abi_version(void);
/** Its release, as "0.1.0". */
TW_API const char *tw_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_RUNTIME_H */
