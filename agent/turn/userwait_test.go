package turn

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
)

// Time that the user takes to answer does not count, except for what continues
// meanwhile.
func TestWaitingForTheUserIsNotCounted(t *testing.T) {
	const user = 10 * time.Second
	later := func(reply func()) { // the user is outside of the turn
		go func() {
			time.Sleep(user)
			reply()
		}()
	}
	for name, tc := range map[string]struct {
		steps           []string
		form            bool
		latency, waited time.Duration
	}{
		"one question":                        {[]string{"1 write"}, false, 2 * time.Second, user},
		"a shorter step meanwhile":            {[]string{"1 write", "2 read"}, false, 5 * time.Second, user - 3*time.Second},
		"a longer step meanwhile":             {[]string{"1 write", "2 long"}, false, 60 * time.Second, 0},
		"two questions at once":               {[]string{"1 write", "2 write"}, false, 4 * time.Second, user},
		"one after the other":                 {[]string{"1 write", "2 write after 1"}, false, 4 * time.Second, 2 * user},
		"a form of a tool":                    {[]string{"1 form"}, true, 0, user},
		"a form, and a longer step meanwhile": {[]string{"1 form", "2 long"}, true, 60 * time.Second, 0},
		"no question":                         {[]string{"1 read"}, false, 3 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				write, read := &fakeTool{name: "write", level: agent.Confirm, takes: 2 * time.Second}, &fakeTool{name: "read", takes: 3 * time.Second, reads: true}
				long := &fakeTool{name: "long", takes: time.Minute, reads: true}
				shelf := &shelf{}
				a := New(Options{Model: &script{lines: []line{planOf(tc.steps...), say("Done.")}}, History: shelf, Tools: tools(write, read, long, formTool{&fakeTool{name: "form"}})})
				for e := range a.Ask(t.Context(), "c1", "go") {
					switch e := e.Body.(type) {
					case agent.PermissionAsked:
						later(func() { e.Reply(agent.Reply{Decision: agent.AllowOnce}) })
					case agent.InputAsked:
						later(func() { e.Reply(agent.Input{Action: agent.InputAccepted}) })
					}
				}
				m := shelf.last().Metrics
				if m.Latency != tc.latency.Milliseconds() || m.Waited != tc.waited.Milliseconds() || m.FirstToken != m.Latency {
					t.Errorf("the turn took %d ms, its first word %d; it waited %d; want %s and %s", m.Latency, m.FirstToken, m.Waited, tc.latency, tc.waited)
				}
			})
		})
	}
}

// formTool asks the user for input while it runs.
type formTool struct{ *fakeTool }

func (formTool) Run(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
	agent.HostFrom(ctx).Ask(ctx, agent.Question{Kind: agent.FormInput})
	return agent.Result{Text: "ok"}, nil
}
