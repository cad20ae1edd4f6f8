package acp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/store"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// session is a conversation that the client has open, guarded by the server's mutex.
type session struct {
	id      acp.SessionId
	cwd     string
	mode    string
	notices []string        // for its next turn
	servers []acp.McpServer // to offer before its next turn
	answers string          // the last report of relay.answers; the running turn owns this and title
	title   string
	cancel  context.CancelCauseFunc // cancels its turn; nil if none is running
}

// stop cancels the running turn, if any.
func (s *session) stop(cause error) {
	if s.cancel != nil {
		s.cancel(cause)
	}
}

// open adds a session, or updates one that is open.
func (s *server) open(ctx context.Context, id acp.SessionId, cwd string,
	servers []acp.McpServer,
) (*acp.SessionModeState, error) {
	if !filepath.IsAbs(cwd) {
		return nil, refused(invalid, "cwd is %q; it has to be an absolute path", cwd)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.sessions[id]; !again && len(s.sessions) >= maxSessions {
		return nil, refused(wrong, "%d sessions are open, the most there can be; close one (session/close)",
			maxSessions)
	}
	opened := s.sessions[id]
	if opened == nil {
		opened = &session{id: id, mode: s.options.Mode}
		s.sessions[id] = opened
		if len(s.App.OpenVaults()) == 0 {
			opened.notices = append(opened.notices, "no notes yet: `lifehub index DIR` adds a folder")
		}
	}
	opened.cwd = cwd
	opened.servers = servers
	context.AfterFunc(ctx, func() { s.announce(id) }) // the client knows the session only after the answer
	return modesOf(opened), nil
}

// modesOf returns all modes and the current mode of a session.
func modesOf(opened *session) *acp.SessionModeState {
	modes := &acp.SessionModeState{CurrentModeId: acp.SessionModeId(opened.mode)}
	for _, mode := range agent.Modes() {
		help := mode.Help()
		name := strings.ToUpper(string(mode[:1])) + string(mode[1:])
		modes.AvailableModes = append(modes.AvailableModes, acp.SessionMode{
			Id: acp.SessionModeId(mode), Name: name, Description: &help,
		})
	}
	return modes
}

// announce sends the slash commands of a session to the client.
func (s *server) announce(id acp.SessionId) {
	var fault error
	defer agent.Catch(&fault)
	list := []acp.AvailableCommand{}
	for _, c := range s.commands() {
		command := acp.AvailableCommand{Name: c.Name, Description: shown(c.Help)}
		if c.Args != "" {
			command.Input = &acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: c.Args}}
		}
		list = append(list, command)
	}
	s.update(id, acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{AvailableCommands: list}})
}

// update sends an update of a session to the client. Errors are ignored: the goroutine that reads
// from the client notices when it is gone.
func (s *server) update(id acp.SessionId, what acp.SessionUpdate) {
	_ = s.conn.SendNotification(context.Background(), acp.ClientMethodSessionUpdate,
		acp.SessionNotification{SessionId: id, Update: what})
}

// find returns an open session. The caller must hold s.mu.
func (s *server) find(id acp.SessionId) (*session, error) {
	if opened := s.sessions[id]; opened != nil {
		return opened, nil
	}
	return nil, refused(unknown, "session %q is not open: session/new begins one, session/load opens a saved one", id)
}

func (s *server) newSession(ctx context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	id, err := s.options.Conversations.New(ctx)
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	modes, err := s.open(ctx, acp.SessionId(id), p.Cwd, p.McpServers)
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	return acp.NewSessionResponse{SessionId: acp.SessionId(id), Modes: modes, ConfigOptions: s.choices(ctx, modes)}, nil
}

// saved returns an error unless the session is open or a saved conversation. One in which nothing
// was said is not saved.
func (s *server) saved(ctx context.Context, id acp.SessionId) error {
	s.mu.Lock()
	_, err := s.find(id)
	s.mu.Unlock()
	if err == nil {
		return nil
	}
	c, err := s.App.Store.Conversation(ctx, string(id))
	if errors.Is(err, store.ErrNoConversation) || err == nil && c.ID != string(id) {
		return refused(unknown, "no conversation is saved as %q; session/list lists them", id)
	}
	return err
}

