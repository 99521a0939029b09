package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
)

// setState sets the values and returns the text that stands for the agent's, where the case has one.
func setState(ctx agent.Context, values object, reply any) (*genai.Content, error) {
	var failed error
	for key, value := range values {
		failed = errors.Join(failed, ctx.State().Set(key, native(value)))
	}
	text, isText := reply.(string)
	if failed != nil || !isText {
		return nil, failed
	}
	return genai.NewContentFromText(text, genai.RoleModel), nil
}

func (g *guard) check(ctx agent.Context) (*genai.Content, error) {
	if value, _ := ctx.State().Get(g.Key); g.fits(value) {
		return setState(ctx, g.OkSet, nil)
	}
	return setState(ctx, g.FailSet, g.Return)
}

func (g *guard) fits(value any) bool {
	fields, isObject := value.(object)
	if !isObject && json.Unmarshal([]byte(fmt.Sprint(value)), &fields) != nil {
		return false
	}
	for _, field := range g.Require {
		if fields[field] == nil {
			return false
		}
	}
	return fields != nil
}

func (c *callback) onAgent(ctx agent.Context) (*genai.Content, error) {
	return setState(ctx, c.Set, c.Return)
}

// onModel makes the function that acts on every call, or on the one that the case names.
func (c *callback) onModel() func(agent.Context) (*model.LLMResponse, error) {
	calls := 0
	return func(ctx agent.Context) (*model.LLMResponse, error) {
		call := calls
		calls++
		if c.When != nil && *c.When != call {
			return nil, nil
		}
		content, err := c.onAgent(ctx)
		if content == nil {
			return nil, err
		}
		return &model.LLMResponse{Content: content}, err
	}
}

func (c *callback) onTool(ctx agent.Context, called tool.Tool) (object, error) {
	if c.Tool != "" && c.Tool != called.Name() {
		return nil, nil
	}
	_, err := setState(ctx, c.Set, nil)
	result, _ := native(c.Return).(object)
	return result, err
}

// addCallbacks gives the agent the callbacks of its model and tools.
func (n node) addCallbacks(config *llmagent.Config) {
	if n.BeforeModel != nil {
		act := n.BeforeModel.onModel()
		config.BeforeModelCallbacks = append(config.BeforeModelCallbacks,
			func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) { return act(ctx) })
	}
	if n.AfterModel != nil {
		act := n.AfterModel.onModel()
		config.AfterModelCallbacks = append(config.AfterModelCallbacks,
			func(ctx agent.Context, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) { return act(ctx) })
	}
	if n.BeforeTool != nil {
		config.BeforeToolCallbacks = append(config.BeforeToolCallbacks,
			func(ctx agent.Context, called tool.Tool, _ object) (object, error) {
				return n.BeforeTool.onTool(ctx, called)
			})
	}
	if n.AfterTool != nil {
		config.AfterToolCallbacks = append(config.AfterToolCallbacks,
			func(ctx agent.Context, called tool.Tool, _, _ object, _ error) (object, error) {
				return n.AfterTool.onTool(ctx, called)
			})
	}
}
