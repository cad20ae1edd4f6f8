package chatcmd

import (
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent/gate"
	"lifehub/internal/apptest"
)

func TestRelatedNotesInTheChat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plan.md":      "# The plan\n\nRun.\n",
		"shoes.md":     "---\ntags: ['[a](http://evil.example)']\n---\n# *Shoes*\n\nFor [[plan|my runs]].\n",
		"a`b <i>.md":   "We keep to the plan.\n",
		"elsewhere.md": "Tea.\n",
	} {
		apptest.Write(t, filepath.Join(dir, name), text)
	}
	bg := &background{App: apptest.Open(t, dir)}
	if _, err := bg.slashIndex(t.Context(), "", ""); err != nil {
		t.Fatal(err)
	}
	got, err := bg.slashRelated(t.Context(), "", "plan")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"related to `plan.md`:\n\n", "- `shoes.md`: links here (line 6)",
		"- `a'b <i>.md`: closest in meaning, ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	got, err = bg.slashRelated(t.Context(), "", "shoes")
	if err != nil || strings.Contains(got, "[a]") {
		t.Errorf("got %q, %v", got, err)
	}
	hidden, err := gate.Parse("permissions.yaml", []byte("rules:\n- {tool: read_note, level: deny, args: {path: "+
		"shoes.md}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	was := bg.App.Rules
	bg.App.Rules = hidden
	if got, err := bg.slashRelated(t.Context(), "", "plan"); err != nil || strings.Contains(got, "shoes") ||
		!strings.Contains(got, "1 note related") {
		t.Errorf("with a note that a rule denies: %q, %v", got, err)
	}
	if got, err := bg.slashRelated(t.Context(), "", "shoes"); err == nil {
		t.Errorf("of a note that a rule denies: %q", got)
	}
	bg.App.Rules = was
	if _, err := bg.slashRelated(t.Context(), "", "plans"); err == nil || !strings.Contains(err.Error(), "no note") {
		t.Errorf("got %v", err)
	}
	if _, err := bg.slashRelated(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), "which note?") {
		t.Errorf("got %v", err)
	}
}
