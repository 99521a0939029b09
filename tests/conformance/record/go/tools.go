package main

import (
	"fmt"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

type (
	keyArgs struct {
		Key string `json:"key"`
	}
	keyValueArgs struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	textArgs struct {
		Text string `json:"text"`
	}
	questionArgs struct {
		Question string `json:"question"`
	}
	noteArgs struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	typedArgs struct {
		N     int      `json:"n"`
		X     *float64 `json:"x,omitempty"`
		Flag  bool     `json:"flag,omitempty"`
		Items []string `json:"items"`
		Opts  object   `json:"opts"`
	}
)

func readState(ctx agent.Context, args keyArgs) (object, error) {
	value, _ := ctx.State().Get(args.Key)
	if value == nil {
		value = ""
	}
	return object{"value": fmt.Sprint(value)}, nil
}

func writeState(ctx agent.Context, args keyValueArgs) (object, error) {
	return object{"ok": true}, ctx.State().Set(args.Key, args.Value)
}

func echo(_ agent.Context, args textArgs) (object, error) {
	return object{"echo": args.Text}, nil
}

func exitLoop(ctx agent.Context, _ struct{}) (object, error) {
	ctx.Actions().Escalate = true
	return object{}, nil
}

func finish(ctx agent.Context, args textArgs) (object, error) {
	ctx.Actions().SkipSummarization = true
	return object{"result": args.Text}, nil
}

func fail(_ agent.Context, args textArgs) (object, error) {
	return nil, fmt.Errorf("tool failed: %s", args.Text)
}

func typed(_ agent.Context, args typedArgs) (object, error) {
	x := 1.5
	if args.X != nil {
		x = *args.X
	}
	return object{"n": args.N, "x": x, "flag": args.Flag, "items": args.Items, "opts": args.Opts}, nil
}

func saveNote(ctx agent.Context, args noteArgs) (object, error) {
	_, err := ctx.Artifacts().Save(ctx, args.Name, genai.NewPartFromText(args.Text))
	return object{"ok": true}, err
}

func ask(agent.Context, questionArgs) (object, error) { return object{"status": "pending"}, nil }

func askNone(agent.Context, questionArgs) (object, error) { return nil, nil }

// toolNamed makes one of the tools that a case may name.
func toolNamed(name string) tool.Tool {
	switch name {
	case "read_state":
		return newTool(name, "Read a value from session state by key.", readState)
	case "write_state":
		return newTool(name, "Write a value to session state.", writeState)
	case "echo":
		return newTool(name, "Echo the text.", echo)
	case "exit_loop":
		return newTool(name, "Leave the loop.", exitLoop)
	case "finish":
		return newTool(name, "Finish with a result.", finish)
	case "fail":
		return newTool(name, "Fail.", fail)
	case "typed":
		return newTool(name, "Typed arguments.", typed)
	case "save_note":
		return newTool(name, "Save a note.", saveNote)
	case "ask":
		return newTool(name, "Ask a person.", ask)
	case "ask_none":
		return newTool(name, "Ask a person later.", askNone)
	}
	panic(fmt.Errorf("no case may name the tool %s", name))
}

func newTool[Args any](name, description string, run functiontool.Func[Args, object]) tool.Tool {
	config := functiontool.Config{Name: name, Description: description, IsLongRunning: name == "ask" || name == "ask_none"}
	return must(functiontool.New(config, run))
}
