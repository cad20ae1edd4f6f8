package app_test

import (
	"context"
	"iter"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// counted counts the requests to a provider.
type counted struct {
	llm.Provider
	n *int
}

func (c counted) Ready(context.Context) error {
	*c.n++
	return nil
}

func (c counted) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	*c.n++
	return c.Provider.Stream(ctx, req)
}

// Only a model on this machine is asked for one token of which nothing is saved, and none
// if the setting is off.
func TestWarmStartOnlyOnThisMachine(t *testing.T) {
	t.Parallel()
	server := llmtest.StartPaced(t, reads, writes, nil)
	for name, tc := range map[string]struct {
		env  []string
		want int
	}{
		"here":     {[]string{"OPENAI_BASE_URL=" + server.URL}, 2}, // whether it is ready, and the request
		"off":      {[]string{"OPENAI_BASE_URL=" + server.URL, "LIFEHUB_WARM_START=false"}, 0},
		"a remote": {[]string{"OPENAI_BASE_URL=https://models.example.org/v1"}, 0},
	} {
		process := apptest.Process(t.TempDir(), append(tc.env, "LIFEHUB_PROVIDER=openai")...)
		a, err := app.Open(t.Context(), process, app.RunFlags{Notes: []string{apptest.Vault(t)}, NoSave: true})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		assistant, n := a.Agent(), 0
		a.Provider = counted{a.Provider, &n}
		assistant.Model = a.Provider
		conversation := a.Store.NewConversation()
		a.Warm(t.Context(), assistant, conversation)
		saved, err := a.Store.Exchanges(t.Context(), conversation)
		if err != nil || len(saved) > 0 || n != tc.want {
			t.Errorf("%s: %d requests, want %d; saved %+v, %v", name, n, tc.want, saved, err)
		}
	}
	if list := server.Requests(); len(list) != 1 || list[0].Generated != 1 {
		t.Errorf("the server was asked %+v", list)
	}
}

// sized is a provider that tells no size of its model.
type sized struct{ llm.Provider }

func (s sized) State() llm.State {
	state := s.Provider.State()
	state.Model, state.Parameters = "served", 0
	return state
}

// A model of unknown size counts as large until its first answer was measured, and then, for good,
// by how fast it writes.
func TestUnknownSizeIsDecidedByTheFirstAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rate  float64
		small bool
	}{{10, true}, {40, false}} {
		server := llmtest.StartPaced(t, reads, tc.rate, map[string]string{asked[0][0]: asked[0][1]})
		home, vault := t.TempDir(), sampleNotes(t, 0)
		open := func() *app.App {
			a, err := app.Open(t.Context(), apptest.Process(home, "LIFEHUB_PROVIDER=openai",
				"OPENAI_BASE_URL="+server.URL), app.RunFlags{Notes: []string{vault}})
			if err != nil {
				t.Fatal(err)
			}
			a.Provider = sized{a.Provider}
			if err := a.Provider.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			return a
		}
		a := open()
		if err := a.Ready(t.Context(), "", &app.Bar{}); err != nil {
			t.Fatal(err)
		}
		a.Warm(t.Context(), a.Agent(), "c") // one token tells nothing
		if a.Traits().Small {
			t.Error("it is small before it has written")
		}
		for range a.Agent().Ask(t.Context(), a.Store.NewConversation(), asked[0][0]) {
		}
		_, why := a.FittingMode()
		if got := a.Traits().Small; got != tc.small {
			t.Errorf("at %v tokens a second, small is %t: %s", tc.rate, got, why)
		}
		a.Close()
		if a = open(); a.Traits().Small != tc.small {
			t.Errorf("at %v tokens a second, it is decided again after a restart", tc.rate)
		}
		a.Close()
	}
}
