package composer

import (
	"context"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/internal/text"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Mentions is the list above the composer while a name is typed after an @.
type Mentions struct {
	Notes  chat.Notes     // lists the names, and reads previews in the background; nil: there are none
	all    []chat.Mention // names loaded for place
	plain  []string       // their keys
	at     int            // offset of the @ for which all was loaded
	place  string         // folder of which all lists the files; "" if none
	loaded bool

	Rows    []chat.Mention
	word    string // text that Rows match
	Chosen  int
	closed  string // text for which the user closed the list
	asked   string // name whose preview was requested
	preview PreviewMsg
}

type (
	// MentionsMsg has the names.
	MentionsMsg struct {
		at    int
		place string
		list  []chat.Mention
		Err   error
	}
	// PreviewMsg has the beginning of a named note.
	PreviewMsg struct {
		name string
		text *draw.Document // nil if there is nothing to show
	}
)

// mentioning returns the word after the last @ that is being typed, and the index of the @.
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

// PlaceOf returns the folder of a path, with its last slash; "" if word is not a path.
func PlaceOf(word string) string {
	for _, start := range []string{"/", "~/", "./", "../"} {
		if strings.HasPrefix(word, start) {
			return word[:strings.LastIndexByte(word, '/')+1]
		}
	}
	return ""
}

// Follow updates the list after a change of the text before the cursor, and loads its
// contents.
func (p *Mentions) Follow(ctx context.Context, text string) tea.Cmd {
	word, at, ok := mentioning(text)
	if p.Notes == nil || !ok || text == p.closed {
		p.Rows, p.loaded = nil, p.loaded && ok
		return nil
	}
	p.closed = ""
	if place := PlaceOf(word); !p.loaded || p.at != at || p.place != place {
		*p = Mentions{Notes: p.Notes, at: at, place: place, loaded: true}
		notes := p.Notes
		return func() tea.Msg {
			list, err := notes.Mentions(ctx, place)
			return MentionsMsg{at, place, list, err}
		}
	}
	p.fill(word)
	return p.askPreview(ctx)
}

// askPreview loads the preview of the chosen name.
func (p *Mentions) askPreview(ctx context.Context) tea.Cmd {
	if !p.Open() || p.Rows[p.Chosen].Tool || p.asked == p.Rows[p.Chosen].Name {
		return nil
	}
	name, notes := p.Rows[p.Chosen].Name, p.Notes
	p.asked = name
	return func() tea.Msg {
		if text := chat.Beginning(ctx, notes, name); text != "" {
			return PreviewMsg{name, draw.ParseDocument(text)}
		}
		return PreviewMsg{name: name}
	}
}

// Take shows names that were loaded, unless the folder has changed.
func (p *Mentions) Take(msg MentionsMsg) (wanted bool) {
	if !p.loaded || p.at != msg.at || p.place != msg.place {
		return false
	}
	p.all, p.plain = msg.list, make([]string, len(msg.list))
	for i, m := range msg.list {
		p.plain[i] = text.Key(m.Name + "\x00" + m.Detail)
	}
	return true
}

// TakePreview shows a preview, unless another name is chosen now.
func (p *Mentions) TakePreview(msg PreviewMsg) {
	if msg.name == p.asked {
		p.preview = msg
	}
}

// fill lists the rows that match a word, best first.
func (p *Mentions) fill(word string) {
	type match struct{ at, score int }
	var found []match
	typed := text.Key(word)
	p.Rows, p.word = p.Rows[:0], word
	for i, plain := range p.plain {
		if p.all[i].Name == word && !strings.HasSuffix(word, "/") {
			p.Rows = nil
			return // the word is complete
		}
		if score := draw.Match(plain, typed); score > 0 && (p.at == 0 || !p.all[i].Tool) {
			found = append(found, match{i, score})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return b.score - a.score })
	for _, f := range found {
		p.Rows = append(p.Rows, p.all[f.at])
	}
	p.Chosen = max(0, min(p.Chosen, len(p.Rows)-1))
}

func (p *Mentions) Open() bool { return len(p.Rows) > 0 }

// Press moves in the list, completes from it or closes it. It reports false if the key goes to
// the composer.
func (p *Mentions) Press(pressed tea.KeyPressMsg, k *draw.Keys, c *Model) bool {
	switch {
	case key.Matches(pressed, k.Stop):
		p.closed, p.Rows = c.Before(), nil
	case key.Matches(pressed, k.Up):
		p.Chosen = around(p.Chosen-1, len(p.Rows))
	case key.Matches(pressed, k.Down):
		p.Chosen = around(p.Chosen+1, len(p.Rows))
	case key.Matches(pressed, k.Complete, k.Send):
		text := mentionText(p.Rows[p.Chosen])
		if p.Rows = nil; !strings.HasSuffix(text, "/") { // otherwise continue with the files in the folder
			text += " "
		}
		c.Replace(len(c.Before())-p.at-1, text)
	default:
		return false
	}
	return true
}

// view draws rows, and a preview of the chosen one next to them.
func (p *Mentions) view(from, to, height, width int, theme *draw.Theme) []string {
	beside := 0
	if p.preview.name == p.Rows[p.Chosen].Name && p.preview.text != nil && width >= 80 {
		beside = width / 2
	}
	list := make([]draw.Row, to-from)
	for i, m := range p.Rows[from:to] {
		list[i] = draw.Row{Label: "@" + m.Name, Detail: m.Detail, Typed: p.word}
	}
	column := draw.Columns(list, width-beside-1)
	var lines []string
	for i, r := range list {
		lines = append(lines, r.View(from+i == p.Chosen, column, width-beside-1, theme))
	}
	if beside == 0 {
		return lines
	}
	preview, _, _ := draw.NewDocumentView(p.preview.text, 0, 0).Lines(beside-2, height, theme)
	for n := range min(height, max(len(lines), len(preview))) {
		if n >= len(lines) {
			lines = append(lines, "")
		}
		text := ""
		if n < len(preview) {
			text = preview[n]
		}
		left := draw.Truncate(lines[n], width-beside-1)
		lines[n] = left + strings.Repeat(" ", width-beside-1-draw.Width(left)) + theme.Border.Render("│ ") + text
	}
	return lines
}

// mentionText returns a name as written in a message.
func mentionText(n chat.Mention) string {
	name := safetext.Line(n.Name)
	if strings.ContainsAny(name, " \t") {
		return `"` + name + `"`
	}
	return name
}
