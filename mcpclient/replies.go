package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/internal/text"
	"lifehub/llm"
)

// relay copies the lines of a program, each so that the library can read it.
func relay(to io.Writer, from io.Reader) error {
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadBytes('\n')
		if err == nil {
			line = readable(line)
		}
		if _, broken := to.Write(line); broken != nil {
			return broken
		}
		if err != nil {
			return err
		}
	}
}

// reply is a reply of any shape.
type reply struct {
	Protocol string          `json:"jsonrpc"`
	ID       json.RawMessage `json:"id"`
	Method   string          `json:"method,omitempty"` // of a request, which is none
	Result   json.RawMessage `json:"result,omitempty"`
	Error    json.RawMessage `json:"error,omitempty"`
}

// readable returns a line with a reply so that the library, whose call would wait for its timeout, can read it:
// its id may be text, other words may precede it, its error may have any shape. One that is not JSON is an
// error.
func readable(line []byte) []byte {
	var plain transport.JSONRPCResponse
	err := json.Unmarshal(line, &plain)
	if _, isText := plain.ID.Value().(string); err == nil && !isText {
		return line
	}
	const mostStarts = 10
	rest := line
	for range mostStarts {
		r := reply{Protocol: "2.0"}
		if json.Unmarshal(rest, &r) == nil {
			return r.or(line)
		}
		next := bytes.Index(rest[1:], []byte(`{"`))
		if next < 0 {
			break
		}
		rest = rest[1+next:]
	}
	if m := itsID.FindSubmatch(line); m != nil {
		fault := failure("the reply is not JSON: " + string(bytes.TrimSpace(line)))
		return reply{Protocol: "2.0", ID: slices.Concat(m[1], m[2]), Error: fault}.or(line)
	}
	return line
}

// itsID matches the id of a reply that is not JSON: before its result, or at its end.
var itsID = regexp.MustCompile(
	`^\s*\{"jsonrpc"[^{}]*"id"\s*:\s*"?(\d+)|^\s*\{.*"jsonrpc"[^{}]*"id"\s*:\s*"?(\d+)"?\s*\}\s*$`)

// aNumber matches the ids that the library gives.
var aNumber = regexp.MustCompile(`^"?(\d+)"?$`)

// or returns the reply as the library reads it, or the line if it is none.
func (r reply) or(line []byte) []byte {
	id := aNumber.FindSubmatch(r.ID)
	if r.Method != "" || id == nil {
		return line
	}
	r.ID = id[1]
	if r.Error != nil && json.Unmarshal(r.Error, &mcp.JSONRPCErrorDetails{}) != nil {
		r.Error = failure(llm.ErrorText(r.Error))
	}
	raw, _ := json.Marshal(r) // always encodable
	return append(raw, '\n')
}

// failure returns an error of a server with a text.
func failure(says string) json.RawMessage {
	const ofServer = -32000
	raw, _ := json.Marshal(mcp.JSONRPCErrorDetails{Code: ofServer, Message: text.Cut(says, maxWords)})
	return raw
}
