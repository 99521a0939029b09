package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
)

// scripted answers one agent's calls with the case's replies.
type scripted struct {
	node    node
	replies [][]part
	trace   *trace
}

func (s *scripted) Name() string { return cmp.Or(s.node.Model, "scripted") }

func (s *scripted) GenerateContent(
	_ context.Context, request *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		s.trace.addRequest(s.node.Name, request)
		if len(s.replies) == 0 {
			yield(nil, errors.New("script exhausted"))
			return
		}
		content := &genai.Content{Role: genai.RoleModel}
		for _, p := range s.replies[0] {
			content.Parts = append(content.Parts, p.genai())
		}
		s.replies = s.replies[1:]
		yield(&model.LLMResponse{Content: content}, nil)
	}
}

func (p part) genai() *genai.Part {
	if p.FunctionCall != nil {
		p.FunctionCall.Args = received(p.FunctionCall.Args)
	}
	return &genai.Part{
		Text:                p.Text,
		Thought:             p.Thought,
		FunctionCall:        p.FunctionCall,
		ExecutableCode:      p.ExecutableCode,
		CodeExecutionResult: p.CodeExecutionResult,
	}
}

// build makes a node's agent, and panics with the ADK's error where the ADK refuses it.
func (n node) build(t *trace) agent.Agent {
	base := agent.Config{Name: n.Name, Description: n.Description}
	for _, child := range n.SubAgents {
		base.SubAgents = append(base.SubAgents, child.build(t))
	}
	if n.Guard != nil {
		base.BeforeAgentCallbacks = append(base.BeforeAgentCallbacks, n.Guard.check)
	}
	if n.Before != nil {
		base.BeforeAgentCallbacks = append(base.BeforeAgentCallbacks, n.Before.onAgent)
	}
	if n.After != nil {
		base.AfterAgentCallbacks = append(base.AfterAgentCallbacks, n.After.onAgent)
	}
	switch n.Type {
	case "llm":
		return n.llm(base, t)
	case "sequential":
		return must(sequentialagent.New(sequentialagent.Config{AgentConfig: base}))
	case "parallel":
		return must(parallelagent.New(parallelagent.Config{AgentConfig: base}))
	case "loop":
		return must(loopagent.New(loopagent.Config{AgentConfig: base, MaxIterations: n.MaxIterations}))
	}
	panic(fmt.Errorf("there is no agent of type %q", n.Type))
}

func (n node) llm(base agent.Config, t *trace) agent.Agent {
	tools := make([]tool.Tool, 0, len(n.Tools))
	for _, name := range n.Tools {
		tools = append(tools, toolNamed(name))
	}
	config := llmagent.Config{
		Name:                     base.Name,
		Description:              base.Description,
		SubAgents:                base.SubAgents,
		BeforeAgentCallbacks:     base.BeforeAgentCallbacks,
		AfterAgentCallbacks:      base.AfterAgentCallbacks,
		Model:                    &scripted{node: n, replies: n.Replies, trace: t},
		Instruction:              n.Instruction,
		GlobalInstruction:        n.GlobalInstruction,
		IncludeContents:          llmagent.IncludeContents(n.IncludeContents),
		OutputKey:                n.OutputKey,
		OutputSchema:             n.OutputSchema,
		Tools:                    tools,
		DisallowTransferToParent: n.DisallowTransferToParent,
		DisallowTransferToPeers:  n.DisallowTransferToPeers,
		GenerateContentConfig: &genai.GenerateContentConfig{
			Temperature:     n.GenerateConfig.Temperature,
			MaxOutputTokens: n.GenerateConfig.MaxOutputTokens,
			TopP:            n.GenerateConfig.TopP,
			StopSequences:   n.GenerateConfig.StopSequences,
		},
	}
	if n.DynamicInstruction != "" {
		config.InstructionProvider = func(agent.ReadonlyContext) (string, error) { return n.DynamicInstruction, nil }
	}
	n.addCallbacks(&config)
	return must(llmagent.New(config))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
