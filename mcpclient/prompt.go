package mcpclient

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/llm"
	"lifehub/mcpclient/config"
)

// Prompts returns the prompts of the running servers, in the order of the config.
func (s *Client) Prompts() []Prompt {
	return ofRunning(s, func(one *supervisor) []Prompt { return one.prompts })
}

// ofRunning collects items of all servers that are not off.
func ofRunning[T any](s *Client, has func(*supervisor) []T) (list []T) {
	for _, one := range s.all() {
		one.mu.Lock()
		if one.status != Off {
			list = append(list, has(one)...)
		}
		one.mu.Unlock()
	}
	return list
}

// FillPrompt has the server fill in a prompt and returns the messages, which are
// untrusted.
func (s *Client) FillPrompt(ctx context.Context, server, name string, args map[string]string) ([]llm.Message, error) {
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
