package plain

import (
	"context"
	"encoding/json"
	"strings"

	"lifehub/agent"
	"lifehub/tui/arguments"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
)

// edit asks for each argument of a call again; an empty line leaves it as it
// is, and "" in quotes empties it. What comes out is asked about like any other
// call. false: nothing was changed.
func (p *Chat) edit(ctx context.Context, asked agent.PermissionAsked) (agent.Reply, bool) {
	e := &dialog.Editor{Pairs: arguments.Of(asked.Input)}
	p.note("an empty line keeps an argument as it is; quoted text may contain \\n")
	changed := false
	for i := range e.Pairs {
		pair := &e.Pairs[i]
		line, ok := p.ask(ctx, "  "+safetext.Reveal(pair.Key)+": "+safetext.Reveal(arguments.Exact(pair.Value))+"\n  "+safetext.Reveal(pair.Key)+" = ")
		if !ok {
			return agent.Reply{}, false
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		value, err := typedValue(pair, line)
		if err != nil {
			p.note(err.Error())
			return agent.Reply{}, false
		}
		pair.Value, changed = value, true
	}
	if !changed {
		return agent.Reply{}, false
	}
	if asked.Check != nil {
		if err := asked.Check(e.Input()); err != nil {
			p.note("that does not fit: " + err.Error())
			return agent.Reply{}, false
		}
	}
	return e.Edited(), true
}

// typedValue is what a line stands for: of a text the line itself, or what
// stands in its quotes; of anything else JSON.
func typedValue(pair *arguments.Argument, line string) (json.RawMessage, error) {
	var text string
	if json.Unmarshal(pair.Value, &text) != nil {
		return dialog.AsJSON(pair.Key, line)
	}
	if strings.HasPrefix(line, `"`) && json.Unmarshal([]byte(line), &text) == nil {
		return json.RawMessage(line), nil
	}
	return json.Marshal(safetext.Line(line))
}
