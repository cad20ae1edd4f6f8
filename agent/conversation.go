package agent

import (
	"time"

	"lifehub/llm"
)

// Conversation is a saved conversation.
type Conversation struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Messages int       `json:"messages"`
	TitledBy Titled    `json:"titled_by,omitempty"`
}

// Titled is the origin of a conversation's title.
type Titled string

// Origins of a title. Any other value means that a model wrote it.
const (
	ByWords Titled = "words" // first words of the first message
	ByUser  Titled = "user"  // never replaced
)

// Exchange is one turn of a saved conversation: a question and its answer. A
// conversation is a tree of exchanges, one path of which is current.
type Exchange struct {
	Turn  string `json:"turn"`
	After string `json:"after,omitempty"` // turn that it follows; "" if it is the first
	// turns that follow the same turn, in order, including this one; nil if there are no others
	Siblings []string  `json:"siblings,omitempty"`
	Current  bool      `json:"current"` // on the current path
	Asked    time.Time `json:"asked"`
	Question string    `json:"question"`
	Answer   Answer    `json:"answer"`
	Origin   Origin    `json:"origin,omitzero"`   // of question and answer
	Open     bool      `json:"open,omitempty"`    // the turn never ended, because LifeHub was stopped
	Running  bool      `json:"running,omitempty"` // open because it is running now
	Undone   bool      `json:"undone,omitempty"`  // its changes were undone
}

// Hit is a message that contains the words of a search.
type Hit struct {
	Conversation string    `json:"conversation"`
	Title        string    `json:"title"`
	Turn         string    `json:"turn"`
	Role         llm.Role  `json:"role"`
	Time         time.Time `json:"time"`
	Excerpt      string    `json:"excerpt"` // one line around the first match
	From         int       `json:"from"`    // byte range of that match in the excerpt
	To           int       `json:"to"`
}

// NoteChange is a change that a tool is about to make to a note, saved
// beforehand so that it can be undone.
type NoteChange struct {
	Vault  string // absolute folder
	Path   string // path within the vault, with slashes
	Before []byte // nil if there was no such note
	After  string // SHA-256 of the new content, in hex; "" if the note is removed
}

// ChangeSet are changes of several notes that are made as one.
type ChangeSet struct {
	ID      int64
	Changes []NoteChange // in the order in which they are made
}
