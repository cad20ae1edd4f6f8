package rag

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/internal/when"
)

func TestParseQuery(t *testing.T) {
	t.Parallel()
	day := func(y, m, d int) when.Day { return when.Day{Year: y, Month: time.Month(m), Day: d} }
	cases := map[string]struct {
		text string
		want Query
		err  string
	}{
		"plain words": {"soft reset", Query{Text: "soft reset"}, ""},
		"all filters": {
			`path:git tag:#undo after:2026-03 before:2026-04-02 "last commit"`,
			Query{
				Text: `"last commit"`, Paths: []string{"git"}, Tags: []string{"#undo"}, After: day(2026, 3, 1),
				Before: day(2026, 4, 2),
			},
			"",
		},
		"a quoted folder": {
			`path:"My Notes/2026" tea`,
			Query{Text: "tea", Paths: []string{"My Notes/2026"}},
			"",
		},
		"filters may repeat": {
			"path:a path:b tag:x tag:y",
			Query{Paths: []string{"a", "b"}, Tags: []string{"x", "y"}},
			"",
		},
		"other colons are words":  {"http://x.org std::move 10:30", Query{Text: "http://x.org std::move 10:30"}, ""},
		"an unclosed quote":       {`say "hello wor`, Query{Text: `say "hello wor`}, ""},
		"a date that is none":     {"after:yesterday", Query{}, "after:yesterday"},
		"days that are none":      {"after:2026-05 before:2026-03 tea", Query{}, "before:2026-03-01"},
		"a filter of nothing":     {"tea tag:", Query{}, "tag:running"},
		"capitals make no filter": {"Tag:x", Query{Tags: []string{"x"}}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseQuery(c.text)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestFiltersExcludeNotes(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"daily/2026-03-14.md":      "---\ntags: [journal]\n---\ntea with Ana\n",
		"daily/2026-04-02.md":      "tea alone #journal/quiet\n",
		"recipes/tea.md":           "---\ndate: 2025-01-05\n---\n# Chai\n\nblack tea and ginger #drink #thé/noir\n",
		"Projects/Tea House/ix.md": "---\ndate: 2024-06-01\n---\nopening a tea house\n",
	})
	syncNow(t, x, folder, nil)
	cases := map[string][]string{
		"tea path:daily":                {"daily/2026-03-14.md", "daily/2026-04-02.md"},
		"tea path:daily/":               {"daily/2026-03-14.md", "daily/2026-04-02.md"},
		"tea path:da":                   nil,
		"tea path:recipes/tea":          {"recipes/tea.md"},
		"tea path:daily/2026-04*":       {"daily/2026-04-02.md"},
		`tea path:"projects/tea house"`: {"Projects/Tea House/ix.md"},
		"tea tag:journal":               {"daily/2026-03-14.md", "daily/2026-04-02.md"},
		"tea tag:journal/quiet":         {"daily/2026-04-02.md"},
		"tea tag:#Drink":                {"recipes/tea.md"},
		"tea after:2026":                {"daily/2026-03-14.md", "daily/2026-04-02.md"},
		"tea after:2026-03-15":          {"daily/2026-04-02.md"},
		"tea before:2025":               {"Projects/Tea House/ix.md"},
		"after:2026":                    {"daily/2026-04-02.md", "daily/2026-03-14.md"},
		`"tea alone"`:                   {"daily/2026-04-02.md"},
		`"alone tea"`:                   nil,
		"chai":                          {"recipes/tea.md"},
		"tea tag:none":                  nil,
		"tea tag:the":                   {"recipes/tea.md"},
		"tea tag:The/Noir":              {"recipes/tea.md"},
		"tea tag:quíet":                 nil, // a tag below another is none by itself
		"tea tag:joùrnal":               {"daily/2026-03-14.md", "daily/2026-04-02.md"},
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			got := paths(t, x, text)
			if text != "after:2026" {
				slices.Sort(got)
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}

// A query of filters alone is never declined: the notes match or they don't.
func TestFiltersAloneAreAnswered(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"tea.md": "tea with Ana #drink\n", "b.md": "bread\n"})
	syncNow(t, x, folder, nil)
	for text, want := range map[string]bool{"tag:drink": true, "tag:none": false, "path:tea": true} {
		q, err := ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := x.Search(t.Context(), q); err != nil || found.Declined() == want {
			t.Errorf("%s: the notes say: %v, %v", text, !found.Declined(), err)
		}
	}
}

func TestNamedNotesComeFirstAndIndexNotesLast(t *testing.T) {
	t.Parallel()
	files := map[string]string{"index.md": "# Everything\n\n"}
	for _, title := range []string{
		"Tune A Bicycle", "Undo A Commit", "Bake Sourdough Bread", "Mend A Tyre",
		"Boil An Egg", "Plant A Tree",
	} {
		name := strings.ToLower(strings.ReplaceAll(title, " ", "-")) + ".md"
		files["index.md"] += "- [" + title + "](" + name + ")\n"
		files[name] = "# " + title + "\n\nThis is done slowly and with care, on a quiet day.\n"
	}
	files["long.md"] = "# Thoughts\n\nA tyre, a tyre, mend a tyre: how often must one mend a tyre?\n"
	files["2026 budget.md"] = "Rent and food.\n"
	folder, x := vault(t, files)
	syncNow(t, x, folder, nil)
	for question, want := range map[string]string{
		"mend a tyre": "mend-a-tyre.md", "Undo a commit": "undo-a-commit.md",
		"how to bake bread": "bake-sourdough-bread.md", "2026 budget": "2026 budget.md",
	} {
		got := paths(t, x, question)
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %q, want %s first", question, got, want)
		}
	}
}

