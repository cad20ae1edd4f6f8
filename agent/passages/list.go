// Package passages writes the answer that needs no model: the passages that a search found and the results of other
// calls, quoted so that nothing in them can break the Markdown around it. It makes no claims. Start with [List.Write].
package passages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
)

const (
	maxListed = 5 // passages in a list
	daysWell  = 7 // up to this many notes of a period are listed with several lines each
	dayLines  = 3

	headingSeparator = " › " // in a heading path
)

// Openings of a list, which say why there is no answer.
const (
	NoModel     = "No model is connected."
	ModelFailed = "The model failed."
)

// BreaksOff precedes the list behind an answer that was cut off.
const BreaksOff = "\n\n(The answer breaks off here.)\n\n"

// Before returns what a saved answer says before the list that it ends with because the model failed.
func Before(saved string) string {
	if strings.HasPrefix(saved, ModelFailed) {
		return ""
	}
	before, _, listed := strings.Cut(saved, "\n\n"+ModelFailed)
	if !listed {
		return saved
	}
	return strings.TrimSuffix(before+"\n\n", BreaksOff)
}

// What a list says of its passages.
const (
	closest = "Closest passages:"
	// ClosestInMeaning precedes passages that have no word of the question.
	ClosestInMeaning = "Closest in meaning:"
	nothingClose     = "No match."
)

// List is what a list is made of.
type List struct {
	Opening  string          // why there is no answer; may be empty
	Calls    []Call          // in plan order
	Sources  []agent.Source  // numbered: what the calls found, then the facts
	Facts    []agent.Fact    // about the user
	Said     string          // what the user said before that fits best; may be empty
	Unlikely bool            // the notes were searched, and no call found a likely answer
	Coverage *agent.Coverage // of the last search; nil if there was none
}

// Call is a call and its outcome.
type Call struct {
	Step, Tool string
	Status     agent.Status
	Text       string // the result, or why there is none
	Cited      bool   // Text is among the sources already
	Attached   bool   // it is an attachment that only a model can read
	Result     agent.Result
}

// Write returns the list, and the places that it quotes: At is relative to its start.
func (l List) Write() (list string, shown []agent.Citation) {
	w := writer{list: l}
	searched, attached := false, false
	for _, c := range l.Calls {
		searched = searched || c.Result.Searched && c.Status == agent.Done
		if c.Attached {
			attached = true
			continue
		}
		w.outcome(c)
	}
	if searched && attached {
		w.paragraph("A model is needed to read what you attached.")
	}
	w.tellWorkers()
	switch period := l.Coverage.OnlyTime(); {
	case period != nil && len(period.List) > 0:
		w.paragraph(period.String() + ":")
		w.byDate(period)
	case l.Unlikely && l.Said != "" && !l.factFits():
		w.paragraph(l.Said)
	default:
		w.collect()
		w.write(l.opening(), searched, l.byMeaning())
	}
	return w.out.String(), w.shown
}

// opening returns the first line of a list: what the notes lack of the question, or why there is no
// answer.
func (l List) opening() string {
	lacking := l.Coverage.Lacks()
	if lacking == "" || l.Opening == ModelFailed {
		lacking = strings.TrimSpace(l.Opening + " " + lacking)
	}
	return lacking
}

// found returns the sources that are not facts.
func (l List) found() []agent.Source { return l.Sources[:len(l.Sources)-len(l.Facts)] }

// byMeaning reports whether a search returned only the semantically closest passages.
func (l List) byMeaning() bool {
	return slices.ContainsFunc(l.Calls, func(c Call) bool { return c.Status == agent.Done && c.Result.SemanticOnly })
}

// factFits reports whether a fact about the user fits the question.
func (l List) factFits() bool {
	return slices.ContainsFunc(l.Facts, func(f agent.Fact) bool { return f.Fits })
}

// writer writes a list of passages.
type writer struct {
	list     List
	out      strings.Builder
	passages []agent.Passage
	shown    []agent.Citation // At is relative to the start of the list
}

func (w *writer) paragraph(s string) {
	if w.out.Len() > 0 && s != "" {
		w.out.WriteString("\n\n")
	}
	w.out.WriteString(s)
}

// outcome writes what a call did, unless its text is among the passages.
func (w *writer) outcome(c Call) {
	if c.Status == agent.Done && (c.Result.Searched || c.Cited) {
		return
	}
	number := 0
	if i := slices.IndexFunc(w.list.Sources, func(s agent.Source) bool { return s.Call == c.Step }); c.Result.Untrusted && i >= 0 {
		number = w.list.Sources[i].N
	}
	w.paragraph(Tell(c.Tool, c.Status, c.Text, number))
	w.cite(number)
}

