import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.google.adk.sessions.State;
import com.google.common.base.CaseFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Plain JSON. */
final class Json {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true);

  private Json() {}

  static JsonNode read(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  static String write(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** The node as Java's maps, lists and numbers. */
  static Object value(JsonNode node) {
    return MAPPER.convertValue(node, Object.class);
  }

  /** The object as a map in its own order; an empty one where there is none. */
  static Map<String, Object> map(JsonNode node) {
    return node.isMissingNode()
        ? Map.of()
        : MAPPER.convertValue(node, new TypeReference<Map<String, Object>>() {});
  }

  /** A map of these keys and values, ordered by key. Values may be null. */
  static Map<String, Object> object(Object... keysAndValues) {
    Map<String, Object> made = new TreeMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      made.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return made;
  }

  /** The value as what JSON can hold: other objects are their texts. */
  static Object plain(Object value) {
    if (value instanceof Map<?, ?> map) {
      Map<String, Object> made = new TreeMap<>();
      map.forEach((key, item) -> made.put(String.valueOf(key), plain(item)));
      return made;
    }
    if (value instanceof List<?> list) {
      List<Object> made = new ArrayList<>();
      list.forEach(item -> made.add(plain(item)));
      return made;
    }
    if (value == State.REMOVED) {
      return "__ADK_SENTINEL_REMOVED__";
    }
    boolean isPlain =
        value == null
            || value instanceof String
            || value instanceof Number
            || value instanceof Boolean;
    return isPlain ? value : value.toString();
  }

  /** {@code top_p} as the SDK's own JSON spells it: {@code topP}. */
  static String camel(String name) {
    return CaseFormat.LOWER_UNDERSCORE.to(CaseFormat.LOWER_CAMEL, name);
  }

  /** The object as text, its own keys as the SDK spells them. */
  static String camelKeys(JsonNode node) {
    Map<String, Object> made = new TreeMap<>();
    map(node).forEach((key, value) -> made.put(camel(key), value));
    return write(made);
  }

  /** Uses a field where the node has it. */
  static void ifPresent(JsonNode node, String field, Consumer<JsonNode> use) {
    if (node.hasNonNull(field)) {
      use.accept(node.get(field));
    }
  }
}
