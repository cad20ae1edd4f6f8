package evalmodels

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
)

// bench runs the tasks in LifeHub with default settings, the user's model servers and a copy of the
// notes. Turns leave nothing behind.
type bench struct {
	App   *app.App
	suite suite
	dir   string // temporary
	own   []agent.Tool
	limit time.Duration // per task
}

// openBench copies the notes to a temporary folder and opens an App on them. It sends nothing.
func openBench(ctx context.Context, sh *app.Process, s suite, from string, limit time.Duration) (_ *bench, err error) {
	dir, err := os.MkdirTemp("", "lifehub-eval-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	b := &bench{dir: dir, suite: s, limit: limit}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	vault := filepath.Join(dir, "notes")
	if err := b.suite.writeNotes(ctx, from, vault); err != nil {
		return nil, err
	}
	a, err := app.Configured(sh, app.RunFlags{})
	if err != nil {
		return nil, err
	}
	own, set := a.Settings, settings.Defaults()
	set.Provider, set.Ollama, set.OpenAI, set.Servers = own.Provider, own.Ollama, own.OpenAI, own.Servers
	set.Origin, set.OllamaOwner = own.Origin, own.OllamaOwner // whether ollama.host was set
	set.Model, set.Context, set.Think = own.Model, own.Context, own.Think
	if set.Provider == "auto" { // auto would fall back to offline answers if the server is down
		set.Provider = "ollama"
	}
	set.EmbedModel, set.Memory.Scope, set.Traces.Total = llm.NoEmbedding, "off", 0
	a.Settings = set
	a.Paths = settings.Paths{Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data"), State: filepath.Join(dir, "state")}
	if err := a.Assemble(ctx, app.RunFlags{Notes: []string{vault}, NoSave: true, Alone: true}, nil); err != nil {
		return nil, err
	}
	b.App = a
	a.NotesUse.Use(app.NotesOnly) // keep tasks off the web
	b.own = a.Offered()
	if err := b.suite.checkTools(b.own); err != nil {
		return nil, settings.UsageError{Err: err}
	}
	return b, nil
}

func (b *bench) close() {
	if b.App != nil {
		b.App.Close()
	}
	os.RemoveAll(b.dir)
}

// outcome is the result of a task.
type outcome struct {
	Checks  map[string]bool `json:"checks"`
	Calls   int             `json:"model_calls"`
	Prompt  int             `json:"prompt_tokens"`
	Answer  int             `json:"answer_tokens"`
	Seconds float64         `json:"seconds"`
	Error   string          `json:"error,omitempty"` // why there is no complete answer; then no check passes
}

// try runs one task with the current model. It calls show with the current activity several times a
// second.
func (b *bench) try(ctx context.Context, t task, show func(string)) (outcome, error) {
	limited, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	conversation := b.App.Store.NewConversation()
	if len(t.Before) == 2 {
		id, err := b.App.Store.Begin(ctx, conversation, t.Before[0])
		if err == nil {
			err = b.App.Store.Finish(ctx, id, agent.Answer{Text: t.Before[1]})
		}
		if err != nil {
			return outcome{}, fmt.Errorf("set up the task %s: %w", t.Name, err)
		}
	}
	recorded := &hearing{Model: b.App.Provider}
	began := time.Now()
	watched := b.watch(b.asking(t, recorded).Ask(limited, conversation, t.Ask), t, recorded, show)
	o := outcome{Seconds: time.Since(began).Seconds(), Calls: watched.metrics.ModelCalls, Prompt: watched.metrics.PromptTokens, Answer: watched.metrics.AnswerTokens}
	switch failed := watched.failed; {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case limited.Err() != nil:
		o.Error = fmt.Sprintf("no answer within %v", b.limit)
	case failed != nil && errors.Is(failed.Err, llm.ErrUnreachable):
		return o, failed.Err
	case failed != nil:
		o.Error = failed.Message
	case watched.unable:
		o.Error = "it cannot call tools"
	case watched.fallback && recorded.failure() != nil && !errors.Is(recorded.failure(), llm.ErrCut): // the turn fell back to a search
		o.Error = recorded.failure().Error()
	}
	o.Checks = t.judge(watched)
	if o.Error != "" {
		for name := range o.Checks {
			o.Checks[name] = false
		}
	}
	return o, nil
}

// asking returns an agent for a task. The parts of a turn that the task does not test give scripted
// replies.
func (b *bench) asking(t task, model llm.Model) *turn.Agent {
	o := b.App.Agent().Options
	o.Model = model
	if len(t.Tools) > 0 {
		tools := t.standIns()
		o.Tools = func() []agent.Tool { return tools }
		o.Missing = nil
	}
	mode := agent.PlanMode
	switch t.Role {
	case plans:
		o.Roles = map[string]prompt.Role{"explainer": played("The plan was run.")}
	case answers:
		o.Roles = map[string]prompt.Role{"planner": played(t.plan()...)}
	case loops:
		mode = agent.LoopMode
	case teams:
		mode = agent.TeamMode
	}
	o.Mode = func() agent.Mode { return mode }
	return turn.New(o)
}

// plan returns the scripted replies of the planner for an answer task: the calls of the task or
// else a search and, when asked again, no further steps.
func (t task) plan() []string {
	type planned map[string]any
	steps := []planned{}
	for i, c := range t.Calls {
		steps = append(steps, planned{"id": fmt.Sprint(i + 1), "tool": c.Tool, "input": c.given()})
	}
	if len(steps) == 0 {
		steps = append(steps, planned{"id": "1", "tool": agent.SearchNotes, "input": planned{"query": t.Ask}})
	}
	raw, err := json.Marshal(steps)
	if err != nil {
		raw = []byte("[]")
	}
	return []string{`{"steps":` + string(raw) + `}`, `{"steps":[]}`}
}

// watch reads the events of a turn to the end and refuses every permission.
func (b *bench) watch(events <-chan agent.Event, t task, recorded *hearing, show func(string)) (w seen) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	doing, round := "", 0
	for {
		select {
		case <-tick.C:
			show(doing)
		case event, more := <-events:
			if !more {
				if round == 0 {
					w.replies = recorded.all()
				}
				return w
			}
			switch body := event.Body.(type) {
			case agent.PhaseStarted:
				doing = body.Agent
				w.unable = w.unable || t.Role == loops && body.Agent == "planner"
			case agent.PlanMade:
				if round++; round == 1 {
					w.replies, w.fallback = recorded.all(), body.Fallback
				}
				for _, s := range body.Steps {
					if !s.Extra && !body.Fallback && s.Tool != agent.DelegateTool {
						w.steps = append(w.steps, step{s, round, b.matters(t, s.Tool)})
					}
				}
			case agent.ToolStarted:
				doing = body.Name
				w.asked = append(w.asked, step{Step: agent.Step{Tool: body.Name, Input: body.Input}})
			case agent.PermissionAsked:
				w.asked = append(w.asked, step{Step: agent.Step{Tool: body.Name, Input: body.Input}})
				body.Reply(agent.Reply{Decision: agent.Refuse})
			case agent.Cited:
				w.cited = append(w.cited, body)
			case agent.Failed:
				w.failed = &body
			case agent.Ended:
				w.metrics, w.lead, w.answer = body.Metrics, body.Unanswered, body.Answer
				if len(body.Nearest) > 0 || w.lead { // LifeHub's own text ends with the paragraph
					_, w.answer, _ = strings.Cut(body.Answer, "\n\n")
				}
			}
			show(doing)
		}
	}
}

// matters reports whether calling a tool counts as an action: it is a tool of the task, or has an
// effect.
func (b *bench) matters(t task, name string) bool {
	return len(t.Tools) > 0 || !slices.ContainsFunc(b.own, func(o agent.Tool) bool { return o.Spec().Name == name && agent.HasNoEffect(o) })
}

// hearing is a model that records its replies.
type hearing struct {
	llm.Model
	mu      sync.Mutex
	replies []string
	failed  error // error of the last request
}

// Stream implements [llm.Model].
func (h *hearing) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		var all strings.Builder
		var failed error
		defer func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.replies, h.failed = append(h.replies, all.String()), failed
		}()
		for delta, err := range h.Model.Stream(ctx, req) {
			all.WriteString(delta.Text)
			if failed = err; !yield(delta, err) {
				return
			}
		}
	}
}

func (h *hearing) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.replies)
}

// failure returns the error of the last request, or nil.
func (h *hearing) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

// played returns a role with scripted replies. The last one repeats.
func played(replies ...string) prompt.Role {
	return prompt.Role{Model: &player{replies}, Server: prompt.Server{
		Window: func() int { return 0 }, ModelName: func() string { return "" },
		Ready: func(context.Context) error { return nil }, RejectsLongPrompts: func() bool { return false },
	}}
}

type player struct{ replies []string }

// Stream implements [llm.Model]. It is not safe for concurrent use.
func (p *player) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	reply := p.replies[0]
	p.replies = p.replies[min(1, len(p.replies)-1):]
	return func(yield func(llm.Delta, error) bool) {
		_ = yield(llm.Delta{Text: reply}, nil) && yield(llm.Delta{Usage: &llm.Usage{Stopped: llm.StopEnd}}, nil)
	}
}
