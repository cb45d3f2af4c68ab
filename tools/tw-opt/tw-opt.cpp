//===- tw-opt.cpp - runs passes on textual tile IR -------------------------------------------===//
//
//   tw-opt --tile-check-parallel kernel.mlir
//
//===----------------------------------------------------------------------------------------===//

#include "tw-opt/OptMain.h"

#ifdef TW_TESTS
namespace tilewright::test {
void registerInterpTestPass();
void registerMutatePlansPass();
void registerPrintEffectsPass();
} // namespace tilewright::test
#endif

int main(int argc, char **argv) {
  return tilewright::tools::runOpt(argc, argv, [] {
#ifdef TW_TESTS
    tilewright::test::registerInterpTestPass();
    tilewright::test::registerMutatePlansPass();
    tilewright::test::registerPrintEffectsPass();
#endif
  });
}
