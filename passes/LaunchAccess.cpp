#include "passes/LaunchAccess.h"

#include "ir/rt/KernelTable.h"

using namespace mlir;

namespace quire {

static void note(rt::Access access, StringRef buffer, LaunchAccess &result) {
  if (rt::reads(access)) {
    result.reads.insert(buffer);
  }
  if (rt::writes(access)) {
    result.writes.insert(buffer);
  }
}

static void noteField(const rt::KernelField &field, Attribute value,
                      LaunchAccess &result) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value)) {
    if (field.kind == rt::FieldKind::Buffer) {
      note(field.access, symbol.getValue(), result);
    }
  } else if (auto list = dyn_cast<ArrayAttr>(value)) {
    for (auto symbol : list.getAsRange<FlatSymbolRefAttr>()) {
      note(field.access, symbol.getValue(), result);
    }
  } else if (field.kind == rt::FieldKind::CacheGroup) {
    int64_t group = cast<IntegerAttr>(value).getInt();
    (rt::writes(field.access) ? result.writesGroups : result.readsGroups)
        .insert(group);
  }
}

FailureOr<LaunchAccess> accessOf(rt::LaunchOp launch) {
  LaunchAccess result;
  for (auto part : launch.getParts().getAsRange<rt::PartAttr>()) {
    const rt::KernelInfo *kernel = rt::findKernel(part.getKernel());
    if (kernel == nullptr) {
      return launch.emitError("launches an unknown kernel '")
             << part.getKernel() << "'";
    }
    for (const rt::KernelField &field : kernel->fields) {
      bool implicit = field.kind == rt::FieldKind::Step ||
                      field.kind == rt::FieldKind::Layer;
      if (implicit) {
        continue;
      }
      Attribute value = part.getArgs().get(field.name);
      if (!value) {
        return launch.emitError("gives kernel '")
               << part.getKernel() << "' no '" << StringRef(field.name) << "'";
      }
      noteField(field, value, result);
    }
  }
  return result;
}

} // namespace quire
