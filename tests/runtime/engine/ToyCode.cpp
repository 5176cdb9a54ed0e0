// The smallest code object an engine may hold.

#include "runtime/engine/StepAbi.h"

extern "C" void quire_step(const QuireStep *, const QuireWorkerApi *,
                           QuireWorker *) {}
extern "C" int32_t quire_abi_version() { return quire::kStepAbiVersion; }
