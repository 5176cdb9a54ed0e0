// The templates of real models against Python's Jinja2. They are not part of
// this tree: the test runs where they and a Python with jinja2 are.

#include "ChatTemplateCases.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace quire {

static std::string environment(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? value : otherwise;
}

TEST(SharedTemplates, RenderAsJinja2Does) {
  std::filesystem::path templates =
      environment("QUIRE_SHARED", QUIRE_DEFAULT_SHARED) + "/templates";
  if (!std::filesystem::is_directory(templates)) {
    GTEST_SKIP() << "no templates at " << templates;
  }
  std::string python = environment("QUIRE_PYTHON", "python3");
  if (std::system((python + " -c 'import jinja2' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << python << " has no jinja2 (set QUIRE_PYTHON)";
  }
  std::string out = testing::TempDir() + "shared_templates.json";
  std::string command = python + " " QUIRE_TEST_DIR "/render_reference.py " +
                        out + " " + templates.string() + "/*.jinja";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  auto cases = nlohmann::ordered_json::parse(readFile(out));
  ASSERT_GT(cases.size(), 0u);
  for (const auto &each : cases) {
    std::string expected;
    if (each.contains("text")) {
      expected = each["text"].get<std::string>();
    } else {
      expected = each["at"] == "load" ? "load error: " : "error: ";
      expected += each["error"].get<std::string>();
    }
    std::string rendered = renderCase(
        readFile(each["template"].get<std::string>()), each["inputs"]);
    if (each.value("kind", "") == "RecursionError") {
      expected = "error: the template recursed too deeply";
    }
    EXPECT_EQ(rendered, expected) << each["name"];
  }
}

} // namespace quire
