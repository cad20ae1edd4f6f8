package plain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// tellLast is how many turns of a conversation are written when it is opened.
const tellLast = 3

// listConversations opens an earlier conversation, found by its title or by
// words of its messages.
func (p *Chat) listConversations(ctx context.Context, _ string) error {
	list, conversations, err := panel.ConversationPicker(ctx, p.Conversations)
	if err != nil {
		return p.fail(err)
	}
	var hits []agent.Hit
	var search func(words string) ([]draw.Row, error)
	if p.Search != nil {
		search = func(words string) (rows []draw.Row, err error) {
			hits, err = p.Search(ctx, words, panel.HitLimit)
			return panel.HitRows(hits), err
		}
	}
	at, ok := p.choose(ctx, list, search)
	switch {
	case !ok:
	case at < len(conversations):
		p.open(ctx, conversations[at].ID, conversations[at].Title, "")
	default:
		h := hits[at-len(conversations)]
		if err := p.showBranch(ctx, h.Conversation, h.Turn); err != nil {
			return p.fail(err)
		}
		p.open(ctx, h.Conversation, h.Title, h.Turn)
	}
	return nil
}

// showBranch makes the path through a turn current, where there are branches.
func (p *Chat) showBranch(ctx context.Context, conversation, turn string) error {
	if p.Branches == nil {
		return nil
	}
	return p.Branches.Show(ctx, conversation, turn)
}

// open goes to a conversation and writes its end, or the turn where it is opened.
func (p *Chat) open(ctx context.Context, id, title, at string) {
	read := func() ([]agent.Exchange, error) { return p.Conversations.Latest(ctx, id, tellLast) }
	if at != "" {
		read = func() ([]agent.Exchange, error) { return p.Conversations.Exchanges(ctx, id) }
	}
	list, err := read()
	if err != nil {
		p.fail(err)
		return
	}
	p.forget()
	p.conversation = id
	if title != "" {
		p.print("conversation: %s\n", safetext.Line(title))
	}
	after := 0
	if n := slices.IndexFunc(list, func(e agent.Exchange) bool { return e.Turn == at }); n >= 0 {
		after = len(list) - n - 1
		list = list[:n+1]
	}
	for _, e := range list[max(0, len(list)-tellLast):] {
		p.tell(e)
	}
	if after > 0 {
		p.print("%s after this one\n", draw.Count(after, "question"))
		return
	}
	p.leftOver(list)
}

// tell writes a saved turn as it was written when it ran.
func (p *Chat) tell(e agent.Exchange) {
	p.print("> %s\n", safetext.Text(e.Question))
	for _, part := range e.Answer.Parts() {
		p.print("%s", safetext.Text(strings.TrimRight(part.Text, "\n")))
		p.flush()
		for _, l := range part.Done {
			p.print("%s\n", safetext.Line(l.String()))
		}
	}
	p.cited = transcript.Sources{}
	for _, c := range e.Answer.Citations {
		from := transcript.Source(e.Answer.Sources, c.N)
		p.cited.Add(c, from)
		p.print("%s\n", transcript.Cited{Citation: c, Source: from}.InWords())
	}
	switch {
	case e.Undone:
		p.print("undone\n")
	case e.Answer.Cut:
		p.print("stopped\n")
	case e.Answer.Error != "":
		p.print("error: %s\n", safetext.Line(e.Answer.Error))
	}
	p.tellEffects(e.Answer.Effects, false)
}

// leftOver reports a last turn that LifeHub was stopped in the middle of.
func (p *Chat) leftOver(list []agent.Exchange) {
	if len(list) == 0 || p.Resume == nil {
		return
	}
	switch last := list[len(list)-1]; {
	case last.Running:
		p.note("another LifeHub is answering the last question")
	case last.Undone:
	case last.Open:
		p.resumable = last.Turn
		p.note(fmt.Sprintf("the answer to %q was cut off; /continue resumes it", draw.Truncate(safetext.Line(last.Question), 60)))
	case last.Answer.Cut, last.Answer.Error != "":
		p.resumable = last.Turn // who stopped it is not asked, but may go on
	}
}

// forget leaves the open conversation.
func (p *Chat) forget() {
	p.conversation, p.resumable, p.turnID = "", "", ""
	p.window, p.cited = transcript.Window{}, transcript.Sources{}
}

func (p *Chat) newConversation(context.Context, string) error {
	p.forget()
	p.print("a new conversation\n")
	return nil
}

