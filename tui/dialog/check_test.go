package dialog

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
)

// A check that takes long is made outside Update: keys and frames go on, Esc withdraws it, and it has
// a deadline.
func TestLongCheckKeepsDialogResponsive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hangs := func(json.RawMessage) error { <-release; return nil }
		var given []agent.Input
		var replies []agent.Reply
		form := chattest.FormAsked
		form.Check, form.Reply = hangs, func(in agent.Input) { given = append(given, in) }
		call := agent.PermissionAsked{
			Call: "p", Name: "x", Input: chattest.Raw(`{"a":1}`), Check: hangs,
			Reply: func(r agent.Reply) { replies = append(replies, r) },
		}
		for name, open := range map[string]func(q *Queue, k *draw.Keys){
			"form": func(q *Queue, _ *draw.Keys) {
				q.Ask(form)
				q.Input.Entered, q.Input.Form.At = true, len(q.Input.Form.Fields)
			},
			"arguments": func(q *Queue, k *draw.Keys) {
				q.Ask(call)
				q.Permission.Edit = newArgumentEditor(call.Input, k)
			},
		} {
			k, q, theme := draw.DefaultKeys(), &Queue{}, draw.NewTheme("", true, true, nil)
			open(q, &k)
			press := func(name string) (cmd tea.Cmd) {
				cmd, _ = q.Press(boxtest.Keys[name], &k, "", time.Now())
				return cmd
			}
			shown := func() string { return strings.Join(q.View(60, 16, &k, "", theme, time.Now()), "\n") }
			first := press("enter") // hangs in no Update
			if first == nil || strings.Contains(shown(), "checking") {
				t.Fatalf("%s: no check runs, or it says so at once:\n%s", name, shown())
			}
			start := time.Now()
			late := first().(CheckedMsg)
			if took := time.Since(start); late.err == nil || took != maxCheck {
				t.Errorf("%s: got %v after %v", name, late.err, took)
			}
			if !strings.Contains(shown(), "checking") {
				t.Errorf("%s: it does not say that it is checking:\n%s", name, shown())
			}
			press("esc")
			q.Checked(late)
			if press("enter") == nil || strings.Contains(shown(), "could not be checked") {
				t.Errorf("%s: the check was not withdrawn", name)
			}
			second := press("enter") // ignored: one runs
			if second != nil || len(given)+len(replies) > 0 {
				t.Errorf("%s: it was answered, or checked twice", name)
			}
		}
		close(release)
	})
}
