package cli

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/cli/app"
)

func TestImageFileIsAttachedByName(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("chart.png", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ask := askCommand{Process: &app.Process{In: in}, files: []string{"chart.png"}}
	for prompt, want := range map[string]string{"what does it show?": "what does it show? ", "": ""} {
		want += `@"` + filepath.Join(dir, "chart.png") + `"`
		if m, err := ask.message(t.Context(), prompt); err != nil || m.Text != want || len(m.Attached) > 0 {
			t.Errorf("%q: %+v, %v", prompt, m, err)
		}
	}
	ask.files = []string{"missing.png"}
	if _, err := ask.message(t.Context(), "what?"); err == nil {
		t.Error("a missing image is no error")
	}
}
