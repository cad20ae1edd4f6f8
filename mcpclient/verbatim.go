package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// verbatim is a transport of the library that preserves the definitions of tools
// as the server wrote them: the user reviews all of a definition, and the library
// would drop most keywords of its schema, or the whole list for one malformed
// tool. It hides that HTTP is below, because the library would then not notify
// the server of cancelled calls.
type verbatim struct {
	transport.Interface
	ended <-chan struct{} // closed when the session is over
}

var _ transport.BidirectionalInterface = verbatim{}

// SetRequestHandler lets the user answer a server's question until the session is
// over; the library would end it after 30 s. Over SSE the library takes questions
// for responses, so nothing is handled.
func (v verbatim) SetRequestHandler(handle transport.RequestHandler) {
	both, ok := v.Interface.(transport.BidirectionalInterface)
	if !ok {
		return
	}
	both.SetRequestHandler(func(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse,
		error,
	) {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		go func() { // ends with the answer at the latest
			select {
			case <-v.ended:
				cancel()
			case <-ctx.Done():
			}
		}()
		return handle(ctx, request)
	})
}

// SetConnectionLostHandler is supported over SSE only.
func (v verbatim) SetConnectionLostHandler(lost func(error)) {
	if sse, ok := v.Interface.(*transport.SSE); ok {
		sse.SetConnectionLostHandler(lost)
	}
}

// negotiated sets the protocol version that requests over HTTP name.
func (v verbatim) negotiated(version string) {
	if web, ok := v.Interface.(transport.HTTPConnection); ok {
		web.SetProtocolVersion(version)
	}
}

func (v verbatim) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := v.Interface.SendRequest(ctx, request)
	var fields map[string]json.RawMessage
	if err != nil || response.Error != nil || json.Unmarshal(response.Result, &fields) != nil {
		return response, err
	}
	switch mcp.MCPMethod(request.Method) {
	case mcp.MethodServerDiscover:
		if missing(fields["supportedVersions"]) { // some servers answer {} to unknown methods
			return transport.NewJSONRPCErrorResponse(response.ID, mcp.METHOD_NOT_FOUND,
				"no protocol version in the response", nil), nil
		}
	case mcp.MethodToolsList:
		var tools []json.RawMessage
		if json.Unmarshal(fields["tools"], &tools) != nil {
			return response, nil // which the library reports
		}
		for i, tool := range tools {
			tools[i] = wrapped(tool)
		}
		fields["tools"], _ = json.Marshal(tools) // always encodable, as they were decoded from JSON
		response.Result, _ = json.Marshal(fields)
	case mcp.MethodToolsCall:
		if missing(fields["content"]) { // of 2024
			fields["content"] = fields["toolResult"]
		}
		fields["content"] = items(fields["content"], fields["structuredContent"], content)
		response.Result, _ = json.Marshal(fields)
	case mcp.MethodPromptsGet:
		fields["messages"] = items(fields["messages"], nil, message)
		response.Result, _ = json.Marshal(fields)
	case mcp.MethodResourcesRead:
		fields["contents"] = items(fields["contents"], nil, contents)
		response.Result, _ = json.Marshal(fields)
	}
	return response, nil
}

// items makes each item of a list one that the library knows: it would lose all of them for one that it does not. A
// value that is no list is a list of one; none next to other content is empty.
func items(list, other json.RawMessage, known func(json.RawMessage) json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	switch {
	case missing(list) && missing(other):
		return list // which the library reports
	case !missing(list) && json.Unmarshal(list, &all) != nil:
		all = []json.RawMessage{list}
	}
	for i, item := range all {
		all[i] = known(item)
	}
	if all == nil {
		all = []json.RawMessage{}
	}
	raw, _ := json.Marshal(all)
	return raw
}

// content returns an item of a result, as text if the library does not know it.
func content(item json.RawMessage) json.RawMessage {
	if _, err := mcp.UnmarshalContent(item); err == nil {
		return item
	}
	raw, _ := json.Marshal(mcp.NewTextContent(said(item)))
	return raw
}

// said returns what an item of an unknown kind says: its text, or all of it.
func said(item json.RawMessage) string {
	var told struct{ Text string }
	var alone string
	switch {
	case json.Unmarshal(item, &alone) == nil:
		return alone
	case json.Unmarshal(item, &told) == nil && told.Text != "":
		return told.Text
	}
	return string(item)
}

// message returns a message of a prompt whose content is known.
func message(item json.RawMessage) json.RawMessage {
	var m struct {
		Role    mcp.Role        `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(item, &m) != nil || m.Content == nil {
		m.Content = item
	}
	if m.Role != mcp.RoleAssistant {
		m.Role = mcp.RoleUser
	}
	m.Content = content(m.Content)
	raw, _ := json.Marshal(m)
	return raw
}

// contents returns a part of a resource, as text if the library does not know it.
func contents(item json.RawMessage) json.RawMessage {
	var fields map[string]any
	if json.Unmarshal(item, &fields) == nil {
		if _, err := mcp.ParseResourceContents(fields); err == nil {
			return item
		}
	}
	raw, _ := json.Marshal(mcp.TextResourceContents{URI: "unknown:", Text: said(item)})
	return raw
}

func missing(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// wrappedKey is the key under which wrapped stores a tool, in the metadata that
// the protocol reserves for implementations.
const wrappedKey = "lifehub/tool"

// wrapped carries a complete definition through the library.
func wrapped(tool json.RawMessage) json.RawMessage {
	var named struct{ Name string }
	_ = json.Unmarshal(tool, &named) // a tool without a name is rejected later
	wrapping, _ := json.Marshal(map[string]any{
		"name": named.Name, "inputSchema": map[string]string{"type": "object"},
		"_meta": map[string]string{wrappedKey: string(tool)},
	})
	return wrapping
}

// Tool is a tool as listed by its server.
type Tool struct {
	Name, Title, Description               string
	InputSchema, OutputSchema, Annotations json.RawMessage
	Execution                              *mcp.ToolExecution
}

// JSON returns a canonical form of the tool for the trust file.
func (l Tool) JSON() string {
	raw, err := json.Marshal(l)
	text, _ := canonical(raw) // always valid, as it was just encoded
	if err != nil {
		return "" // unreachable: it was decoded from JSON
	}
	return text
}

// maxDefinition bounds the definition of one tool, in bytes.
const maxDefinition = 128 << 10

// unwrapped returns the definition of a wrapped tool.
func unwrapped(tool mcp.Tool) (Tool, error) {
	named := Tool{Name: tool.Name}
	if tool.Meta == nil {
		return named, errors.New("not a JSON object")
	}
	definition, _ := tool.Meta.AdditionalFields[wrappedKey].(string)
	if len(definition) > maxDefinition {
		return named, fmt.Errorf("its description is %d KiB, more than %d", len(definition)>>10, maxDefinition>>10)
	}
	var l Tool
	if err := json.Unmarshal([]byte(definition), &l); err != nil {
		return named, inWords(err)
	}
	if l.Name != tool.Name {
		return named, errors.New("duplicate name")
	}
	return l, nil
}
