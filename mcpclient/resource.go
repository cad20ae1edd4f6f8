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

// Resource is something that a server lets one read: @server:uri in the chat.
// All but Server are the server's own words.
type Resource struct {
	Server      string
	URI         string // or, of a Template, its pattern: demo://text/{id}
	Name        string
	Description string
	Template    bool
}

// Resources are those that the running servers list, server by server.
func (s *Servers) Resources() []Resource {
	var list []Resource
	for _, one := range s.all() {
		one.mu.Lock()
		if one.status != Off {
			list = append(list, one.resources...)
		}
		one.mu.Unlock()
	}
	return list
}

// ReadResource reads a resource in words; it may be one that is not listed,
// such as one made from a template. What it holds is foreign.
func (s *Servers) ReadResource(ctx context.Context, server, uri string) (agent.Result, error) {
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
	return agent.Result{Text: text, Foreign: true, Nothing: text == ""}, nil
}

// Has reports whether there is a server of this name.
func (s *Servers) Has(name string) bool {
	_, err := s.find(name)
	return err == nil
}

func (s *Servers) find(name string) (*server, error) {
	for _, one := range s.all() {
		if one.Name == name {
			return one, nil
		}
	}
	return nil, fmt.Errorf("there is no MCP server %q", name)
}

func (s *server) relistResources(ctx context.Context, c *client.Client) {
	listed, err := pages(func(cursor mcp.Cursor) ([]mcp.Resource, mcp.Cursor, error) {
		page, err := c.ListResourcesByPage(ctx, mcp.ListResourcesRequest{PaginatedRequest: at(cursor)})
		if err != nil {
			return nil, "", err
		}
		return page.Resources, page.NextCursor, nil
	})
	if err != nil {
		s.hub.Log.Warn("list resources", "server", s.Name, "err", err)
	}
	var list []Resource
	for _, r := range listed {
		list = append(list, Resource{Server: s.Name, URI: r.URI, Name: r.Name, Description: r.Description})
	}
	templates, err := pages(func(cursor mcp.Cursor) ([]mcp.ResourceTemplate, mcp.Cursor, error) {
		page, err := c.ListResourceTemplatesByPage(ctx, mcp.ListResourceTemplatesRequest{PaginatedRequest: at(cursor)})
		if err != nil {
			return nil, "", err
		}
		return page.ResourceTemplates, page.NextCursor, nil
	})
	if err != nil { // many servers have none and say so with an error
		s.hub.Log.Debug("list resource templates", "server", s.Name, "err", err)
	}
	for _, r := range templates {
		if r.URITemplate != nil && r.URITemplate.Template != nil {
			list = append(list, Resource{Server: s.Name, URI: r.URITemplate.Raw(), Name: r.Name, Description: r.Description, Template: true})
		}
	}
	s.mu.Lock()
	s.resources = list
	s.mu.Unlock()
}
