package panel

import (
	"cmp"
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// FirstRun is the panel for a new user: which model answers and how to get one, and folders
// of notes to choose from. All of it is optional.
type FirstRun struct {
	model   *chat.FoundModel // nil while searching
	offers  []chat.Offer     // nil while searching
	folder  string           // path being typed
	typed   chat.TypedPath   // description of that path
	taking  bool             // the chosen folder is being opened
	Problem string           // why it could not be opened
	chosen  int              // counted from the first folder; -1: the model to fetch
}

// FindModel looks for the model that the panel shows.
func FindModel(ctx context.Context, in chat.Setup) tea.Cmd {
	return func() tea.Msg { return foundModelMsg(in.Model(ctx)) }
}

// FindNotes looks for the folders that the panel offers.
func FindNotes(ctx context.Context, in chat.Setup) tea.Cmd {
	return func() tea.Msg {
		list, err := in.Offers(ctx)
		return offersMsg{list, err}
	}
}

// Do describes the path for the panel.
func (l LookAt) Do(ctx context.Context, o *chat.Options) tea.Cmd {
	return func() tea.Msg { return typedMsg{l.Path, o.Setup.Typed(ctx, l.Path)} }
}

// Do adds the folder, and tells the panel.
func (t TakeNotes) Do(ctx context.Context, o *chat.Options) tea.Cmd {
	return func() tea.Msg { return tookMsg{offer: t.Offer, err: o.Setup.Take(ctx, t.Offer)} }
}

// firstRow is a row of the panel.
type firstRow struct {
	Row draw.Row
	did tea.Msg // what choosing it asks of the screen
}

type (
	// offersMsg has the folders of notes.
	offersMsg struct {
		list []chat.Offer
		err  error
	}
	// foundModelMsg has the state of the model.
	foundModelMsg chat.FoundModel
	// tookMsg reports that a folder of notes was added, or why not.
	tookMsg struct {
		offer chat.Offer
		err   error
	}
	// typedMsg describes a typed path.
	typedMsg struct {
		path      string
		TypedPath chat.TypedPath
	}
)

// Update handles a key, or what was found.
func (f *FirstRun) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return f, f.press(msg, k), nil
	case tea.PasteMsg:
		return f, f.typeFolder(f.folder + safetext.Line(strings.TrimSpace(msg.Content))), nil
	case foundModelMsg:
		f.model = (*chat.FoundModel)(&msg)
	case offersMsg:
		f.offers = append([]chat.Offer{}, msg.list...)
		if msg.err != nil {
			f.Problem = msg.err.Error()
		}
	case typedMsg:
		if msg.path == f.folder {
			f.typed = msg.TypedPath
		}
	case tookMsg:
		f.taking = false
		if msg.err == nil {
			return f, NotesTaken{Offer: msg.offer}, nil
		}
		f.Problem = msg.err.Error()
	}
	return f, nil, nil
}

// Hints are the keys of the panel.
func (f *FirstRun) Hints(k *draw.Keys) []string {
	if f.folder != "" {
		return []string{Hint(k.PickerChoose, "use it"), Hint(k.Complete, "complete"), Hint(k.PickerClose, "skip")}
	}
	return []string{moveHint(k), Hint(k.PickerChoose, "choose"), Hint(k.PickerClose, "skip")}
}

// rows returns the rows that can be chosen, from the top.
func (f *FirstRun) rows() []firstRow {
	var rows []firstRow
	if f.model != nil && f.model.Pull != "" {
		name := f.model.Pull
		rows = append(rows, firstRow{draw.Row{Label: "Fetch " + name, Detail: f.model.Why}, Pull{Model: name}})
	}
	for _, o := range f.offers {
		rows = append(rows, firstRow{
			draw.Row{Label: strings.TrimSpace(o.Name + "  " + o.Path), Detail: o.Detail},
			TakeNotes{o},
		})
	}
	own := firstRow{
		draw.Row{Label: "Another folder", Detail: "type its path"},
		Flash("type the path of the folder, such as ~/notes"),
	}
	if f.folder != "" {
		own.did = TakeNotes{chat.Offer{Name: path.Base(f.folder), Path: f.folder}}
	}
	rows = append(rows, own)
	if f.folder != "" {
		for _, o := range f.typed.Begun {
			rows = append(rows, firstRow{draw.Row{Label: "  " + o.Path, Detail: o.Detail}, TakeNotes{o}})
		}
	}
	return append(rows, firstRow{draw.Row{Label: "Skip for now", Detail: "chat without notes"}, Later{}})
}

