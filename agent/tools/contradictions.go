package tools

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

// Contradiction is two lines that give values for the same thing of which only one can be right.
type Contradiction struct {
	Subject string `json:"subject"` // title, headings, items or row, such as "Boiler › Settings"
	Key     string `json:"key"`
	Sides   []Side `json:"sides"` // two, the newer first
}

// Side is one of the lines.
type Side struct {
	Path      string   `json:"path"`
	Line      int      `json:"line"`
	Text      string   `json:"text"`             // word for word
	Date      when.Day `json:"date,omitzero"`    // of the line or its note
	Changed   when.Day `json:"changed,omitzero"` // when the file was changed, if there is no date
	Untrusted bool     `json:"untrusted,omitempty"`

	source agent.Source
}

// Head says what the values are of: "Boiler › Settings: pressure".
func (c Contradiction) Head() string { return c.Subject + ": " + c.Key }

// Dated returns the date of a side in words, and whether the text is from elsewhere.
func (s Side) Dated() string {
	dated := s.Date.String()
	if s.Date.IsZero() {
		dated = "changed " + s.Changed.String()
	}
	if s.Untrusted {
		dated += ", from elsewhere"
	}
	return dated
}

const (
	// mostPairs bounds the pairs that are checked and listed.
	mostPairs = 200
	// mostStated is how many values of one key are compared; more are a series.
	mostStated = 24
	// around is how many lines on each side of a line are read for what the note marks it as.
	around = 200
)

type contradictionsArgs struct {
	About string `json:"about"`
}

func newFindContradictions(v vaults) agent.Tool {
	return agent.NewTool(spec[contradictionsArgs]("find_contradictions"), agent.Auto,
		func(ctx context.Context, args contradictionsArgs) (agent.Result, error) {
			found, compared, err := Contradictions(ctx, v, args.About)
			result := agent.Result{Text: ContradictionsText(args.About, found, compared), Nothing: len(found) == 0}
			for _, c := range found {
				result.Sources = append(result.Sources, c.Sides[0].source, c.Sides[1].source)
			}
			return result, err
		})
}

// ContradictionsText returns each pair of lines below what they are about, or how many values were compared; words are
// those that were asked about.
func ContradictionsText(words string, found []Contradiction, compared int) string {
	about := ""
	if strings.TrimSpace(words) != "" {
		about = " about that"
	}
	switch {
	case len(found) == 0 && compared == 0:
		return "No line" + about + " states a value that can be compared: a property, key: value, or a cell of a table."
	case len(found) == 0:
		return fmt.Sprintf("No two of %s%s contradict each other.", text.Count(compared, "value"), about)
	}
	said := text.Count(len(found), "contradiction") + ":"
	for _, c := range found {
		said += "\n\n" + c.Head()
		for _, s := range c.Sides {
			said += fmt.Sprintf("\n  %s (%s)  %s", agent.PlaceName(s.Path, s.Line), s.Dated(), s.Text)
		}
	}
	return said
}

// Contradictions finds pairs of lines that have all the words and state different numbers of one unit, dates, or
// yes and no for the same key of the same thing, the newest first; without words, in all notes. Both lines are
// checked as quotations are, and one that its note marks, as struck out, a task or a draft, is left out. Values of
// different days, several of one section, and those of hidden notes are not compared. It reads every note.
// compared is how many values have the words.
func Contradictions(ctx context.Context, folders func() []*notes.Folder,
	words string,
) (found []Contradiction, compared int, err error) {
	v := vaults(folders)
	places, err := v.list(ctx)
	if err != nil {
		return nil, 0, err
	}
	all := map[string][]*stated{}
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if notes.IsPaged(p.Entry.Path) || p.Entry.CopyOf != "" {
			continue
		}
		note, err := p.read(ctx)
		if err != nil || note.Exported { // health lists notes that cannot be read
			continue
		}
		for _, s := range statements(p, PathOf(v, p.folder, p.Entry.Path), note) {
			all[s.of()] = append(all[s.of()], s)
			if s.isAbout(words) {
				compared++
			}
		}
	}
	pairs, lines := [][2]*stated{}, map[*statedIn][]*stated{}
	for _, same := range all {
		same = single(same)
		slices.SortFunc(same, newer)
		for i, a := range same {
			for _, b := range same[i+1:] {
				differ := a.value.contradicts(b.value) && a.ofOneTime(b) && !a.toldApart(b)
				if differ && a.isAbout(words) && b.isAbout(words) {
					pairs = append(pairs, [2]*stated{a, b})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]*stated) int { return cmp.Or(newer(a[0], b[0]), newer(a[1], b[1])) })
	pairs = pairs[:min(len(pairs), mostPairs)]
	for _, pair := range pairs {
		lines[pair[0].note] = append(lines[pair[0].note], pair[0])
		lines[pair[1].note] = append(lines[pair[1].note], pair[1])
	}
	quoted := map[*stated]Side{}
	for from, list := range lines {
		if err := from.quote(ctx, list, quoted); err != nil {
			return nil, 0, err
		}
	}
	found = []Contradiction{}
	for _, pair := range pairs {
		if newer, older := quoted[pair[0]], quoted[pair[1]]; newer.Text != "" && older.Text != "" {
			found = append(found, Contradiction{
				strings.Join(pair[0].subject, " › "),
				pair[0].key,
				[]Side{newer, older},
			})
		}
	}
	return found, compared, nil
}

