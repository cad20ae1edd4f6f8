package panel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/llm"
	"lifehub/tui/draw"
)

// Chats is the list of saved conversations. It renames them, and deletes the marked
// ones when the user closes it: until then a mark can be removed.
type Chats struct {
	Picker
	Current string               // the open conversation, which cannot be deleted
	Fixed   bool                 // they can be neither renamed nor deleted
	List    []agent.Conversation // one for each row

	marked []string // ids of those to delete
	title  *string  // the new title being typed; nil: none
}

const (
	pickLimit = 500
	// HitLimit bounds the messages that a search for words shows.
	HitLimit = 50
)

// NewChats lists the latest conversations.
func NewChats(ctx context.Context, from chat.Conversations) (*Chats, error) {
	list, err := from.Recent(ctx, pickLimit)
	c := &Chats{Picker: Picker{Title: "Conversations", Empty: "no conversations yet"}, List: list}
	c.fill()
	return c, err
}

// fill builds the rows, with the dates in a column.
func (c *Chats) fill() {
	c.Rows = nil
	for _, of := range c.List {
		detail := dated(of.Updated) + draw.Count(of.Messages, "message")
		if slices.Contains(c.marked, of.ID) {
			detail = dated(of.Updated) + "✗ to be deleted"
		}
		c.Rows = append(c.Rows, draw.Row{Label: of.Title, Detail: detail})
	}
}

// dated formats a time for the column of a list.
func dated(t time.Time) string { return fmt.Sprintf("%-10s  ", draw.When(t, time.Now())) }

// HitRows returns the rows of messages that were found, in the conversation that is named by
// its title, or in a single one.
func HitRows(hits []agent.Hit, single bool) (rows []draw.Row) {
	for _, h := range hits {
		label := h.Title
		switch {
		case single && h.Role == llm.User:
			label = "you"
		case single:
			label = "answer"
		}
		rows = append(rows, draw.Row{
			Label: label, Detail: dated(h.Time),
			Found: draw.Found{Text: h.Excerpt, From: h.From, To: h.To},
		})
	}
	return rows
}

// at is the index of the chosen conversation, or -1.
func (c *Chats) at() int {
	if list := c.Matching(); c.Chosen < len(list) {
		return list[c.Chosen]
	}
	return -1
}

// Update handles the keys of a list, and those that rename and mark.
func (c *Chats) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	pressed, isKey := msg.(tea.KeyPressMsg)
	switch at := c.at(); {
	case c.title != nil && isKey:
		return c, c.typeTitle(pressed, k), nil
	case c.title != nil:
		return c, nil, nil
	case isKey && at >= 0 && !c.Fixed && key.Matches(pressed, k.ChatRename):
		title := c.List[at].Title
		c.title = &title
		return c, nil, nil
	case isKey && at >= 0 && !c.Fixed && key.Matches(pressed, k.ChatDelete):
		return c, c.mark(c.List[at].ID), nil
	}
	next, did, cmd := c.Picker.Update(msg, k)
	if next != nil {
		return c, did, cmd
	}
	if at := c.at(); at >= 0 && !key.Matches(pressed, k.PickerClose) { // it is opened
		c.marked = slices.DeleteFunc(c.marked, func(id string) bool { return id == c.List[at].ID })
	}
	if len(c.marked) > 0 {
		did = Remove{c.marked}
	}
	return nil, did, cmd
}

// mark marks a conversation as one to delete, or removes the mark.
func (c *Chats) mark(id string) tea.Msg {
	if id == c.Current {
		return Flash("this conversation is open; start a new one first")
	}
	if i := slices.Index(c.marked, id); i >= 0 {
		c.marked = slices.Delete(c.marked, i, i+1)
	} else {
		c.marked = append(c.marked, id)
	}
	c.fill()
	return nil
}

// typeTitle handles a key in the new title.
func (c *Chats) typeTitle(pressed tea.KeyPressMsg, k *draw.Keys) tea.Msg {
	switch {
	case key.Matches(pressed, k.PickerClose):
		c.title = nil
	case key.Matches(pressed, k.PickerChoose):
		title, at := strings.TrimSpace(*c.title), c.at()
		if c.title = nil; title == "" || at < 0 {
			return nil
		}
		c.List[at].Title = title
		c.fill()
		return Rename{c.List[at].ID, title}
	default:
		*c.title = draw.TypedInto(*c.title, pressed)
	}
	return nil
}

// Do renames the conversation.
func (r Rename) Do(ctx context.Context, o *chat.Options) tea.Cmd {
	return func() tea.Msg {
		if err := o.Archive.Rename(ctx, r.ID, r.Title); err != nil {
			return PageMsg{Err: err}
		}
		return RenamedMsg(r)
	}
}

// Do deletes the conversations.
func (r Remove) Do(ctx context.Context, o *chat.Options) tea.Cmd {
	return func() tea.Msg {
		if err := o.Archive.Remove(ctx, r.IDs...); err != nil {
			return PageMsg{Err: err}
		}
		return RemovedMsg(len(r.IDs))
	}
}

// Hints are the keys of the list.
func (c *Chats) Hints(k *draw.Keys) []string {
	if c.title != nil {
		return []string{Hint(k.PickerChoose, "rename"), Hint(k.PickerClose, "cancel")}
	}
	hints := []string{moveHint(k), Hint(k.PickerChoose, "open")}
	if at := c.at(); at >= 0 && !c.Fixed {
		hints = append(hints, Hint(k.ChatRename, "rename"))
		if slices.Contains(c.marked, c.List[at].ID) {
			hints = append(hints, Hint(k.ChatDelete, "undo"))
		} else {
			hints = append(hints, Hint(k.ChatDelete, "delete"))
		}
	}
	closes := "close"
	if n := len(c.marked); n > 0 {
		closes = fmt.Sprintf("delete %d and close", n)
	}
	return append(hints, Hint(k.PickerClose, closes))
}

// View draws the list. While a title is edited, it replaces the filter.
func (c *Chats) View(width, rows int, k *draw.Keys, theme *draw.Theme) Content {
	content := c.Picker.View(width, rows, k, theme)
	if c.title != nil && len(content.Lines) > 0 {
		content.Lines[0] = draw.Truncate(theme.Brand.Render("New title: ")+*c.title+"▏", width)
	}
	return content
}
