package tui

import (
	"slices"
	"strings"
	"testing"

	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
)

func withServers() chat.Options {
	o := chattest.WithEverything()
	o.Servers = chattest.ThreeServers()
	return o
}

func TestKeysRestartAndSwitchServers(t *testing.T) {
	options := withServers()
	told := &options.Servers.(*chattest.Shop).Told
	inRig(t, 100, 30, options, func(r *rig) {
		r.keys("/mcp", "enter", "r", "up", "e", "down", "e", "esc")
		if want := []string{"restart everything", "on brave", "off everything"}; !slices.Equal(*told, want) {
			t.Errorf("got %q, want %q", *told, want)
		}
		r.mustNotShow("MCP servers")
	})
}

func TestChangeIsTrustedOnlyAfterItWasSeen(t *testing.T) {
	options := withServers()
	s := options.Servers.(*chattest.Shop)
	s.States[1].Unseen[0].After = strings.Repeat("line\n", 100)
	inRig(t, 100, 30, options, func(r *rig) {
		r.keys("/mcp", "enter", "t", "y", "enter")
		r.pass(dialog.QuietPeriod)
		r.keys("y", "enter") // the end was not visible yet
		r.keys("ctrl+end")
		for _, key := range []string{"y", "e", "t", " ", "enter", "y", "backspace", "enter"} { // a text
			r.keys(key)
		}
		if len(s.Told) > 0 {
			t.Fatalf("too early: %q", s.Told)
		}
		r.pass(dialog.QuietPeriod)
		r.mustShow("Trust this version (y)")
		r.keys("y", "enter")
		if !slices.Equal(s.Told, []string{"trust everything tool echo"}) {
			t.Errorf("got %q", s.Told)
		}
		r.keys("t")
		r.pass(dialog.QuietPeriod)
		r.keys("n")
		if len(s.Told) != 1 {
			t.Errorf("a no was taken for a yes: %q", s.Told)
		}
	})
}

func TestAConsentIsGivenFromThePanel(t *testing.T) {
	const page = "https://login.example.org/authorize?client_id=lifehub&state=4711"
	for key, told := range map[string][]string{
		"n":   {"consent brave", "no consent brave"},
		"esc": {"consent brave", "no consent brave"},
		"y":   {"consent brave"},
	} {
		options := withServers()
		s := options.Servers.(*chattest.Shop)
		s.States[0].Consent = true
		inRig(t, 100, 30, options, func(r *rig) {
			r.keys("/mcp", "enter", "c")
			r.mustNotShow(page)
			r.keys("up")
			r.mustShow("your consent")
			r.keys("c")
			r.mustShow("your consent")
			r.mustShow(page)
			r.keys(key) // too early
			r.mustShow(page)
			r.m.composer.Clear()
			r.pass(dialog.QuietPeriod)
			r.keys("c")
			if r.clip != page {
				t.Errorf("copied %q", r.clip)
			}
			r.keys(key, "enter")
			r.mustNotShow(page)
			if !slices.Equal(s.Told, told) {
				t.Errorf("%s: got %q, want %q", key, s.Told, told)
			}
		})
	}
}

func TestServerLogIsShownWithoutControls(t *testing.T) {
	inRig(t, 100, 30, withServers(), func(r *rig) {
		r.keys("/mcp", "enter", "l")
		r.mustShow("[warning] low on cheese")
		if strings.Contains(r.m.View().Content, "\x1b[31mcheese") {
			t.Error("the log's colour came through")
		}
		r.keys("esc")
		r.mustShow("costs")
	})
}
