#include "frontends/formats/MappedFile.h"
#include "tests/support/TemporaryDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <sys/stat.h>

using namespace quire;
using testing::HasSubstr;

namespace {

std::string messageOf(const absl::Status &status) {
  return std::string(status.message());
}

TEST(MappedFile, HoldsTheBytesAndMoves) {
  test::TemporaryDirectory directory;
  auto file = MappedFile::open(directory.write("a", "hello"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->text(), "hello");
  const std::byte *address = file->bytes().data();
  MappedFile moved = *std::move(file);
  EXPECT_EQ(moved.bytes().data(), address);
  EXPECT_EQ(moved.text(), "hello");
}

TEST(MappedFile, EmptyFileIsEmpty) {
  test::TemporaryDirectory directory;
  auto file = MappedFile::open(directory.write("a", ""));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->size(), 0u);
}

TEST(MappedFile, RefusesWhatIsNoRegularFile) {
  test::TemporaryDirectory directory;
  auto missing = MappedFile::open(directory.file("none"));
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(messageOf(missing.status()), HasSubstr(directory.file("none")));
  EXPECT_THAT(messageOf(MappedFile::open(directory.path()).status()),
              HasSubstr("is a directory"));
  // Nobody writes to the pipe; opening it must not wait for somebody.
  std::string pipe = directory.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(messageOf(MappedFile::open(pipe).status()),
              HasSubstr("special file"));
}

} // namespace
