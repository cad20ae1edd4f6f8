package citation

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/examples"
	"lifehub/internal/text"
)

// readAnswers calls each with the notes, answers and expected verdicts of a file.
func readAnswers(t *testing.T, file string, each func(note agent.Source, answer, want string)) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var note []string
	listing := false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "--":
			listing = true
			continue
		case listing && strings.HasPrefix(line, "# "):
			note, listing = nil, false
		}
		if !listing {
			if len(note) > 0 || strings.HasPrefix(line, "# ") && !strings.HasSuffix(line, ".") && !strings.HasPrefix(line, "# Answers") {
				note = append(note, line)
			}
			continue
		}
		answer, want, _ := strings.Cut(strings.ReplaceAll(line, `\n`, "\n"), " => ")
		if answer == "" {
			continue
		}
		if !strings.Contains(answer, "[1]") {
			answer += " [1]"
		}
		each(agent.Source{N: 1, Path: "a/note.md", Line: 1, EndLine: len(note), Text: strings.Join(note, "\n")}, answer, want)
	}
}

// No true answer is marked as wrong, or qualified as if the note said something else.
func TestNoTrueAnswerIsAccused(t *testing.T) {
	all, ticks := 0, 0
	readAnswers(t, "true.txt", func(note agent.Source, answer, want string) {
		all++
		reread := func(agent.Source) (string, bool) { return note.Text, true }
		for _, c := range Check(answer, []agent.Source{note}, reread) {
			switch {
			case want == "✗":
			case c.Verdict == agent.NotFound || c.Verdict == agent.Stale, c.Context != want:
				t.Errorf("%s is %s %q, want %q", answer, c.Verdict, c.Context, want)
			case c.Verdict == agent.Verified:
				ticks++
			}
		}
	})
	t.Logf("%d true answers, %d with a tick", all, ticks)
}

// No answer that its note does not support gets a plain check mark.
func TestNoFalseAnswerOfTheTableIsVerified(t *testing.T) {
	all := 0
	readAnswers(t, "false.txt", func(note agent.Source, answer, _ string) {
		all++
		reread := func(agent.Source) (string, bool) { return note.Text, true }
		for _, c := range Check(answer, []agent.Source{note}, reread) {
			if plain(c) {
				t.Errorf("%s has a plain tick by %q", answer, c.Quote)
			}
		}
	})
	t.Logf("%d false answers, none with a plain tick", all)
}

