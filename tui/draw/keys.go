package draw

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Keys holds every key of the screen with its help. The footer, the help page and the permission
// dialog are generated from it.
type Keys struct {
	// In the composer.
	Send, Steer, Newline, Up, Down, Undo, Redo, Search, Compose, Palette, TickOff, Help, HelpOnEmpty key.Binding
	// Anywhere.
	Stop, Clear, Leave, Suspend, Redraw, Sidebar, Plan, Unfold, New, Conversations, Model, Mode key.Binding
	// Scrolling the transcript.
	PageUp, PageDown, Top, Bottom, PreviousQuestion, NextQuestion, Focus key.Binding
	// In the transcript, when it has the focus.
	Next, Previous, First, Last, Fold, Copy, CopyCode, Open, Back, Edit, Retry, EarlierBranch, LaterBranch key.Binding
	// In lists and long texts.
	ListUp, ListDown, ListPageUp, ListPageDown, ListFirst, ListLast key.Binding
	// In a list that typing filters.
	PickerChoose, PickerClose key.Binding
	// In the list of conversations.
	ChatRename, ChatDelete key.Binding
	// In the lists above the composer, such as commands.
	Complete key.Binding
	// In the statistics.
	StatsNext, StatsPrevious key.Binding
	// In the tree of a conversation.
	TreeShow, TreeGoOn, TreeFork, TreeClose key.Binding
	// In the permission dialog.
	Once, ForConversation, Always, Refuse, RefuseWhy, EditInput, Details, NextAsked, OnceAll key.Binding
	// When editing the arguments of a call.
	ArgumentNext, ArgumentPrevious key.Binding
	// In the permission dialog, when it is unknown whether a call happened.
	Again, Checked key.Binding
	// In the MCP server panel.
	ServersLook, ServersTrust, ServersConsent, ServersRestart, ServersSwitch, ServersLog, ServersClose key.Binding
	// In a dialog of a server.
	FillIn, Agree, Decline, CopyURL key.Binding
	// In a server's form.
	FieldNext, FieldPrevious, FieldDone, OptionNext, OptionPrevious, OptionSwitch key.Binding
	// In the reader.
	Reader struct{ Next, Previous, Follow, Back, Edit, Copy, Close key.Binding }
}

// DefaultKeys returns the default keys.
func DefaultKeys() Keys {
	var k Keys
	for _, group := range k.Groups() {
		for _, named := range group.Keys {
			*named.Binding = named.builtin
		}
	}
	return k
}

// KeyGroup is a set of keys that are active in the same place.
type KeyGroup struct {
	name  string
	Title string
	Keys  []NamedKey
}

// NamedKey is a key and its name in the settings.
type NamedKey struct {
	Name string
	*key.Binding
	builtin key.Binding
}

