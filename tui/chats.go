package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// firstRead is how many turns are read when a conversation opens: more than a
// screen has room for. The others follow.
const firstRead = 50

// conversationMsg is a saved conversation that was read.
type conversationMsg struct {
	ID, Title string
	Exchanges []agent.Exchange
	At        string // the turn to scroll to, or "" for the end
	Focus     bool   // and give it the focus
	Output    string // Markdown to show below
	Err       error
}

// earlierMsg has the turns of an open conversation before those on the screen.
type earlierMsg struct {
	Opening   int    // the one they were read for
	Last      string // the last of them
	Exchanges []agent.Exchange
	Err       error
	Edit      int // the question that is edited then, counted back from the last one; 0: none
}

// readConversation reads the turns of a conversation: the last ones, or all if an
// earlier one is to be shown.
func readConversation(ctx context.Context, o *chat.Options, c conversationMsg) conversationMsg {
	if c.At == "" {
		c.Exchanges, c.Err = o.Conversations.Latest(ctx, c.ID, firstRead)
	} else {
		c.Exchanges, c.Err = o.Conversations.Exchanges(ctx, c.ID)
	}
	return c
}

// openConversation reads a conversation, after a change of its branches if there is one.
func openConversation(ctx context.Context, o *chat.Options, c conversationMsg, changes ...func() error) tea.Cmd {
	return func() tea.Msg {
		for _, change := range changes {
			if err := change(); err != nil {
				return conversationMsg{Err: err}
			}
		}
		return readConversation(ctx, o, c)
	}
}

// showBranch switches to the branch of a turn, if there are branches, and reads it.
func showBranch(ctx context.Context, o *chat.Options, c conversationMsg) tea.Cmd {
	if o.Branches == nil {
		return openConversation(ctx, o, c)
	}
	return openConversation(ctx, o, c, func() error { return o.Branches.Show(ctx, c.ID, c.At) })
}

// forkConversation copies the path to a turn into a new conversation and reads that.
func forkConversation(ctx context.Context, o *chat.Options, from, turn string) tea.Cmd {
	return func() tea.Msg {
		c, err := o.Branches.Fork(ctx, from, turn)
		if err != nil {
			return conversationMsg{Err: err}
		}
		return readConversation(ctx, o, conversationMsg{ID: c.ID, Title: c.Title, Output: panel.ForkedText})
	}
}

// readEarlierTurns reads the turns of a conversation up to a given one.
func readEarlierTurns(ctx context.Context, o *chat.Options, id string, e earlierMsg) tea.Cmd {
	return func() tea.Msg {
		list, err := o.Conversations.Exchanges(ctx, id)
		end := slices.IndexFunc(list, func(x agent.Exchange) bool { return x.Turn == e.Last })
		e.Exchanges, e.Err = list[:end+1], err
		return e
	}
}

// List lists the conversations, of which current is open. Typed text filters their
// titles and finds messages.
func List(ctx context.Context, o *chat.Options, current, words string) tea.Cmd {
	return func() tea.Msg {
		c, err := panel.NewChats(ctx, o.Conversations)
		c.Current, c.Fixed = current, o.Archive == nil
		c.Pick = func(at int) tea.Cmd {
			return openConversation(ctx, o, conversationMsg{ID: c.List[at].ID, Title: c.List[at].Title})
		}
		if o.Archive != nil {
			c.Invites = "type to search titles and messages"
			c.None = "no title or message matches"
			c.Search = func(words string) tea.Cmd { return find(ctx, o, "", words) }
		}
		c.Filter = safetext.Line(words)
		return panel.OpenMsg{Panel: c, Then: c.Find(), Err: err}
	}
}

// find searches the messages of a conversation, "" for all.
func find(ctx context.Context, o *chat.Options, conversation, words string) tea.Cmd {
	return func() tea.Msg {
		hits, err := o.Archive.Search(ctx, conversation, words, panel.HitLimit)
		found := panel.FoundMsg{Words: words, Rows: panel.HitRows(hits, conversation != ""), Err: err}
		found.Pick = func(at int) tea.Cmd {
			return showBranch(ctx, o, conversationMsg{
				ID: hits[at].Conversation, Title: hits[at].Title,
				At: hits[at].Turn, Focus: true,
			})
		}
		return found
	}
}
