//go:build unix

package survive

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/store"
)

const steering = "instead 1"

// steer runs in the child: a user who sends a message while the first step of a
// turn runs, whose draft is saved as on the screen, and who sends it again after
// a kill as long as no turn has taken it. It prints
//
//	T 1  the message is typed and saved
//	A 1  all is answered
func (h *house) steer() error {
	ctx := context.Background()
	list, err := h.store.Exchanges(ctx, h.Name)
	if err != nil {
		return err
	}
	draft, err := h.store.LoadDraft(ctx, h.Name)
	if err != nil {
		return err
	}
	var pending *agent.Steering
	if len(draft.Waiting) > 0 {
		pending = &agent.Steering{ID: rand.Text(), Text: draft.Waiting[0]}
	}
	save := func(sending string) error {
		d := agent.Draft{Conversation: h.Name, Sending: sending}
		if pending != nil && sending == "" {
			d.Steering = []agent.Steering{*pending}
		}
		h.hooks.pass()
		return h.store.SaveDraft(ctx, d)
	}
	follow := func(events <-chan agent.Event, resumed bool) error {
		var tell sayer
		var offer func(agent.Steering)
		for e := range events {
			switch body := e.Body.(type) {
			case agent.Started:
				if offer = body.Steer; pending != nil && resumed && offer != nil {
					if err := save(""); err != nil {
						return err
					}
					offer(*pending)
				}
			case agent.ToolStarted:
				if body.Name != "append_note" || resumed || pending != nil {
					continue
				}
				pending = &agent.Steering{ID: rand.Text(), Text: steering}
				if err := save(""); err != nil {
					return err
				}
				tell.say("T", 1)
				offer(*pending)
			case agent.PermissionAsked:
				reply := agent.Reply{Decision: agent.AllowOnce}
				if body.Unknown {
					reply.Decision = agent.AlreadyDone
				}
				body.Reply(reply)
			case agent.Noticed:
				if body.Steering != nil && pending != nil && *body.Steering == *pending {
					pending = nil
					if err := save(""); err != nil {
						return err
					}
				}
			case agent.Failed:
				return fmt.Errorf("the turn failed: %s", body.Message)
			}
		}
		return nil
	}
	switch last := len(list) - 1; {
	case last < 0:
		err = follow(h.agent.Ask(ctx, h.Name, question(h.orders, 1)), false)
	case list[last].Open:
		err = follow(h.agent.Resume(ctx, h.Name, list[last].Turn), true)
	}
	if err == nil && pending != nil { // too late for the turn: it is the next message
		next := pending.Text
		pending = nil
		if err = save(next); err == nil {
			err = follow(h.agent.Ask(ctx, h.Name, next), true)
		}
	}
	if err == nil {
		err = save("")
	}
	if err != nil {
		return err
	}
	if err := h.Close(); err != nil {
		return err
	}
	fmt.Println("A 1")
	fmt.Println("OVER", h.hooks.reached.Load())
	return nil
}

// A turn to which a message is sent is killed at each of its boundaries, and so
// is what resumes it: the message is there once, and its effect.
func TestSteeringIsThereOnceDespiteKills(t *testing.T) {
	t.Parallel()
	kills := testenv.Rounds(8, 200)
	random := seeded(t)
	begin := func() orders {
		dir := t.TempDir()
		furnish(t, dir)
		return orders{Dir: dir, Work: "steer", Name: "c"}
	}
	whole := begin()
	boundaries := run(t, whole, 0, false).over
	if lines := steeringProblem(t, whole, true); lines != "" {
		t.Fatal(lines)
	}
	killed, late := 0, 0
	for try := int64(0); killed < kills; try++ {
		o := begin()
		cut := o
		cut.KillAt = 1 + try*max(1, boundaries/int64(kills))%boundaries
		var lines []string
		for {
			result := run(t, cut, 0, false)
			lines = append(lines, result.lines...)
			if !result.killed {
				break
			}
			killed++
			if cut = o; random.IntN(3) == 0 {
				cut.KillAt = 1 + random.Int64N(boundaries)
			}
		}
		typed := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "T ") })
		if problem := steeringProblem(t, o, typed); problem != "" {
			t.Fatalf("killed at %d: %s; the user was told:\n%s", cut.KillAt, problem, strings.Join(lines, "\n"))
		}
		if typed && len(exchanges(t, o)) > 1 {
			late++
		}
	}
	t.Logf("%d kills over %d boundaries: the message is there once after each; %d times as the next message",
		killed, boundaries, late)
}

func exchanges(t *testing.T, o orders) []agent.Exchange {
	t.Helper()
	s, err := store.Open(database(o.Dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.Exchanges(t.Context(), o.Name)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// steeringProblem returns what is wrong with what is left of a turn to which a message
// was sent; "" if nothing is.
func steeringProblem(t *testing.T, o orders, typed bool) string {
	t.Helper()
	all, left := "", ""
	for _, e := range exchanges(t, o) {
		all += e.Question + "\n"
		if e.Open {
			left = "a turn is open; "
		}
	}
	found, err := look(o.Dir, steering)
	if err != nil {
		t.Fatal(err)
	}
	n := strings.Count(all, steering)
	if left == "" && n <= 1 && found.Task == n && (n == 1 || !typed) {
		return ""
	}
	return fmt.Sprintf("%sthe message is there %d times, its task %d times:\n%s", left, n, found.Task, all)
}
