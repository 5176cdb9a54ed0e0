// Marks a function to be compiled for several levels of the instruction set,
// of which the loader takes the best that the machine has. Code must not
// contract products and sums (-ffp-contract=off), so that all levels give the
// same bits.

#ifndef QUIRE_FRONTENDS_FORMATS_MULTIVERSION_H
#define QUIRE_FRONTENDS_FORMATS_MULTIVERSION_H

#if defined(__x86_64__) && defined(__linux__) && defined(__clang__)
#define QUIRE_MULTIVERSION                                                     \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define QUIRE_MULTIVERSION
#endif

#endif
