package chat

import (
	"path/filepath"
	"testing"

	"lifehub/internal/apptest"
)

func TestAPromptIsFilledIn(t *testing.T) {
	for _, c := range [][3]string{
		{"Sum up my week.", "", "Sum up my week."},
		{"Sum up my week.\n", "in German", "Sum up my week.\n\nin German"},
		{"Translate to $1: $2", `German "good morning"`, "Translate to German: good morning"},
		{"About $ARGUMENTS, and $ARGUMENTS again", "a b", "About a b, and a b again"},
		{"$1 costs $20 or $2", "it", "it costs $20 or "},
		{"$1", "$2 x", "$2"},
	} {
		if got := filledPrompt(c[0], c[1]); got != c[2] {
			t.Errorf("%q with %q: got %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestAFileOfPromptsIsACommand(t *testing.T) {
	a := apptest.Open(t, apptest.Vault(t))
	apptest.Write(t, filepath.Join(a.Paths.PromptsFolder(), "week.md"), "# Sum up my week\n\nFor $ARGUMENTS.\n")
	apptest.Write(t, filepath.Join(a.Paths.PromptsFolder(), "Not this.md"), "x")
	list := userPrompts(a)
	if len(list) != 1 || list[0].Name != "week" || list[0].Args != "TEXT" || list[0].Help != "Sum up my week" {
		t.Fatalf("got %+v", list)
	}
	if text, err := list[0].Prompt("November"); err != nil || text != "# Sum up my week\n\nFor November." {
		t.Errorf("got %q, %v", text, err)
	}
}
