package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// tellLast is the number of turns that are written when a conversation is opened.
const tellLast = 3

// listLast is the number of conversations that /resume lists.
const listLast = 20

// resume lists the latest conversations, or opens one by its number in the list
// or by a prefix of its ID.
func (c *printer) resume(ctx context.Context, which string) error {
	list, err := panel.NewChats(ctx, c.o.Conversations)
	if err != nil {
		return c.fail(err)
	}
	if which == "" {
		if len(list.List) == 0 {
			c.print("%s\n", list.Empty)
			return nil
		}
		for n, of := range list.List[:min(len(list.List), listLast)] {
			c.print("%d. %s\n", n+1, joinedByDots(of.Title, draw.Count(of.Messages, "message")+" · "+
				draw.When(of.Updated, time.Now())))
		}
		c.print("/resume N opens one; `lifehub chats list` has all with their IDs, `lifehub chats search` finds words\n")
		return nil
	}
	matches := slices.DeleteFunc(slices.Clone(list.List), func(f agent.Conversation) bool { return !strings.HasPrefix(f.ID, which) })
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(list.List) {
		matches = list.List[n-1 : n]
	}
	if len(matches) != 1 {
		c.print("no such conversation; /resume lists them\n")
		return nil
	}
	c.open(ctx, matches[0].ID, matches[0].Title, "")
	return nil
}

// open opens a conversation and writes its last turns up to at; "" for the end.
func (c *printer) open(ctx context.Context, id, title, at string) {
	read := func() ([]agent.Exchange, error) { return c.o.Conversations.Latest(ctx, id, tellLast) }
	if at != "" {
		read = func() ([]agent.Exchange, error) { return c.o.Conversations.Exchanges(ctx, id) }
	}
	list, err := read()
	if err != nil {
		c.fail(err)
		return
	}
	c.leave()
	c.conversation = id
	if title != "" {
		c.print("conversation: %s\n", safetext.Line(title))
	}
	after := 0
	if n := slices.IndexFunc(list, func(e agent.Exchange) bool { return e.Turn == at }); n >= 0 {
		after = len(list) - n - 1
		list = list[:n+1]
	}
	for _, e := range list[max(0, len(list)-tellLast):] {
		c.tell(e)
	}
	if after > 0 {
		c.print("%s after this one\n", draw.Count(after, "question"))
		return
	}
	c.leftOver(list)
}

// tell writes a saved turn as when it ran.
func (c *printer) tell(e agent.Exchange) {
	c.print("> %s\n", safetext.Text(agent.QuoteSteering(e.Question)))
	for _, part := range e.Answer.Parts() {
		c.print("%s", safetext.Text(strings.TrimRight(part.Text, "\n")))
		c.flush()
		for _, l := range part.Done {
			c.print("%s\n", safetext.Line(l.String()))
		}
	}
	c.cited = nil
	for _, cited := range chat.CitedIn(e.Answer) {
		c.cite(cited)
	}
	if ending := chat.Ending(e); ending != "" {
		c.print("%s\n", safetext.Line(ending))
	}
	c.tellEffects(e.Answer.Effects, false)
}

// leftOver reports that the last turn was interrupted and can be resumed.
func (c *printer) leftOver(list []agent.Exchange) {
	if len(list) == 0 || c.o.Resumer == nil || !chat.Resumable(list[len(list)-1]) {
		return
	}
	last := list[len(list)-1]
	if c.resumable = last.Turn; last.Open { // otherwise the user stopped it
		c.note("/continue resumes it")
	}
}

// leave closes the open conversation.
func (c *printer) leave() {
	c.conversation, c.resumable, c.view = "", "", chat.View{}
	c.window, c.cited = panel.Context{}, nil
}

// begins starts a new conversation.
func (c *printer) begins(context.Context, string) error {
	c.leave()
	c.print("a new conversation\n")
	return nil
}

// proceed resumes the interrupted turn.
func (c *printer) proceed(ctx context.Context, _ string) error {
	turn := c.resumable
	if turn == "" {
		c.print("nothing to resume\n")
		return nil
	}
	return c.follow(ctx, func(ctx context.Context) <-chan agent.Event {
		return c.o.Resumer.Resume(ctx, c.conversation, turn)
	})
}

// retry asks the last question again, on a new branch.
func (c *printer) retry(ctx context.Context, _ string) error {
	var last []agent.Exchange
	if c.conversation != "" && c.o.Conversations != nil {
		var err error
		if last, err = c.o.Conversations.Latest(ctx, c.conversation, 1); err != nil {
			return c.fail(err)
		}
	}
	if len(last) == 0 {
		c.print("no earlier question\n")
		return nil
	}
	question := agent.JoinSteering(last[0].Question)
	c.print("> %s\n", safetext.Text(question))
	if err := c.o.Branches.GoOn(ctx, c.conversation, last[0].After); err != nil {
		return c.fail(err)
	}
	return c.turn(ctx, question)
}

// rename sets the title of the open conversation.
func (c *printer) rename(ctx context.Context, title string) error {
	if title == "" || c.conversation == "" {
		c.print("usage: /rename TITLE, after the first question\n")
		return nil
	}
	if err := c.o.Archive.Rename(ctx, c.conversation, title); err != nil {
		return c.fail(err)
	}
	c.print("its title is now: %s\n", safetext.Line(title))
	return nil
}
