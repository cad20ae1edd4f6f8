package panel

import (
	"context"
	"path"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// FirstRun is the screen of who has named no notes yet: which model answers and
// how to get one, and folders of notes to choose from. Nothing that it does not
// find keeps the user from chatting.
type FirstRun struct {
	finding finding
	model   *backend.FoundModel // nil: it is being looked for
	offers  []backend.Offer     // nil: they are being looked for
	folder  string              // of the user's own, as it is typed
	taking  bool                // the chosen folder is being opened
	Problem string              // why it could not be
	chosen  int                 // counted from the first folder; -1: the model to fetch
}

// finding is how the first run finds what it shows.
type finding struct {
	take    func(backend.Offer) error
	model   func() backend.FoundModel                     // nil: nothing is said of it
	folders func(place string) ([]backend.Mention, error) // nil: paths are not completed
}

// NewFirstRun returns the screen, and the command that begins to look.
func NewFirstRun(ctx context.Context, o *backend.Options) (*FirstRun, tea.Cmd) {
	f := &FirstRun{finding: finding{take: func(chosen backend.Offer) error { return o.Notes.Take(ctx, chosen) }}}
	if o.FindModel != nil {
		f.finding.model = func() backend.FoundModel { return o.FindModel(ctx) }
	}
	if o.Mentions != nil {
		f.finding.folders = func(place string) ([]backend.Mention, error) { return o.Mentions(ctx, place) }
	}
	return f, tea.Batch(f.FindModel(), func() tea.Msg {
		list, err := o.Notes.Offers(ctx)
		return offersMsg{list, err}
	})
}

// firstRow is something to choose there.
type firstRow struct {
	draw.Row
	act func() (did tea.Msg, cmd tea.Cmd)
}

type (
	// offersMsg brings the folders of notes.
	offersMsg struct {
		list []backend.Offer
		err  error
	}
	// foundModelMsg brings what is known of the model.
	foundModelMsg backend.FoundModel
	// tookMsg says that a folder of notes is used from now on, or why not.
	tookMsg struct {
		offer backend.Offer
		err   error
	}
	// foldersMsg brings the folders that a typed path may mean.
	foldersMsg struct {
		typed string
		list  []backend.Mention
	}
)

func (f *FirstRun) FindModel() tea.Cmd {
	if f.finding.model == nil {
		return nil
	}
	return func() tea.Msg { return foundModelMsg(f.finding.model()) }
}

// Update takes a key, or what was found.
func (f *FirstRun) Update(msg tea.Msg, k *keys.Map) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		did, cmd := f.press(msg, k)
		return f, did, cmd
	case tea.PasteMsg:
		f.typeFolder(f.folder + safetext.Line(strings.TrimSpace(msg.Content)))
	case foundModelMsg:
		f.model = (*backend.FoundModel)(&msg)
	case offersMsg:
		f.offers = append([]backend.Offer{}, msg.list...)
		if msg.err != nil {
			f.Problem = msg.err.Error()
		}
	case foldersMsg:
		f.completeFolder(msg)
	case tookMsg:
		f.taking = false
		if msg.err == nil {
			return f, NotesTaken{Offer: msg.offer}, nil
		}
		f.Problem = msg.err.Error()
	}
	return f, nil, nil
}

// Hints are the keys of the screen.
func (f *FirstRun) Hints(k *keys.Map) []string {
	if f.folder != "" {
		return []string{Hint(k.PickerChoose, "use it"), Hint(k.Complete, "complete"), Hint(k.PickerClose, "later")}
	}
	return []string{moveHint(k), Hint(k.PickerChoose, "choose"), Hint(k.PickerClose, "later")}
}

// rows are what can be chosen, from the top.
func (f *FirstRun) rows() []firstRow {
	var rows []firstRow
	if f.model != nil && f.model.Pull != "" {
		name := f.model.Pull
		rows = append(rows, firstRow{draw.Row{Label: "Fetch " + name, Detail: f.model.Why}, func() (tea.Msg, tea.Cmd) { return Pull{Model: name}, nil }})
	}
	for _, o := range f.offers {
		rows = append(rows, firstRow{draw.Row{Label: strings.TrimSpace(o.Name + "  " + o.Path), Detail: o.Detail}, func() (tea.Msg, tea.Cmd) { return nil, f.takeNotes(o) }})
	}
	own := backend.Offer{Name: path.Base(f.folder), Path: f.folder}
	rows = append(rows, firstRow{draw.Row{Label: "Another folder  " + f.folder, Detail: "type its path"}, func() (tea.Msg, tea.Cmd) {
		if own.Path == "" {
			return Flash("type the path of the folder, such as ~/notes"), nil
		}
		return nil, f.takeNotes(own)
	}})
	return append(rows, firstRow{draw.Row{Label: "Later", Detail: "chat without notes"}, func() (tea.Msg, tea.Cmd) { return Later{}, nil }})
}

