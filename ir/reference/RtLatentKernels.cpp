// What the kernels of latent attention compute, with the reference functions.

#include "ir/reference/Latent.h"
#include "ir/reference/RtPart.h"

#include "ir/rt/KernelTable.h"

#include <numeric>

using namespace mlir;

namespace quire::reference {

/// The batch's rows that "rowSet" means: all, or those of one form.
static FailureOr<std::vector<int64_t>> rowsOfSet(RtPart &part) {
  int64_t set = part.integer("rowSet");
  int64_t block = part.state.materialisedBlock;
  switch (set) {
  case rt::kAllRows: {
    std::vector<int64_t> rows(part.input().rows());
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  case rt::kLatentRows:
    return rowsOfForm(part.input(), block, RowForm::Latent);
  case rt::kMaterialisedRows:
    return rowsOfForm(part.input(), block, RowForm::Materialised);
  default:
    part.error() << "does not run on row set " << set;
    return failure();
  }
}

static LogicalResult runHeadProduct(RtPart &part, bool transposed) {
  const Rows *x = part.read("x");
  auto weight = part.weight("weight");
  if (!x || failed(weight)) {
    return failure();
  }
  part.write("out", headLinear(*x, **weight, transposed));
  return success();
}

static LogicalResult runHeadLinear(RtPart &part) {
  return runHeadProduct(part, false);
}

static LogicalResult runTransposedHeadLinear(RtPart &part) {
  return runHeadProduct(part, true);
}

/// Attends with the queries in two buffers.
static LogicalResult attend(RtPart &part, StringRef queries,
                            const LatentAttention &attention) {
  const Rows *query = part.read(queries);
  const Rows *rotary = part.read("queryRotary");
  auto rows = rowsOfSet(part);
  if (!query || !rotary || failed(rows)) {
    return failure();
  }
  if (query->rows != static_cast<int64_t>(rows->size()) ||
      rotary->rows != query->rows) {
    return part.error() << "has queries of " << query->rows
                        << " rows where its row set has " << rows->size();
  }
  auto seen = visibleToRows(part.cache(), part.layerInGroup(), part.input(),
                            part.integer("group"), *rows);
  if (!seen.ok()) {
    return part.error() << std::string(seen.status().message());
  }
  part.write("out", attendLatents(attention, *query, *rotary, *seen));
  return success();
}

static LogicalResult runLatentAttention(RtPart &part) {
  return attend(part, "queryLatent",
                {.heads = part.integer("heads"),
                 .rank = part.integer("latentDim"),
                 .rotary = part.integer("rotaryDim"),
                 .scale = part.number64("scale")});
}

static LogicalResult runMaterialisedAttention(RtPart &part) {
  auto keyUp = part.weight("weightKey");
  auto valueUp = part.weight("weightValue");
  if (failed(keyUp) || failed(valueUp)) {
    return failure();
  }
  return attend(part, "queryContent",
                {.heads = part.integer("heads"),
                 .rank = part.integer("latentDim"),
                 .rotary = part.integer("rotaryDim"),
                 .scale = part.number64("scale"),
                 .keyUp = keyUp->get(),
                 .valueUp = valueUp->get()});
}

static LogicalResult runSelectForm(RtPart &part) {
  const Rows *x = part.read("x");
  auto rows = rowsOfSet(part);
  if (!x || failed(rows)) {
    return failure();
  }
  part.write("out", selectRows(*x, *rows));
  return success();
}

static LogicalResult runMergeForms(RtPart &part) {
  const Rows *materialised = part.read("materialised");
  const Rows *latent = part.read("latent");
  if (!materialised || !latent) {
    return failure();
  }
  auto rows = rowsOfForm(part.input(), part.state.materialisedBlock,
                         RowForm::Materialised);
  if (materialised->rows != static_cast<int64_t>(rows.size()) ||
      materialised->rows + latent->rows != part.input().rows()) {
    return part.error() << "merges " << materialised->rows << " and "
                        << latent->rows << " rows where the batch has "
                        << rows.size() << " materialised ones of "
                        << part.input().rows();
  }
  part.write("out", mergeForms(*materialised, *latent, rows));
  return success();
}

void addLatentKernels(KernelRunners &kernels) {
  kernels["head_linear"] = runHeadLinear;
  kernels["head_linear_t"] = runTransposedHeadLinear;
  kernels["latent_attention"] = runLatentAttention;
  kernels["materialised_attention"] = runMaterialisedAttention;
  kernels["select_form"] = runSelectForm;
  kernels["merge_forms"] = runMergeForms;
}

} // namespace quire::reference