// someNotes returns the sentences of four vaults: the examples, two of other people,
// and the notes of the table, also in German, French and Chinese.
func someNotes(t *testing.T) (notes []agent.Source) {
	err := fs.WalkDir(examples.Notes, "notes", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		raw, err := examples.Notes.ReadFile(path)
		md := string(raw)
		notes = append(notes, agent.Source{Path: strings.TrimPrefix(path, "notes/"), Line: 1, EndLine: 1 + strings.Count(strings.TrimRight(md, "\n"), "\n"), Text: md})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	readAnswers(t, "true.txt", func(note agent.Source, _, _ string) {
		if note.Path = fmt.Sprintf("made/%d.md", len(note.Text)); !slices.ContainsFunc(notes, func(n agent.Source) bool { return n.Path == note.Path }) {
			notes = append(notes, note)
		}
	})
	for _, folder := range []string{"kepano-vault", "til-jbranchaud"} {
		notes = append(notes, agenttest.Passages(t, "data/corpora/"+folder, 40)...)
	}
	return notes
}

// sayable returns the sentences of a note that an answer may repeat unchanged.
func sayable(note agent.Source) (list []string) {
	_, after, hasFront := strings.Cut(strings.TrimPrefix(note.Text, "---\n"), "\n---\n")
	hasFront = hasFront && strings.HasPrefix(note.Text, "---\n")
	for _, s := range text.Sentences(note.Text) {
		md := note.Text[s.Start:s.End]
		sentence := strings.Join(strings.Fields(inlineMarks.ReplaceAllString(md[len(lineMarks.FindString(md)):], "")), " ")
		if hasFront && s.Start < len(note.Text)-len(after) || s.Kind != text.Prose || len(contentOf(sentence)) < 3 || lengthOf(sentence) <= 2*maxTerm || strings.HasPrefix(md, "#") || strings.HasPrefix(md, "|") ||
			strings.ContainsAny(md, "“”\"„«»`<>{}~") || strings.HasPrefix(md, "- [ ]") || strings.Contains(md, "](") {
			continue
		}
		list = append(list, sentence)
	}
	return list
}

var (
	aDigit   = regexp.MustCompile(`[0-9]`)
	longWord = regexp.MustCompile(`\pL{5,}`)
)

// Sentences of real notes, quoted unchanged, get a check mark, nearly always a plain one.
// Changed, attributed to another note, or retracted by their note, they get none.
func TestSentencesMadeTrueAndFalse(t *testing.T) {
	notes := someNotes(t)
	random := rand.New(rand.NewPCG(29, 29))
	marks := [][2]string{{"“", "”"}, {"\"", "\""}, {"”", "”"}, {"„", "“"}, {"«", "»"}, {"»", "«"}, {"「", "」"}, {"> ", ""}, {"", ""}}
	trueOnes, plainOnes, falseOnes := 0, 0, 0
	for i, note := range notes {
		other := notes[(i+7)%len(notes)]
		list := sayable(note)
		for n, sentence := range list {
			if n%max(1, len(list)/6) != 0 {
				continue
			}
			check := func(answer string, changed ...func(*agent.Source)) agent.Citation {
				now := note
				for _, change := range changed {
					change(&now)
				}
				got := Check(answer, numbered(now, other), func(s agent.Source) (string, bool) {
					for _, source := range []agent.Source{now, other} {
						if s.Path == source.Path {
							return strings.Repeat("\n", source.Line-1) + source.Text, true
						}
					}
					return "", false
				})
				if len(got) != 1 {
					t.Fatalf("%s has %d marks", answer, len(got))
				}
				return got[0]
			}
			mark := marks[random.IntN(len(marks))]
			trueOnes++
			answer := mark[0] + sentence + mark[1] + " [1]"
			switch c := check(answer); {
			case c.Verdict == agent.NotFound || c.Verdict == agent.Stale || c.Verdict != agent.Verified && mark[0] != "":
				t.Errorf("%s: %s is %s", note.Path, answer, c.Verdict)
			case plain(c):
				plainOnes++
			default:
				t.Logf("%s: %s is %s %q", note.Path, answer, c.Verdict, c.Context)
			}
			reject := func(kind, answer string, changed ...func(*agent.Source)) {
				falseOnes++
				if c := check(answer, changed...); plain(c) {
					t.Errorf("%s, %s: %s has a plain tick", note.Path, kind, answer)
				}
			}
			missing := func(kind, sentence string) {
				falseOnes++
				if c := check("“" + sentence + "” [1]"); c.Verdict != agent.NotFound {
					t.Errorf("%s, %s: %s is %s", note.Path, kind, sentence, c.Verdict)
				}
			}
			if !strings.Contains(other.Text, sentence) {
				reject("another note", "“"+sentence+"” [2]")
			}
			if at := aDigit.FindStringIndex(sentence); at != nil {
				missing("number", sentence[:at[0]]+string('1'+(sentence[at[0]]-'0'+3)%9)+sentence[at[1]:])
			}
			if at := longWord.FindAllStringIndex(sentence, -1); len(at) > 2 {
				w := at[1+random.IntN(len(at)-1)]
				missing("word", sentence[:w[0]]+"gizmo"+sentence[w[1]:])
			}
			words := strings.Fields(sentence)
			if half := len(words) / 2; half > 1 {
				missing("not", strings.Join(words[:half], " ")+" never "+strings.Join(words[half:], " "))
			}
			md := func(now string) func(*agent.Source) {
				return func(s *agent.Source) { s.Text, s.Line, s.EndLine = now, 1, 1+strings.Count(now, "\n") }
			}
			quoted := "“" + sentence + "” [1]"
			if n%2 == 0 {
				reject("struck out", quoted, md("A list:\n\n~~"+sentence+"~~\n\nAnd more of it."))
				reject("open task", quoted, md("# Tasks\n\n- [ ] "+sentence+"\n- [x] nothing else"))
				reject("heading", quoted, md("# All\n\n## Rejected\n\n### Of May\n\n"+sentence+"\n"))
				reject("draft", quoted, md("# Draft of a letter\n\n"+sentence+"\n"))
			} else {
				reject("cancelled", quoted, md("- [-] "+sentence))
				reject("comment", quoted, md("Hello.\n\n<!-- "+sentence+" -->\n"))
				reject("block quote", quoted, md("Leo wrote:\n\n> "+sentence+"\n"))
			}
		}
	}
	t.Logf("%d true quotations, %d with a plain tick (%.0f %%); %d false ones, none", trueOnes, plainOnes, 100*float64(plainOnes)/float64(trueOnes), falseOnes)
	if trueOnes < 180 || falseOnes < 300 || plainOnes*100 < 90*trueOnes {
		t.Error("too few")
	}
}
