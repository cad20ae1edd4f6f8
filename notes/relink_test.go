package notes

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// namesFor returns the names of notes, at the paths that they have after renames.
func namesFor(vault map[string]string, renames Renames) *Names {
	names := &Names{}
	for _, name := range slices.Sorted(maps.Keys(vault)) {
		note, _, _ := written(Entry{Path: renames.Of(name)}, []byte(vault[name]))
		names.Add(note.Path, slices.Concat(note.Titles(), note.IDs)...)
	}
	return names
}

// bare returns a note without what its links are called.
func bare(note, raw string) string {
	_, spots, source := written(Entry{Path: note}, []byte(raw))
	var edits []edit
	for _, spot := range spots {
		edits = append(edits, edit{spot.name, ""})
		if spot.other != spot.name && spot.other.stop > spot.other.start {
			edits = append(edits, edit{spot.other, ""})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	return string(rewrite([]byte(raw), source, edits))
}

// After a note is renamed, each link that led to a note leads to the same note, and nothing but the names in links
// differs.
func TestRelinkedNotesLeadWhereTheyDid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bases := []string{
			"plan", "Plan B", "Ünïcode", "日記", "v1.2 notes", "a (draft)",
			"100% sure", "plan & more", "it's",
		}
		folders := []string{"", "work/", "work/deep er/", "Reise/", "plan/"}
		vault := map[string]string{}
		for range rapid.IntRange(3, 9).Draw(t, "notes") {
			ext := rapid.SampledFrom([]string{".md", ".md", ".md", ".md", ".markdown", ".org", ".txt"}).Draw(t, "ext")
			vault[rapid.SampledFrom(folders).Draw(t, "folder")+rapid.SampledFrom(bases).Draw(t, "base")+ext] = ""
		}
		all := slices.Sorted(maps.Keys(vault))
		for _, name := range all {
			vault[name] = drawNote(t, name, all)
		}
		old := rapid.SampledFrom(all).Draw(t, "old")
		fresh := rapid.SampledFrom(folders).Draw(t, "new folder") + rapid.SampledFrom(append(bases, "new",
			"neu 2")).Draw(t, "new base") + path.Ext(old)
		if slices.ContainsFunc(all, func(name string) bool { return SameName(name, fresh) && name != old }) ||
			fresh == old {
			return
		}
		renames := Renames{old: fresh}
		r := Relinking{Before: namesFor(vault, nil), After: namesFor(vault, renames), Renames: renames, Files: texts{}}
		for name, raw := range vault {
			now, err := r.Relink(Entry{Path: name}, []byte(raw))
			if err != nil {
				t.Fatalf("%s → %s: %v in\n%s", old, fresh, err, raw)
			}
			was, _, _ := written(Entry{Path: name}, []byte(raw))
			is, _, _ := written(Entry{Path: renames.Of(name)}, now)
			for i, link := range was.Links {
				if found := r.Before.Of(name, link); found != "" &&
					r.After.Of(is.Path, is.Links[i]) != renames.Of(found) {
					t.Errorf("%s → %s: in %s, %+v led to %s, and %+v leads to %q", old, fresh, name, link, found,
						is.Links[i], r.After.Of(is.Path, is.Links[i]))
				}
			}
			if bare(name, raw) != bare(is.Path, string(now)) {
				t.Errorf("%s: more than links changed:\n%q\n%q", name, raw, now)
			}
		}
	})
}

// drawNote returns a note with links to others in all notations.
func drawNote(t *rapid.T, name string, all []string) string {
	var b strings.Builder
	title := rapid.SampledFrom([]string{"", "Title of " + path.Base(name), "plan", "Same title"}).Draw(t, "title")
	end := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "end")
	if path.Ext(name) == ".md" && rapid.Bool().Draw(t, "front") {
		fmt.Fprintf(&b, "---\naliases: [other name of %s]\nsee: \"[[%s]]\"\n---\n", path.Base(name),
			withoutMarkdown(rapid.SampledFrom(all).Draw(t, "see")))
	}
	if title != "" && path.Ext(name) != ".org" {
		b.WriteString("# " + title + "\n\n")
	}
	for range rapid.IntRange(0, 6).Draw(t, "links") {
		to := rapid.SampledFrom(all).Draw(t, "to")
		base := withoutMarkdown(path.Base(to))
		near := strings.Repeat("../", strings.Count(name, "/")) + to
		if path.Dir(to) == path.Dir(name) {
			near = path.Base(to)
		}
		forms := []string{
			"[[" + base + "]]", "![[" + base + "#Part|shown]]",
			"[[" + withoutMarkdown(to) + "|as | shown]]", "[[" + to + "]]",
			"[x](" + addressOf(near, false) + ")", "[x](<" + near + ">)",
			"[x](./" + addressOf(near, false) + "#part \"title\")",
			"[x](/" + addressOf(to, false) + ")", "[r]: " + addressOf(near, false), "{{embed [[" + base + "]]}}",
			"| [[" + base + "\\|cell]] |",
			"[[Title of " + path.Base(to) + "]]", "[[other name of " + path.Base(to) + "]]", "`[[" + base + "]]`",
			"[[label|" + withoutMarkdown(to) + "]]",
			"[[" + base + "#^block]] and [[" + base + "]]", "[[nowhere]] [x](nowhere.md)", "#[[" + base + "]]",
		}
		if path.Ext(name) == ".org" {
			forms = []string{
				"[[file:" + near + "][shown]]", "[[file:" + near + "::*Part]]", "[[" + base + "]]",
				"=[[file:" + near + "]]=",
			}
		}
		b.WriteString(rapid.SampledFrom(forms).Draw(t, "form") + "\n\n")
	}
	return strings.ReplaceAll(b.String(), "\n", end)
}

