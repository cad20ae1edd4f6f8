package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/settings"
	"lifehub/internal/chattest"
)

// patience bounds waits on a busy machine.
const patience = time.Minute

// silentStore has no saved turns.
type silentStore struct{ chattest.Kept }

func (silentStore) Latest(context.Context, string, int) ([]agent.Exchange, error) { return nil, nil }

// page is a browser that was let in, or another program.
type page struct {
	t           *testing.T
	client      http.Client // with connections of its own, for another test may get the same port
	link, base  string
	cookie, key string
}

// serving starts a server in a home of its own.
func serving(t *testing.T) (*Server, *page) {
	t.Helper()
	options := chat.Options{Conversations: silentStore{}}
	s := &Server{Hub: NewHub("c1"), Options: options, Paths: settings.Paths{State: t.TempDir()}}
	link, err := s.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	p := pageOf(t, link)
	p.enter(link)
	return s, p
}

func pageOf(t *testing.T, link string) *page {
	base, _, _ := strings.Cut(link, "/#")
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &page{t: t, client: http.Client{Transport: transport}, link: link, base: base}
}

// enter exchanges the token of a link.
func (p *page) enter(link string) {
	p.t.Helper()
	_, token, _ := strings.Cut(link, "#")
	answer := p.send("POST", "/api/session", `{"token":"`+token+`"}`, nil)
	defer answer.Body.Close()
	var given struct{ Key string }
	err := json.NewDecoder(answer.Body).Decode(&given)
	if err != nil || answer.StatusCode != 200 || len(answer.Cookies()) != 1 {
		p.t.Fatalf("%v: the exchange returned %s %v", err, answer.Status, answer.Header)
	}
	c := answer.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		p.t.Errorf("the cookie is %s", c)
	}
	p.cookie, p.key = c.Name+"="+c.Value, given.Key
}

// send sends a request as the page does, apart from what change changes.
func (p *page) send(method, path, body string, change func(*http.Request)) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Origin", p.base)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Cookie", p.cookie)
	r.Header.Set(keyHeader, p.key)
	if change != nil {
		change(r)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer
}

// post sends a body and returns the status.
func (p *page) post(path, body string) int {
	p.t.Helper()
	answer := p.send("POST", path, body, nil)
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// event is an event of a stream.
type event struct {
	id   string
	Type string `json:"type"`
	Seq  int    `json:"seq"`
	Show shown  `json:"shown"`
}

// reader reads a stream event by event.
type reader struct {
	answer *http.Response
	lines  *bufio.Reader
}

// watch opens the stream of a turn. from is a query, or the ID of the last event.
func (p *page) watch(turn, from string) *reader {
	p.t.Helper()
	query, last := "", from
	if strings.HasPrefix(from, "?") {
		query, last = from, ""
	}
	answer := p.send("GET", "/api/turns/"+turn+"/events"+query, "", func(r *http.Request) {
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
	})
	if answer.StatusCode != 200 {
		p.t.Fatalf("the stream is %s", answer.Status)
	}
	return &reader{answer, bufio.NewReader(answer.Body)}
}

// next returns the next event; false at the end of the turn.
func (r *reader) next() (e event, more bool) {
	for {
		line, err := r.lines.ReadString('\n')
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); {
		case err != nil || name == "event" && value == "over":
			return e, false
		case name == "id":
			e.id = value
		case name == "data":
			if json.Unmarshal([]byte(value), &e) != nil {
				return e, false
			}
			return e, true
		}
	}
}

// rest returns the numbers of the events up to the end of the turn.
func (r *reader) rest() (numbers []int) {
	for e, more := r.next(); more; e, more = r.next() {
		numbers = append(numbers, e.Seq)
	}
	r.answer.Body.Close()
	return numbers
}

// told plays a turn into a hub, event by event.
type told struct {
	events chan agent.Event
	screen <-chan agent.Event
	seq    int
}

func tell(s *Server) *told {
	events := make(chan agent.Event)
	return &told{events: events, screen: s.Hub.Follow("c1", events)}
}

// tell sends an event through the hub and returns it as the screen gets it.
func (p *told) tell(body agent.Body) agent.Event {
	p.seq++
	p.events <- agent.Event{Type: agent.TypeOf(body), Turn: "c1.1", Seq: p.seq, Body: body}
	return <-p.screen
}

