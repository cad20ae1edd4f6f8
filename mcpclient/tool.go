package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/mcpclient/config"
	"lifehub/mcpclient/wire"
)

const (
	// maxSchema is the longest schema of a tool's arguments, in bytes: more
	// would fill a model's window with one tool.
	maxSchema = 64 << 10
	// maxDescription is how much of a tool's description is shown to the model.
	maxDescription = 8 << 10
)

// takesAway is how tools are called that delete something: the user sees each
// of their calls.
var takesAway = pattern.Lazy(`(?:^|[_.-])(?i:delete|remove|drop|destroy|erase|purge|wipe|truncate|rm|unlink|trash)(?:$|[_.-])|^(?:delete|remove|drop|destroy|erase|purge|wipe)[A-Z]`)

// tool is one tool of a server, as the agent calls it.
type tool struct {
	server *supervisor
	name   string // as the server calls it
	spec   llm.ToolSpec
	level  agent.Level
	text   string // everything that the server says of it
	task   bool   // it does its work as a task
	former []string
	reads  *bool // what the server says of that; nil: nothing
}

var (
	_ agent.Tool      = (*tool)(nil)
	_ agent.Timed     = (*tool)(nil)
	_ agent.Hinted    = (*tool)(nil)
	_ agent.Renamed   = (*tool)(nil)
	_ agent.Previewer = (*tool)(nil)
)

// newTool makes a tool of what a server lists, or says why it is refused. Its
// name for the model is not set yet.
func newTool(s *supervisor, l wire.Tool) (*tool, error) {
	if err := config.CheckToolName(l.Name); err != nil {
		return nil, err
	}
	schema, err := normalSchema(l.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("tool %q is refused: %w", l.Name, err)
	}
	var hints struct {
		DestructiveHint bool
		ReadOnlyHint    *bool
	}
	_ = json.Unmarshal(l.Annotations, &hints) // odd ones say nothing that is known
	said, err := textOf(l, schema)
	if err != nil {
		return nil, fmt.Errorf("tool %q is refused: %w", l.Name, err)
	}
	t := &tool{server: s, name: l.Name, level: s.Entry.Level, task: wire.NeedsTask(l), text: said, reads: hints.ReadOnlyHint}
	t.spec = llm.ToolSpec{
		Description: text.Cut(cmp.Or(l.Description, l.Title), maxDescription),
		Schema:      schema,
		By:          "the MCP server " + s.Entry.Name,
	}
	// What a server says of its tools may make them stricter, never freer.
	if hints.DestructiveHint && t.level == agent.Auto {
		t.level = agent.Confirm
	}
	if takesAway.MatchString(l.Name) && t.level != agent.Deny {
		t.level = agent.ConfirmEach
	}
	return t, nil
}

// textOf is all that a server says of a tool, for the user to see and the trust
// file to keep.
func textOf(l wire.Tool, schema json.RawMessage) (string, error) {
	lines := []string{l.Title, l.Description}
	for _, part := range []struct {
		what string
		raw  json.RawMessage
	}{{"arguments", schema}, {"it says of itself", l.Annotations}, {"answers", l.OutputSchema}} {
		said, err := wire.Canonical(part.raw)
		if err != nil {
			return "", err
		}
		if said != "" {
			lines = append(lines, part.what+": "+said)
		}
	}
	if wire.NeedsTask(l) {
		lines = append(lines, "it does its work as a task")
	}
	return strings.Join(lines, "\n"), nil
}

