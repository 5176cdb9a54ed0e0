// Keys and values travel through kv_append, so that both kernels are judged
// at once. A test lays out sequences over pages in a scrambled order; the
// reference works on the numbers as the cache format rounds them.

#include "tests/codegen/cpu/kernels/PagedCache.h"

#include "tests/support/Compare.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quire::test {
namespace {

struct Heads {
  int64_t heads, kvHeads, keyDim, valueDim;
};

/// A cache and what it takes to run both kernels on it.
class Machine {
public:
  Machine(std::string level, const std::string &format, Heads heads,
          int64_t pageSize, int64_t window = 0, double softcap = 0.0)
      : level(std::move(level)), heads(heads), window(window), softcap(softcap),
        cache(format, heads.kvHeads, heads.keyDim, heads.valueDim, pageSize) {}

  Row plain(int32_t sequence, int32_t position) const {
    return cache.plain(sequence, position);
  }

  /// Appends keys and values of `rows`, then attends: [rows, heads, valueDim].
  std::vector<float> step(const std::vector<Row> &rows,
                          const std::vector<float> &query,
                          const std::vector<float> &key,
                          const std::vector<float> &value) {
    PagedStep step(cache, rows);
    step.append(level, key, value);
    Aligned<float> out(step.base.batch.rows * heads.heads * heads.valueDim);
    const cpu::AttentionArgs args = {&step.base.step,
                                     &step.layer,
                                     query.data(),
                                     out.data(),
                                     heads.heads * heads.keyDim,
                                     1,
                                     heads.heads,
                                     heads.kvHeads,
                                     heads.keyDim,
                                     heads.valueDim,
                                     cache.page.pageSize,
                                     cache.page.layers,
                                     window,
                                     scale(),
                                     softcap};
    runKernel(level, "attention_" + cache.format, &args,
              layout::attentionScratchBytes(heads.heads, heads.kvHeads,
                                            heads.keyDim, heads.valueDim));
    return {out.data(), out.data() + out.size()};
  }

  double scale() const {
    return 1 / std::sqrt(static_cast<double>(heads.keyDim));
  }

  /// One query against the keys of positions first .. last of a sequence
  /// whose keys and values are given from position 0 on.
  std::vector<Expected> reference(const float *query,
                                  const std::vector<float> &key,
                                  const std::vector<float> &value,
                                  int64_t position, int64_t head) const {
    const int64_t kv = head / (heads.heads / heads.kvHeads);
    const int64_t first =
        window > 0 ? std::max<int64_t>(0, position - window + 1) : 0;
    std::vector<double> scores;
    for (int64_t p = first; p <= position; ++p) {
      double dot = 0.0;
      for (int64_t d = 0; d < heads.keyDim; ++d) {
        dot += static_cast<double>(query[d]) *
               cache.rounded(key[static_cast<size_t>(
                   (p * heads.kvHeads + kv) * heads.keyDim + d)]);
      }
      dot *= scale();
      scores.push_back(softcap > 0 ? softcap * std::tanh(dot / softcap) : dot);
    }
    const double highest = *std::max_element(scores.begin(), scores.end());
    double total = 0.0;
    for (double &s : scores) {
      s = std::exp(s - highest);
      total += s;
    }
    std::vector<Expected> out;
    for (int64_t d = 0; d < heads.valueDim; ++d) {
      Expected e = {0.0, 0.0};
      for (int64_t p = first; p <= position; ++p) {
        const double term =
            scores[static_cast<size_t>(p - first)] / total *
            cache.rounded(value[static_cast<size_t>(
                (p * heads.kvHeads + kv) * heads.valueDim + d)]);
        e.value += term;
        e.magnitude += std::fabs(term);
      }
      out.push_back(e);
    }
    return out;
  }