// texts are the texts of files by their paths.
type texts map[string]string

func (f texts) Exists(file string) bool { _, ok := f[file]; return ok }

func TestLinksAreRewrittenInTheirStyle(t *testing.T) {
	vault := map[string]string{
		"plan.md": "# The plan\n\n[next](work/next.md) ![pic](img/a%20b.png) ![[img/c.png]]\n",
		"work/next.md": "[[plan]] [[plan|p]] [[The plan]] [p](../plan.md#x \"t\") [p](/plan.md) <a> [r]\n\n[r]: " +
			"<../plan.md>\n",
		"img/a b.png": "", "img/c.png": "",
	}
	renames := Renames{"plan.md": "Reise/my plan (2).md"}
	r := Relinking{Before: namesFor(vault, nil), After: namesFor(vault, renames), Renames: renames, Files: texts(vault)}
	for name, want := range map[string]string{
		"plan.md": "# The plan\n\n[next](../work/next.md) ![pic](../img/a%20b.png) ![[img/c.png]]\n",
		"work/next.md": "[[my plan (2)]] [[my plan (2)|p]] [[The plan]] [p](../Reise/my%20plan%20%282%29.md#x \"t\") " +
			"[p](/Reise/my%20plan%20%282%29.md) <a> [r]\n\n[r]: <../Reise/my plan (2).md>\n",
	} {
		now, err := r.Relink(Entry{Path: name}, []byte(vault[name]))
		if err != nil || string(now) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, now, want)
		}
	}
}

// An address has escapes of Markdown, of HTML and of URLs.
func TestEscapedLinksFollow(t *testing.T) {
	const written = `[q](Q&A%20\(2026\).md) [r](Q\&A%20(2026).md) [s](Q&amp;A%20%282026%29.md#x) [t](<Q\&A ` +
		`\(2026\).md>)`
	vault := map[string]string{"a.md": written, "Q&A (2026).md": "# x\n"}
	renames := Renames{"Q&A (2026).md": "QA.md"}
	r := Relinking{Before: namesFor(vault, nil), After: namesFor(vault, renames), Renames: renames, Files: texts(vault)}
	now, err := r.Relink(Entry{Path: "a.md"}, []byte(written))
	if want := "[q](QA.md) [r](QA.md) [s](QA.md#x) [t](<QA.md>)"; err != nil || string(now) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, now, want)
	}
}

func TestTagsAreRenamedWhereverTheyStand(t *testing.T) {
	for raw, want := range map[string]string{
		"---\ntags: [Run, a/run, runner]\ntitle: run\n---\n#run #run/long #runner `#run` # run\n": "---\ntags: [sport/x, a/run, runner]\ntitle: run\n---\n#sport/x #sport/x/long #runner `#run` # run\n",
		"---\r\ntags:\r\n  - run\r\n  - b\r\nrun: tags\r\n---\r\nrun\r\n": "---\r\ntags:\r\n" +
			"  - sport/x\r\n  - b\r\nrun: tags\r\n---\r\nrun\r\n",
		"tags:: run, [[run]]\n\n```\ntags:: run\n#run\n```\n": "tags:: sport/x, " +
			"[[sport/x]]\n\n```\ntags:: run\n#run\n```\n",
		"+++\ntags = [\"run\"]\n+++\nx\n": "+++\ntags = [\"sport/x\"]\n+++\nx\n",
		"no such tag, run\n":              "no such tag, run\n",
	} {
		now, err := Retag(Entry{Path: "a.md"}, []byte(raw), "run", "sport/x")
		if err != nil || string(now) != want {
			t.Errorf("%v\n%q\nwant\n%q", err, now, want)
		}
	}
}