func TestMatchInASingleNoteHasAScore(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"cellar.md": "# Boiler\n\nThe pressure should be 1.5 bar.\n"})
	syncNow(t, x, folder, nil)
	scores := map[string]float64{}
	for _, question := range []string{"pressure", "pressure of the tyres"} {
		found, err := x.Search(t.Context(), Query{Text: question})
		if err != nil || len(found.Passages) != 1 {
			t.Fatalf("%s: got %+v, %v", question, found, err)
		}
		scores[question] = found.Passages[0].Score
	}
	if whole, part := scores["pressure"], scores["pressure of the tyres"]; part < 0.05 || whole <= part || whole > 1 {
		t.Errorf("all words held score %.3f, some of them %.3f", whole, part)
	}
}

// The names that Logseq, Dendron and Obsidian give a note are its names, and one
// character may be all that distinguishes two of them.
func TestNotesAreFoundByAllTheirNames(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"pages/garden.md": "tags:: [[outdoors]], Hobby\nalias:: The Plot, Allotment 7\ntitle:: Kitchen " +
			"garden\n\n- Tomatoes\n  - planted in May\n",
		"pages/proj%2Fmercury.md": "- The launch window is in June.\n",
		"pages/proj___gemini.md":  "- tags:: rocket\n- The heat shield is late.\n",
		"vault/proj.apollo.antenna.md": "---\ntitle: Radar\ncreated: 1735689600000\naliases: [Horn, \"big " +
			"dish\"]\n---\n\nTilted by 11 degrees.\n",
		"vault/proj.apollo.md":    "---\ntitle: Apollo\n---\n\nAll about it.\n",
		"vault/proj.apolloniu.md": "---\ntitle: Apollonius\n---\n\nA village.\n",
		"C.md":                    "C has no classes. In C, C is C.\n",
		"C++.md":                  "Templates and classes.\n",
		"other.md":                "The plot of the film; the horn of the car; a big dish of rice. C# is a note, too: C sharp.\n",
		"journals/2026/03/14.md":  "- soup with Ida\n",
		"code.md":                 "Classes in C# are like those in Java.\n",
	})
	syncNow(t, x, folder, nil)
	for question, want := range map[string]string{
		"The Plot": "pages/garden.md", "allotment 7": "pages/garden.md", "Kitchen garden": "pages/garden.md",
		"garden":       "pages/garden.md",
		"tag:outdoors": "pages/garden.md", "tag:hobby tomatoes": "pages/garden.md",
		"tag:rocket":   "pages/proj___gemini.md",
		"proj/mercury": "pages/proj%2Fmercury.md", "proj gemini": "pages/proj___gemini.md",
		"horn": "vault/proj.apollo.antenna.md", "big dish": "vault/proj.apollo.antenna.md",
		"after:2024-12 before:2025-02": "vault/proj.apollo.antenna.md",
		"proj.apollo.antenna":          "vault/proj.apollo.antenna.md",
		"C":                            "C.md", "C++": "C++.md", "c#": "code.md",
	} {
		if got := paths(t, x, question); len(got) == 0 || got[0] != want {
			t.Errorf("%s finds %v, want %s first", question, got, want)
		}
	}
	if got := paths(t, x, "path:vault/proj.apollo"); len(got) != 2 {
		t.Errorf("below proj.apollo are %v, want two notes", got)
	}
}

func TestSingleCharacterIsFound(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"ja.md": "新しい住所は横浜市西区です。飼っているのは犬。家賃は月８万円。\n",
		"zh.md": "水电费每月三百元。狗叫旺财。\n",
		"ko.md": "집은 3층이다. 개 이름은 초코.\n",
	})
	syncNow(t, x, folder, nil)
	for question, want := range map[string]string{
		"犬": "ja.md", `"犬"`: "ja.md", "西 区": "ja.md", "狗？": "zh.md",
		"水 电": "zh.md", "집": "ko.md", "猫": "",
	} {
		got := append(paths(t, x, question), "")
		if got[0] != want {
			t.Errorf("%s finds %v, want %q first", question, got, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, seed := range []string{
		`a AND (b`, `"`, `""`, `NEAR(a b)`, `title:x`, `-x`, `x*`, `^x`, `{a b}: c`, `a"b"c`, "\x00",
		"', ''); DROP TABLE notes; --",
		"path:* tag:' after:2026", "猫", "\ue000", "C++ #tag a/b.go", strings.Repeat("x ", 500),
		"🙂", "path:[ tea", `"。"`,
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	x, err := Open(dir, Options{Vault: dir})
	if err != nil {
		f.Fatal(err)
	}
	defer x.Close()
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuery(text)
		if err != nil {
			return
		}
		if _, err := x.Search(t.Context(), q); err != nil {
			t.Errorf("searching %q: %v", text, err)
		}
	})
}