  std::string level;
  Heads heads;
  int64_t window;
  double softcap;
  PagedCache cache;
};

/// Random inputs of one sequence.
struct Inputs {
  std::vector<float> query, key, value;
  Inputs(Random &random, Heads heads, int64_t tokens)
      : query(randomFloats(random, tokens * heads.heads * heads.keyDim)),
        key(randomFloats(random, tokens * heads.kvHeads * heads.keyDim)),
        value(randomFloats(random, tokens * heads.kvHeads * heads.valueDim)) {}
};

class AttentionTest
    : public testing::TestWithParam<std::tuple<std::string, const char *>> {
protected:
  std::string level() const { return std::get<0>(GetParam()); }
  std::string format() const { return std::get<1>(GetParam()); }

  /// Tokens from .. from + count - 1 of sequence 0 in one step.
  static std::vector<float> chunk(Machine &machine, const Inputs &in,
                                  int64_t from, int64_t count) {
    std::vector<Row> rows;
    for (int64_t i = 0; i < count; ++i) {
      rows.push_back(machine.plain(0, static_cast<int32_t>(from + i)));
    }
    const Heads &h = machine.heads;
    return machine.step(rows, cut(in.query, h.heads * h.keyDim, from, count),
                        cut(in.key, h.kvHeads * h.keyDim, from, count),
                        cut(in.value, h.kvHeads * h.valueDim, from, count));
  }

  static std::vector<float> byChunks(Machine &machine, const Inputs &in,
                                     int64_t tokens, int64_t size) {
    std::vector<float> all;
    for (int64_t from = 0; from < tokens; from += size) {
      const std::vector<float> part =
          chunk(machine, in, from, std::min(size, tokens - from));
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
};

struct Case {
  Heads heads;
  int64_t pageSize, window;
  double softcap;
  const char *reason;
};
const Case kCases[] = {
    {{4, 2, 64, 64}, 16, 0, 0.0, "grouped queries"},
    {{6, 1, 128, 128}, 64, 0, 0.0, "one KV head, Qwen's head size"},
    {{3, 3, 60, 20}, 4, 0, 0.0, "odd sizes, keys wider than values"},
    {{2, 1, 16, 80}, 1, 0, 0.0, "pages of one token"},
    {{4, 2, 32, 32}, 16, 50, 0.0, "a window across block borders"},
    {{4, 2, 32, 32}, 16, 0, 5.0, "soft cap"},
    {{9, 1, 1, 1}, 16, 3, 2.0, "the least sizes, window and cap"},
};

TEST_P(AttentionTest, IsSoftmaxOverWhatTheCacheHolds) {
  Random random(1);
  for (const Case &c : kCases) {
    SCOPED_TRACE(c.reason);
    const int64_t tokens = 150;
    Machine machine(level(), format(), c.heads, c.pageSize, c.window,
                    c.softcap);
    const Inputs in(random, c.heads, tokens);
    const std::vector<float> got = chunk(machine, in, 0, tokens);
    std::vector<Expected> expected;
    for (int64_t p = 0; p < tokens; ++p) {
      for (int64_t h = 0; h < c.heads.heads; ++h) {
        const std::vector<Expected> one = machine.reference(
            in.query.data() + (p * c.heads.heads + h) * c.heads.keyDim, in.key,
            in.value, p, h);
        expected.insert(expected.end(), one.begin(), one.end());
      }
    }
    EXPECT_TRUE(closeTo(got, expected, {4e-6, 1e-30}));
  }
}

TEST_P(AttentionTest, ChunksAndPagesDoNotChangeABit) {
  Random random(2);
  for (const Case &c : kCases) {
    SCOPED_TRACE(c.reason);
    const int64_t tokens = 150;
    const Inputs in(random, c.heads, tokens);
    Machine machine(level(), format(), c.heads, c.pageSize, c.window,
                    c.softcap);
    const std::vector<float> whole = chunk(machine, in, 0, tokens);
    for (int64_t size : {1, 7, 33, 64}) {
      for (int64_t pageSize : {1, 4, 16, 64}) {
        Machine other(level(), format(), c.heads, pageSize, c.window,
                      c.softcap);
        EXPECT_TRUE(sameBits(byChunks(other, in, tokens, size), whole))
            << "chunks of " << size << ", pages of " << pageSize;
      }
    }
  }
}

TEST_P(AttentionTest, RowsOfOtherSequencesAndDeadRowsDoNotChangeABit) {
  Random random(3);
  const Heads heads = {4, 2, 32, 48};
  const int64_t tokens = 90;
  const Inputs in(random, heads, tokens), other(random, heads, tokens);
  Machine machine(level(), format(), heads, 16);
  const std::vector<float> alone = chunk(machine, in, 0, tokens);
  // The same rows, one of the other sequence and a dead one after each.
  Machine crowd(level(), format(), heads, 16);
  std::vector<Row> rows;
  std::vector<float> query, key, value;
  for (int64_t p = 0; p < tokens; ++p) {
    for (int kind = 0; kind < 3; ++kind) {
      rows.push_back(crowd.plain(kind == 1 ? 1 : 0, static_cast<int32_t>(p)));
      if (kind == 2) {
        rows.back() = {0, 0, 0, -1};
      }
      const Inputs &from = kind == 0 ? in : other;
      addRow(query, from.query, heads.heads * heads.keyDim, p);
      addRow(key, from.key, heads.kvHeads * heads.keyDim, p);
      addRow(value, from.value, heads.kvHeads * heads.valueDim, p);
    }
  }
  const std::vector<float> mixed = crowd.step(rows, query, key, value);
  const int64_t width = heads.heads * heads.valueDim;
  std::vector<float> mine, dead;
  for (int64_t p = 0; p < tokens; ++p) {
    addRow(mine, mixed, width, 3 * p);
    addRow(dead, mixed, width, 3 * p + 2);
  }
  EXPECT_TRUE(sameBits(mine, alone));
  EXPECT_TRUE(sameBits(dead, std::vector<float>(dead.size(), 0.0f)));
}

// A tree over 61 committed tokens, so that it crosses a block border:
//   61 - 62 - 63 - 64 (first branch)
//      \ 62'- 63'- 64'- 65' (second branch)
// Rows of both branches in one step have the bits of each branch decoded
// alone, token by token.
TEST_P(AttentionTest, RowsOfATreeHaveTheBitsOfEachBranchAlone) {
  Random random(4);
  const Heads heads = {4, 2, 32, 32};
  for (int64_t window : {0, 20}) {
    const int32_t committed = 61;
    const Inputs prompt(random, heads, committed);
    const Inputs tree(random, heads, 8);
    // Tree nodes in row order; parents before children.
    const std::vector<std::vector<int>> paths = {
        {0},       {0, 1},       {0, 4},       {0, 1, 2},
        {0, 4, 5}, {0, 1, 2, 3}, {0, 4, 5, 6}, {0, 4, 5, 6, 7}};
    Machine machine(level(), format(), heads, 16, window);
    chunk(machine, prompt, 0, committed);
    // Draft tokens get slots far from their positions.
    const auto slotOfNode = [&](int node) {
      return machine.cache.slotOf(0, 100 + 3 * node);
    };
    std::vector<Row> rows;
    std::vector<float> query, key, value;
    for (const std::vector<int> &path : paths) {
      const int node = path.back();
      Row row = {0, static_cast<int32_t>(committed + path.size() - 1),
                 committed, slotOfNode(node)};
      for (size_t i = 0; i + 1 < path.size(); ++i) {
        row.ancestors.push_back(slotOfNode(path[i]));
      }
      rows.push_back(row);
      addRow(query, tree.query, heads.heads * heads.keyDim, node);
      addRow(key, tree.key, heads.kvHeads * heads.keyDim, node);
      addRow(value, tree.value, heads.kvHeads * heads.valueDim, node);
    }
    const std::vector<float> got = machine.step(rows, query, key, value);
    for (const std::vector<int> &branch :
         {std::vector<int>{0, 1, 2, 3}, std::vector<int>{0, 4, 5, 6, 7}}) {
      Machine alone(level(), format(), heads, 4, window);
      chunk(alone, prompt, 0, committed);
      for (size_t i = 0; i < branch.size(); ++i) {
        const int node = branch[i];
        const std::vector<float> expected = alone.step(
            {alone.plain(0, static_cast<int32_t>(committed + i))},
            cut(tree.query, heads.heads * heads.keyDim, node, 1),
            cut(tree.key, heads.kvHeads * heads.keyDim, node, 1),
            cut(tree.value, heads.kvHeads * heads.valueDim, node, 1));
        const size_t row = static_cast<size_t>(
            std::find(
                paths.begin(), paths.end(),
                std::vector<int>(branch.begin(), branch.begin() + i + 1)) -
            paths.begin());
        EXPECT_TRUE(sameBits(
            std::span(got).subspan(row * expected.size(), expected.size()),
            expected))
            << "node " << node << ", window " << window;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionTest,
                         testing::Combine(testing::ValuesIn(testedLevels()),
                                          testing::Values("f32", "f16",
                                                          "bf16")),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_" +
                                  std::get<1>(info.param);
                         });

} // namespace
} // namespace quire::test