func (p *told) end() {
	close(p.events)
	for range p.screen { // until the hub has seen it
	}
}

func counting(from, to int) (list []int) {
	for i := from; i <= to; i++ {
		list = append(list, i)
	}
	return list
}

// One reader is there from the start, one comes late and one leaves; none of them slows the turn.
func TestThreeReadersOfATurn(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	turn := tell(s)
	turn.tell(agent.Started{Conversation: "c1", Message: "how often do I run?"})
	first, gone := p.watch("c1.1", ""), p.watch("c1.1", "")
	if e, more := gone.next(); !more || e.Show.Question != "how often do I run?" || e.Type != "start" {
		t.Errorf("the first event is %+v", e)
	}
	gone.answer.Body.Close()
	turn.tell(agent.Said{Content: "You run "})
	late := p.watch("c1.1", "")
	two, _ := late.next()
	for range 500 {
		turn.tell(agent.Said{Content: "three "})
	}
	turn.tell(agent.Said{Takes: 6})
	from := p.watch("c1.1", "?from=500")
	again := p.watch("c1.1", two.id)
	turn.tell(agent.Ended{Metrics: agent.Metrics{}})
	turn.end()
	after := p.watch("c1.1", "")
	for name, got := range map[string]struct {
		numbers []int
		from    int
	}{
		"from the start": {first.rest(), 1}, "late": {late.rest(), 2}, "from 500": {from.rest(), 500},
		"again": {again.rest(), 2}, "after the end": {after.rest(), 1},
	} {
		if want := counting(got.from, 504); !slices.Equal(got.numbers, want) {
			t.Errorf("%s: got %d events, want %d from %d", name, len(got.numbers), len(want), got.from)
		}
	}
}

// A reader gets the same JSON as a program does that reads `ask --stream-json`, and what is shown of it besides.
func TestReadersGetTheEventsThemselves(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	turn := tell(s)
	var want []string
	for i, body := range chattest.Story(chattest.Planning, chattest.Searched, chattest.Answered) {
		e := agent.Event{Type: agent.TypeOf(body), Turn: "c1.1", Seq: i + 1, Body: body}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(text))
		turn.tell(body)
	}
	turn.end()
	answer := p.send("GET", "/api/turns/c1.1/events", "", nil)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var shownAnswer, shownSources string
	n := 0
	for line := range strings.Lines(string(text)) {
		record, ok := strings.CutPrefix(line, "data: ")
		if !ok || n == len(want) {
			continue
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(record), &got); err != nil {
			t.Fatal(err)
		}
		var show shown
		if got["shown"] != nil && json.Unmarshal(got["shown"], &show) != nil {
			t.Errorf("shown is %s", got["shown"])
		}
		if show.Answer != nil {
			shownAnswer, shownSources = *show.Answer, strings.Join(show.Sources, "|")
		}
		delete(got, "shown")
		a, _ := json.Marshal(got)
		var sorted map[string]json.RawMessage
		_ = json.Unmarshal([]byte(want[n]), &sorted)
		if b, _ := json.Marshal(sorted); !bytes.Equal(a, b) {
			t.Errorf("event %d is %s, want %s", n+1, a, b)
		}
		n++
	}
	const begins = "You run **three times a week** [1]"
	if n != len(want) || !strings.HasPrefix(shownAnswer, begins) || !strings.Contains(shownSources, "fitness.md:12 ✓") {
		t.Errorf("%d of %d events; the answer is %q, its sources %q", n, len(want), shownAnswer, shownSources)
	}
}

// asks tells of a permission request. It returns the one for the screen, and counts the replies that reach the gate.
func asks(turn *told, asked agent.PermissionAsked) (agent.PermissionAsked, *atomic.Int32) {
	var replies atomic.Int32
	asked.Reply = func(agent.Reply) { replies.Add(1) }
	return turn.tell(asked).Body.(agent.PermissionAsked), &replies
}

func body(decision, hash string) string {
	return fmt.Sprintf(`{"id":"p","hash":%q,"decision":%q}`, hash, decision)
}

