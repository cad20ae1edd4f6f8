package panel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// Note is the reader: it shows a note or another document, follows its links to other notes,
// and goes back.
type Note struct {
	title string
	view  *draw.DocumentView // nil: it is being read
	note  chat.Note
	back  *Note // note whose link was followed; nil if none
	links map[int]draw.ChosenLink

	in    pages  // nil: links to notes cannot be followed
	name  string // as it was asked for, and from which note
	from  string
	line  int // the cited lines; 0: none
	to    int
	saved *Note // saved text of a source, shown if its note cannot be read; may be nil
}

// pages has what a reader shows. chat.Notes is the usual one.
type pages interface {
	Note(ctx context.Context, name, from string) (chat.Note, error)
}

// readMsg has a note that was read.
type readMsg struct {
	of   *Note
	note chat.Note
	text *draw.Document
	err  error
}

// Requests of a reader to the screen.
type (
	// EditFile opens a file in the user's editor; the reader reads it again then.
	EditFile struct {
		Path string
		Line int
	}
	// Reread reports that the editor has exited.
	Reread struct{ Err error }
)

// notePage is /open.
func notePage() Page {
	return Page{
		Command: chat.Command{
			Name: "open", Group: chat.InNotes, Args: "NOTE",
			Help: "read a note, by its path, title or alias",
		},
		There: func(o *chat.Options) bool { return o.Notes != nil },
		Open: func(ctx context.Context, o *chat.Options, name string) (Panel, tea.Cmd, error) {
			if name == "" {
				return nil, nil, errors.New("usage: /open NOTE")
			}
			r := NewNote(o.Notes, name, 0, 0)
			return r, r.Read(ctx), nil
		},
		Lines: func(ctx context.Context, o *chat.Options, name string) ([]string, error) {
			if name == "" {
				return []string{"usage: /open NOTE"}, nil
			}
			note, err := o.Notes.Note(ctx, name, "")
			return strings.Split(strings.TrimRight(note.Text, "\n"), "\n"), err
		},
	}
}

// NewNote shows the note of a name with some lines marked; 0: none. Read reads it.
func NewNote(in chat.Notes, name string, line, to int) *Note {
	return &Note{title: name, in: in, name: name, line: line, to: to}
}

// OpenSource shows the note of a citation with the cited lines marked. If there is no such
// note any more, it shows the text as it was cited.
func OpenSource(ctx context.Context, o *chat.Options, c transcript.Cited) (p Panel, cmd tea.Cmd, problem string) {
	var saved *Note
	if c.Source.Text != "" {
		line := max(1, c.Citation.Line-c.Source.Line+1)
		saved = NewDocument(cmp.Or(c.Citation.Path, c.Source.Path, "a tool's result"), c.Source.Text, line, line)
	}
	path, line, problem := c.Note()
	switch {
	case problem == "" && o.Notes != nil:
		n := NewNote(o.Notes, path, line, c.Citation.EndLine)
		n.saved = saved
		return n, n.Read(ctx), ""
	case saved != nil:
		return saved, nil, ""
	}
	return nil, nil, cmp.Or(problem, "notes cannot be read here")
}

// NewDocument shows a text that is in no file.
func NewDocument(title, text string, line, to int) *Note {
	r := &Note{title: title, note: chat.Note{Text: text}, line: line, to: to}
	r.show(draw.ParseDocument(text))
	return r
}

// NewListing shows a text whose links open notes.
func NewListing(in chat.Notes, title, text string) *Note {
	r := NewDocument(title, text, 0, 0)
	r.in = in
	return r
}

func (r *Note) show(d *draw.Document) {
	r.view = draw.NewDocumentView(d, r.line, r.to)
	if r.line == 0 && r.note.Line > 0 {
		r.view.GoTo(r.note.Line)
	}
}

// Do reads the note.
func (r ReadNote) Do(ctx context.Context, _ *chat.Options) tea.Cmd { return r.Note.Read(ctx) }

// Read reads the note in the background.
func (r *Note) Read(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		note, err := r.in.Note(ctx, r.name, r.from)
		if err != nil {
			return readMsg{of: r, err: err}
		}
		return readMsg{of: r, note: note, text: draw.ParseDocument(note.Text)}
	}
}

// ReadAgain reads in the background the note that is shown, which may have changed since; it returns nil for what is no
// note.
func (r *Note) ReadAgain(ctx context.Context) tea.Cmd {
	if r.in == nil || r.name == "" || r.view == nil {
		return nil
	}
	shown := r.note
	return func() tea.Msg {
		note, err := r.in.Note(ctx, r.name, r.from)
		if err != nil || note == shown { // what was read stays
			return nil
		}
		return readMsg{of: r, note: note, text: draw.ParseDocument(note.Text)}
	}
}

// Update scrolls, chooses and follows links, and goes back.
func (r *Note) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case readMsg:
		return r.take(msg)
	case Reread:
		if msg.Err != nil {
			return r, Failed{fmt.Errorf("editor: %w", msg.Err)}, nil
		}
		return r, ReadNote{r}, nil
	case tea.KeyPressMsg:
		return r.press(msg, k)
	case tea.MouseWheelMsg:
		if r.view != nil {
			r.view.Scroll(WheelLines(msg))
		}
	case Clicked:
		if chosen := r.links[int(msg)]; chosen == r.view.Chosen {
			return r.follow()
		} else {
			r.view.Chosen = chosen
		}
	case tea.PasteMsg:
		return r, NotMine{PasteMsg: msg}, nil
	}
	return r, nil, nil
}

