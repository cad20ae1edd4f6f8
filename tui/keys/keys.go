// Package keys is every key of the screen: what it is called in the settings,
// what it does and where, and how it moves in a list or a long text.
package keys

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Map is every key of the screen with its help. The footer, the help page
// and the permission dialog are made from it.
type Map struct {
	// In the composer.
	Send, Newline, Up, Down, Undo, Redo, Search, Compose, Palette, Help, HelpOnEmpty key.Binding
	// Anywhere.
	Stop, Clear, Leave, Suspend, Redraw, Plan, Unfold, New, Conversations, Model, Mode key.Binding
	// Moving in the transcript.
	PageUp, PageDown, Top, Bottom, PreviousQuestion, NextQuestion, Focus key.Binding
	// When the transcript has the keys.
	Next, Previous, First, Last, Fold, Copy, CopyCode, Open, Back, Edit, Retry, EarlierBranch, LaterBranch key.Binding
	// In lists and long texts.
	ListUp, ListDown, ListPageUp, ListPageDown, ListFirst, ListLast key.Binding
	// In a list that typing filters.
	PickerChoose, PickerClose key.Binding
	// In the lists above the composer.
	Complete key.Binding
	// Among the figures.
	StatsNext, StatsPrevious key.Binding
	// In the tree of a conversation.
	TreeShow, TreeGoOn, TreeFork, TreeClose key.Binding
	// In the permission dialog.
	Once, ForConversation, Always, Refuse, RefuseWhy, EditInput, Details, NextAsked, OnceAll key.Binding
	// Among the arguments of a call that are being changed.
	ArgumentNext, ArgumentPrevious key.Binding
	// There, when it is not known whether a call has happened.
	Again, Checked key.Binding
	// In the panel of servers.
	ServersLook, ServersTrust, ServersConsent, ServersRestart, ServersSwitch, ServersLog, ServersClose key.Binding
	// When a server asks for something.
	FillIn, Agree, Decline, CopyURL key.Binding
	// In its form.
	FieldNext, FieldPrevious, FieldDone, OptionNext, OptionPrevious, OptionSwitch key.Binding
	// In a replay.
	Pause, Faster, Slower, LeaveReplay key.Binding
}

