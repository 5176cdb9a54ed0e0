#include "runtime/sched/Sequence.h"

namespace quire {

Sequence::Sequence(const Sequence &parent, PageTable shared)
    : request(parent.request), tokens(parent.tokens),
      promptLength(parent.promptLength), lengthLimit(parent.lengthLimit),
      params(parent.params), pages(std::move(shared)),
      computed(parent.computed) {}

std::unique_ptr<Sequence> Sequence::fork(uint32_t siblingChoice) const {
  std::unique_ptr<Sequence> sibling(new Sequence(*this, pages.fork()));
  sibling->choice = siblingChoice;
  return sibling;
}

} // namespace quire
