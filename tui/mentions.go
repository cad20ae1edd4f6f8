package tui

import (
	"encoding/json"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// maxMentions bounds the rows that a word can bring.
const maxMentions = 100

// mentions is the list above the composer while a name is typed after an @.
type mentions struct {
	all    []backend.Mention // what can be named, as it was loaded for place
	plain  []string          // all without case, as it is compared
	at     int               // where the @ stands that all was loaded for
	place  string            // the folder of files whose files all holds; "": none
	loaded bool

	rows    []backend.Mention
	chosen  int
	closed  string // the text for which the user closed it
	asked   string // the name whose preview was asked for
	preview previewMsg
}

type (
	// mentionsMsg brings what can be named.
	mentionsMsg struct {
		at    int
		place string
		list  []backend.Mention
		err   error
	}
	// previewMsg brings the beginning of what a name stands for.
	previewMsg struct{ name, text string }
)

// mentioning is the word after the last @ of a text that is still being
// typed, and where the @ stands; false when there is none.
func mentioning(text string) (word string, at int, ok bool) {
	at = strings.LastIndexByte(text, '@')
	if at < 0 || at > 0 && !strings.ContainsRune(" \n\t(", rune(text[at-1])) {
		return "", 0, false
	}
	word = strings.TrimPrefix(text[at+1:], `"`)
	if quoted := word != text[at+1:]; strings.ContainsAny(word, "\"\n") || !quoted && strings.ContainsAny(word, " \t") {
		return "", 0, false
	}
	return word, at, true
}

// placeOf is the folder that a word names files of, with its last slash; ""
// for a word that is no path.
func placeOf(word string) string {
	for _, start := range []string{"/", "~/", "./", "../"} {
		if strings.HasPrefix(word, start) {
			return word[:strings.LastIndexByte(word, '/')+1]
		}
	}
	return ""
}

// follow brings the list in line with what is typed before the cursor. load
// says that what can be named has to be loaded first.
func (p *mentions) follow(text string) (load bool) {
	word, at, ok := mentioning(text)
	if !ok || text == p.closed {
		p.rows, p.loaded = nil, p.loaded && ok
		return false
	}
	p.closed = ""
	if place := placeOf(word); !p.loaded || p.at != at || p.place != place {
		*p = mentions{at: at, place: place, loaded: true}
		return true
	}
	p.fill(word)
	return false
}

// take takes in what was loaded, if it is still wanted.
func (p *mentions) take(msg mentionsMsg) (wanted bool) {
	if !p.loaded || p.at != msg.at || p.place != msg.place {
		return false
	}
	p.all, p.plain = msg.list, make([]string, len(msg.list))
	for i, m := range msg.list {
		p.plain[i] = strings.ToLower(m.Name + "\x00" + m.Detail)
	}
	return true
}

// fill finds the rows for a word, best first.
func (p *mentions) fill(word string) {
	type match struct{ at, rank int }
	var found []match
	typed := strings.ToLower(word)
	p.rows = p.rows[:0]
	for i, text := range p.plain {
		if p.all[i].Name == word && !strings.HasSuffix(word, "/") {
			p.rows = nil
			return // it is whole
		}
		if rank := fuzzy(text, typed); rank >= 0 {
			found = append(found, match{i, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return a.rank - b.rank })
	for _, f := range found[:min(len(found), maxMentions)] {
		p.rows = append(p.rows, p.all[f.at])
	}
	p.chosen = max(0, min(p.chosen, len(p.rows)-1))
}

// fuzzy says how well a typed text names another, both without case: 0 is
// best, negative not at all. The beginning of a name goes before that of a
// word in it, a text before letters in order, letters near each other before
// letters far apart.
func fuzzy(text, typed string) int {
	switch at := strings.Index(text, typed); {
	case at == 0:
		return 0
	case at > 0 && strings.ContainsRune("/\x00", rune(text[at-1])):
		return 1
	case at > 0 && strings.ContainsRune(" -_.:", rune(text[at-1])):
		return 2
	case at > 0:
		return 3
	}
	from, to := -1, 0
	for _, letter := range typed {
		at := strings.IndexRune(text[to:], letter)
		if at < 0 {
			return -1
		}
		if from < 0 {
			from = to + at
		}
		to += at + len(string(letter))
	}
	return 4 + to - from - len(typed)
}

func (p *mentions) open() bool { return len(p.rows) > 0 }

// view shows at most height rows, and beside them what the chosen one holds.
func (p *mentions) view(width, height int, look *draw.Theme) []string {
	beside := 0
	if p.preview.name == p.rows[p.chosen].Name && p.preview.text != "" && width >= 90 {
		beside = width / 2
	}
	rows := min(len(p.rows), height)
	from := max(0, min(p.chosen-rows/2, len(p.rows)-rows))
	var lines []string
	for at := from; at < from+rows; at++ {
		lines = append(lines, mentionRow(p.rows[at], at == p.chosen, width-beside, look))
	}
	if beside == 0 {
		return lines
	}
	preview := strings.Split(safetext.Text(p.preview.text), "\n")
	for n := range min(height, max(len(lines), len(preview))) {
		if n >= len(lines) {
			lines = append(lines, "")
		}
		text := ""
		if n < len(preview) {
			text = preview[n]
		}
		left := draw.Fit(lines[n], width-beside-1)
		lines[n] = left + strings.Repeat(" ", width-beside-1-draw.Cells(left)) + look.Border.Render("│ ") + look.Dim.Render(draw.Fit(text, beside-2))
	}
	return lines
}

// mentionRow is a row of the list.
func mentionRow(n backend.Mention, chosen bool, width int, look *draw.Theme) string {
	name, mark := "@"+safetext.Line(n.Name), "  "
	detail := look.Dim.Render(draw.Fit(safetext.Line(n.Detail), width/3))
	name = draw.Fit(name, max(8, width-4-draw.Cells(detail)))
	if chosen {
		mark, name = look.Selected.Render("› "), look.Selected.Render(name)
	}
	return draw.Fit(mark+name+"  "+detail, width)
}

// mentionText is how a name stands in a message.
func mentionText(n backend.Mention) string {
	name := safetext.Line(n.Name)
	if strings.ContainsAny(name, " \t") {
		return `"` + name + `"`
	}
	return name
}

// pressMentions moves in the list, completes from it or closes it.
func (m *Model) pressMentions(pressed tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	p, c := &m.mentions, &m.composer
	switch {
	case key.Matches(pressed, m.keys.Stop):
		p.closed, p.rows = c.before(), nil
	case key.Matches(pressed, m.keys.Up):
		p.chosen = (p.chosen - 1 + len(p.rows)) % len(p.rows)
		return m.askPreview(), true
	case key.Matches(pressed, m.keys.Down):
		p.chosen = (p.chosen + 1) % len(p.rows)
		return m.askPreview(), true
	case key.Matches(pressed, m.keys.Complete, m.keys.Send):
		text := mentionText(p.rows[p.chosen])
		p.rows = nil
		if strings.HasSuffix(text, "/") { // a folder: on with what is in it
			c.replace(len(c.before())-p.at-1, text)
			return m.follow(), true
		}
		c.replace(len(c.before())-p.at-1, text+" ")
	default:
		return nil, false
	}
	return nil, true
}

// follow brings the lists above the composer in line with what is typed.
func (m *Model) follow() tea.Cmd {
	if m.asked() { // no list opens over it
		m.palette.rows, m.mentions.rows = nil, nil
		return nil
	}
	m.palette.follow(m.composer.text(), m.AllCommands())
	if m.Mentions == nil {
		return nil
	}
	p := &m.mentions
	if !p.follow(m.composer.before()) {
		return m.askPreview()
	}
	at, place := p.at, p.place
	return func() tea.Msg {
		list, err := m.Mentions(m.base, place)
		return mentionsMsg{at, place, list, err}
	}
}

// takeMentions shows what can be named.
func (m *Model) takeMentions(msg mentionsMsg) tea.Cmd {
	if msg.err != nil {
		m.flash(msg.err.Error())
	}
	if !m.mentions.take(msg) {
		return nil
	}
	return m.follow()
}

// askPreview asks for the beginning of what the chosen name stands for.
func (m *Model) askPreview() tea.Cmd {
	p := &m.mentions
	if m.Preview == nil || !p.open() || p.asked == p.rows[p.chosen].Name {
		return nil
	}
	name := p.rows[p.chosen].Name
	p.asked = name
	return func() tea.Msg { return previewMsg{name, m.Preview(m.base, name)} }
}

// useTemplate asks for the blanks of a prompt that were not given, if it has
// any, and puts the filled prompt into the composer: what is sent is seen before.
func (m *Model) useTemplate(t backend.Template, given string) tea.Cmd {
	fill := func(values json.RawMessage) tea.Cmd {
		return func() tea.Msg {
			text, err := t.Fill(m.base, values)
			return filledMsg{text, err}
		}
	}
	if t.Schema == nil {
		return fill(json.RawMessage("{}"))
	}
	blanks := dialog.NewBlanks(t.Schema, given)
	if len(blanks.Given) > 0 && blanks.Check(blanks.Values()) == nil {
		return fill(blanks.Values())
	}
	server, _, _ := strings.Cut(t.Name, ":")
	rearm := m.askInput(agent.InputAsked{
		Question: agent.Question{From: server, Kind: agent.FormInput, Message: t.Help, Schema: blanks.Schema(), Check: blanks.Check},
		Reply: func(given agent.Input) {
			if given.Action == agent.InputAccepted {
				m.afterInput = fill(given.Values)
			}
		},
	})
	m.input.Entered = m.asksInput() && len(m.input.Queue) == 1 // the user has asked for it
	return rearm
}

// filledMsg brings a filled prompt.
type filledMsg struct {
	text string
	err  error
}

func (m *Model) filled(msg filledMsg) {
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return
	}
	m.composer.paste(msg.text)
}
