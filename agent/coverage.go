package agent

import (
	"fmt"
	"strings"
	"time"

	"lifehub/internal/text"
	"lifehub/internal/when"
)

// Coverage says how far a search of the notes can be trusted.
type Coverage struct {
	Indexed int `json:"indexed"`          // notes
	Total   int `json:"total"`            // notes in the folders
	Unread  int `json:"unread,omitempty"` // of Total: being read at the time of the search
	// Unreadable are the notes that the system did not let be read. What was read of
	// them before is searched.
	Unreadable int `json:"unreadable,omitempty"`

	Age      float64 `json:"age_s"`    // seconds since the notes were last looked at
	Embedder string  `json:"embedder"` // its name, or [WordsOnly] and why
	// Time is the one that the search was about; nil: none.
	Time *when.Found `json:"time,omitempty"`
}

// WordsOnly begins [Coverage.Embedder] where no embedder took part in a search.
const WordsOnly = "keyword search only"

// ByMeaning reports whether meaning took part in the search.
func (c *Coverage) ByMeaning() bool {
	return c != nil && !strings.HasPrefix(c.Embedder, WordsOnly)
}

// worthSaying is the age from which it is told.
const worthSaying = 10 * time.Minute

// Health is the coverage in a few words: what was searched, and what keeps
// the search from being whole and fresh.
func (c Coverage) Health() string {
	said := []string{"searched " + text.Count(c.Total, "note")}
	if c.Indexed < c.Total {
		said[0] = fmt.Sprintf("searched %s of %s notes", text.Thousands(c.Indexed), text.Thousands(c.Total))
	}
	if c.Unreadable > 0 {
		said = append(said, text.Thousands(c.Unreadable)+" not readable now")
	}
	if c.Time != nil {
		said = append([]string{c.Time.String()}, said...)
	}
	if strings.HasPrefix(c.Embedder, WordsOnly) {
		said = append(said, text.OneLine(c.Embedder))
	}
	if age := time.Duration(c.Age * float64(time.Second)); age >= worthSaying {
		said = append(said, "indexed "+roughly(age)+" ago")
	}
	return strings.Join(said, " · ")
}

// StillReading says what the answer may lack, not being read yet; "": nothing.
func (c *Coverage) StillReading() string {
	if c == nil || c.Unread == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s notes indexed so far; ask again when all are indexed", text.Thousands(c.Indexed), text.Thousands(c.Total))
}

// roughly is a length of time in its largest unit.
func roughly(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
