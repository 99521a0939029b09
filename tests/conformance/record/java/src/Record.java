import com.fasterxml.jackson.databind.JsonNode;
import com.google.adk.agents.BaseAgent;
import com.google.adk.apps.App;
import com.google.adk.apps.ResumabilityConfig;
import com.google.adk.events.Event;
import com.google.adk.runner.InMemoryRunner;
import com.google.adk.runner.Runner;
import com.google.adk.sessions.Session;
import com.google.genai.types.Content;
import com.google.genai.types.FunctionCall;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.Part;
import io.reactivex.rxjava3.plugins.RxJavaPlugins;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** {@code Record CASES.jsonl} prints what the ADK for Java does with each case, one line a case. */
public final class Record {
  private static final String APP = "app";
  private static final String USER = "user-42";
  private static final int LONGEST_MESSAGE = 300;

  private final List<Object> requests = Collections.synchronizedList(new ArrayList<>());
  private final List<Object> events = Collections.synchronizedList(new ArrayList<>());
  private final List<FunctionCall> asked = new ArrayList<>();
  private final List<Object> errors = new ArrayList<>(); // one a turn, null without
  private final List<String> invocations = new ArrayList<>();
  private final boolean resumable;
  private Object state = Map.of();

  private Record(boolean resumable) {
    this.resumable = resumable;
  }

  private Object trace(JsonNode testCase) {
    try {
      play(testCase);
    } catch (Throwable refused) { // by the SDK: agents, a session, or an answer to no call
      errors.add(json(refused));
    }
    Map<String, Object> trace =
        Json.object(
            "id", testCase.get("id").asText(),
            "requests", requests,
            "events", events,
            "state", state,
            "error", errors.stream().filter(Objects::nonNull).findFirst().orElse(null));
    if (resumable) {
      trace.put("errors", errors);
    }
    return trace;
  }

  private Runner runner(BaseAgent root) {
    if (!resumable) {
      return new InMemoryRunner(root, APP);
    }
    ResumabilityConfig config = ResumabilityConfig.builder().resumable(true).build();
    App app = App.builder().name(APP).rootAgent(root).resumabilityConfig(config).build();
    return Runner.builder().app(app).build(); // its services are in memory by default
  }

  /** Plays the turns in one session; a case that is not resumable ends with its first error. */
  private void play(JsonNode testCase) {
    Runner runner = runner(Agents.build(testCase.get("root"), requests));
    Map<String, Object> start = Json.map(testCase.path("state"));
    String id =
        runner.sessionService().createSession(APP, USER, start, null).blockingGet().id();
    try {
      for (JsonNode turn : testCase.get("turns")) {
        Throwable failed = play(runner, id, message(turn));
        errors.add(failed == null ? null : json(failed));
        if (failed != null && !resumable) {
          return;
        }
      }
    } finally {
      Session end =
          runner.sessionService().getSession(APP, USER, id, Optional.empty()).blockingGet();
      state = Json.plain(end.state());
    }
  }

  /** One turn. A consumer that asks for events one by one would change what runs: this takes all. */
  private Throwable play(Runner runner, String id, Content message) {
    AtomicReference<Throwable> failed = new AtomicReference<>();
    runner
        .runAsync(USER, id, message)
        .doOnError(failed::set)
        .onErrorComplete()
        .blockingForEach(this::add);
    return failed.get();
  }

  private void add(Event event) {
    Map<String, Object> seen = Contents.json(event);
    if (resumable) {
      seen.put("invocation", number(event.invocationId()));
    }
    events.add(seen);
    Set<String> pending = event.longRunningToolIds().orElse(Set.of());
    for (FunctionCall call : event.functionCalls()) {
      if (pending.contains(call.id().orElse(""))) {
        asked.add(call);
      }
    }
  }

  /** The invocations of the events count from 0. */
  private int number(String invocation) {
    if (!invocations.contains(invocation)) {
      invocations.add(invocation);
    }
    return invocations.indexOf(invocation);
  }

  /** A turn's message; an answer names the call that it answers by its number in the case. */
  private Content message(JsonNode turn) {
    if (turn.isTextual()) {
      return Contents.of("user", List.of(Part.fromText(turn.asText())));
    }
    List<Part> parts = new ArrayList<>();
    Json.ifPresent(turn, "function_response", answer -> parts.add(part(answer)));
    Json.ifPresent(turn, "function_responses", all -> all.forEach(it -> parts.add(part(it))));
    return Contents.of("user", parts);
  }

  private Part part(JsonNode answer) {
    FunctionCall call = asked.get(answer.get("call").asInt());
    FunctionResponse response =
        FunctionResponse.builder()
            .id(call.id().orElseThrow())
            .name(call.name().orElseThrow())
            .response(Json.map(answer.get("response")))
            .build();
    return Part.builder().functionResponse(response).build();
  }

  private static Object json(Throwable error) {
    String message = error.getMessage();
    if (message != null) {
      String same = message.replaceAll("adk-[0-9a-f-]{36}", "ID"); // no two runs share a call's id
      message = same.substring(0, Math.min(same.length(), LONGEST_MESSAGE));
    }
    return Json.object("type", error.getClass().getSimpleName(), "message", message);
  }

  public static void main(String[] args) throws IOException {
    RxJavaPlugins.setErrorHandler(late -> {}); // of streams that had failed before
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line : Files.readString(Path.of(args[0])).split("\n")) {
      if (!line.isBlank()) {
        JsonNode testCase = Json.read(line);
        Record record = new Record(testCase.path("resumable").asBoolean());
        out.println(Json.write(record.trace(testCase)));
      }
    }
    System.exit(0); // the SDK's threads would hold the machine open
  }
}
