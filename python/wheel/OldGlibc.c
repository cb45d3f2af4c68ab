/*===- OldGlibc.c - what Debian 12's C library has and 2.34 has not ---------------------------===//
 *
 * A wheel runs where glibc is 2.34 or later (manylinux_2_34); we link against 2.36. Two functions are
 * newer: arc4random (2.36), which libstdc++'s random_device calls, and a version of hypot (2.35) that
 * differs from the first one in its handling of errno only.
 *
 *===-----------------------------------------------------------------------------------------===*/

#include <stdint.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
  }
  return value;
}

double firstHypot(double x, double y);
__asm__(".symver firstHypot, hypot@GLIBC_2.2.5");

/* The linker's --wrap=hypot sends every call here. */
__attribute__((visibility("hidden"))) double __wrap_hypot(double x, double y) {
  return firstHypot(x, y);
}
