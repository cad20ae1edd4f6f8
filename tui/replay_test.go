package tui

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/backend"
	"lifehub/tui/plain"
	"lifehub/tui/replay"
)

// aReplay is the story that most pictures tell, with ten seconds of work in it.
func aReplay(speed float64) *replay.Recording {
	r := &replay.Recording{Question: "What's in my notes about running?", Speed: speed}
	at := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	for i, body := range chattest.Story(chattest.Planning, []agent.Body{chattest.TaskAsked, agent.PermissionGiven{Step: "1", Call: "p", Decision: agent.AllowOnce}}, chattest.Searched, chattest.Answered) {
		r.Events = append(r.Events, agent.Event{Type: "x", Turn: "c.1", Seq: i + 1, Time: at, Body: body})
		at = at.Add(time.Second)
	}
	r.Events = slices.Insert(r.Events, 2, agent.Event{Time: r.Events[1].Time, Body: agent.Prompted{Agent: "planner"}})
	return r
}

func replaying(speed float64) func() backend.Options {
	return func() backend.Options {
		status := make(chan backend.Status, 1)
		status <- backend.Status{Provider: "replay", Model: "qwen3:8b"}
		close(status)
		return backend.Options{Replay: aReplay(speed), Status: status}
	}
}

func TestAReplayPlaysInItsTimeAndHeedsItsKeys(t *testing.T) {
	inRig(t, 100, 30, replaying(1)(), func(r *rig) {
		r.pass(2500 * time.Millisecond)
		r.mustShow("0:02 of 0:21 · 1×")
		r.mustShow("search_notes")
		r.mustNotShow("add_task asks")
		r.pass(2 * time.Second)
		r.mustShow("Buy milk") // the question, which nobody can answer now
		r.keys("y", "a")
		r.keys("space")
		r.pass(time.Minute)
		r.mustShow("Buy milk")
		r.mustShow("⏸")
		r.mustShow("0:04 of 0:21")
		r.keys("space", "+", "+")
		r.mustShow("4×")
		r.pass(2500 * time.Millisecond)
		r.mustNotShow("Buy milk")
		r.mustShow("no network")
		r.keys("-", "-", "-")
		r.mustShow("0.5×")
		r.pass(40 * time.Second)
		r.mustShow("■")
		r.mustShow("0:21 of 0:21")
		r.mustShow("You run three times a week [1]")
		r.mustNotShow("cut off")
		r.keys("q")
		if !r.quit {
			t.Error("q does not leave")
		}
	})
}

func TestAReplayAtOnceShowsTheTimesThatItTook(t *testing.T) {
	inRig(t, 100, 40, replaying(0)(), func(r *rig) {
		r.pass(50 * time.Millisecond)
		r.mustShow("0:21 of 0:21 · at once")
		r.mustShow("You run three times a week [1]")
		r.mustShow("✗ searched 1,284 notes")
		r.mustShow("11.0 s ▾") // the plan, from its making to the end of its last step
	})
}

func TestAReplayOfAKilledTurnEndsAsOneThatWasCut(t *testing.T) {
	o := replaying(0)()
	o.Replay.Events = o.Replay.Events[:20]
	inRig(t, 100, 40, o, func(r *rig) {
		r.pass(50 * time.Millisecond)
		r.mustShow("You run three times a week [1]")
		r.mustShow("cut off")
		r.mustShow("■")
	})
}

func TestAReplayInLinesAsksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		begun := time.Now()
		if err := plain.Replay(t.Context(), *aReplay(2), &out); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != 10500*time.Millisecond {
			t.Errorf("it took %v, want half of 21 s", took)
		}
		for _, want := range []string{"> What's in my notes about running?\n", "Allow add_task?", "once\n", "step 2: failed no network\n", "three times a week", "[1] fitness.md:12 ✓ quoted\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in\n%s", want, out.String())
			}
		}
		if strings.Contains(out.String(), "Allow once") {
			t.Error("it asks")
		}
	})
}

func TestAReplayOfEventsInAnyOrderDoesNotBreak(t *testing.T) {
	events := aReplay(0).Events
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		o := replaying(0)()
		o.Replay.Events = nil
		for range 40 {
			o.Replay.Events = append(o.Replay.Events, events[random.IntN(len(events))])
		}
		inRig(t, 20+random.IntN(100), 3+random.IntN(30), o, func(r *rig) {
			r.pass(100 * time.Millisecond)
			r.keys("ctrl+o", "tab", "j", "space", "q")
		})
		if err := plain.Replay(t.Context(), *o.Replay, io.Discard); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
