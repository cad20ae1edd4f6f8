package agent

// Draft is text that the user has typed but not sent.
type Draft struct {
	Conversation string   `json:"conversation,omitempty"` // conversation it was typed in; "" for a new one
	Title        string   `json:"-"`                      // title of that conversation
	Text         string   `json:"text,omitempty"`         // text in the composer
	Pastes       []Paste  `json:"pastes,omitempty"`       // long texts that Text refers to by name
	Changing     string   `json:"changing,omitempty"`     // turn whose question Text replaces; "" if none
	Editing      bool     `json:"editing,omitempty"`      // Text is open in the user's editor
	Waiting      []string `json:"waiting,omitempty"`      // queued messages, in order
	Sending      string   `json:"sending,omitempty"`      // message that is being saved as a turn; "" if none

	Steering []Steering `json:"steering,omitempty"` // messages that the running turn has not taken yet, in order
}

// Paste is a long text that a message refers to by name.
type Paste struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Own  bool   `json:"own,omitempty"` // an earlier message of the user rather than the clipboard
}

// Empty reports whether nothing was typed.
func (u Draft) Empty() bool {
	return u.Text == "" && !u.Editing && len(u.Waiting) == 0 && u.Sending == "" && len(u.Steering) == 0
}
