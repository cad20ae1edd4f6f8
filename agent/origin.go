package agent

import (
	"context"
	"slices"

	"lifehub/internal/text"
)

// Origin is where a text comes from, fixed by the channel it came through and
// saved with it. The zero Origin is that of what the user typed, whatever else
// contains the same words.
//
// See docs/design/provenance-and-outbound.md.
type Origin struct {
	// Private: it derives from the user's own notes, tasks or facts.
	Private bool `json:"private,omitempty"`
	// Outside lists what else it derives from, sorted: web pages, MCP servers,
	// attachments, notes that name a source, …
	Outside []string `json:"outside,omitempty"`
}

const (
	// maxOutside bounds the sources of an Origin; OtherSources stands for the rest.
	maxOutside   = 32
	OtherSources = "and more"
	// maxSource bounds the name of a source, in bytes.
	maxSource = 300
)

// Own is the origin of the user's notes, tasks and facts.
func Own() Origin { return Origin{Private: true} }

// FromOutside is the origin of text that came from these sources.
func FromOutside(sources ...string) Origin { return Origin{}.And(Origin{Outside: sources}) }

// And returns the origin of a text that derives from texts of all these origins.
func (o Origin) And(others ...Origin) Origin {
	all := Origin{Private: o.Private, Outside: slices.Clone(o.Outside)}
	for _, other := range others {
		all.Private = all.Private || other.Private
		for _, source := range other.Outside {
			source = text.OneLine(text.Clip(source, maxSource))
			if at, known := slices.BinarySearch(all.Outside, source); !known {
				all.Outside = slices.Insert(all.Outside, at, source)
			}
		}
	}
	if len(all.Outside) > maxOutside {
		all.Outside = append(slices.DeleteFunc(all.Outside, func(s string) bool { return s == OtherSources })[:maxOutside-1], OtherSources)
		slices.Sort(all.Outside)
	}
	return all
}

// IsOutside reports whether something other than the user and the user's notes had
// a part in the text.
func (o Origin) IsOutside() bool { return len(o.Outside) > 0 }

// ServerSource returns the name of an MCP server as a source.
func ServerSource(server string) string { return "the MCP server " + server }

// MessageOrigin returns the origin of a message of the user: what is attached to
// it comes from outside.
func MessageOrigin(message string) (o Origin) {
	for _, a := range ParseMessage(message).Attached {
		o = o.And(FromOutside(a.Name))
	}
	return o
}

// Marks are the lines in the user's notes that came from outside: of each, the key
// is saved for good (see [text.LineKey]).
type Marks interface {
	// Mark saves that lines came from a source, except those that the user's own
	// notes hold.
	Mark(ctx context.Context, source string, lines []string) error
	// Marked returns the sources of those lines that are marked.
	Marked(ctx context.Context, lines []string) ([]string, error)
}
