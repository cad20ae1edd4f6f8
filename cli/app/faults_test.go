package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/prompt"
	"lifehub/agent/turn"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/servers"
	"lifehub/store"
)

// patience bounds each wait for the program, so that a test fails rather than hangs. It is not a
// speed limit: the machine may be busy.
const patience = 90 * time.Second

// counter is a tool with an effect that only a complete plan may have.
type counter struct{ ran atomic.Int64 }

func (c *counter) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "count", Description: "counts",
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`),
	}
}
func (c *counter) Properties() agent.Properties { return agent.Properties{} }
func (c *counter) Run(context.Context, json.RawMessage) (agent.Result, error) {
	c.ran.Add(1)
	return agent.Result{Text: "counted"}, nil
}

const countPlan = `{"reasoning":"the answer is near","steps":[{"id":"1","tool":"count","input":{"query":"all"},` +
	`"description":"count them"}]}`

// faultRig is all of LifeHub below the screen, with a faulty server.
type faultRig struct {
	t       *testing.T
	server  *llmtest.Faults
	store   *store.Store
	agent   *turn.Agent
	counter *counter
	turns   int
}

func newFaultRig(t *testing.T, protocol string) *faultRig {
	t.Helper()
	server := llmtest.NewFaults(t)
	server.Play(countPlan, llmtest.FaultyAnswer)
	provider, err := servers.Open(llm.Settings{
		Provider: protocol, OllamaHost: server.URL,
		OpenAIURL: server.URL + "/v1", Model: llmtest.FaultModel,
	})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Open(filepath.Join(t.TempDir(), "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		provider.Close()
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &faultRig{t: t, server: server, store: kept, counter: &counter{}}
	limits := store.Limits{Turn: 1 << 20, Total: 1 << 24}
	r.agent = turn.New(turn.Options{
		Model: provider, Server: prompt.ServerOf(provider), History: kept, Journal: kept,
		Tools: agenttest.Tools(r.counter),
		Trace: tracing{kept, limits},
	})
	return r
}

// turned is the result of a turn.
type turned struct {
	said   string
	last   agent.Body
	kept   agent.Exchange
	runs   int64         // of the tool
	esc    time.Duration // from Esc to the end of the turn; 0 if it ended by itself
	took   time.Duration
	broken []string // what a user would call lost, hung or wrong
}

// ask runs one turn. Esc is pressed when request number escAt has arrived and the answer contains
// escSaid; 0 means never.
func (r *faultRig) ask(escAt int, escSaid string) turned {
	r.turns++
	conversation := fmt.Sprintf("c%d", r.turns)
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	select {
	case <-r.server.Arrived():
	default:
	}
	before, ran := len(r.server.Bodies()), r.counter.ran.Load()
	begun := time.Now()
	events := r.agent.Ask(ctx, conversation, "how many are there?")
	var result turned
	var escaped time.Time
	var text strings.Builder
	esc := func() {
		if escAt > 0 && escaped.IsZero() && len(r.server.Bodies())-before >= escAt &&
			strings.Contains(text.String(), escSaid) {
			escaped = time.Now()
			cancel()
		}
	}
	limit := patience
	if testenv.Race {
		limit *= 5 // an endless answer has tens of thousands of pieces
	}
	hung := time.After(limit)
	for open := true; open; {
		var e agent.Event
		select {
		case e, open = <-events:
		case <-r.server.Arrived():
		case <-hung:
			result.broken = append(result.broken, "it hangs")
			return result
		}
		if piece, ok := e.Body.(agent.Said); ok {
			text.WriteString(piece.Content)
		}
		if e.Body != nil {
			result.last = e.Body
		}
		esc()
	}
	result.took = time.Since(begun)
	if !escaped.IsZero() {
		result.esc = time.Since(escaped)
	}
	result.said, result.runs = text.String(), r.counter.ran.Load()-ran
	list, err := r.store.Exchanges(context.Background(), conversation)
	if err != nil || len(list) != 1 {
		result.broken = append(result.broken, fmt.Sprintf("%d turns were kept, %v", len(list), err))
		return result
	}
	result.kept = list[0]
	if result.kept.Answer.Text != result.said {
		result.broken = append(result.broken, fmt.Sprintf("kept is %q, said was %q",
			result.kept.Answer.Text, result.said))
	}
	if result.kept.Open {
		result.broken = append(result.broken, "the turn stayed open")
	}
	if strings.Contains(fmt.Sprintf("%+v %s", result.last, result.kept.Answer.Error), "inside LifeHub") {
		result.broken = append(result.broken, fmt.Sprintf("a panic: %+v", result.last))
	}
	return result
}

// The faults, by their effect on an answer.
var (
	harmless = []llmtest.Fault{llmtest.Busy, llmtest.OneByteAtATime, llmtest.BadUTF8}
	cutting  = []llmtest.Fault{
		llmtest.HangMiddle, llmtest.Reset, llmtest.CleanEnd, llmtest.HalfLine,
		llmtest.ErrorObject, llmtest.Circles,
	}
)

// faultCase is a fault in the plan or in the answer.
type faultCase struct {
	fault    llmtest.Fault
	protocol string
	plan     bool // the planner's request fails
}

// text returns what the server would send in the request that fails.
func (c faultCase) text() string {
	if c.plan {
		return countPlan
	}
	return llmtest.FaultyAnswer
}

// arrives returns the complete text after a number of bytes.
func (c faultCase) arrives(at int) string {
	end := "\n"
	if c.protocol == "openai" {
		end = "\n\n"
	}
	sent := llmtest.Answered(c.text(), c.protocol == "openai")[:at]
	whole := sent[:bytes.LastIndex(sent, []byte(end))+1]
	pieces := strings.SplitAfter(c.text(), " ")
	return strings.Join(pieces[:min(bytes.Count(whole, []byte(`"content":`)), len(pieces))], "")
}

// positions returns n places in the good answer, all before its end marker.
func (c faultCase) positions(n int) []int {
	whole := llmtest.Answered(c.text(), c.protocol == "openai")
	end := bytes.LastIndex(whole, []byte(`"finish_reason"`))
	if end < 0 {
		end = bytes.LastIndex(whole, []byte(`"done":true`))
	}
	list := make([]int, n)
	for i := range list {
		list[i] = 1 + i*(end-2)/n
	}
	return list
}

// run runs one turn with the fault, which it judges, and then one without.
func (c faultCase) run(r *faultRig, at int, esc bool) (first, again turned) {
	r.server.Strike("")
	if c.plan {
		r.server.Strike(llmtest.PlanMark)
	} else {
		r.server.Strike("counted") // the result of the tool
	}
	r.server.Set(c.fault, at)
	escAt, escSaid := 0, ""
	switch {
	case c.fault == llmtest.HangBefore, c.fault == llmtest.HangMiddle, esc && !slices.Contains(cutting, c.fault) &&
		c.fault != llmtest.Refuse:
		escAt = 2
		if c.plan {
			escAt = 1
		}
		if c.fault == llmtest.HangMiddle && !c.plan {
			escSaid = strings.TrimSpace(c.arrives(at)) // space waits for what comes next
		}
	}
	first = r.ask(escAt, escSaid)
	c.judge(&first, at, escAt > 0)

	r.server.Set(llmtest.None, 0)
	again = r.ask(0, "")
	if again.kept.Answer.Text != llmtest.FaultyAnswer || again.kept.Answer.Cut || again.runs != 1 {
		again.broken = append(again.broken, fmt.Sprintf("the next question: %q, %d runs, ended with %+v",
			again.said, again.runs, again.last))
	}
	return first, again
}

// judge checks the turn with the fault.
func (c faultCase) judge(got *turned, at int, esc bool) {
	wrong := func(format string, args ...any) { got.broken = append(got.broken, fmt.Sprintf(format, args...)) }
	marked := got.kept.Answer.Cut || got.kept.Answer.Error != ""
	switch {
	case c.plan && slices.Contains(harmless, c.fault), !c.plan:
		if want := int64(1); got.runs != want && !(esc && c.plan && got.runs == 0) {
			wrong("the tool ran %d times, want once", got.runs)
		}
	default:
		if got.runs != 0 {
			wrong("the tool of a cut plan ran %d times", got.runs)
		}
	}
	if c.plan || esc && c.fault != llmtest.HangMiddle {
		return
	}
	switch {
	case slices.Contains(harmless, c.fault):
		if marked {
			wrong("a whole answer is marked as cut")
		}
	case !marked:
		wrong("an answer that was cut is not marked: %+v", got.last)
	case got.kept.Answer.Error != "" && !strings.HasSuffix(got.said, "counted"):
		wrong("what the tool returned is not quoted: %q", got.said)
	}
	exact := slices.Contains(cutting, c.fault) && c.fault != llmtest.Reset // a reset discards what was not read yet
	if exact && !strings.HasPrefix(got.said, strings.TrimSpace(c.arrives(at))) {
		wrong("after %d bytes %q arrived, kept is %q", at, c.arrives(at), got.said)
	}
}

// tally sums up the results of the cases.
type tally struct {
	sync.Mutex
	turns, broken int
	esc, usable   []time.Duration
}

func (y *tally) add(first, again turned) {
	y.Lock()
	defer y.Unlock()
	y.turns += 2
	y.broken += len(first.broken) + len(again.broken)
	if first.esc > 0 {
		y.esc = append(y.esc, first.esc)
	}
	y.usable = append(y.usable, again.took)
}

// percentile uses the nearest rank.
func percentile(list []time.Duration, p int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)*p+99)/100-1].Round(100 * time.Microsecond)
}

func TestFaultyServerLosesNoTextAndRunsNothing(t *testing.T) {
	t.Parallel()
	places := 2
	if os.Getenv("LIFEHUB_SOAK") != "" {
		places = 200
	}
	var sum tally
	t.Run("faults", func(t *testing.T) {
		for i, fault := range llmtest.AllFaults {
			t.Run(string(fault), func(t *testing.T) {
				t.Parallel()
				var cases sync.WaitGroup // many of them only wait
				for p, protocol := range []string{"ollama", "openai"} {
					for _, plan := range []bool{true, false} {
						if fault == llmtest.Refuse && !plan {
							continue // refused connections affect plans too
						}
						if os.Getenv("LIFEHUB_SOAK") == "" && plan != ((i+p)%2 == 0) {
							continue // plan and answer under one protocol each, in turns
						}
						c, r := faultCase{fault, protocol, plan}, newFaultRig(t, protocol)
						cases.Go(func() { c.all(t, r, places, &sum) })
					}
				}
				cases.Wait()
			})
		}
	})
	t.Logf("%d faults × protocols × plan and answer × %d places: %d turns, %d broken promises; usable again p50 %v "+
		"p99 %v max %v; Esc n %d p50 %v p99 %v max %v",
		len(llmtest.AllFaults), places, sum.turns, sum.broken, percentile(sum.usable, 50), percentile(sum.usable, 99),
		percentile(sum.usable, 100),
		len(sum.esc), percentile(sum.esc, 50), percentile(sum.esc, 99), percentile(sum.esc, 100))
}

// all tries the fault at each place. A turn is slow if it takes longer than promised and three
// times as long as a turn without a fault at that moment, since other work on the machine delays
// both. It counts if it is slow three times, and only in `make soak`: TestEscEndsTheTurnAtOnce has
// its own clock.
func (c faultCase) all(t *testing.T, r *faultRig, places int, sum *tally) {
	for i, at := range c.positions(places) {
		for try := 1; ; try++ {
			first, again := c.run(r, at, i%2 == 1)
			sum.add(first, again)
			for _, what := range slices.Concat(first.broken, again.broken) {
				t.Errorf("%s, plan %t, after %d bytes: %s", c.protocol, c.plan, at, what)
			}
			if len(first.broken)+len(again.broken) > 0 {
				return
			}
			slow := os.Getenv("LIFEHUB_SOAK") != "" && (first.esc > 100*time.Millisecond || again.took > time.Second)
			if slow {
				usual := 3 * r.ask(0, "").took
				slow = first.esc > max(usual, 100*time.Millisecond) || again.took > max(usual, time.Second)
			}
			if slow && try == 3 {
				t.Errorf("%s, plan %t, after %d bytes: Esc took %v, the next answer %v", c.protocol, c.plan,
					at, first.esc, again.took)
			}
			if !slow || try == 3 {
				break
			}
		}
	}
}

// tracing begins traces in a store.
type tracing struct {
	to     *store.Store
	limits store.Limits
}

func (t tracing) Begin(turn string) io.WriteCloser { return t.to.Traces.Begin(turn, t.limits) }
