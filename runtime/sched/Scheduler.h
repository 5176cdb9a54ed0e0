// Which tokens run next. Pure policy over sequences and page counts: it knows
// no device and runs nothing. The engine's thread only.
//
// The rules:
// - First come, first served: the oldest running sequence always gets its
//   pages; nobody overtakes in the waiting line.
// - One budget of rows a step. Sequences with one pending token (decoding)
//   come first; what is left of the budget goes to prompts, in chunks.
// - A sequence is admitted when pages for all its tokens can be had beside
//   what the running ones still need for theirs.
// - When pages run out, the youngest running sequence gives all of its back
//   and waits (it will recompute); a sequence that is itself the youngest
//   pauses with its pages until older ones finish or take them.

#ifndef QUIRE_RUNTIME_SCHED_SCHEDULER_H
#define QUIRE_RUNTIME_SCHED_SCHEDULER_H

#include "runtime/sched/Sequence.h"

#include <vector>

namespace quire {

struct SchedulerOptions {
  int64_t maxBatchTokens = 0; // rows a step
  int64_t maxSequences = 0;   // running at once
};

/// Positions [begin, end) of a sequence, reserved in its page table.
struct ScheduledRows {
  Sequence *sequence;
  int64_t begin;
  int64_t end;
};

struct SchedulePlan {
  std::vector<ScheduledRows> rows;
  int64_t preempted = 0;
};

class Scheduler {
public:
  Scheduler(const BlockPool &pool, SchedulerOptions options)
      : pool(pool), options(options) {}

  /// A new sequence joins the waiting line. Not owned.
  void add(Sequence &sequence);
  /// A fork joins its parent in the running ones, or, when these are full,
  /// gives its pages back and waits.
  void addFork(Sequence &sequence);
  /// Takes a sequence out of whichever list it is in and frees its pages.
  void remove(Sequence &sequence);

  SchedulePlan schedule();

  int64_t running() const { return static_cast<int64_t>(runningList.size()); }
  int64_t waiting() const { return static_cast<int64_t>(waitingList.size()); }

private:
  struct Step; // the plan under construction and its budget

  void scheduleDecoding(Step &step);
  void schedulePrefill(Step &step);
  void admit(Step &step);
  bool mayAdmit(const Sequence &sequence) const;
  void addOutstanding(const Sequence &sequence,
                      std::vector<int64_t> &pages) const;
  int64_t reserveUpTo(Sequence &sequence, int64_t count) const;
  int64_t reserveOrPreempt(Step &step, Sequence &sequence, int64_t count);
  void preempt(Step &step, Sequence &victim);

  const BlockPool &pool;
  SchedulerOptions options;
  std::vector<Sequence *> runningList; // oldest first
  std::vector<Sequence *> waitingList; // oldest first
};

} // namespace quire

#endif
