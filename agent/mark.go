package agent

import (
	"strconv"
	"strings"

	"lifehub/internal/text"
)

// Mark returns the citation as it appears in the answer: [1], the start of a
// quotation without a number, or [?] for a place that the answer itself names.
func (c Citation) Mark() string {
	const longest = 32 // characters of a quotation
	switch words := []rune(text.OneLine(c.Words)); {
	case len(words) > longest:
		return "“" + string(words[:longest-1]) + "…”"
	case len(words) > 0:
		return "“" + string(words) + "”"
	case c.N == 0 && c.Path != "":
		return "[?]"
	}
	return "[" + strconv.Itoa(c.N) + "]"
}

// marks has the sign and text of each verdict, except for Cites, which has
// none.
var marks = map[Verdict][2]string{
	Verified: {"✓", "quoted"}, NotFound: {"✗", "not in that note"}, Stale: {"!", "changed since"},
}

// Sign returns the verdict as one character, or "". An old verdict without a
// sentence shows no tick, because it did not require a quotation.
func (c Citation) Sign() string {
	if c.Verdict == Verified && c.Sentence == "" && c.Words == "" {
		return ""
	}
	return marks[c.Verdict][0]
}

// Label returns the verdict as every front end shows it, such as "✓ quoted" or
// "✓ quoted, but struck out"; "" if there is nothing to show.
func (c Citation) Label() string {
	label := marks[c.Verdict][1]
	switch {
	case c.Verdict == Verified && c.Sign() == "":
		return ""
	case c.Rider() != "":
		label += ", " + c.Rider()
	case c.Verdict == NotFound && c.Detail != "":
		label = c.Detail
	case c.Verdict == NotFound && c.Path == "":
		label = "not in the sources"
	}
	return strings.TrimSpace(c.Sign() + " " + label)
}

// Inline returns the verdict as shown next to [n] in the answer, such as "✓" or
// "✓ (but struck out)".
func (c Citation) Inline() string {
	if c.Sign() == "" || c.Rider() == "" {
		return c.Sign()
	}
	return c.Sign() + " (" + c.Rider() + ")"
}

// Rider describes what changes the meaning of quoted words; "" if nothing does.
func (c Citation) Rider() string {
	if c.Verdict != Verified || c.Context == "" {
		return ""
	}
	return "but " + c.Context
}
