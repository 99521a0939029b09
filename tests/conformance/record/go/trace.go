package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// trace is what the ADK did with a case. Agents of a parallel write to it at once.
type trace struct {
	mutex    sync.Mutex
	requests []object
	events   []object
	state    object
	asked    []*genai.FunctionCall // the long-running calls, which later turns may answer
}

func newTrace() *trace {
	return &trace{requests: []object{}, events: []object{}, state: object{}}
}

func (t *trace) json(id string, err error) object {
	out := object{"id": id, "requests": t.requests, "events": t.events, "state": t.state, "error": nil}
	if err != nil {
		out["error"] = object{"type": fmt.Sprintf("%T", err), "message": fmt.Sprintf("%.300s", err.Error())}
	}
	return out
}

func (t *trace) addRequest(agent string, request *model.LLMRequest) {
	config := request.Config
	declarations := object{}
	for _, tool := range config.Tools {
		for _, declaration := range tool.FunctionDeclarations {
			declarations[declaration.Name] = declaration
		}
	}
	contents := make([]any, 0, len(request.Contents))
	for _, content := range request.Contents {
		contents = append(contents, contentJSON(content))
	}
	tools := slices.AppendSeq([]string{}, maps.Keys(request.Tools))
	slices.Sort(tools)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.requests = append(t.requests, object{
		"agent":              agent,
		"system_instruction": systemJSON(config.SystemInstruction),
		"contents":           contents,
		"tools":              tools,
		"declarations":       declarations,
		"config": settings{
			Temperature:        config.Temperature,
			MaxOutputTokens:    config.MaxOutputTokens,
			TopP:               config.TopP,
			StopSequences:      config.StopSequences,
			ResponseSchema:     config.ResponseSchema,
			ResponseJSONSchema: config.ResponseJsonSchema,
			ResponseMIMEType:   config.ResponseMIMEType,
		},
	})
}

func (t *trace) addEvent(event *session.Event) {
	actions := event.Actions
	out := said(object{"branch": event.Branch, "long_running": len(event.LongRunningToolIDs)})
	out["author"] = event.Author
	out["content"] = contentJSON(event.Content)
	out["state_delta"] = nativeObject(actions.StateDelta)
	out["final"] = event.IsFinalResponse()
	out["actions"] = said(object{
		"escalate":           actions.Escalate,
		"skip_summarization": actions.SkipSummarization,
		"transfer_to_agent":  actions.TransferToAgent,
	})
	t.events = append(t.events, out)
	if event.Content == nil {
		return
	}
	for _, part := range event.Content.Parts {
		if call := part.FunctionCall; call != nil && slices.Contains(event.LongRunningToolIDs, call.ID) {
			t.asked = append(t.asked, call)
		}
	}
}

// message is a turn's content. An answer names the call that it answers by its number, from the case's first.
func (t *trace) message(turn any) *genai.Content {
	if text, isText := turn.(string); isText {
		return genai.NewContentFromText(text, genai.RoleUser)
	}
	given := nativeObject(turn.(object))
	answers, several := given["function_responses"].([]any)
	if !several {
		answers = []any{given["function_response"]}
	}
	parts := make([]*genai.Part, 0, len(answers))
	for _, each := range answers {
		answer := each.(object)
		call := t.asked[answer["call"].(int)]
		response := &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: answer["response"].(object)}
		parts = append(parts, &genai.Part{FunctionResponse: response})
	}
	return genai.NewContentFromParts(parts, genai.RoleUser)
}

// said leaves out what says nothing: false, 0 and the empty text.
func said(values object) object {
	maps.DeleteFunc(values, func(_ string, value any) bool { return value == false || value == 0 || value == "" })
	return values
}

func contentJSON(content *genai.Content) any {
	if content == nil {
		return nil
	}
	parts := make([]object, 0, len(content.Parts))
	for _, part := range content.Parts {
		parts = append(parts, partJSON(part))
	}
	return object{"role": content.Role, "parts": parts}
}

func partJSON(part *genai.Part) object {
	if call := part.FunctionCall; call != nil {
		return object{"function_call": object{"name": call.Name, "args": nativeObject(call.Args)}}
	}
	if response := part.FunctionResponse; response != nil {
		return object{"function_response": object{"name": response.Name, "response": response.Response}}
	}
	if code := part.ExecutableCode; code != nil {
		return object{"executable_code": object{"language": code.Language, "code": code.Code}}
	}
	if result := part.CodeExecutionResult; result != nil {
		return object{"code_execution_result": object{"outcome": result.Outcome, "output": result.Output}}
	}
	if part.Thought {
		return object{"text": part.Text, "thought": true}
	}
	return object{"text": part.Text}
}

// systemJSON is the one text, or the list of texts where the ADK made several parts.
func systemJSON(content *genai.Content) any {
	if content == nil {
		return nil
	}
	if len(content.Parts) == 1 {
		return content.Parts[0].Text
	}
	texts := make([]string, 0, len(content.Parts))
	for _, part := range content.Parts {
		texts = append(texts, part.Text)
	}
	return texts
}
