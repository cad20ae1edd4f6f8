package passage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/internal/text"
	"lifehub/notes"
)

// TestRowsAndItemsKeepWhatIsAboveThem: however a note is divided, each row of a table is in
// a passage with its header, each list item in one with its parents, and each line of code
// in one with the line that opens it: in the text before it, or in the path of headings. The
// blocks that are shown have the header or parent too.
func TestRowsAndItemsKeepWhatIsAboveThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		above := map[string][]string{} // line → lines above it
		var written strings.Builder
		n := 0
		next := func(what string) string {
			n++
			return fmt.Sprintf("%s%03d %s", what, n, strings.Repeat("words ", rapid.IntRange(0, 12).Draw(t, "length")))
		}
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); kind {
			case 0:
				written.WriteString("## " + strings.TrimSpace(next("h")) + "\n\n")
			case 1:
				written.WriteString(next("p") + "\n\n")
			case 2: // with or without pipes at the ends
				pipe := rapid.SampledFrom([]string{"| ", ""}).Draw(t, "pipe")
				header := strings.TrimSpace(pipe + strings.TrimSpace(next("c")) + " | km")
				written.WriteString(header + "\n" + strings.TrimSpace(pipe+"--- | ---") + "\n")
				for range rapid.IntRange(1, 12).Draw(t, "rows") {
					row := pipe + strings.TrimSpace(next("r")) + " | 1"
					written.WriteString(row + "\n")
					above[row] = []string{header}
				}
				written.WriteString("\n")
			case 3: // also without a paragraph between, as in Logseq
				var parents []string
				for range rapid.IntRange(1, 14).Draw(t, "items") {
					depth := rapid.IntRange(0, min(len(parents), 4)).Draw(t, "depth")
					item := strings.TrimSpace(next("i"))
					written.WriteString(strings.Repeat("\t", depth) + "- " + item + "\n")
					above["- "+item], parents = slices.Clone(parents[:depth]),
						append(slices.Clone(parents[:depth]), item)
				}
				written.WriteString(rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end"))
				written.WriteString("\n")
			default:
				fence := rapid.SampledFrom([]string{"```", "~~~", "````"}).Draw(t, "fence") + "sh"
				indent := rapid.SampledFrom([]string{"", "  ", "> "}).Draw(t, "in an item or a quotation")
				if indent == "> " {
					written.WriteString("> " + strings.TrimSpace(next("p")) + "\n" + indent)
					fence = indent + fence
				} else if indent != "" {
					written.WriteString("- " + strings.TrimSpace(next("p")) + "\n" + indent)
				}
				written.WriteString(strings.TrimPrefix(fence, "> ") + "\n")
				for range rapid.IntRange(1, 9).Draw(t, "code") {
					line := strings.TrimSpace(next("x"))
					above[line] = []string{fence}
					written.WriteString(indent + line + "\n")
				}
				written.WriteString(indent + strings.TrimPrefix(strings.TrimSuffix(fence, "sh"), "> ") + "\n\n")
			}
		}
		note := notes.Parse(notes.Entry{Path: "n.md"}, []byte(written.String()))
		short := func(s string) string { // as far as it is in a path
			key, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(s, "| ")), " ")
			return key
		}
		left := map[string]bool{} // lines of code that no passage has as such
		for line, of := range above {
			if len(of) > 0 && strings.HasPrefix(line, "x") {
				left[short(line)] = true
			}
		}
		for _, p := range Cut(note, rapid.IntRange(12, 120).Draw(t, "size")) {
			piece, headings := note.Text[p.Start:p.End], strings.Join(p.Heading, Separator)
			for line := range strings.Lines(piece) {
				bare := strings.TrimRight(strings.TrimLeft(line, "\t"), "\n")
				parents, ok := above[bare]
				if !ok {
					continue
				}
				before := headings + "\n" + piece[:strings.Index(piece, bare)]
				for _, parent := range parents {
					if !strings.Contains(before, short(parent)) {
						t.Fatalf("%q is not under %q in %q | %q\n%s", bare, parent, headings, piece, written.String())
					}
				}
			}
			whole, _, _ := Whole(piece, headings)
			plain := dedented(whole)
			for _, b := range text.Blocks(plain) {
				if b.Header == "" {
					continue
				}
				lines := strings.Split(strings.TrimSpace(plain[b.Start:b.End]), "\n")
				if last := strings.TrimSpace(lines[len(lines)-1]); b.Kind == text.CodeBlock &&
					(len(lines) < 2 || strings.TrimSuffix(b.Header, "sh") != last) {
					t.Fatalf("the code is not closed: %q of %q | %q", whole, headings, piece)
				}
				for _, line := range lines {
					line = strings.TrimLeft(line, "> ")
					if of := above[line]; len(of) > 0 && of[len(of)-1] != b.Header {
						t.Fatalf("%q is in %q, not in %q: %q of %q", line, b.Header, of, whole, headings)
					}
					delete(left, short(line))
				}
			}
			for _, b := range Blocks("n.md", piece, headings, p.Line) {
				parents := above[strings.TrimSpace(b.Text)]
				if len(parents) == 0 || b.Code {
					continue
				}
				if last := short(parents[len(parents)-1]); !strings.Contains(b.Lead+b.Heading, last) {
					t.Fatalf("the block %+v is not under %q in %q | %q", b, last, headings, piece)
				}
			}
		}
		if len(left) > 0 {
			t.Fatalf("no code of a passage has %v\n%s", left, written.String())
		}
	})
}
