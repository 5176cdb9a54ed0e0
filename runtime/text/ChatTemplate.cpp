#include "runtime/text/ChatTemplate.h"

#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/jinja/Json.h"
#include "runtime/text/jinja/Parser.h"

#include "absl/strings/str_cat.h"

namespace quire {

using jinja::Value;

struct ChatTemplate::Program {
  jinja::Block block;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Program> program)
    : program(std::move(program)) {}
ChatTemplate::ChatTemplate(ChatTemplate &&) noexcept = default;
ChatTemplate &ChatTemplate::operator=(ChatTemplate &&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

absl::StatusOr<ChatTemplate> ChatTemplate::load(std::string_view source) {
  absl::StatusOr<jinja::Block> block = jinja::parseTemplate(source);
  if (!block.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the chat template cannot be used: ", block.status().message()));
  }
  return ChatTemplate(std::make_unique<Program>(Program{*std::move(block)}));
}

static std::tm localNow() {
  std::time_t now = std::time(nullptr);
  std::tm result{};
  localtime_r(&now, &result);
  return result;
}

static std::map<std::string, Value>
makeVariables(jinja::Context &context, const ChatTemplate::Inputs &inputs) {
  std::map<std::string, Value> variables;
  if (inputs.extra.is_object()) {
    for (const auto &[name, value] : inputs.extra.items()) {
      variables[name] = jinja::fromJson(context, value, true);
    }
  }
  variables["messages"] = jinja::fromJson(context, inputs.messages, true);
  variables["tools"] = jinja::fromJson(context, inputs.tools, true);
  variables["documents"] = jinja::fromJson(context, inputs.documents, true);
  variables["add_generation_prompt"] = Value(inputs.addGenerationPrompt);
  variables["bos_token"] = Value::text(inputs.bosToken);
  variables["eos_token"] = Value::text(inputs.eosToken);
  return variables;
}

absl::StatusOr<std::vector<ChatTemplate::Segment>>
ChatTemplate::render(const Inputs &inputs) const {
  jinja::Context context{jinja::Limits()};
  context.clock = inputs.clock ? inputs.clock : localNow;
  jinja::Text text = jinja::Interpreter(context, makeVariables(context, inputs))
                         .render(program->block);
  if (context.failed()) {
    return context.status();
  }
  std::vector<Segment> segments;
  size_t begin = 0;
  for (const jinja::Text::Run &run : text.runs()) {
    segments.push_back(
        {text.str().substr(begin, run.end - begin), !run.fromData});
    begin = run.end;
  }
  return segments;
}

absl::StatusOr<std::string>
ChatTemplate::renderText(const Inputs &inputs) const {
  absl::StatusOr<std::vector<Segment>> segments = render(inputs);
  if (!segments.ok()) {
    return segments.status();
  }
  std::string text;
  for (const Segment &segment : *segments) {
    text += segment.text;
  }
  return text;
}

} // namespace quire
