package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/panel"
)

// FirstRead is how many turns are read when a conversation opens: more than a
// screen has room for. The others follow.
const FirstRead = 50

// Opened brings a saved conversation.
type Opened struct {
	ID, Title string
	Exchanges []agent.Exchange
	At        string // the turn to scroll to; "": the end
	Focus     bool   // and to give the keys to
	Said      string // Markdown to show below
	Err       error
}

// Earlier brings the turns of an open conversation that stand above those that
// are held.
type Earlier struct {
	Opening   int    // the one they were read for
	Last      string // the last of them
	Exchanges []agent.Exchange
	Err       error
	Edit      int // the question that is edited then, counted back from the last one; 0: none
}

// Read fills in the turns of a conversation: the last ones, or all when an
// earlier one is looked for.
func Read(ctx context.Context, o *backend.Options, c Opened) Opened {
	if c.At == "" {
		c.Exchanges, c.Err = o.Conversations.Latest(ctx, c.ID, FirstRead)
	} else {
		c.Exchanges, c.Err = o.Conversations.Exchanges(ctx, c.ID)
	}
	return c
}

// Open reads a conversation.
func Open(ctx context.Context, o *backend.Options, c Opened) tea.Cmd {
	return func() tea.Msg { return Read(ctx, o, c) }
}

// Show switches to the branch of a turn, where there are branches, and reads it.
func Show(ctx context.Context, o *backend.Options, c Opened) tea.Cmd {
	return func() tea.Msg {
		if o.Branches != nil {
			if err := o.Branches.Show(ctx, c.ID, c.At); err != nil {
				return Opened{Err: err}
			}
		}
		return Read(ctx, o, c)
	}
}

// GoOn has the next question answer a turn, and reads the path to it.
func GoOn(ctx context.Context, o *backend.Options, turn string, c Opened) tea.Cmd {
	return func() tea.Msg {
		if err := o.Branches.GoOn(ctx, c.ID, turn); err != nil {
			return Opened{Err: err}
		}
		return Read(ctx, o, c)
	}
}

// Fork copies the path to a turn into its own conversation and reads that.
func Fork(ctx context.Context, o *backend.Options, from, turn string) tea.Cmd {
	return func() tea.Msg {
		c, err := o.Branches.Fork(ctx, from, turn)
		if err != nil {
			return Opened{Err: err}
		}
		return Read(ctx, o, Opened{ID: c.ID, Title: c.Title, Said: panel.ForkedText})
	}
}

// ReadEarlier reads the turns of a conversation down to one.
func ReadEarlier(ctx context.Context, o *backend.Options, id string, e Earlier) tea.Cmd {
	return func() tea.Msg {
		list, err := o.Conversations.Exchanges(ctx, id)
		end := slices.IndexFunc(list, func(x agent.Exchange) bool { return x.Turn == e.Last })
		e.Exchanges, e.Err = list[:end+1], err
		return e
	}
}

// List lists the conversations, of which current is open. What is typed filters
// their titles, and finds messages by their words.
func List(ctx context.Context, o *backend.Options, current string) tea.Cmd {
	return func() tea.Msg {
		c, err := panel.NewChats(ctx, o.Conversations)
		c.Current = current
		c.Pick = func(at int) tea.Cmd { return Open(ctx, o, Opened{ID: c.List[at].ID, Title: c.List[at].Title}) }
		if o.Search != nil {
			c.None = "no title or message matches"
			c.Search = func(words string) tea.Cmd { return find(ctx, o, words) }
		}
		if o.Rename != nil {
			c.Rename = func(id, title string) tea.Cmd { return rename(ctx, o, id, title) }
		}
		if o.Remove != nil {
			c.Remove = func(ids []string) tea.Cmd { return remove(ctx, o, ids) }
		}
		return panel.OpenMsg{Panel: c, Err: err}
	}
}

// renamedMsg says that a conversation got a title of the user's own.
type renamedMsg struct{ id, title string }

func rename(ctx context.Context, o *backend.Options, id, title string) tea.Cmd {
	return func() tea.Msg {
		if err := o.Rename(ctx, id, title); err != nil {
			return panel.PageMsg{Err: err}
		}
		return renamedMsg{id, title}
	}
}

// removedMsg says how many conversations were deleted.
type removedMsg int

func remove(ctx context.Context, o *backend.Options, ids []string) tea.Cmd {
	return func() tea.Msg {
		if err := o.Remove(ctx, ids...); err != nil {
			return panel.PageMsg{Err: err}
		}
		return removedMsg(len(ids))
	}
}

// find looks for messages, for the list of conversations.
func find(ctx context.Context, o *backend.Options, words string) tea.Cmd {
	return func() tea.Msg {
		hits, err := o.Search(ctx, words, panel.HitLimit)
		found := panel.FoundMsg{Words: words, Rows: panel.HitRows(hits), Err: err}
		found.Pick = func(at int) tea.Cmd {
			return Show(ctx, o, Opened{ID: hits[at].Conversation, Title: hits[at].Title, At: hits[at].Turn, Focus: true})
		}
		return found
	}
}
