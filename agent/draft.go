package agent

// Draft is what the user has typed and not sent.
type Draft struct {
	Conversation string   `json:"conversation,omitempty"` // in which it was typed; "" if it has not begun
	Title        string   `json:"-"`                      // of that conversation
	Text         string   `json:"text,omitempty"`         // in the composer
	Pastes       []Paste  `json:"pastes,omitempty"`       // long texts that Text has by name
	Changing     string   `json:"changing,omitempty"`     // the turn whose question Text replaces; "": none
	Editing      bool     `json:"editing,omitempty"`      // the user's editor has Text
	Waiting      []string `json:"waiting,omitempty"`      // messages that wait for a turn to end, in order
	Sending      string   `json:"sending,omitempty"`      // a message that is being saved as a turn; "": none
}

// Paste is a long text that is in a message by name.
type Paste struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Own  bool   `json:"own,omitempty"` // it is a message of the user's, not from the clipboard
}

// Empty reports whether nothing was typed.
func (u Draft) Empty() bool {
	return u.Text == "" && !u.Editing && len(u.Waiting) == 0 && u.Sending == ""
}
