package notes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"lifehub/internal/pdftest"
	"lifehub/internal/testenv"
	"lifehub/internal/when"
)

const orgFile = `#+TITLE: Kitchen notes
#+FILETAGS: :food:home:
#+DATE: <2024-03-09 Sat>
:PROPERTIES:
:ID: 4711
:ROAM_ALIASES: "Baking" "Bread"
:END:
* Sourdough :baking:@weekend:
# not a heading
See [[file:flour.org::*Rye][the flour]], [[https://rye.example/a][a mill]] and [[Starter]].
** TODO [#A] Feed the starter
   DEADLINE: <2024-03-12 Tue>
- [ ] weigh it
#+BEGIN_SRC sh
* no heading
#+TITLE: no title
#+END_SRC
#+begin_quote
Slow is good.
#+end_quote
*** DONE Old *bold* thing
`

func TestOrgIsConvertedLineByLine(t *testing.T) {
	folder := vault(t, map[string]string{"kitchen.org": orgFile})
	n, err := folder.Read("kitchen.org")
	if err != nil {
		t.Fatal(err)
	}
	if n.Title != "Kitchen notes" || n.Date.Format("2006-01-02") != "2024-03-09" || n.Untrusted || len(n.Problems) > 0 {
		t.Errorf("it is %q of %v, untrusted %v, %q", n.Title, n.Date, n.Untrusted, n.Problems)
	}
	same(t, "aliases", n.Aliases, []string{"Baking", "Bread"})
	same(t, "tags", n.Tags, []string{"baking", "food", "home", "weekend"})
	same(t, "headings", n.Headings, []Heading{
		{1, "Sourdough #baking #weekend", 8},
		{2, "TODO [#A] Feed the starter", 11},
		{3, "DONE Old *bold* thing", 21},
	})
	same(t, "links", n.Links, []Link{
		{Target: "flour.org", Text: "the flour", Wiki: true, Line: 10},
		{Target: "Starter", Wiki: true, Line: 10},
	})
	if len(n.Tasks) != 3 || n.Tasks[0].Line != 11 || n.Tasks[1].Line != 13 || n.Tasks[2].Line != 21 {
		t.Errorf("tasks are %+v", n.Tasks)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != strings.Count(orgFile, "\n")+1 || lines[14] != "* no heading" || lines[18] != "Slow is good." ||
		lines[9] != "See [[flour.org|the flour]], [a mill](https://rye.example/a) and [[Starter]]." {
		t.Errorf("it reads\n%s", n.Text)
	}
}

func TestOrgNoteWithSourceIsUntrusted(t *testing.T) {
	for _, head := range []string{
		"#+SOURCE: https://a.example\n",
		":PROPERTIES:\n:ID: 1\n:ROAM_REFS: https://a.example\n:END:\n#+title: A\n",
		"#+title: A\n#+URL: https://a.example\n",
	} {
		folder := vault(t, map[string]string{"a.org": head + "* Text\n"})
		if n, err := folder.Read("a.org"); err != nil || !n.Untrusted {
			t.Errorf("%q is trusted, %v", head, err)
		}
	}
}

func TestEncodingsOfText(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{"plain", "plain"},
		{"na\xc3\xafve", "naïve"},
		{"\xef\xbb\xbfmarked", "marked"},
		{"na\xefve \x93quoted\x94", "naïve “quoted”"},
		{"\xff\xfea\x00\xef\x00", "aï"},
		{"\xfe\xff\x00a\x00\xef", "aï"},
		{"na\xc3\xafve \xff", "naïve �"},
		{"a\x00b", ""},
		{"%PDF-1.4 \x00", ""},
	} {
		folder := vault(t, map[string]string{"a.txt": test.raw})
		n, err := folder.Read("a.txt")
		unread := (*UnreadError)(nil)
		if n.Text != test.want || errors.As(err, &unread) != (test.want == "") {
			t.Errorf("%q reads %q, %v", test.raw, n.Text, err)
		}
	}
}