// The terminal's dialog and two pages answer at the same time: one answer reaches the gate.
func TestOneAnswerOfPagesAndTerminalCounts(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	for range 20 {
		turn := tell(s)
		turn.tell(agent.Started{})
		dialog, replies := asks(turn, chattest.TaskAsked)
		var all sync.WaitGroup
		var taken atomic.Int32
		for range 2 {
			all.Go(func() {
				if p.post("/api/turns/c1.1/resume", body("once", chattest.TaskAsked.Hash)) == http.StatusNoContent {
					taken.Add(1)
				}
			})
		}
		all.Go(func() { dialog.Reply(agent.Reply{Decision: agent.AllowOnce}) })
		all.Wait()
		if replies.Load() != 1 || taken.Load() > 1 {
			t.Fatalf("%d answers reached the gate, %d pages were told so", replies.Load(), taken.Load())
		}
		if status := p.post("/api/turns/c1.1/resume", body("once",
			chattest.TaskAsked.Hash)); status != http.StatusConflict {
			t.Errorf("another answer: %d", status)
		}
		turn.tell(agent.PermissionGiven{Call: "p", Decision: agent.AllowOnce})
		turn.end()
	}
}

// What a page did not show cannot be allowed by it, nor what it was not offered.
func TestOnlyWhatWasShownAndOfferedIsAnswered(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	turn := tell(s)
	turn.tell(agent.Started{})
	_, replies := asks(turn, chattest.TaskAsked)
	hash := chattest.TaskAsked.Hash
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"a rule for good", body("always", hash), 422},
		{"other arguments", `{"id":"p","hash":"` + hash + `","decision":"edited"}`, 422},
		{"a decision of the program", body("auto", hash), 422},
		{"none", body("", hash), 422},
		{"what was shown before the arguments were edited", body("once", "0000"), 409},
		{"another call", strings.Replace(body("once", hash), `"p"`, `"q"`, 1), 409},
		{"an unknown field", `{"id":"p","input":"{}"}`, 400},
		{"two values", body("once", hash) + "x", 204}, // the first is the request
	} {
		if got := p.post("/api/turns/c1.1/resume", c.body); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if c.want != 204 && replies.Load() != 0 {
			t.Fatalf("%s was an answer", c.name)
		}
	}
	turn.end()
	if got := p.post("/api/turns/c1.1/resume", body("no", hash)); got != http.StatusConflict {
		t.Errorf("after the turn: %d", got)
	}
	ask := askPermission(chattest.TaskAsked)
	var lines []string
	for _, l := range ask.Lines {
		lines = append(lines, l.Mark+" "+l.Text)
	}
	got := strings.Join(lines, "|")
	if !strings.Contains(got, "added + - [ ] Buy milk") || !strings.HasPrefix(got, "sentence Add 1 line to tasks.md") {
		t.Errorf("it shows %s", got)
	}
}

// A form's values are checked; a model server of somebody else is agreed to in the terminal only, since that is saved.
func TestQuestionsForInput(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	turn := tell(s)
	turn.tell(agent.Started{})
	given := make(chan agent.Input, 4)
	input := func(kind agent.InputKind, schema string) {
		turn.tell(agent.InputAsked{ID: "i", Question: agent.Question{
			From: "files", Kind: kind, Message: "a \u202eb", Schema: json.RawMessage(schema),
			Check: func(v json.RawMessage) error {
				if strings.Contains(string(v), "wrong") {
					return fmt.Errorf("it does not fit")
				}
				return nil
			},
		}, Reply: func(i agent.Input) { given <- i }})
	}
	answer := func(decision, values string) int {
		return p.post("/api/turns/c1.1/resume", `{"id":"i","decision":"`+decision+`","values":`+values+`}`)
	}
	const schema = `{"type":"object","properties":{"name":{"type":"string"},"sure":{"type":"boolean"}}}`
	input(agent.FormInput, schema)
	if got := answer("accept", `["wrong","yes"]`); got != 422 {
		t.Errorf("values that do not fit: %d", got)
	}
	if got := answer("accept", `["Ana","maybe"]`); got != 422 {
		t.Errorf("a value that is no option: %d", got)
	}
	if got := answer("accept", `["Ana","yes"]`); got != 204 {
		t.Errorf("a form: %d", got)
	}
	if i := <-given; i.Action != agent.InputAccepted || string(i.Values) != `{"name":"Ana","sure":true}` {
		t.Errorf("it was given %s %s", i.Action, i.Values)
	}
	input(agent.ServerInput, "")
	if got := answer("accept", `[]`); got != 422 {
		t.Errorf("a server for good: %d", got)
	}
	if got := answer("no", `[]`); got != 204 || (<-given).Action != agent.InputDeclined {
		t.Errorf("declined: %d", got)
	}
	turn.end()
	ask := askInput(agent.InputAsked{Question: agent.Question{Message: "a \u202eb"}})
	if !strings.Contains(ask.Lines[0].Text, "⟨U+202E⟩") {
		t.Errorf("hidden: %+v", ask.Lines)
	}
}

