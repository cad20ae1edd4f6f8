package panel

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/dialog"
)

// Results of commands for the screen.
type (
	// OpenMsg opens a panel whose contents were read.
	OpenMsg struct {
		Panel  Panel  // nil if there is nothing to show
		Reason string // why there is nothing to show
		Err    error
		Then   tea.Cmd // once it is open; nil: nothing
	}
	// PageMsg is text to show in the transcript.
	PageMsg struct {
		Text   string // Markdown
		Err    error
		Reload bool // the conversation is read again before it is shown
	}
	// ConsentMsg has the page on which the user consents to a server.
	ConsentMsg struct {
		server, page string
		stop         context.CancelFunc
	}
	// RenamedMsg reports that a conversation was renamed.
	RenamedMsg Rename
	// RemovedMsg reports the number of deleted conversations.
	RemovedMsg int
	// ConsentedMsg reports that a consent has ended.
	ConsentedMsg struct {
		Server string
		Err    error
	}
)

// OpenTree reads the turns of a conversation and shows them as a tree.
func OpenTree(ctx context.Context, from chat.Branches, conversation string) tea.Cmd {
	return func() tea.Msg {
		list, err := from.Tree(ctx, conversation)
		if err != nil || len(list) == 0 {
			return OpenMsg{Reason: "no questions in this conversation yet", Err: err}
		}
		return OpenMsg{Panel: NewTree(list, time.Now())}
	}
}

// OpenArtifacts lists the documents of a conversation, or the versions of the
// one that is named, the newest first.
func OpenArtifacts(ctx context.Context, from chat.Artifacts, conversation, name string) tea.Cmd {
	if name != "" {
		return func() tea.Msg {
			p, versions, err := VersionPicker(ctx, from, conversation, name)
			p.Pick = func(at int) tea.Cmd {
				at = len(versions) - 1 - at
				return func() tea.Msg { return OpenMsg{Panel: NewDocument(name, VersionPage(versions, at), 0, 0)} }
			}
			return OpenMsg{Panel: &p, Err: err}
		}
	}
	return func() tea.Msg {
		p, list, err := ArtifactPicker(ctx, from, conversation)
		p.Pick = func(at int) tea.Cmd { return OpenArtifacts(ctx, from, conversation, list[at].Name) }
		return OpenMsg{Panel: &p, Err: err}
	}
}

// Do begins the consent to a server. It runs in the background until the user has visited the page or
// declined.
func (c Consent) Do(ctx context.Context, o *chat.Options) tea.Cmd {
	ctx, stop := context.WithCancel(ctx)
	pages := make(chan string, 1)
	give := func() tea.Msg {
		defer stop()
		defer close(pages)
		err := o.Servers.Consent(ctx, c.Server, func(page string) { pages <- page })
		if ctx.Err() != nil {
			err = nil // the user's own no
		}
		return ConsentedMsg{c.Server, err}
	}
	show := func() tea.Msg {
		if page, ok := <-pages; ok {
			return ConsentMsg{c.Server, page, stop}
		}
		return nil
	}
	return tea.Batch(give, show)
}

// Question returns the request to visit the page.
func (c ConsentMsg) Question() agent.InputAsked {
	return agent.InputAsked{
		ID: dialog.ConsentID + c.server,
		Question: agent.Question{
			From: c.server, Kind: agent.URLInput, URL: c.page,
			Message: "needs your consent. Open this page in your browser; the chat continues when you are done there.",
		},
		Reply: func(given agent.Input) {
			if given.Action != agent.InputAccepted {
				c.stop()
			}
		},
	}
}
