package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lifehub/agent/gate"

	"lifehub/agent"
	"lifehub/llm"
)

// line is one reply of the scripted model.
type line struct {
	text     string
	thinking string
	calls    []llm.ToolCall // after the text
	err      error          // after the text
	stopped  llm.StopReason // "": stop
	deaf     time.Duration  // ignores ctx for this long, after the text
	hangs    bool           // waits for ctx to be cancelled, after the text
	late     time.Duration  // delay before the text
	waiting  string         // reason for the delay, if the server reports one
	reading  *llm.Reading   // before the delay
}

func say(text string) line { return line{text: text} }

// script is a model that gives its lines in order, one per request, word by word.
type script struct {
	lines   []line
	replans []line // for replanning requests; if none is left, it gives up

	mu        sync.Mutex
	given     int // lines given so far
	replanned int // replans given so far
	requests  []llm.Request
}

// next returns the line for a request.
func (s *script) next(req llm.Request) (line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if req.Task != nil && req.Task.Kind == llm.PlanTask && req.Task.Replan {
		if s.replanned++; s.replanned <= len(s.replans) {
			return s.replans[s.replanned-1], nil
		}
		return say(`{"steps":[]}`), nil
	}
	if s.given++; s.given > len(s.lines) {
		return line{}, fmt.Errorf("the script has no line %d", s.given)
	}
	return s.lines[s.given-1], nil
}

func (s *script) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	l, err := s.next(req)
	return func(yield func(llm.Delta, error) bool) {
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if l.waiting != "" && !yield(llm.Delta{Waiting: l.waiting}, nil) {
			return
		}
		if l.reading != nil && !yield(llm.Delta{Reading: l.reading}, nil) {
			return
		}
		time.Sleep(l.late)
		if l.thinking != "" && !yield(llm.Delta{Thinking: l.thinking}, nil) {
			return
		}
		for _, piece := range pieces(l.text) {
			if !yield(llm.Delta{Text: piece}, nil) {
				return
			}
		}
		for _, c := range l.calls {
			if !yield(llm.Delta{Call: &c}, nil) {
				return
			}
		}
		if l.hangs {
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
			return
		}
		if l.deaf > 0 {
			time.Sleep(l.deaf)
		}
		if l.err != nil {
			yield(llm.Delta{}, l.err)
			return
		}
		stopped := l.stopped
		if stopped == "" {
			stopped = llm.StopEnd
		}
		yield(llm.Delta{Usage: &llm.Usage{
			Prompt: 100, Answer: len(pieces(l.text)),
			Generating: time.Second, Stopped: stopped,
		}}, nil)
	}
}

var wordAndSpace = regexp.MustCompile(`\s*\S+|\s+$`)

// pieces splits a text after each word.
func pieces(text string) []string { return wordAndSpace.FindAllString(text, -1) }

// shelf is a History in memory.
type shelf struct {
	mu       sync.Mutex
	messages []llm.Message
	from     agent.Origin // of the messages
	begun    []string
	answers  []agent.Answer
	fail     error
}

func (s *shelf) Begin(_ context.Context, _, message string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = append(s.begun, message)
	if s.fail != nil {
		return "", s.fail
	}
	return fmt.Sprintf("t%d", len(s.begun)), nil
}

func (s *shelf) Window(_ context.Context, _ string, limit int) (w agent.Window, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Before = max(0, len(s.messages)-limit)
	for turn := range slices.Chunk(s.messages[w.Before:], 2) {
		w.Exchanges = append(w.Exchanges, agent.Exchange{
			Turn:     fmt.Sprintf("before%d", len(w.Exchanges)),
			Question: turn[0].Text, Answer: agent.Answer{Text: turn[1].Text}, Origin: s.from,
		})
	}
	return w, nil
}

func (*shelf) Exchanges(context.Context, string) ([]agent.Exchange, error) { return nil, nil }

func (s *shelf) Finish(ctx context.Context, _ string, answer agent.Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answer)
	return ctx.Err()
}

func (s *shelf) last() agent.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return agent.Answer{}
	}
	return s.answers[len(s.answers)-1]
}

// fixedNow is the clock of the stories.
func fixedNow() time.Time { return time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC) }

// saturday is another clock, at the end of a week.
func saturday() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

// collect reads a turn to its end, and answers each question with reply.
func collect(events <-chan agent.Event, reply func(agent.PermissionAsked) agent.Reply) []agent.Event {
	var all []agent.Event
	for e := range events {
		all = append(all, e)
		if asked, ok := e.Body.(agent.PermissionAsked); ok {
			asked.Reply(reply(asked))
		}
	}
	return all
}

func always(d agent.Decision) func(agent.PermissionAsked) agent.Reply {
	return func(agent.PermissionAsked) agent.Reply { return agent.Reply{Decision: d} }
}

// story formats a turn as JSON lines, without times, turn IDs and token counts of
// prompts. Pieces of text are joined, and the events of parallel steps are in the order
// of the plan.
func story(t *testing.T, events []agent.Event) string {
	t.Helper()
	var shown []agent.Event
	for _, e := range events {
		if len(shown) > 0 && join(&shown[len(shown)-1], e) {
			continue
		}
		shown = append(shown, e)
	}
	for from := 0; from < len(shown); from++ {
		to := from
		for to < len(shown) && stepOf(shown[to]) != "" {
			to++
		}
		slices.SortStableFunc(shown[from:to], func(a, b agent.Event) int {
			return strings.Compare(stepOf(a), stepOf(b))
		})
		from = to
	}
	var b strings.Builder
	for _, e := range shown {
		if counted, ok := e.Body.(agent.ContextCounted); ok {
			for kind := range counted.Parts {
				counted.Parts[kind] = 0
			}
			counted.Used = 0
			e.Body = counted
		}
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(unneeded.ReplaceAll(raw, nil))
		b.WriteByte('\n')
	}
	return b.String()
}

