package store

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/llm/llmtest"
)

var (
	_ agent.Summaries   = (*Store)(nil)
	_ agent.TokenRatios = (*Store)(nil)
)

func TestSummaryBelongsToItsPath(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	summary := func(turn, text, shown string) {
		t.Helper()
		for _, limit := range []int{2, 99} { // it is found beyond the window too
			w, err := s.Window(t.Context(), "c", limit)
			if want := (agent.Summary{Turn: turn, Text: text}); err != nil || !reflect.DeepEqual(w.Summary, want) ||
				recent(t, s, "c", limit) != shown {
				t.Errorf("got %+v, %v; want %+v and %s", w, err, want, shown)
			}
		}
	}
	summary("", "", "")
	first := say(t, s, "c", "one", "1")
	second := say(t, s, "c", "two", "2")
	say(t, s, "c", "three", "3")
	must(t, s.SaveSummary(t.Context(), agent.Summary{Turn: second, Text: "one and two"}))
	summary(second, "one and two", "user:three assistant:3")
	if _, err := s.Begin(t.Context(), "c", "four"); err != nil { // a running turn does not count
		t.Fatal(err)
	}
	summary(second, "one and two", "user:three assistant:3")
	branch(t, s, "c", first)
	summary("", "", "user:one assistant:1")
	must(t, s.SaveSummary(t.Context(), agent.Summary{Turn: first, Text: "one"}))
	summary(first, "one", "")
}

func TestTokenRatioIsSavedPerModel(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	if g, err := s.TokenRatio(t.Context(), "m"); err != nil || g != (agent.TokenRatio{}) {
		t.Errorf("got %+v, %v", g, err)
	}
	want := agent.TokenRatio{Scale: 1.5, Writes: 12.5}
	for range 2 {
		must(t, s.SaveTokenRatio(t.Context(), "m", want))
	}
	if g, err := s.TokenRatio(t.Context(), "m"); err != nil || g != want {
		t.Errorf("got %+v, %v", g, err)
	}
}

func TestCompactingSummarizesEachMessageOnce(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	model := llmtest.NewScript().Say("Whiskers and the boiler.", "Whiskers, the boiler, three.")
	a := turn.New(turn.Options{Model: model, History: s, Summaries: s})
	say(t, s, "c", "My cat's name is Whiskers. She is old.", "Got it!")
	say(t, s, "c", "The boiler needs a new filter.", "Noted.")
	if _, err := a.Compact(t.Context(), "c", ""); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Errorf("got %v", err)
	}
	say(t, s, "c", "three", "3")
	last := say(t, s, "c", "four", "4")
	done, err := a.Compact(t.Context(), "c", "cat")
	if err != nil || done.Messages != 4 || done.Text != "Whiskers and the boiler." || done.After > done.Before {
		t.Errorf("got %+v, %v", done, err)
	}
	if _, err := a.Compact(t.Context(), "c", ""); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Errorf("a second time: %v", err)
	}
	say(t, s, "c", "five", "5")
	if done, err = a.Compact(t.Context(), "c", ""); err != nil || done.Messages != 2 ||
		done.Text != "Whiskers, the boiler, three." {
		t.Errorf("got %+v, %v", done, err)
	}
	for i, without := range []string{"three", "My cat's name"} {
		if asked := fmt.Sprint(model.Requests()[i].Messages); strings.Contains(asked, without) {
			t.Errorf("request %d has %q: %s", i+1, without, asked)
		}
	}
	if w, err := s.Window(t.Context(), "c", 99); err != nil || w.Summary.Text != done.Text || len(w.Exchanges) != 2 ||
		w.Before != 6 || w.Exchanges[0].Turn != last {
		t.Errorf("kept %+v, %v", w, err)
	}
}
