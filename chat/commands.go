package chat

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/tui/safetext"
)

// The groups of the command palette.
const (
	InConversation = "Conversation"
	InNotes        = "Notes"
	InModel        = "Model"
	InView         = "View"
	InHelp         = "Help"
)

// Groups are all groups in the order of the palette; "" is shown as Yours.
var Groups = []string{InConversation, InNotes, InModel, InView, InHelp, ""}

// Title returns the help text with a capital letter.
func (c Command) Title() string {
	first, size := utf8.DecodeRuneInString(c.Help)
	return string(unicode.ToUpper(first)) + c.Help[size:]
}

// AllCommands returns the slash commands that are available with these options,
// in the order of the palette. pages are the commands that open a panel.
func (o *Options) AllCommands(pages []Command) []Command {
	list := []Command{
		{
			Name: "help", Aliases: []string{"h", "?"}, Group: InHelp, Args: "[TOPIC]",
			Help: "show keys, commands and help pages",
		},
		{Name: "new", Aliases: []string{"clear"}, Group: InConversation, Help: "start a new conversation"},
		{Name: "copy", Group: InConversation, Args: "[N]", Help: "copy the last answer, or its code block N"},
		{Name: "context", Group: InView, Help: "show what fills the context window"},
		{Name: "sources", Group: InConversation, Help: "go to the sources of the last answer"},
		{Name: "theme", Group: InView, Args: "[NAME]", Help: "choose the colours of the screen"},
	}
	add := func(there bool, commands ...Command) {
		if there {
			list = append(list, commands...)
		}
	}
	add(o.Conversations != nil, Command{
		Name: "resume", Aliases: []string{"chats", "sessions"}, Group: InConversation, Args: "[WORDS]",
		Help: "open an earlier conversation",
	})
	add(o.Archive != nil, Command{
		Name: "find", Group: InConversation, Args: "[WORDS]",
		Help: "search this conversation",
	})
	add(o.Resumer != nil, Command{
		Name: "continue", Group: InConversation,
		Help: "resume an answer that was cut off or stopped",
	})
	add(o.Branches != nil,
		Command{Name: "edit", Group: InConversation, Args: "[N]", Help: "edit your last question, or the Nth last"},
		Command{Name: "retry", Group: InConversation, Help: "ask your last question again"},
		Command{Name: "tree", Group: InConversation, Help: "show all branches"},
		Command{Name: "fork", Group: InConversation, Help: "fork to a new chat"})
	add(o.Archive != nil, Command{
		Name: "rename", Group: InConversation, Args: "TITLE",
		Help: "rename this conversation",
	})
	add(o.Models != nil,
		Command{Name: "model", Aliases: []string{"m"}, Group: InModel, Args: "[NAME]", Help: "choose a model"},
		Command{Name: "pull", Group: InModel, Args: "NAME", Help: "pull a model"})
	add(o.Modes != nil, Command{
		Name: "mode", Group: InModel, Args: "[auto|plan|loop|team]",
		Help: "choose the answer strategy",
	})
	add(o.Artifacts != nil, Command{
		Name: "artifacts", Group: InNotes, Args: "[NAME]",
		Help: "show the documents of this conversation",
	})
	add(true, pages...)
	add(o.Servers != nil, Command{Name: "mcp", Group: InHelp, Help: "manage MCP servers"})
	for _, other := range o.Commands {
		add(Find(list, other.Name) == nil, other) // a front end's own command takes precedence
	}
	list = append(list, o.templates()...)
	return append(list, Command{Name: "quit", Aliases: []string{"q", "exit", "bye"}, Group: InHelp, Help: "leave"})
}

// templates returns a command for each prompt of a server.
func (o *Options) templates() []Command {
	if o.Templates == nil {
		return nil
	}
	var list []Command
	for _, t := range o.Templates.Templates() {
		args := ""
		if len(t.Blanks) > 0 {
			args = "[…]" // arguments that are missing are asked for in a form
		}
		list = append(list, Command{Name: safetext.Line(t.Name), Args: args, Help: safetext.Line(t.Help), Template: &t})
	}
	return list
}

// Find returns the command with a name or alias, or nil.
func Find(commands []Command, name string) *Command {
	for i, c := range commands {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return &commands[i]
		}
	}
	return nil
}

// Unknown returns a message that no command has this name, with the closest name.
func Unknown(commands []Command, name string) string {
	var names []string
	for _, c := range commands {
		names = append(names, append([]string{c.Name}, c.Aliases...)...)
	}
	message := "unknown command: /" + safetext.Line(name)
	if near := text.Nearest(name, names, 3); near != "" && len(name) > 2 {
		message += "; did you mean /" + safetext.Line(near) + "?"
	}
	return message
}

// NoShell returns a message if a line looks like a shell command, such as "!ls",
// which is not sent; otherwise "".
func NoShell(line string) string {
	rest, marked := strings.CutPrefix(line, "!")
	if first, _ := utf8.DecodeRuneInString(rest); !marked ||
		!unicode.IsLetter(first) && !strings.ContainsRune("./~", first) {
		return ""
	}
	return "LifeHub runs no shell, so !… is not sent; a space before it sends it as text"
}

// Usage returns the command line, such as "/model [NAME]".
func (c Command) Usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }

// Own reports whether the front end implements the command itself.
func (c Command) Own() bool {
	return c.Run == nil && c.Turn == nil && c.Prompt == nil && c.Template == nil
}

// Line returns the command as typed with its arguments.
func (c Command) Line(args string) string { return "/" + strings.TrimSpace(c.Name+" "+args) }

// Lacks reports whether the command begins a turn and its arguments are missing.
func (c Command) Lacks(args string) bool {
	return c.Turn != nil && args == "" && !strings.HasPrefix(c.Args, "[")
}

// Start runs a command that is not the front end's own. It returns either the turn to begin, for a message,
// or, if begin is nil, the text to show.
func (c Command) Start(ctx context.Context, by Assistant, conversation, args string) (
	begin TurnStarter, message, output string, err error,
) {
	message = c.Line(args)
	switch {
	case c.Lacks(args):
		return nil, "", "usage: " + c.Usage(), nil
	case c.Turn != nil:
		return func(ctx context.Context, id, line string) <-chan agent.Event { return c.Turn(ctx, id, line, args) },
			message, "", nil
	case c.Prompt != nil:
		message, err = c.Prompt(args)
		return by.Ask, message, "", err
	case c.Begin != nil:
		if begin, err = c.Begin(ctx, conversation, args); begin != nil || err != nil {
			return begin, message, "", err
		}
	}
	output, err = c.Run(ctx, conversation, args)
	return nil, "", output, err
}
