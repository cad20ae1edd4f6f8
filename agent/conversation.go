package agent

import "time"

// Conversation is a talk that can be opened again.
type Conversation struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Messages int       `json:"messages"`
}

// Exchange is one turn of a kept conversation: what was asked and answered.
type Exchange struct {
	Turn     string    `json:"turn"`
	Asked    time.Time `json:"asked"`
	Question string    `json:"question"`
	Answer   Answer    `json:"answer"`
	Open     bool      `json:"open,omitempty"` // it never ended: LifeHub was stopped in the middle
}
