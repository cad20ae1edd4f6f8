//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// TestImagesAreIndexedAndOpened follows a user whose notes have a scan and a photo next to them.
func TestImagesAreIndexedAndOpened(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	scan, err := os.ReadFile("../notes/pdf/testdata/offer.png")
	if err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	apptest.Write(t, filepath.Join(dir, "walks.md"), "# Walks\n\nWe walked over the hill.\n")
	apptest.Write(t, filepath.Join(dir, "in", "offer.png"), string(scan))
	apptest.Write(t, filepath.Join(dir, "in", "photo.jpg"), "damaged")
	for _, step := range []struct {
		path    string // where programs are
		command []string
		want    string // in its output
	}{
		{t.TempDir(), []string{"index", dir}, "1 note indexed\n2 files left out: 2 images\n"},
		{filepath.Dir(tesseract), []string{"search", "valve price"}, "2 images not read"},
		{filepath.Dir(tesseract), []string{"index"}, "added    in/offer.png\n" + dir +
			": 2 notes indexed, 1 added\n1 file left out: 1 image\n"},
		{filepath.Dir(tesseract), []string{"search", "valve price"}, "in/offer.png p. 1  read by OCR\n"},
		{filepath.Dir(tesseract), []string{"note", "offer.png p. 1"}, "Valve 4 12.50\n"},
		{filepath.Dir(tesseract), []string{"note", "photo"}, "in/photo.jpg: image: "},
		{t.TempDir(), []string{"search", "valve price"}, "in/offer.png p. 1  read by OCR\n"},
	} {
		cmd := exec.Command(os.Args[0], step.command...)
		cmd.Dir = home
		cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=offline",
			"TERM=dumb", "PATH="+step.path)
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), step.want) {
			t.Errorf("%s with programs in %s lacks %q:\n%s", step.command, step.path, step.want, out)
		}
	}
}
