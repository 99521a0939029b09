package main

import (
	"encoding/json"
	"errors"
	"strconv"

	"google.golang.org/genai"
)

type object = map[string]any

// testCase is one line of a cases file. A turn is a text, or answers to long-running calls.
type testCase struct {
	ID    string
	Turns []any
	State object
	Root  node
}

type node struct {
	Type, Name, Description, Model string
	Instruction                    string
	GlobalInstruction              string        `json:"global_instruction"`
	DynamicInstruction             string        `json:"dynamic_instruction"`
	IncludeContents                string        `json:"include_contents"`
	OutputKey                      string        `json:"output_key"`
	OutputSchema                   *genai.Schema `json:"output_schema"`
	GenerateConfig                 settings      `json:"generate_config"`
	DisallowTransferToParent       bool          `json:"disallow_transfer_to_parent"`
	DisallowTransferToPeers        bool          `json:"disallow_transfer_to_peers"`
	MaxIterations                  uint          `json:"max_iterations"`
	SubAgents                      []node        `json:"sub_agents"`
	Tools                          []string
	Replies                        [][]part
	Guard                          *guard
	Before, After                  *callback
	BeforeModel                    *callback `json:"before_model"`
	AfterModel                     *callback `json:"after_model"`
	BeforeTool                     *callback `json:"before_tool"`
	AfterTool                      *callback `json:"after_tool"`
}

type part struct {
	Text                string
	Thought             bool
	FunctionCall        *genai.FunctionCall        `json:"function_call"`
	ExecutableCode      *genai.ExecutableCode      `json:"executable_code"`
	CodeExecutionResult *genai.CodeExecutionResult `json:"code_execution_result"`
}

// settings are what a case asks of the model, and what a request holds; the response's form stands in requests only.
type settings struct {
	Temperature        *float32      `json:"temperature,omitempty"`
	MaxOutputTokens    int32         `json:"max_output_tokens,omitempty"`
	TopP               *float32      `json:"top_p,omitempty"`
	StopSequences      []string      `json:"stop_sequences,omitempty"`
	ResponseSchema     *genai.Schema `json:"response_schema,omitempty"`
	ResponseJSONSchema any           `json:"response_json_schema,omitempty"`
	ResponseMIMEType   string        `json:"response_mime_type,omitempty"`
}

// callback sets state and may return what stands for the answer: a text, or a tool's result.
type callback struct {
	Set    object
	Return any
	When   *int   // of a model's: the call, counted from 0; all without it
	Tool   string // of a tool's: the tool; all without it
}

// guard asks whether the JSON under a key has the required fields.
type guard struct {
	Key     string
	Require []string
	OkSet   object `json:"ok_set"`
	FailSet object `json:"fail_set"`
	Return  string
}

func (n node) uses(tool string) bool {
	for _, name := range n.Tools {
		if name == tool {
			return true
		}
	}
	for _, child := range n.SubAgents {
		if child.uses(tool) {
			return true
		}
	}
	return false
}

// native is the value with its numbers as a Go program's state has them: int, else float64.
func native(value any) any {
	switch v := value.(type) {
	case json.Number:
		if whole, err := strconv.Atoi(v.String()); err == nil {
			return whole
		}
		double, _ := v.Float64() // what is too big is infinite
		return double
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = native(item)
		}
		return out
	case object:
		return nativeObject(v)
	}
	return value
}

func nativeObject(values object) object {
	out := object{}
	for key, value := range values {
		out[key] = native(value)
	}
	return out
}

// received are a call's arguments as a model's reply brings them: every number is a float64.
func received(args object) object {
	text, err := json.Marshal(args)
	out := object{}
	if err = errors.Join(err, json.Unmarshal(text, &out)); err != nil {
		panic(err)
	}
	return out
}
