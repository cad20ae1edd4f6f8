package tui

import (
	"lifehub/tui/markdown"
	"lifehub/tui/safetext"
)

// answer is what LifeHub says: markdown that may still be arriving.
type answer struct {
	source []byte // as the model wrote it
	stream *markdown.Stream
	look   *theme
	width  int
	open   bool   // more is to come
	ending string // why it is not whole: "stopped"
}

// newAnswer returns an answer that grows.
func newAnswer() *answer { return &answer{open: true} }

// keptAnswer returns a whole answer of a stored conversation. It is not
// rendered before it is seen.
func keptAnswer(text, ending string) *answer {
	return &answer{source: []byte(text), ending: ending}
}

func (a *answer) grow(piece string) {
	a.source = append(a.source, piece...)
	if a.stream != nil {
		a.stream.Write(piece)
	}
}

// end closes the answer; ending says why it is not whole, "" that it is.
func (a *answer) end(ending string) {
	a.open, a.ending = false, ending
	if a.stream != nil {
		a.stream.Close()
	}
}

func (a *answer) render(width int, look *theme) []string {
	switch {
	case a.stream == nil || a.look != look:
		a.stream = markdown.New(width, look.Markdown)
		a.stream.Write(string(a.source))
		if !a.open {
			a.stream.Close()
		}
	case a.width != width:
		a.stream.SetWidth(width)
	}
	a.width, a.look = width, look

	body := a.stream.Lines()
	for len(body) > 0 && body[len(body)-1] == "" {
		body = body[:len(body)-1]
	}
	lines := make([]string, 0, len(body)+3)
	lines = append(lines, look.Brand.Render("LifeHub"))
	lines = append(lines, body...)
	if a.ending != "" {
		lines = append(lines, look.Warning.Render(fit("■ "+safetext.Line(a.ending), width)))
	}
	return lines
}

func (a *answer) copied() string { return string(a.source) }
