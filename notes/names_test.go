package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"lifehub/internal/text"
)

// TestNameInAnyFormIsTheSameNote: a name in NFC or NFD and in any case finds the note, and
// no second one is created.
func TestNameInAnyFormIsTheSameNote(t *testing.T) {
	folder := vault(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.SampledFrom([]rune("aäÄÅéñçßẞſσςİıợ한日🏠ﬁ .-")), 1, 20, 60).Draw(t, "name")
		name = "x" + strings.TrimRight(name, " .")
		spelled, other := norm.NFD.String(name), norm.NFC.String(strings.ToUpper(name))
		if rapid.Bool().Draw(t, "composed") {
			spelled, other = norm.NFC.String(name), norm.NFD.String(strings.ToUpper(name))
		}
		if text.Key(spelled) != text.Key(other) {
			t.Fatalf("%q and %q have the keys %q and %q", spelled, other, text.Key(spelled), text.Key(other))
		}
		var names Names
		names.Add("Übung/" + spelled + ".md")
		for _, target := range []string{other, "übung/" + other + ".md", norm.NFD.String("ÜBUNG/") + other} {
			if got := names.To("from.md", target); got != "Übung/"+spelled+".md" {
				t.Fatalf("%q leads to %q", target, got)
			}
		}
		err := folder.Create(spelled+".md", "")
		if err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		if own, taken, err := folder.Spelled(other + ".md"); err != nil || !taken || !SameName(own, spelled) {
			t.Fatalf("%q is spelled %q, %v, %v", other, own, taken, err)
		}
		if err := folder.Create(other+".md", ""); !errors.Is(err, fs.ErrExist) {
			t.Fatalf("a second %q: %v", other, err)
		}
	})
}

// TestExactSpellingWins: of several notes with one key, the one that is spelled so is
// meant, and a new spelling is refused.
func TestExactSpellingWins(t *testing.T) {
	nfc, nfd := norm.NFC.String("Café.md"), norm.NFD.String("Café.md")
	folder := vault(t, map[string]string{nfc: "a", nfd: "b"})
	if paths, _ := list(t, folder); len(paths) != 2 {
		t.Skip("the file system knows one of them")
	}
	var names Names
	names.Add(nfc)
	names.Add(nfd)
	for _, name := range []string{nfc, nfd} {
		if got := names.To("x.md", strings.TrimSuffix(name, ".md")); got != name {
			t.Errorf("%q leads to %q", name, got)
		}
		if own, taken, err := folder.Spelled(name); own != name || !taken || err != nil {
			t.Errorf("%q: %q, %v, %v", name, own, taken, err)
		}
	}
	if _, _, err := folder.Spelled("CAFÉ.md"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("another spelling: %v", err)
	}
}

func TestWikilinkHalves(t *testing.T) {
	var names Names
	names.Add("proj.apollo.rover.md")
	names.Add("Plan.md", "The Plan")
	names.Add("roam.org", "id:5E2C-11")
	names.Add("m/[ACME] Talk.md")
	names.Add("v1.2 plan.md")
	names.Add("0123abcd.md")
	for link, want := range map[string]string{
		"[[the rover plan|proj.apollo.rover]]":           "proj.apollo.rover.md",
		"[[the rover plan|proj.apollo.rover#wheels]]":    "proj.apollo.rover.md",
		"[[Plan|proj.apollo.rover]]":                     "Plan.md",
		"[[id:5e2c-11|the roam]]":                        "roam.org",
		"[proj.apollo.rover](missing.md)":                "",
		"[[a|b]]":                                        "",
		"[[the plan]]":                                   "Plan.md",
		"[[Übung|The Plan]]":                             "Plan.md",
		"![[proj.apollo.rover.md|300]]":                  "proj.apollo.rover.md",
		"[[proj.apollo.rover#wheels|those four wheels]]": "proj.apollo.rover.md",
		"![[dendron://vault/proj.apollo.rover#wheels]]":  "proj.apollo.rover.md",
		"[[The%20Plan]]":                                 "Plan.md",
		"[[100% sure|The Plan]]":                         "Plan.md",
		"[[m/[ACME] Talk]]":                              "m/[ACME] Talk.md",
		"[[[ACME] Talk|the one]]":                        "m/[ACME] Talk.md",
		"[[[Plan]]]":                                     "Plan.md",
		"[x](v1.2%20plan)":                               "v1.2 plan.md",
		"[x](:/0123abcd#part)":                           "0123abcd.md",
		"[x]: <v1.2 plan.md> 'a'":                        "v1.2 plan.md",
		"[a [b] c](Plan.md)":                             "Plan.md",
		"[a \\[ c](Plan.md)":                             "Plan.md",
		"[![x](y.png)](Plan.md)":                         "Plan.md",
		"[the plan]: Plan.md":                            "Plan.md",
		"[x]: ./m/%5BACME%5D%20Talk.md \"t\"":            "m/[ACME] Talk.md",
	} {
		note := Parse(Entry{Path: "a.md"}, []byte(link))
		if len(note.Links) != 1 {
			t.Errorf("%s: links %v", link, note.Links)
		} else if got := names.Of("a.md", note.Links[0]); got != want {
			t.Errorf("%s leads to %q, want %q", link, got, want)
		}
	}
}

