// Package panel is what covers the conversation, in one frame: lists, help,
// the tree, figures, servers, the first run.
package panel

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
)

// Panel covers the transcript until it is closed.
type Panel interface {
	// Update takes a key, a paste, the wheel, or what a command of the panel
	// brought. next is what covers the transcript from now on, nil: nothing; did
	// is what the screen is to do about it, nil: nothing.
	Update(msg tea.Msg, k *keys.Map) (next Panel, did tea.Msg, cmd tea.Cmd)
	// View returns at most so many rows, none wider than width. A [Frame] draws
	// the border around them.
	View(width, rows int, k *keys.Map, theme *draw.Theme) Content
	// Hints are the keys that matter now, the one that closes it last.
	Hints(k *keys.Map) []string
}

// What a panel asks of the screen.
type (
	Flash      string                        // a line to show until the next key
	Failed     struct{ Err error }           // what went wrong
	NotMine    struct{ tea.PasteMsg }        // a paste that the panel has no place for
	Show       struct{ Turn string }         // the branch of a turn
	GoOn       struct{ Turn string }         // the next question answers a turn
	Fork       struct{ Turn string }         // its own conversation
	Consent    struct{ Server string }       // the user wants to give it
	Pull       struct{ Model string }        // fetch it
	NotesTaken struct{ Offer backend.Offer } // they are used from now on
	Later      struct{}                      // on to the chat
)
