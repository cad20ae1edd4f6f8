package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/testenv"
)

// Written text has no control characters except line ends of both kinds and tabs.
// old_text may have them, to remove them.
func TestWritersRefuseControlCharacters(t *testing.T) {
	testenv.WithoutRace(t)
	const note = "# Log\r\n\r\n- [ ] a\x1b[2J one\r\n"
	characters := []rune{0x7f, 0x80, 0x9f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xe0000, 0xe0041, 0xe007f}
	for r := rune(0); r < ' '; r++ {
		characters = append(characters, r)
	}
	for _, r := range characters {
		for _, call := range []string{
			`append_note {"path":"log.md","content":"xRy"}`,
			`append_note {"path":"log.md","content":"x","heading":"xRy"}`,
			`create_note {"path":"new.md","content":"xRy"}`, `create_note {"path":"nRw.md","content":"x"}`,
			`add_task {"text":"xRy"}`,
			`edit_note {"path":"log.md","old_text":"one","new_text":"xRy"}`, `remember {"text":"xRy"}`,
			`create_artifact {"name":"n","text":"xRy"}`,
		} {
			b := work(t, map[string]string{"log.md": note})
			b.deps.Facts, _ = aMemory(t, "")
			b.deps.Artifacts = &shelf{}
			tool, input, _ := strings.Cut(call, " ")
			letter, _ := json.Marshal(string(r))
			_, got := b.run(tool, strings.ReplaceAll(input, "R", strings.Trim(string(letter), `"`)))
			if want := r != '\t' && r != '\n' || strings.Contains(call, "nRw"); strings.Contains(got,
				"control character") != want || want && !strings.Contains(call, "nRw") &&
				!strings.Contains(got, fmt.Sprintf("%U", r)) {
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
	b = work(t, map[string]string{"old.md": "a \u202eb\u202c one\n\u2028c two\n"})
	for _, call := range []struct {
		input   string
		refused bool
	}{
		{`{"path":"old.md","old_text":"two","new_text":"three"}`, false},
		// the note had them
		{`{"path":"old.md","old_text":"a \u202eb\u202c one","new_text":"a \u202eb\u202c 1"}`, false},
		{`{"path":"old.md","old_text":"\u2028c","new_text":"c"}`, false},
		{`{"path":"old.md","old_text":"\u202eb","new_text":"\u202e\u202eb"}`, true},
		// the flag of England
		{`{"path":"old.md","old_text":"three",` +
			`"new_text":"\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc65\udb40\udc6e\udb40\udc67\udb40\udc7f"}`, false},
	} {
		if _, got := b.run("edit_note", call.input); strings.HasPrefix(got, "error") != call.refused {
			t.Errorf("%s: %s", call.input, got)
		}
	}
	facts, _ := aMemory(t, "")
	if _, err := facts.Remember("my cat is \u202eTom", time.Now()); err == nil ||
		!strings.Contains(err.Error(), "U+202E") {
		t.Errorf("remembered, with %v", err)
	}
	if _, err := b.tool("create_note").(agent.Preparer).Prepare(t.Context(),
		json.RawMessage(`{"path":"a\u0085b.md","content":"x"}`)); err == nil {
		t.Error("a note whose name has a C1 control may be made")
	}
}
