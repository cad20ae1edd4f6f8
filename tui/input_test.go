package tui

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/dialog"
)

func TestAFormSendsWhatWasFilledIn(t *testing.T) {
	options, given := chattest.AsksFor(chattest.FormAsked)
	inRig(t, 100, 40, options, func(r *rig) {
		r.ask("go on")
		r.pass(dialog.QuietPeriod)
		r.keys("tab", "Anna", "backspace", "backspace", "a", "tab", "41", "tab", "space", "tab",
			"space", "down", "space", "down")
		r.send(boxtest.Keys["space"])
		r.keys("enter", "enter")
		if len(*given) != 1 || (*given)[0].Action != agent.InputAccepted {
			t.Fatalf("got %+v\n%s", *given, r.text())
		}
		var got map[string]any
		if err := json.Unmarshal((*given)[0].Values, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"name": "Ana", "age": 41.0, "check": true, "friend": "Rachel",
			"hero": "h1", "instruments": []any{},
		}
		for name, v := range want {
			a, _ := json.Marshal(got[name])
			b, _ := json.Marshal(v)
			if string(a) != string(b) {
				t.Errorf("%s: got %s, want %s", name, a, b)
			}
		}
		r.mustNotShow("asks you for something")
	})
}

func TestServerRequestIgnoresTypeahead(t *testing.T) {
	for name, asked := range map[string]agent.InputAsked{
		"form":     chattest.FormAsked,
		"sampling": {ID: "1.1", Question: agent.Question{From: "s", Kind: agent.SamplingInput}},
		"page":     {ID: "1.1", Question: agent.Question{From: "s", Kind: agent.URLInput, URL: "https://x.org"}},
	} {
		t.Run(name, func(t *testing.T) {
			options, given := chattest.AsksFor(asked)
			inRig(t, 100, 40, options, func(r *rig) {
				r.keys("go on", "enter")
				typed := "yes, and many years; n y tab y "
				for _, letter := range typed {
					r.keys(string(letter))
					r.pass(120 * time.Millisecond)
				}
				if len(*given) > 0 {
					t.Fatalf("typing answered %+v", *given)
				}
				if got := r.m.composer.Text(); got != typed {
					t.Errorf("the composer holds %q", got)
				}
				r.pass(dialog.QuietPeriod - 121*time.Millisecond)
				r.keys("esc") // too soon: neither the question nor the turn ends
				if len(*given) > 0 || r.m.turn.shown.Stopped {
					t.Errorf("esc counted: %+v, stopped %v", *given, r.m.turn.shown.Stopped)
				}
				r.pass(dialog.QuietPeriod)
				r.keys("esc")
				if len(*given) != 1 || (*given)[0].Action != agent.InputCancelled || r.m.turn.shown.Stopped {
					t.Errorf("got %+v, stopped %v", *given, r.m.turn.shown.Stopped)
				}
			})
		})
	}
}

func TestPromptIsApprovedOnlyAtItsEnd(t *testing.T) {
	asked := agent.InputAsked{ID: "1.1", Question: agent.Question{
		From: "s", Kind: agent.SamplingInput,
		Message: strings.Repeat("line\n", 200),
	}}
	options, given := chattest.AsksFor(asked)
	inRig(t, 100, 40, options, func(r *rig) {
		r.ask("go on")
		r.pass(dialog.QuietPeriod)
		r.keys("y", "enter")
		if len(*given) > 0 {
			t.Fatal("it was agreed to unread")
		}
		r.keys("ctrl+end", "enter")
		if len(*given) != 1 || (*given)[0].Action != agent.InputAccepted {
			t.Errorf("got %+v", *given)
		}
	})
}

func TestAFormIsFilledInByLines(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want agent.Input
	}{
		"filled in": {"y\nAna\n41\n1\nRachel\n\n1, Piano\n", agent.Input{
			Action: agent.InputAccepted, Values: chattest.Raw(`{"age":41,"check":true,"friend":"Rachel",` +
				`"instruments":["Guitar","Piano"],"name":"Ana"}`),
		}},
		"asked again": {"y\n\n\n\n\n\n\nAna\n\n\n\n\n\n", agent.Input{
			Action: agent.InputAccepted, Values: chattest.Raw(`{"friend":"Monica","instruments":["Guitar"],` +
				`"name":"Ana"}`),
		}},
		"no":      {"n\n", agent.Input{Action: agent.InputDeclined}},
		"nothing": {"\n", agent.Input{Action: agent.InputCancelled}},
		"the end": {"y\nAna\n", agent.Input{Action: agent.InputCancelled}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := chattest.FormAsked
			var given []agent.Input
			asked.Reply = func(i agent.Input) { given = append(given, i) }
			if _, err := RunPlain(t.Context(), chattest.WithWorld(chattest.Play(asked)), strings.NewReader("go\n"+c.in),
				io.Discard); err != nil {
				t.Error(err)
			}
			if len(given) != 1 || given[0].Action != c.want.Action || string(given[0].Values) != string(c.want.Values) {
				t.Errorf("got %+v, want %+v", given, c.want)
			}
		})
	}
}
