import com.google.adk.tools.Annotations.Schema;
import com.google.adk.tools.FunctionTool;
import com.google.adk.tools.LongRunningFunctionTool;
import com.google.adk.tools.ToolContext;
import com.google.genai.types.Part;
import io.reactivex.rxjava3.core.Single;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tools that a case may name. */
public final class Tools {
  private Tools() {}

  static FunctionTool named(String name) {
    String method = Json.camel(name);
    return name.startsWith("ask")
        ? LongRunningFunctionTool.create(Tools.class, method)
        : FunctionTool.create(Tools.class, method);
  }

  @Schema(name = "read_state", description = "Read a value from session state by key.")
  public static Map<String, Object> readState(
      @Schema(name = "key") String key, @Schema(name = "toolContext") ToolContext toolContext) {
    Object value = toolContext.state().get(key);
    return Map.of("value", value != null ? value.toString() : "");
  }

  @Schema(name = "write_state", description = "Write a value to session state.")
  public static Map<String, Object> writeState(
      @Schema(name = "key") String key,
      @Schema(name = "value") String value,
      @Schema(name = "toolContext") ToolContext toolContext) {
    toolContext.state().put(key, value);
    return Map.of("ok", true);
  }

  @Schema(name = "echo", description = "Echo the text.")
  public static Map<String, Object> echo(@Schema(name = "text") String text) {
    return Map.of("echo", text);
  }

  @Schema(name = "exit_loop", description = "Leave the loop.")
  public static void exitLoop(@Schema(name = "toolContext") ToolContext toolContext) {
    toolContext.actions().setEscalate(true);
  }

  @Schema(name = "finish", description = "Finish with a result.")
  public static Map<String, Object> finish(
      @Schema(name = "text") String text, @Schema(name = "toolContext") ToolContext toolContext) {
    toolContext.actions().setSkipSummarization(true);
    return Map.of("result", text);
  }

  @Schema(name = "ask", description = "Ask a person.")
  public static Map<String, Object> ask(@Schema(name = "question") String question) {
    return Map.of("status", "pending");
  }

  @Schema(name = "ask_none", description = "Ask a person later.")
  public static void askNone(@Schema(name = "question") String question) {}

  @Schema(name = "fail", description = "Fail.")
  public static Map<String, Object> fail(@Schema(name = "text") String text) {
    throw new IllegalStateException("tool failed: " + text);
  }

  @Schema(name = "typed", description = "Typed arguments.")
  public static Map<String, Object> typed(
      @Schema(name = "n") int n,
      @Schema(name = "x", optional = true) Double x,
      @Schema(name = "flag", optional = true) Boolean flag,
      @Schema(name = "items") List<String> items,
      @Schema(name = "opts") Map<String, Object> opts) {
    Map<String, Object> given = new LinkedHashMap<>(); // a Map.of has an order of its own in each run
    given.put("n", n);
    given.put("x", x != null ? x : 1.5);
    given.put("flag", flag != null && flag);
    given.put("items", items);
    given.put("opts", opts);
    return given;
  }

  @Schema(name = "save_note", description = "Save a note.")
  public static Single<Map<String, Object>> saveNote(
      @Schema(name = "name") String name,
      @Schema(name = "text") String text,
      @Schema(name = "toolContext") ToolContext toolContext) {
    return toolContext.saveArtifact(name, Part.fromText(text)).toSingleDefault(Map.of("ok", true));
  }
}
