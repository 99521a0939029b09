import com.fasterxml.jackson.databind.JsonNode;
import com.google.adk.agents.CallbackContext;
import com.google.adk.models.LlmResponse;
import com.google.adk.tools.BaseTool;
import com.google.genai.types.Content;
import com.google.genai.types.Part;
import io.reactivex.rxjava3.core.Maybe;
import java.util.List;
import java.util.Map;

/** What a case's callbacks do. */
final class Callbacks {
  private Callbacks() {}

  /** Sets the state, and returns the text that stands for the agent's, where the case has one. */
  static Maybe<Content> agent(CallbackContext context, JsonNode spec) {
    return set(context, spec.path("set"), spec.path("return"));
  }

  private static Maybe<Content> set(CallbackContext context, JsonNode values, JsonNode text) {
    Json.map(values).forEach(context.state()::put);
    return text.isTextual()
        ? Maybe.just(Contents.of("model", List.of(Part.fromText(text.asText()))))
        : Maybe.empty();
  }

  static Maybe<Content> guard(CallbackContext context, JsonNode spec) {
    String text = String.valueOf(context.state().get(spec.get("key").asText()));
    return hasFields(text, spec.get("require"))
        ? set(context, spec.path("ok_set"), spec.path("none"))
        : set(context, spec.path("fail_set"), spec.path("return"));
  }

  private static boolean hasFields(String text, JsonNode fields) {
    JsonNode value;
    try {
      value = Json.read(text);
    } catch (IllegalArgumentException notJson) {
      return false;
    }
    for (JsonNode field : fields) {
      if (!value.hasNonNull(field.asText())) {
        return false;
      }
    }
    return true;
  }

  /** On every call of the model, or on the one that {@code when} counts from 0. */
  static Maybe<LlmResponse> model(CallbackContext context, JsonNode spec, int call) {
    return spec.path("when").asInt(call) == call
        ? agent(context, spec).map(content -> LlmResponse.builder().content(content).build())
        : Maybe.empty();
  }

  static Maybe<Map<String, Object>> tool(CallbackContext context, BaseTool tool, JsonNode spec) {
    if (!tool.name().equals(spec.path("tool").asText(tool.name()))) {
      return Maybe.empty();
    }
    Json.map(spec.path("set")).forEach(context.state()::put);
    return spec.hasNonNull("return") ? Maybe.just(Json.map(spec.get("return"))) : Maybe.empty();
  }
}
