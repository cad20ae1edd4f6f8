package chat

import (
	"context"
	"encoding/json"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/tui/backend"
)

// noteCommand returns /note, which adds a line to today's daily note with the tool a plan would
// use. So the user sees the change first, and /undo reverts it.
func noteCommand(assistant *turn.Agent) backend.Command {
	return backend.Command{
		Name: "note", Group: backend.InNotes, Args: "TEXT", Help: "add to today's daily note",
		Turn: func(ctx context.Context, conversation, line, text string) <-chan agent.Event {
			input, err := json.Marshal(map[string]string{"content": text})
			if err != nil { // cannot happen for strings
				input = nil
			}
			return assistant.Call(ctx, conversation, line, agent.Step{Tool: "append_note", Input: input})
		},
	}
}
