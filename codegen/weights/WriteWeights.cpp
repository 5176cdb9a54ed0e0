#include "codegen/weights/WriteWeights.h"

#include "codegen/weights/FoldWeights.h"
#include "codegen/weights/PackWeights.h"
#include "frontends/formats/StrCat.h"
#include "ir/rt/Layout.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <xxhash.h>

namespace quire {

namespace {

/// Packed bytes of one chunk, about: large enough for long writes, small
/// enough to stay in a core's cache.
constexpr int64_t kChunkBytes = 1 << 20;

/// Rows of one job and the part of the file they fill, up to where the next
/// chunk begins.
struct Chunk {
  const WeightJob *job;
  int64_t firstRow;
  int64_t rows;
  int64_t offset;
  int64_t packedBytes;
  int64_t fileBytes; // packedBytes and the zeros behind them
};

int64_t rowsPerChunk(const WeightExpression &expression) {
  if (expression.isVector) {
    return expression.rows;
  }
  constexpr int64_t kUnit = layout::kSupertileOutputs;
  int64_t unitBytes =
      layout::supertileBytes(expression.format, expression.columns);
  return kUnit * std::max<int64_t>(1, kChunkBytes / unitBytes);
}

int64_t packedBytes(const WeightExpression &expression, int64_t rows) {
  return expression.isVector ? rows * 4
                             : layout::packedWeightBytes(
                                   expression.format, rows, expression.columns);
}

std::vector<Chunk> cutIntoChunks(const std::vector<WeightJob> &jobs,
                                 int64_t fileBytes) {
  std::vector<Chunk> chunks;
  for (const WeightJob &job : jobs) {
    int64_t step = rowsPerChunk(job.expression);
    int64_t offset = job.offset;
    for (int64_t row = 0; row < job.expression.rows; row += step) {
      int64_t rows = std::min(step, job.expression.rows - row);
      int64_t bytes = packedBytes(job.expression, rows);
      chunks.push_back({&job, row, rows, offset, bytes, bytes});
      offset += bytes;
    }
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    int64_t next = i + 1 < chunks.size() ? chunks[i + 1].offset : fileBytes;
    chunks[i].fileBytes = next - chunks[i].offset;
  }
  return chunks;
}

/// Gives whole pages of the mapped checkpoint back. They stay in the file
/// cache; only this process lets go of them.
void releasePages(std::span<const std::byte> bytes) {
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto first = reinterpret_cast<uintptr_t>(bytes.data());
  uintptr_t last = (first + bytes.size()) / page * page;
  first = (first + page - 1) / page * page;
  if (first < last) {
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  }
}

/// All that an expression reads.
void releaseAll(const WeightExpression &expression) {
  releasePages(expression.source);
  if (expression.fold) {
    llvm::for_each(expression.fold->raising, releaseAll);
    llvm::for_each(expression.fold->query, releaseAll);
    releaseAll(expression.fold->product);
  }
}

void releaseSource(const WeightExpression &expression, const Chunk &chunk) {
  if (expression.keepsOrder()) {
    releasePages(expression.source.subspan(
        static_cast<size_t>(chunk.firstRow * expression.sourceRowBytes),
        static_cast<size_t>(chunk.rows * expression.sourceRowBytes)));
  } else if (chunk.firstRow + chunk.rows == expression.rows) {
    // Any row may have been anywhere. A thread that is behind reads the pages
    // again: the mapping is clean.
    releaseAll(expression);
  }
}

/// One thread's buffers.
struct PackBuffers {
  std::vector<std::byte> packed;
  std::vector<std::byte> stored;
  std::vector<float> values;
};

void packChunk(const Chunk &chunk, PackBuffers &buffers) {
  const WeightExpression &expression = chunk.job->expression;
  buffers.packed.resize(static_cast<size_t>(chunk.fileBytes));
  std::span<std::byte> out(buffers.packed);
  std::memset(out.data() + chunk.packedBytes, 0,
              static_cast<size_t>(chunk.fileBytes - chunk.packedBytes));
  out = out.first(static_cast<size_t>(chunk.packedBytes));
  PackShape shape{chunk.rows, expression.columns};
  if (expression.isVector) {
    buffers.values.resize(static_cast<size_t>(chunk.rows));
    evaluateRows(expression, chunk.firstRow, chunk.rows, buffers.values);
    std::memcpy(out.data(), buffers.values.data(), out.size());
  } else if (!expression.passesThrough()) {
    buffers.values.resize(static_cast<size_t>(chunk.rows * expression.columns));
    evaluateRows(expression, chunk.firstRow, chunk.rows, buffers.values);
    packFloats(expression.format, shape, buffers.values, out);
  } else if (expression.keepsOrder()) {
    packStored(
        expression.format, shape,
        expression.source.subspan(
            static_cast<size_t>(chunk.firstRow * expression.sourceRowBytes),
            static_cast<size_t>(chunk.rows * expression.sourceRowBytes)),
        out);
  } else {
    buffers.stored.resize(
        static_cast<size_t>(chunk.rows * expression.sourceRowBytes));
    gatherStoredRows(expression, chunk.firstRow, chunk.rows, buffers.stored);
    packStored(expression.format, shape, buffers.stored, out);
  }
  releaseSource(expression, chunk);
}

absl::Status writeAll(int file, std::span<const std::byte> bytes,
                      int64_t offset, const std::string &path) {
  while (!bytes.empty()) {
    ssize_t count = pwrite(file, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return absl::ResourceExhaustedError(
          strCat("cannot write ", path, ": ", std::strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += count;
  }
  return absl::OkStatus();
}

/// The threads' common work list. Chunks are taken in file order and hashed in
/// file order.
class WeightFile {
public:
  WeightFile(int file, const std::string &path, std::vector<Chunk> chunks,
             int64_t fileBytes, const WeightWriting &options)
      : file(file), path(path), chunks(std::move(chunks)), fileBytes(fileBytes),
        options(options), hash(XXH3_createState()) {
    XXH3_64bits_reset(hash);
  }
  ~WeightFile() { XXH3_freeState(hash); }
  WeightFile(const WeightFile &) = delete;

  void work() {
    PackBuffers buffers;
    for (size_t i = next++; i < chunks.size(); i = next++) {
      packChunk(chunks[i], buffers);
      absl::Status written =
          writeAll(file, buffers.packed, chunks[i].offset, path);
      if (!addInOrder(i, buffers.packed, std::move(written))) {
        return;
      }
    }
  }

  absl::StatusOr<WrittenWeights> result() {
    if (!status.ok()) {
      return status;
    }
    return WrittenWeights{fileBytes, XXH3_64bits_digest(hash)};
  }

private:
  /// Waits for the chunks before `number`; false when all is over.
  bool addInOrder(size_t number, std::span<const std::byte> bytes,
                  absl::Status written) {
    std::unique_lock lock(mutex);
    turn.wait(lock, [&] { return hashed == number || !status.ok(); });
    if (status.ok() && !written.ok()) {
      status = std::move(written);
    }
    if (status.ok() && options.cancelled && options.cancelled()) {
      status = absl::CancelledError("the compilation was interrupted");
    }
    if (status.ok()) {
      XXH3_64bits_update(hash, bytes.data(), bytes.size());
      ++hashed;
      if (options.progress) {
        options.progress(chunks[number].offset + chunks[number].fileBytes,
                         fileBytes);
      }
    }
    turn.notify_all();
    return status.ok();
  }

  const int file;
  const std::string &path;
  const std::vector<Chunk> chunks;
  const int64_t fileBytes;
  const WeightWriting &options;
  std::atomic<size_t> next{0};
  std::mutex mutex; // guards what follows
  std::condition_variable turn;
  size_t hashed = 0;
  XXH3_state_t *hash;
  absl::Status status;
};

} // namespace

absl::StatusOr<WrittenWeights> writeWeights(const std::string &path,
                                            std::vector<WeightJob> jobs,
                                            int64_t fileBytes,
                                            const WeightWriting &options) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::InternalError(
        strCat("cannot create ", path, ": ", std::strerror(errno)));
  }
  WeightFile weights(file, path, cutIntoChunks(jobs, fileBytes), fileBytes,
                     options);
  std::vector<std::thread> helpers;
  for (int i = 1; i < options.threads; ++i) {
    helpers.emplace_back([&] { weights.work(); });
  }
  weights.work();
  for (std::thread &helper : helpers) {
    helper.join();
  }
  absl::StatusOr<WrittenWeights> result = weights.result();
  if (close(file) != 0 && result.ok()) {
    return absl::ResourceExhaustedError(
        strCat("cannot write ", path, ": ", std::strerror(errno)));
  }
  return result;
}

} // namespace quire