// tellWorkers writes the results of calls by workers.
func (w *writer) tellWorkers() {
	for _, s := range w.list.found() {
		if s.Call != "" && !slices.ContainsFunc(w.list.Calls, func(c Call) bool { return c.Step == s.Call }) {
			w.paragraph(Tell(s.Path, agent.Done, s.Text, s.N))
			w.cite(s.N)
		}
	}
}

// cite records that the text so far ends with the number of a source, unless n
// is 0.
func (w *writer) cite(n int) {
	if n > 0 {
		s := w.list.Sources[n-1]
		w.shown = append(w.shown, agent.Citation{
			N: n, Path: s.Path, Line: s.Line, EndLine: s.EndLine, Quote: s.Text,
			Verdict: agent.Cites, At: w.out.Len(),
		})
	}
}

// collect gathers the passages found, in the order of the searches. Sources that a search
// did not find are shown whole.
func (w *writer) collect() {
	for i, f := range w.list.Facts {
		if f.Fits {
			s := w.list.Sources[len(w.list.found())+i]
			s.Text = f.Text
			w.add(agent.Passage{Blocks: []agent.Block{{Source: s}}, Show: 1})
		}
	}
	if w.list.factFits() && w.list.Unlikely {
		return
	}
	for _, c := range w.list.Calls {
		for _, p := range c.Result.Passages {
			w.add(p)
		}
		for _, s := range c.Result.Sources {
			if len(c.Result.Passages) == 0 && s.Call == "" { // otherwise outcome has written its text
				w.addWhole(s)
			}
		}
	}
}

// add adds a passage without the blocks that an earlier one shows.
func (w *writer) add(p agent.Passage) {
	var fresh agent.Passage
	for i, b := range p.Blocks {
		if slices.ContainsFunc(w.passages, func(have agent.Passage) bool { return hasShown(have, b.Source) }) {
			continue
		}
		if fresh.Blocks = append(fresh.Blocks, b); i < p.Show {
			fresh.Show++
		}
	}
	if fresh.Show > 0 {
		w.passages = append(w.passages, fresh)
	}
}

// hasShown reports whether the blocks that are shown of a passage have the place and text of a source.
func hasShown(p agent.Passage, s agent.Source) bool {
	return slices.ContainsFunc(p.Blocks[:p.Show], func(b agent.Block) bool {
		return b.Source.SamePlace(s) && b.Source.Line == s.Line && b.Source.Text == s.Text
	})
}

// addWhole adds all blocks of a source, except front matter.
func (w *writer) addWhole(s agent.Source) {
	if s.Line == 1 && strings.HasPrefix(s.Text, "---") {
		return
	}
	var whole agent.Passage
	for _, b := range text.Parts(s.Text) {
		part := s
		part.Text = s.Text[b.Start:b.End]
		part.Line += max(0, strings.Count(s.Text[:b.Start], "\n")-s.Above)
		part.EndLine = part.Line + strings.Count(part.Text, "\n")
		if !strings.HasPrefix(strings.TrimSpace(part.Text), "#") {
			whole.Blocks = append(whole.Blocks, agent.Block{Source: part, Code: b.Kind == text.CodeBlock})
		}
	}
	whole.Show = len(whole.Blocks)
	w.add(whole)
}

// write writes the first passages after the opening, and all of them if the user named them without a search.
// byMeaning means that no note has a word of the question.
func (w *writer) write(opening string, searched, byMeaning bool) {
	switch {
	case !searched && len(w.passages) == 0:
		return
	case len(w.passages) == 0 && w.list.Coverage.Lacks() != "":
		w.paragraph(opening)
	case len(w.passages) == 0:
		w.paragraph(opening + " " + nothingClose)
	case searched && byMeaning:
		w.paragraph(strings.TrimSpace(opening + " " + ClosestInMeaning))
	case searched:
		w.paragraph(strings.TrimSpace(opening + " " + closest))
	}
	if searched {
		w.passages = w.passages[:min(len(w.passages), maxListed)]
	}
	for _, p := range w.passages {
		w.passage(p)
	}
}

