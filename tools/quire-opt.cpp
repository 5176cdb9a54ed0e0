// quire-opt: the usual mlir-opt surface over lm and rt.

#include "ir/lm/Lm.h"
#include "ir/rt/Rt.h"
#include "passes/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<quire::lm::LmDialect, quire::rt::RtDialect>();
  quire::registerQuirePasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Quire's optimizer: passes over lm and rt\n", registry));
}
