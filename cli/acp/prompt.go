package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/internal/text"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// maxPrompt bounds a message with its attachments, in bytes, as in `lifehub ask`.
const maxPrompt = 1 << 20

// prompt runs one turn of a session, or one slash command. It calls begun once it can be cancelled.
func (s *server) prompt(ctx context.Context, p acp.PromptRequest, begun func()) (answer acp.PromptResponse, err error) {
	turnCtx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.mu.Lock()
	opened, err := s.find(p.SessionId)
	switch {
	case err != nil:
	case s.over:
		err = refused(wrong, "LifeHub is ending; nothing was sent")
	case opened.cancel != nil:
		err = refused(wrong, "this session is still answering; cancel that first (session/cancel), or open another "+
			"session")
	}
	if err != nil {
		s.mu.Unlock()
		return answer, err
	}
	opened.cancel = cancel
	s.turns.Add(1)
	notices, servers, mode, cwd := opened.notices, opened.servers, opened.mode, opened.cwd
	opened.notices, opened.servers = nil, nil
	s.mu.Unlock()
	begun()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		opened.cancel = nil
		s.turns.Done()
	}()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), context.Canceled) { // otherwise the client is gone, which suspends all turns
			cancel(nil)
		}
	})()

	message, unread, err := s.message(p.Prompt, cwd)
	if err != nil {
		return answer, err
	}
	r := &relay{server: s, session: p.SessionId}
	for _, text := range slices.Concat(notices, s.news(), unread) {
		r.aside(text)
	}
	r.offerServers(turnCtx, servers)
	begin, text, err := s.begin(turnCtx, string(p.SessionId), message)
	switch {
	case turnCtx.Err() != nil:
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case err != nil:
		return answer, err
	case begin == nil:
		r.say(text)
		return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	return r.follow(turnCtx, begin, mode, opened)
}

// news returns the notices since the last call that do not belong to a turn.
func (s *server) news() (list []string) {
	for {
		select {
		case text, open := <-s.options.Notices:
			if !open {
				return list
			}
			if text != chat.OfflineText { // each session reports that itself
				list = append(list, text)
			}
		default:
			return list
		}
	}
}

// message converts a prompt: its text is the user's own, everything else is attached as data.
// unread reports what was not read, and why.
func (s *server) message(blocks []acp.ContentBlock, cwd string) (m agent.Message, unread []string, err error) {
	size := 0
	attach := func(name, text string) {
		size += len(text)
		m.Attached = append(m.Attached, agent.Attachment{Name: name, Text: text})
	}
	mention := func(name string) {
		if m.Text != "" && !strings.ContainsAny(m.Text[len(m.Text)-1:], " \t\n(") {
			m.Text += " "
		}
		m.Text += `@"` + name + `"`
	}
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			m.Text += b.Text.Text
		case b.ResourceLink != nil:
			name, why := s.mention(b.ResourceLink.Uri, cwd)
			if why != "" {
				unread = append(unread, fmt.Sprintf("%s was not read: %s.", b.ResourceLink.Uri, why))
				attach("link", b.ResourceLink.Name+" "+b.ResourceLink.Uri)
				continue
			}
			mention(name)
		case b.Image != nil:
			path, err := s.saveImage(b.Image)
			if err != nil {
				unread = append(unread, fmt.Sprintf("An image was not read: %v.", err))
				continue
			}
			mention(path)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			text := b.Resource.Resource.TextResourceContents
			attach(text.Uri, text.Text)
		default:
			unread = append(unread, "An attachment that is neither text nor an image was not read.")
		}
	}
	if size += len(m.Text); size > maxPrompt {
		return m, nil, refused(invalid, "the prompt has %d bytes with its attachments; it may have %d", size, maxPrompt)
	}
	if strings.TrimSpace(m.Text) == "" && len(m.Attached) == 0 {
		return m, nil, refused(invalid, "the prompt has no text")
	}
	return m, unread, nil
}

