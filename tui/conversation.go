package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/composer"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// listConversations opens the list of conversations, filtered by words.
func (m *Model) listConversations(words string) tea.Cmd {
	if m.Options.Conversations == nil || m.busy() {
		return nil
	}
	return List(m.base, &m.Options, m.chat.id, words)
}

// find opens the search of the open conversation.
func (m *Model) find(words string) tea.Cmd {
	if m.chat.id == "" {
		return m.flash("nothing was said here yet")
	}
	if m.busy() {
		return nil
	}
	p := &panel.Picker{Title: "Find in this conversation", Invites: "type to search messages", Filter: words}
	p.Search = func(words string) tea.Cmd { return find(m.base, &m.Options, m.chat.id, words) }
	m.cover(p)
	return p.Find()
}

// rename sets the title of the open conversation.
func (m *Model) rename(title string) tea.Cmd {
	id := m.chat.id
	if title == "" || id == "" {
		return m.flash("usage: /rename TITLE, after the first question")
	}
	return panel.Rename{ID: id, Title: title}.Do(m.base, &m.Options)
}

// renamed shows the new title.
func (m *Model) renamed(to panel.RenamedMsg) tea.Cmd {
	if to.ID == m.chat.id {
		m.chat.title = to.Title
	}
	return m.flash("renamed to “" + to.Title + "”")
}

// branch is a place in the tree for an alternative question.
type branch struct {
	after    string   // the turn before; "": the conversation's beginning
	siblings []string // the turns that are asked there already
}

// editing is an earlier question in the composer.
type editing struct {
	question *transcript.Question
	draft    composer.Stashed // what was being written before
}

// editBack puts an earlier question into the composer. number counts back from the last
// one, which is 1; "" means 1.
func (m *Model) editBack(number string) tea.Cmd {
	n := 1
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 1 {
			return m.flash("usage: /edit [N], N counted back from your last question")
		}
	}
	q := m.transcript.QuestionBack(n)
	if q == nil {
		if above := m.readEarlier(); above != nil {
			return func() tea.Msg {
				msg := above().(earlierMsg)
				msg.Edit = n
				return msg
			}
		}
	}
	m.edit(q)
	return nil
}

func (m *Model) edit(q *transcript.Question) {
	if !m.canBranch(q) {
		return
	}
	draft := m.composer.Stash()
	if m.editing != nil {
		draft = m.editing.draft
	}
	m.editing = &editing{q, draft}
	m.unfocus()
	m.composer.Clear()
	m.composer.Set(safetext.Text(agent.JoinSteering(q.Text)))
	m.composer.ForgetUndo()
}

// stopEditing cancels editing and restores the draft.
func (m *Model) stopEditing() {
	draft := m.editing.draft
	m.editing = nil
	m.composer.Unstash(draft)
}

// canBranch reports whether a question can get an alternative now, and shows why not.
func (m *Model) canBranch(q *transcript.Question) bool {
	switch {
	case m.Options.Branches == nil || q == nil || q.Turn == "":
		m.flash("no earlier question")
	case m.busy():
	default:
		return true
	}
	return false
}

// busy reports whether a turn runs, and shows how to stop it.
func (m *Model) busy() bool {
	if m.turn != nil {
		m.flash("stop the turn first (" + m.keys.Stop.Help().Key + ")")
	}
	return m.turn != nil
}

// retry asks a question again, as an alternative.
func (m *Model) retry(q *transcript.Question) tea.Cmd {
	if !m.canBranch(q) {
		return nil
	}
	return m.askInstead(q, agent.JoinSteering(q.Text))
}

// askInstead asks an alternative to an earlier question. The branch below that stays in the
// tree.
func (m *Model) askInstead(q *transcript.Question, text string) tea.Cmd {
	if m.editing != nil {
		m.stopEditing()
	}
	m.unfocus()
	m.transcript.TruncateAt(q)
	m.prompt.Forget()
	siblings := q.Siblings
	if siblings == nil {
		siblings = []string{q.Turn}
	}
	return m.askAt(text, &branch{q.After, siblings})
}

// fork copies the shown branch into a new conversation and opens it.
func (m *Model) fork(turn string) tea.Cmd {
	if turn == "" || m.Options.Branches == nil {
		return m.flash("nothing to fork yet")
	}
	if m.busy() {
		return nil
	}
	return forkConversation(m.base, &m.Options, m.chat.id, turn)
}