// proceed resumes the turn that was cut off.
func (p *Chat) proceed(ctx context.Context, _ string) error {
	turn := p.resumable
	if turn == "" {
		p.print("there is nothing to resume\n")
		return nil
	}
	return p.follow(ctx, func(ctx context.Context) <-chan agent.Event { return p.Resume(ctx, p.conversation, turn) })
}

// back is the nth turn from the end; false: there is none, which is said.
func (p *Chat) back(ctx context.Context, n int) (agent.Exchange, bool) {
	var list []agent.Exchange
	if p.conversation != "" && p.Conversations != nil {
		var err error
		if list, err = p.Conversations.Latest(ctx, p.conversation, n); err != nil {
			p.fail(err)
			return agent.Exchange{}, false
		}
	}
	if len(list) < n {
		p.print("there is no earlier question\n")
		return agent.Exchange{}, false
	}
	return list[len(list)-n], true
}

// askInstead asks something instead of a turn. What came after that stays
// in the tree.
func (p *Chat) askInstead(ctx context.Context, e agent.Exchange, question string) error {
	if err := p.Branches.GoOn(ctx, p.conversation, e.After); err != nil {
		return p.fail(err)
	}
	return p.turn(ctx, question)
}

// editBack asks an earlier question in other words. number counts back from
// the last one; "" is 1.
func (p *Chat) editBack(ctx context.Context, number string) error {
	n := 1
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 1 {
			p.print("usage: /edit [N], N counted back from your last question\n")
			return nil
		}
	}
	e, ok := p.back(ctx, n)
	if !ok {
		return nil
	}
	p.print("the question was: %s\n", safetext.Text(e.Question))
	line, ok := p.ask(ctx, "its new wording; empty cancels: ")
	if line = p.wholeOf(ctx, strings.TrimSpace(line)); !ok || line == "" {
		return nil
	}
	return p.askInstead(ctx, e, line)
}

// retry asks the last question once more, next to its first answer.
func (p *Chat) retry(ctx context.Context, _ string) error {
	e, ok := p.back(ctx, 1)
	if !ok {
		return nil
	}
	p.print("> %s\n", safetext.Text(e.Question))
	return p.askInstead(ctx, e, e.Question)
}

// listTree writes all questions of the conversation, and goes where the user says.
func (p *Chat) listTree(ctx context.Context, _ string) error {
	var list []agent.Exchange
	if p.conversation != "" {
		var err error
		if list, err = p.Branches.Tree(ctx, p.conversation); err != nil {
			return p.fail(err)
		}
	}
	if len(list) == 0 {
		p.print("there are no questions yet\n")
		return nil
	}
	t := panel.NewTree(list, time.Now())
	for n, r := range t.Rows {
		p.print("%d. %s%s\n", n+1, strings.Repeat(" ", draw.Width(r.Guide)), t.Line(r))
	}
	letter, at, ok := p.order(ctx, len(t.Rows), "cf", "N shows a branch, c N continues there, f N forks it; empty leaves: ")
	if !ok {
		return nil
	}
	turn, err := t.Rows[at].Turn, error(nil)
	switch letter {
	case 'f':
		p.fork(ctx, turn)
		return nil
	case 'c':
		err = p.Branches.GoOn(ctx, p.conversation, turn)
	default:
		err = p.Branches.Show(ctx, p.conversation, turn)
	}
	if err != nil {
		return p.fail(err)
	}
	p.open(ctx, p.conversation, "", "")
	return nil
}

// forkLast makes its own conversation out of all that was said so far.
func (p *Chat) forkLast(ctx context.Context, _ string) error {
	if e, ok := p.back(ctx, 1); ok {
		p.fork(ctx, e.Turn)
	}
	return nil
}

func (p *Chat) fork(ctx context.Context, turn string) {
	c, err := p.Branches.Fork(ctx, p.conversation, turn)
	if err != nil {
		p.fail(err)
		return
	}
	p.open(ctx, c.ID, c.Title, "")
	p.print("%s\n", panel.ForkedText)
}

// rename gives the open conversation the user's own title.
func (p *Chat) rename(ctx context.Context, title string) error {
	if title == "" || p.conversation == "" {
		p.print("usage: /rename TITLE, after the first question\n")
		return nil
	}
	if err := p.Rename(ctx, p.conversation, title); err != nil {
		return p.fail(err)
	}
	p.print("its title is now: %s\n", safetext.Line(title))
	return nil
}
