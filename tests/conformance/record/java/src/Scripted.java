import com.fasterxml.jackson.databind.JsonNode;
import com.google.adk.models.BaseLlm;
import com.google.adk.models.BaseLlmConnection;
import com.google.adk.models.LlmRequest;
import com.google.adk.models.LlmResponse;
import com.google.genai.types.Part;
import io.reactivex.rxjava3.core.Flowable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Answers one agent's calls with the case's replies, and keeps every request. */
final class Scripted extends BaseLlm {
  private final String agent;
  private final Iterator<JsonNode> replies;
  private final List<Object> requests;

  Scripted(JsonNode node, List<Object> requests) {
    super(node.path("model").asText("scripted"));
    this.agent = node.get("name").asText();
    this.replies = node.get("replies").elements();
    this.requests = requests;
  }

  @Override
  public Flowable<LlmResponse> generateContent(LlmRequest request, boolean stream) {
    requests.add(Contents.json(agent, request));
    if (!replies.hasNext()) {
      return Flowable.error(new RuntimeException("script exhausted"));
    }
    List<Part> parts = new ArrayList<>();
    replies.next().forEach(part -> parts.add(Contents.part(part)));
    return Flowable.just(LlmResponse.builder().content(Contents.of("model", parts)).build());
  }

  @Override
  public BaseLlmConnection connect(LlmRequest request) {
    throw new UnsupportedOperationException("live connections are not recorded");
  }
}
