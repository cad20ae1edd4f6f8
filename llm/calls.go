package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// CallPiece is a part of a tool call, as servers stream them. Which call it belongs
// to follows from its index, its id or its position; servers differ in which of
// these they set, and in how they count.
type CallPiece struct {
	Index *int   // nil: the server does not number calls
	ID    string // may come late, repeat, or differ in each piece
	Name  string // may repeat, or be split as well
	Args  json.RawMessage
}

// CallBuilder puts tool calls together from their pieces. A call that cannot be
// read becomes one with a Fault. The zero value is ready to use.
type CallBuilder struct {
	calls []*builtCall
	size  int // bytes of arguments
}

type builtCall struct {
	index    *int
	id, name string
	args     strings.Builder
	fault    string
	after    *builtCall // the call that its first piece would continue, were its arguments not complete
}

const (
	maxCalls = 64      // calls of one answer; the last one holds the rest, and is not run
	maxArgs  = 8 << 20 // bytes of arguments in one answer
)

// Add adds a piece. Its arguments are text, whole or in parts, or an object.
func (b *CallBuilder) Add(p CallPiece) {
	var args string
	if json.Unmarshal(p.Args, &args) != nil { // an object; null leaves it empty
		args = string(p.Args)
	}
	c := b.callOf(p)
	switch {
	case c == nil:
		c = b.begin(nil)
	case args != "" && p.ID != "" && p.ID == c.id && args == c.args.String() && c.whole(): // repeated
		return
	case p.Name != "" && (c.whole() || c.mayEcho() && p.Name != c.name):
		c = b.begin(c)
	}
	if p.ID != "" && (c.id == "" || p.Name == "") {
		c.id = p.ID
	}
	if p.Index != nil {
		c.index = p.Index
	}
	switch {
	case p.Name == c.name: // repeated
	case strings.HasPrefix(p.Name, c.name): // the whole name so far
		c.name = p.Name
	default:
		c.name += p.Name
	}
	if b.size += len(args); b.size > maxArgs {
		c.fault = fmt.Sprintf("its arguments are longer than %d MB", maxArgs>>20)
		return
	}
	c.args.WriteString(args)
}

// callOf returns the call that a piece would continue; nil if there is none. A piece
// without a name continues one, if there is any.
func (b *CallBuilder) callOf(p CallPiece) *builtCall {
	if len(b.calls) == 0 {
		return nil
	}
	latest := func(is func(*builtCall) bool) *builtCall {
		for i := len(b.calls) - 1; i >= 0; i-- {
			if is(b.calls[i]) {
				return b.calls[i]
			}
		}
		return nil
	}
	last := b.calls[len(b.calls)-1]
	unnumbered := func(c *builtCall) bool { return p.Index == nil || c.index == nil }
	numbered := func(c *builtCall) bool { return p.Index != nil && c.index != nil && *c.index == *p.Index }
	c := latest(func(c *builtCall) bool { return p.ID != "" && c.id == p.ID && (unnumbered(c) || numbered(c)) })
	if c == nil {
		if c = latest(numbered); c == nil && (p.Name == "" || unnumbered(last)) {
			c = last
		}
		if c != nil && p.Name != "" && p.ID != "" && c.id != "" {
			return nil
		}
	}
	return c
}

func (b *CallBuilder) begin(after *builtCall) *builtCall {
	if len(b.calls) == maxCalls {
		last := b.calls[maxCalls-1]
		last.fault = fmt.Sprintf("an answer has no more than %d calls", maxCalls-1)
		return last
	}
	c := &builtCall{after: after}
	b.calls = append(b.calls, c)
	return c
}

// whole reports whether the arguments are a complete object, or one coded as text.
func (c *builtCall) whole() bool {
	args := strings.TrimSpace(c.args.String())
	return (strings.HasSuffix(args, "}") || strings.HasSuffix(args, `"`)) && json.Valid([]byte(args))
}

// mayEcho reports whether what looks like a call may be the end of another one.
func (c *builtCall) mayEcho() bool {
	return c.after != nil && c.args.Len() == 0 && c.name == c.after.name
}

// isEcho reports whether what looked like a call was the end of another one, which
// may lack its id so far.
func (c *builtCall) isEcho() bool {
	if !c.mayEcho() || c.after.id != "" && c.id != "" && c.id != c.after.id {
		return false
	}
	c.after.id = cmp.Or(c.after.id, c.id)
	return true
}

// Calls returns the calls in the order in which they began. An id that several
// have is that of the first.
func (b *CallBuilder) Calls() (calls []ToolCall) {
	built := slices.DeleteFunc(slices.Clone(b.calls), (*builtCall).isEcho)
	ids := map[string]bool{}
	for _, c := range built {
		if ids[c.id] {
			c.id = ""
		}
		ids[c.id] = true
		name, _, _ := strings.Cut(c.name, "<|") // a mark of the model's own format
		call := ToolCall{ID: c.id, Name: strings.TrimSpace(name), Fault: c.fault}
		if call.Fault == "" {
			call.Args, call.Fault = readArgs([]byte(c.args.String()))
		}
		calls = append(calls, call)
	}
	return calls
}

// readArgs reads arguments, which may be coded as text again.
func readArgs(raw []byte) (args json.RawMessage, fault string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), ""
	}
	if err := json.Unmarshal(raw, new(any)); err != nil {
		return nil, "its arguments are not valid JSON (" + err.Error() + "): " + Short(string(raw))
	}
	var coded string
	if json.Unmarshal(raw, &coded) == nil && json.Valid([]byte(coded)) {
		return json.RawMessage(strings.TrimSpace(coded)), ""
	}
	return raw, ""
}
