package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/mcpclient/config"
)

// questions handles requests from a server to the client.
type questions struct{ s *supervisor }

// capabilities declares the requests that the user allows.
func (s *supervisor) capabilities() []client.ClientOption {
	options := []client.ClientOption{client.WithDiscoverTimeout(discoverTimeout)}
	if s.hub.User != nil {
		options = append(options,
			client.WithSamplingHandler(questions{s}), client.WithElicitationHandler(questions{s}),
			client.WithClientCapabilities(mcp.ClientCapabilities{
				Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}},
			}))
	}
	if s.offersRoots() {
		options = append(options, client.WithRootsHandler(questions{s}))
	}
	return options
}

// turn waits until the user can be asked: one question at a time, and only during
// a call, whose clock is paused meanwhile. The returned context has its host.
func (q questions) turn(ctx context.Context) (asking context.Context, done func(), err error) {
	host, resume, err := q.s.clock.pause()
	if err != nil {
		return nil, nil, err
	}
	select {
	case q.s.asking <- struct{}{}:
		return agent.WithHost(ctx, host), func() { <-q.s.asking; resume() }, nil
	case <-ctx.Done():
		resume()
		return nil, nil, ctx.Err()
	}
}

// Elicit shows a server's form to the user.
func (q questions) Elicit(ctx context.Context, request mcp.ElicitationRequest) (_ *mcp.ElicitationResult, err error) {
	defer q.s.catch(&err)
	ctx, done, err := q.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	form := agent.Question{From: q.s.Entry.Name, Message: request.Params.Message}
	if request.Params.Mode == mcp.ElicitationModeURL {
		form.Kind = agent.URLInput
		if form.URL, err = readPage(request.Params.URL); err != nil {
			return nil, err
		}
	} else {
		form.Kind = agent.FormInput
		if form.Schema, err = json.Marshal(request.Params.RequestedSchema); err != nil {
			return nil, err
		}
		if len(form.Schema) > maxSchema {
			return nil, fmt.Errorf("requestedSchema is %d KiB, more than %d", len(form.Schema)>>10, maxSchema>>10)
		}
		schema, err := agent.ReadSchema(form.Schema)
		if err != nil {
			return nil, fmt.Errorf("read requestedSchema: %w", err)
		}
		form.Check = schema.Check
	}
	given := q.s.hub.User.Ask(ctx, form)
	result := &mcp.ElicitationResult{}
	result.Action = mcp.ElicitationResponseAction(given.Action)
	if given.Action == agent.InputAccepted && form.Check != nil {
		if err := form.Check(given.Values); err != nil {
			return nil, fmt.Errorf("the answer does not fit the form: %w", err)
		}
		result.Content = given.Values
	}
	return result, nil
}

// readPage returns the address of a page as it is shown to the user.
func readPage(address string) (string, error) {
	u, _, err := agent.ReadAddress(address)
	if err != nil {
		return "", fmt.Errorf("url %q cannot be shown: %w", address, err)
	}
	return u.String(), nil
}

// sendTo shows the user the pages that a server wants opened before it performs a
// call.
func (q questions) sendTo(ctx context.Context, pages []mcp.ElicitationParams) error {
	for _, page := range pages {
		u, err := readPage(page.URL)
		if err != nil {
			return err
		}
		if page.URL = u; q.s.hub.User == nil {
			return fmt.Errorf("%s must be opened first, and the user cannot be asked", page.URL)
		}
		page.Mode = mcp.ElicitationModeURL
		given, err := q.Elicit(ctx, mcp.ElicitationRequest{Params: page})
		if err != nil {
			return err
		}
		if given.Action != mcp.ElicitationResponseActionAccept {
			return fmt.Errorf("%s must be opened first, which the user declined", page.URL)
		}
	}
	return nil
}

// CreateMessage has the user's model answer a server's request.
func (q questions) CreateMessage(ctx context.Context, request mcp.CreateMessageRequest) (_ *mcp.CreateMessageResult, err error) {
	defer q.s.catch(&err)
	if len(request.Tools) > 0 {
		return nil, errors.New("tools are not available to servers")
	}
	var wanted llm.Request
	if request.SystemPrompt != "" {
		wanted.Messages = append(wanted.Messages, llm.Message{Role: llm.System, Text: request.SystemPrompt})
	}
	wanted.MaxTokens = request.MaxTokens
	for _, m := range request.Messages {
		text, ok := mcp.AsTextContent(m.Content)
		if !ok {
			return nil, fmt.Errorf("only text is supported, not %T", m.Content)
		}
		role := llm.User
		if m.Role == mcp.RoleAssistant {
			role = llm.Assistant
		}
		wanted.Messages = append(wanted.Messages, llm.Message{Role: role, Text: text.Text})
	}
	ctx, done, err := q.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	model, text, err := q.s.hub.User.Sample(ctx, q.s.Entry.Name, wanted)
	if err != nil {
		return nil, err
	}
	return &mcp.CreateMessageResult{
		Model: model, StopReason: "endTurn",
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(text)},
	}, nil
}

// offersRoots reports whether the server may request folders to work in: those of
// its entry or, for local servers, User.Roots. A server that has a folder as
// an argument gets no roots, because some servers let roots replace that
// argument.
func (s *supervisor) offersRoots() bool {
	if s.Entry.Roots != nil || s.hub.User == nil || s.Entry.Transport != config.Stdio {
		return len(s.Entry.Roots) > 0
	}
	entry, _ := s.Entry.Resolved(os.LookupEnv)
	return !slices.ContainsFunc(entry.Args, func(arg string) bool {
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(s.folder(entry), arg)
		}
		info, err := os.Stat(arg)
		return err == nil && info.IsDir()
	})
}

// ListRoots returns the folders to work in.
func (q questions) ListRoots(context.Context, mcp.ListRootsRequest) (_ *mcp.ListRootsResult, err error) {
	defer q.s.catch(&err)
	entry, _ := q.s.Entry.Resolved(os.LookupEnv)
	if entry.Roots == nil {
		entry.Roots = q.s.hub.User.Roots()
	}
	result := &mcp.ListRootsResult{}
	for _, dir := range entry.Roots {
		// the slash is missing in C:\
		u := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/")}
		result.Roots = append(result.Roots, mcp.Root{URI: u.String(), Name: filepath.Base(dir)})
	}
	return result, nil
}

// RootsChanged notifies running servers that use User.Roots that these have
// changed. It does not block.
func (s *Client) RootsChanged() {
	for _, one := range s.all() {
		one.mu.Lock()
		session := one.session
		one.mu.Unlock()
		if session == nil || one.Entry.Roots != nil || !one.offersRoots() {
			continue
		}
		go func() { // ends after goodbye
			defer one.catch(nil)
			ctx, cancel := context.WithTimeout(context.Background(), goodbye)
			defer cancel()
			if err := session.client.RootListChanges(ctx); err != nil {
				s.Log.Debug("notify of changed roots", "server", one.Entry.Name, "err", err)
			}
		}()
	}
}
