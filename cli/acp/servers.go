package acp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/mcpclient/config"
	"lifehub/tui/safetext"
)

// offerServers asks about the MCP servers that the client passed on, each once for a connection.
// They are imported like those of another client's file: a yes adds a server to mcp.json, and what
// it offers must be reviewed before it is used.
func (r *relay) offerServers(ctx context.Context, given []acp.McpServer) {
	for _, one := range given {
		entry := entryOf(one)
		r.mu.Lock()
		offered := r.offered[entry.Name]
		r.offered[entry.Name] = true
		r.mu.Unlock()
		if offered {
			continue
		}
		said := r.offerServer(ctx, entry)
		if r.gone(ctx) {
			r.mu.Lock()
			delete(r.offered, entry.Name)
			r.mu.Unlock()
			return
		}
		if said != "" {
			r.aside(said)
		}
	}
}

// offerServer asks about one server and adds it if the user agrees. It returns what to report.
func (r *relay) offerServer(ctx context.Context, entry config.Entry) string {
	unused := "The MCP server " + entry.Name + " of this editor is not used: "
	known, err := config.Read(r.App.Paths.ServersFile())
	if err != nil {
		return unused + r.App.Secrets.Text(err.Error())
	}
	for _, s := range known.Servers {
		switch {
		case s.Name == entry.Name && s.Address() == entry.Address():
			return ""
		case s.Name == entry.Name:
			return unused + "mcp.json has another server of that name."
		}
	}
	switch {
	case entry.Address() == "":
		return unused + "only commands and addresses (http, sse) can be."
	case entry.HasReference():
		return unused + "it contains ${…}, which would be replaced by a variable of LifeHub's environment; `lifehub " +
			"mcp add` adds it as you want it."
	}
	if r.askAboutServer(ctx, entry) == agent.Refuse {
		return ""
	}
	if err := r.App.AddServer(entry); err != nil {
		return unused + r.App.Secrets.Text(err.Error())
	}
	return fmt.Sprintf("The MCP server %s was added to mcp.json; review its tools before they are used: lifehub mcp "+
		"trust %s", entry.Name, entry.Name)
}

// askAboutServer shows everything that would run, except the values of variables and headers, which
// may be secret.
func (r *relay) askAboutServer(ctx context.Context, entry config.Entry) agent.Decision {
	lines := []string{entry.Address()}
	for what, values := range map[string]map[string]string{"variables": entry.Env, "headers": entry.Headers} {
		if len(values) > 0 {
			lines = append(lines, "with "+what+" "+strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
	}
	for i, line := range lines {
		lines[i] = safetext.Reveal(line)
	}
	id := acp.ToolCallId("mcp/" + entry.Name)
	heading := shown("Add the MCP server " + safetext.Line(entry.Name) + "? " + safetext.Reveal(entry.Address()))
	content := literal(strings.Join(lines, "\n"))
	r.send(acp.StartToolCall(id, heading, acp.WithStartKind(acp.ToolKindOther),
		acp.WithStartStatus(acp.ToolCallStatusPending), acp.WithStartContent(content)))
	decision := r.choose(ctx, acp.ToolCallUpdate{
		ToolCallId: id, Title: &heading, Kind: acp.Ptr(acp.ToolKindOther),
		Status: acp.Ptr(acp.ToolCallStatusPending), Content: content,
	}, []choice{
		{agent.AllowAlways, acp.PermissionOptionKindAllowAlways, "Add to mcp.json"},
		{agent.Refuse, acp.PermissionOptionKindRejectOnce, "Not now"},
	})
	status := acp.ToolCallStatusCompleted
	if decision == agent.Refuse {
		status = acp.ToolCallStatusFailed
	}
	r.send(acp.UpdateToolCall(id, acp.WithUpdateStatus(status)))
	return decision
}

// entryOf converts an MCP server of the client to an entry of mcp.json. The entry of a server that
// is reached in another way has no address.
func entryOf(given acp.McpServer) config.Entry {
	remote := func(transport config.Transport, name, url string, headers []acp.HttpHeader) config.Entry {
		entry := config.Entry{Name: name, Transport: transport, URL: url, Headers: map[string]string{}}
		for _, h := range headers {
			entry.Headers[h.Name] = h.Value
		}
		return entry
	}
	switch {
	case given.Stdio != nil:
		entry := config.Entry{
			Name: given.Stdio.Name, Transport: config.Stdio, Command: given.Stdio.Command,
			Args: given.Stdio.Args, Env: map[string]string{},
		}
		for _, v := range given.Stdio.Env {
			entry.Env[v.Name] = v.Value
		}
		return entry
	case given.Http != nil:
		return remote(config.HTTP, given.Http.Name, given.Http.Url, given.Http.Headers)
	case given.Sse != nil:
		return remote(config.SSE, given.Sse.Name, given.Sse.Url, given.Sse.Headers)
	case given.Acp != nil:
		return config.Entry{Name: given.Acp.Name}
	}
	return config.Entry{}
}