func Default() Map {
	bind := func(help, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what))
	}
	return Map{
		Send:        bind("enter", "send", "enter"),
		Newline:     bind("ctrl+j", "new line (also alt+enter, shift+enter)", "ctrl+j", "alt+enter", "shift+enter"),
		Up:          bind("↑", "earlier prompt; change or cancel one that waits", "up"),
		Down:        bind("↓", "later prompt", "down"),
		Undo:        bind("ctrl+_", "undo (also ctrl+/)", "ctrl+_", "ctrl+/", "ctrl+shift+_", "ctrl+shift+-"),
		Redo:        bind("alt+_", "redo (also alt+/)", "alt+_", "alt+/", "alt+shift+_", "alt+shift+-"),
		Search:      bind("ctrl+r", "search earlier prompts", "ctrl+r"),
		Compose:     bind("ctrl+g", "write in your editor", "ctrl+g"),
		Palette:     bind("ctrl+p", "commands (or type /)", "ctrl+p"),
		Help:        bind("f1", "help", "f1"),
		HelpOnEmpty: bind("?", "help, when nothing is typed", "?"),

		Stop:          bind("esc", "stop", "esc"),
		Clear:         bind("ctrl+c", "clear, then stop, then quit", "ctrl+c"),
		Leave:         bind("ctrl+d", "quit, when nothing is typed", "ctrl+d"),
		Suspend:       bind("ctrl+z", "suspend", "ctrl+z"),
		Redraw:        bind("ctrl+l", "draw the screen anew", "ctrl+l"),
		Plan:          bind("ctrl+t", "fold the plan", "ctrl+t"),
		Unfold:        bind("ctrl+o", "unfold tools and thinking", "ctrl+o"),
		New:           bind("ctrl+n", "new conversation", "ctrl+n"),
		Conversations: bind("ctrl+s", "conversations", "ctrl+s"),
		Model:         bind("alt+m", "choose a model", "alt+m"),
		Mode:          bind("shift+tab", "plan, loop or team", "shift+tab"),

		PageUp:           bind("pgup", "scroll up", "pgup"),
		PageDown:         bind("pgdn", "scroll down", "pgdown"),
		Top:              bind("ctrl+home", "to the beginning", "ctrl+home"),
		Bottom:           bind("ctrl+end", "to the end", "ctrl+end"),
		PreviousQuestion: bind("alt+↑", "to the question before", "alt+up"),
		NextQuestion:     bind("alt+↓", "to the next question", "alt+down"),
		Focus:            bind("tab", "keys to the transcript, when nothing is typed", "tab"),

		Next:     bind("j", "next", "j", "down"),
		Previous: bind("k", "previous", "k", "up"),
		First:    bind("g", "first", "g", "home"),
		Last:     bind("G", "last", "G", "end"),
		Fold:     bind("space", "fold or unfold, preview of a source", "space"),
		Copy:     bind("y", "copy", "y"),
		CopyCode: bind("1–9", "copy that code block of the answer", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		Open:     bind("enter", "open in your editor, or unfold", "enter"),
		Back:     bind("esc", "back to the composer", "esc", "tab", "i"),

		Edit:          bind("e", "change that question: a branch", "e"),
		Retry:         bind("r", "ask that question once more: a branch", "r"),
		EarlierBranch: bind("←", "what was asked there before", "left", "h"),
		LaterBranch:   bind("→", "what was asked there later", "right", "l"),

		ListUp:       bind("↑", "up (also k)", "up", "k", "ctrl+p"),
		ListDown:     bind("↓", "down (also j)", "down", "j", "ctrl+n"),
		ListPageUp:   bind("pgup", "a page up", "pgup"),
		ListPageDown: bind("pgdn", "a page down (also space)", "pgdown", "space"),
		ListFirst:    bind("home", "to the first (also g)", "home", "g", "ctrl+home"),
		ListLast:     bind("end", "to the last (also G)", "end", "G", "ctrl+end"),

		PickerChoose: bind("enter", "choose", "enter"),
		PickerClose:  bind("esc", "close", "esc", "ctrl+c"),

		Complete: bind("tab", "complete a command or a name", "tab"),

		StatsNext:     bind("tab", "sum up by another", "tab", "right"),
		StatsPrevious: bind("shift+tab", "sum up by the one before", "shift+tab", "left"),

		TreeShow:  bind("enter", "show that branch", "enter"),
		TreeGoOn:  bind("c", "go on from there: a branch", "c"),
		TreeFork:  bind("f", "a conversation of its own from there", "f"),
		TreeClose: bind("esc", "close", "esc", "q", "ctrl+c"),

		Once:            bind("y", "allow once", "y"),
		ForConversation: bind("s", "allow in this chat", "s"),
		Always:          bind("a", "always allow, by the rule it shows", "a"),
		Refuse:          bind("n", "deny", "n"),
		RefuseWhy:       bind("N", "deny and say why", "N"),
		EditInput:       bind("e", "edit the arguments", "e"),
		Details:         bind("d", "details, at once", "d"),
		NextAsked:       bind("tab", "next request, at once", "tab"),
		OnceAll:         bind("A", "allow all once", "A"),

		ArgumentNext:     bind("tab", "next argument", "tab"),
		ArgumentPrevious: bind("shift+tab", "argument before", "shift+tab"),

		Again:          bind("r", "run again", "r"),
		Checked:        bind("c", "I checked, it's done", "c"),
		ServersLook:    bind("t", "what is new or has changed", "t", "enter"),
		ServersTrust:   bind("y", "trust it like this", "y"),
		ServersConsent: bind("c", "give the consent that it wants", "c"),
		ServersRestart: bind("r", "restart", "r"),
		ServersSwitch:  bind("e", "switch on or off", "e"),
		ServersLog:     bind("l", "its log", "l"),
		ServersClose:   bind("esc", "close", "esc", "q"),

		FillIn:  bind("tab", "fill in, at once", "tab"),
		Agree:   bind("y", "agree, or fill in", "y"),
		Decline: bind("n", "decline", "n"),
		CopyURL: bind("c", "copy the address, at once", "c"),

		FieldNext:      bind("↓", "next field (also tab)", "down", "tab"),
		FieldPrevious:  bind("↑", "field before (also shift+tab)", "up", "shift+tab"),
		FieldDone:      bind("enter", "next, then sends", "enter"),
		OptionNext:     bind("→", "next choice", "right"),
		OptionPrevious: bind("←", "choice before", "left"),
		OptionSwitch:   bind("space", "choose, of several in or out", "space"),

		Pause:       bind("space", "pause", "space"),
		Faster:      bind("+", "twice as fast", "+", "="),
		Slower:      bind("-", "half as fast", "-"),
		LeaveReplay: bind("q", "leave", "q", "esc"),
	}
}

