package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/mcpclient/config"
)

const (
	// maxSchema bounds the schema of a tool's arguments or of a form, in bytes: a
	// longer one would fill a model's window.
	maxSchema = 64 << 10
	// maxDescription is the number of bytes of a tool's description shown to the
	// model.
	maxDescription = 8 << 10
)

// takesAway matches the names of tools that delete something: the user is asked
// about each of their calls.
var takesAway = regexp.MustCompile(`(?:^|[_.-])(?i:delete|remove|drop|destroy|erase|purge|wipe|truncate|rm|unlink|` +
	`trash)(?:$|[_.-])|^(?:delete|remove|drop|destroy|erase|purge|wipe)[A-Z]`)

// tool is a tool of a server, as seen by the agent.
type tool struct {
	server *supervisor
	name   string // the server's own name
	spec   llm.ToolSpec
	level  agent.Level
	text   string // the complete definition, for review
	former []string
	reads  *bool // the server's readOnlyHint; may be nil
	safe   bool  // it says that it only reads, and nothing to the contrary, and it takes no address
}

var (
	_ agent.Tool      = (*tool)(nil)
	_ agent.Previewer = (*tool)(nil)
)

// newTool converts a listed tool, or returns why it is rejected. The caller sets
// its name for the model.
func newTool(s *supervisor, l Tool) (*tool, error) {
	if err := config.CheckToolName(l.Name); err != nil {
		return nil, err
	}
	schema, err := normalSchema(l.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("tool %q is refused: %w", l.Name, err)
	}
	var hints struct {
		DestructiveHint, OpenWorldHint bool
		ReadOnlyHint                   *bool
	}
	_ = json.Unmarshal(l.Annotations, &hints) // invalid hints are ignored
	if l.Execution != nil && l.Execution.TaskSupport == mcp.TaskSupportRequired {
		return nil, fmt.Errorf("tool %q is refused: it runs only as a task of the protocol", l.Name)
	}
	description, err := textOf(l, schema)
	if err != nil {
		return nil, fmt.Errorf("tool %q is refused: %w", l.Name, err)
	}
	t := &tool{server: s, name: l.Name, level: s.Entry.Level, text: description, reads: hints.ReadOnlyHint}
	onlyReads := hints.ReadOnlyHint != nil && *hints.ReadOnlyHint && !hints.DestructiveHint
	t.safe = onlyReads && !hints.OpenWorldHint && !takesAddress(schema)
	if clean := []byte(s.hub.Secrets.Known(string(schema))); json.Valid(clean) {
		schema = clean // servers put a key there as the default of an argument
	}
	t.spec = llm.ToolSpec{
		Description: text.Cut(s.hub.Secrets.Known(cmp.Or(l.Description, l.Title)), maxDescription),
		Schema:      schema,
		By:          "the MCP server " + s.Entry.Name,
	}
	// A server's hints can make the permission level stricter, but never weaker.
	if hints.DestructiveHint && t.level == agent.Auto {
		t.level = agent.Confirm
	}
	if takesAway.MatchString(l.Name) && t.level != agent.Deny {
		t.level = agent.ConfirmEach
	}
	return t, nil
}

