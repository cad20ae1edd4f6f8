package rag

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/notes"

	"lifehub/internal/testenv"
)

// noteShapes fill a note of about n bytes, each with a shape that makes a Markdown
// parser slow or an index large.
var noteShapes = map[string]func(n int) string{
	"ordinary":    ordinaryNote,
	"one heading": func(n int) string { return "# " + filled("moor heath fen ", n/2) + "\n\n" + ordinaryNote(n/2) },
	"title in front": func(n int) string {
		return "---\ntitle: " + filled("moor heath fen ", n/2) + "\n---\n" + ordinaryNote(n/2)
	},
	"front matter": func(n int) string {
		return "---\n" + lines("key%d: value of the key", n/2) + "---\n" + ordinaryNote(n/2)
	},
	"list of tags": func(n int) string {
		return "---\ntags:\n" + lines("  - tag%d", n/2) +
			"---\n" + ordinaryNote(n/2)
	},
	"tags in the text": func(n int) string { return lines("#tag%d and some words", n) },
	"aliases": func(n int) string {
		return "---\naliases:\n" + lines("  - other name %d", n/2) + "---\n" + ordinaryNote(n/2)
	},
	"headings": func(n int) string { return lines("## Heading %d", n) },
	"headings, six deep": func(n int) string {
		return filled("# a\n## b\n### c\n#### d\n##### e\n###### f\n\ntext "+
			"here\n\n", n)
	},
	"long headings": func(n int) string {
		return filled("## "+
			filled("moor heath fen ", 4<<10)+"\n\ntext\n\n", n)
	},
	"one line":          func(n int) string { return filled("moor heath fen ", n) },
	"one word":          func(n int) string { return filled("moor", n) },
	"brackets":          func(n int) string { return filled("[", n) },
	"brackets and text": func(n int) string { return filled("[[a ![b ", n) },
	"links":             func(n int) string { return filled("[[note]] [a](b) ", n) },
	"stars":             func(n int) string { return filled("*a _b **c ", n) },
	"ticks":             func(n int) string { return filled("` `` ``` ", n) },
	"angles":            func(n int) string { return filled("<a <!-- <? ", n) },
	"quotes":            func(n int) string { return filled(strings.Repeat("> ", 150)+"deep\n", n) },
	"bullets, 150 deep": nestedBullets,
	"flat bullets":      func(n int) string { return lines("- item %d", n) },
	"tasks":             func(n int) string { return lines("- [ ] task %d 📅 2026-11-27 #home", n) },
	"table":             func(n int) string { return "| a | b |\n|---|---|\n" + lines("| %d | cell |", n) },
	"wide table": func(n int) string {
		return filled("| a ", n/3) + "|\n" + filled("|---", n/3) + "|\n" + filled("| b ", n/3) + "|\n"
	},
	"definitions":         func(n int) string { return lines("[ref%d]: https://example.org/a", n) },
	"footnotes":           func(n int) string { return lines("word[^%[1]d]\n\n[^%[1]d]: the note\n", n) },
	"rules":               func(n int) string { return filled("text\n---\n", n) },
	"code":                func(n int) string { return "```\n" + lines("line %d of the code", n) + "```\n" },
	"open fence":          func(n int) string { return "```\n" + lines("line %d of the code", n) },
	"fences":              func(n int) string { return filled("```\ncode\n```\n", n) },
	"html":                func(n int) string { return filled("<div><b>bold</b>\n", n) },
	"Chinese":             func(n int) string { return filled("今天天气很好我们去公园散步。", n) },
	"Chinese, no stops":   func(n int) string { return filled("今天天气很好我们去公园散步", n) },
	"blank lines":         func(n int) string { return filled("\n", n) },
	"blanks":              func(n int) string { return filled(" ", n) + "end" },
	"carriage returns":    func(n int) string { return filled("\r", n) },
	"NUL":                 func(n int) string { return filled("\x00", n) },
	"bytes that are none": func(n int) string { return filled("\xff\xfe\xfd", n) },
	"stops and quotes":    func(n int) string { return filled(".\"'", n) },
	"properties":          func(n int) string { return lines("key%d:: value", n) },
	"dates":               func(n int) string { return filled("2026-11-22 ", n) },
}

func filled(piece string, n int) string { return strings.Repeat(piece, n/len(piece)+1) }

func lines(format string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

func nestedBullets(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s- item %d\n", strings.Repeat(" ", 2*(i%150)), i)
	}
	return b.String()
}

func ordinaryNote(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		if i%5 == 0 {
			fmt.Fprintf(&b, "\n## Walk %d\n\n", i)
		}
		fmt.Fprintf(&b, "On day %d we went over the moor and saw curlew number %d. The heath was wet, and [[Fen]] "+
			"lay behind it.\n\n", i, i*7)
	}
	return b.String()
}

// indexOne has sync index one note and returns the bytes of its index and the time.
func indexOne(t testing.TB, text string, sync func(*Index, *notes.Folder) (Changes,
	error),
) (size int64, took time.Duration) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	index := t.TempDir()
	x, err := Open(index, Options{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	changes, err := sync(x, folder)
	if err != nil || changes.Total != 1 {
		t.Fatalf("%d notes, %v", changes.Total, err)
	}
	took = time.Since(began)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return folderSize(t, index), took
}

// TestNoShapeOfANoteMakesALargeIndex: what is written for a note follows its
// size, whatever it is made of.
func TestNoShapeOfANoteMakesALargeIndex(t *testing.T) {
	t.Parallel()
	if testenv.Race {
		t.Skip("runs without the race detector: nothing here starts a goroutine of its own")
	}
	const size, bound = 48 << 10, 5
	// without the questions that measure what scores mean
	sync := func(x *Index, folder *notes.Folder) (Changes, error) {
		return x.SyncPaths(t.Context(), folder, nil, []string{"note.md"})
	}
	ordinary, _ := indexOne(t, ordinaryNote(size), sync)
	for name, note := range noteShapes {
		if got, _ := indexOne(t, note(size), sync); got > bound*ordinary {
			t.Errorf("%s: the index has %d bytes, that of an ordinary note %d", name, got, ordinary)
		}
	}
}

// BenchmarkShapes reports how much longer the largest note of each shape takes
// to index than an ordinary one of that size; the bar is 5.
func BenchmarkShapes(b *testing.B) {
	const size = 16<<20 - 64<<10 // a longer note is not read
	sync := func(x *Index, folder *notes.Folder) (Changes, error) { return x.Sync(b.Context(), folder, nil, nil) }
	_, ordinary := indexOne(b, ordinaryNote(size), sync)
	for _, name := range slices.Sorted(maps.Keys(noteShapes)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, took := indexOne(b, noteShapes[name](size), sync)
				b.ReportMetric(float64(took)/float64(ordinary), "x")
			}
		})
	}
}
