//===- Gil.cpp - the end of a process whose threads are at work -------------------------------===//

#include "Gil.h"

#include <cstdio>
#include <cstdlib>

/// Python has run its own exit functions, and its main thread is the only one that it knows.
static void leaveAtOnce(int status, void *) {
  if (tilewright::bindings::WithoutGil::countRunning() == 0)
    return;
  std::fflush(nullptr);
  _exit(status);
}

void tilewright::bindings::watchProcessEnd() {
  // Registered after the libraries were loaded, and so called before they are destroyed.
  on_exit(leaveAtOnce, nullptr);
}
