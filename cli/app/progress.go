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

// barWidth is the width of a progress bar, in columns; with the words around
// it the line fits a terminal of 60.
const barWidth = 24

// Bar shows progress on stderr: one line that is drawn again on a terminal,
// nothing elsewhere.
type Bar struct {
	*Process
	on   bool
	last time.Time
}

// NewBar makes a bar; a quiet or redirected stderr has none.
func NewBar(sh *Process) *Bar {
	terminal := term.IsTerminal(sh.Err.Fd())
	if name, _ := sh.Getenv("TERM"); name == "dumb" || name == "" {
		terminal = false
	}
	return &Bar{Process: sh, on: terminal}
}

// maxWhat bounds what stands before a bar, in columns.
const maxWhat = 40

// show draws at most 20 times a second, and the end of a phase always.
func (b *Bar) show(what string, done, total int64) {
	if !b.on || total <= 0 || done < total && time.Since(b.last) < 50*time.Millisecond {
		return
	}
	b.last = time.Now()
	filled := max(0, min(barWidth, int(float64(done)/float64(total)*barWidth))) // a server may say anything
	what = draw.Truncate(safetext.Line(what), maxWhat)
	fmt.Fprintf(b.Err, "\r\x1b[K%-8s %s%s %d of %d", what, strings.Repeat("█", filled), strings.Repeat("░", barWidth-filled), done, total)
}

// Line shows a text where the bar would be, as much of it as fits.
func (b *Bar) Line(text string) {
	if width, _, err := term.GetSize(b.Err.Fd()); b.on && err == nil && width > 0 {
		fmt.Fprint(b.Err, "\r\x1b[K"+draw.Truncate(safetext.Line(text), width-1))
	}
}

// Bytes shows how much of a download is here.
func (b *Bar) Bytes(what string, done, total int64) {
	const mega = 1_000_000
	if total < mega {
		b.show(what, done, total)
		return
	}
	b.show(what+" MB", done/mega, total/mega)
}

// Sync shows how far a sync of the notes is.
func (b *Bar) Sync(p rag.Progress) {
	what := map[string]string{"read": "reading", "embed": "vectors"}[p.Phase]
	if what == "" {
		what = p.Phase
	}
	b.show(what, int64(p.Done), int64(p.Total))
}

// Clear takes the bar away.
func (b *Bar) Clear() {
	if b.on {
		fmt.Fprint(b.Err, "\r\x1b[K")
	}
}

// excerptLines bounds what is shown of a passage.
const excerptLines = 6

// Excerpt is the beginning of a passage, in lines.
func Excerpt(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > excerptLines {
		lines = append(lines[:excerptLines], "…")
	}
	return strings.Join(lines, "\n")
}

// Ago is a length of time, in seconds, in one unit.
func Ago(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
