package tui

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/composer"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// listConversations opens the list of conversations. What is typed filters
// their titles, and finds messages by their words.
func (m *Model) listConversations() tea.Cmd {
	if m.Conversations == nil || m.busy() {
		return nil
	}
	return func() tea.Msg {
		p, list, err := panel.ConversationPicker(m.base, m.Conversations)
		p.Pick = func(at int) tea.Cmd { return m.openConversation(list[at].ID, list[at].Title) }
		if m.Search != nil {
			p.None = "no title and no message holds that"
			p.Search = m.searchMessages
		}
		return panel.OpenMsg{Panel: &p, Err: err}
	}
}

// searchMessages finds messages for the list of conversations.
func (m *Model) searchMessages(words string) tea.Cmd {
	return func() tea.Msg {
		hits, err := m.Search(m.base, words, panel.HitLimit)
		found := panel.FoundMsg{Words: words, Rows: panel.HitRows(hits), Err: err}
		found.Pick = func(at int) tea.Cmd { return m.openTurn(hits[at]) }
		return found
	}
}

// openTurn opens the conversation of a message there.
func (m *Model) openTurn(h agent.Hit) tea.Cmd {
	return func() tea.Msg {
		if m.Branches != nil {
			if err := m.Branches.Show(m.base, h.Conversation, h.Turn); err != nil {
				return openedMsg{err: err}
			}
		}
		return m.read(openedMsg{id: h.Conversation, title: h.Title, at: h.Turn, focus: true})
	}
}

// titledMsg says that the user gave a conversation a title.
type titledMsg struct{ id, title string }

func (m *Model) takeTitle(msg titledMsg) {
	if msg.id == m.chat.id {
		m.chat.title = msg.title
	}
}

// rename gives the open conversation the user's own title.
func (m *Model) rename(title string) tea.Cmd {
	id := m.chat.id
	if title == "" || id == "" {
		m.flash("usage: /rename TITLE, once something was asked")
		return nil
	}
	return func() tea.Msg {
		if err := m.Rename(m.base, id, title); err != nil {
			return panel.PageMsg{Err: err}
		}
		return titledMsg{id, title}
	}
}

// branch is a place in the tree where a question gets an alternative.
type branch struct {
	after    string   // the turn before; "": the conversation's beginning
	siblings []string // the turns that are asked there already
}

// editing is an earlier question in the composer.
type editing struct {
	question *transcript.Question
	draft    composer.Draft // what was being written before
}

