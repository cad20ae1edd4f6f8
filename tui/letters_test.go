package tui

import (
	"slices"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/internal/testenv"
	"lifehub/tui/dialog"
)

// Thirty ways to type into an open question, and what became of each letter: an
// answer, text in the composer, or a queued message.
func TestLettersTypedIntoADialog(t *testing.T) {
	testenv.WithoutRace(t)
	const (
		once   = agent.AllowOnce
		refuse = agent.Refuse
	)
	tests := []struct {
		name   string
		keys   []string
		want   agent.Decision // "": none
		chosen string
		text   string   // in the composer
		queued []string // and waiting to be sent
		shows  string
	}{
		{"y", []string{"y"}, "", "Allow once", "", nil, "▌y Allow once▐"},
		{"y, Enter", []string{"y", "enter"}, once, "", "", nil, ""},
		{"yes", []string{"yes"}, "", "Allow once", "", nil, "enter: allow once"},
		{"yes, Enter", []string{"yes", "enter"}, once, "", "", nil, ""},
		{"ye", []string{"ye"}, "", "", "", nil, "then enter"},
		{"ye, Enter", []string{"ye", "enter"}, "", "", "", []string{"ye"}, "queued: “ye”"},
		{"yes!", []string{"yes!"}, "", "", "yes!", nil, "yes!"},
		{
			"yes please, Enter",
			[]string{"yes please", "enter"},
			"", "", "",
			[]string{"yes please"},
			"queued: “yes please”",
		},
		{"yesterday", []string{"yesterday"}, "", "", "yesterday", nil, ""},
		{"Yes, Enter", []string{"Yes", "enter"}, once, "", "", nil, ""},
		{"Your turn", []string{"Your turn"}, "", "", "Your turn", nil, ""},
		{"No, Enter", []string{"No", "enter"}, refuse, "", "", nil, ""},
		{"n", []string{"n"}, "", "Deny", "", nil, "enter: deny"},
		{"n, Enter", []string{"n", "enter"}, refuse, "", "", nil, ""},
		{"no", []string{"no"}, "", "Deny", "", nil, "enter: deny"},
		{"no, Enter", []string{"no", "enter"}, refuse, "", "", nil, ""},
		{
			"no milk today, Enter",
			[]string{"no milk today", "enter"},
			"", "", "",
			[]string{"no milk today"},
			"queued: “no milk today”",
		},
		{"not", []string{"not"}, "", "", "not", nil, ""},
		{"s", []string{"s"}, "", "Allow in this chat", "", nil, "enter: allow in"},
		{"say", []string{"say"}, "", "", "say", nil, ""},
		{"a", []string{"a"}, "", "Always…", "", nil, "enter: always"},
		{"and", []string{"and"}, "", "", "and", nil, ""},
		{"e", []string{"e"}, "", "Edit", "", nil, "▌e edit▐"},
		{"Enter alone", []string{"enter"}, "", "", "", nil, "press y, s, a, n or N, then enter"},
		{"d", []string{"d"}, "", "", "", nil, "sha-256"},
		{
			"d, a look, a sentence",
			[]string{"d", "look", "and which shoes?"},
			"", "", "and which shoes?",
			nil, "and which shoes?",
		},
		{"d, a look, y, Enter", []string{"d", "look", "y", "enter"}, once, "", "", nil, ""},
		{"d, a look, yes, Enter", []string{"d", "look", "yes", "enter"}, once, "", "", nil, ""},
		{
			"do it later, Enter",
			[]string{"do it later", "enter"},
			"", "", "",
			[]string{"do it later"},
			"queued: “do it later”",
		},
		{
			"y, Backspace, Enter",
			[]string{"y", "backspace", "enter"},
			"", "", "", nil,
			"press y, s, a, n or N, then enter",
		},
		{
			"a question, Enter, y, Enter",
			[]string{"which shoes?", "enter", "look", "y", "enter"},
			once, "", "",
			[]string{"which shoes?"},
			"",
		},
		{
			"two questions",
			[]string{"which shoes?", "enter", "look", "and when?", "enter"},
			"", "", "",
			[]string{"which shoes?", "and when?"},
			"queued: “and when?”",
		},
		{"?", []string{"?"}, "", "", "?", nil, ""},
		{"a slash", []string{"/help"}, "", "", "/help", nil, "Allow add_task?"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			question, replies := chattest.Asked(chattest.TaskAsked)
			inRig(t, 100, 30, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
				r.ask("add a task")
				r.pass(dialog.QuietPeriod)
				for _, k := range tc.keys {
					if k == "look" {
						r.pass(2 * time.Second)
						continue
					}
					r.keys(k)
				}
				if tc.shows != "" {
					r.mustShow(tc.shows)
				}
				if got := r.m.asks.Permission.Chosen; got != tc.chosen {
					t.Errorf("%q is chosen, want %q", got, tc.chosen)
				}
				if got := r.m.composer.Text(); got != tc.text {
					t.Errorf("the composer holds %q, want %q", got, tc.text)
				}
				if got := r.m.composer.Queue; !slices.Equal(got, tc.queued) {
					t.Errorf("queued: %q, want %q", got, tc.queued)
				}
			})
			var got agent.Decision
			if len(*replies) > 0 {
				got = (*replies)[0].Decision
			}
			if got != tc.want || len(*replies) > 1 {
				t.Errorf("replies = %+v, want %q", *replies, tc.want)
			}
		})
	}
}
