package panel

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/docs"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Help is the page of keys and commands, generated from the key map. Typing filters it.
type Help struct {
	Commands []chat.Command
	top      int
	filter   string
	Lines    []string // nil: out of date
	width    int      // what lines were made for
	look     *draw.Theme
	rows     int // visible
	found    int // keys and commands that the filter leaves
	all      int
}

// helpGroup has the rows under one title.
type helpGroup struct {
	title string
	rows  []draw.Row
}

const (
	// helpColumn is the minimum width of a column.
	helpColumn = 44
	// helpColumns is the maximum number of columns.
	helpColumns = 3
	// helpGap is the distance between two columns.
	helpGap = "   "
	// everydayGroups are the first groups of keys: writing, anywhere, the transcript.
	everydayGroups = 3
)

// helpSections returns the everyday keys, the commands and pages, and the keys of single
// panels. The groups of a section are in columns, which are read downwards.
func helpSections(keys *draw.Keys, commands []chat.Command) [][]helpGroup {
	var everyday, places []helpGroup
	for i, group := range keys.Groups() {
		shown := helpGroup{title: group.Title}
		for _, named := range group.Keys {
			if named.Enabled() {
				shown.rows = append(shown.rows, draw.Row{Label: named.Help().Key, Detail: named.Help().Desc})
			}
		}
		if i < everydayGroups {
			everyday = append(everyday, shown)
		} else {
			places = append(places, shown)
		}
	}
	start := helpGroup{title: "To begin with", rows: []draw.Row{
		{Label: keys.Send.Help().Key, Detail: "send, or ask the suggested question"},
		{Label: "@", Detail: "name a note or a file"},
		{Label: "/", Detail: "all commands, by subject"},
		{Label: keys.Focus.Help().Key, Detail: "move to the answer: sources, code, copying"},
		{Label: keys.Stop.Help().Key, Detail: "stop, close, back"},
		{Label: keys.Clear.Help().Key, Detail: "clear, then stop, then quit"},
		{Label: "shift", Detail: "and drag: select text (Option or Fn on a Mac)"},
	}}
	everyday = append([]helpGroup{start}, everyday...)
	shown := helpGroup{title: "Commands"}
	for _, c := range commands {
		shown.rows = append(shown.rows, draw.Row{Label: c.Usage(), Detail: c.Help})
	}
	topics := helpGroup{title: "Help pages"}
	for _, topic := range HelpTopics() {
		page, _ := HelpPage(topic)
		title, _, _ := strings.Cut(strings.TrimPrefix(page.Text, "# "), "\n")
		topics.rows = append(topics.rows, draw.Row{Label: "/help " + topic, Detail: title})
	}
	return [][]helpGroup{everyday, {shown, topics}, places}
}

// HelpTopics are the names of the help pages.
func HelpTopics() (names []string) {
	files, _ := fs.Glob(docs.Pages, "*.md")
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file, ".md"))
	}
	return names
}

// HelpPage returns the help page of a topic, or of a link in a page.
func HelpPage(topic string) (chat.Note, error) {
	name, _, _ := strings.Cut(topic, "#")
	text, err := docs.Pages.ReadFile(strings.TrimSuffix(name, ".md") + ".md")
	if err != nil {
		return chat.Note{}, fmt.Errorf("no help topic %q; topics: %s", safetext.Line(topic),
			strings.Join(HelpTopics(), ", "))
	}
	return chat.Note{Path: name, Text: pageLink.ReplaceAllStringFunc(string(text), func(link string) string {
		parts := pageLink.FindStringSubmatch(link)
		file, _, _ := strings.Cut(parts[2], "#")
		onWeb := strings.Contains(file, ":")
		if file == "" || onWeb || slices.Contains(HelpTopics(), strings.TrimSuffix(file, ".md")) {
			return link
		}
		return parts[1]
	})}, nil
}

// pageLink matches a link of a help page. A link to a page that is not in the program is
// shown as its text.
var pageLink = regexp.MustCompile(`\[([^][]*)\]\(([^()\s]*)\)`)

// OpenHelp opens the help page of a topic in a reader; "" opens the keys and commands, and an
// unknown topic the list of topics.
func OpenHelp(ctx context.Context, topic string, all *Help) (Panel, tea.Cmd) {
	if topic == "" {
		return all, nil
	}
	if _, err := HelpPage(topic); err != nil {
		all.find("/help ") // these are the pages
		return all, nil
	}
	n := &Note{title: topic, name: topic, in: helpPages{}}
	return n, n.Read(ctx)
}

// helpPages are the pages of HelpPage.
type helpPages struct{}

func (helpPages) Note(_ context.Context, name, _ string) (chat.Note, error) { return HelpPage(name) }

// Build draws the lines for a width.
func (h *Help) Build(keys *draw.Keys, width int, theme *draw.Theme) {
	if h.width == width && h.look == theme && h.Lines != nil {
		return
	}
	columns := max(1, min(helpColumns, width/helpColumn))
	each := (width - (columns-1)*draw.Width(helpGap)) / columns
	h.found, h.all = 0, 0
	h.width, h.look, h.Lines = width, theme, nil
	for _, section := range helpSections(keys, h.Commands) {
		var blocks [][]string
		for _, group := range section {
			h.all += len(group.rows)
			if group = group.holding(h.filter); len(group.rows) > 0 {
				h.found += len(group.rows)
				blocks = append(blocks, group.lines(each, theme))
			}
		}
		if len(blocks) > 0 && len(h.Lines) > 0 {
			h.Lines = append(h.Lines, "")
		}
		h.Lines = append(h.Lines, abreast(blocks, columns, each)...)
	}
	if h.found == 0 {
		h.Lines = []string{theme.Dim.Render(draw.Truncate("no matches", width))}
	}
}

