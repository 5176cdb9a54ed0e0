#include "runtime/sched/Scheduler.h"

#include <algorithm>

namespace quire {

namespace {

void insertByAge(std::vector<Sequence *> &list, Sequence &sequence) {
  auto place = std::upper_bound(
      list.begin(), list.end(), &sequence,
      [](const Sequence *a, const Sequence *b) { return a->before(*b); });
  list.insert(place, &sequence);
}

} // namespace

struct Scheduler::Step {
  SchedulePlan plan;
  int64_t budget;

  void add(Sequence &sequence, int64_t count) {
    plan.rows.push_back(
        {&sequence, sequence.computed, sequence.computed + count});
    budget -= count;
  }
  void drop(const Sequence &sequence) {
    std::erase_if(plan.rows, [&](const ScheduledRows &rows) {
      if (rows.sequence != &sequence) {
        return false;
      }
      budget += rows.end - rows.begin;
      return true;
    });
  }
};

void Scheduler::add(Sequence &sequence) {
  sequence.state = SequenceState::Waiting;
  insertByAge(waitingList, sequence);
}

void Scheduler::addFork(Sequence &sequence) {
  if (running() < options.maxSequences) {
    sequence.state = SequenceState::Running;
    insertByAge(runningList, sequence);
    return;
  }
  sequence.pages.clear();
  sequence.computed = 0;
  add(sequence);
}

void Scheduler::remove(Sequence &sequence) {
  std::erase(runningList, &sequence);
  std::erase(waitingList, &sequence);
  sequence.pages.clear();
  sequence.computed = 0;
  sequence.state = SequenceState::Finished;
}

SchedulePlan Scheduler::schedule() {
  Step step{{}, options.maxBatchTokens};
  scheduleDecoding(step);
  schedulePrefill(step);
  if (step.plan.preempted == 0) {
    admit(step);
  }
  return std::move(step.plan);
}

void Scheduler::scheduleDecoding(Step &step) {
  // Indexed: preempting shortens the list behind the current sequence.
  for (size_t i = 0; i < runningList.size() && step.budget > 0; ++i) {
    Sequence &sequence = *runningList[i];
    if (sequence.pending() == 1 && reserveOrPreempt(step, sequence, 1) == 1) {
      step.add(sequence, 1);
    }
  }
}

void Scheduler::schedulePrefill(Step &step) {
  for (size_t i = 0; i < runningList.size() && step.budget > 0; ++i) {
    Sequence &sequence = *runningList[i];
    if (sequence.pending() > 1) {
      int64_t want = std::min(step.budget, sequence.pending());
      if (int64_t count = reserveOrPreempt(step, sequence, want)) {
        step.add(sequence, count);
      }
    }
  }
}

void Scheduler::admit(Step &step) {
  while (!waitingList.empty() && running() < options.maxSequences &&
         step.budget > 0) {
    Sequence &sequence = *waitingList.front();
    if (!mayAdmit(sequence)) {
      return;
    }
    int64_t count =
        reserveUpTo(sequence, std::min(step.budget, sequence.pending()));
    if (count == 0) {
      return;
    }
    waitingList.erase(waitingList.begin());
    sequence.state = SequenceState::Running;
    insertByAge(runningList, sequence);
    step.add(sequence, count);
  }
}

/// Alone it always may: submission made sure that it fits token by token.
bool Scheduler::mayAdmit(const Sequence &sequence) const {
  if (runningList.empty()) {
    return true;
  }
  std::vector<int64_t> pages(pool.groups().size());
  addOutstanding(sequence, pages);
  for (const Sequence *other : runningList) {
    addOutstanding(*other, pages);
  }
  return pool.canAllocate(pages);
}

/// Pages a sequence still takes until all its present tokens are computed.
void Scheduler::addOutstanding(const Sequence &sequence,
                               std::vector<int64_t> &pages) const {
  std::vector<int64_t> needed =
      sequence.pages.neededFor(sequence.computed, sequence.length());
  for (size_t g = 0; g < pages.size(); ++g) {
    const CacheGroup &group = pool.groups()[g];
    // A window gives pages back on the way.
    pages[g] +=
        std::min(needed[g], group.peakPages(sequence.length()) +
                                group.entriesFor(options.maxBatchTokens));
  }
}

/// Reserves as many of the next `count` positions as fit; halving finds a
/// fitting size in few tries.
int64_t Scheduler::reserveUpTo(Sequence &sequence, int64_t count) const {
  for (; count > 0; count /= 2) {
    if (sequence.pages.reserve(sequence.computed, sequence.computed + count)) {
      return count;
    }
  }
  return 0;
}

int64_t Scheduler::reserveOrPreempt(Step &step, Sequence &sequence,
                                    int64_t count) {
  int64_t reserved = reserveUpTo(sequence, count);
  while (reserved == 0 && runningList.back() != &sequence) {
    preempt(step, *runningList.back());
    // Its rows of this step, if any, are room again.
    reserved = reserveUpTo(sequence, count);
  }
  return reserved;
}

void Scheduler::preempt(Step &step, Sequence &victim) {
  step.drop(victim);
  std::erase(runningList, &victim);
  victim.pages.clear();
  victim.computed = 0;
  ++victim.preemptions;
  ++step.plan.preempted;
  add(victim);
}

} // namespace quire
