package agent

import (
	"fmt"
	"strings"
	"time"

	"lifehub/internal/text"
	"lifehub/internal/when"
)

// Coverage describes how complete and current a search of the notes was.
type Coverage struct {
	Indexed int `json:"indexed"`          // number of indexed notes
	Total   int `json:"total"`            // number of notes in the folders
	Unread  int `json:"unread,omitempty"` // part of Total not indexed yet at the time of the search
	// Unreadable is the number of notes that could not be read. Their last
	// indexed text is searched.
	Unreadable int `json:"unreadable,omitempty"`

	Age      float64 `json:"age_s"`    // seconds since the folders were last scanned
	Embedder string  `json:"embedder"` // its name, or [WordsOnly] and the reason
	// Time is the period that the search was about; nil if none.
	Time *when.Found `json:"time,omitempty"`
	// Lacking says what the search asked for and no note has: "Davi, Japan: in no note."; "" if nothing.
	Lacking string `json:"lacking,omitempty"`
}

// WordsOnly is the prefix of [Coverage.Embedder] if the search used keywords
// only.
const WordsOnly = "keyword search only"

// Semantic reports whether the search was semantic as well.
func (c *Coverage) Semantic() bool {
	return c != nil && !strings.HasPrefix(c.Embedder, WordsOnly)
}

// Lacks returns Lacking; "" for nil.
func (c *Coverage) Lacks() string {
	if c == nil {
		return ""
	}
	return c.Lacking
}

// OnlyTime returns the period if only notes of that period can answer; nil otherwise.
func (c *Coverage) OnlyTime() *when.Found {
	if c == nil || c.Time == nil || !c.Time.Only {
		return nil
	}
	return c.Time
}

// worthSaying is the age from which Health mentions it.
const worthSaying = 10 * time.Minute

// Health summarizes the coverage: what was searched, and why the search may be
// incomplete or out of date.
func (c Coverage) Health() string {
	parts := []string{"searched " + text.Count(c.Total, "note")}
	if c.Indexed < c.Total {
		parts[0] = fmt.Sprintf("searched %s of %s notes", text.Thousands(c.Indexed), text.Thousands(c.Total))
	}
	if c.Unreadable > 0 {
		parts = append(parts, text.Thousands(c.Unreadable)+" not readable now")
	}
	if c.Time != nil {
		parts = append([]string{c.Time.String()}, parts...)
	}
	if strings.HasPrefix(c.Embedder, WordsOnly) {
		parts = append(parts, text.OneLine(c.Embedder))
	}
	if age := time.Duration(c.Age * float64(time.Second)); age >= worthSaying {
		parts = append(parts, "indexed "+roughly(age)+" ago")
	}
	return strings.Join(parts, " · ")
}

// StillReading describes how far indexing has progressed; "" if it is complete.
func (c *Coverage) StillReading() string {
	if c == nil || c.Unread == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s notes read so far, those with your words first",
		text.Thousands(c.Indexed), text.Thousands(c.Total))
}

// Caveats says what an answer may lack: what the question asks for and no note has, unless the
// answer says it or rests on nothing, and that notes are still being read.
func (e Ended) Caveats() (lines []string) {
	if e.Coverage == nil {
		return nil
	}
	if lacking := e.Coverage.Lacking; len(e.Sources) > 0 && !strings.Contains(e.Answer, lacking) {
		lines = append(lines, lacking)
	}
	if reading := e.Coverage.StillReading(); reading != "" {
		lines = append(lines, reading)
	}
	return lines
}

// roughly formats a duration in its largest unit.
func roughly(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
