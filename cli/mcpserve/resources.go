package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/tui/safetext"
)

const (
	// noteScheme is the beginning of a note's URI; the path follows.
	noteScheme = "note:///"
	// pageSize bounds the notes on a page of the list, and maxValues the values of a completion.
	pageSize, maxValues = 200, 100
)

// listed holds the notes as last seen by clients.
type listed struct {
	mu   sync.Mutex             // guards seen
	seen map[string]notes.Entry // by URI; Path is as in tools and rules
}

// refresh compares the notes with those last seen. If there are others, clients are told that the list changed.
func (s *notesServer) refresh(ctx context.Context) {
	now := map[string]notes.Entry{}
	var unknown []string // paths of files and folders
	hiding := gate.Hiding(ctx, s.App.Rules.List(), nil)
	folders := s.App.Folders()
	if s.mayRead(ctx, "") != nil {
		folders = nil
	}
	for _, folder := range folders {
		entries, problems, err := folder.List(ctx)
		if err != nil {
			slog.Warn("list the notes", "error", err)
			return
		}
		for _, e := range entries {
			e.Path = tools.PathOf(s.App.Folders, folder, e.Path)
			if !agent.HidesNote(hiding, e.Path) && !notes.IsPicture(e.Path) { // there may be thousands of photos
				now[addressOf(e.Path)] = e
			}
		}
		for _, p := range problems {
			if p.Unknown {
				unknown = append(unknown, tools.PathOf(s.App.Folders, folder, p.Path))
			}
		}
	}
	s.listed.mu.Lock()
	was := s.seen
	for address, e := range was { // a note in a folder that cannot be listed is not gone
		inUnknown := slices.ContainsFunc(unknown, func(dir string) bool {
			return strings.HasPrefix(e.Path+"/", dir+"/")
		})
		if inUnknown && !agent.HidesNote(hiding, e.Path) {
			now[address] = e
		}
	}
	s.seen = now
	s.listed.mu.Unlock()
	same := len(was) == len(now)
	for address := range now {
		_, known := was[address]
		same = same && known
	}
	if !same {
		var list []server.ServerResource
		for address, e := range now {
			r := mcp.NewResource(address, safetext.Visible(e.Path), mcp.WithMIMEType(notes.MIMEType(e.Path)))
			if notes.Writable(e.Path) == nil { // for other formats the size of the text differs
				r.Size = &e.Size
			}
			list = append(list, server.ServerResource{Resource: r, Handler: s.readResource})
		}
		s.mcp.SetResources(list...)
	}
}

// mayRead returns an error if a note may not be read other than by a tool; the rules for read_note
// apply. An empty path stands for any note.
func (s *reader) mayRead(ctx context.Context, path string) error {
	tool := s.served[agent.ReadNote]
	input, err := agent.Of(map[string]any{"path": path})
	if tool == nil || err != nil {
		return errors.New("notes are not read here")
	}
	if v := s.guard().Verdict(ctx, gate.Call{Tool: tool, Input: input}); v.Level != agent.Auto {
		return &gate.Refusal{Reason: v.Reason}
	}
	return nil
}

// wholeNote returns a note as a source, looked up by name.
func (s *reader) wholeNote(ctx context.Context, name string) (agent.Source, error) {
	ctx = gate.Hiding(ctx, s.App.Rules.List(), nil)
	folder, found, err := tools.FindNote(ctx, s.App.Folders(), name)
	if err != nil {
		return agent.Source{}, err
	}
	path := tools.PathOf(s.App.Folders, folder, found)
	if err := s.mayRead(ctx, path); err != nil {
		return agent.Source{}, err
	}
	raw, entry, err := folder.Load(ctx, found)
	if err != nil {
		return agent.Source{}, err
	}
	note := notes.Parse(entry, raw)
	lines := 1 + strings.Count(strings.TrimRight(note.Text, "\n"), "\n")
	return agent.Source{
		Path: path, Vault: folder.Dir(), Line: 1, EndLine: lines, Text: note.Text,
		Untrusted: note.Untrusted,
	}, nil
}

// addressOf returns the URI of a note.
func addressOf(path string) string {
	return noteScheme + (&url.URL{Path: path}).EscapedPath()
}

// readResource reads the note with exactly this URI, unless a rule hides it.
func (s *notesServer) readResource(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	path, err := url.PathUnescape(strings.TrimPrefix(request.Params.URI, noteScheme))
	if err != nil {
		return nil, fmt.Errorf("read a note: %q is not an address: %w", request.Params.URI, err)
	}
	ctx = agent.WithCaller(ctx, agent.Caller{})
	note, err := s.wholeNote(ctx, path)
	if err != nil || note.Path != path {
		return nil, fmt.Errorf("%w: no note %q", server.ErrResourceNotFound, path)
	}
	result := agent.Result{Text: s.App.Secrets.Known(note.Text), Sources: []agent.Source{note}}
	s.guard().Record.Trace(ctx, agent.Origin{}, gate.Channel{Own: true}, &result, "")
	return []mcp.ResourceContents{mcp.TextResourceContents{
		URI: addressOf(path), MIMEType: notes.MIMEType(path),
		Text: safetext.Visible(marked(result)),
	}}, nil
}

// CompleteResourceArgument completes the path of a note.
func (s *notesServer) CompleteResourceArgument(ctx context.Context, _ string, argument mcp.CompleteArgument,
	_ mcp.CompleteContext,
) (*mcp.Completion, error) {
	return s.completeNote(argument.Value), nil
}

// CompletePromptArgument completes an argument that names a note.
func (s *notesServer) CompletePromptArgument(_ context.Context, _ string, argument mcp.CompleteArgument,
	_ mcp.CompleteContext,
) (*mcp.Completion, error) {
	if argument.Name != "note" {
		return &mcp.Completion{}, nil
	}
	return s.completeNote(argument.Value), nil
}

// completeNote returns the paths that begin with typed, then those that contain it.
func (s *notesServer) completeNote(typed string) *mcp.Completion {
	typed = text.Key(typed)
	var first, more []string
	s.listed.mu.Lock()
	for _, e := range s.seen {
		switch path := text.Key(e.Path); {
		case strings.HasPrefix(path, typed):
			first = append(first, safetext.Visible(e.Path))
		case strings.Contains(path, typed):
			more = append(more, safetext.Visible(e.Path))
		}
	}
	s.listed.mu.Unlock()
	slices.Sort(first)
	slices.Sort(more)
	all := append(first, more...)
	return &mcp.Completion{Values: all[:min(len(all), maxValues)], Total: len(all), HasMore: len(all) > maxValues}
}
