//===- Guarded.cpp - work that may stop in the middle, and leaves the process alone -----------===//

#include "tilewright/Support/Guarded.h"

#include "llvm/ADT/Twine.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

using namespace tilewright;

namespace {

/// Of one piece of work. A thread that has told `over` touches it no more, unless it ended.
struct Run {
  explicit Run(llvm::function_ref<void()> work) : work(work) {}

  llvm::function_ref<void()> work;
  sem_t over;
  bool isAtEnd = false;
  std::exception_ptr thrown;
  std::string reason;  // of a fatal error,
  int faultSignal = 0; // or of a fault
  bool isFull = false; // of the stack
  char *stackEnd = nullptr;
};

/// A signal handler reads it, and so it must not be made at its first use.
[[gnu::tls_model("initial-exec")]] thread_local Run *current = nullptr;

[[noreturn]] void stay() {
  while (true)
    pause();
}

void onFatalError(void *, const char *reason, bool) {
  if (!current) { // LLVM ends the process, without a word where there is a handler
    llvm::errs() << "LLVM ERROR: " << reason << "\n";
    return;
  }
  current->reason = reason;
  sem_post(&current->over);
  stay();
}

//===----------------------------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------------------------===//

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
struct sigaction previousActions[NSIG];

/// As large a distance from the end of the stack as a frame may well have.
constexpr size_t kGuardBytes = size_t(1) << 20;

void onFault(int signal, siginfo_t *info, void *) {
  if (!current) { // it is as if we were not here
    sigaction(signal, &previousActions[signal], nullptr);
    raise(signal);
    return;
  }
  auto *address = static_cast<char *>(info->si_addr);
  current->faultSignal = signal;
  current->isFull = signal == SIGSEGV && address >= current->stackEnd - kGuardBytes &&
                    address < current->stackEnd + kGuardBytes;
  sem_post(&current->over);
  stay();
}

void install() {
  llvm::install_fatal_error_handler(onFatalError);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : kFaults)
    sigaction(signal, &action, &previousActions[signal]);
}

//===----------------------------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------------------------===//

/// The lowest address of this thread's stack.
char *findStackEnd() {
  pthread_attr_t attributes;
  void *address = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &address, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return static_cast<char *>(address);
}

void *serve(void *argument) {
  alignas(16) char alternate[1 << 16]; // a fault for want of stack needs another one
  stack_t stack = {};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof(alternate);
  sigaltstack(&stack, nullptr);
  auto *run = static_cast<Run *>(argument);
  run->stackEnd = findStackEnd();
  current = run;
  try {
    run->work();
  } catch (...) {
    run->thrown = std::current_exception();
  }
  current = nullptr;
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  run->isAtEnd = true;
  sem_post(&run->over);
  return nullptr;
}

/// Starts the thread with as deep a stack as there is. Signals are for other threads.
bool start(pthread_t &thread, Run &run) {
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : kFaults)
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool isStarted = false;
  for (size_t bytes = size_t(256) << 20; !isStarted && bytes >= size_t(16) << 20; bytes /= 4) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_attr_setguardsize(&attributes, kGuardBytes);
    isStarted = pthread_create(&thread, &attributes, serve, &run) == 0;
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return isStarted;
}

std::string describe(const Run &run) {
  if (!run.faultSignal)
    return run.reason;
  if (run.isFull)
    return "the program is nested too deeply, or an expression has too many terms (out of stack)";
  return std::string("fault while compiling (") + strsignal(run.faultSignal) + ")";
}

} // namespace

std::optional<std::string> tilewright::runGuarded(llvm::function_ref<void()> work) {
  static std::once_flag once;
  std::call_once(once, install);
  if (current) { // a part of guarded work
    work();
    return std::nullopt;
  }
  Run run(work);
  sem_init(&run.over, 0, 0);
  pthread_t thread;
  if (!start(thread, run)) { // no thread to be had: as it would be without us
    work();
    return std::nullopt;
  }
  while (sem_wait(&run.over) != 0) {
  }
  if (!run.isAtEnd) {
    pthread_detach(thread);
    return describe(run);
  }
  pthread_join(thread, nullptr);
  sem_destroy(&run.over);
  if (run.thrown)
    std::rethrow_exception(run.thrown);
  return std::nullopt;
}

void tilewright::stopGuarded(const std::string &reason) {
  llvm::report_fatal_error(llvm::Twine(reason), /*gen_crash_diag=*/false);
}

void tilewright::stopGuardedOnError(const llvm::DiagnosticInfo *diagnostic, void *) {
  if (diagnostic->getSeverity() != llvm::DS_Error)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::DiagnosticPrinterRawOStream printer(os);
  diagnostic->print(printer);
  stopGuarded(text);
}
