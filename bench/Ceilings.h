// What this machine can do at best, measured beside every benchmark: a
// streamed read and register loops of the instructions that kernels live on.
// All in units per second of the calling thread's own processor time, so that
// a neighbour who takes the core away does not count.

#ifndef QUIRE_BENCH_CEILINGS_H
#define QUIRE_BENCH_CEILINGS_H

#include <cstddef>
#include <span>

namespace quire::bench {

/// Processor time of the calling thread.
double threadSeconds();

/// Bytes per second of one pass over `bytes`.
double readStream(std::span<const std::byte> bytes);

/// 512-bit byte dot products (16 lanes of four products) per second.
double dotPeak();

/// 512-bit fused multiply-adds per second.
double fmaPeak();

} // namespace quire::bench

#endif