func TestBracketsThatAreNoLinks(t *testing.T) {
	for _, text := range []string{
		"[[a", "[[]]", "[[ ]]", "[[a]b]]", "[[a\nb]]", "[^1]: Plan.md", "[x]: see the plan",
		"[x](a.mp3)", "[x]: https://example.org", "text [x]: Plan.md", "[//begin]: # \"x\"",
	} {
		if got := Parse(Entry{Path: "a.md"}, []byte(text)).Links; len(got) > 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestPortableNames: a portable name has nothing that a system refuses, stays as it is,
// and is that of an ordinary one.
func TestPortableNames(t *testing.T) {
	for name, want := range map[string]string{
		"Meeting: Q1 / Q2?.md": "Meeting - Q1 - Q2.md", "a#b^c[d]|e.md": "a-b-c-d-e.md",
		"10:30 stand-up": "10-30 stand-up",
		"CON.md":         "_CON.md", "lpt1.notes.md": "_lpt1.notes.md",
		"console.md": "console.md", "a./b .md": "a/b.md",
		"trail. .md":       "trail.md",
		"recipes/ramen.md": "recipes/ramen.md", "🏠 Haus.md": "🏠 Haus.md",
		"- list -.md": "- list -.md", "what?.md": "what.md",
		`a\b.md`: "a-b.md", norm.NFD.String("Café.md"): norm.NFC.String("Café.md"),
		"proj.apollo.rover.md": "proj.apollo.rover.md",
	} {
		if got := Portable(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune(`:/\?*"<>|#^[]. -conaux1`)))).Draw(t,
			"name")
		got := Portable(name + ".md")
		if again := Portable(got); again != got {
			t.Fatalf("%q becomes %q, then %q", name, got, again)
		}
		for part := range strings.SplitSeq(strings.TrimSuffix(got, ".md"), "/") {
			if part == "." || part == ".." {
				continue
			}
			if strings.ContainsAny(part, `<>:"|?*\#^[]`) || strings.TrimRight(part, ". ") != part || len(part) > 255 ||
				utf8.ValidString(name) && !utf8.ValidString(part) {
				t.Fatalf("%q becomes %q", name, got)
			}
		}
	})
}