// editBack puts an earlier question into the composer. number counts back
// from the last one; "" is 1.
func (m *Model) editBack(number string) tea.Cmd {
	n := 1
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 1 {
			m.flash("usage: /edit [N], N counted back from your last question")
			return nil
		}
	}
	q := m.transcript.QuestionBack(n)
	if q == nil {
		if above := m.readEarlier(); above != nil {
			return func() tea.Msg {
				msg := above().(earlierMsg)
				msg.edit = n
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
	draft := m.composer.SetAside()
	if m.editing != nil {
		draft = m.editing.draft
	}
	m.editing = &editing{q, draft}
	m.unfocus()
	m.composer.Clear()
	m.composer.Set(safetext.Text(q.Text))
	m.composer.Afresh()
}

// stopEditing leaves the question as it was.
func (m *Model) stopEditing() {
	draft := m.editing.draft
	m.editing = nil
	m.composer.TakeUp(draft)
}

// canBranch reports whether a question can get an alternative now, and says why not.
func (m *Model) canBranch(q *transcript.Question) bool {
	switch {
	case m.Branches == nil || q == nil || q.Turn == "":
		m.flash("there is no question to go back to")
	case m.busy():
	default:
		return true
	}
	return false
}

// busy reports whether a turn runs, and says so.
func (m *Model) busy() bool {
	if m.turn != nil {
		m.flash("stop the turn first (" + m.keys.Stop.Help().Key + ")")
	}
	return m.turn != nil
}

// retry asks a question once more, next to its first answer.
func (m *Model) retry(q *transcript.Question) tea.Cmd {
	if !m.canBranch(q) {
		return nil
	}
	return m.askInstead(q, q.Text)
}

// askInstead asks something instead of an earlier question. What came
// after that stays in the tree.
func (m *Model) askInstead(q *transcript.Question, text string) tea.Cmd {
	if m.editing != nil {
		m.stopEditing()
	}
	m.unfocus()
	m.transcript.Cut(q)
	siblings := q.Siblings
	if siblings == nil {
		siblings = []string{q.Turn}
	}
	return m.askAt(text, &branch{q.After, siblings})
}

// fork makes its own conversation out of what is shown and opens it.
func (m *Model) fork(turn string) tea.Cmd {
	if turn == "" || m.Branches == nil {
		m.flash("there is nothing to fork yet")
		return nil
	}
	if m.busy() {
		return nil
	}
	from := m.chat.id
	return func() tea.Msg {
		c, err := m.Branches.Fork(m.base, from, turn)
		if err != nil {
			return openedMsg{err: err}
		}
		return m.read(openedMsg{id: c.ID, title: c.Title, said: panel.ForkedText})
	}
}

// lastTurn is the end of the path that is shown; "" before the first question.
func (m *Model) lastTurn() string {
	if q := m.transcript.QuestionBack(1); q != nil {
		return q.Turn
	}
	return ""
}

// alternative shows the question asked before or after the chosen one in the
// same place.
func (m *Model) alternative(by int) tea.Cmd {
	q := m.transcript.ChosenQuestion()
	if q == nil || len(q.Siblings) < 2 || m.Branches == nil {
		m.flash("nothing else was asked here")
		return nil
	}
	at := slices.Index(q.Siblings, q.Turn) + by
	if at < 0 || at >= len(q.Siblings) {
		m.flash("there is no alternative further on")
		return nil
	}
	return m.showTurn(q.Siblings[at], true)
}

// showTurn switches to the branch of a turn and scrolls there; focus gives it
// the keys.
func (m *Model) showTurn(turn string, focus bool) tea.Cmd {
	if m.busy() {
		return nil
	}
	id, title := m.chat.id, m.chat.title
	return func() tea.Msg {
		if err := m.Branches.Show(m.base, id, turn); err != nil {
			return openedMsg{err: err}
		}
		return m.read(openedMsg{id: id, title: title, at: turn, focus: focus})
	}
}

// goOn has the next question answer a turn.
func (m *Model) goOn(turn string) tea.Cmd {
	if m.busy() {
		return nil
	}
	id, title := m.chat.id, m.chat.title
	return func() tea.Msg {
		if err := m.Branches.GoOn(m.base, id, turn); err != nil {
			return openedMsg{err: err}
		}
		return m.read(openedMsg{id: id, title: title})
	}
}

// reload reads the open conversation again and says something below it.
func (m *Model) reload(said string) tea.Cmd {
	id, title := m.chat.id, m.chat.title
	return func() tea.Msg { return m.read(openedMsg{id: id, title: title, said: said}) }
}

// firstRead is how many turns are read when a conversation opens: more than a
// screen has room for. The others follow.
const firstRead = 50

// read fills in the turns of a conversation: the last ones, or all when an
// earlier one is looked for.
func (m *Model) read(msg openedMsg) openedMsg {
	if msg.at == "" {
		msg.exchanges, msg.err = m.Conversations.Latest(m.base, msg.id, firstRead)
	} else {
		msg.exchanges, msg.err = m.Conversations.Exchanges(m.base, msg.id)
	}
	return msg
}

// mostTurns is how many turns the transcript holds before it lets go of all
// but the last firstRead: an evening with LifeHub takes no more memory than that.
const mostTurns = 2 * firstRead

// letGo drops the turns that stand far above the end, once one is over. They
// are read again when somebody scrolls there.
func (m *Model) letGo() {
	if m.Conversations == nil {
		return
	}
	m.transcript.Keep(firstRead, mostTurns)
}

// earlierMsg brings the turns of an open conversation that stand above those
// that are held.
type earlierMsg struct {
	opening   int    // the one they were read for
	last      string // the last of them
	exchanges []agent.Exchange
	err       error
	edit      int // the question that is edited then, counted back from the last one; 0: none
}

// readEarlier reads the turns above those that are held.
func (m *Model) readEarlier() tea.Cmd {
	last := m.transcript.Earlier
	if last == m.transcript.Awaited {
		return nil
	}
	m.transcript.Awaited = last
	id, opening := m.chat.id, m.chat.openings
	return func() tea.Msg {
		list, err := m.Conversations.Exchanges(m.base, id)
		end := slices.IndexFunc(list, func(e agent.Exchange) bool { return e.Turn == last })
		return earlierMsg{opening: opening, last: last, exchanges: list[:end+1], err: err}
	}
}

// readAbove reads the turns above those that are held once the user has
// scrolled to the first of them.
func (m *Model) readAbove() tea.Cmd {
	if t := &m.transcript; !t.Away || t.Start() != (transcript.Spot{}) {
		return nil
	}
	return m.readEarlier()
}

// showEarlier puts them above what is shown; what is in sight stays there.
func (m *Model) showEarlier(msg earlierMsg) {
	if msg.opening != m.chat.openings || msg.last != m.transcript.Earlier {
		return // something else was opened, or let go, meanwhile
	}
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return
	}
	var above []transcript.Item
	for _, exchange := range msg.exchanges {
		above = append(above, m.transcript.Kept(exchange)...)
	}
	m.transcript.Earlier = ""
	m.transcript.PutAbove(above)
	if msg.edit > 0 {
		m.edit(m.transcript.QuestionBack(msg.edit))
	}
}

// onQuestion reports whether a question that can be asked again has the keys.
func (m *Model) onQuestion() bool {
	_, ok := m.transcript.Item(m.transcript.Chosen).(*transcript.Question)
	return ok && m.Branches != nil
}

// onAlternatives reports whether a question that has alternatives has the keys.
func (m *Model) onAlternatives() bool {
	return m.onQuestion() && len(m.transcript.ChosenQuestion().Siblings) > 1
}

// newConversation leaves the open one as it is and begins another.
func (m *Model) newConversation() tea.Cmd {
	if m.busy() {
		return nil
	}
	m.suggest("")
	m.chat.id, m.chat.title, m.prompt.used, m.prompt.speed, m.last, m.editing = "", "", 0, 0, nil, nil
	m.prompt.window = transcript.Window{}
	m.chat.openings++
	m.transcript.Clear()
	m.focused = false
	return nil
}

type (
	// openedMsg brings a kept conversation.
	openedMsg struct {
		id, title string
		exchanges []agent.Exchange
		at        string // the turn to scroll to; "": the end
		focus     bool   // and to give the keys to
		said      string // markdown to show below
		err       error
	}
)

func (m *Model) openConversation(id, title string) tea.Cmd {
	return func() tea.Msg { return m.read(openedMsg{id: id, title: title}) }
}

// opened shows a kept conversation.
func (m *Model) opened(msg openedMsg) tea.Cmd {
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return nil
	}
	m.newConversation()
	m.chat.id, m.chat.title = msg.id, msg.title
	for _, exchange := range msg.exchanges {
		if m.chat.title == "" {
			m.chat.title = agent.PlainLine(exchange.Question)
		}
		for _, i := range m.transcript.Kept(exchange) {
			m.transcript.Add(i)
		}
	}
	m.leftOver(msg.exchanges)
	if msg.said != "" {
		m.transcript.Add(&transcript.Page{Source: msg.said})
	}
	if msg.at != "" {
		if m.transcript.ScrollTo(msg.at, msg.focus) {
			m.focused = true
		}
	}
	if len(msg.exchanges) > 0 {
		m.transcript.Earlier = msg.exchanges[0].After
	}
	rest := m.readEarlier()
	first := m.draft.Load(m.base, m.chat.id)
	if first == nil {
		first = m.askFirst()
	}
	return tea.Batch(rest, first, m.redrawWhenArmed())
}
