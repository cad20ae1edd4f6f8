package mcpclient

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/llm"
	"lifehub/mcpclient/config"
)

// Prompt is a prompt that a server has ready: /server:prompt in the chat. All
// but Server are the server's own words.
type Prompt struct {
	Server      string
	Name        string
	Description string
	Args        []PromptArg
}

// PromptArg is one blank of a prompt.
type PromptArg struct {
	Name        string
	Description string
	Required    bool
}

// Prompts are those that the running servers list, server by server.
func (s *Servers) Prompts() []Prompt {
	var list []Prompt
	for _, one := range s.all() {
		one.mu.Lock()
		if one.status != Off {
			list = append(list, one.prompts...)
		}
		one.mu.Unlock()
	}
	return list
}

// FillPrompt has the server fill in a prompt's blanks and returns the
// messages. What they say is foreign.
func (s *Servers) FillPrompt(ctx context.Context, server, name string, args map[string]string) ([]llm.Message, error) {
	one, err := s.find(server)
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", name, err)
	}
	var request mcp.GetPromptRequest
	request.Params.Name, request.Params.Arguments = name, args
	filled, err := ask(ctx, one, func(ctx context.Context, c *client.Client) (*mcp.GetPromptResult, error) {
		return c.GetPrompt(ctx, request)
	})
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", name, err)
	}
	w := words{s, config.WirePrefix(server)}
	var list []llm.Message
	for _, m := range filled.Messages {
		role := llm.User
		if m.Role == mcp.RoleAssistant {
			role = llm.Assistant
		}
		list = append(list, llm.Message{Role: role, Text: w.shortened(w.part(m.Content))})
	}
	return list, nil
}

func (s *server) relistPrompts(ctx context.Context, c *client.Client) {
	listed, err := pages(func(cursor mcp.Cursor) ([]mcp.Prompt, mcp.Cursor, error) {
		page, err := c.ListPromptsByPage(ctx, mcp.ListPromptsRequest{PaginatedRequest: at(cursor)})
		if err != nil {
			return nil, "", err
		}
		return page.Prompts, page.NextCursor, nil
	})
	if err != nil {
		s.hub.Log.Warn("list prompts", "server", s.Name, "err", err)
	}
	var list []Prompt
	for _, p := range listed {
		if config.CheckToolName(p.Name) != nil {
			s.hub.Log.Warn("prompt refused for its name", "server", s.Name, "prompt", p.Name)
			continue
		}
		prompt := Prompt{Server: s.Name, Name: p.Name, Description: p.Description}
		for _, a := range p.Arguments {
			prompt.Args = append(prompt.Args, PromptArg{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		list = append(list, prompt)
	}
	s.mu.Lock()
	s.prompts = list
	s.mu.Unlock()
}