// take shows a note that was read. After an error the reader is unchanged.
func (r *Note) take(msg readMsg) (Panel, tea.Msg, tea.Cmd) {
	switch {
	case msg.of != r:
		return r, nil, nil
	case msg.err != nil && r.saved != nil:
		return r.saved, Flash(msg.err.Error()), nil
	case msg.err != nil && r.back != nil:
		return r.back, Flash(msg.err.Error()), nil
	case msg.err != nil:
		return nil, Flash(msg.err.Error()), nil
	}
	place := 0
	if r.view != nil { // it is read again
		place = r.view.Place()
	}
	r.note, r.title = msg.note, cmp.Or(msg.note.Path, r.name)
	if r.show(msg.text); place > 0 {
		r.view.GoTo(place)
	}
	return r, nil, nil
}

func (r *Note) press(pressed tea.KeyPressMsg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	v := r.view
	switch {
	case key.Matches(pressed, k.Reader.Close):
		return nil, nil, nil
	case key.Matches(pressed, k.Reader.Back):
		if r.back != nil {
			return r.back, nil, nil
		}
	case v == nil:
	case key.Matches(pressed, k.Reader.Next, k.Reader.Previous):
		by := 1
		if key.Matches(pressed, k.Reader.Previous) {
			by = -1
		}
		if !v.Next(by) {
			return r, Flash("no more links"), nil
		}
	case key.Matches(pressed, k.Reader.Follow):
		return r.follow()
	case key.Matches(pressed, k.Reader.Edit):
		if r.note.File == "" {
			return r, Flash("this cannot be edited here"), nil
		}
		return r, EditFile{r.note.File, v.Place()}, nil
	case key.Matches(pressed, k.Reader.Copy):
		text := r.note.Text
		if link, ok := v.Link(); ok {
			text = link.To
		}
		return r, nil, func() tea.Msg { return dialog.CopyMsg(text) }
	case key.Matches(pressed, k.ListUp):
		v.Scroll(-1)
	case key.Matches(pressed, k.ListDown):
		v.Scroll(1)
	case key.Matches(pressed, k.ListPageUp):
		v.Scroll(-v.Page())
	case key.Matches(pressed, k.ListPageDown):
		v.Scroll(v.Page())
	case key.Matches(pressed, k.ListFirst):
		v.ToTop()
	case key.Matches(pressed, k.ListLast):
		v.ToEnd()
	}
	return r, nil, nil
}

// follow opens the note of the chosen link. A web address is copied, because LifeHub starts
// no browser.
func (r *Note) follow() (Panel, tea.Msg, tea.Cmd) {
	link, ok := r.view.Link()
	switch {
	case !ok:
		return r, Flash("tab chooses a link"), nil
	case !link.Note && safetext.LinkAllowed(link.To):
		return r, nil, func() tea.Msg { return dialog.CopyMsg(link.To) }
	case !link.Note:
		return r, Flash("not a web address: " + safetext.Reveal(link.To)), nil
	case r.in == nil:
		return r, Flash("no such note: " + safetext.Line(link.To)), nil
	}
	next := &Note{title: link.To, name: link.To, from: r.note.File, in: r.in, back: r}
	return next, ReadNote{next}, nil
}

// View shows the visible rows.
func (r *Note) View(width, rows int, _ *draw.Keys, theme *draw.Theme) Content {
	c := Content{Title: r.title}
	if r.view == nil {
		c.Lines = []string{theme.Dim.Render("reading…")}
		return c
	}
	var first, last int
	c.Lines, first, last = r.view.Lines(min(width, draw.Readable), rows, theme)
	if len(c.Lines) == 0 {
		c.Lines = []string{theme.Dim.Render("this note is empty")}
	}
	if n := r.view.Document.Lines; n > 0 {
		c.Count = fmt.Sprintf("%d–%d of %s", first, last, draw.Thousands(n))
	}
	r.links, c.Rows = r.view.LinksInSight(), map[int]int{}
	for row := range r.links {
		c.Rows[row] = row
	}
	return c
}

// Hints are the keys that matter now.
func (r *Note) Hints(k *draw.Keys) []string {
	hints := []string{scrollHint(k)}
	if r.view != nil && r.view.MayLink() {
		hints = append(hints, Hint(k.Reader.Next, "links"))
		if link, ok := r.view.Link(); ok && link.Note {
			hints = append(hints, Hint(k.Reader.Follow, "open"))
		} else if ok {
			hints = append(hints, Hint(k.Reader.Follow, "copy address"))
		}
	}
	if r.back != nil {
		hints = append(hints, Hint(k.Reader.Back, "back"))
	}
	if r.note.File != "" {
		hints = append(hints, Hint(k.Reader.Edit, "edit"))
	}
	return append(hints, Hint(k.Reader.Copy, "copy"), Hint(k.Reader.Close, "close"))
}