// byDate writes the first lines of the notes of a period, by date.
func (w *writer) byDate(period *when.Found) {
	lines := 1
	if len(period.List) <= daysWell {
		lines = dayLines
	}
	if earlier := period.Notes - len(period.List); earlier > 0 {
		w.paragraph(fmt.Sprintf("*%d earlier notes are not listed*", earlier))
	}
	for _, entry := range period.List {
		var day agent.Passage
		for _, c := range w.list.Calls {
			for _, p := range c.Result.Passages {
				if s := p.Blocks[0].Source; s.Path == entry.Path && s.Dated {
					day.Blocks = append(day.Blocks, p.Blocks...)
				}
			}
		}
		if len(day.Blocks) == 0 {
			w.paragraph(code(entry.Path) + dayOf(entry.Path, entry.Date))
			continue
		}
		slices.SortStableFunc(day.Blocks, func(a, b agent.Block) int {
			return cmp.Compare(a.Source.Line, b.Source.Line)
		})
		day.Show = min(lines, len(day.Blocks))
		w.passage(day)
	}
}

// passage writes a line about a passage, and its blocks that are shown.
func (w *writer) passage(p agent.Passage) {
	first := p.Blocks[0].Source
	common := strings.Split(first.Heading, headingSeparator)
	for _, b := range p.Blocks[1:p.Show] {
		path := strings.Split(b.Source.Heading, headingSeparator)
		same := 0
		for same < min(len(common), len(path)) && common[same] == path[same] {
			same++
		}
		common = common[:same]
	}
	head := code(agent.Citation{Path: first.Path, Line: first.Line}.Place())
	if heading := Inline(strings.Join(common, headingSeparator), nil); heading != "" &&
		!strings.Contains(first.Path, heading) {
		head = "**" + strings.ReplaceAll(heading, "*", "") + "** · " + head
	}
	if !first.Date.IsZero() {
		head += dayOf(first.Path, first.Date.String())
	}
	if first.Untrusted {
		head += " · not written by you"
	}
	if more := len(p.Blocks) - p.Show; more > 0 {
		head += fmt.Sprintf(" · +%d", more)
	}
	w.paragraph(head)
	var before agent.Block
	under := ""
	for i, b := range p.Blocks[:p.Show] {
		heading := strings.Join(strings.Split(b.Source.Heading, headingSeparator)[len(common):], headingSeparator)
		// its parent was just written
		nested := b.Lead != "" && !isItem(b) && (b.Lead == before.Lead ||
			before.Lead == "" && b.Lead == before.Source.Text)
		listed := p.Show > 1 && isItem(b) && heading == under
		if i > 0 && !nested && (!listed || !isItem(before)) {
			w.out.WriteString("\n>")
		}
		if heading == under {
			heading = ""
		} else {
			under = heading
		}
		w.block(b, heading, nested, listed)
		before = b
	}
}

// isItem reports whether a block is an item of a bullet list, without a parent, or a row of a table.
func isItem(b agent.Block) bool {
	text := strings.TrimSpace(b.Source.Text)
	return !b.Code && (b.Lead == "" && bulletMark.MatchString(text) || strings.HasPrefix(text, "|"))
}

// dayOf returns the date of a note, unless its path contains it.
func dayOf(path, day string) string {
	if strings.Contains(strings.ReplaceAll(path, "_", "-"), day) {
		return ""
	}
	return " · " + day
}

// block writes a block under the part of its heading that the line above lacks. nested means that its parent
// was just written, item that it is an item of a list.
func (w *writer) block(b agent.Block, heading string, nested, item bool) {
	s := b.Source
	if agent.IsPaged(s.Path) {
		heading = strings.TrimSuffix(fmt.Sprintf("p. %d, %s", s.Line, heading), ", ")
	}
	number := w.numberIn(s)
	md, end := blockMarkdown(b, heading, nested, item)
	if md == "" {
		return
	}
	at := w.out.Len() + len("\n") + end
	w.out.WriteString("\n" + md)
	if number > 0 {
		quote := s.Text
		if b.Code && b.Lead != "" {
			quote = b.Lead + "\n" + quote
		}
		w.shown = append(w.shown, agent.Citation{
			N: number, Path: s.Path, Line: s.Line, EndLine: s.EndLine,
			Quote: quote, Verdict: agent.Cites, Sentence: md[:end], At: at,
		})
	}
}

// numberIn returns the number of the source that contains a block, or else of
// another source of its note.
func (w *writer) numberIn(s agent.Source) (number int) {
	for _, other := range w.list.Sources {
		switch {
		case !other.SamePlace(s):
		case other.Line <= s.Line && s.EndLine <= other.EndLine:
			return other.N
		default:
			number = cmp.Or(number, other.N)
		}
	}
	return number
}