// normalSchema is the schema of a tool's arguments, always that of an object.
func normalSchema(raw json.RawMessage) (json.RawMessage, error) {
	if wire.Missing(raw) || string(raw) == "true" { // true takes anything
		raw = json.RawMessage("{}")
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has %d KiB, more than %d", len(raw)>>10, maxSchema>>10)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, errors.New("its schema is not an object")
	}
	var kinds []string
	switch kind := string(fields["type"]); {
	case kind == `"object"`:
	case kind == "", kind == `""`, kind == "null", json.Unmarshal(fields["type"], &kinds) == nil && slices.Contains(kinds, "object"):
		fields["type"] = json.RawMessage(`"object"`)
	default:
		return nil, fmt.Errorf("its schema describes %s and not an object", kind)
	}
	if wire.Missing(fields["properties"]) {
		fields["properties"] = json.RawMessage(`{}`)
	}
	if wire.Missing(fields["required"]) {
		delete(fields, "required")
	}
	return json.Marshal(fields)
}

func (t *tool) Spec() llm.ToolSpec                { return t.spec }
func (t *tool) FormerNames() []string             { return t.former }
func (t *tool) Level(json.RawMessage) agent.Level { return t.level }

// Outward: what the server is told, it may tell others.
func (t *tool) Outward() bool { return true }

// Preview says whose tool it is.
func (t *tool) Preview(context.Context, json.RawMessage) (agent.Preview, error) {
	return agent.Preview{Text: "Run " + t.name + " of the server " + t.server.Entry.Name + " with:"}, nil
}

// ReadOnlyHint is what the user has seen and trusted of the tool.
func (t *tool) ReadOnlyHint() *bool { return t.reads }

// Timeout leaves the bound to call, which knows when the user is being asked
// and its time stands still.
func (t *tool) Timeout() time.Duration { return 24 * time.Hour }

// tokens is about what the tool costs in a prompt: 4 bytes each.
func (t *tool) tokens() int {
	return (len(t.spec.Name) + len(t.spec.Description) + len(t.spec.Schema)) / 4
}

// Run calls the tool. What the server says is untrusted.
func (t *tool) Run(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}") // servers refuse null
	}
	text, err := wire.Canonical(args) // the order and spelling of the model's own bytes say nothing to a server
	if err != nil {
		return agent.Result{}, fmt.Errorf("read arguments of %s: %w", t.spec.Name, err)
	}
	result, err := t.server.call(ctx, t, json.RawMessage(text))
	if err != nil {
		return agent.Result{}, err
	}
	agent.HostFrom(ctx).Did(agent.Effect{Kind: agent.ToolCalled, Server: t.server.Entry.Name, Count: 1})
	text = words{t.server.hub, t.spec.Name}.result(result)
	if result.IsError {
		if text == "" {
			text = t.spec.Name + " failed and did not say why"
		}
		return agent.Result{}, errors.New(text)
	}
	return agent.Result{Text: text, Images: pictures(result), Untrusted: true, Nothing: text == ""}, nil
}

// errNotAsOffered refuses a call of a tool that is not what the model and the user know.
var errNotAsOffered = errors.New("the tool is no longer available as it was: the server has changed it, or is off")

// call calls one of the server's tools within its time.
func (s *supervisor) call(ctx context.Context, t *tool, args json.RawMessage) (*mcp.CallToolResult, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = t.name, args
	if host := agent.HostFrom(ctx); host != nil {
		token, done := s.progress.follow(host, s.catch)
		defer done()
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	start := time.Now()
	result, err := ask(ctx, s, func(ctx context.Context, c *client.Client) (*mcp.CallToolResult, error) {
		if !s.current(t) { // it was listed again while the call waited for the start
			return nil, agent.NothingDone{Err: errNotAsOffered}
		}
		if t.task {
			return wire.CallTask(ctx, c, s.progress.nextCall(), request)
		}
		result, err := c.CallTool(ctx, request)
		var first mcp.URLElicitationRequiredError
		if !errors.As(err, &first) {
			return result, err
		}
		if err := (questions{s}).sendTo(ctx, first.Elicitations); err != nil {
			return nil, err
		}
		return c.CallTool(ctx, request)
	})
	s.mu.Lock()
	s.calls.add(time.Since(start), err != nil || result.IsError)
	s.mu.Unlock()
	return result, err
}