// Group is the keys that are live in one place.
type Group struct {
	name  string
	Title string
	Keys  []Named
}

type Named struct {
	Name string // in the config
	*key.Binding
}

// Groups lists every key by the place where it works.
func (k *Map) Groups() []Group {
	return []Group{
		{"composer", "Writing", []Named{
			{"send", &k.Send},
			{"newline", &k.Newline},
			{"earlier", &k.Up},
			{"later", &k.Down},
			{"undo", &k.Undo},
			{"redo", &k.Redo},
			{"search", &k.Search},
			{"compose", &k.Compose},
			{"palette", &k.Palette},
			{"help", &k.Help},
			{"help_on_empty", &k.HelpOnEmpty},
		}},
		{"anywhere", "Anywhere", []Named{
			{"stop", &k.Stop},
			{"clear", &k.Clear},
			{"leave", &k.Leave},
			{"suspend", &k.Suspend},
			{"redraw", &k.Redraw},
			{"plan", &k.Plan},
			{"unfold", &k.Unfold},
			{"new", &k.New},
			{"conversations", &k.Conversations},
			{"model", &k.Model},
			{"mode", &k.Mode},
			{"page_up", &k.PageUp},
			{"page_down", &k.PageDown},
			{"top", &k.Top},
			{"bottom", &k.Bottom},
			{"previous_question", &k.PreviousQuestion},
			{"next_question", &k.NextQuestion},
			{"focus", &k.Focus},
		}},
		{"transcript", "In the transcript", []Named{
			{"next", &k.Next},
			{"previous", &k.Previous},
			{"first", &k.First},
			{"last", &k.Last},
			{"fold", &k.Fold},
			{"copy", &k.Copy},
			{"copy_code", &k.CopyCode},
			{"open", &k.Open},
			{"back", &k.Back},
			{"edit", &k.Edit},
			{"retry", &k.Retry},
			{"earlier_branch", &k.EarlierBranch},
			{"later_branch", &k.LaterBranch},
		}},
		{"list", "In lists and long texts", []Named{
			{"list_up", &k.ListUp},
			{"list_down", &k.ListDown},
			{"list_page_up", &k.ListPageUp},
			{"list_page_down", &k.ListPageDown},
			{"list_first", &k.ListFirst},
			{"list_last", &k.ListLast},
		}},
		{"picker", "In a list that typing filters", []Named{
			{"picker_choose", &k.PickerChoose},
			{"picker_close", &k.PickerClose},
		}},
		{"completion", "In a list above the composer", []Named{
			{"complete", &k.Complete},
		}},
		{"stats", "Among the figures (/stats)", []Named{
			{"stats_next", &k.StatsNext},
			{"stats_previous", &k.StatsPrevious},
		}},
		{"tree", "In the tree of a conversation", []Named{
			{"tree_show", &k.TreeShow},
			{"tree_go_on", &k.TreeGoOn},
			{"tree_fork", &k.TreeFork},
			{"tree_close", &k.TreeClose},
		}},
		{"permission", "When a tool asks: choose, then enter", []Named{
			{"once", &k.Once},
			{"for_conversation", &k.ForConversation},
			{"always", &k.Always},
			{"refuse", &k.Refuse},
			{"refuse_why", &k.RefuseWhy},
			{"edit_input", &k.EditInput},
			{"details", &k.Details},
			{"next_asked", &k.NextAsked},
			{"once_all", &k.OnceAll},
			{"again", &k.Again},
			{"checked", &k.Checked},
		}},
		{"arguments", "Among the arguments of a call", []Named{
			{"argument_next", &k.ArgumentNext},
			{"argument_previous", &k.ArgumentPrevious},
		}},
		{"servers", "Among the MCP servers (/mcp)", []Named{
			{"servers_look", &k.ServersLook},
			{"servers_trust", &k.ServersTrust},
			{"servers_consent", &k.ServersConsent},
			{"servers_restart", &k.ServersRestart},
			{"servers_switch", &k.ServersSwitch},
			{"servers_log", &k.ServersLog},
			{"servers_close", &k.ServersClose},
		}},
		{"input", "When a server asks: choose, then enter", []Named{
			{"fill_in", &k.FillIn},
			{"agree", &k.Agree},
			{"decline", &k.Decline},
			{"copy_url", &k.CopyURL},
		}},
		{"form", "In its form", []Named{
			{"field_next", &k.FieldNext},
			{"field_previous", &k.FieldPrevious},
			{"field_done", &k.FieldDone},
			{"option_next", &k.OptionNext},
			{"option_previous", &k.OptionPrevious},
			{"option_switch", &k.OptionSwitch},
		}},
		{"replay", "In a replay", []Named{
			{"pause", &k.Pause},
			{"faster", &k.Faster},
			{"slower", &k.Slower},
			{"leave_replay", &k.LeaveReplay},
		}},
	}
}