var (
	// addressName matches a word of an argument's name that says that it is an address.
	addressName = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:urls?|uris?|hosts?|hostname|domains?|endpoint|href|` +
		`website)(?:$|[^a-z])`)
	// addressFormat matches the format of an address in JSON Schema.
	addressFormat = regexp.MustCompile(`^(?:uri|iri|url|hostname|idn-hostname|ipv4|ipv6)\b`)
	camel         = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// takesAddress reports whether a schema has, at any depth, an argument that is an
// address by its name or its format: the server could send on what it is given.
func takesAddress(schema json.RawMessage) bool {
	var parts map[string]json.RawMessage
	if json.Unmarshal(schema, &parts) != nil {
		var list []json.RawMessage
		_ = json.Unmarshal(schema, &list) // otherwise it is a word or a number
		return slices.ContainsFunc(list, takesAddress)
	}
	var format string
	if json.Unmarshal(parts["format"], &format) == nil && addressFormat.MatchString(format) {
		return true
	}
	var named map[string]json.RawMessage
	_ = json.Unmarshal(parts["properties"], &named) // an invalid schema has none
	for name := range named {
		if addressName.MatchString(camel.ReplaceAllString(name, "$1 $2")) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(parts)), takesAddress)
}

// textOf returns the complete definition of a tool, which the user reviews and
// the trust file saves. Changing a label here makes every trusted tool appear
// changed.
func textOf(l Tool, schema json.RawMessage) (string, error) {
	lines := []string{l.Title, l.Description}
	for _, part := range []struct {
		what string
		raw  json.RawMessage
	}{{"arguments", schema}, {"it says of itself", l.Annotations}, {"answers", l.OutputSchema}} {
		text, err := canonical(part.raw)
		if err != nil {
			return "", err
		}
		if text != "" {
			lines = append(lines, part.what+": "+text)
		}
	}
	return strings.Join(lines, "\n"), nil
}

// normalSchema returns the schema of a tool's arguments, which must be an object
// schema.
func normalSchema(raw json.RawMessage) (json.RawMessage, error) {
	if missing(raw) {
		raw = json.RawMessage("{}")
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema is %d KiB, more than %d", len(raw)>>10, maxSchema>>10)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, errors.New("its schema is not an object")
	}
	if kind := fields["type"]; kind != nil && string(kind) != `"object"` {
		return nil, fmt.Errorf("its schema describes %s instead of an object", kind)
	}
	fields["type"] = json.RawMessage(`"object"`)
	if missing(fields["properties"]) {
		fields["properties"] = json.RawMessage(`{}`)
	}
	return json.Marshal(fields)
}

func (t *tool) Spec() llm.ToolSpec { return t.spec }

// Properties: a server may pass the arguments on. The time-out is practically unbounded: call enforces the limit,
// because its clock is paused while the user is asked.
func (t *tool) Properties() agent.Properties {
	return agent.Properties{
		Level: t.level, Outward: true, Timeout: 24 * time.Hour, FormerNames: t.former,
		Server: t.server.Entry.Name, Declared: t.reads, Trusted: t.server.Entry.Reads && t.safe,
	}
}

// Preview names the server of the tool.
func (t *tool) Preview(context.Context, json.RawMessage) (agent.Preview, error) {
	return agent.Preview{Text: "Run " + t.name + " of the server " + t.server.Entry.Name + " with:"}, nil
}

// tokens estimates the prompt tokens of the tool, at 4 bytes per token.
func (t *tool) tokens() int {
	return (len(t.spec.Name) + len(t.spec.Description) + len(t.spec.Schema)) / 4
}

// Run calls the tool. Its result is untrusted.
func (t *tool) Run(ctx context.Context, input json.RawMessage) (agent.Result, error) {
	input = bytes.TrimSpace(input)
	if len(input) == 0 || string(input) == "null" {
		input = json.RawMessage("{}") // servers reject null
	}
	text, err := canonical(input) // the model's spelling of the arguments must not carry information
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
			text = t.spec.Name + "  failed without an error message"
		}
		return agent.Result{}, errors.New(text)
	}
	return agent.Result{Text: text, Images: pictures(result), Untrusted: true, Nothing: text == ""}, nil
}

// errNotAsOffered rejects calls of a tool that is not the one offered to the
// model and the user.
var errNotAsOffered = errors.New("the tool is no longer available as it was: the server has changed it, or is off")

// call calls one of the server's tools with its timeout.
func (s *supervisor) call(ctx context.Context, t *tool, input json.RawMessage) (*mcp.CallToolResult, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = t.name, input
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

// canonical encodes JSON so that equal values have equal texts: some servers list
// keys in varying order.
func canonical(raw json.RawMessage) (string, error) {
	if missing(raw) {
		return "", nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	text, err := json.Marshal(value)
	return string(text), err
}