// The oldest events are dropped, and a reader of all gets the rest.
func TestLongTurnIsBounded(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	turn := tell(s)
	turn.tell(agent.Started{})
	output := strings.Repeat("x", 1<<20)
	for range 20 {
		turn.tell(agent.ToolEnded{Output: output})
	}
	turn.end()
	got := p.watch("c1.1", "").rest()
	if len(got) > 4 || len(got) < 2 || got[len(got)-1] != 21 {
		t.Errorf("kept are %v", got)
	}
	if kept := s.Hub.find("c1.1").size; kept > maxKept {
		t.Errorf("%d bytes are kept", kept)
	}
}

// A turn that is resumed has numbers from 1 again, so what was seen of it before does not count.
func TestResumedTurnIsReadFromItsStart(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	last := ""
	for _, n := range []int{7, 3} {
		turn := tell(s)
		for range n {
			turn.tell(agent.Said{Content: "x"})
		}
		turn.end()
		r := p.watch("c1.1", last)
		for i := range n {
			e, more := r.next()
			if !more || e.Seq != i+1 {
				t.Fatalf("event %d of %d is %+v", i+1, n, e)
			}
			last = e.id
		}
		r.answer.Body.Close()
	}
}

// Messages reach the screen as if they were typed there; what was pasted is an attachment, a command is refused.
func TestMessagesReachTheScreen(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	pasted := agent.Message{Text: "see", Attached: []agent.Attachment{{Name: "paste 1", Text: "a\nb"}}}.String()
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"text":" how often do I run? "}`, "how often do I run?", 202},
		{`{"text":"two\nlines"}`, "two\nlines", 202},
		{`{"text":"see","pasted":["a\nb"]}`, pasted, 202},
		{`{"text":"a\u001b[2Jb"}`, "ab", 202},
		{`{"text":"/quit"}`, "", 422},
		{`{"text":"!rm"}`, "", 422},
		{`{"text":"  "}`, "", 422},
	} {
		if got := p.post("/api/chat", c.body); got != c.status {
			t.Errorf("%s: %d, want %d", c.body, got, c.status)
		}
		select {
		case sent := <-s.Hub.Sent():
			if sent.Message != c.want {
				t.Errorf("%s: sent is %q", c.body, sent.Message)
			}
		default:
			if c.status == 202 {
				t.Errorf("%s: nothing was sent", c.body)
			}
		}
	}
	if o := agent.MessageOrigin(pasted); !o.IsOutside() {
		t.Error("a paste counts as typed")
	}
	for range maxSent {
		p.post("/api/turns/x/stop", `{}`)
	}
	if got := p.post("/api/chat", `{"text":"one too many"}`); got != 503 {
		t.Errorf("one too many: %d", got)
	}
}

// The page learns of a turn that begins and ends elsewhere.
func TestConversationIsAwaited(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	get := func(seen string) (state struct {
		Version int
		Running string
	},
	) {
		answer := p.send("GET", "/api/conversation?seen="+seen, "", nil)
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
			t.Error(err)
		}
		return state
	}
	if state := get("-1"); state.Version != 0 || state.Running != "" {
		t.Errorf("at first: %+v", state)
	}
	began := make(chan string)
	go func() { began <- get("0").Running }()
	turn := tell(s)
	turn.tell(agent.Started{})
	select {
	case running := <-began:
		if running != "c1.1" {
			t.Errorf("running is %q", running)
		}
	case <-time.After(patience):
		t.Error("nothing is heard of the turn")
	}
	turn.end()
	if state := get("1"); state.Version != 2 || state.Running != "" {
		t.Errorf("at the end: %+v", state)
	}
}
