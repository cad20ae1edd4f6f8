package agent

import (
	"strconv"
	"strings"

	"lifehub/internal/text"
)

// Mark is the citation as it stands in the answer: [1], the beginning of a
// quotation without a number, or [?] for a place that the answer names itself.
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

// marks are the sign and the words of each verdict; of cited there is nothing to
// show. What a model says has no sign.
var marks = map[Verdict][2]string{
	Verified: {"✓", "quoted"}, NotFound: {"✗", "not in that note"}, Stale: {"!", "changed since"},
	Supported: {"", "model: supported"}, Contradicted: {"", "model: contradicted"},
}

// Sign is the verdict in one character; "": it has none. A tick saved before
// verdicts named their sentence needed no quotation, so it is not shown.
func (c Citation) Sign() string {
	if c.Verdict == Verified && c.Sentence == "" && c.Words == "" {
		return ""
	}
	return marks[c.Verdict][0]
}

// Told is the verdict as every front end shows it: "✓ quoted", "✓ quoted, but
// struck out"; "": there is nothing to show.
func (c Citation) Told() string {
	said := marks[c.Verdict][1]
	switch {
	case c.Verdict == Cites && strings.HasPrefix(c.Detail, "model: "): // an earlier version told more
		return c.Detail
	case c.Verdict == Verified && c.Sign() == "":
		return ""
	case c.Rider() != "":
		said += ", " + c.Rider()
	case c.Verdict == NotFound && c.Detail != "":
		said = c.Detail
	case c.Verdict == NotFound && c.Path == "":
		said = "not in the sources"
	}
	return strings.TrimSpace(c.Sign() + " " + said)
}

// Inline is the verdict as it stands next to [n] in the answer: "✓", "✓ (but
// struck out)".
func (c Citation) Inline() string {
	if c.Sign() == "" || c.Rider() == "" {
		return c.Sign()
	}
	return c.Sign() + " (" + c.Rider() + ")"
}

// Rider tells what changes the sense of quoted words; "": nothing does.
func (c Citation) Rider() string {
	if c.Verdict != Verified || c.Context == "" {
		return ""
	}
	return "but " + c.Context
}