// alternative shows the previous or next alternative of the chosen question.
func (m *Model) alternative(by int) tea.Cmd {
	turn, problem := m.transcript.ChosenQuestion().Sibling(by)
	if problem != "" {
		return m.flash(problem)
	}
	return m.showTurn(turn, true)
}

// showTurn switches to the branch of a turn, scrolls to it and, if focus is set, focuses it.
func (m *Model) showTurn(turn string, focus bool) tea.Cmd {
	if m.busy() {
		return nil
	}
	return showBranch(m.base, &m.Options, conversationMsg{ID: m.chat.id, Title: m.chat.title, At: turn, Focus: focus})
}

// answerTurn lets the next question follow a turn, and reads the path to it.
func (m *Model) answerTurn(turn string) tea.Cmd {
	if m.busy() {
		return nil
	}
	c := conversationMsg{ID: m.chat.id, Title: m.chat.title}
	return openConversation(m.base, &m.Options, c,
		func() error { return m.Options.Branches.GoOn(m.base, c.ID, turn) })
}

// mostTurns is the number of turns in memory after which all but the last firstRead are
// dropped, so that a long session needs no more memory.
const mostTurns = 2 * firstRead

// readEarlier reads the turns before those in memory.
func (m *Model) readEarlier() tea.Cmd {
	last := m.transcript.Earlier
	if last == m.transcript.Awaited {
		return nil
	}
	m.transcript.Awaited = last
	return readEarlierTurns(m.base, &m.Options, m.chat.id, earlierMsg{Opening: m.chat.openings, Last: last})
}

// readAbove reads the turns before those in memory once the user has scrolled to the first
// of them.
func (m *Model) readAbove() tea.Cmd {
	if t := &m.transcript; !t.Scrolled || t.Start() != (transcript.Spot{}) {
		return nil
	}
	return m.readEarlier()
}

// showEarlier adds earlier turns at the top; the visible part stays in place.
func (m *Model) showEarlier(msg earlierMsg) {
	if msg.Opening != m.chat.openings || msg.Last != m.transcript.Earlier {
		return // something else was opened, or let go, meanwhile
	}
	if msg.Err != nil {
		m.fail(msg.Err)
		return
	}
	var above []transcript.Item
	for _, exchange := range msg.Exchanges {
		above = append(above, m.transcript.Saved(exchange)...)
	}
	m.transcript.Earlier = ""
	m.transcript.Prepend(above)
	if msg.Edit > 0 {
		m.edit(m.transcript.QuestionBack(msg.Edit))
	}
}

// newConversation begins another conversation.
func (m *Model) newConversation() tea.Cmd {
	if m.busy() {
		return nil
	}
	m.welcome.Suggest("")
	m.chat.id, m.chat.title, m.last, m.editing, m.resumable = "", "", nil, nil, nil
	m.prompt.Forget()
	m.chat.openings++
	m.transcript.Clear()
	m.offer = ""
	m.focused = false
	return nil
}

// opened shows a saved conversation.
func (m *Model) opened(msg conversationMsg) tea.Cmd {
	if msg.Err != nil {
		return m.fail(msg.Err)
	}
	notices := m.transcript.OnlyNotices() // which came before the conversation of the start was read
	m.newConversation()
	m.chat.id, m.chat.title = msg.ID, msg.Title
	for _, exchange := range msg.Exchanges {
		if m.chat.title == "" {
			m.chat.title = agent.PlainLine(exchange.Question)
		}
		for _, i := range m.transcript.Saved(exchange) {
			m.transcript.Add(i)
		}
	}
	for _, n := range notices {
		m.transcript.Add(n)
	}
	if m.Options.CanUndo() {
		m.transcript.CanUndo()
	}
	if m.Options.Resumer != nil {
		m.resumable = findResumable(msg.Exchanges, &m.transcript)
	}
	if msg.Output != "" {
		m.transcript.Show(&transcript.Page{Source: msg.Output})
	}
	if msg.At != "" {
		if m.transcript.ScrollTo(msg.At, msg.Focus) {
			m.focused = true
		}
	}
	if len(msg.Exchanges) > 0 {
		m.transcript.Earlier = msg.Exchanges[0].After
	}
	rest := m.readEarlier()
	first := m.loadDraft()
	if first == nil {
		first = m.askFirst()
	}
	return tea.Batch(rest, first, m.redrawWhenArmed())
}
