//===- Forks.cpp - what a child process may inherit -------------------------------------------===//

#include "tilewright/Support/Forks.h"

#include <pthread.h>
#include <shared_mutex>

using namespace tilewright;

static std::atomic<unsigned> generation{0};

/// Held by all who let a fork wait, and by a fork alone. Never destroyed: threads may outlive it.
/// The child gets a new one: glibc knows who locked the old one by a number that its thread no
/// longer has.
static std::atomic<std::shared_mutex *> gate{new std::shared_mutex};

static void listenToForks() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork([] { gate.load()->lock(); }, [] { gate.load()->unlock(); },
                   [] {
                     gate = new std::shared_mutex;
                     ++generation;
                   });
  });
}

NoFork::NoFork() {
  listenToForks();
  gate.load()->lock_shared();
}

NoFork::~NoFork() { gate.load()->unlock_shared(); }

ForkedMutex::ForkedMutex() : state(nullptr) {
  listenToForks();
  state = new State{generation, {}};
}

ForkedMutex::~ForkedMutex() {
  State *last = state;
  if (last->generation == generation) // else a thread of the parent may hold it forever
    delete last;
}

ForkedMutex::State &ForkedMutex::getState() {
  State *known = state;
  if (known->generation != generation) {
    auto *fresh = new State{generation, {}};
    if (!state.compare_exchange_strong(known, fresh)) // another thread of the child was faster
      delete fresh;
  }
  return *state.load();
}

void ForkedMutex::lock() { getState().mutex.lock(); }

bool ForkedMutex::try_lock_for(std::chrono::milliseconds time) {
  return getState().mutex.try_lock_for(time);
}

void ForkedMutex::unlock() { state.load()->mutex.unlock(); }