// Groups returns every key, grouped by the place where it is active, with its name in the settings,
// its help and its default keys.
func (k *Keys) Groups() []KeyGroup {
	on := func(name string, b *key.Binding, help, what string, keys ...string) NamedKey {
		return NamedKey{name, b, key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what))}
	}
	return []KeyGroup{
		{"composer", "Writing", []NamedKey{
			on("send", &k.Send, "enter", "send", "enter"),
			on("steer", &k.Steer, "ctrl+y", "send to the running turn (also ctrl+enter)", "ctrl+y", "ctrl+enter"),
			on("newline", &k.Newline, "ctrl+j", "new line (also alt+enter, shift+enter)", "ctrl+j",
				"alt+enter", "shift+enter"),
			on("earlier", &k.Up, "↑", "earlier prompt; edit or cancel a queued one", "up"),
			on("later", &k.Down, "↓", "later prompt", "down"),
			on("undo", &k.Undo, "ctrl+_", "undo (also ctrl+/)", "ctrl+_", "ctrl+/", "ctrl+shift+_", "ctrl+shift+-"),
			on("redo", &k.Redo, "alt+_", "redo (also alt+/)", "alt+_", "alt+/", "alt+shift+_", "alt+shift+-"),
			on("search", &k.Search, "ctrl+r", "search earlier prompts", "ctrl+r"),
			on("compose", &k.Compose, "ctrl+g", "write in your editor", "ctrl+g"),
			on("palette", &k.Palette, "ctrl+p", "commands (or type /)", "ctrl+p"),
			on("tick_off", &k.TickOff, "space", "tick off the chosen due task", "space"),
			on("help", &k.Help, "f1", "help", "f1"),
			on("help_on_empty", &k.HelpOnEmpty, "?", "help (empty input)", "?"),
		}},
		{"anywhere", "Anywhere", []NamedKey{
			on("stop", &k.Stop, "esc", "stop", "esc"),
			on("clear", &k.Clear, "ctrl+c", "clear, then stop, then quit", "ctrl+c"),
			on("leave", &k.Leave, "ctrl+d", "quit (empty input)", "ctrl+d"),
			on("suspend", &k.Suspend, "ctrl+z", "suspend", "ctrl+z"),
			on("redraw", &k.Redraw, "ctrl+l", "redraw", "ctrl+l"),
			on("sidebar", &k.Sidebar, "ctrl+b", "sidebar (empty input)", "ctrl+b"),
			on("plan", &k.Plan, "ctrl+t", "open and fold plans", "ctrl+t"),
			on("unfold", &k.Unfold, "ctrl+o", "unfold tools and thinking", "ctrl+o"),
			on("new", &k.New, "ctrl+n", "new conversation", "ctrl+n"),
			on("conversations", &k.Conversations, "ctrl+s", "conversations", "ctrl+s"),
			on("model", &k.Model, "alt+m", "choose a model", "alt+m"),
			on("mode", &k.Mode, "shift+tab", "auto, plan, loop or team", "shift+tab"),
			on("page_up", &k.PageUp, "pgup", "scroll up", "pgup"),
			on("page_down", &k.PageDown, "pgdn", "scroll down", "pgdown"),
			on("top", &k.Top, "ctrl+home", "go to the beginning", "ctrl+home"),
			on("bottom", &k.Bottom, "ctrl+end", "go to the end", "ctrl+end"),
			on("previous_question", &k.PreviousQuestion, "alt+↑", "previous question", "alt+up"),
			on("next_question", &k.NextQuestion, "alt+↓", "next question", "alt+down"),
			on("focus", &k.Focus, "tab", "move to the conversation (empty input)", "tab"),
		}},
		{"transcript", "In the transcript", []NamedKey{
			on("next", &k.Next, "↓", "next (also j)", "j", "down"),
			on("previous", &k.Previous, "↑", "previous (also k)", "k", "up"),
			on("first", &k.First, "g", "first", "g", "home"),
			on("last", &k.Last, "G", "last", "G", "end"),
			on("fold", &k.Fold, "space", "fold or unfold, preview a source", "space"),
			on("copy", &k.Copy, "y", "copy", "y"),
			on("copy_code", &k.CopyCode, "1–9", "copy code block N", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
			on("open", &k.Open, "enter", "read the source, or unfold", "enter"),
			on("back", &k.Back, "esc", "back to the composer", "esc", "tab", "i"),
			on("edit", &k.Edit, "e", "edit that question (new branch)", "e"),
			on("retry", &k.Retry, "r", "ask that question again (new branch)", "r"),
			on("earlier_branch", &k.EarlierBranch, "←", "previous branch", "left", "h"),
			on("later_branch", &k.LaterBranch, "→", "next branch", "right", "l"),
		}},
		{"list", "In lists and long texts", []NamedKey{
			on("list_up", &k.ListUp, "↑", "up (also k)", "up", "k", "ctrl+p"),
			on("list_down", &k.ListDown, "↓", "down (also j)", "down", "j", "ctrl+n"),
			on("list_page_up", &k.ListPageUp, "pgup", "page up", "pgup"),
			on("list_page_down", &k.ListPageDown, "pgdn", "page down (also space)", "pgdown", "space"),
			on("list_first", &k.ListFirst, "home", "first (also g)", "home", "g", "ctrl+home"),
			on("list_last", &k.ListLast, "end", "last (also G)", "end", "G", "ctrl+end"),
		}},
		{"picker", "In a list that typing filters", []NamedKey{
			on("picker_choose", &k.PickerChoose, "enter", "choose", "enter"),
			on("picker_close", &k.PickerClose, "esc", "close", "esc", "ctrl+c"),
		}},
		{"chats", "In the list of conversations", []NamedKey{
			on("chat_rename", &k.ChatRename, "ctrl+r", "rename", "ctrl+r"),
			on("chat_delete", &k.ChatDelete, "ctrl+x", "delete on closing; again: undo", "ctrl+x"),
		}},
		{"completion", "In a list above the composer", []NamedKey{
			on("complete", &k.Complete, "tab", "complete a command or a name", "tab"),
		}},
		{"stats", "In statistics (/stats)", []NamedKey{
			on("stats_next", &k.StatsNext, "tab", "next grouping", "tab", "right"),
			on("stats_previous", &k.StatsPrevious, "shift+tab", "previous grouping", "shift+tab", "left"),
		}},
		{"tree", "In the tree of a conversation", []NamedKey{
			on("tree_show", &k.TreeShow, "enter", "show that branch", "enter"),
			on("tree_go_on", &k.TreeGoOn, "c", "continue there (new branch)", "c"),
			on("tree_fork", &k.TreeFork, "f", "fork to a new chat", "f"),
			on("tree_close", &k.TreeClose, "esc", "close", "esc", "q", "ctrl+c"),
		}},
		{"permission", "When a tool asks: choose, then enter", []NamedKey{
			on("once", &k.Once, "y", "allow once", "y"),
			on("for_conversation", &k.ForConversation, "s", "allow in this chat", "s"),
			on("always", &k.Always, "a", "always allow, by the rule it shows", "a"),
			on("refuse", &k.Refuse, "n", "deny", "n"),
			on("refuse_why", &k.RefuseWhy, "N", "deny and say why", "N"),
			on("edit_input", &k.EditInput, "e", "edit the arguments", "e"),
			on("details", &k.Details, "d", "show details (no enter)", "d"),
			on("next_asked", &k.NextAsked, "tab", "next request (no enter)", "tab"),
			on("once_all", &k.OnceAll, "A", "allow all once", "A"),
			on("again", &k.Again, "r", "run again", "r"),
			on("checked", &k.Checked, "c", "I checked, it's done", "c"),
		}},
		{"arguments", "When editing arguments", []NamedKey{
			on("argument_next", &k.ArgumentNext, "tab", "next argument", "tab"),
			on("argument_previous", &k.ArgumentPrevious, "shift+tab", "previous argument", "shift+tab"),
		}},
		{"servers", "In MCP servers (/mcp)", []NamedKey{
			on("servers_look", &k.ServersLook, "t", "review changes", "t", "enter"),
			on("servers_trust", &k.ServersTrust, "y", "trust this version", "y"),
			on("servers_consent", &k.ServersConsent, "c", "grant access", "c"),
			on("servers_restart", &k.ServersRestart, "r", "restart", "r"),
			on("servers_switch", &k.ServersSwitch, "e", "switch on or off", "e"),
			on("servers_log", &k.ServersLog, "l", "show its log", "l"),
			on("servers_close", &k.ServersClose, "esc", "close", "esc", "q"),
		}},
		{"input", "When a server asks: choose, then enter", []NamedKey{
			on("fill_in", &k.FillIn, "tab", "fill in (no enter)", "tab"),
			on("agree", &k.Agree, "y", "agree, or fill in", "y"),
			on("decline", &k.Decline, "n", "decline", "n"),
			on("copy_url", &k.CopyURL, "c", "copy the address (no enter)", "c"),
		}},
		{"form", "In a server's form", []NamedKey{
			on("field_next", &k.FieldNext, "↓", "next field (also tab)", "down", "tab"),
			on("field_previous", &k.FieldPrevious, "↑", "previous field (also shift+tab)", "up", "shift+tab"),
			on("field_done", &k.FieldDone, "enter", "next field; submits on the last", "enter"),
			on("option_next", &k.OptionNext, "→", "next choice", "right"),
			on("option_previous", &k.OptionPrevious, "←", "previous choice", "left"),
			on("option_switch", &k.OptionSwitch, "space", "toggle, where several may be chosen", "space"),
		}},
		{"reader", "In a note or a document", []NamedKey{
			on("reader_next", &k.Reader.Next, "tab", "next link", "tab"),
			on("reader_previous", &k.Reader.Previous, "shift+tab", "previous link", "shift+tab"),
			on("reader_follow", &k.Reader.Follow, "enter", "follow the link: open a note, copy an address", "enter"),
			on("reader_back", &k.Reader.Back, "backspace", "previous note", "backspace", "left", "h"),
			on("reader_edit", &k.Reader.Edit, "e", "open in your editor", "e"),
			on("reader_copy", &k.Reader.Copy, "y", "copy the link, or the text", "y"),
			on("reader_close", &k.Reader.Close, "esc", "close (also q)", "esc", "q", "ctrl+c"),
		}},
	}
}

