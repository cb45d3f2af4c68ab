//===- Guarded.cpp - work that may stop in the middle, and leaves the process alone -----------===//

#include "tilewright/Support/Guarded.h"
#include "tilewright/Support/Forks.h"

#include "llvm/ADT/Twine.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

using namespace tilewright;

namespace {

/// Whether the caller of a piece of work has left it. The mutex is held while work uses its caller.
struct AbandonedFlag {
  std::mutex mutex;
  std::atomic<bool> isSet{false};
};

/// Of one piece of work. A thread that has told `over` touches it no more, unless it ended.
struct Run {
  explicit Run(std::function<void()> work) : work(std::move(work)) {}

  std::function<void()> work;
  sem_t over;
  bool isAtEnd = false;
  std::exception_ptr thrown;
  std::string reason;  // of a fatal error,
  int faultSignal = 0; // or of a fault
  bool isFull = false; // of the stack
  char *stackEnd = nullptr;
  AbandonedFlag *flag = nullptr; // of work that its caller may leave
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

/// Runs the work on this thread, and `atEnd` before it tells that it is over.
void serve(Run *run, llvm::function_ref<void()> atEnd) {
  alignas(16) char alternate[1 << 16]; // a fault for want of stack needs another one
  stack_t stack = {};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof(alternate);
  sigaltstack(&stack, nullptr);
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
  atEnd();
  run->isAtEnd = true;
  sem_post(&run->over);
}

void *serveGuarded(void *run) {
  serve(static_cast<Run *>(run), [] {});
  return nullptr;
}

/// Starts the thread with as deep a stack as there is. Signals are for other threads.
bool start(pthread_t &thread, void *(*serve)(void *), void *argument) {
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
    isStarted = pthread_create(&thread, &attributes, serve, argument) == 0;
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

static void installOnce() {
  static std::once_flag once;
  std::call_once(once, install);
}

std::optional<std::string> tilewright::runGuarded(llvm::function_ref<void()> work) {
  installOnce();
  if (current) { // a part of guarded work
    work();
    return std::nullopt;
  }
  Run run(work);
  sem_init(&run.over, 0, 0);
  pthread_t thread;
  if (!start(thread, serveGuarded, &run)) { // no thread to be had: as it would be without us
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

//===----------------------------------------------------------------------------------------===//
// Work that may be left
//===----------------------------------------------------------------------------------------===//

struct AbandonableWork::State {
  explicit State(std::function<void()> work) : run(std::move(work)) { sem_init(&run.over, 0, 0); }
  ~State() { sem_destroy(&run.over); }

  /// The work touches nothing any more.
  void end() {
    noFork.reset();
    isOver = true;
  }

  /// Waits for the end for a twentieth of a second at most; true if it came.
  bool waitShortly() {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50'000'000;
    if (until.tv_nsec >= 1'000'000'000)
      ++until.tv_sec, until.tv_nsec -= 1'000'000'000;
    return sem_timedwait(&run.over, &until) == 0;
  }

  Run run;
  AbandonedFlag flag;
  std::optional<NoFork> noFork;
  std::atomic<bool> isOver{false};
  pid_t process = getpid(); ///< The one that has its thread.
};

AbandonableWork::AbandonableWork(std::function<void()> work)
    : state(std::make_shared<State>(std::move(work))) {}

AbandonableWork::~AbandonableWork() = default;

AbandonableWork::End AbandonableWork::run(llvm::function_ref<bool()> goesOn) {
  installOnce();
  State &own = *state;
  own.run.flag = &own.flag;
  /// Keeps the state alive as long as the thread. It is the first of the thread's variables, and so the last
  /// that is destroyed: MLIR's caches of a thread take locks when they go, and no fork may see them taken.
  struct Keeper {
    ~Keeper() { state->end(); }
    std::shared_ptr<State> state;

    static void *serve(void *argument) {
      static thread_local Keeper keeper;
      std::unique_ptr<std::shared_ptr<State>> given(
          static_cast<std::shared_ptr<State> *>(argument));
      keeper.state = std::move(*given);
      State &state = *keeper.state;
      state.noFork.emplace();
      // What the work owns is given back on this thread, not by a caller in a hurry.
      ::serve(&state.run, [&] { state.run.work = nullptr; });
      return nullptr;
    }
  };
  auto kept = std::make_unique<std::shared_ptr<State>>(state);
  pthread_t thread;
  if (current ||
      !start(thread, Keeper::serve, kept.get())) { // a part of guarded work, or no thread
    own.run.work();
    own.end();
    return End::Finished;
  }
  (void)kept.release();
  while (!own.waitShortly()) {
    if (goesOn())
      continue;
    pthread_detach(thread);
    std::lock_guard lock(own.flag.mutex);
    own.flag.isSet = true;
    return End::Abandoned;
  }
  if (!own.run.isAtEnd) { // its thread stands still for ever
    pthread_detach(thread);
    own.end();
    return End::Stopped;
  }
  pthread_join(thread, nullptr);
  if (own.run.thrown)
    std::rethrow_exception(own.run.thrown);
  return End::Finished;
}

std::string AbandonableWork::getReason() const { return describe(state->run); }

bool AbandonableWork::isOver() const { return state->isOver || state->process != getpid(); }

bool tilewright::isAbandoned() { return current && current->flag && current->flag->isSet; }

void tilewright::skipIfAbandoned(llvm::PassInstrumentationCallbacks &callbacks) {
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef, llvm::Any) { return !isAbandoned(); });
}

void tilewright::useCaller(llvm::function_ref<void()> use) {
  if (!current || !current->flag)
    return use();
  std::lock_guard lock(current->flag->mutex);
  if (!current->flag->isSet)
    use();
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
