package transcript

import (
	"maps"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Answer is Markdown that may still be arriving.
type Answer struct {
	source  []byte // as the model wrote it
	stream  *draw.MarkdownStream
	Open    bool     // more is to come
	ending  string   // why it is not whole: "stopped"
	Caveats []string // what it may lack
	last    bool     // it is the newest one, whose code /copy copies

	from     int                      // bytes of the turn's answer before this one
	verdicts map[int][]agent.Citation // by where in the source they stand

	chosen   []sentence // those that the chosen source belongs to
	markedAt int        // the first line of them; -1: none
}

// NewAnswer returns an empty open answer.
func NewAnswer() *Answer { return &Answer{Open: true, markedAt: -1} }

func (a *Answer) Grow(piece string) {
	a.source = append(a.source, piece...)
	if a.stream != nil {
		a.stream.Write(piece)
	}
}

// shrink removes the last n bytes, and returns how many there were.
func (a *Answer) shrink(n int) int {
	n = min(n, len(a.source))
	a.source, a.stream = a.source[:len(a.source)-n], nil
	return n
}

// End closes the answer. ending says why it is incomplete; "" if it is complete.
func (a *Answer) End(ending string) {
	a.Open, a.ending = false, ending
	if a.stream != nil {
		a.stream.Close()
	}
}

func (a *Answer) Render(width int, theme *draw.Theme) []string {
	if a.stream == nil {
		a.stream = a.newStream()
	}
	lines := a.stream.Lines(width, theme)
	width = min(width, draw.Readable)
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	lines, a.markedAt = a.mark(lines, theme)
	if a.ending != "" {
		lines = append(slices.Clip(lines), theme.Warning.Render(draw.Truncate("■ "+safetext.Line(a.ending), width)))
	}
	for _, caveat := range a.Caveats {
		lines = append(slices.Clip(lines), draw.StyleLines(theme.Warning.Render,
			draw.Hang("! ", safetext.Line(caveat), width))...)
	}
	return lines
}

// newStream returns a stream of what arrived, with the verdicts.
func (a *Answer) newStream() *draw.MarkdownStream {
	copied := "%d"
	if a.last {
		copied = "/copy %d"
	}
	stream, from := draw.NewMarkdownStream(copied), 0
	for _, at := range slices.Sorted(maps.Keys(a.verdicts)) {
		stream.Write(string(a.source[from:at]))
		for _, c := range a.verdicts[at] {
			stream.Verdict(kindOf(c), inline(c))
		}
		from = at
	}
	stream.Write(string(a.source[from:]))
	if !a.Open {
		stream.Close()
	}
	return stream
}

// Judge shows the verdict on a citation next to it, and the number of a found source. It reports false if the citation
// is in another answer or there is nothing to show.
func (a *Answer) Judge(c agent.Citation) bool {
	at := c.At - a.from
	line := inline(c)
	if line == "" || c.At == 0 || at <= 0 || at > len(a.source) {
		return false
	}
	if slices.ContainsFunc(a.verdicts[at], func(shown agent.Citation) bool { return inline(shown) == line }) {
		return false
	}
	if a.verdicts == nil {
		a.verdicts = map[int][]agent.Citation{}
	}
	a.verdicts[at] = append(a.verdicts[at], c)
	a.stream = nil // it is drawn again
	return true
}

// inline returns what is shown next to a citation.
func inline(c agent.Citation) string {
	const longest = 60 // cells
	if c.Verdict == agent.Found {
		return " " + safetext.Line(c.Mark())
	}
	return draw.Truncate(safetext.Line(c.Inline()), longest)
}

// kindOf returns what was found out about a citation.
func kindOf(c agent.Citation) draw.Verdict {
	switch {
	case c.Rider() != "", c.Verdict == agent.Stale:
		return draw.Doubtful
	case c.Verdict == agent.Verified:
		return draw.Quoted
	case c.Verdict == agent.NotFound:
		return draw.Wrong
	}
	return draw.Unchecked
}

// marked returns a part of the source with the verdicts in it.
func (a *Answer) marked(from, to int) string {
	var b strings.Builder
	for _, at := range slices.Sorted(maps.Keys(a.verdicts)) {
		if at <= from || at > to {
			continue
		}
		b.Write(a.source[from:at])
		for _, c := range a.verdicts[at] {
			b.WriteString(inline(c))
		}
		from = at
	}
	b.Write(a.source[from:to])
	return b.String()
}

func (a *Answer) Copied() string { return string(a.source) }
