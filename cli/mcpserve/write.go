package mcpserve

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/internal/text"
	"lifehub/tui/dialog"
)

const (
	// maxWaiting bounds the changes that wait for the user.
	maxWaiting = 16
	// askedFor is how long a question stays open.
	askedFor = 10 * time.Minute
)

// questions are the changes that wait for the user. One is shown at a time.
type questions struct {
	ctx          context.Context // parent of every turn's context, since the answer may come in another request
	waiting      chan struct{}
	turn         chan struct{}
	conversation string // in which the changes are saved

	mu   sync.Mutex // guards open
	open map[string]*question
}

func newQuestions(ctx context.Context, conversation string) questions {
	return questions{
		ctx: ctx, conversation: conversation, waiting: make(chan struct{}, maxWaiting),
		turn: make(chan struct{}, 1), open: map[string]*question{},
	}
}

// question is a turn that waits for permission.
type question struct {
	ctx        context.Context
	cancel     context.CancelFunc
	events     <-chan agent.Event
	permission agent.PermissionAsked // what was asked last
	about      string                // existing note that the call names; "" if none
	asked      bool                  // the gate asked rather than refused
}

// allowed is the only field of the form. It makes sure that a client which accepts forms
// automatically has not agreed yet.
const allowed = "allow"

// write returns a handler for a tool that changes something. Each call is a separate turn with
// gate, journal and undo; the gate's question goes to the user through the client.
func (s *notesServer) write(tool agent.Tool) server.ToolHandlerFunc {
	name := tool.Spec().Name
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if request.Params.RequestState != "" {
			return s.answered(ctx, request), nil
		}
		input, err := s.arguments(tool, request)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		select {
		case s.waiting <- struct{}{}:
		default:
			return mcp.NewToolResultError(fmt.Sprintf("%d changes wait for the user already: ask again when they are "+
				"answered", maxWaiting)), nil
		}
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			<-s.waiting
			return nil, ctx.Err()
		}
		client := clientOf(ctx)
		turnCtx, cancel := context.WithTimeout(s.ctx, askedFor)
		q := &question{ctx: turnCtx, cancel: cancel, about: noteOf(name, input)}
		q.events = s.writer.Call(turnCtx, s.conversation, client+" calls "+name, agent.Step{Tool: name, Input: input},
			"the MCP client "+client)
		return s.proceed(ctx, q), nil
	}
}

// proceed runs a turn to its end, or until a question has to be sent to the client.
func (s *notesServer) proceed(ctx context.Context, q *question) *mcp.CallToolResult {
	text, done, denied := "", false, false
	var did agent.Effects
	for e := range q.events {
		switch b := e.Body.(type) {
		case agent.PermissionAsked:
			q.asked = true
			if !canAsk(ctx) {
				b.Reply(agent.Reply{
					Decision: agent.Refuse,
					Reason: "this client cannot put a question to the user (it has no elicitation), and " + b.Name +
						" asks before it changes anything",
				})
				continue
			}
			if s.mayRead(ctx, b.Preview.Path) != nil {
				b.Reply(agent.Reply{Decision: agent.Refuse, Reason: notAllowed})
				q.asked = false
				continue
			}
			q.permission = b
			return s.ask(ctx, q, b)
		case agent.StepChanged:
			denied = denied || b.Status == agent.Denied && !q.asked
		case agent.ToolEnded:
			done = b.Error == ""
		case agent.Ended:
			text, did = b.Answer, b.Effects
		case agent.Failed:
			text, did = b.Message, b.Effects
		}
	}
	s.end(q)
	if denied {
		text = s.deniedNote(ctx, q.about)
	}
	if denied || !done {
		text = cmp.Or(text, "it was stopped")
		if did.Warns() {
			text += "\n" + did.String()
		}
		return mcp.NewToolResultError(text)
	}
	return mcp.NewToolResultText(text)
}

// end lets the next change run, once the turn of this one is over.
func (s *notesServer) end(q *question) {
	q.cancel()
	<-s.turn
	<-s.waiting
}

