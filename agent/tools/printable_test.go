package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
)

// Written text has no control characters except line ends of both kinds and tabs.
// old_text may have them, to remove them.
func TestWritersRefuseControlCharacters(t *testing.T) {
	const note = "# Log\r\n\r\n- [ ] a\x1b[2J one\r\n"
	for r := rune(0); r < ' '; r++ {
		for _, call := range []string{
			`append_note {"path":"log.md","content":"xRy"}`, `append_note {"path":"log.md","content":"x","heading":"xRy"}`,
			`create_note {"path":"new.md","content":"xRy"}`, `create_note {"path":"nRw.md","content":"x"}`, `add_task {"text":"xRy"}`,
			`edit_note {"path":"log.md","old_text":"one","new_text":"xRy"}`, `remember {"text":"xRy"}`, `create_artifact {"name":"n","text":"xRy"}`,
		} {
			b := work(t, map[string]string{"log.md": note})
			b.deps.Facts, _ = aMemory(t, "")
			b.deps.Artifacts = &shelf{}
			tool, input, _ := strings.Cut(call, " ")
			letter, _ := json.Marshal(string(r))
			_, got := b.run(tool, strings.ReplaceAll(input, "R", strings.Trim(string(letter), `"`)))
			if want := r != '\t' && r != '\n' || strings.Contains(call, "nRw"); strings.Contains(got, "control character") != want {
				t.Errorf("%U in %s: %s", r, call, got)
			}
		}
	}
	b := work(t, map[string]string{"log.md": note})
	for _, call := range [][2]string{
		{"append_note", `{"path":"log.md","content":"- b\r\n\t- c"}`},
		{"edit_note", `{"path":"log.md","old_text":"\u001b[2J","new_text":""}`},
	} {
		if _, got := b.run(call[0], call[1]); strings.HasPrefix(got, "error") {
			t.Errorf("%s: %s", call, got)
		}
	}
	if got, want := b.text("log.md"), "# Log\r\n\r\n- [ ] a one\r\n- b\r\n\t- c\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := b.tool("create_note").(agent.Preparer).Prepare(t.Context(), json.RawMessage(`{"path":"a\u0085b.md","content":"x"}`)); err == nil {
		t.Error("a note whose name has a C1 control may be made")
	}
}