// LeaveOut switches the keys off for what there is not.
func (k *Map) LeaveOut(models, conversations, branches, replay bool) {
	for _, group := range []struct {
		gone bool
		keys []*key.Binding
	}{
		{models, []*key.Binding{&k.Model}},
		{conversations, []*key.Binding{&k.Conversations}},
		{branches, []*key.Binding{&k.Edit, &k.Retry, &k.EarlierBranch, &k.LaterBranch, &k.TreeShow, &k.TreeGoOn, &k.TreeFork, &k.TreeClose}},
		{replay, []*key.Binding{&k.Pause, &k.Faster, &k.Slower, &k.LeaveReplay}},
	} {
		for _, b := range group.keys {
			b.SetEnabled(!group.gone)
		}
	}
}

// Check reports whether keys by action can be put over the built-in ones:
// every action exists and no key means two things in one place.
func Check(keys map[string][]string) error {
	k := Default()
	return k.Rebind(keys)
}

// Rebind puts keys over those of the named actions.
func (k *Map) Rebind(keys map[string][]string) error {
	known := map[string]Named{}
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

// alongside are the groups whose keys are live instead of another group too.
var alongside = map[string]string{"composer": "anywhere", "picker": "list", "stats": "list", "tree": "list", "servers": "list"}

// reading are the keys that scroll through a question, at any time.
func (k *Map) reading() []Named {
	return []Named{
		{"page_up", &k.PageUp},
		{"page_down", &k.PageDown},
		{"top", &k.Top},
		{"bottom", &k.Bottom},
		{"earlier", &k.Up},
		{"later", &k.Down},
	}
}

// clashes reports a key that means two things in one place.
func (k *Map) clashes() error {
	groups := k.Groups()
	for _, group := range groups {
		owner := map[string]string{}
		list := group.Keys
		if at := slices.IndexFunc(groups, func(g Group) bool { return g.name == alongside[group.name] }); at >= 0 {
			list = slices.Concat(list, groups[at].Keys)
		}
		switch group.name {
		case "permission", "input":
			list = slices.Concat(list, k.reading(), []Named{{"send", &k.Send}, {"newline", &k.Newline}, {"stop", &k.Stop}, {"option_next", &k.OptionNext}, {"option_previous", &k.OptionPrevious}})
		case "arguments":
			list = slices.Concat(list, []Named{{"send", &k.Send}, {"newline", &k.Newline}, {"stop", &k.Stop}})
		}
		for _, named := range list {
			for _, pressed := range named.Keys() {
				if other, taken := owner[pressed]; taken {
					return fmt.Errorf("keys: %s is both %s and %s", pressed, other, named.Name)
				}
				owner[pressed] = named.Name
			}
		}
	}
	return nil
}