// noteOf returns the name of the note that a call changes, or "" if it creates one.
func noteOf(tool string, input json.RawMessage) string {
	var given struct{ Path, Note string }
	if tool == "create_note" || json.Unmarshal(input, &given) != nil {
		return ""
	}
	return cmp.Or(given.Path, given.Note)
}

// deniedNote is the answer to a change that a rule denies. If the rules hide the note from the
// client, it is the same as for a note that does not exist.
func (s *notesServer) deniedNote(ctx context.Context, name string) string {
	if name != "" {
		if _, _, err := tools.FindNote(gate.Hiding(ctx, s.App.Rules.List(), nil), s.App.Folders(),
			name); errors.Is(err, fs.ErrNotExist) {
			return "Not done: " + s.withoutFolders(err.Error()) + "."
		}
	}
	return notAllowed
}

// ask suspends a turn and sends its question to the client. The question is withdrawn after
// askedFor, or if the client cancels the call.
func (s *notesServer) ask(ctx context.Context, q *question, asked agent.PermissionAsked) *mcp.CallToolResult {
	state := rand.Text()
	s.questions.mu.Lock()
	s.open[state] = q
	s.questions.mu.Unlock()
	withdraw := func() {
		defer recovered("withdraw a question", new(error))
		if q := s.take(state); q != nil {
			q.permission.Reply(agent.Reply{Decision: agent.Refuse, Reason: "the question was withdrawn"})
			for range q.events { // drain the turn
			}
			s.end(q)
		}
	}
	context.AfterFunc(q.ctx, withdraw)
	if !server.IsModernRequest(ctx) { // in the newer protocol the call ends here, and another one has the answer
		context.AfterFunc(ctx, withdraw)
	}
	asked.Reason = gate.WithoutRule(asked.Reason) // the client must not see the rule
	before, after := dialog.Title(asked)
	lines := []string{before + asked.Name + after}
	for _, line := range dialog.Describe(asked, false) {
		if line.Mark != dialog.Context || asked.Name != "remember" { // the client must not see other facts
			lines = append(lines, line.Text)
		}
	}
	return server.NewInputRequestBuilder(state).Elicit(allowed, mcp.ElicitationParams{
		Message: strings.Join(lines, "\n"),
		RequestedSchema: map[string]any{
			"type": "object", "required": []string{allowed},
			"properties": map[string]any{allowed: map[string]any{
				"type": "boolean", "title": "Allow this change",
				"description": "It is made once. /undo in LifeHub takes it back.",
			}},
		},
	}).ToolResult()
}

// take removes an open question and returns it, or nil if it is not open.
func (s *notesServer) take(state string) *question {
	s.questions.mu.Lock()
	defer s.questions.mu.Unlock()
	q := s.open[state]
	delete(s.open, state)
	return q
}

// answered continues the turn that waits for the answer in request.
func (s *notesServer) answered(ctx context.Context, request mcp.CallToolRequest) *mcp.CallToolResult {
	q := s.take(request.Params.RequestState)
	if q == nil {
		return mcp.NewToolResultError("this question is no longer open: call the tool again")
	}
	reply := agent.Reply{Decision: agent.Refuse}
	if answer := server.ElicitationResponse(request.Params.InputResponses, allowed); answer != nil &&
		answer.Action == mcp.ElicitationResponseActionAccept {
		if content, ok := answer.Content.(map[string]any); ok && content[allowed] == true {
			reply.Decision = agent.AllowOnce
		}
	}
	q.permission.Reply(reply)
	return s.proceed(ctx, q)
}

// canAsk reports whether the client can ask its user.
func canAsk(ctx context.Context) bool {
	session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	return ok && session.GetClientCapabilities().Elicitation != nil
}

// clientOf returns the client's name as the client gives it.
func clientOf(ctx context.Context) string {
	session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	if !ok {
		return "a program"
	}
	return cmp.Or(text.Clip(text.OneLine(session.GetClientInfo().Name), 40), "a program")
}
