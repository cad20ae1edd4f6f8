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
	model  *backend.FoundModel // nil: it is being looked for
	offers []backend.Offer     // nil: they are being looked for
	folder string              // of the user's own, as it is typed
	taking bool                // the chosen folder is being opened
	wrong  string              // why it could not be
	chosen int                 // counted from the first folder; -1: the model to fetch
}

// firstRow is something to choose there.
type firstRow struct {
	draw.Row
	act func(m *Model) tea.Cmd
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
	m.first, m.overlay = firstRun{}, firstRunOverlay
	return tea.Batch(m.findModel(), func() tea.Msg {
		list, err := m.Notes.Offers(m.base)
		return offersMsg{list, err}
	})
}

// takeOffers shows the folders that were found.
func (m *Model) takeOffers(msg offersMsg) {
	f := &m.first
	f.offers = append([]backend.Offer{}, msg.list...)
	if msg.err != nil {
		f.wrong = msg.err.Error()
	}
}

// findModel looks for the model, while the screen is open.
func (m *Model) findModel() tea.Cmd {
	if m.overlay != firstRunOverlay || m.FindModel == nil {
		return nil
	}
	return func() tea.Msg { return foundModelMsg(m.FindModel(m.base)) }
}

// rows are what can be chosen, from the top.
func (f *firstRun) rows() []firstRow {
	var rows []firstRow
	if f.model != nil && f.model.Pull != "" {
		name := f.model.Pull
		rows = append(rows, firstRow{draw.Row{Label: "Fetch " + name, Detail: f.model.Why}, func(m *Model) tea.Cmd { return m.pull(name) }})
	}
	for _, o := range f.offers {
		rows = append(rows, firstRow{draw.Row{Label: strings.TrimSpace(o.Name + "  " + o.Path), Detail: o.Detail}, func(m *Model) tea.Cmd { return m.takeNotes(o) }})
	}
	own := backend.Offer{Name: path.Base(f.folder), Path: f.folder}
	rows = append(rows, firstRow{draw.Row{Label: "Another folder  " + f.folder, Detail: "type its path"}, func(m *Model) tea.Cmd {
		if own.Path == "" {
			m.flash("type the path of the folder, such as ~/notes")
			return nil
		}
		return m.takeNotes(own)
	}})
	return append(rows, firstRow{draw.Row{Label: "Later", Detail: "chat without notes"}, (*Model).leaveFirstRun})
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

// pressFirstRun moves, chooses, or types a folder of the user's own.
func (m *Model) pressFirstRun(pressed tea.KeyPressMsg) tea.Cmd {
	f, k := &m.first, &m.keys
	rows := f.rows()
	switch {
	case f.taking:
		return nil
	case key.Matches(pressed, k.PickerClose) && m.pulling != nil:
		m.stop()
		return nil
	case key.Matches(pressed, k.PickerClose):
		return m.leaveFirstRun()
	case key.Matches(pressed, k.PickerChoose):
		return rows[f.at()].act(m)
	case key.Matches(pressed, k.Complete) && f.folder != "":
		return m.findFolders()
	}
	if to, moves := k.Moved(pressed, f.at(), len(rows), 5); moves && pressed.Text == "" {
		f.chosen = to - f.above()
		return nil
	}
	m.typeFolder(keys.Typed(f.folder, pressed))
	return nil
}

// typeFolder puts a path in place of the one that is typed.
func (m *Model) typeFolder(folder string) {
	f := &m.first
	if folder != f.folder {
		f.folder, f.wrong = folder, ""
		f.chosen = len(f.offers)
	}
}

// findFolders looks for what the typed path may go on with.
func (m *Model) findFolders() tea.Cmd {
	folder := m.first.folder
	place := composer.PlaceOf(folder)
	if m.Mentions == nil || place == "" {
		return nil
	}
	return func() tea.Msg {
		list, err := m.Mentions(m.base, place)
		if err != nil { // the path is not there yet
			return nil
		}
		return foldersMsg{folder, list}
	}
}

// completeFolder writes as much of a path as all folders that fit have in common.
func (m *Model) completeFolder(msg foldersMsg) {
	if msg.typed != m.first.folder {
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
		m.typeFolder(common)
	}
}

// takeNotes uses a folder of notes from now on.
func (m *Model) takeNotes(o backend.Offer) tea.Cmd {
	m.first.taking, m.first.wrong = true, ""
	return func() tea.Msg { return tookMsg{o, m.Notes.Take(m.base, o)} }
}

// took goes on to the chat, or says why the folder cannot be used.
func (m *Model) took(msg tookMsg) tea.Cmd {
	m.first.taking = false
	if msg.err != nil {
		m.first.wrong = msg.err.Error()
		return nil
	}
	cmd := m.leaveFirstRun()
	m.flash("LifeHub knows " + msg.offer.Name + " now; ask away")
	if msg.offer.Ask != "" && cmd == nil {
		m.suggest(msg.offer.Ask)
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
	m.overlay = noOverlay
	return m.askFirst()
}

// askFirst asks the prompt of the command line, once.
func (m *Model) askFirst() tea.Cmd {
	prompt := m.Prompt
	if prompt == "" || m.overlay == firstRunOverlay {
		return nil
	}
	m.Prompt = ""
	return m.ask(prompt)
}

// view returns exactly height lines.
func (f *firstRun) view(width, height int, look *draw.Theme) []string {
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
