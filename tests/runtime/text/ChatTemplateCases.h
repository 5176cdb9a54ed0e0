// Reading test cases of chat templates: the inputs of a rendering as JSON.

#ifndef QUIRE_TESTS_RUNTIME_TEXT_CHATTEMPLATECASES_H
#define QUIRE_TESTS_RUNTIME_TEXT_CHATTEMPLATECASES_H

#include "runtime/text/ChatTemplate.h"

#include <fstream>
#include <regex>
#include <sstream>

namespace quire {

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Saturday, 6 July 2024, 14:03:05: the time of render_reference.py.
inline std::tm testClock() {
  std::tm time{};
  time.tm_year = 124;
  time.tm_mon = 6;
  time.tm_mday = 6;
  time.tm_hour = 14;
  time.tm_min = 3;
  time.tm_sec = 5;
  time.tm_wday = 6;
  time.tm_yday = 187;
  return time;
}

inline ChatTemplate::Inputs makeInputs(const nlohmann::ordered_json &json) {
  ChatTemplate::Inputs inputs;
  inputs.addGenerationPrompt = json.value("add_generation_prompt", true);
  inputs.bosToken = json.value("bos_token", "");
  inputs.eosToken = json.value("eos_token", "");
  inputs.clock = testClock;
  for (const auto &[key, value] : json.items()) {
    if (key == "messages") {
      inputs.messages = value;
    } else if (key == "tools") {
      inputs.tools = value;
    } else if (key == "documents") {
      inputs.documents = value;
    } else {
      inputs.extra[key] = value;
    }
  }
  return inputs;
}

/// An error's own words, without where it happened.
inline std::string messageOf(const absl::Status &status) {
  static const std::regex place(
      "^(the chat template cannot be used: )?(line [0-9]+: )?");
  return std::regex_replace(std::string(status.message()), place, "",
                            std::regex_constants::format_first_only);
}

/// What a template makes of the inputs: the text, or "error: " and why.
inline std::string renderCase(const std::string &source,
                              const nlohmann::ordered_json &inputs) {
  absl::StatusOr<ChatTemplate> loaded = ChatTemplate::load(source);
  if (!loaded.ok()) {
    return "load error: " + messageOf(loaded.status());
  }
  absl::StatusOr<std::string> text = loaded->renderText(makeInputs(inputs));
  return text.ok() ? *text : "error: " + messageOf(text.status());
}

} // namespace quire

#endif
