package chat

import (
	"fmt"

	"lifehub/llm"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// OfflineText is the notice that no model answers.
const OfflineText = llm.OfflineNotice

// Parts returns short texts for a status line of the given width: the model, the
// notes, and where the model runs.
func (s Status) Parts(width int) []string {
	var parts []string
	switch {
	case s.Provider == "offline" && width < 70:
		parts = append(parts, "no model")
	case s.Provider == "offline":
		parts = append(parts, "no model · search only")
	case s.Silent && width < 70:
		parts = append(parts, safetext.Line(s.Model)+" not reachable")
	case s.Silent:
		parts = append(parts, safetext.Line(s.Model)+" not reachable · tried again when you send")
	case s.Model != "":
		parts = append(parts, safetext.Line(s.Model))
	}
	if s.Scope != "" {
		parts = append(parts, safetext.Line(s.Scope))
	}
	switch {
	case s.Indexing && s.Notes > 0:
		parts = append(parts, fmt.Sprintf("indexing %s of %s", draw.Thousands(s.Indexed), draw.Thousands(s.Notes)))
	case s.Indexing:
		parts = append(parts, "indexing")
	case s.Notes > 0:
		parts = append(parts, draw.Count(s.Notes, "note"))
	}
	if s.Unreadable > 0 {
		parts = append(parts, draw.Thousands(s.Unreadable)+" not readable")
	}
	switch {
	case s.Remote != "":
		parts = append(parts, safetext.Line(s.Remote))
	case s.IsLocal():
		parts = append(parts, "local")
	}
	return parts
}

// IsLocal reports whether a model on this machine answers.
func (s *Status) IsLocal() bool { return s.Remote == "" && s.Provider != "" && s.Provider != "offline" }
