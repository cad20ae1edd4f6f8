package transcript

import (
	"maps"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/markdown"
	"lifehub/tui/safetext"
)

// Answer is Markdown that may still be arriving.
type Answer struct {
	source  []byte // as the model wrote it
	stream  *markdown.Stream
	theme   *draw.Theme
	width   int
	Open    bool     // more is to come
	ending  string   // why it is not whole: "stopped"
	Caveats []string // what it may lack
	last    bool     // it is the newest one, whose code /copy copies

	from  int            // bytes of the turn's answer before this one
	signs map[int]string // the verdicts, by where in the source they stand

	chosen   []sentence // those that the chosen source belongs to
	markedAt int        // the first line of them; -1: none

	lines []string // what the stream drew
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
	if a.stream == nil || a.theme != theme || a.width != width {
		a.lines = a.lines[:0]
		a.stream = markdown.New(min(width, draw.Readable), width, theme.Markdown)
		a.stream.Copy = "%d"
		if a.last {
			a.stream.Copy = "/copy %d"
		}
		a.stream.Write(a.marked(0, len(a.source)))
		if !a.Open {
			a.stream.Close()
		}
	}
	a.width, a.theme = width, theme
	width = min(width, draw.Readable)

	body := a.stream.Lines()
	// Only what changed is copied: the cost of a token is not the answer's length.
	same := min(a.stream.Changed(), len(a.lines))
	a.lines = append(a.lines[:same], body[same:]...)
	lines := a.lines
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	lines, a.markedAt = a.mark(lines, theme)
	if a.ending != "" {
		lines = append(slices.Clip(lines), theme.Warning.Render(draw.Truncate("■ "+safetext.Line(a.ending), width)))
	}
	for _, caveat := range a.Caveats {
		lines = append(slices.Clip(lines), draw.StyleLines(theme.Warning.Render, draw.Hang("! ", safetext.Line(caveat), width))...)
	}
	return lines
}

// Judge shows the verdict on a citation next to it, and the number of a found source. It reports false if the citation is in
// another answer or there is nothing to show.
func (a *Answer) Judge(c agent.Citation) bool {
	at := c.At - a.from
	const longest = 60 // cells
	line := literal.Replace(draw.Truncate(safetext.Line(c.Inline()), longest))
	if c.Verdict == agent.Found {
		line = " " + c.Mark()
	}
	if line == "" || c.At == 0 || at <= 0 || at > len(a.source) {
		return false
	}
	if a.signs == nil {
		a.signs = map[int]string{}
	}
	if strings.Contains(a.signs[at], line) {
		return false
	}
	a.signs[at] += line
	a.stream = nil // it is drawn again
	return true
}

// literal escapes Markdown.
var literal = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`, "~", `\~`, "$", `\$`, "!", `\!`)

// marked returns a part of the source with the verdicts inserted.
func (a *Answer) marked(from, to int) string {
	var b strings.Builder
	for _, at := range slices.Sorted(maps.Keys(a.signs)) {
		if at > from && at <= to {
			b.Write(a.source[from:at])
			b.WriteString(a.signs[at])
			from = at
		}
	}
	b.Write(a.source[from:to])
	return b.String()
}

func (a *Answer) Copied() string { return string(a.source) }
