package transcript

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Cited draws a citation with its source.
type Cited chat.Cited

// place is the note and line of a citation, as the user reads it.
func (c Cited) place() string {
	at := agent.Citation{Path: cmp.Or(c.Citation.Path, c.Source.Path), Line: cmp.Or(c.Citation.Line, c.Source.Line)}
	return at.Place()
}

// shown returns the place as shown on the screen: without leading folders if they do not
// fit, but always with its line, and linked to the note or web page.
func (c Cited) shown(host string, room int) string {
	place := safetext.Line(c.place())
	address := c.file(host)
	web := agent.OnWeb(place)
	if web {
		place, address = onWeb(place, room)
	}
	for rest := place; !web && draw.Width(place) > room; place = "…/" + rest {
		var more bool
		if _, rest, more = strings.Cut(strings.TrimPrefix(place, "…/"), "/"); !more {
			break
		}
	}
	at := strings.LastIndexByte(place, ':')
	if agent.IsPaged(cmp.Or(c.Citation.Path, c.Source.Path)) {
		at = strings.LastIndex(place, " p. ")
	}
	if !web && at > 0 && draw.Width(place) > room {
		place = draw.Truncate(place[:at], room-draw.Width(place[at:])) + place[at:]
	}
	if place = draw.Truncate(place, room); address == "" {
		return place
	}
	return ansi.SetHyperlink(address) + place + ansi.ResetHyperlink()
}

// onWeb returns an address as shown in a width, never cut before the end of its site, and the address to
// link, "" if it may not be opened.
func onWeb(address string, width int) (shown, link string) {
	u, site, err := agent.ReadAddress(address)
	if err != nil {
		if parsed, err := url.Parse(address); err == nil {
			address = cmp.Or(parsed.Host, address) // without what can pass for it
		}
		return "not a web page: " + safetext.Reveal(address), ""
	}
	if safetext.LinkAllowed(address) {
		link = address
	}
	_, rest, _ := strings.Cut(address, "://")
	rest = strings.TrimPrefix(rest, rest[:strings.IndexAny(rest+"/", "/?#")])
	start := u.Scheme + "://" + u.Host
	if draw.Width(start) > width {
		start = u.Host
	}
	if draw.Width(start) > width {
		start = "…." + site
	}
	return safetext.Reveal(start + rest), link
}

// file returns the file URL of the note, or "". It names the host, so that a terminal on
// another machine does not open a file of its own. Whatever the source says, the URL is
// that of a note in its vault, because the terminal may start a program for it.
func (c Cited) file(host string) string {
	note := filepath.FromSlash(cmp.Or(c.Citation.Path, c.Source.Path))
	if !slices.Contains([]string{
		".md", ".markdown", ".txt", ".org", ".canvas", ".pdf", ".html", ".htm", ".docx",
		".epub",
	}, strings.ToLower(filepath.Ext(note))) {
		return ""
	}
	if !filepath.IsAbs(c.Source.Vault) || !filepath.IsLocal(note) {
		return ""
	}
	path := filepath.ToSlash(filepath.Join(c.Source.Vault, note))
	if !strings.HasPrefix(path, "/") { // C:/notes
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Host: host, Path: path}).String()
}

// Note returns the location of a cited note, or why it cannot be opened.
func (c Cited) Note() (path string, line int, problem string) {
	local := filepath.FromSlash(cmp.Or(c.Citation.Path, c.Source.Path))
	switch {
	case agent.OnWeb(cmp.Or(c.Citation.Path, c.Source.Path)):
		problem = "the terminal opens it: hold Ctrl or Shift and click; y copies the address"
	case c.Source.Call != "":
		problem = "returned by a tool: no note to open"
	case c.Source.Vault == "" || !filepath.IsLocal(local):
		problem = "the note of this source is unknown"
	}
	return filepath.Join(c.Source.Vault, local), cmp.Or(c.Citation.Line, c.Source.Line), problem
}

// writtenIn reports whether one of the answers names the note and a line of it, as a list of
// passages does, so that there is nothing to add.
func (c Cited) writtenIn(answers []*Answer) bool {
	return c.Citation.Verdict == agent.Cites && c.Citation.Rider() == "" &&
		slices.ContainsFunc(answers, func(a *Answer) bool {
			return strings.Contains(string(a.source), "`"+cmp.Or(c.Citation.Path, c.Source.Path)+":")
		})
}

// mark is the citation as written in the answer.
func (c Cited) mark() string { return safetext.Line(c.Citation.Mark()) }

// linesBefore and linesAfter are the lines of a passage that a preview shows around the cited one.
const linesBefore, linesAfter = 3, 6

// Around returns the lines of the source around the cited one, which has the index at; at
// is -1 if no text was saved.
func (c Cited) Around() (lines []string, at int) {
	text := cmp.Or(strings.TrimRight(c.Source.Text, "\n"), c.Citation.Quote)
	if text == "" {
		return []string{"no preview"}, -1
	}
	lines = strings.Split(safetext.Text(text), "\n")
	at = max(0, min(c.Citation.Line-c.Source.Line, len(lines)-1))
	from := max(0, at-linesBefore)
	return lines[from:min(len(lines), at+linesAfter+1)], at - from
}

// passage draws the lines of the source around the cited one, which is marked.
func (c Cited) passage(width int, theme *draw.Theme) []string {
	text := cmp.Or(c.Source.Text, c.Citation.Quote)
	if text == "" {
		return []string{theme.Dim.Render(draw.Truncate("    no preview", width))}
	}
	d := draw.ParseDocument(text)
	at := max(1, min(c.Citation.Line-c.Source.Line+1, d.Lines))
	lines, _, _ := draw.NewDocumentView(d, at, at).Lines(max(1, width-2), linesBefore+1+linesAfter, theme)
	for i, line := range lines {
		if rest, unmarked := strings.CutPrefix(line, "  "); unmarked {
			line = theme.Border.Render("│ ") + rest
		}
		lines[i] = "  " + line
	}
	return lines
}

// mustBeSeen reports whether the verdict must be shown even where space is short.
func (c Cited) mustBeSeen() bool {
	return c.Citation.Rider() != "" || slices.Contains([]agent.Verdict{agent.NotFound, agent.Stale}, c.Citation.Verdict)
}

// verdictText returns the sign and words of a verdict; "" if it has none.
func verdictText(c agent.Citation) string {
	if c.Verdict == "" {
		return "closest"
	}
	return safetext.Line(c.Label())
}

// verdictStyle returns the style of a verdict; the colour only repeats the sign.
func verdictStyle(c agent.Citation, theme *draw.Theme) lipgloss.Style {
	switch kindOf(c) {
	case draw.Doubtful:
		return theme.Warning
	case draw.Quoted:
		return theme.Success
	case draw.Wrong:
		return theme.Danger
	}
	return theme.Dim
}

func verdictMark(c agent.Citation, theme *draw.Theme) string {
	if verdictText(c) == "" {
		return ""
	}
	return verdictStyle(c, theme).Render(verdictText(c))
}

// InWords describes a citation and its verdict.
func (c Cited) InWords() string {
	return strings.TrimSpace(c.mark() + " " + safetext.Line(c.place()) + " " + verdictText(c.Citation))
}