func TestMIMETypeIsThatOfTheExtractedText(t *testing.T) {
	for name, want := range map[string]string{
		"a.md": "text/markdown", "A.Markdown": "text/markdown",
		"a.org": "text/markdown", "a.txt": "text/plain", "a.pdf": "text/plain",
	} {
		if got := MIMEType(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestPDFHasOneLinePerPage(t *testing.T) {
	testenv.WithoutRace(t) // a PDF is read in a process of its own
	folder := vault(t, map[string]string{"papers/2024-05-01 Boiler.pdf": string(pdftest.Make("# Not a heading #tag",
		"- [ ] Not a task [[Link]]", "Last"))})
	n, err := folder.Read("papers/2024-05-01 Boiler.pdf")
	if err != nil || n.Text != "# Not a heading #tag\n- [ ] Not a task [[Link]]\nLast\n" || !n.Untrusted ||
		n.Title != "2024-05-01 Boiler" || n.Date.Month != 5 {
		t.Errorf("it is %+v, %v", n, err)
	}
	if len(n.Tags)+len(n.Tasks)+len(n.Links) > 0 || len(n.Headings) != 3 || n.Headings[2].Line != 3 {
		t.Errorf("it holds %v, %v, %v, %v", n.Tags, n.Tasks, n.Links, n.Headings)
	}
	if got := n.Shown(); got != "1. \\# Not a heading \\#tag\n2. \\- \\[ ] Not a task \\[\\[Link]]\n3. Last\n" {
		t.Errorf("it is shown as %q", got)
	}
	raw, _, err := folder.Raw("papers/2024-05-01 Boiler.pdf")
	again, _, err2 := folder.Raw("papers/2024-05-01 Boiler.pdf")
	if err != nil || err2 != nil || &raw[0] != &again[0] {
		t.Errorf("it is read twice: %v, %v", err, err2)
	}
}

func TestCachedPagesAreBounded(t *testing.T) {
	testenv.WithoutRace(t)
	p := pages{}
	page := strings.Repeat("<p>"+strings.Repeat("word ", 2000)+"</p>\n", 200)
	for i := range 6 {
		if _, err := p.read(t.Context(), "a.html", []byte(page+strings.Repeat("x", i+1))); err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, text := range p.texts {
			size += len(text)
		}
		if size > maxHeld || size != p.size || size == 0 {
			t.Errorf("%d bytes are held, %d counted", size, p.size)
		}
	}
}

func TestOtherKindsAreReadOnly(t *testing.T) {
	testenv.WithoutRace(t) // a PDF is read in a process of its own
	files := map[string]string{"a.txt": "text\n", "a.org": "* text\n", "a.pdf": string(pdftest.Make("text"))}
	folder := vault(t, files)
	for name, was := range files {
		raw, _, err := folder.Raw(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"change": folder.Replace(name, raw, []byte("new\n")),
			"create": folder.Create("new-"+name, "new\n"),
		} {
			if err == nil || !strings.Contains(err.Error(), "read only") {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
		if now, err := fs.ReadFile(folder.root().FS(), name); err != nil || string(now) != was {
			t.Errorf("%s became %q, %v", name, now, err)
		}
	}
}

func FuzzOrg(f *testing.F) {
	for _, seed := range []string{
		orgFile, "* a :b:\n#+begin_src\n", "[[[]]][[a][b]]<2024-01-02", ":PROPERTIES:\n:A: b",
		"#+end_src\n#+BEGIN_EXAMPLE\r\n* x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := decodeText(raw)
		if err != nil {
			return
		}
		if utf8.Valid(raw) && !bytes.HasPrefix(raw, []byte("\ufeff")) && !bytes.Equal(text, raw) {
			t.Errorf("%q becomes %q", raw, text)
		}
		got := fromOrg(text)
		more := bytes.Count(got, []byte("\n")) - bytes.Count(text, []byte("\n"))
		if more != 0 && (more != 1 || !bytes.HasSuffix(got, []byte("\n```"))) {
			t.Errorf("%q has other lines: %q", text, got)
		}
		if len(got) > 4*len(text)+100 {
			t.Errorf("%d bytes become %d", len(text), len(got))
		}
		checkNote(t, Parse(Entry{Path: "a.org"}, got))
	})
}

// A binary file with the name of a note is reported and not read as text.
func TestBinaryFileIsNotANote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text   string
		isNote bool
	}{
		"program.md":    {"\x7fELF\x02\x01\x00\x00\xff\xfe\x80 words", false},
		"late.md":       {strings.Repeat("word ", 3000) + "\x00", false},
		"nul.md":        {"\x00\x00zebra", false},
		"utf16nul.md":   {"\xff\xfeh\x00\x00\x00", false},
		"utf32le.md":    {"\xff\xfe\x00\x00h\x00\x00\x00", false},
		"latin.md":      {"caf\xe9", true},
		"utf16le.md":    {"\xff\xfeh\x00i\x00", true},
		"utf16be.md":    {"\xfe\xff\x00h\x00i", true},
		"a.markdown":    {"\x00\x00\x00\xff", false},
		"empty note.md": {"", true},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		folder, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		_, err = folder.Read(name)
		if (err == nil) != c.isNote || err != nil && Reason(err) != notText {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOrgLinksLeadIntoTheirFile: a heading, a target and an ID of the file itself come before notes of that name.
func TestOrgLinksLeadIntoTheirFile(t *testing.T) {
	const file = "* One\r\n** TODO [#A] Two words :home:\r\n:PROPERTIES:\r\n:CUSTOM_ID: cid\r\n:END:\r\n<<tgt>> " +
		"<<<Radio>>>\r\n" +
		"#+NAME: table\r\n| a |\r\n"
	var names Names
	names.Add("dir/a.org", "A title")
	names.Add("one.org")
	names.Add("two.org")
	names.Add("two.md")
	for link, want := range map[string]string{
		"[[*One]]": "dir/a.org", "[[One]]": "dir/a.org", "[[one][shown]]": "dir/a.org", "[[Two words]]": "dir/a.org",
		"[[*two words][x]]": "dir/a.org", "[[tgt]]": "dir/a.org", "[[radio]]": "dir/a.org", "[[table]]": "dir/a.org",
		"[[#cid]]": "dir/a.org", "[[file:one.org]]": "one.org", "[[file:one]]": "", "[[two]]": "two.md",
		"[[file:two.org::*One]]": "two.org", "[[Three]]": "", "[[words]]": "",
	} {
		n := Parse(Entry{Path: "dir/a.org"}, fromOrg([]byte(file+link+"\r\n")))
		if len(n.Links) != 1 || names.Of(n.Path, n.Links[0]) != want {
			t.Errorf("%s: %+v leads to %q, want %q", link, n.Links, names.Of(n.Path, n.Links[0]), want)
		}
	}
}

func TestOrgHeadingsWithAStateAreTasks(t *testing.T) {
	folder := vault(t, map[string]string{
		"work.org": "#+TITLE: Work\n* TODO [#A] Call the plumber :home:\nDEADLINE: <2026-11-28 Sat +1w> SCHEDULED: " +
			"<2026-11-27 Fri>\n** DONE Pay the rent\nCLOSED: [2026-11-02 Mon 10:00]\n* CANCELLED Paint\n* Notes\n* " +
			"Today\n- [ ] a box\n#+begin_src org\n* TODO in code\n#+end_src\n",
		"own.org": "#+TODO: IDEA(i) DRAFT | SENT(s!) CANCELLED\n#+TODO: OPEN CLOSED\n* IDEA one\n* SENT two\n* OPEN " +
			"three\n* CLOSED four\n* TODO no state here\n",
		"trip.org": "* TODO trip\nDEADLINE: <2026-12-01 Tue>--<2026-12-03 Thu>\n" +
			"* TODO next DEADLINE: <2026-11-30 Mon>\n" +
			"the DEADLINE: <2026-11-29 Sun> is near\n** NEXT\tpack\n   SCHEDULED: <2026-11-30 Mon>\n",
		"agenda.org": "* COMMENT Old\n** TODO x\n* TODO a\n* TODO [#A] COMMENT y\n* TODO A COMMENT on b\n* Done " +
			":home:ARCHIVE:\n" +
			"- [ ] box\n** TODO z\n*** COMMENT q\n** TODO w\n* Archive\n** TODO d\n*** TODO e :ARCHIVE:\n",
	})
	for name, want := range map[string][]string{
		"agenda.org": {"3 open a", "5 open A COMMENT on b", "12 open d"},
		"work.org": {
			"2 open Call the plumber #home A due 2026-11-28 on 2026-11-27 every week",
			"4 done Pay the rent at 2026-11-02", "6 cancelled Paint", "9 open a box",
		},
		"trip.org": {
			"1 open trip due 2026-12-01", "3 open next DEADLINE: 2026-11-30 Mon", "5 open pack on 2026-11-30",
		},
		"own.org": {"3 open one", "4 done two", "5 open three", "6 done four"},
	} {
		raw, entry, err := folder.Raw(name)
		if err != nil || !MayHoldAny(raw) {
			t.Fatal(name, err)
		}
		var got []string
		for _, task := range Parse(entry, raw).Tasks {
			text := fmt.Sprint(task.Line, map[bool]string{true: " open "}[task.Open()],
				map[bool]string{true: " done "}[task.Done], map[bool]string{true: " cancelled "}[task.Cancelled],
				task.Text)
			for _, part := range []string{
				task.Priority, dateWord("due", task.Due), dateWord("on", task.Scheduled),
				dateWord("at", task.DoneOn), task.Recurs,
			} {
				if part != "" {
					text += " " + part
				}
			}
			got = append(got, text)
		}
		same(t, name, got, want)
	}
}

func dateWord(word string, day when.Day) string {
	if day.IsZero() {
		return ""
	}
	return word + " " + day.String()
}

func TestPageReadByOCRHasAHeading(t *testing.T) {
	n := Parse(Entry{Path: "scan.pdf"}, []byte("\x01The valve\nin print\n"))
	if n.Text != "The valve\nin print\n" || n.Headings[0].Text != ByOCR || n.Headings[1].Text != "" {
		t.Errorf("%q, %+v", n.Text, n.Headings)
	}
	if got := n.Shown(); got != "1. (read by OCR) The valve\n2. in print\n" {
		t.Errorf("it is shown as %q", got)
	}
}
