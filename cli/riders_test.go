//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
	"lifehub/tui/draw"
	"lifehub/tui/transcript"
)

// A remark on a quotation is shown wherever its verdict is, in the same words and at every width.
// MCP and editors are covered by tests of their packages, with the same notes.
func TestRiderIsShownWithItsMark(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	apptest.WriteRiders(t, vault)
	var steps, lines []string
	for i, r := range apptest.Riders {
		steps = append(steps, fmt.Sprintf(`{"id":"%d","tool":"read_note","input":{"path":%q}}`, i+1, r.Path))
		lines = append(lines, fmt.Sprintf("You wrote: “%s” [%d]", r.Words, i+1))
	}
	plan, answer := `{"steps":[`+strings.Join(steps, ",")+`]}`, strings.Join(lines, "\n\n")
	run := commandsOver(t, llmtest.Serve(t, llmtest.NewScript(says(asksPlanner, plan), says(asksExplainer, answer),
		says(asksPlanner, plan), says(asksExplainer, answer))))
	out, _ := run("ask", "--json", "--notes", vault, "what do my notes say?")
	var result askResult
	if err := json.Unmarshal([]byte(out), &result); err != nil || len(result.Citations) != len(apptest.Riders) {
		t.Fatalf("%v: %d citations in %s", err, len(result.Citations), out)
	}
	_, stderr := run("ask", "--notes", vault, "what do my notes say?")
	exported, _ := run("chats", "export", result.Conversation)
	page, _ := run("chats", "export", "--format", "html", result.Conversation)
	theme := draw.NewTheme("", true, false, nil)
	for i, c := range result.Citations {
		want := apptest.Riders[i]
		mark := strings.TrimSuffix("✓ quoted, "+want.Said, ", ")
		if c.Verdict != agent.Verified || c.Rider() != want.Said || c.Label() != mark {
			t.Errorf("%s: %s %q, want %q", want.Path, c.Verdict, c.Label(), mark)
		}
		line := want.Path + fmt.Sprintf(":%d ", c.Line) + mark + "\n"
		for where, text := range map[string]string{
			"ask": stderr, "an export": exported, "a page": strings.ReplaceAll(strings.ReplaceAll(html.UnescapeString(page), `<span class="dim">`, ""), "</span>", "\n"),
			"--plain": transcript.Cited{Citation: c}.InWords() + "\n",
		} {
			if !strings.Contains(strings.ReplaceAll(text, "  \n", "\n")+"\n", line) {
				t.Errorf("%s has no %q:\n%s", where, line, text)
			}
		}
		for _, width := range []int{40, 80, 120, 200} {
			sources := transcript.NewSources("")
			sources.Show([]chat.Cited{{Citation: c}})
			said := transcript.NewAnswer()
			said.Grow(answer)
			said.Judge(c)
			narrow, _, _ := sources.Narrow(width, theme)
			for where, drawn := range map[string][]string{
				"the source line": sources.Render(width, theme),
				"the sidebar":     narrow,
			} {
				shown := ansi.Strip(strings.Join(drawn, "\n"))
				if full := min(width-5, 4+len([]rune(mark))); !strings.Contains(shown, string([]rune(mark)[:full-4])) ||
					width >= 80 && !strings.Contains(shown, mark) {
					t.Errorf("%s of %d columns has no %q:\n%s", where, width, mark, shown)
				}
			}
			inline := strings.Join(strings.Fields(ansi.Strip(strings.Join(said.Render(width, theme), " "))), " ")
			if mark := strings.TrimSuffix(fmt.Sprintf("[%d]✓ (%s)", i+1, want.Said),
				" ()"); !strings.Contains(inline, mark) {
				t.Errorf("the answer of %d columns has no %q:\n%s", width, mark, inline)
			}
		}
	}
}
