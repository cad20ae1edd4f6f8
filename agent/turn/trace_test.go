package turn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/agenttest"
)

// traceOf is a trace in memory.
type traceOf struct {
	bytes.Buffer
	closed bool
}

func (t *traceOf) Close() error { t.closed = true; return nil }

func (t *traceOf) events(tt *testing.T) []agent.Event {
	tt.Helper()
	var list []agent.Event
	for line := range strings.Lines(t.String()) {
		var e agent.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			tt.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func TestTraceHasTheEventsAndPrompts(t *testing.T) {
	var kept traceOf
	a := New(Options{
		Model: &script{lines: []line{say(twoSteps), say("You run three times a week [1].")}}, History: &shelf{},
		Tools: tools(search(), web()), Now: fixedNow,
		Server: &agenttest.Server{Name: "qwen3:8b"},
		Trace:  tracing(func() io.WriteCloser { return &kept }),
	})
	sent := collect(a.Ask(t.Context(), "c1", question), always(agent.AllowOnce))
	if !kept.closed {
		t.Error("the trace was not closed")
	}
	prompts := bodies[agent.Prompted](kept.events(t))
	if len(prompts) != 2 || prompts[0].Agent != "planner" || prompts[0].Schema == nil ||
		prompts[1].Agent != "explainer" || prompts[1].Model != "qwen3:8b" {
		t.Errorf("got prompts %+v", prompts)
	}
	for _, p := range prompts {
		if last := p.Messages[len(p.Messages)-1]; !strings.Contains(last.Text, question) {
			t.Errorf("the %s's last message is %q", p.Agent, last.Text)
		}
	}
	read := slices.DeleteFunc(kept.events(t), func(e agent.Event) bool { return e.Type == "prompt" })
	if got, want := story(t, read), story(t, sent); got != want {
		t.Errorf("the trace tells\n%s\nthe events were\n%s", got, want)
	}
	if end := sent[len(sent)-1].Body.(agent.Ended); end.Model != "qwen3:8b" {
		t.Errorf("the figures name the model %q", end.Model)
	}
}

// Consecutive pieces of text are joined into one event of the trace; none is lost or
// attributed to another.
func TestPiecesOfTextAreJoinedInATrace(t *testing.T) {
	var kept traceOf
	at := fixedNow()
	sent := make(chan agent.Event, 9)
	stream := agent.NewStream(sent, func() time.Time { return at })
	stream.Turn, stream.Trace = "c.1", tracing(func() io.WriteCloser { return &kept })
	for _, e := range []struct {
		after time.Duration
		body  agent.Body
	}{
		{0, agent.Said{Content: "a"}},
		{100, agent.Said{Content: "b"}},
		{149, agent.Said{Content: "c"}},
		{1, agent.Said{Content: "d"}},
		{0, agent.Thought{Content: "e"}},
		{0, agent.Thought{Content: "f"}},
		{0, agent.Thought{Agent: "worker", Content: "g"}},
		{0, agent.Noticed{Text: "n"}},
		{0, agent.Said{Content: "h"}},
	} {
		at = at.Add(e.after * time.Millisecond)
		stream.Emit(e.body)
	}
	stream.EndTrace()
	var got []string
	for _, e := range kept.events(t) {
		got = append(got, fmt.Sprint(e.Body))
	}
	if want := "{abc 0} {d 0} {  ef} {worker  g} {n <nil>} {h 0}"; strings.Join(got, " ") != want || !kept.closed {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

func TestUnsavedMessageHasNoTrace(t *testing.T) {
	a := New(Options{Model: &script{}, History: &shelf{}, Trace: tracing(func() io.WriteCloser { t.Error("a trace was begun"); return &traceOf{} })})
	collect(a.Ask(t.Context(), "c1", " "), nil)
}

func TestEveryKindOfEventIsReadBack(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, kind := range agent.Kinds {
		named[reflect.TypeOf(kind).Name()] = true
		want := agent.Event{Type: agent.TypeOf(kind), Turn: "c.1", Seq: 3, Time: fixedNow(), Body: kind}
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got agent.Event
		if err := json.Unmarshal(line, &got); err != nil || reflect.TypeOf(got.Body) != reflect.TypeOf(kind) ||
			got.Turn != want.Turn || got.Seq != 3 {
			t.Errorf("%s: got %+v, %v", line, got, err)
		}
	}
	for _, file := range files {
		tree, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "name" && f.Recv != nil {
				if kind := f.Recv.List[0].Type.(*ast.Ident).Name; !named[kind] {
					t.Errorf("%s is an event that is not among the kinds", kind)
				}
			}
		}
	}
	for _, line := range []string{`{"type":"nonsense"}`, `{"type":"token","content":5}`, `[]`, ``} {
		if err := json.Unmarshal([]byte(line), &agent.Event{}); err == nil {
			t.Errorf("%q is read as an event", line)
		}
	}
}

func TestFiguresCountFailuresRefusalsAndQuestions(t *testing.T) {
	broken, asks := search(), &fakeTool{name: "add_task", level: agent.Confirm}
	broken.err = io.ErrUnexpectedEOF
	a := New(Options{
		Model: &script{lines: []line{planOf("1 search_notes", "2 add_task"), say("Done.")}}, History: &shelf{},
		Tools: tools(broken, asks),
	})
	m := ended(t, collect(a.Ask(t.Context(), "c1", errand), always(agent.Refuse))).Metrics
	if m.ToolCalls != 1 || m.ToolsFailed != 1 || m.ToolsDenied != 1 || m.Asked != 1 || m.Generating != 3000 {
		t.Errorf("got %+v", m)
	}
}

func FuzzEventsAreReadAsTheyWereWritten(f *testing.F) {
	for _, kind := range agent.Kinds {
		line, err := json.Marshal(agent.Event{
			Type: agent.TypeOf(kind), Turn: "c.1", Seq: 3,
			Time: fixedNow(), Body: kind,
		})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"type":"plan","steps":[{"id":"1","tool":"x","input":{"a":"b"}}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var first, again agent.Event
		if json.Unmarshal(line, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			return // a time or number that JSON cannot represent
		}
		if err := json.Unmarshal(written, &again); err != nil || again.Type != first.Type ||
			reflect.TypeOf(again.Body) != reflect.TypeOf(first.Body) {
			t.Errorf("%s was written as %s and is read as %+v, %v", line, written, again, err)
		}
	})
}
