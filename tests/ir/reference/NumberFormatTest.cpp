// The dialect's number formats and the file readers' are one list.

#include "frontends/formats/NumberFormat.h"
#include "ir/lm/Lm.h"

#include "gtest/gtest.h"

namespace quire {
namespace {

TEST(NumberFormat, DialectAndFilesAgree) {
  for (unsigned i = 0; i <= lm::getMaxEnumValForNumberFormat(); ++i) {
    auto format = lm::symbolizeNumberFormat(i);
    ASSERT_TRUE(format);
    std::string name = lm::stringifyNumberFormat(*format).str();
    auto stored = parseNumberFormat(name);
    ASSERT_TRUE(stored) << name;
    if (*stored == NumberFormat::Int8Row) {
      continue; // its block is the whole row, however wide
    }
    EXPECT_EQ(numberFormatInfo(*stored).blockValues, lm::blockValues(*format))
        << name;
  }
}

} // namespace
} // namespace quire
