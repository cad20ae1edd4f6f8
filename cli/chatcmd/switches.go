package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lifehub/chat"
	"lifehub/cli/app"
)

// switchCommands returns /notes, /readonly, /approve and /think.
func (bg *background) switchCommands() []chat.Command {
	return []chat.Command{
		{
			Name: "notes", Group: chat.InNotes, Args: "[on|only|off]",
			Help: "use your notes, only your notes, or no notes", Run: bg.slashNotes,
		},
		{
			Name: "readonly", Group: chat.InModel, Args: "[on|off]",
			Help: "let nothing write or send in this chat", Run: bg.slashReadOnly,
		},
		{
			Name: "approve", Group: chat.InModel, Args: "[on|off]",
			Help: "show each plan before it runs", Run: bg.slashApprove,
		},
		{
			Name: "think", Group: chat.InModel, Args: "[off|on|low|medium|high]",
			Help: "let the model think first, if it can", Run: bg.slashThink,
		},
	}
}

func (bg *background) slashNotes(_ context.Context, _, given string) (string, error) {
	uses := map[app.NotesUse]string{
		app.NotesOn:   "with your notes and all other tools",
		app.NotesOnly: "with your notes only: no web, weather, mail or MCP server",
		app.NotesOff:  "without your notes: none is searched, read or changed",
	}
	use := app.NotesUse(strings.ToLower(given))
	if given == "" {
		use = bg.App.NotesUse.Or(app.NotesOn)
	}
	if uses[use] == "" {
		return "", fmt.Errorf("/notes takes on, only or off")
	}
	bg.App.NotesUse.Use(use)
	bg.tell()
	return fmt.Sprintf("Notes **%s**: questions are answered %s. `/notes on|only|off` changes it for this run.", use,
		uses[use]), nil
}

func (bg *background) slashReadOnly(_ context.Context, _, given string) (string, error) {
	on, err := flip("readonly", &bg.App.ReadOnly, given)
	if err != nil {
		return "", err
	}
	bg.tell()
	if on {
		return "**Read-only**: no tool that writes or sends is offered or runs, whatever the rules say. " +
			bg.App.ReadOnly.End("`/readonly off`") + ".", nil
	}
	return "Read-only is **off**: tools that write or send are available again, and ask as the rules say.", nil
}

func (bg *background) slashApprove(_ context.Context, _, given string) (string, error) {
	on, err := flip("approve", &bg.App.Approve, given)
	switch {
	case err != nil:
		return "", err
	case on:
		return "**Approval**: each plan is shown before it runs, to drop or change its steps. " +
			bg.App.Approve.End("`/approve off`") + ".", nil
	}
	return "Approval is **off**: plans run at once; what changes or sends something asks as the rules say.", nil
}

// flip turns a restriction on or off, or toggles it if the command names neither.
func flip(command string, r *app.Restriction, given string) (on bool, err error) {
	switch strings.ToLower(given) {
	case "":
		on = !r.On()
	case "on":
		on = true
	case "off":
	default:
		return false, fmt.Errorf("/%s takes on or off", command)
	}
	return on, r.Use(on)
}

// writes wraps a command that changes notes or facts: it fails while the chat is read-only.
func (bg *background) writes(run func(ctx context.Context, conversation, args string) (string,
	error),
) func(context.Context, string, string) (string, error) {
	return func(ctx context.Context, conversation, args string) (string, error) {
		if bg.App.ReadOnly.On() {
			return "", errors.New("this chat is read-only; " + bg.App.ReadOnly.End("/readonly off"))
		}
		return run(ctx, conversation, args)
	}
}

func (bg *background) slashThink(_ context.Context, _, given string) (string, error) {
	think := strings.ToLower(given)
	if think == "" {
		think = bg.App.Think.Or(bg.App.Settings.Think)
	}
	if !slices.Contains([]string{"off", "on", "low", "medium", "high"}, think) {
		return "", fmt.Errorf("/think takes off, on, low, medium or high")
	}
	bg.App.Think.Use(think)
	return fmt.Sprintf("Thinking **%s**, for models that can. `think: %s` in the settings makes it permanent.", think,
		think), nil
}
