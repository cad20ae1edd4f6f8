package agent

import (
	"time"

	"lifehub/llm"
)

// Conversation is a talk that can be opened again.
type Conversation struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Messages int       `json:"messages"`
	TitledBy Titled    `json:"titled_by,omitempty"`
}

// Titled says where a conversation's title comes from.
type Titled string

// The origins of a title; what is neither was made by a model.
const (
	ByWords Titled = "words" // the first words of the first message
	ByUser  Titled = "user"  // never replaced by another
)

// Exchange is one turn of a saved conversation: what was asked and answered.
// A conversation is a tree of them, of which one path is current.
type Exchange struct {
	Turn     string    `json:"turn"`
	After    string    `json:"after,omitempty"`    // the turn that it goes on from; "": it begins the conversation
	Siblings []string  `json:"siblings,omitempty"` // the turns that go on from there, in the order of asking, itself among them; nil: it alone
	Current  bool      `json:"current"`            // it is on the current path
	Asked    time.Time `json:"asked"`
	Question string    `json:"question"`
	Answer   Answer    `json:"answer"`
	Open     bool      `json:"open,omitempty"`    // it never ended: LifeHub was stopped in the middle
	Running  bool      `json:"running,omitempty"` // it is open because somebody works on it right now
	Undone   bool      `json:"undone,omitempty"`  // it was taken back
}

// Hit is a message in which the words of a search stand.
type Hit struct {
	Conversation string    `json:"conversation"`
	Title        string    `json:"title"`
	Turn         string    `json:"turn"`
	Role         llm.Role  `json:"role"`
	Time         time.Time `json:"time"`
	Excerpt      string    `json:"excerpt"` // one line around the first word that was found
	From         int       `json:"from"`    // bytes of the excerpt where that word begins and ends
	To           int       `json:"to"`
}

// NoteChange is what a tool is about to do to a note, kept before it is done
// so that it can be taken back.
type NoteChange struct {
	Vault  string // absolute folder
	Path   string // below it, with slashes
	Before []byte // nil: there was no such note
	After  string // SHA-256 of what is to be written, in hex; "": it is taken away
}
