package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CallPiece is a part of a tool call, as servers stream them. Which call it belongs
// to follows from its index, its id or its position; servers differ in which of
// these they set, and in how they count.
type CallPiece struct {
	Index *int   // nil: the server does not number calls
	ID    string // in the first piece, or in each
	Name  string // in the first piece, in each, or in several parts before the arguments
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
	if c == nil {
		c = b.begin()
	}
	switch same := p.ID != "" && p.ID == c.id || p.Index != nil && c.index != nil; {
	case strings.HasPrefix(p.Name, c.name): // the first, or one that repeats it
		c.name = p.Name
	case same && c.args.Len() == 0:
		c.name += p.Name
	}
	c.id, c.index = cmp.Or(c.id, p.ID), cmp.Or(c.index, p.Index)
	if b.size += len(args); b.size > maxArgs {
		c.fault = fmt.Sprintf("its arguments are longer than %d MB", maxArgs>>20)
		return
	}
	if c.args.Len() > 0 && strings.HasPrefix(args, c.args.String()) { // all so far, in each piece
		c.args.Reset()
	}
	c.args.WriteString(args)
}

// callOf returns the call that a piece continues: the latest with its index, and with its id unless it has
// an index; nil if it begins one. A piece with a name begins one if it has another id, or if the arguments
// of the latest are complete.
func (b *CallBuilder) callOf(p CallPiece) *builtCall {
	for _, c := range slices.Backward(b.calls) {
		otherID := p.ID != "" && c.id != "" && p.ID != c.id
		switch {
		case p.Index != nil && c.index != nil && *p.Index != *c.index, p.Name == "" && otherID && p.Index == nil:
			continue
		case p.Name != "" && (otherID || c.whole()):
			return nil
		}
		return c
	}
	return nil
}

func (b *CallBuilder) begin() *builtCall {
	if len(b.calls) == maxCalls {
		last := b.calls[maxCalls-1]
		last.fault = fmt.Sprintf("an answer has no more than %d calls", maxCalls-1)
		return last
	}
	c := &builtCall{}
	b.calls = append(b.calls, c)
	return c
}

// whole reports whether the arguments are a complete object, or one coded as text.
func (c *builtCall) whole() bool {
	args := strings.TrimSpace(c.args.String())
	return (strings.HasSuffix(args, "}") || strings.HasSuffix(args, `"`)) && json.Valid([]byte(args))
}

// Calls returns the calls in the order in which they began. An id that several
// have is that of the first. Without a name and arguments, it is no call.
func (b *CallBuilder) Calls() (calls []ToolCall) {
	ids := map[string]bool{}
	for _, c := range b.calls {
		if ids[c.id] {
			c.id = ""
		}
		ids[c.id] = true
		name, _, _ := strings.Cut(c.name, "<|") // a mark of the model's own format
		call := ToolCall{ID: c.id, Name: strings.TrimSpace(name), Fault: c.fault}
		if call.Fault == "" {
			call.Args, call.Fault = readArgs(c.args.String())
		}
		if call.Name == "" && string(call.Args) == "{}" {
			continue
		}
		calls = append(calls, call)
	}
	return calls
}

// readArgs reads arguments, which may be coded as text again, need repair, or follow an empty object.
func readArgs(text string) (args json.RawMessage, fault string) {
	text = Unfenced(text)
	raw := json.RawMessage("{}")
	for rest := text; rest != "" && rest != "null"; {
		read, length, err := ReadJSON(rest)
		if err == nil && string(raw) != "{}" {
			err = errors.New("text after its end")
		}
		if err != nil {
			return nil, "its arguments are not valid JSON (" + err.Error() + "): " + Short(text)
		}
		raw, rest = read, strings.TrimSpace(rest[length:])
	}
	var coded string
	if json.Unmarshal(raw, &coded) == nil {
		if inner, fault := readArgs(coded); fault == "" {
			return inner, ""
		}
	}
	return raw, ""
}
