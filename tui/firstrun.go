package tui

import (
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

// firstRun is the screen of who has named no notes yet: which model answers and
// how to get one, and folders of notes to choose from. Nothing that it does not
// find keeps the user from chatting.
type firstRun struct {
	finding finding
	model   *backend.FoundModel // nil: it is being looked for
	offers  []backend.Offer     // nil: they are being looked for
	folder  string              // of the user's own, as it is typed
	taking  bool                // the chosen folder is being opened
	wrong   string              // why it could not be
	chosen  int                 // counted from the first folder; -1: the model to fetch
}

// finding is how the first run finds what it shows.
type finding struct {
	offers  func() ([]backend.Offer, error)
	take    func(backend.Offer) error
	model   func() backend.FoundModel                     // nil: nothing is said of it
	folders func(place string) ([]backend.Mention, error) // nil: paths are not completed
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

// openFirstRun shows the screen and begins to look.
func (m *Model) openFirstRun() tea.Cmd {
	found := finding{
		offers: func() ([]backend.Offer, error) { return m.Notes.Offers(m.base) },
		take:   func(o backend.Offer) error { return m.Notes.Take(m.base, o) },
	}
	if m.FindModel != nil {
		found.model = func() backend.FoundModel { return m.FindModel(m.base) }
	}
	if m.Mentions != nil {
		found.folders = func(place string) ([]backend.Mention, error) { return m.Mentions(m.base, place) }
	}
	f := &firstRun{finding: found}
	m.panel = f
	return tea.Batch(f.findModel(), func() tea.Msg {
		list, err := found.offers()
		return offersMsg{list, err}
	})
}

// findModel looks for the model, while the first run is open.
func (m *Model) findModel() tea.Cmd {
	if f, ok := m.panel.(*firstRun); ok {
		return f.findModel()
	}
	return nil
}

func (f *firstRun) findModel() tea.Cmd {
	if f.finding.model == nil {
		return nil
	}
	return func() tea.Msg { return foundModelMsg(f.finding.model()) }
}

// Update takes a key, or what was found.
func (f *firstRun) Update(msg tea.Msg, k *keys.Map) (Panel, tea.Msg, tea.Cmd) {
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
			f.wrong = msg.err.Error()
		}
	case foldersMsg:
		f.completeFolder(msg)
	case tookMsg:
		f.taking = false
		if msg.err == nil {
			return f, NotesTaken{msg.offer}, nil
		}
		f.wrong = msg.err.Error()
	}
	return f, nil, nil
}

// Hints are the keys of the screen.
func (f *firstRun) Hints(k *keys.Map) []string {
	if f.folder != "" {
		return []string{hint(k.PickerChoose, "use it"), hint(k.Complete, "complete"), hint(k.PickerClose, "later")}
	}
	return []string{moveHint(k), hint(k.PickerChoose, "choose"), hint(k.PickerClose, "later")}
}

// rows are what can be chosen, from the top.
func (f *firstRun) rows() []firstRow {
	var rows []firstRow
	if f.model != nil && f.model.Pull != "" {
		name := f.model.Pull
		rows = append(rows, firstRow{draw.Row{Label: "Fetch " + name, Detail: f.model.Why}, func() (tea.Msg, tea.Cmd) { return Pull{name}, nil }})
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
func (f *firstRun) above() int {
	if f.model != nil && f.model.Pull != "" {
		return 1
	}
	return 0
}

// at is the chosen row.
func (f *firstRun) at() int { return max(0, min(f.chosen+f.above(), len(f.rows())-1)) }

// press moves, chooses, or types a folder of the user's own.
func (f *firstRun) press(pressed tea.KeyPressMsg, k *keys.Map) (did tea.Msg, cmd tea.Cmd) {
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
func (f *firstRun) typeFolder(folder string) {
	if folder != f.folder {
		f.folder, f.wrong = folder, ""
		f.chosen = len(f.offers)
	}
}

// findFolders looks for what the typed path may go on with.
func (f *firstRun) findFolders() tea.Cmd {
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
		return foldersMsg{folder, list}
	}
}

// completeFolder writes as much of a path as all folders that fit have in common.
func (f *firstRun) completeFolder(msg foldersMsg) {
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
func (f *firstRun) takeNotes(o backend.Offer) tea.Cmd {
	f.taking, f.wrong = true, ""
	return func() tea.Msg { return tookMsg{o, f.finding.take(o)} }
}

// notesTaken goes on to the chat.
func (m *Model) notesTaken(o backend.Offer) tea.Cmd {
	cmd := m.leaveFirstRun()
	m.flash("LifeHub knows " + o.Name + " now; ask away")
	if o.Ask != "" && cmd == nil {
		m.suggest(o.Ask)
	}
	return cmd
}

// suggest shows a question where the user would write, for enter to ask. What
// the user writes takes its place; "" takes it away.
func (m *Model) suggest(question string) {
	m.suggested, m.again = question, ""
}

// leaveFirstRun goes on to the chat, and asks the prompt of the command line.
func (m *Model) leaveFirstRun() tea.Cmd {
	m.panel = nil
	return m.askFirst()
}

// askFirst asks the prompt of the command line, once.
func (m *Model) askFirst() tea.Cmd {
	prompt := m.Prompt
	if _, first := m.panel.(*firstRun); prompt == "" || first {
		return nil
	}
	m.Prompt = ""
	return m.ask(prompt)
}

// View returns exactly height lines.
func (f *firstRun) View(width, height int, _ *keys.Map, look *draw.Theme) []string {
	lines := []string{look.Strong.Render(draw.Fit("Welcome to LifeHub, the chat that knows your notes.", width)), ""}
	lines = append(lines, look.Brand.Render(draw.Fit("Model", width)))
	switch {
	case f.model == nil:
		lines = append(lines, look.Dim.Render(draw.Fit("  looking for a model…", width)))
	default:
		mark := look.Warning.Render("○")
		if f.model.Ready {
			mark = look.Success.Render("✓")
		}
		lines = append(lines, draw.Wrapped("  "+mark+" ", safetext.Line(f.model.Says), width)...)
		if f.model.Next != "" {
			lines = append(lines, draw.Styled(look.Dim.Render, draw.Wrapped("    ", safetext.Line(f.model.Next), width))...)
		}
	}
	lines = append(lines, "", look.Brand.Render(draw.Fit("Which notes shall it know?", width)))
	if f.offers == nil {
		lines = append(lines, look.Dim.Render(draw.Fit("  looking for folders of notes…", width)))
	}
	rows := f.rows()
	room := max(1, height-len(lines)-2)
	from := max(0, min(f.at()-room/2, len(rows)-room))
	labels, details := 0, 0
	for _, r := range rows {
		labels, details = max(labels, draw.Cells(r.Label)), max(details, draw.Cells(r.Detail))
	}
	column := min(labels, max(width/2, width-details-4))
	for at := from; at < len(rows) && at < from+room; at++ {
		r := rows[at].Row
		if at == f.at() && f.chosen == len(f.offers) {
			r.Label += "▏"
		}
		lines = append(lines, r.Beside(at == f.at(), column, width, look))
	}
	switch {
	case f.taking:
		lines = append(lines, "", look.Dim.Render(draw.Fit("  opening…", width)))
	case f.wrong != "":
		lines = append(lines, "")
		lines = append(lines, draw.Styled(look.Danger.Render, draw.Wrapped("  ✗ ", safetext.Line(f.wrong), width))...)
	}
	if len(lines) > height { // the rows to choose from stay
		lines = lines[len(lines)-height:]
	}
	return draw.Filled(lines, height)
}
