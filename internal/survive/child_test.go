//go:build unix

package survive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"lifehub/agent"
)

// die kills this process with SIGKILL.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// obey runs in the child: it resumes interrupted turns, then asks new questions.
// It prints one line for everything that a user would have been shown:
//
//	M 7          message 7 is saved
//	S 7 2 done   step 2 of turn 7 has ended
//	A 7          its answer is saved
//	? 7 tool     the outcome is unknown, and the user is asked
//	- 7 tool     the user skips it
func obey(o orders) error {
	if err := restrain(o); err != nil {
		return err
	}
	h, err := openHouse(o)
	if err != nil {
		return err
	}
	if o.Work == "steer" {
		return h.steer()
	}
	for asked := 0; o.Turns == 0 || asked < o.Turns; asked++ {
		list, err := h.store.Exchanges(context.Background(), o.Name)
		if err != nil {
			return err
		}
		number := len(list) + 1
		var events <-chan agent.Event
		last := len(list) - 1
		resumed := last >= 0 && list[last].Open
		if resumed {
			number = len(list)
			events = h.agent.Resume(context.Background(), o.Name, list[last].Turn)
		} else {
			events = h.agent.Ask(context.Background(), o.Name, question(o, number))
		}
		if err := h.follow(number, resumed, events); err != nil {
			return err
		}
	}
	if err := h.Close(); err != nil {
		return err
	}
	fmt.Println("OVER", h.hooks.reached.Load())
	return nil
}

// restrain applies limits and faults to the process.
func restrain(o orders) error {
	if o.Files > 0 {
		// Go's poller opens two files, and the runtime exits if it cannot.
		reader, writer, err := os.Pipe()
		if err != nil {
			return err
		}
		reader.Close()
		writer.Close()
		limit := syscall.Rlimit{Cur: uint64(o.Files), Max: uint64(o.Files)}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return err
		}
	}
	if o.User > 0 {
		return errors.Join(syscall.Setgid(o.User), syscall.Setuid(o.User))
	}
	return nil
}

func question(o orders, number int) string {
	kind := "chat"
	if o.Work == "six" || o.Work == "mail" {
		kind = o.Work
	}
	if o.Work == "write" {
		return fmt.Sprintf("%s %s-%d", kind, o.Name, number)
	}
	return fmt.Sprintf("%s %d", kind, number)
}

// follow reads the events of a turn as a user who approves everything, and who
// checks the effects if LifeHub does not know an outcome.
func (h *house) follow(number int, resumed bool, events <-chan agent.Event) error {
	var tell sayer
	var failed error
	for e := range events {
		slog.Info("event", "type", e.Type, "turn", e.Turn)
		switch body := e.Body.(type) {
		case agent.Started:
			if e.Turn != "" { // otherwise it could not be saved, which Failed reports
				tell.say("M", number)
			}
		case agent.PermissionAsked:
			reply := agent.Reply{Decision: agent.AllowOnce}
			if body.Unknown {
				tell.say("?", number, body.Name)
				found, err := look(h.Dir, question(h.orders, number))
				if err != nil {
					return err
				}
				switch {
				case h.Skip:
					tell.say("-", number, body.Name)
					reply.Decision = agent.Refuse
				case found.did(body.Name) && !h.Agree:
					reply.Decision = agent.AlreadyDone
				}
			}
			body.Reply(reply)
		case agent.StepChanged:
			if body.Status != agent.Running {
				tell.say("S", number, body.Step, body.Status, body.Reason)
			}
		case agent.Failed:
			if !resumed && body.Unkept != (e.Turn == "") {
				return fmt.Errorf("turn %d: unkept is %t", number, body.Unkept)
			}
			failed = fmt.Errorf("turn %d: %s", number, body.Message)
		case agent.Ended:
			tell.say("A", number)
		}
	}
	return failed
}
