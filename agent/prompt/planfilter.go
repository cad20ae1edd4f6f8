package prompt

import (
	"encoding/json"
	"slices"
	"strings"

	"lifehub/internal/pattern"
)

// PlanFilter passes on a streamed answer up to the first plan in it, and drops
// the rest. Other JSON is held back until it is complete.
type PlanFilter struct {
	Say   func(text string)
	Known func(tool string) bool // reports whether there is a tool with this name
	Found bool                   // a plan was found

	held string // held back: the possible start of a plan
}

// planHead matches the start of a plan; maybeHead matches an incomplete
// planHead at the end of a text. cutPlan matches the start of what can only be
// a plan.
var (
	planHead  = pattern.Lazy("(?:```[A-Za-z_]*[ \t]*\r?\n\\s*)?(?:\\[\\s*)?\\{\\s*[\"'](?:reasoning|thoughts?|plan|steps|tasks|tool_calls|tool|tool_name|name|function|type|id|task_number|answer|again|description)[\"']\\s*:")
	maybeHead = pattern.Lazy("(?:`{1,2}|```[A-Za-z_]*[ \t]*(?:\r?\n?\\s*)?)?(?:\\[\\s*)?(?:\\{\\s*(?:[\"'][a-z_]{0,12}[\"']?\\s*)?)?\\z")
	cutPlan   = pattern.Lazy(`^[^{]*\{\s*["'](?:reasoning|steps|tasks|tool_calls|tool|tool_name)["']`)
)

// Add handles the next piece of the answer.
func (f *PlanFilter) Add(piece string) {
	if f.Found {
		return
	}
	holding := planHead.MatchString(f.held)
	f.held += piece
	if holding && !strings.ContainsAny(piece, "}]") && len(f.held) <= maxDraft {
		return
	}
	for {
		at := planHead.FindStringIndex(f.held)
		if at == nil {
			f.say(maybeHead.FindStringIndex(f.held)[0])
			return
		}
		f.say(at[0])
		begin := strings.IndexAny(f.held, "[{")
		raw, length, err := readJSON(f.held[begin:])
		switch {
		case err != nil && len(f.held) <= maxDraft:
			return // incomplete
		case err != nil:
			f.say(len(f.held))
			return
		case isPlan(raw, f.Known):
			f.Found, f.held = true, ""
			return
		}
		f.say(begin + length)
	}
}

// End passes on what is held back, unless it is an incomplete plan.
func (f *PlanFilter) End() {
	if planHead.MatchString(f.held) && cutPlan.MatchString(f.held) {
		f.Found, f.held = true, ""
	}
	f.say(len(f.held))
}

// say passes on the first size bytes held back.
func (f *PlanFilter) say(size int) {
	if size > 0 {
		f.Say(f.held[:size])
	}
	f.held = f.held[size:]
}

// isPlan reports whether JSON is a plan or calls of known tools, rather than
// JSON that the user asked for.
func isPlan(raw json.RawMessage, known func(tool string) bool) bool {
	d, err := asDraft(raw)
	if err != nil {
		return false
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // fails for a list, which has no fields
	list := listIn(fields)
	ours := fields == nil || list != nil || fields["tool"] != nil // not just a name with arguments
	if slices.ContainsFunc(d.Steps, func(s Step) bool { return known(s.Tool) || ours && s.Tool != "" && s.Input != nil }) {
		return true
	}
	keys := 0
	for _, has := range []bool{fields["reasoning"] != nil, list != nil, fields["answer"] != nil} {
		if has {
			keys++
		}
	}
	return keys > 1 || keys == 1 && len(fields) == 1 && len(d.Steps) == 0
}