// join appends a piece of text to the one before it.
func join(last *agent.Event, e agent.Event) bool {
	switch piece := e.Body.(type) {
	case agent.Said:
		if before, ok := last.Body.(agent.Said); ok {
			last.Body = agent.Said{Content: before.Content + piece.Content}
			return true
		}
	case agent.Thought:
		if before, ok := last.Body.(agent.Thought); ok && before.Agent == piece.Agent && before.Step == piece.Step {
			piece.Content = before.Content + piece.Content
			last.Body = piece
			return true
		}
	}
	return false
}

// stepOf returns the step of an event; "" for others.
func stepOf(e agent.Event) string {
	switch body := e.Body.(type) {
	case agent.StepChanged:
		return body.Step
	case agent.ToolStarted:
		return body.Step
	case agent.ToolEnded:
		return body.Step
	case agent.PermissionAsked:
		return body.Step
	case agent.PermissionGiven:
		return body.Step
	}
	return ""
}

var unneeded = regexp.MustCompile(`,"turn":"[^"]*"|,"seq":\d+|,"time":"[^"]*"|,"date":"[^"]*"`)

// workers are kinds of workers for tests.
var workers = []Worker{
	{
		Name: "notes", Does: "the notes", Instructions: "You work with the user's notes.", BuiltIn: true, Rounds: 5,
		Tools: []string{"search_notes", "*_note", "*_notes", "*_task", "today", "calculate"},
	},
	{
		Name: "search", Does: "the web", Instructions: "You search the web.", Rounds: 5,
		Tools: []string{"*web_search*", "web_fetch", "*_search", "*_fetch"},
	},
	{
		Name: "crawl", Does: "one site", Instructions: "You go through pages of one site.", Rounds: 4,
		Tools: []string{"crawl", "web_fetch"},
	},
	{
		Name: "email", Does: "mail", Instructions: "You write mail.", Rounds: 4, Needs: "send_email",
		Tools: []string{"send_email", "read_note"},
	},
	{
		Name: "general", Does: "all else", Instructions: "You do what no other worker can do alone.", Rounds: 5,
		Writes: true, Without: "send_email",
	},
}

// fakeTool is a tool that always returns the same.
type fakeTool struct {
	name    string
	by      string // the program that provides it; "": LifeHub
	server  string // a trusted MCP server that it is of
	schema  string
	level   agent.Level
	result  agent.Result
	err     error
	takes   time.Duration
	deaf    bool // ignores ctx
	panics  bool
	preview agent.Preview
	bounds  []string
	reads   bool // read-only
	outward bool
	does    []agent.Effect

	mu   sync.Mutex
	runs []string // its inputs
}

func (f *fakeTool) Spec() llm.ToolSpec {
	schema := f.schema
	if schema == "" {
		schema = `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`
	}
	return llm.ToolSpec{Name: f.name, Description: "does " + f.name, Schema: json.RawMessage(schema), By: f.by}
}

func (f *fakeTool) Properties() agent.Properties {
	uses := map[string]agent.Use{
		"search_notes": agent.SearchesNotes, "read_note": agent.ReadsNote, "today": agent.Computes,
		"calculate": agent.Computes, agent.ReadSkill: agent.Describes,
	}
	return agent.Properties{
		Level: f.level, ReadOnly: f.reads, Outward: f.outward, Server: f.server, Trusted: f.server != "",
		Bounds: append([]string{}, f.bounds...), Use: uses[f.name],
	}
}

func (f *fakeTool) Preview(context.Context, json.RawMessage) (agent.Preview, error) {
	return f.preview, nil
}

func (f *fakeTool) Run(ctx context.Context, input json.RawMessage) (agent.Result, error) {
	f.mu.Lock()
	f.runs = append(f.runs, string(input))
	f.mu.Unlock()
	for _, e := range f.does {
		agent.HostFrom(ctx).Did(e)
	}
	if f.panics {
		panic("a fault in " + f.name)
	}
	if f.deaf {
		time.Sleep(f.takes)
	} else if f.takes > 0 {
		select {
		case <-time.After(f.takes):
		case <-ctx.Done():
			return agent.Result{}, ctx.Err()
		}
	}
	return f.result, f.err
}

func (f *fakeTool) ran() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.runs)
}

// contextWithCancel returns a context that ends with the test at the latest.
func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

// opener is a fake tool that opens an address.
type opener struct{ *fakeTool }

func (opener) Address(raw json.RawMessage) string {
	var args struct{ URL string }
	_ = json.Unmarshal(raw, &args)
	return args.URL
}

// beforeCall is a hook of a test.
type beforeCall func(context.Context, gate.Before) error

func (f beforeCall) BeforeCall(ctx context.Context, call gate.Before) error { return f(ctx, call) }

// saving saves rules for a test.
type saving func(gate.Rule) error

func (f saving) SaveRule(_ context.Context, rule gate.Rule) error { return f(rule) }

// tracing begins the traces of a test.
type tracing func() io.WriteCloser

func (f tracing) Begin(string) io.WriteCloser { return f() }

// being describes the model of a test.
type being Traits

func (b being) Traits() Traits { return Traits(b) }

// rereading reads sources again for a test; nil reads none.
type rereading func(agent.Source) (string, bool)

func (f rereading) Whole(context.Context, int64) ([]agent.Source, error) { return nil, nil }
func (f rereading) About(context.Context) []string                       { return []string{"25 notes"} }

func (f rereading) Reread(s agent.Source) (string, bool) {
	if f == nil {
		return "", false
	}
	return f(s)
}
