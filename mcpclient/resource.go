package mcpclient

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

// Resources returns the resources of the running servers, in the order of the
// config.
func (s *Client) Resources() []Resource {
	return ofRunning(s, func(one *supervisor) []Resource { return one.resources })
}

// ReadResource reads a resource as text. It need not be listed, such as one made
// from a template. Its content is untrusted.
func (s *Client) ReadResource(ctx context.Context, server, uri string) (agent.Result, error) {
	one, err := s.find(server)
	if err != nil {
		return agent.Result{}, fmt.Errorf("read %s: %w", uri, err)
	}
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	read, err := ask(ctx, one, func(ctx context.Context, c *client.Client) (*mcp.ReadResourceResult, error) {
		return c.ReadResource(ctx, request)
	})
	if err != nil {
		return agent.Result{}, fmt.Errorf("read %s: %w", uri, err)
	}
	w := words{s, config.WirePrefix(server)}
	var parts []string
	for _, c := range read.Contents {
		parts = append(parts, w.resource(c))
	}
	text := w.shortened(strings.Join(parts, "\n\n"))
	return agent.Result{Text: text, Untrusted: true, Nothing: text == ""}, nil
}

// Has reports whether there is a server of this name.
func (s *Client) Has(name string) bool {
	_, err := s.find(name)
	return err == nil
}
