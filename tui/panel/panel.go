// Package panel has the panels that cover the conversation, in one frame: lists, help, the
// tree, figures, servers, the first run.
package panel

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/draw"
)

// Panel covers the transcript until it is closed.
type Panel interface {
	// Update handles a key, a paste, the wheel, or the result of a command of the panel.
	// next is the panel that is open from now on, nil for none; did is a request to the
	// screen, or nil.
	Update(msg tea.Msg, k *draw.Keys) (next Panel, did tea.Msg, cmd tea.Cmd)
	// View returns at most so many rows, none wider than width. A [Frame] draws
	// the border around them.
	View(width, rows int, k *draw.Keys, theme *draw.Theme) Content
	// Hints are the keys that matter now, the one that closes it last.
	Hints(k *draw.Keys) []string
}

// Request is what a panel asks for that needs only the options. It is done in the background.
type Request interface {
	Do(ctx context.Context, o *chat.Options) tea.Cmd
}

// Requests of a panel to the screen.
type (
	Flash      string                     // a line to show until the next key
	Failed     struct{ Err error }        // what went wrong
	NotMine    struct{ tea.PasteMsg }     // a paste that the panel has no place for
	Show       struct{ Turn string }      // the branch of a turn
	GoOn       struct{ Turn string }      // the next question answers a turn
	Fork       struct{ Turn string }      // its own conversation
	Consent    struct{ Server string }    // the user wants to give it
	Rename     struct{ ID, Title string } // a conversation
	Remove     struct{ IDs []string }     // conversations
	ReadNote   struct{ Note *Note }       // see [Note.Read]
	Figures    struct{ By string }        // read them
	Pull       struct{ Model string }     // fetch it
	LookAt     struct{ Path string }      // what is there, for the first run
	TakeNotes  struct{ Offer chat.Offer } // use them
	NotesTaken struct{ Offer chat.Offer } // they are used from now on
	Wear       struct{ Theme string }     // preview it; "": the theme of the settings
	Later      struct{}                   // on to the chat
)
