package agent

import (
	"strings"
	"testing"
)

func TestHealthReportsUnreadableNotes(t *testing.T) {
	t.Parallel()
	for unreadable, want := range map[int]string{0: "searched 21 notes", 8: "searched 21 notes · 8 not readable now"} {
		if got := (Coverage{Indexed: 21, Total: 21, Unreadable: unreadable}).Health(); strings.TrimSpace(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
