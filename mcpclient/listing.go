package mcpclient

import (
	"context"

	"lifehub/mcpclient/config"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Prompt is a prompt that a server provides: /server:prompt in the chat. All
// fields except Server are untrusted text of the server.
type Prompt struct {
	Server      string
	Name        string
	Description string
	Args        []PromptArg
}

// PromptArg is an argument of a prompt.
type PromptArg struct {
	Name        string
	Description string
	Required    bool
}

// Resource is a resource that a server provides: @server:uri in the chat. All
// fields except Server are untrusted text of the server.
type Resource struct {
	Server      string
	URI         string // for a Template its pattern, such as demo://text/{id}
	Name        string
	Description string
	Template    bool
}

// listPrompts returns the prompts of a server; errors are logged.
func (s *supervisor) listPrompts(ctx context.Context, c *client.Client) []Prompt {
	server, log, secrets := s.Entry.Name, s.hub.Log, s.hub.Secrets
	listed, err := Listed(c.IterPrompts(ctx, mcp.ListPromptsRequest{}))
	if err != nil {
		log.Warn("list prompts", "server", server, "err", err)
	}
	var list []Prompt
	for _, p := range listed {
		if config.CheckToolName(p.Name) != nil {
			log.Warn("prompt rejected because of its name", "server", server, "prompt", p.Name)
			continue
		}
		prompt := Prompt{Server: server, Name: p.Name, Description: secrets.Known(p.Description)}
		for _, a := range p.Arguments {
			prompt.Args = append(prompt.Args, PromptArg{
				Name:        a.Name,
				Description: secrets.Known(a.Description), Required: a.Required,
			})
		}
		list = append(list, prompt)
	}
	return list
}

// listResources returns the resources of a server; errors are logged.
func (s *supervisor) listResources(ctx context.Context, c *client.Client) []Resource {
	server, log, secrets := s.Entry.Name, s.hub.Log, s.hub.Secrets
	listed, err := Listed(c.IterResources(ctx, mcp.ListResourcesRequest{}))
	if err != nil {
		log.Warn("list resources", "server", server, "err", err)
	}
	var list []Resource
	for _, r := range listed {
		list = append(list, Resource{
			Server: server, URI: r.URI, Name: secrets.Known(r.Name),
			Description: secrets.Known(r.Description),
		})
	}
	templates, err := Listed(c.IterResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{}))
	if err != nil { // many servers have no templates and return an error
		log.Debug("list resource templates", "server", server, "err", err)
	}
	for _, r := range templates {
		if r.URITemplate != nil && r.URITemplate.Template != nil {
			list = append(list, Resource{
				Server: server, URI: r.URITemplate.Raw(), Template: true,
				Name: secrets.Known(r.Name), Description: secrets.Known(r.Description),
			})
		}
	}
	return list
}
