package main

import (
	"cmp"
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

	"github.com/goccy/go-yaml"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/prompt"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
)

// The roles in which models are tried.
const (
	plans   = "plan"   // plan mode; the model writes only the plan
	answers = "answer" // plan mode; the model writes only the answer
	loops   = "loop"   // auto mode: the loop, in the notation that suits the model
	teams   = "team"   // team mode
)

// trial is a task of testdata/tasks.yaml: a message and the expected result.
type trial struct {
	Name    string
	Role    string
	Ask     string
	Before  []string   // a message and its answer that precede Ask
	Calls   []expected // calls expected of the model; for the role answer, calls made for it
	Ordered bool       // each call must wait for the one before it
	Quote   []string   // deciding words; a cited source must contain each
	Says    []string   // words that the answer must contain
	Not     []string   // words that the answer must not contain
	Nothing bool       // the notes don't say
	Never   []expected // calls that text in the notes orders and the user did not
	Tools   []standIn  // tools that replace LifeHub's own; they do nothing
}

// expected is an expected call of a tool.
type expected struct {
	Tool string
	Args map[string][]any  // allowed values of an argument; "" if it may be missing
	Has  map[string]string // words that an argument must contain
}

type standIn struct {
	Name, Description string
	Schema            map[string]any
}

// models tries models of the user's servers, named as in the settings, with 40 tasks on the sample notes.
// A task is a real turn, in which what asks is refused; only model servers, context and think of the
// user's settings apply.
func models(ctx context.Context, dir string, names []string) error {
	if len(names) == 0 {
		return errors.New("name the models to try, as `lifehub models list` does")
	}
	raw, err := os.ReadFile("testdata/tasks.yaml")
	if err != nil {
		return err
	}
	var suite struct {
		Notes map[string]string // added to the sample notes
		Tasks []trial
	}
	if err := yaml.UnmarshalWithOptions(raw, &suite, yaml.Strict()); err != nil {
		return fmt.Errorf("read the tasks: %w", err)
	}
	notes := filepath.Join(dir, "notes")
	if err := os.CopyFS(notes, os.DirFS(filepath.Join(root, "examples", "notes"))); err != nil {
		return err
	}
	for name, text := range suite.Notes {
		if err := writeFile(filepath.Join(notes, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	a, err := openForModels(ctx, notes, dir)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.Ready(ctx, "", &app.Bar{}); err != nil {
		return err
	}
	results := map[string]map[string]outcome{} // model → task
	for _, name := range names {
		if err := a.Models.SetModel(ctx, name); err != nil {
			return err
		}
		results[name] = map[string]outcome{}
		for i, t := range suite.Tasks {
			o, err := try(ctx, a, t)
			if err != nil {
				return fmt.Errorf("try %s: %w", name, err)
			}
			results[name][t.Name] = o
			fmt.Fprintf(os.Stderr, "%s  %2d of %d  %s\n", name, i+1, len(suite.Tasks), o.line(t))
		}
	}
	for _, role := range []string{plans, answers, loops, teams} {
		tasks := slices.DeleteFunc(slices.Clone(suite.Tasks), func(t trial) bool { return t.Role != role })
		columns := slices.DeleteFunc(slices.Clone(checks), func(check string) bool {
			return !slices.ContainsFunc(tasks, func(t trial) bool {
				_,
					checked := results[names[0]][t.Name].checks[check]
				return checked
			})
		})
		printHead(slices.Concat([]string{role, "right"}, columns, []string{"tokens", "seconds"})...)
		for _, name := range names {
			printResults(name, tasks, columns, results[name])
		}
	}
	return nil
}

// openForModels opens LifeHub on a folder of notes, with the user's model servers, default settings and
// nothing else of the user's.
func openForModels(ctx context.Context, notes, dir string) (*app.App, error) {
	a, err := app.Configured(&app.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environment: app.System{}},
		app.RunFlags{})
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
	a.Paths = settings.Paths{
		Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data"),
		State: filepath.Join(dir, "state"),
	}
	if err := a.Assemble(ctx, app.RunFlags{Notes: []string{notes}, NoSave: true, Alone: true}, nil); err != nil {
		return nil, err
	}
	a.NotesUse.Use(app.NotesOnly) // keep tasks off the web
	return a, nil
}

// outcome is the result of a task.
type outcome struct {
	checks  map[string]bool
	tokens  int // of prompts and answers
	seconds float64
	fault   string // why there is no complete answer; then no check passes
}

// line formats the outcome in one line.
func (o outcome) line(t trial) string {
	mark, missed := "✗", []string{}
	if isRight(o.checks) {
		mark = "✓"
	}
	for _, name := range checks {
		if passed, checked := o.checks[name]; checked && !passed {
			missed = append(missed, name)
		}
	}
	return fmt.Sprintf("%s %s: %s  %.1f s  %s", mark, t.Role, t.Name, o.seconds,
		cmp.Or(o.fault, strings.Join(missed, ", ")))
}

// printResults prints the row of a model in a role: the tasks that it did right, those that passed each
// check, and the medians of tokens and seconds.
func printResults(model string, tasks []trial, columns []string, results map[string]outcome) {
	right, passed, of := 0, map[string]int{}, map[string]int{}
	var tokens []int
	var seconds []float64
	for _, t := range tasks {
		o := results[t.Name]
		if isRight(o.checks) {
			right++
		}
		for name, ok := range o.checks {
			if of[name]++; ok {
				passed[name]++
			}
		}
		tokens, seconds = append(tokens, o.tokens), append(seconds, o.seconds)
	}
	slices.Sort(tokens)
	slices.Sort(seconds)
	cells := []any{model, fmt.Sprintf("%d/%d", right, len(tasks))}
	for _, name := range columns {
		cells = append(cells, fmt.Sprintf("%d/%d", passed[name], of[name]))
	}
	printRow(append(cells, tokens[len(tasks)/2], fmt.Sprintf("%.1f", seconds[len(tasks)/2]))...)
}

// longest is the longest time of a task.
const longest = 10 * time.Minute

// try runs one task with the current model.
func try(ctx context.Context, a *app.App, t trial) (outcome, error) {
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	conversation := a.Store.NewConversation()
	if len(t.Before) == 2 {
		id, err := a.Store.Begin(ctx, conversation, t.Before[0])
		if err == nil {
			err = a.Store.Finish(ctx, id, agent.Answer{Text: t.Before[1]})
		}
		if err != nil {
			return outcome{}, fmt.Errorf("set up the task %s: %w", t.Name, err)
		}
	}
	recorded := &hearing{Model: a.Provider}
	began := time.Now()
	watched := watch(a, asking(a, t, recorded).Ask(limited, conversation, t.Ask), t, recorded)
	o := outcome{seconds: time.Since(began).Seconds(), tokens: watched.metrics.PromptTokens + watched.metrics.AnswerTokens}
	switch failed := watched.failed; {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case limited.Err() != nil:
		o.fault = fmt.Sprintf("no answer within %v", longest)
	case failed != nil && errors.Is(failed.Err, llm.ErrUnreachable):
		return o, failed.Err
	case failed != nil:
		o.fault = failed.Message
	case watched.unable:
		o.fault = "it cannot call tools"
	// the turn fell back to a search
	case watched.fallback && recorded.failure() != nil && !errors.Is(recorded.failure(), llm.ErrCut):
		o.fault = recorded.failure().Error()
	}
	o.checks = t.judge(watched)
	if o.fault != "" {
		for name := range o.checks {
			o.checks[name] = false
		}
	}
	return o, nil
}

// asking returns an agent for a task. The parts of a turn that the task does not test give scripted
// replies.
func asking(a *app.App, t trial, model llm.Model) *turn.Agent {
	o := a.Agent().Options
	o.Model = model
	if len(t.Tools) > 0 {
		o.Tools = agenttest.Tools(t.standIns()...)
	}
	mode := agent.PlanMode
	switch t.Role {
	case plans:
		o.Roles = map[string]prompt.Role{"explainer": played("The plan was run.")}
	case answers:
		o.Roles = map[string]prompt.Role{"planner": played(t.plan()...)}
	case loops:
		mode = agent.AutoMode
	case teams:
		mode = agent.TeamMode
	}
	o.Session = agenttest.Session{In: mode}
	return turn.New(o)
}

// plan returns the scripted replies of the planner for an answer task: the calls of the task or
// else a search and, when asked again, no further steps.
func (t trial) plan() []string {
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

// given returns the call with the first allowed value of each argument.
func (c expected) given() map[string]any {
	input := map[string]any{}
	for name, list := range c.Args {
		if len(list) > 0 && list[0] != "" {
			input[name] = list[0]
		}
	}
	for name, words := range c.Has {
		if _, given := input[name]; !given {
			input[name] = words
		}
	}
	return input
}

// standIns returns the tools of a task. They do nothing and report success.
func (t trial) standIns() (list []agent.Tool) {
	for _, o := range t.Tools {
		schema, err := json.Marshal(o.Schema)
		if err != nil || o.Schema == nil {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		spec := llm.ToolSpec{Name: o.Name, Description: o.Description, Schema: schema}
		list = append(list, agent.NewTool(spec, agent.Auto, func(context.Context,
			map[string]any,
		) (agent.Result, error) {
			return agent.Result{Text: o.Name + " was called, and worked."}, nil
		}))
	}
	return list
}

// watch reads the events of a turn to the end and refuses every permission.
func watch(a *app.App, events <-chan agent.Event, t trial, recorded *hearing) (w seen) {
	round, own := 0, a.Offered()
	// A call matters if its tool is one of the task, or has an effect.
	matters := func(name string) bool {
		return len(t.Tools) > 0 || !slices.ContainsFunc(own,
			func(o agent.Tool) bool { return o.Spec().Name == name && agent.HasNoEffect(o) })
	}
	for event := range events {
		switch body := event.Body.(type) {
		case agent.PhaseStarted:
			w.unable = w.unable || t.Role == loops && body.Agent == "planner"
		case agent.PlanMade:
			if round++; round == 1 {
				w.replies, w.fallback = recorded.all(), body.Fallback
			}
			for _, s := range body.Steps {
				if !s.Extra && !body.Fallback && s.Tool != agent.DelegateTool {
					w.steps = append(w.steps, step{s, round, matters(s.Tool)})
				}
			}
		case agent.ToolStarted:
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
	}
	if round == 0 {
		w.replies = recorded.all()
	}
	return w
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
	return prompt.Role{Model: &player{replies}, Server: &agenttest.Server{}}
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
