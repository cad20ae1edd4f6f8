package notes

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// comments are the marks between which a note holds a comment of its author, and hidden also those of what is for
// programs: the clocks of a logbook and compressed drawings.
var (
	comments = [][2]string{{"<!--", "-->"}, {"%%", "%%"}}
	hidden   = append(comments[:2:2], [2]string{":LOGBOOK:", ":END:"}, [2]string{"```compressed-json", "```"})
)

// hiddenLine matches a clock outside of a logbook, the name of a block and what else Logseq notes for itself, and
// hiddenData a file in an address.
var (
	hiddenLine = regexp.MustCompile(`(?m)^[ \t]*(?:CLOCK: ?\[.*|(?:[-*+][ \t]+)?(?:id|collapsed|logseq\.[\w.-]+|` +
		`hl-[\w-]+|ls-type)::[ \t]+[^ \t\n]+[ \t]*)$`)
	hiddenData = regexp.MustCompile(`data:[a-z]+/[\w.+-]+;base64,[\w+/=-]{64,}`)
)

// Indexed returns the text that is searched and given to models, with the same lines:
// without comments, the clocks of a logbook, the names of blocks and compressed data.
func (n Note) Indexed() string {
	if IsPaged(n.Path) {
		return n.Text
	}
	_, body := splitFront(n.Text)
	before := len(n.Text) - len(body)
	isCode := func(at int) bool { return n.isApart(before+at, before+at+1) }
	gone := n.between(body, before, hidden)
	if strings.Contains(body, "CLOCK:") || strings.Contains(body, "::") {
		for _, at := range hiddenLine.FindAllStringIndex(body, -1) {
			if !isCode(at[1] - 1) {
				gone = append(gone, span{at[0], at[1]})
			}
		}
	}
	if strings.Contains(body, ";base64,") {
		for _, at := range hiddenData.FindAllStringIndex(body, -1) {
			gone = append(gone, span{at[0], at[1]})
		}
	}
	if len(gone) == 0 {
		return n.Text
	}
	slices.SortFunc(gone, func(a, b span) int { return a.start - b.start })
	var kept strings.Builder
	kept.WriteString(n.Text[:before])
	last := 0
	for _, g := range gone {
		indent := len(strings.TrimRight(body[:g.start], " \t"))
		if (indent == 0 || body[indent-1] == '\n') && (g.stop == len(body) || body[g.stop] == '\n') {
			g.start = indent // nothing else is on its lines
		}
		if g.stop <= last {
			continue
		}
		g.start = max(g.start, last)
		kept.WriteString(body[last:g.start])
		kept.WriteString(strings.Repeat("\n", strings.Count(body[g.start:g.stop], "\n")))
		last = g.stop
	}
	kept.WriteString(body[last:])
	return kept.String()
}

// between returns the parts of the body that are between marks, with the marks, outside of code. The body begins at
// byte before of the note's text.
func (n Note) between(body string, before int, pairs [][2]string) (parts []span) {
	for _, marks := range pairs {
		for at := 0; ; {
			start := strings.Index(body[at:], marks[0])
			if start += at; start < at {
				break
			}
			at = start + len(marks[0])
			if r, _ := utf8.DecodeLastRuneInString(body[:start]); start > 0 && marks[0] != "<!--" &&
				!unicode.IsSpace(r) && r != '>' ||
				marks[0] != "```compressed-json" && n.isApart(before+start, before+start+1) {
				continue
			}
			end := strings.Index(body[at:], marks[1])
			if end < 0 {
				break
			}
			at += end + len(marks[1])
			parts = append(parts, span{start, at})
		}
	}
	return parts
}
