import com.fasterxml.jackson.databind.JsonNode;
import com.google.adk.agents.BaseAgent;
import com.google.adk.agents.Instruction;
import com.google.adk.agents.LlmAgent;
import com.google.adk.agents.LoopAgent;
import com.google.adk.agents.ParallelAgent;
import com.google.adk.agents.SequentialAgent;
import com.google.adk.tools.BaseTool;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.Schema;
import io.reactivex.rxjava3.core.Single;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** A case's nodes as agents. */
final class Agents {
  private Agents() {}

  static BaseAgent build(JsonNode node, List<Object> requests) {
    String type = node.get("type").asText();
    BaseAgent.Builder<?> agent =
        switch (type) {
          case "llm" -> llm(node, requests);
          case "sequential" -> SequentialAgent.builder();
          case "parallel" -> ParallelAgent.builder();
          case "loop" -> LoopAgent.builder().maxIterations(node.get("max_iterations").asInt());
          default -> throw new IllegalArgumentException("there is no agent of type " + type);
        };
    List<BaseAgent> children = new ArrayList<>();
    node.path("sub_agents").forEach(child -> children.add(build(child, requests)));
    agent.name(node.get("name").asText());
    agent.description(node.path("description").asText(null));
    agent.subAgents(children);
    Json.ifPresent(
        node, "guard", it -> agent.beforeAgentCallback(context -> Callbacks.guard(context, it)));
    Json.ifPresent(
        node, "before", it -> agent.beforeAgentCallback(context -> Callbacks.agent(context, it)));
    Json.ifPresent(
        node, "after", it -> agent.afterAgentCallback(context -> Callbacks.agent(context, it)));
    return agent.build();
  }

  private static LlmAgent.Builder llm(JsonNode node, List<Object> requests) {
    LlmAgent.Builder agent = LlmAgent.builder();
    String include = node.path("include_contents").asText("default").toUpperCase(Locale.ROOT);
    List<BaseTool> tools = new ArrayList<>();
    node.path("tools").forEach(tool -> tools.add(Tools.named(tool.asText())));
    agent.model(new Scripted(node, requests));
    agent.instruction(node.get("instruction").asText());
    agent.globalInstruction(node.path("global_instruction").asText(null));
    agent.includeContents(LlmAgent.IncludeContents.valueOf(include));
    agent.outputKey(node.path("output_key").asText(null));
    agent.disallowTransferToParent(node.path("disallow_transfer_to_parent").asBoolean());
    agent.disallowTransferToPeers(node.path("disallow_transfer_to_peers").asBoolean());
    agent.tools(tools);
    Json.ifPresent(
        node,
        "dynamic_instruction",
        it -> agent.instruction(new Instruction.Provider(context -> Single.just(it.asText()))));
    Json.ifPresent(
        node, "output_schema", it -> agent.outputSchema(Schema.fromJson(Json.write(it))));
    Json.ifPresent(
        node,
        "generate_config",
        it -> agent.generateContentConfig(GenerateContentConfig.fromJson(Json.camelKeys(it))));
    addCallbacks(agent, node);
    return agent;
  }

  private static void addCallbacks(LlmAgent.Builder agent, JsonNode node) {
    AtomicInteger before = new AtomicInteger();
    AtomicInteger after = new AtomicInteger();
    Json.ifPresent(
        node,
        "before_model",
        it ->
            agent.beforeModelCallback(
                (context, request) -> Callbacks.model(context, it, before.getAndIncrement())));
    Json.ifPresent(
        node,
        "after_model",
        it ->
            agent.afterModelCallback(
                (context, reply) -> Callbacks.model(context, it, after.getAndIncrement())));
    Json.ifPresent(
        node,
        "before_tool",
        it ->
            agent.beforeToolCallback(
                (invocation, tool, args, context) -> Callbacks.tool(context, tool, it)));
    Json.ifPresent(
        node,
        "after_tool",
        it ->
            agent.afterToolCallback(
                (invocation, tool, args, context, result) -> Callbacks.tool(context, tool, it)));
  }
}
