package tui

import (
	"strings"
	"testing"

	"lifehub/internal/chattest"
	"lifehub/internal/testenv"
)

func TestCopiedTextIsSafeAndBounded(t *testing.T) {
	for name, tc := range map[string]struct{ text, want, says string }{
		"an answer as it was written":       {"# Plan\n\n\tgo run .\n", "# Plan\n\n\tgo run .\n", "copied 18 B"},
		"keys that a shell would take stay": {"ls\x1b[201~\rrm -rf ~\r\x03\u202e", "ls\nrm -rf ~\n", "copied 12 B"},
		"nothing but controls":              {"\x1b]52;c;AAAA\a\x00", "", ""},
		"all that every terminal takes": {
			strings.Repeat("a", surelyCopied),
			strings.Repeat("a", surelyCopied), "copied 75.0 kB",
		},
		"more, and the user is told": {
			strings.Repeat("a", surelyCopied+1), strings.Repeat("a", surelyCopied+1),
			"if your terminal takes more than 75.0 kB",
		},
		"what no terminal takes is not sent": {
			strings.Repeat("a", mostCopied+1), "",
			"4.2 MB is more than a terminal copies; /export writes it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, 120, 24, chattest.WithWorld(chattest.Play()), func(r *rig) {
				r.run(r.m.clip(tc.text))
				r.m.draw()
				r.settle()
				if r.clip != tc.want {
					t.Errorf("copied %.80q, want %.80q", r.clip, tc.want)
				}
				if tc.says == "" {
					r.mustNotShow("copied")
				}
				r.mustShow(tc.says)
			})
		})
	}
}

// TestEveryItemIsCopiedWithoutControls copies each kind of item of a
// transcript that holds hostile text everywhere.
func TestEveryItemIsCopiedWithoutControls(t *testing.T) {
	testenv.WithoutRace(t)
	for _, evil := range hostile {
		o := chattest.WithEverything()
		o.Assistant = chattest.Play(chattest.SayEverywhere(evil)[:13]...)
		inRig(t, 80, 40, o, func(r *rig) {
			r.ask("go")
			r.keys("tab")
			for range r.m.transcript.Entries {
				r.clip = ""
				r.keys("y")
				if got := strings.NewReplacer("\n", "", "\t", "").Replace(r.clip); got != "" {
					onlyText(t, "copied", got)
				}
				r.keys("k")
			}
		})
	}
}
