package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/notes"
)

// aMemory returns a memory file with this text; "" means that there is no file yet.
func aMemory(t *testing.T, text string) (f Facts, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "memory.md")
	if text != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return Facts{Path: "memory.md", Place: only{folder}}, file
}

// only is the one folder there is.
type only struct{ folder *notes.Folder }

func (o only) Folders() []*notes.Folder            { return []*notes.Folder{o.folder} }
func (o only) FactsFolder() (*notes.Folder, error) { return o.folder, nil }

var aDay = time.Date(2026, 11, 21, 8, 0, 0, 0, time.Local)

func textOf(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestFactsEditedByTheUserAreRead(t *testing.T) {
	f, _ := aMemory(t, "# About me\n\n- My cat is called Whiskers (2026-11-21, you)\n* I live in Graz\r\n- [x] Ines "+
		"is my sister (2026-11-20, chat ab12cd34)\n"+
		"\nprose (2026-11-20, you)\n  + Rent is due on the 1st (of each month)\n- They sleep a lot (2026-11-19, chat "+
		"x1, foreign)\n- ()\n")
	list, err := f.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, fact := range list {
		got = append(got, fact.Text+"|"+fact.Provenance())
	}
	want := "My cat is called Whiskers|2026-11-21, you;I live in Graz|;Ines is my sister|2026-11-20, chat ab12cd34;" +
		"Rent is due on the 1st (of each month)|;They sleep a lot|2026-11-19, chat x1, untrusted;()|"
	if strings.Join(got, ";") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, ";"), want)
	}
	if list[1].Line != 4 || list[1].Path != "memory.md" || list[1].Vault == "" || !list[4].Untrusted {
		t.Errorf("got %+v", list)
	}
}

func TestFactIsAddedAfterTheLastOne(t *testing.T) {
	for name, tc := range map[string]struct{ was, want string }{
		"no file yet":       {"", newMemoryFile + "- I like tea (2026-11-21, you)\n"},
		"no end of line":    {"- a", "- a\n- I like tea (2026-11-21, you)\n"},
		"text after it":     {"- a\n\nThe end.\n", "- a\n- I like tea (2026-11-21, you)\n\nThe end.\n"},
		"a file without it": {"# Me\n", "# Me\n\n- I like tea (2026-11-21, you)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f, file := aMemory(t, tc.was)
			diff, err := f.Remember("  I like\n tea ", aDay)
			if err != nil || !strings.Contains(diff, "+- I like tea (2026-11-21, you)") {
				t.Fatalf("got %q, %v", diff, err)
			}
			if got := textOf(t, file); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if _, err := f.Remember("i like TEA", aDay); err == nil ||
				!strings.Contains(err.Error(), "remembered already") {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestForgetRemovesOneLine(t *testing.T) {
	f, file := aMemory(t, "- My cat is called Whiskers\n- My dog is called Rex\n- cat\n")
	for text, want := range map[string]string{
		"called": "several facts match",
		"horse":  "no saved fact matches", " ": "text missing",
	} {
		if _, err := f.Forget(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("forget %q: %v", text, err)
		}
	}
	// the whole text of a fact names it, even if other facts contain it
	for _, text := range []string{"cat", "the dog Rex", "dog REX"} {
		_, _ = f.Forget(text)
	}
	if got := textOf(t, file); got != "- My cat is called Whiskers\n" {
		t.Errorf("left %q", got)
	}
}

// A fact is stored as one line and read back unchanged; its text cannot create another
// line or fake an origin.
func TestFactStaysOneLineWithItsOrigin(t *testing.T) {
	f, file := aMemory(t, "")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z(),\-\n#* \[\]:"äöü猫]{1,80}`).Draw(t, "text")
		_ = os.Remove(file)
		c, err := f.adding(text, agent.Caller{Conversation: "c1"}, aDay)
		if err != nil {
			t.Skip(err)
		}
		list := parseFacts(string(c.now))
		if len(list) != 1 || list[0].Origin != "c1" || strings.Join(strings.Fields(list[0].Text), " ") != list[0].Text {
			t.Fatalf("%q became %+v in %q", text, list, c.now)
		}
	})
}

func TestCheckboxIsNotRemembered(t *testing.T) {
	f, _ := aMemory(t, "")
	for _, text := range []string{"[ ]", "[x]", "- [ ]", "[\n]", ""} {
		if c, err := f.adding(text, agent.Caller{}, aDay); err == nil {
			t.Errorf("%q is remembered as %q", text, c.now)
		}
	}
	if facts := parseFacts("- [ ] (2026-11-21, you)\n- [ ] tea (2026-11-21, chat c1, foreign)\n"); len(facts) != 1 ||
		facts[0].Text != "tea" || !facts[0].Untrusted {
		t.Errorf("got %+v", facts)
	}
}

func TestRememberPreviewsItsLine(t *testing.T) {
	f, file := aMemory(t, "")
	tool := newRemember(noteWriter{vaults: f.folders, own: &ownChanges{}}, f, func() time.Time { return aDay })
	if tool.Properties().Level != agent.Confirm {
		t.Error("it runs without asking")
	}
	change, err := tool.(agent.Preparer).Prepare(t.Context(), []byte(`{"text":"I like tea"}`))
	if err != nil {
		t.Fatal(err)
	}
	if preview := change.Preview(); preview.Path != "memory.md" ||
		!strings.Contains(preview.Diff, "+- I like tea (2026-11-21, you)") {
		t.Fatalf("got %+v", preview)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written before it was allowed")
	}
	if _, err := change.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, file); !strings.HasSuffix(got, "- I like tea (2026-11-21, you)\n") {
		t.Errorf("wrote %q", got)
	}
}

func TestRecallFindsFactsAndExchanges(t *testing.T) {
	f, _ := aMemory(t, "- My cat is called Whiskers (2026-11-21, chat c, foreign)\n- I live in Graz\n")
	past := func(_ context.Context, question string, _ int) ([]agent.Recollection, error) {
		return []agent.Recollection{{
			Asked: aDay, Conversation: "c7", Title: "pets",
			Question: "Is " + question + " hungry?", Answer: "Always.",
		}}, nil
	}
	tool := newRecall(f, past, "")
	result, err := tool.Run(t.Context(), []byte(`{"query":"the cat"}`))
	want := "- My cat is called Whiskers (2026-11-21, chat c, untrusted)\n\nOn 2026-11-21, in \"pets\" (c7):\nUser: " +
		"Is the cat hungry?\nYou: Always."
	if err != nil || result.Text != want || !result.Listed[0].Untrusted {
		t.Errorf("got %+v, %v", result, err)
	}
	if all, err := tool.Run(t.Context(), []byte(`{}`)); err != nil || strings.Count(all.Text, "\n") != 1 ||
		tool.Properties().Level != agent.Auto {
		t.Errorf("got %+v, %v", all, err)
	}
	if none, err := newRecall(f, nil, "memory.scope is off").Run(t.Context(),
		[]byte(`{"query":"quantum chromodynamics"}`)); err != nil || !none.Nothing ||
		!strings.Contains(none.Text, "not searched: memory.scope is off") {
		t.Errorf("got %+v, %v", none, err)
	}
}
