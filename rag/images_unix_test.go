//go:build unix

package rag

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"

	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/notes/pdf"
)

// blank is a PNG without text, unlike those of other shades.
func blank(t *testing.T, shade byte) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 60, 40))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// reader writes a program that is run instead of tesseract, reads "gauges of box N" from
// the Nth image, and records its calls in a file.
func reader(t *testing.T) (program, calls string) {
	t.Helper()
	program, calls = filepath.Join(t.TempDir(), "tesseract"), filepath.Join(t.TempDir(), "calls")
	script := "#!/bin/sh\n[ \"$1\" = --list-langs ] && exit 1\necho >> " + calls + "\n/bin/cat > /dev/null\n" +
		`printf '4\t1\t1\t1\t1\t0\t0\t0\t90\t10\t-1\t\n5\t1\t1\t1\t1\t1\t0\t0\t40\t10\t96\tgauges of box %d\n' ` +
		`$(/usr/bin/wc -c < ` + calls + `)`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(calls, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return program, calls
}

func openImages(t *testing.T, dir, index, tesseract string) (*notes.Folder, *Index) {
	t.Helper()
	folder, x := openVault(t, dir, index)
	folder.ReadWith(pdf.Reader{Tesseract: tesseract})
	x.imageTime = 0 // each sync reads one
	return folder, x
}

func syncImages(t *testing.T, x *Index, folder *notes.Folder) Changes {
	t.Helper()
	changes, err := x.SyncImages(t.Context(), folder, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func TestTextOfAnImageIsFound(t *testing.T) {
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	offer, err := os.ReadFile("../notes/pdf/testdata/offer.png")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"scans/offer.png": string(offer), "photo.png": blank(t, 200),
		"a.md": "# A\n\napples\n",
	})
	folder, x := openVault(t, dir, t.TempDir())
	folder.ReadWith(pdf.Reader{Tesseract: tesseract})
	changes := syncImages(t, x, folder)
	if got := whats(changes); !slices.Equal(got, []string{"added a.md", "added scans/offer.png"}) ||
		changes.Total != 2 || changes.Images != 0 || changes.LeftOut.String() != "1 file left out: 1 image" {
		t.Errorf("it did %q, %+v", got, changes)
	}
	found, err := x.Search(t.Context(), Query{Text: "boiler pressure"})
	if err != nil || len(found.Passages) == 0 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if p := found.Passages[0]; p.Path != "scans/offer.png" || p.Line != 1 || p.Heading != notes.ByOCR || !p.Untrusted {
		t.Errorf("found %+v", p)
	}
	if c := found.Coverage; c.Indexed != 2 || c.Total != 2 || c.Unread != 0 {
		t.Errorf("coverage is %+v", c)
	}
	files, err := x.Status(t.Context(), folder)
	if err != nil || len(files) != 2 {
		t.Errorf("the status is %+v, %v", files, err)
	}
	if dry, err := x.DryRun(t.Context(), folder); err != nil || len(dry.Notes) != 0 {
		t.Errorf("a dry run says %+v, %v", dry.Notes, err)
	}
	if again := syncImages(t, x, folder); len(again.Notes) != 0 || again.Total != 2 ||
		again.LeftOut.String() != "1 file left out: 1 image" {
		t.Errorf("another sync says %+v", again)
	}
}

func TestImagesAreReadAfterNotes(t *testing.T) {
	dir, at := t.TempDir(), t.TempDir()
	files := map[string]string{"z.md": "# Z\n\nzebras\n"}
	for i := range 4 {
		files[fmt.Sprintf("%d.png", i)] = blank(t, byte(i))
	}
	write(t, dir, files)
	tesseract, calls := reader(t)
	folder, x := openImages(t, dir, at, tesseract)
	check := func(changes Changes, reads, left int) {
		t.Helper()
		raw, err := os.ReadFile(calls)
		if err != nil || len(raw) != reads || changes.Images != left {
			t.Errorf("%d images were read, %d are left, want %d and %d, %v", len(raw), changes.Images, reads, left, err)
		}
		c, err := x.Coverage(t.Context())
		if err != nil || c.Unread != 0 || c.Total != 1+reads || c.Indexed != c.Total ||
			c.LeftOut[notes.UnreadImage] != left {
			t.Errorf("coverage is %+v, %v", c, err)
		}
	}
	check(syncNow(t, x, folder, nil), 0, 4)
	if got := paths(t, x, "zebras"); !slices.Equal(got, []string{"z.md"}) {
		t.Errorf("zebras are found in %q", got)
	}
	check(syncImages(t, x, folder), 1, 3)
	write(t, dir, map[string]string{"z.md": "# Z\n\nzebras and yaks\n"})
	changes := syncImages(t, x, folder)
	check(changes, 2, 2)
	if got := whats(changes); !slices.Equal(got, []string{"added 1.png", "changed z.md"}) {
		t.Errorf("it did %q", got)
	}
	check(syncNow(t, x, folder, nil), 2, 2)
	folder, x = openImages(t, dir, at, tesseract) // as after a kill
	check(syncImages(t, x, folder), 3, 1)
	check(syncImages(t, x, folder), 4, 0)
	check(syncImages(t, x, folder), 4, 0)
	if got := paths(t, x, "gauges"); len(got) != 4 {
		t.Errorf("gauges are found in %q", got)
	}
}

func TestCancelledSyncKeepsImagesThatWereRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.png": blank(t, 1), "b.png": blank(t, 2), "c.png": blank(t, 3)})
	tesseract, calls := reader(t)
	folder, x := openImages(t, dir, t.TempDir(), tesseract)
	x.imageTime = 1 << 62
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := x.SyncImages(ctx, folder, nil, func(p Progress) {
		if p.Phase == "images" && p.Done == 2 {
			cancel()
		}
	})
	if err == nil {
		t.Error("it was not cancelled")
	}
	if got := paths(t, x, "gauges"); len(got) != 2 {
		t.Errorf("after two of them, images are found: %q", got)
	}
	changes := syncImages(t, x, folder)
	if raw, err := os.ReadFile(calls); err != nil || len(raw) != 3 ||
		!slices.Equal(whats(changes), []string{"added c.png"}) {
		t.Errorf("%d images were read, %q, %v", len(raw), whats(changes), err)
	}
}

