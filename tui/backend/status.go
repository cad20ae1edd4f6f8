package backend

import (
	"fmt"

	"lifehub/llm"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// OfflineText is what the provider says of itself when no model answers.
const OfflineText = llm.OfflineNotice

// Parts tell in short, fit for the screen: model, then notes.
func (s Status) Parts(width int) []string {
	var parts []string
	switch {
	case s.Provider == "offline" && width < 90:
		parts = append(parts, "offline, no model")
	case s.Provider == "offline":
		parts = append(parts, OfflineText)
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
	return parts
}
