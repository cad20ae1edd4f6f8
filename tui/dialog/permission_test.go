package dialog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/draw"
)

// All of what would run is in the dialog: put together, its lines give every
// word of the arguments, in order.
func TestArgumentsAreShownCompletely(t *testing.T) {
	for _, width := range []int{20, 40, 60, 137} {
		var words []string
		for i := range 400 {
			words = append(words, fmt.Sprintf("word%04d", i))
		}
		p := Permission{}
		p.Ask(agent.PermissionAsked{Name: "x", Input: chattest.Raw(`{"text":"` + strings.Join(words, " ") + `"}`)})
		lines := contentOf(&p, width)
		all := ansi.Strip(strings.Join(lines, ""))
		if want := "text: " + strings.Join(words, " "); all != want {
			t.Errorf("width %d: the dialog holds %.80q…", width, all)
		}
		for _, line := range lines {
			if draw.Width(line) > width {
				t.Errorf("width %d: a line is %d wide", width, draw.Width(line))
			}
		}
	}
}

// A line of the note that looks like the head of a diff is shown like any other.
func TestNoLineOfADiffIsHidden(t *testing.T) {
	const diff = "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n # A\n--- old rule\n+++ pay Mallory\n"
	p := Permission{}
	p.Ask(agent.PermissionAsked{
		Name: "edit_note", Input: chattest.Raw(`{}`),
		Preview: agent.Preview{Path: "a.md", Diff: diff},
	})
	text := ansi.Strip(strings.Join(contentOf(&p, 80), "\n"))
	if !strings.Contains(text, "- -- old rule") || !strings.Contains(text, "+ ++ pay Mallory") ||
		strings.Contains(text, "++ a.md") {
		t.Errorf("the dialog shows\n%s", text)
	}
}

// A diff says all that a call does, so that its arguments need not be seen each
// time; what they are made of has to be, where that is what is asked about.
func TestOnlyArgumentsShownInADiffAreFolded(t *testing.T) {
	text := func(asked agent.PermissionAsked, details bool) string {
		var lines []string
		for _, line := range Describe(asked, details) {
			lines = append(lines, line.Text)
		}
		return strings.Join(lines, "\n")
	}
	const argument, why = "text: Buy milk", "why it asks: add_task changes your notes"
	folded := text(chattest.TaskAsked, false)
	if strings.Contains(folded, argument) || strings.Contains(folded, why) ||
		!strings.HasPrefix(folded, "Add 1 line to tasks.md, line 3\n") ||
		!strings.Contains(folded, "+ - [ ] Buy milk") {
		t.Errorf("a change of a note reads\n%s", folded)
	}
	for _, want := range []string{
		argument, why, "allow add_task", chattest.TaskAsked.Hash,
		string(chattest.TaskAsked.Input),
	} {
		if all := text(chattest.TaskAsked, true); !strings.Contains(all, want) {
			t.Errorf("the details have no %q:\n%s", want, all)
		}
	}
	untrusted, private, bare := chattest.TaskAsked, chattest.TaskAsked, chattest.TaskAsked
	untrusted.Rule, private.Destination, bare.Preview = "", "web_search", agent.Preview{}
	for name, asked := range map[string]agent.PermissionAsked{
		"no rule would settle it":  untrusted,
		"private text would leave": private,
	} {
		if got := text(asked, false); !strings.Contains(got, why) {
			t.Errorf("%s: the reason is folded:\n%s", name, got)
		}
	}
	if got := text(bare, false); !strings.Contains(got, argument) {
		t.Errorf("without a diff the arguments are folded:\n%s", got)
	}
}

func TestScrollKeyAnswersNoQuestion(t *testing.T) {
	for _, bound := range []map[string][]string{
		{"page_down": {"y"}},
		{"once": {"pgdown"}},
		{"later": {"s"}},
		{"agree": {"pgup"}},
		{"argument_next": {"enter"}},
		{"once": {"enter"}},
		{"refuse": {"left"}},
	} {
		if err := draw.CheckKeys(bound); err == nil {
			t.Errorf("%v is taken", bound)
		}
	}
}

func TestDifferentValuesLookDifferent(t *testing.T) {
	values := []string{
		`"5"`, `5`, `""`, `" a"`, `"a"`, `null`, `"null"`, `true`, `"true"`, `[]`, `"[]"`, `{}`, `"{}"`,
		`"\u0430"`, `"a\u200b"`, `"\u202ea"`, `"a\u0000"`,
	}
	shown := map[string]string{}
	for _, v := range values {
		p := Permission{}
		p.Ask(agent.PermissionAsked{Name: "x", Input: chattest.Raw(`{"v":` + v + `}`)})
		text := ansi.Strip(strings.Join(contentOf(&p, 80), "\n"))
		if other, taken := shown[text]; taken && v != `"\u0430"` {
			t.Errorf("%s and %s both look like %q", v, other, text)
		}
		shown[text] = v
	}
}

// contentOf returns the lines of what a dialog asks about.
func contentOf(p *Permission, width int) (lines []string) {
	for _, line := range p.Content(width) {
		lines = append(lines, line.Text)
	}
	return lines
}