func TestIndexedImageStaysWithoutTesseract(t *testing.T) {
	dir, at := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.png": blank(t, 1), "b.png": blank(t, 2), "z.md": "# Z\n\nzebras\n"})
	tesseract, _ := reader(t)
	folder, x := openImages(t, dir, at, tesseract)
	syncImages(t, x, folder)
	folder, x = openImages(t, dir, at, "")
	if changes := syncImages(t, x, folder); len(changes.Notes) != 0 || changes.Images != 0 ||
		len(paths(t, x, "gauges")) != 1 {
		t.Errorf("without tesseract, it did %+v", changes)
	}
	if dry, err := x.DryRun(t.Context(), folder); err != nil || len(dry.Notes) != 0 {
		t.Errorf("a dry run says %+v, %v", dry.Notes, err)
	}
	remove(t, dir, "a.png")
	if got := whats(syncImages(t, x, folder)); !slices.Equal(got, []string{"removed a.png"}) {
		t.Errorf("a removed image: %q", got)
	}
	folder, x = openImages(t, dir, at, tesseract)
	if got := whats(syncImages(t, x, folder)); !slices.Equal(got, []string{"added b.png"}) {
		t.Errorf("with tesseract again: %q", got)
	}
}

func TestWatchReadsNewImages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.png": blank(t, 1), "b.png": blank(t, 2)})
	tesseract, _ := reader(t)
	folder, x := openImages(t, dir, t.TempDir(), tesseract)
	report := watched(t, x, folder, uses(nil), fsnotify.NewWatcher)
	until(t, report, "added a.png", "added b.png")
	elsewhere := t.TempDir()
	write(t, elsewhere, map[string]string{"c.png": blank(t, 3)})
	if err := os.Rename(filepath.Join(elsewhere, "c.png"), filepath.Join(dir, "c.png")); err != nil {
		t.Fatal(err)
	}
	until(t, report, "added c.png")
}

func TestChangesOfTwoSyncsAreJoined(t *testing.T) {
	first := Changes{
		Notes:    []Change{{Path: "b.md", What: added}, {Path: "x.pdf", What: skipped, Reason: "damaged"}},
		Embedded: 2, Images: 3, Rebuilt: "damaged",
	}
	next := Changes{
		Notes:    []Change{{Path: "a.png", What: added}, {Path: "x.pdf", What: skipped, Reason: "damaged"}},
		Embedded: 1, Total: 4,
	}
	got := first.Then(next)
	if strings.Join(whats(got), ", ") != "added a.png, added b.md, skipped x.pdf" || got.Embedded != 3 ||
		got.Images != 0 || got.Total != 4 || got.Rebuilt != "damaged" {
		t.Errorf("it is %+v", got)
	}
}

// A tesseract that hangs is given up after three images, and a sync says so.
func TestImagesAreGivenUpIfTesseractHangs(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"z.md": "# Z\n\nzebras\n"}
	for i := range 6 {
		files[fmt.Sprintf("%d.png", i)] = blank(t, byte(i))
	}
	write(t, dir, files)
	tesseract, calls := reader(t)
	// like one that gets no time
	script := "#!/bin/sh\n[ \"$1\" = --list-langs ] && exit 1\necho >> " + calls + "\nkill -s KILL $PPID\n"
	if err := os.WriteFile(tesseract, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	folder, x := openImages(t, dir, t.TempDir(), tesseract)
	var warned int
	for range len(files) {
		warned += len(syncImages(t, x, folder).Warnings)
	}
	if raw, err := os.ReadFile(calls); err != nil || len(raw) != 3 || warned == 0 {
		t.Errorf("%d images were tried, %d warnings, %v", len(raw), warned, err)
	}
	if got := paths(t, x, "zebras"); !slices.Equal(got, []string{"z.md"}) {
		t.Errorf("zebras are found in %q", got)
	}
}