// above is how many rows stand above the first folder.
func (f *FirstRun) above() int {
	if f.model != nil && f.model.Pull != "" {
		return 1
	}
	return 0
}

// at is the chosen row.
func (f *FirstRun) at() int { return max(0, min(f.chosen+f.above(), len(f.rows())-1)) }

// press moves, chooses, or types a folder of the user's own.
func (f *FirstRun) press(pressed tea.KeyPressMsg, k *keys.Map) (did tea.Msg, cmd tea.Cmd) {
	rows := f.rows()
	switch {
	case f.taking:
		return nil, nil
	case key.Matches(pressed, k.PickerClose):
		return Later{}, nil
	case key.Matches(pressed, k.PickerChoose):
		return rows[f.at()].act()
	case key.Matches(pressed, k.Complete) && f.folder != "":
		return nil, f.findFolders()
	}
	if to, moves := k.Moved(pressed, f.at(), len(rows), 5); moves && pressed.Text == "" {
		f.chosen = to - f.above()
		return nil, nil
	}
	f.typeFolder(keys.Typed(f.folder, pressed))
	return nil, nil
}

// typeFolder puts a path in place of the one that is typed.
func (f *FirstRun) typeFolder(folder string) {
	if folder != f.folder {
		f.folder, f.Problem = folder, ""
		f.chosen = len(f.offers)
	}
}

// findFolders looks for what may follow the typed path.
func (f *FirstRun) findFolders() tea.Cmd {
	folder := f.folder
	place := composer.PlaceOf(folder)
	if f.finding.folders == nil || place == "" {
		return nil
	}
	return func() tea.Msg {
		list, err := f.finding.folders(place)
		if err != nil { // the path is not there yet
			return nil
		}
		return foldersMsg{typed: folder, list: list}
	}
}

// completeFolder writes as much of a path as all folders that fit have in common.
func (f *FirstRun) completeFolder(msg foldersMsg) {
	if msg.typed != f.folder {
		return
	}
	common := ""
	for _, found := range msg.list {
		name := safetext.Line(found.Name)
		if !strings.HasSuffix(name, "/") || !strings.HasPrefix(name, msg.typed) {
			continue
		}
		if common == "" {
			common = name
		}
		for !strings.HasPrefix(name, common) {
			runes := []rune(common)
			common = string(runes[:len(runes)-1])
		}
	}
	if common != "" {
		f.typeFolder(common)
	}
}

// takeNotes uses a folder of notes from now on.
func (f *FirstRun) takeNotes(o backend.Offer) tea.Cmd {
	f.taking, f.Problem = true, ""
	return func() tea.Msg { return tookMsg{offer: o, err: f.finding.take(o)} }
}

// View shows the model, and the folders to choose from.
func (f *FirstRun) View(width, height int, _ *keys.Map, theme *draw.Theme) Content {
	width = min(width, listWidth)
	lines := []string{theme.Brand.Render(draw.Truncate("Model", width))}
	switch {
	case f.model == nil:
		lines = append(lines, theme.Dim.Render(draw.Truncate("  looking for a model…", width)))
	default:
		mark := theme.Warning.Render("○")
		if f.model.Ready {
			mark = theme.Success.Render("✓")
		}
		lines = append(lines, draw.Hang("  "+mark+" ", safetext.Line(f.model.Says), width)...)
		if f.model.Next != "" {
			lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("    ", safetext.Line(f.model.Next), width))...)
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
	column, _ := draw.Columns(rows, width)
	from, to := inSight(f.at(), len(rows), max(1, height-len(lines)-2))
	clicks := map[int]int{}
	for at := from; at < to; at++ {
		r := rows[at]
		if at == f.at() && f.chosen == len(f.offers) {
			r.Label += "▏"
		}
		clicks[len(lines)] = at
		lines = append(lines, r.View(at == f.at(), column, width, theme))
	}
	switch {
	case f.taking:
		lines = append(lines, "", theme.Dim.Render(draw.Truncate("  opening…", width)))
	case f.Problem != "":
		lines = append(lines, "")
		lines = append(lines, draw.StyleLines(theme.Danger.Render, draw.Hang("  ✗ ", safetext.Line(f.Problem), width))...)
	}
	hidden := max(0, len(lines)-height) // the rows to choose from stay
	c := Content{Title: "Welcome to LifeHub, the chat that knows your notes", Lines: lines[hidden:], Rows: map[int]int{}}
	for line, row := range clicks {
		c.Rows[line-hidden] = row
	}
	return c
}