func (s *server) loadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	if err := s.saved(ctx, p.SessionId); err != nil {
		return acp.LoadSessionResponse{}, err
	}
	modes, err := s.open(ctx, p.SessionId, p.Cwd, p.McpServers)
	if err != nil {
		return acp.LoadSessionResponse{}, err
	}
	exchanges, err := s.options.Conversations.Exchanges(ctx, string(p.SessionId))
	if err != nil {
		return acp.LoadSessionResponse{}, err
	}
	for i, e := range exchanges {
		r := s.replay(p.SessionId, e)
		if i == len(exchanges)-1 && e.Open && chat.Resumable(e) {
			r.aside("/continue resumes it")
		}
	}
	return acp.LoadSessionResponse{Modes: modes, ConfigOptions: s.choices(ctx, modes)}, nil
}

func (s *server) resumeSession(ctx context.Context, p acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	if err := s.saved(ctx, p.SessionId); err != nil {
		return acp.ResumeSessionResponse{}, err
	}
	modes, err := s.open(ctx, p.SessionId, p.Cwd, p.McpServers)
	if err != nil {
		return acp.ResumeSessionResponse{}, err
	}
	return acp.ResumeSessionResponse{Modes: modes, ConfigOptions: s.choices(ctx, modes)}, nil
}

// replay sends a saved turn as it was sent when it ran.
func (s *server) replay(id acp.SessionId, e agent.Exchange) *relay {
	question := acp.UpdateUserMessageText(shown(agent.QuoteSteering(e.Question)))
	question.UserMessageChunk.MessageId = acp.Ptr(e.Turn + ".question")
	s.update(id, question)
	r := &relay{server: s, session: id, turn: e.Turn}
	became := map[string]agent.Status{}
	for _, c := range e.Answer.Course {
		if step, ok := c.Event.Body.(agent.StepChanged); ok {
			became[step.Step] = step.Status
		}
	}
	n := 0
	for _, part := range e.Answer.Parts() {
		r.say(part.Text)
		for _, done := range part.Done {
			if done.Thought != "" {
				r.think(done.Thought)
				continue
			}
			n++
			status := acp.ToolCallStatusCompleted
			if is, known := became[done.Step]; known && is != agent.Done {
				status = acp.ToolCallStatusFailed // includes denied calls
			}
			s.update(id, acp.StartToolCall(acp.ToolCallId(fmt.Sprintf("%s/replayed/%d", e.Turn, n)),
				shown(safetext.Line(done.Action)),
				acp.WithStartStatus(status), acp.WithStartContent(literal(done.Result))))
		}
	}
	r.sources(chat.SourcesOf(e.Answer))
	if ending := chat.Ending(e); ending != "" {
		r.aside(ending)
	}
	r.effects(e.Answer.Effects, false)
	return r
}

// listSessions lists all conversations, whatever the folder: a conversation belongs to the notes.
func (s *server) listSessions(ctx context.Context, p acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	list, err := s.options.Conversations.Recent(ctx, 0)
	if err != nil {
		return acp.ListSessionsResponse{}, err
	}
	answer := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	for _, c := range list {
		info := acp.SessionInfo{
			SessionId: acp.SessionId(c.ID), Title: acp.Ptr(shown(c.Title)),
			UpdatedAt: acp.Ptr(c.Updated.UTC().Format(time.RFC3339)),
			Cwd:       s.App.Paths.Data,
		}
		if p.Cwd != nil {
			info.Cwd = *p.Cwd
		}
		answer.Sessions = append(answer.Sessions, info)
	}
	return answer, nil
}

func (s *server) closeSession(_ context.Context, p acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	opened, err := s.find(p.SessionId)
	if err == nil {
		opened.stop(nil)
		delete(s.sessions, p.SessionId)
	}
	return acp.CloseSessionResponse{}, err
}

func (s *server) cancel(_ context.Context, p acp.CancelNotification) (struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	opened, err := s.find(p.SessionId)
	if err == nil {
		opened.stop(nil)
	}
	return struct{}{}, err
}

// setMode sets the mode of a session's later turns.
func (s *server) setMode(_ context.Context, p acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	mode, err := agent.ParseMode(string(p.ModeId))
	if err != nil {
		return acp.SetSessionModeResponse{}, refused(invalid, "%s", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	opened, err := s.find(p.SessionId)
	if err == nil {
		opened.mode = string(mode)
	}
	return acp.SetSessionModeResponse{}, err
}

// own are the chat commands that this package implements itself.
var own = []string{"continue", "help", "rename"}

// commands returns the slash commands that need no screen.
func (s *server) commands() []chat.Command {
	return slices.DeleteFunc(panel.Commands(&s.options), func(c chat.Command) bool {
		return c.Template != nil || c.Own() && panel.PageOf(c.Name) == nil && !slices.Contains(own, c.Name)
	})
}