// above is the number of rows above the first folder.
func (f *FirstRun) above() int {
	if f.model != nil && f.model.Pull != "" {
		return 1
	}
	return 0
}

// at is the chosen row.
func (f *FirstRun) at() int { return max(0, min(f.chosen+f.above(), len(f.rows())-1)) }

// press moves, chooses, or edits the path.
func (f *FirstRun) press(pressed tea.KeyPressMsg, k *draw.Keys) (did tea.Msg) {
	rows := f.rows()
	switch {
	case f.taking:
		return nil
	case key.Matches(pressed, k.PickerClose):
		return Later{}
	case key.Matches(pressed, k.PickerChoose):
		did = rows[f.at()].did
		if _, takes := did.(TakeNotes); takes {
			f.taking, f.Problem = true, ""
		}
		return did
	case key.Matches(pressed, k.Complete) && f.folder != "":
		return f.typeFolder(cmp.Or(f.typed.Complete, f.folder))
	}
	if to, moves := k.Moved(pressed, f.at(), len(rows), 5); moves && pressed.Text == "" {
		f.chosen = to - f.above()
		return nil
	}
	return f.typeFolder(draw.TypedInto(f.folder, pressed))
}

// typeFolder sets the typed path and has it looked at.
func (f *FirstRun) typeFolder(folder string) tea.Msg {
	if folder == f.folder {
		return nil
	}
	f.folder, f.typed, f.Problem = folder, chat.TypedPath{}, ""
	f.chosen = len(f.offers)
	return LookAt{folder}
}

// field draws the input for a path, scrolled to its end, and a description of the path.
func (f *FirstRun) field(width int, theme *draw.Theme) string {
	detail := f.typed.Detail
	if f.typed.Missing {
		detail = theme.Danger.Render("✗ " + safetext.Line(detail))
	} else {
		detail = theme.Dim.Render(safetext.Line(detail))
	}
	shown := safetext.Line(f.folder)
	path, room := shown, max(8, width-8-draw.Width(detail))
	for draw.Width(path) > room {
		_, size := utf8.DecodeRuneInString(path)
		path = path[size:]
	}
	if path != shown {
		path = "…" + path
	}
	return draw.Truncate("    "+theme.You.Render(path)+"▏ "+detail, width)
}

// View shows the model, and the folders to choose from.
func (f *FirstRun) View(width, height int, _ *draw.Keys, theme *draw.Theme) Content {
	lines := []string{theme.Brand.Render(draw.Truncate("Model", width))}
	switch {
	case f.model == nil:
		lines = append(lines, theme.Dim.Render(draw.Truncate("  looking for a model…", width)))
	default:
		mark := theme.Warning.Render("○")
		if f.model.Ready {
			mark = theme.Success.Render("✓")
		}
		lines = append(lines, draw.Hang("  "+mark+" ", safetext.Line(f.model.Detail), width)...)
		if f.model.Next != "" {
			lines = append(lines, draw.StyleLines(theme.Dim.Render,
				draw.Hang("    ", safetext.Line(f.model.Next), width))...)
		}
	}
	lines = append(lines, "", theme.Brand.Render(draw.Truncate("Which notes should LifeHub use?", width)))
	if f.offers == nil {
		lines = append(lines, theme.Dim.Render(draw.Truncate("  looking for folders of notes…", width)))
	}
	var rows []draw.Row
	for _, r := range f.rows() {
		rows = append(rows, r.Row)
	}
	column := draw.Columns(rows, width)
	from, to := inSight(f.at(), len(rows), max(1, height-len(lines)-3))
	clicks := map[int]int{}
	for at := from; at < to; at++ {
		clicks[len(lines)] = at
		lines = append(lines, rows[at].View(at == f.at(), column, width, theme))
		if at == len(f.offers)+f.above() && (f.folder != "" || at == f.at()) {
			lines = append(lines, f.field(width, theme))
		}
	}
	switch {
	case f.taking:
		lines = append(lines, "", theme.Dim.Render(draw.Truncate("  opening…", width)))
	case f.Problem != "":
		lines = append(lines, "")
		lines = append(lines, draw.StyleLines(theme.Danger.Render,
			draw.Hang("  ✗ ", safetext.Line(f.Problem), width))...)
	}
	hidden := max(0, len(lines)-height) // the rows to choose from stay
	c := Content{
		Title: "Welcome to LifeHub, the chat that knows your notes",
		Lines: lines[hidden:], Rows: map[int]int{},
	}
	for line, row := range clicks {
		c.Rows[line-hidden] = row
	}
	return c
}
