package notes

import (
	"strings"
	"testing"
	"time"

	"lifehub/internal/when"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", fullNote, "---\n---\n", "+++\na = 1\n+++\n# x", "---\na: &a [*a]\ntags: *a\n---\n",
		"\xff\xfe\x00", "\xef\xbb\xbf---\n",
		"a\n===\n\n    code\n", "- [ ] a 🔁 every 2 weeks on Mon, Fri when done 📅 2026-01-01 [due:: 2026-01-01] due: " +
			"2026-02-02 ^x\n", "- TODO a\n  SCHEDULED: <2026-01-01 Thu .+1w>\n", "- [ ] x 📅 2026-02-31 [due:: ] 🔁",
		"> > - [x] q\r\n\r\n```\r\n", "[[a|b#c]]![[#h]][x](<a b.md>)[y](%zz)",
		"#a##b #1 #1a\\#c (#d) `#e", "|a|\n|-|\n", "<!--\n#x\n", "[a]: b\n# [a]\n",
		"#\n##  ##\n", "0#[[#0]] #[[a b]] #[[",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		began := time.Now()
		n := Parse(Entry{Path: "2026-01-02.md", ModTime: time.Unix(0, 0)}, raw)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%d bytes took %v", len(raw), took)
		}
		checkNote(t, n)
		for _, each := range n.Tasks {
			done, ok := ParseTasks(each.Ticked(dayOf("1970-01-01")))
			if !ok || !done.Done {
				t.Errorf("%q is ticked as %q", each.Raw, done.Raw)
			}
			if next, ok := each.Next(dayOf("1970-01-01"), when.Day{}); ok && !next.Open() {
				t.Errorf("%q comes again as %q", each.Raw, next.Raw)
			}
		}
		for _, tag := range n.Tags {
			if tag == "" || strings.HasPrefix(tag, "#") {
				t.Errorf("tag %q", tag)
			}
		}
	})
}
