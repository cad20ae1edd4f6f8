package notes

import (
	"regexp"
	"slices"
	"strings"
)

// What a note holds for programs, or as a comment of its author. The first three are
// not hidden where they are code.
var (
	comment   = regexp.MustCompile(`(?s)<!--.*?-->|(?:^|[\s>])%%.*?%%`)
	drawer    = regexp.MustCompile(`(?im)^[ \t]*:LOGBOOK:[ \t]*\n(?:[^\n]*\n)*?[ \t]*:END:[ \t]*$|^[ \t]*CLOCK: ?\[[^\n]*$`)
	blockName = regexp.MustCompile(`(?m)^[ \t]*(?:[-*+][ \t]+)?(?:id|collapsed)::[ \t]+[\w-]+[ \t]*$`)
	blob      = regexp.MustCompile("(?s)\n[ \t]*(```+|~~~+)compressed-json[ \t]*\n.*?(?:\n[ \t]*(?:```+|~~~+)|$)")
	dataURI   = regexp.MustCompile(`data:[a-z]+/[\w.+-]+;base64,[\w+/=-]{64,}`)
)

// Indexed returns the text that is searched and given to models, with the same lines:
// without comments, the clocks of a logbook, the names and states of blocks, and compressed data.
func (n Note) Indexed() string {
	if IsPaged(n.Path) {
		return n.Text
	}
	_, body := splitFront(n.Text)
	before := len(n.Text) - len(body)
	var gone []span
	for _, kind := range []*regexp.Regexp{comment, drawer, blockName, blob, dataURI} {
		for _, at := range kind.FindAllStringIndex(body, -1) {
			start := at[0] + len(body[at[0]:at[1]]) - len(strings.TrimLeft(body[at[0]:at[1]], "> \t\n"))
			if indent := strings.LastIndexByte(body[:start], '\n') + 1; strings.TrimSpace(body[indent:start]) == "" && (at[1] == len(body) || body[at[1]] == '\n') {
				at[0] = indent // nothing else is on its lines
			} else {
				at[0] = start
			}
			if kind == blob || kind == dataURI || !n.isApart(before+start, before+start+1) {
				gone = append(gone, span{at[0], at[1]})
			}
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
		if g.stop <= last {
			continue
		}
		kept.WriteString(body[last:max(last, g.start)])
		for range strings.Count(body[max(last, g.start):g.stop], "\n") {
			kept.WriteByte('\n')
		}
		last = g.stop
	}
	kept.WriteString(body[last:])
	return kept.String()
}
