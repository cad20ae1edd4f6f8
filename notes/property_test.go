package notes

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPropertiesAreReadLikeFrontMatter(t *testing.T) {
	for name, test := range map[string]struct {
		path, text    string
		title, day    string // empty: from the file name
		tags, aliases []string
		foreign       bool
	}{
		"a page of Logseq": {
			path: "pages/garden.md", text: "title:: Kitchen garden\ntags:: [[Outdoors]], hobby, #plan\nalias:: The " +
				"Plot, allotment\ndate:: [[2026-03-14]]\n\n- text\n",
			title: "Kitchen garden", day: "2026-03-14", tags: []string{"hobby", "outdoors", "plan"},
			aliases: []string{"The Plot", "allotment"},
		},
		"a block's tags": {
			path: "a.md", text: "- book\n  tags:: novel\n  title:: Emma\n", title: "a",
			tags: []string{"novel"},
		},
		"front matter comes first": {path: "a.md", text: "---\ntitle: One\n---\ntitle:: Two\n", title: "One"},
		"below text it is text":    {path: "a.md", text: "Words.\n\ntitle:: Two\nalias:: x\n", title: "a"},
		"in code it is code":       {path: "a.md", text: "```\ntags:: x\n```\n", title: "a"},
		"a web clipping": {
			path: "a.md", text: "source:: https://x.example\n\n- text\n",
			title: "a", foreign: true,
		},
		"C++ is not a property": {path: "a.md", text: "std::move it\nstd:: move\n", title: "a"},
		"the aliases of Obsidian": {
			path: "a.md", text: "---\naliases: [b, \"c d\"]\n---\n", title: "a",
			aliases: []string{"b", "c d"},
		},
		"an alias of Obsidian": {path: "a.md", text: "---\nalias: b\n---\n", title: "a", aliases: []string{"b"}},
		"a day in figures":     {path: "a.md", text: "---\ndate: 20250101\n---\n", title: "a", day: "2025-01-01"},
		"seconds": {
			path: "a.md", text: "---\ncreated: 1735732800\n---\n",
			title: "a", day: "2025-01-01",
		},
		"milliseconds of Dendron": {
			path: "a.md", text: "---\ncreated: 1735732800000\n---\n",
			title: "a", day: "2025-01-01",
		},
		"a number out of range":     {path: "a.md", text: "---\ncreated: 18446744073709551615\n---\n", title: "a"},
		"a year is not a date":      {path: "a.md", text: "---\ndate: 2025\n---\n", title: "a"},
		"a slash in Logseq's names": {path: "proj%2Fapollo.md", text: "x", title: "proj/apollo"},
		"a slash in its newer ones": {path: "proj___apollo.md", text: "x", title: "proj/apollo"},
		"a percent sign":            {path: "100%.md", text: "x", title: "100%"},
		"folders of days":           {path: "2026/03/14.md", text: "x", title: "14", day: "2026-03-14"},
	} {
		t.Run(name, func(t *testing.T) {
			n := Parse(Entry{Path: test.path, ModTime: time.Date(2026, 3, 14, 9, 0, 0, 0, time.Local)},
				[]byte(test.text))
			day := ""
			if !n.Date.IsZero() {
				day = n.Date.Format(time.DateOnly)
			}
			if n.Title != test.title || day != test.day || n.Untrusted != test.foreign {
				t.Errorf("title %q of %q, foreign %v", n.Title, day, n.Untrusted)
			}
			if !slices.Equal(n.Tags, test.tags) || !slices.Equal(n.Aliases, test.aliases) {
				t.Errorf("tags %q, aliases %q", n.Tags, n.Aliases)
			}
		})
	}
}

func TestOverlongFrontMatterIsReported(t *testing.T) {
	items := strings.Repeat("  - an item\n", 6000)
	for text, want := range map[string]int{
		"---\nlist:\n" + items + "---\nText.\n": 1, "---\n\n" + items: 0,
		"---\nlist:\n  - an item\n---\n" + items + "---\n": 0,
	} {
		if n := Parse(Entry{Path: "a.md"}, []byte(text)); len(n.Problems) != want {
			t.Errorf("%d bytes that begin %q have the problems %q, want %d", len(text), text[:20], n.Problems, want)
		}
	}
}

// TestBlocksWithIDsAreLinked: what has a property `id` is a link target, whichever program wrote it, and a link to
// a block leads to its text.
func TestBlocksWithIDsAreLinked(t *testing.T) {
	const uuid = "6735b2a1-1111-4222-8333-444455556666"
	for name, c := range map[string]struct{ path, text, is string }{
		"a block of Logseq": {"pages/Boiler.md", "- Boiler\n\t- set it to 1.4 bar\n\t  collapsed:: true\n\t  id:: " + uuid + "\n\t- other\n", "set it to 1.4 bar"},
		"a task of Logseq": {"pages/Boiler.md", "- TODO bleed it\n  SCHEDULED: <2026-12-01 Tue>\n  id:: " +
			uuid + "\n", "TODO bleed it"},
		"a heading of org-roam": {"boiler.org", "#+title: Boiler\n* Pressure\n:PROPERTIES:\n:ID: " + uuid +
			"\n:END:\n1.4 bar\n", "Pressure"},
		"front matter":           {"boiler.md", "---\nid: " + uuid + "\n---\n# Boiler\n", ""},
		"a page of its own name": {"boiler.md", "id:: " + uuid + "\n\n- text\n", ""},
	} {
		raw := []byte(c.text)
		if strings.HasSuffix(c.path, ".org") {
			raw = fromOrg(raw)
		}
		note := Parse(Entry{Path: c.path}, raw)
		var names Names
		names.Add(note.Path, append(note.Titles(), note.IDs...)...)
		for _, written := range []string{
			"see ((" + uuid + "))", "see ((" + strings.ToUpper(uuid) + "))", "[the pressure](((" + uuid + ")))",
			"{{embed ((" + uuid + "))}}", "[[id:" + uuid + "][it]]", "[[id:" + uuid + "]]",
		} {
			from := Parse(Entry{Path: "journals/2026_11_01.md"}, []byte(written+"\n"))
			if strings.Contains(written, "][") {
				from = Parse(Entry{Path: "day.org"}, fromOrg([]byte(written)))
			}
			if len(from.Links) != 1 || names.Of(from.Path, from.Links[0]) != c.path ||
				note.TextOf(from.Links[0].Target) != c.is {
				t.Errorf("%s: %s: %+v leads to %q, want the block %q; the note has %q", name, written, from.Links,
					note.TextOf(from.Links[0].Target), c.is, note.IDs)
			}
			if from.Links[0].Embed != strings.Contains(written, "embed") {
				t.Errorf("%s: embedded: %v", written, from.Links[0].Embed)
			}
		}
	}
	for path, text := range map[string]string{
		"202607071250 Thought.md": "x", "a.md": "---\nid: 202607071250\n---\nx",
		"20260707125000_b.md": "x",
	} {
		note := Parse(Entry{Path: path}, []byte(text))
		if !slices.ContainsFunc(note.IDs, func(id string) bool { return strings.HasPrefix(id, "202607071250") }) {
			t.Errorf("%s has the ids %q", path, note.IDs)
		}
	}
	for _, text := range []string{"((not a block))", "(( " + uuid + " ))", "`((" + uuid + "))`", "((6735b2a1))"} {
		if got := Parse(Entry{Path: "n.md"}, []byte(text)).Links; len(got) > 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
