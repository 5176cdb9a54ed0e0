// Attention over a cache of latents and rotary keys, in both forms, against
// one reference in double precision; forms and their rows.

#include "tests/codegen/cpu/kernels/PagedCache.h"
#include "tests/codegen/cpu/kernels/TestStack.h"

#include "tests/support/Compare.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

namespace quire::test {
namespace {

struct Shape {
  int64_t heads, content, latent, rotary, value;
  const char *reason;
};

/// One sequence's tokens, queries in both forms.
struct Tokens {
  std::vector<float> latent, rotary; // what the cache gets
  std::vector<float> queryContent, queryLatent, queryRotary;
  Tokens(Random &random, const Shape &s, int64_t count)
      : latent(randomFloats(random, count * s.latent)),
        rotary(randomFloats(random, count * s.rotary)),
        queryContent(randomFloats(random, count * s.heads * s.content)),
        queryLatent(randomFloats(random, count * s.heads * s.latent)),
        queryRotary(randomFloats(random, count * s.heads * s.rotary)) {}
  Tokens(const Tokens &all, const Shape &s, int64_t from, int64_t count)
      : latent(cut(all.latent, s.latent, from, count)),
        rotary(cut(all.rotary, s.rotary, from, count)),
        queryContent(cut(all.queryContent, s.heads * s.content, from, count)),
        queryLatent(cut(all.queryLatent, s.heads * s.latent, from, count)),
        queryRotary(cut(all.queryRotary, s.heads * s.rotary, from, count)) {}

  void add(const Tokens &from, const Shape &s, int64_t at) {
    addRow(latent, from.latent, s.latent, at);
    addRow(rotary, from.rotary, s.rotary, at);
    addRow(queryContent, from.queryContent, s.heads * s.content, at);
    addRow(queryLatent, from.queryLatent, s.heads * s.latent, at);
    addRow(queryRotary, from.queryRotary, s.heads * s.rotary, at);
  }
};

/// The weights of the materialised form.
struct Raising {
  TestStack key, value;
  double deviation; // of a raised key's elements
  Raising(Random &random, NumberFormat keyFormat, NumberFormat valueFormat,
          const Shape &s)
      : key(keyFormat, s.heads, s.content, s.latent, random),
        value(valueFormat, s.heads, s.value, s.latent, random) {
    double squares = 0.0;
    for (float w : key[0].values) {
      squares += static_cast<double>(w) * w;
    }
    deviation = std::sqrt(squares / static_cast<double>(s.content));
  }
};

class Machine {
public:
  /// `raising` null: the latent form.
  Machine(std::string level, const std::string &format, const Shape &shape,
          int64_t pageSize, const Raising *raising)
      : cache(format, 1, shape.latent, shape.rotary, pageSize),
        level(std::move(level)), shape(shape), raising(raising) {}

  /// [rows of the set, heads, value or latent]
  std::vector<float> step(const std::vector<Row> &rows, const Tokens &in,
                          int64_t rowSet = cpu::kBatchRows) {
    PagedStep step(cache, rows);
    step.append(level, in.latent, in.rotary);
    return raising ? materialised(step, in, rowSet) : latent(step, in, rowSet);
  }

  std::vector<float> chunk(const Tokens &all, int64_t from, int64_t count) {
    std::vector<Row> rows;
    for (int64_t i = 0; i < count; ++i) {
      rows.push_back(cache.plain(0, static_cast<int32_t>(from + i)));
    }
    return step(rows, Tokens(all, shape, from, count));
  }

