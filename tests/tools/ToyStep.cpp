// The toy model of the runtime's tests as an engine's code object.

#include "tests/runtime/ToyModel.h"

extern "C" void quire_step(const QuireStep *step, const QuireWorkerApi *api,
                           QuireWorker *worker) {
  quire::toy::step(step, api, worker);
}
extern "C" int32_t quire_abi_version() { return quire::kStepAbiVersion; }
