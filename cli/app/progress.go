package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"lifehub/rag"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// barWidth is the width of a progress bar in columns. With its text the line fits 60 columns.
const barWidth = 24

// Bar shows progress in one line on stderr if that is a terminal, and does nothing otherwise.
type Bar struct {
	*Process
	on   bool
	last time.Time
}

// NewBar returns a bar on stderr. It stays silent if stderr is redirected or a dumb terminal.
func NewBar(sh *Process) *Bar {
	terminal := term.IsTerminal(sh.Err.Fd())
	if name, _ := sh.Getenv("TERM"); name == "dumb" || name == "" {
		terminal = false
	}
	return &Bar{Process: sh, on: terminal}
}

// maxWhat bounds the label in front of a bar, in columns.
const maxWhat = 40

// show draws at most 20 times a second, but always draws the end of a phase.
func (b *Bar) show(what string, done, total int64) {
	if !b.on || total <= 0 || done < total && time.Since(b.last) < 50*time.Millisecond {
		return
	}
	b.last = time.Now()
	filled := max(0, min(barWidth, int(float64(done)/float64(total)*barWidth))) // the numbers may come from a server
	what = draw.Truncate(safetext.Line(what), maxWhat)
	fmt.Fprintf(b.Err, "\r\x1b[K%-8s %s%s %d of %d", what, strings.Repeat("█", filled),
		strings.Repeat("░", barWidth-filled), done, total)
}

// Line shows text in place of the bar, cut to the width of the terminal.
func (b *Bar) Line(text string) {
	if width, _, err := term.GetSize(b.Err.Fd()); b.on && err == nil && width > 0 {
		fmt.Fprint(b.Err, "\r\x1b[K"+draw.Truncate(safetext.Line(text), width-1))
	}
}

// Bytes shows the progress of a download.
func (b *Bar) Bytes(what string, done, total int64) {
	const mega = 1_000_000
	if total < mega {
		b.show(what, done, total)
		return
	}
	b.show(what+" MB", done/mega, total/mega)
}

// Sync shows the progress of a sync of the notes.
func (b *Bar) Sync(p rag.Progress) {
	what := map[string]string{"read": "reading", "embed": "vectors"}[p.Phase]
	if what == "" {
		what = p.Phase
	}
	b.show(what, int64(p.Done), int64(p.Total))
}

// Clear removes the bar.
func (b *Bar) Clear() {
	if b.on {
		fmt.Fprint(b.Err, "\r\x1b[K")
	}
}

// excerptLines bounds the lines shown of a passage.
const excerptLines = 6

// Excerpt returns the first lines of a passage.
func Excerpt(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > excerptLines {
		lines = append(lines[:excerptLines], "…")
	}
	return strings.Join(lines, "\n")
}
