package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/chattest"
)

// unreadable are figures that cannot be read.
type unreadable struct{}

func (unreadable) Figures(context.Context, string) ([]agent.Figures, error) {
	return nil, errors.New("the disk is gone")
}

func TestFiguresThatCannotBeReadAreAnError(t *testing.T) {
	o := chattest.WithFigures()
	o.Statistics = unreadable{}
	inRig(t, 100, 30, o, func(r *rig) {
		r.keys("/stats", "enter")
		r.mustShow("the disk is gone")
		r.mustNotShow("half of the turns")
		r.keys("/stats week", "enter")
		r.mustShow("usage: /stats")
	})
}

func TestClosedStatsReturnTheFocus(t *testing.T) {
	inRig(t, 60, 20, chattest.WithFigures(), func(r *rig) {
		r.keys("/stats", "enter", "up", "down", "tab", "esc")
		r.mustNotShow("half of the turns")
		r.keys("hello")
		r.mustShow("▌ hello")
	})
}

func TestFiguresAreWrittenAsLines(t *testing.T) {
	var out strings.Builder
	o := chattest.WithFigures()
	if _, err := RunPlain(t.Context(), o, strings.NewReader("/stats model\n"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"qwen3:8b\n", "  time: median 2.1 s, p95 9.8 s\n",
		"  tools: 18 ok, 1 failed, 2 not allowed\n", "unknown\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