// TestCopiesAndPlaceholders: what sync programs leave next to a note is known as such, and
// names that people give are not.
func TestCopiesAndPlaceholders(t *testing.T) {
	const body = "# Boiler\n\nPressure 1.4 bar.\nChecked in May.\nValve is new.\n- [ ] call the plumber\n"
	files := map[string]string{
		"Boiler.md": body, "other/Boiler 2.md": body, "Lone (conflicted copy 2026-11-01).md": body,
		"2026-11.md": body, "2026-11-20.md": body,
		"Boiler-notes.md": "Something else\nentirely\n", "Boiler 3.md": strings.ReplaceAll(body, "e", "x"),
		"Boilers.md": body, "Boiler2.md": body, norm.NFD.String("Boileŕ.md"): body, "Boiler 2026-W47.md": body,
		"Plan.md": "", "Plan 2025.md": "", "Plan 2026.md": "# Plan\nmore\n",
		".Gone.md.icloud": "x", "Far.md.nextcloud": "", "Film.mp4.cloud": "",
	}
	plain := []string{
		".sync-conflict-20261101-101112-ABCDEF", " (Ann's conflicted copy 2026-11-01)",
		" (conflicted copy 2026-11-01 101112)", " (SFConflict ann@example.org 2026-11-01-10-11-12)",
		" (Case Conflict)", "_conflict-20261101-101112", " (In Konflikt stehende Kopie von Ann 2026-11-01)",
		" [Conflict 2026-11-01]",
		" (conflicting copy)", " (Ann's conflicting copy 2026-11-01)", " (Copie en conflit de Ann 2026-11-01)",
		" (Copia in conflitto di Ann)", " (Ann 的冲突副本)",
	}
	similar := []string{
		"_NAS_Nov-01-101010-2026_Conflict", ".conflict", " (Ann Conflict)", " copy", " - Kopie (2)",
		" 2", " (1)", "-ANNS-PC", "-DESKTOP-4F2K", "-Anns MacBook",
	}
	equal := []string{
		" (1) (1)", "_1", ".dup", ".path1", "~HEAD", "_REMOTE_12345", "_BACKUP_12345", "（冲突副本）", "+phone", ", Ann's",
		" – neu", "_20261101T101112",
	}
	for _, end := range equal {
		files["Boiler"+end+".md"] = body
	}
	files["Boiler Rome.md"] = body + "- [ ] see the baths\n" // made from it
	for _, end := range plain {
		files["Boiler"+end+".md"] = "quite another text\n- [ ] call the plumber\n"
	}
	for _, end := range similar {
		files["Boiler"+end+".md"] = strings.Replace(body, "1.4", "2.9", 1)
	}
	folder := vault(t, files)
	for range 2 { // the second time from what is remembered
		entries, problems, others, err := folder.Survey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		copies := 0
		for _, e := range entries {
			end, ok := strings.CutPrefix(strings.TrimSuffix(e.Path, ".md"), "Boiler")
			want := ok && slices.Contains(slices.Concat(plain, similar, equal), end)
			if want && e.CopyOf != "Boiler.md" || !want && e.CopyOf != "" {
				t.Errorf("%s is a copy of %q", e.Path, e.CopyOf)
			} else if want {
				copies++
			}
		}
		if copies != len(plain)+len(similar)+len(equal) {
			t.Errorf("%d copies", copies)
		}
		if got := fmt.Sprint(problems); len(problems) != 2 || !problems[0].Unknown ||
			!strings.Contains(got, "Gone.md") || !strings.Contains(got, "Far.md") || others.InCloud() == "" {
			t.Errorf("placeholders: %v, %v", problems, others)
		}
		for _, name := range []string{"Gone.md", "gone.md", "Far.md"} {
			if err := folder.Create(name, "x"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("create %s: %v", name, err)
			}
		}
	}
	if tasks := Parse(Entry{Path: "Boiler 2.md", CopyOf: "Boiler.md"}, []byte(body)).Tasks; len(tasks) > 0 {
		t.Errorf("a copy has the tasks %v", tasks)
	}
}

func TestLinksReadAsWhatTheyShow(t *testing.T) {
	for text, want := range map[string]string{
		"Review [[Falcon API]] and [[x|the y]]":     "Review Falcon API and the y",
		"[a](b.md), [c](https://d.example) [ ] [e]": "a, c [ ] [e]", "[[#part]]": "part", "ü [": "ü [",
	} {
		if got := PlainLinks(text); got != want {
			t.Errorf("%q reads as %q", text, got)
		}
	}
}
