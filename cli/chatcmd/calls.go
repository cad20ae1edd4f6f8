package chatcmd

import (
	"context"
	"encoding/json"
	"time"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/chat"
	"lifehub/internal/when"
	"lifehub/llm/offline"
)

// callCommands returns the commands that call one tool, as a plan would. So the user sees a change first, and
// /undo reverts it. What is typed after them is read as in `lifehub ask`.
func callCommands(assistant *turn.Agent) []chat.Command {
	command := func(name, args, help string) chat.Command {
		return chat.Command{
			Name: name, Group: chat.InNotes, Args: args, Help: help,
			Turn: func(ctx context.Context, conversation, line, typed string) <-chan agent.Event {
				tool, args, _ := offline.CallOf(name, typed, when.DayOf(time.Now()))
				input, err := json.Marshal(args)
				if err != nil { // cannot happen for strings
					input = nil
				}
				return assistant.Call(ctx, conversation, line, agent.Step{Tool: tool, Input: input})
			},
		}
	}
	return []chat.Command{
		command("note", "TEXT", "add to today's daily note"),
		command("task", "TEXT [due:DAY]", "add a task"),
		command(chat.Done, "TASK", "tick off a task, by its words or as NOTE:LINE"),
		command("move", "NOTE TO", "rename or move a note; links to it follow"),
		command("merge", "NOTE INTO", "add a note to another one; links to it follow"),
		command("retag", "TAG NEW", "rename a tag in all notes"),
		command("tasks", "[open|due|overdue|done|all] [WORDS]", "list tasks"),
	}
}