// quote adds the lines of statements of a note, as they are now, if they are quotations from it that it does not mark.
func (n *statedIn) quote(ctx context.Context, list []*stated, quoted map[*stated]Side) error {
	note, err := n.read(ctx)
	if err != nil { // it was there a moment ago
		return ctx.Err()
	}
	lines := strings.Split(note.Text, "\n")
	for _, s := range list {
		if s.line > len(lines) {
			continue
		}
		first, last, line := max(1, s.line-around), min(len(lines), s.line+around), strings.TrimSpace(lines[s.line-1])
		source := agent.Source{
			Path: note.Path, Vault: n.folder.Dir(), Line: first, EndLine: last, Date: s.date(),
			Untrusted: note.Untrusted,
			Heading:   strings.Join(s.subject, " › "), Text: strings.Join(lines[first-1:last], "\n"),
		}
		verdicts := citation.Check("> "+line+" [1]\n", []agent.Source{source}, nil)
		if len(verdicts) != 1 || verdicts[0].Verdict != agent.Verified || verdicts[0].Context != "" {
			continue
		}
		source.Line, source.EndLine, source.Text = s.line, s.line, line
		side := Side{
			Path: n.path, Line: s.line, Text: line, Date: source.Date,
			Untrusted: note.Untrusted, source: source,
		}
		if side.Date.IsZero() {
			side.Changed = n.changed()
		}
		quoted[s] = side
	}
	return nil
}

// single returns the values of one key, without those that a note has several of: in one section, or at more than
// two places, they are of several things, and very many are a series.
func single(same []*stated) []*stated {
	if len(same) > mostStated {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(same), func(s *stated) bool {
		inNote, here := 0, 0
		for _, other := range same {
			if other.note == s.note {
				inNote++
				if other.section == s.section && other.form == s.form {
					here++
				}
			}
		}
		return inNote > 2 || here > 1
	})
}

// date is the day of a statement or its note; none if it has none.
func (s *stated) date() when.Day {
	if len(s.days) > 0 {
		return s.days[len(s.days)-1].From
	}
	return s.note.day
}

func (n *statedIn) changed() when.Day { return when.DayOf(n.Entry.ModTime.Local()) }

// newer orders statements, the newest first.
func newer(a, b *stated) int {
	return cmp.Or(cmp.Or(b.date(), b.note.changed()).Compare(cmp.Or(a.date(), a.note.changed())),
		cmp.Compare(a.note.path, b.note.path), cmp.Compare(a.line, b.line))
}

// ofOneTime reports whether two statements are of no time, or of the same days.
func (s *stated) ofOneTime(other *stated) bool {
	return slices.Equal(s.days, other.days) && !slices.ContainsFunc(s.days,
		func(d when.Span) bool { return d.To != d.From.Add(1) })
}

// toldApart reports whether two statements of one subject are of two things. In one note, these are two headings in a
// row. Two notes give different texts, such as authors, or their names tell them apart, or the numbers in their
// paths; those of one name in two folders are of two things.
func (s *stated) toldApart(other *stated) bool {
	if s.note == other.note {
		return s.form == other.form && max(s.section, other.section)-min(s.section, other.section) == 1
	}
	for of, own := range s.note.texts {
		subject, _, _ := strings.Cut(of, "\x01")
		if there, ok := other.note.texts[of]; ok && there != own && strings.HasPrefix(s.of(), subject) {
			return true
		}
	}
	more := func(a, b string) bool {
		return slices.ContainsFunc(notes.NameWords(a), func(word string) bool {
			return !strings.Contains(text.Key(s.subject[0]), word) && !slices.Contains(notes.NameWords(b), word)
		})
	}
	digits := func(name string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, name)
	}
	a, b := s.note.path, other.note.path
	return notes.SameName(path.Base(a), path.Base(b)) || more(a, b) && more(b, a) || digits(a) != digits(b)
}

// isAbout reports whether the path, the subject or the key has all words.
func (s *stated) isAbout(words string) bool {
	in := text.Language(words)
	has := slices.Collect(text.Words(text.Fold(s.note.path + " " + strings.Join(s.subject, " ") + " " + s.key)))
	for word := range text.Words(text.Fold(words)) {
		if !text.StopWord(word.Text, in) && !slices.ContainsFunc(has, func(own text.Word) bool {
			return strings.Contains(own.Text, word.Text) || text.FoldedStem(own.Text,
				in) == text.FoldedStem(word.Text, in)
		}) {
			return false
		}
	}
	return true
}