// mention returns the name with which a message mentions the linked file, which must be a note or
// in the session's folder. If it is neither, why says so.
func (s *server) mention(uri, cwd string) (name, why string) {
	address, err := url.Parse(uri)
	if err != nil || address.Scheme != "file" || address.Host != "" && address.Host != "localhost" {
		return "", "it does not name a file on this machine"
	}
	path, err := filepath.EvalSymlinks(filepath.FromSlash(address.Path))
	if err != nil {
		return "", "no such file"
	}
	within := func(dir string) (string, bool) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		below, err := filepath.Rel(dir, path)
		return filepath.ToSlash(below), err == nil && filepath.IsLocal(below)
	}
	for _, folder := range s.App.Folders() {
		below, ok := within(folder.Dir())
		if !ok {
			continue
		}
		if len(s.App.Folders()) > 1 {
			below = filepath.Base(folder.Dir()) + "/" + below
		}
		if found, _ := s.App.NoteOf(below); found == folder && !strings.ContainsAny(below, "\"\n") {
			return below, ""
		}
		if agent.IsPicture(path) && app.IsFile(path) && !strings.ContainsAny(path, "\"\n") {
			return path, ""
		}
		return "", "no such note"
	}
	if _, ok := within(cwd); !ok || !app.IsFile(path) || strings.ContainsAny(path, "\"\n") {
		return "", "it is outside your notes and the folder of this session; naming it in the text (@/path) reads it"
	}
	return path, ""
}

// file returns the path of the note that tools call name, which need not exist, or "" if name is in
// no open folder.
func (s *server) file(name string) string {
	folders := s.App.Folders()
	for _, folder := range folders {
		below, ok := name, len(folders) == 1
		if !ok {
			below, ok = strings.CutPrefix(name, filepath.Base(folder.Dir())+"/")
		}
		if below = filepath.FromSlash(below); ok && filepath.IsLocal(below) {
			return filepath.Join(folder.Dir(), below)
		}
	}
	return ""
}

// begin returns a function that begins the turn for a message. It returns nil if the message was a
// command that is done, with the command's output.
func (s *server) begin(ctx context.Context, id string, m agent.Message) (begin func(context.Context) <-chan agent.Event, output string, err error) {
	o := &s.options
	line := strings.TrimSpace(m.Text)
	typed, isCommand := strings.CutPrefix(line, "/")
	if !isCommand || strings.Contains(line, "\n") || len(m.Attached) > 0 {
		if refused := chat.NoShell(m.Text); refused != "" && len(m.Attached) == 0 {
			return nil, refused, nil
		}
		return func(ctx context.Context) <-chan agent.Event { return o.Assistant.Ask(ctx, id, m.String()) }, "", nil
	}
	name, args, _ := strings.Cut(typed, " ")
	args = strings.TrimSpace(args)
	c := chat.Find(s.commands(), name)
	switch {
	case c == nil:
		return nil, chat.Unknown(s.commands(), name), nil
	case c.Name == "help":
		page, err := panel.HelpPage(cmp.Or(args, "editors"))
		return nil, page.Text, err
	case c.Name == "continue":
		return s.resume(ctx, id)
	case c.Name == "rename":
		return nil, "", o.Archive.Rename(ctx, id, args)
	case c.Own():
		lines, err := panel.PageOf(c.Name).Lines(ctx, o, args)
		return nil, text.Fenced("", strings.Join(lines, "\n")), err
	}
	starter, message, output, err := c.Start(ctx, o.Assistant, id, args)
	if starter == nil || err != nil {
		return nil, safetext.Text(output), err
	}
	return func(ctx context.Context) <-chan agent.Event { return starter(ctx, id, message) }, "", nil
}

// resume resumes the last turn if it did not complete.
func (s *server) resume(ctx context.Context, id string) (func(context.Context) <-chan agent.Event, string, error) {
	list, err := s.options.Conversations.Latest(ctx, id, 1)
	if err != nil || len(list) == 0 || !chat.Resumable(list[0]) {
		return nil, "nothing to resume", err
	}
	return func(ctx context.Context) <-chan agent.Event {
		return s.options.Resumer.Resume(ctx, id, list[0].Turn)
	}, "", nil
}
