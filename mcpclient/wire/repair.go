package wire

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

// Repairing is the library's transport over pipes, with answers made fit (see
// repair). By HTTP Conn does so.
type Repairing struct{ *transport.Stdio }

func (a Repairing) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := a.Stdio.SendRequest(ctx, request)
	return repair(request.Method, response), err
}

// repair makes a server's answer fit for the library, which takes one as a
// whole or not at all: one odd tool would cost all the others. What cannot be
// repaired stays as it is, and the library says what is wrong with it.
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
		if Missing(answer["supportedVersions"]) { // {} is what some answer to all that they do not know
			return transport.NewJSONRPCErrorResponse(response.ID, mcp.METHOD_NOT_FOUND, "it names no version of the protocol", nil)
		}
	case mcp.MethodToolsList:
		response.Result = toolsPage(response.Result, answer)
	case mcp.MethodToolsCall:
		if Missing(answer["content"]) && !Missing(answer["structuredContent"]) { // some say it in structure only
			answer["content"] = json.RawMessage("[]")
			response.Result, _ = json.Marshal(answer) // it came from JSON
		}
	}
	return response
}

// toolsPage is a page of tools, each wrapped; a page that is none stays as it is.
func toolsPage(raw json.RawMessage, answer map[string]json.RawMessage) json.RawMessage {
	var page struct {
		Tools      []json.RawMessage `json:"tools"`
		NextCursor string            `json:"nextCursor,omitempty"`
	}
	if !Missing(answer["tools"]) && json.Unmarshal(answer["tools"], &page.Tools) != nil {
		return raw
	}
	for i, tool := range page.Tools {
		page.Tools[i] = wrapped(tool)
	}
	if next := answer["nextCursor"]; !Missing(next) && json.Unmarshal(next, &page.NextCursor) != nil {
		page.NextCursor = string(next) // a number, of some
	}
	repaired, _ := json.Marshal(page) // it came from JSON
	return repaired
}

func Missing(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// wholeTool is where wrapped keeps a tool, in the place for what only the two
// sides know of.
const wholeTool = "lifehub/tool"

// wrapped carries a tool through the library, which would keep five words of
// its schema and drop the others unseen.
func wrapped(tool json.RawMessage) json.RawMessage {
	var named struct{ Name string }
	_ = json.Unmarshal(tool, &named) // one without a name is refused for that
	var plain bytes.Buffer
	if json.Compact(&plain, tool) != nil {
		return tool // cannot be: it came from JSON
	}
	whole, _ := json.Marshal(map[string]any{
		"name": named.Name, "inputSchema": map[string]string{"type": "object"}, "_meta": map[string]string{wholeTool: plain.String()},
	})
	return whole
}

// Tool is a tool as its server lists it.
type Tool struct {
	Name, Title, Description               string
	InputSchema, OutputSchema, Annotations json.RawMessage
	Execution                              *mcp.ToolExecution
}

// JSON is the tool for the trust file, the same for the same tool.
func (l Tool) JSON() string {
	raw, err := json.Marshal(l)
	text, _ := Canonical(raw) // of what was just written
	if err != nil {
		return "" // it was read from JSON
	}
	return text
}

// maxDefinition is the longest text that a server may say of one tool, in bytes.
const maxDefinition = 128 << 10

// Unwrapped is the tool that was wrapped.
func Unwrapped(tool mcp.Tool) (Tool, error) {
	named := Tool{Name: tool.Name}
	if tool.Meta == nil {
		return named, errors.New("it is not an object")
	}
	whole, _ := tool.Meta.AdditionalFields[wholeTool].(string)
	if len(whole) > maxDefinition {
		return named, fmt.Errorf("it says %d KiB of itself, more than %d", len(whole)>>10, maxDefinition>>10)
	}
	var l Tool
	if err := json.Unmarshal([]byte(whole), &l); err != nil {
		return named, InWords(err)
	}
	if l.Name != tool.Name {
		return named, errors.New("it has two names")
	}
	return l, nil
}

// brokenOff is what the library says of a stream that ended without an answer.
const brokenOff = "unexpected nil response"

// MaxWords bounds the words of a server's error, in bytes.
const MaxWords = 4 << 10

// InWords says without the names of Go and of the library what is wrong with
// an answer, or why there is none.
func InWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if err = neterr.Explain(err); err == nil {
		return nil
	}
	for _, library := range []string{"request failed with status %d: ", "notification failed with status %d: ", "unexpected status code: %d", "unexpected status %d"} {
		var code int
		if n, _ := fmt.Sscanf(err.Error(), library, &code); n == 1 {
			return neterr.Status("the server", code, text.Cut(err.Error(), MaxWords))
		}
	}
	switch {
	case err.Error() == brokenOff:
		return fmt.Errorf("its answer was cut off, or longer than %d MiB", maxFrame>>20)
	case !errors.As(err, &wrong):
		return err
	}
	what := cmp.Or(wrong.Field, "it")
	return fmt.Errorf("its answer violates the protocol: %s is of the kind %q", strings.ToLower(what[:1])+what[1:], wrong.Value)
}

// Canonical writes JSON so that two texts that mean the same are the same:
// some servers list keys in another order each time.
func Canonical(raw json.RawMessage) (string, error) {
	if Missing(raw) {
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
