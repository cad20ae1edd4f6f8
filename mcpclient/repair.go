package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/internal/neterr"
	"lifehub/internal/text"
)

// repairing is the library's transport over pipes, with responses repaired. For
// HTTP, conn does this.
type repairing struct{ *transport.Stdio }

func (a repairing) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := a.Stdio.SendRequest(ctx, request)
	return repair(request.Method, response), err
}

// repair fixes a server's response for the library, which decodes it completely
// or not at all, so one malformed tool would cost all others. What cannot be
// fixed is left for the library to report.
func repair(method string, response *transport.JSONRPCResponse) *transport.JSONRPCResponse {
	if response == nil || response.Error != nil {
		return response
	}
	var answer map[string]json.RawMessage
	if json.Unmarshal(response.Result, &answer) != nil {
		return response
	}
	switch mcp.MCPMethod(method) {
	case mcp.MethodServerDiscover:
		if missing(answer["supportedVersions"]) { // some servers answer {} to unknown methods
			return transport.NewJSONRPCErrorResponse(response.ID, mcp.METHOD_NOT_FOUND, "no protocol version in the response", nil)
		}
	case mcp.MethodToolsList:
		response.Result = toolsPage(response.Result, answer)
	case mcp.MethodToolsCall:
		if missing(answer["content"]) && !missing(answer["structuredContent"]) { // some servers send only structured content
			answer["content"] = json.RawMessage("[]")
			response.Result, _ = json.Marshal(answer) // always encodable, as it was decoded from JSON
		}
	}
	return response
}

// toolsPage wraps each tool of a page; a malformed page is returned unchanged.
func toolsPage(raw json.RawMessage, answer map[string]json.RawMessage) json.RawMessage {
	var page struct {
		Tools      []json.RawMessage `json:"tools"`
		NextCursor string            `json:"nextCursor,omitempty"`
	}
	if !missing(answer["tools"]) && json.Unmarshal(answer["tools"], &page.Tools) != nil {
		return raw
	}
	for i, tool := range page.Tools {
		page.Tools[i] = wrapped(tool)
	}
	if next := answer["nextCursor"]; !missing(next) && json.Unmarshal(next, &page.NextCursor) != nil {
		page.NextCursor = string(next) // some servers send a number
	}
	repaired, _ := json.Marshal(page) // always encodable, as it was decoded from JSON
	return repaired
}

func missing(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// wrappedKey is the key under which wrapped stores a tool, in the metadata that
// the protocol reserves for implementations.
const wrappedKey = "lifehub/tool"

// wrapped carries a complete tool definition through the library, which would
// keep only some fields of its schema.
func wrapped(tool json.RawMessage) json.RawMessage {
	var named struct{ Name string }
	_ = json.Unmarshal(tool, &named) // a tool without a name is rejected later
	var plain bytes.Buffer
	if json.Compact(&plain, tool) != nil {
		return tool // unreachable: it was decoded from JSON
	}
	wrapping, _ := json.Marshal(map[string]any{
		"name": named.Name, "inputSchema": map[string]string{"type": "object"}, "_meta": map[string]string{wrappedKey: plain.String()},
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

// brokenOff is the library's error for a stream that ended without a response.
const brokenOff = "unexpected nil response"

// maxWords bounds the text of a server's error, in bytes.
const maxWords = 4 << 10

// inWords describes an error of the library without Go types and internal names.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if err = neterr.Explain(err); err == nil {
		return nil
	}
	for _, library := range []string{"request failed with status %d: ", "notification failed with status %d: ", "unexpected status code: %d", "unexpected status %d"} {
		var code int
		if n, _ := fmt.Sscanf(err.Error(), library, &code); n == 1 {
			return neterr.Status("the server", code, text.Cut(err.Error(), maxWords))
		}
	}
	switch {
	case err.Error() == brokenOff:
		return fmt.Errorf("the response was cut off or longer than %d MiB", maxFrame>>20)
	case !errors.As(err, &wrong):
		return err
	}
	what := cmp.Or(wrong.Field, "the result")
	return fmt.Errorf("invalid response: %s has type %q", strings.ToLower(what[:1])+what[1:], wrong.Value)
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