// holding returns the rows that match the filter, or whose title does.
func (g helpGroup) holding(filter string) helpGroup {
	kept := helpGroup{title: g.title}
	for _, r := range g.rows {
		if draw.MatchRow(r.Label, r.Detail+" "+g.title, filter) > 0 {
			kept.rows = append(kept.rows, r)
		}
	}
	return kept
}

// lines draws a group. A label that is too long for its column has its own line.
func (g helpGroup) lines(width int, theme *draw.Theme) []string {
	lines := []string{theme.Strong.Render(draw.Truncate(g.title, width))}
	column := 0
	for _, r := range g.rows {
		column = max(column, draw.Width(safetext.Line(r.Label)))
	}
	column = min(column, max(10, width*2/5))
	for _, r := range g.rows {
		label := safetext.Line(r.Label)
		if draw.Width(label) > column {
			lines = append(lines, "  "+theme.Key.Render(draw.Truncate(label, width-2)))
			label = ""
		}
		pad := strings.Repeat(" ", column-draw.Width(label)+2)
		lines = append(lines, draw.Hang("  "+theme.Key.Render(label)+pad, safetext.Line(r.Detail), width)...)
	}
	return lines
}

// abreast lays out blocks in columns, unbroken and in order, with the smallest possible
// height.
func abreast(blocks [][]string, columns, width int) []string {
	var laid [][]string
	for height := 1; laid == nil; height++ {
		laid = inColumns(blocks, columns, height)
	}
	var lines []string
	for at := 0; ; at++ {
		line, any := "", false
		for i, column := range laid {
			part := ""
			if at < len(column) {
				part, any = column[at], true
			}
			if i > 0 {
				line += helpGap
			}
			line += part + strings.Repeat(" ", max(0, width-draw.Width(part)))
		}
		if !any {
			return lines
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
}

// inColumns stacks blocks in columns of at most a height; nil if there are too few columns.
func inColumns(blocks [][]string, columns, height int) [][]string {
	laid := make([][]string, 1, columns)
	for _, block := range blocks {
		last := len(laid) - 1
		if len(laid[last]) > 0 && len(laid[last])+1+len(block) <= height {
			laid[last] = append(append(laid[last], ""), block...)
			continue
		}
		if len(laid[last]) > 0 {
			laid = append(laid, nil)
			last++
		}
		if last == columns || len(block) > height {
			return nil
		}
		laid[last] = slices.Clone(block)
	}
	return laid
}

// press scrolls and searches; any other key closes the page.
func (h *Help) press(pressed tea.KeyPressMsg, k *draw.Keys) (done bool) {
	if pressed.Text == "" || pressed.Text == " " && h.filter == "" {
		top, scrolls := k.Scrolled(pressed, h.first(), len(h.Lines), h.rows)
		if h.top = top; scrolls {
			return false
		}
	}
	filter := draw.TypedInto(h.filter, pressed)
	switch {
	case h.filter == "" && key.Matches(pressed, k.Help, k.HelpOnEmpty):
	case filter != h.filter:
		h.find(filter)
		return false
	case h.filter != "" && key.Matches(pressed, k.PickerClose):
		h.find("")
		return false
	}
	return true
}

// Update scrolls, searches or closes the page.
func (h *Help) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if h.press(msg, k) {
			return nil, nil, nil
		}
	case tea.MouseWheelMsg:
		h.top = max(0, h.first()+WheelLines(msg))
	case tea.PasteMsg:
		return h, NotMine{PasteMsg: msg}, nil
	}
	return h, nil, nil
}

// WheelLines returns the number of lines that a turn of the wheel scrolls.
func WheelLines(msg tea.MouseWheelMsg) int {
	if msg.Button == tea.MouseWheelUp {
		return -3
	}
	return 3
}

// Hints are the keys of the page.
func (h *Help) Hints(k *draw.Keys) []string { return []string{scrollHint(k), "esc close"} }

// find sets the filter; "" shows all.
func (h *Help) find(text string) { *h = Help{Commands: h.Commands, filter: text, rows: h.rows} }

// first is the first visible line. h.top may be further down: the window may
// shrink again.
func (h *Help) first() int { return max(0, min(h.top, len(h.Lines)-h.rows)) }

// View draws the filter and the visible lines.
func (h *Help) View(width, rows int, k *draw.Keys, theme *draw.Theme) Content {
	h.Build(k, width, theme)
	c := Content{Title: "Keys and commands", Count: draw.Thousands(h.all)}
	if h.filter != "" {
		c.Count = draw.Thousands(h.found) + " of " + c.Count
	}
	if rows > 6 {
		c.Lines = []string{filterLine(h.filter, "type to search", width, theme), ""}
	}
	h.rows = rows - len(c.Lines)
	top := h.first()
	c.Lines = append(c.Lines, h.Lines[top:min(len(h.Lines), top+h.rows)]...)
	c.Lines = draw.PadHeight(c.Lines, rows)
	return c
}
