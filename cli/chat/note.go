package chat

import (
	"context"
	"encoding/json"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/tui/backend"
)

// noteCommand adds a line to today's daily note by the tool that a plan would
// use: the user sees the change before it is made, and /undo takes it back.
func noteCommand(assistant *turn.Agent) backend.Command {
	return backend.Command{
		Name: "note", Group: backend.InNotes, Args: "TEXT", Help: "add to today's daily note",
		Turn: func(ctx context.Context, conversation, asked, text string) <-chan agent.Event {
			input, err := json.Marshal(map[string]string{"content": text})
			if err != nil { // of two strings
				input = nil
			}
			return assistant.Call(ctx, conversation, asked, agent.Step{Tool: "append_note", Input: input})
		},
	}
}