// LeaveOut disables the keys of features that this chat lacks.
func (k *Keys) LeaveOut(models, conversations, branches bool) {
	for _, group := range []struct {
		gone bool
		keys []*key.Binding
	}{
		{models, []*key.Binding{&k.Model}},
		{conversations, []*key.Binding{&k.Conversations}},
		{branches, []*key.Binding{
			&k.Edit, &k.Retry, &k.EarlierBranch, &k.LaterBranch, &k.TreeShow, &k.TreeGoOn,
			&k.TreeFork, &k.TreeClose,
		}},
	} {
		for _, b := range group.keys {
			b.SetEnabled(!group.gone)
		}
	}
}

// CheckKeys returns an error unless keys, by action, can replace the defaults: every action must exist,
// and no key may have two meanings in one place.
func CheckKeys(keys map[string][]string) error {
	k := DefaultKeys()
	return k.Rebind(keys)
}

// Rebind replaces the keys of the named actions.
func (k *Keys) Rebind(keys map[string][]string) error {
	known := map[string]NamedKey{}
	for _, group := range k.Groups() {
		for _, named := range group.Keys {
			known[named.Name] = named
		}
	}
	for name, keys := range keys {
		named, ok := known[name]
		if !ok {
			return fmt.Errorf("keys: no action is called %q", name)
		}
		if len(keys) == 0 {
			return fmt.Errorf("keys: %s has no key", name)
		}
		named.SetKeys(keys...)
		named.SetHelp(strings.Join(keys, "/"), named.Help().Desc)
	}
	return k.clashes()
}

// asking are the actions that are active in every dialog.
const asking = "page_up page_down top bottom earlier later send newline stop option_next option_previous"

// alongside maps a group to the groups and actions whose keys are active at the same time.
var alongside = map[string]string{
	"composer": "anywhere", "picker": "list", "chats": "list picker", "stats": "list", "tree": "list",
	"servers": "list", "reader": "list",
	"permission": asking, "input": asking, "arguments": "send newline stop",
}

// clashes returns an error if a key has two meanings in one place.
func (k *Keys) clashes() error {
	groups := k.Groups()
	for _, group := range groups {
		live := append([]string{group.name}, strings.Fields(alongside[group.name])...)
		owner := map[string]string{}
		for _, other := range groups {
			for _, named := range other.Keys {
				if !slices.Contains(live, other.name) && !slices.Contains(live, named.Name) {
					continue
				}
				for _, pressed := range named.Keys() {
					if first, taken := owner[pressed]; taken {
						return fmt.Errorf("keys: %s is both %s and %s", pressed, first, named.Name)
					}
					owner[pressed] = named.Name
				}
			}
		}
	}
	return nil
}
