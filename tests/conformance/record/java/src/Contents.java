import com.fasterxml.jackson.databind.JsonNode;
import com.google.adk.events.Event;
import com.google.adk.events.EventActions;
import com.google.adk.models.LlmRequest;
import com.google.genai.types.Content;
import com.google.genai.types.FunctionCall;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.Part;
import java.util.List;
import java.util.Map;

/** Between the SDK's contents, requests and events and the JSON of cases and traces. */
final class Contents {
  private static final List<String> SETTINGS =
      List.of(
          "temperature",
          "max_output_tokens",
          "top_p",
          "stop_sequences",
          "response_schema",
          "response_mime_type");

  private Contents() {}

  static Content of(String role, List<Part> parts) {
    return Content.builder().role(role).parts(parts).build();
  }

  static Part part(JsonNode data) {
    if (data.has("function_call")) {
      JsonNode call = data.get("function_call");
      return Part.fromFunctionCall(call.get("name").asText(), Json.map(call.get("args")));
    }
    if (data.has("executable_code") || data.has("code_execution_result")) {
      return Part.fromJson(Json.camelKeys(data));
    }
    Part.Builder part = Part.builder();
    Json.ifPresent(data, "text", text -> part.text(text.asText()));
    if (data.path("thought").asBoolean()) {
      part.thought(true);
    }
    return part.build();
  }

  private static Object json(Part part) {
    if (part.functionCall().isPresent()) {
      FunctionCall call = part.functionCall().get();
      Object args = Json.plain(call.args().orElse(Map.of()));
      return Json.object(
          "function_call", Json.object("name", call.name().orElse(null), "args", args));
    }
    if (part.functionResponse().isPresent()) {
      FunctionResponse answer = part.functionResponse().get();
      Object response = Json.plain(answer.response().orElse(Map.of()));
      return Json.object(
          "function_response", Json.object("name", answer.name().orElse(null), "response", response));
    }
    if (part.executableCode().isPresent()) {
      return Json.object("executable_code", Json.read(part.executableCode().get().toJson()));
    }
    if (part.codeExecutionResult().isPresent()) {
      return Json.object(
          "code_execution_result", Json.read(part.codeExecutionResult().get().toJson()));
    }
    if (part.text().isEmpty()) {
      return Json.read(part.toJson());
    }
    Map<String, Object> text = Json.object("text", part.text().get());
    if (part.thought().orElse(false)) {
      text.put("thought", true);
    }
    return text;
  }

  private static Object json(Content content) {
    List<Object> parts = content.parts().orElse(List.of()).stream().map(Contents::json).toList();
    return Json.object("role", content.role().orElse(null), "parts", parts);
  }

  static Object json(String agent, LlmRequest request) {
    JsonNode sent = Json.read(request.config().orElseThrow().toJson());
    Map<String, Object> config = Json.object();
    for (String name : SETTINGS) {
      Json.ifPresent(sent, Json.camel(name), value -> config.put(name, Json.value(value)));
    }
    Map<String, Object> declarations = Json.object();
    for (JsonNode list : sent.path("tools").findValues("functionDeclarations")) {
      list.forEach(tool -> declarations.put(tool.get("name").asText(), Json.map(tool)));
    }
    List<String> system = request.getSystemInstructions();
    return Json.object(
        "agent", agent,
        "system_instruction", system.size() > 1 ? system : system.stream().findFirst().orElse(null),
        "contents", request.contents().stream().map(Contents::json).toList(),
        "tools", request.tools().keySet().stream().sorted().toList(),
        "config", config,
        "declarations", declarations);
  }

  static Map<String, Object> json(Event event) {
    EventActions done = event.actions();
    Map<String, Object> actions = Json.object();
    done.escalate().ifPresent(value -> actions.put("escalate", value));
    done.skipSummarization().ifPresent(value -> actions.put("skip_summarization", value));
    done.transferToAgent().ifPresent(value -> actions.put("transfer_to_agent", value));
    if (done.endOfAgent()) {
      actions.put("end_of_agent", true);
    }
    Map<String, Object> made =
        Json.object(
            "author", event.author(),
            "content", event.content().map(Contents::json).orElse(null),
            "state_delta", Json.plain(done.stateDelta()),
            "final", event.finalResponse(),
            "actions", actions);
    event.branch().ifPresent(branch -> made.put("branch", branch));
    if (event.hasPendingLongRunningToolCall()) {
      made.put("long_running", event.longRunningToolIds().orElseThrow().size());
    }
    return made;
  }
}