  std::vector<float> byChunks(const Tokens &all, int64_t tokens, int64_t size) {
    std::vector<float> out;
    for (int64_t from = 0; from < tokens; from += size) {
      const std::vector<float> part =
          chunk(all, from, std::min(size, tokens - from));
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }

  int64_t width() const {
    return shape.heads * (raising ? shape.value : shape.latent);
  }

  /// So that scores are about one.
  double scale() const {
    const double content = raising
                               ? raising->deviation * std::sqrt(shape.content)
                               : std::sqrt(shape.latent);
    return 1 / (content + std::sqrt(shape.rotary));
  }

  /// Row `position` of sequence 0, head `head`.
  std::vector<Expected> reference(const Tokens &all, int64_t position,
                                  int64_t head) const {
    std::vector<double> scores;
    for (int64_t p = 0; p <= position; ++p) {
      scores.push_back(scale() * dot(all, position, head, p));
    }
    const double highest = *std::max_element(scores.begin(), scores.end());
    double total = 0.0;
    for (double &s : scores) {
      s = std::exp(s - highest);
      total += s;
    }
    std::vector<Expected> out;
    for (int64_t d = 0; d < width() / shape.heads; ++d) {
      Expected e = {0.0, 0.0};
      for (int64_t p = 0; p <= position; ++p) {
        const Expected v = valueAt(all, head, p, d);
        const double weight = scores[static_cast<size_t>(p)] / total;
        e.value += weight * v.value;
        e.magnitude += weight * v.magnitude;
      }
      out.push_back(e);
    }
    return out;
  }

  PagedCache cache;

private:
  std::vector<float> latent(PagedStep &step, const Tokens &in,
                            int64_t rowSet) const {
    Aligned<float> out(rowsOf(step, rowSet) * width());
    const cpu::LatentAttentionArgs args = {&step.base.step,
                                           &step.layer,
                                           in.queryLatent.data(),
                                           in.queryRotary.data(),
                                           out.data(),
                                           1,
                                           shape.heads,
                                           shape.latent,
                                           shape.rotary,
                                           cache.page.pageSize,
                                           cache.page.layers,
                                           scale(),
                                           rowSet};
    runKernel(level, "latent_attention_" + cache.format, &args,
              layout::latentAttentionScratchBytes(shape.latent, shape.rotary));
    return {out.data(), out.data() + out.size()};
  }

  std::vector<float> materialised(PagedStep &step, const Tokens &in,
                                  int64_t rowSet) const {
    const NumberFormat keyFormat = raising->key[0].format;
    const NumberFormat valueFormat = raising->value[0].format;
    Aligned<float> out(rowsOf(step, rowSet) * width());
    const cpu::MaterialisedAttentionArgs args = {
        &step.base.step,
        &step.layer,
        in.queryContent.data(),
        in.queryRotary.data(),
        raising->key.packed.data(),
        raising->value.packed.data(),
        out.data(),
        1,
        shape.heads,
        shape.content,
        shape.latent,
        shape.rotary,
        shape.value,
        cache.page.pageSize,
        cache.page.layers,
        cache.format == "f32"   ? cpu::kCacheF32
        : cache.format == "f16" ? cpu::kCacheF16
                                : cpu::kCacheBF16,
        static_cast<int64_t>(valueFormat),
        scale(),
        rowSet};
    runKernel(
        level,
        "materialised_attention_" + std::string(numberFormatName(keyFormat)),
        &args,
        layout::materialisedAttentionScratchBytes(shape.content, shape.latent,
                                                  shape.rotary, shape.value));
    return {out.data(), out.data() + out.size()};
  }

  static int64_t rowsOf(const PagedStep &step, int64_t rowSet) {
    const QuireBatch &batch = step.base.batch;
    return rowSet == cpu::kBatchRows
               ? batch.rows
               : batch.formRows[rowSet - cpu::kLatentRows];
  }

  double latentAt(const Tokens &all, int64_t p, int64_t i) const {
    return cache.rounded(all.latent[static_cast<size_t>(p * shape.latent + i)]);
  }

  double dot(const Tokens &all, int64_t row, int64_t head, int64_t p) const {
    const int64_t query = row * shape.heads + head;
    double sum = 0.0;
    for (int64_t i = 0; i < shape.latent; ++i) {
      sum += latentAt(all, p, i) * latentQuery(all, query, head, i);
    }
    for (int64_t i = 0; i < shape.rotary; ++i) {
      sum +=
          static_cast<double>(
              all.queryRotary[static_cast<size_t>(query * shape.rotary + i)]) *
          cache.rounded(all.rotary[static_cast<size_t>(p * shape.rotary + i)]);
    }
    return sum;
  }

  /// What multiplies latent element i: given, or the content query by way of
  /// the key matrix.
  double latentQuery(const Tokens &all, int64_t query, int64_t head,
                     int64_t i) const {
    if (!raising) {
      return all.queryLatent[static_cast<size_t>(query * shape.latent + i)];
    }
    double sum = 0.0;
    for (int64_t c = 0; c < shape.content; ++c) {
      sum +=
          static_cast<double>(all.queryContent[static_cast<size_t>(
              query * shape.content + c)]) *
          raising->key[head].values[static_cast<size_t>(c * shape.latent + i)];
    }
    return sum;
  }

  Expected valueAt(const Tokens &all, int64_t head, int64_t p,
                   int64_t d) const {
    if (!raising) {
      const double v = latentAt(all, p, d);
      return {v, std::fabs(v)};
    }
    Expected e = {0.0, 0.0};
    for (int64_t i = 0; i < shape.latent; ++i) {
      const double term =
          latentAt(all, p, i) *
          raising->value[head]
              .values[static_cast<size_t>(d * shape.latent + i)];
      e.value += term;
      e.magnitude += std::fabs(term);
    }
    return e;
  }

  std::string level;
  Shape shape;
  const Raising *raising;
};

const Shape kShapes[] = {
    {16, 32, 128, 64, 48, "two head groups"},
    {4, 8, 8, 4, 6, "the tiny models' sizes"},
    {9, 20, 100, 6, 70, "odd sizes, a last head alone"},
    {1, 1, 1, 1, 1, "the least there is"},
};

enum class Form { Latent, Materialised };

class LatentAttentionTest : public testing::TestWithParam<
                                std::tuple<std::string, const char *, Form>> {
protected:
  std::string level() const { return std::get<0>(GetParam()); }
  std::string format() const { return std::get<1>(GetParam()); }

  Machine machine(const Shape &shape, int64_t pageSize,
                  const Raising &raising) const {
    const bool latent = std::get<2>(GetParam()) == Form::Latent;
    return {level(), format(), shape, pageSize, latent ? nullptr : &raising};
  }
  static Raising floats(Random &random, const Shape &shape) {
    return {random, NumberFormat::F32, NumberFormat::F32, shape};
  }
};

void expectReference(Machine &machine, const Shape &shape, const Tokens &in,
                     int64_t tokens) {
  const std::vector<float> got = machine.chunk(in, 0, tokens);
  std::vector<float> some;
  std::vector<Expected> expected;
  for (int64_t p = 0; p < tokens; p = p < 20 ? p + 1 : p + 13) {
    addRow(some, got, machine.width(), p);
    for (int64_t h = 0; h < shape.heads; ++h) {
      const std::vector<Expected> one = machine.reference(in, p, h);
      expected.insert(expected.end(), one.begin(), one.end());
    }
  }
  EXPECT_TRUE(closeTo(some, expected, {4e-6, 1e-30}));
}

TEST_P(LatentAttentionTest, IsSoftmaxOverWhatTheCacheHolds) {
  Random random(1);
  for (const Shape &shape : kShapes) {
    SCOPED_TRACE(shape.reason);
    const int64_t tokens = 150;
    const Raising raising = floats(random, shape);
    const Tokens in(random, shape, tokens);
    Machine machine = this->machine(shape, 16, raising);
    expectReference(machine, shape, in, tokens);
  }
}

TEST_P(LatentAttentionTest, ChunksAndPagesDoNotChangeABit) {
  Random random(2);
  for (const Shape &shape : kShapes) {
    SCOPED_TRACE(shape.reason);
    const int64_t tokens = 150;
    const Raising raising = floats(random, shape);
    const Tokens in(random, shape, tokens);
    const std::vector<float> whole =
        machine(shape, 16, raising).chunk(in, 0, tokens);
    for (auto [size, pageSize] :
         {std::pair{1, 1}, {7, 64}, {33, 16}, {64, 1}, {150, 64}}) {
      Machine other = machine(shape, pageSize, raising);
      EXPECT_TRUE(sameBits(other.byChunks(in, tokens, size), whole))
          << "chunks of " << size << ", pages of " << pageSize;
    }
  }
}

TEST_P(LatentAttentionTest, RowsOfOtherSequencesAndDeadRowsDoNotChangeABit) {
  Random random(3);
  const Shape shape = kShapes[2];
  const int64_t tokens = 90;
  const Raising raising = floats(random, shape);
  const Tokens in(random, shape, tokens), other(random, shape, tokens);
  const std::vector<float> alone =
      machine(shape, 16, raising).chunk(in, 0, tokens);
  // The same rows, one of the other sequence and a dead one after each.
  Machine crowd = machine(shape, 16, raising);
  std::vector<Row> rows;
  Tokens inputs(random, shape, 0);
  for (int64_t p = 0; p < tokens; ++p) {
    for (int kind = 0; kind < 3; ++kind) {
      rows.push_back(kind == 2
                         ? Row{0, 0, 0, -1}
                         : crowd.cache.plain(kind, static_cast<int32_t>(p)));
      inputs.add(kind == 0 ? in : other, shape, p);
    }
  }
  const std::vector<float> mixed = crowd.step(rows, inputs);
  std::vector<float> mine, dead;
  for (int64_t p = 0; p < tokens; ++p) {
    addRow(mine, mixed, crowd.width(), 3 * p);
    addRow(dead, mixed, crowd.width(), 3 * p + 2);
  }
  EXPECT_TRUE(sameBits(mine, alone));
  EXPECT_TRUE(sameBits(dead, std::vector<float>(dead.size(), 0.0f)));
}

// Over 62 committed tokens, so that it crosses a block border:
//   62 - 63 - 64
//      \ 63'- 64'
TEST_P(LatentAttentionTest, RowsOfATreeHaveTheBitsOfEachBranchAlone) {
  Random random(4);
  const Shape shape = kShapes[0];
  const int32_t committed = 62;
  const Raising raising = floats(random, shape);
  const Tokens prompt(random, shape, committed), tree(random, shape, 5);
  const std::vector<std::vector<int>> paths = {
      {0}, {0, 1}, {0, 3}, {0, 1, 2}, {0, 3, 4}};
  Machine all = machine(shape, 16, raising);
  all.chunk(prompt, 0, committed);
  std::vector<Row> rows;
  Tokens inputs(random, shape, 0);
  for (const std::vector<int> &path : paths) {
    const auto slotOfNode = [&](int node) {
      return all.cache.slotOf(0, 100 + 3 * node);
    };
    Row row = {0, static_cast<int32_t>(committed + path.size() - 1), committed,
               slotOfNode(path.back())};
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      row.ancestors.push_back(slotOfNode(path[i]));
    }
    rows.push_back(row);
    inputs.add(tree, shape, path.back());
  }
  const std::vector<float> got = all.step(rows, inputs);
  for (const std::vector<int> &branch : {paths[3], paths[4]}) {
    Machine alone = machine(shape, 1, raising);
    alone.chunk(prompt, 0, committed);
    for (size_t i = 0; i < branch.size(); ++i) {
      const std::vector<float> expected = alone.step(
          {alone.cache.plain(0, static_cast<int32_t>(committed + i))},
          Tokens(tree, shape, branch[i], 1));
      const int64_t row =
          std::find(paths.begin(), paths.end(),
                    std::vector<int>(branch.begin(), branch.begin() + i + 1)) -
          paths.begin();
      EXPECT_TRUE(sameBits(cut(got, alone.width(), row, 1), expected))
          << "node " << branch[i];
    }
  }
}

// Chunks of two sequences whose rows take both forms: the rows of one form
// have the bits of a step that has no other rows.
TEST_P(LatentAttentionTest, RowsOfAFormHaveTheBitsOfAllRows) {
  Random random(5);
  const Shape shape = kShapes[1];
  const int64_t tokens = 100;
  const Raising raising = floats(random, shape);
  const Tokens in(random, shape, tokens);
  for (QuireForm form : {kQuireLatent, kQuireMaterialised}) {
    Machine mixed = machine(shape, 16, raising);
    std::vector<Row> rows;
    Tokens inputs(random, shape, 0), mine(random, shape, 0);
    std::vector<int64_t> kept; // rows of the form, in the batch
    for (int32_t sequence : {0, 1}) {
      for (int32_t p = 0; p < tokens; ++p) {
        const int32_t run = p / (sequence == 0 ? 64 : 3);
        rows.push_back(mixed.cache.plain(sequence, p));
        rows.back().form = run % 2 == 0 ? kQuireMaterialised : kQuireLatent;
        inputs.add(in, shape, p);
        if (rows.back().form == form) {
          kept.push_back(static_cast<int64_t>(rows.size()) - 1);
          mine.add(in, shape, p);
        }
      }
    }
    const std::vector<float> whole = mixed.step(rows, inputs);
    std::vector<float> expected;
    for (int64_t row : kept) {
      addRow(expected, whole, mixed.width(), row);
    }
    // All tokens are in the cache by now; only the form's queries are given.
    mine.latent = inputs.latent;
    mine.rotary = inputs.rotary;
    EXPECT_TRUE(sameBits(
        mixed.step(rows, mine, cpu::kLatentRows + int64_t{form}), expected))
        << "form " << form;
  }
}

std::string
nameOf(const testing::TestParamInfo<std::tuple<std::string, const char *, Form>>
           &info) {
  const auto &[level, format, form] = info.param;
  return level + "_" + format +
         (form == Form::Latent ? "_latent" : "_materialised");
}

INSTANTIATE_TEST_SUITE_P(Kernels, LatentAttentionTest,
                         testing::Combine(testing::ValuesIn(testedLevels()),
                                          testing::Values("f32", "f16", "bf16"),
                                          testing::Values(Form::Latent,
                                                          Form::Materialised)),
                         nameOf);

class MaterialisedWeightsTest
    : public testing::TestWithParam<std::tuple<std::string, NumberFormat>> {};

TEST_P(MaterialisedWeightsTest, AreRaisedInAnyFormat) {
  Random random(6);
  const auto [level, format] = GetParam();
  const bool wide = numberFormatInfo(format).blockValues == 256;
  const Shape shape = {3, 20, wide ? 512 : 96, 8, 70, "ragged outputs"};
  const int64_t tokens = 70;
  for (bool isKey : {true, false}) {
    const Raising raising(random, isKey ? format : NumberFormat::F32,
                          isKey ? NumberFormat::F32 : format, shape);
    const Tokens in(random, shape, tokens);
    Machine machine(level, "f32", shape, 16, &raising);
    expectReference(machine, shape, in, tokens);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, MaterialisedWeightsTest,
                         testing::Combine(testing::ValuesIn(testedLevels()),
                                          testing::ValuesIn(weightFormats())),
                         [](const auto &info) { return caseName(info.param); });

class FormRowsTest : public testing::TestWithParam<std::string> {};

TEST_P(FormRowsTest, SelectAndMergeAreInverse) {
  Random random(7);
  const int64_t features = 37;
  for (int64_t count : {1, 5, 40}) {
    for (int pattern = 0; pattern < 4; ++pattern) {
      RowsStep step(count);
      std::vector<int32_t> lists[2];
      for (int32_t row = 0; row < count; ++row) {
        const bool materialised = pattern == 0   ? false
                                  : pattern == 1 ? true
                                                 : row % pattern == 0;
        lists[materialised].push_back(row);
      }
      std::vector<std::vector<float>> selected;
      const std::vector<float> x = randomFloats(random, count * features);
      for (int form : {0, 1}) {
        step.batch.formRows[form] = static_cast<int32_t>(lists[form].size());
        step.batch.formRow[form] = lists[form].data();
        Aligned<float> out(step.batch.formRows[form] * features);
        const cpu::SelectFormArgs args = {&step.step, x.data(), out.data(),
                                          features, cpu::kLatentRows + form};
        runKernel(GetParam(), "select_form", &args, 0);
        std::vector<float> expected;
        for (int32_t row : lists[form]) {
          addRow(expected, x, features, row);
        }
        selected.emplace_back(out.data(), out.data() + out.size());
        EXPECT_TRUE(sameBits(selected.back(), expected));
      }
      Aligned<float> merged(count * features);
      const cpu::MergeFormsArgs args = {&step.step, selected[1].data(),
                                        selected[0].data(), merged.data(),
                                        features};
      runKernel(GetParam(), "merge_forms", &args, 0);
      EXPECT_TRUE(sameBits(std::span(merged.data(), merged.size()), x));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, FormRowsTest,
                         testing::ValuesIn(testedLevels()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace quire::test
