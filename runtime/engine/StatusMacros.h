// The two early-return helpers for absl::Status code; nothing else belongs
// here.

#ifndef QUIRE_RUNTIME_ENGINE_STATUSMACROS_H
#define QUIRE_RUNTIME_ENGINE_STATUSMACROS_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define QUIRE_RETURN_IF_ERROR(expression)                                      \
  do {                                                                         \
    if (absl::Status quireStatus = (expression); !quireStatus.ok()) {          \
      return quireStatus;                                                      \
    }                                                                          \
  } while (false)

#define QUIRE_CONCAT_INNER(a, b) a##b
#define QUIRE_CONCAT(a, b) QUIRE_CONCAT_INNER(a, b)
#define QUIRE_ASSIGN_OR_RETURN(target, expression)                             \
  QUIRE_ASSIGN_OR_RETURN_INNER(QUIRE_CONCAT(quireResult, __LINE__), target,    \
                               expression)
#define QUIRE_ASSIGN_OR_RETURN_INNER(temporary, target, expression)            \
  auto temporary = (expression);                                               \
  if (!temporary.ok()) {                                                       \
    return temporary.status();                                                 \
  }                                                                            \
  target = *std::move(temporary)

#endif
