package turn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
)

const (
	maxNotes  = 3 // in a list of passages
	maxListed = 5 // passages in a list
	daysWell  = 7 // up to this many notes of a period are listed with several lines each
	dayLines  = 3

	headingSeparator = " › " // in a heading path
)

// Openings of a list of passages.
const (
	noModelLead    = "No model is connected. "
	modelFailed    = "The model failed. "
	closest        = "Closest passages:"
	closestMeaning = "No note has these words. Closest in meaning:"
)

// passages returns an answer without a model: the results of the tools and the
// best-fitting passages, after the opening, which says why if it is not empty. It
// makes no claims, so none are checked.
func (a *answer) passages(found []finding, opening string) string {
	l := lister{answer: a}
	searched, attached := false, false
	for _, f := range found {
		searched = searched || f.step.Tool == agent.SearchNotes && f.Status == agent.Done
		if f.step.Tool == attachTool && f.Status == agent.Done && len(f.Result.Sources) == 0 {
			attached = true
			continue
		}
		l.outcome(f)
	}
	if searched && attached {
		l.paragraph("A model is needed to read what you attached.")
	}
	l.tellWorkers()
	switch period := a.timeAsked(); {
	case period != nil && period.Notes == 0:
		l.paragraph("No notes from " + period.Days + ".")
	case period != nil && len(period.List) > 0:
		l.paragraph(period.String() + ":")
		l.byDate(found, period)
	case nothingIn(found) && a.statedBefore() != "" && !a.factFits():
		l.paragraph(a.statedBefore())
	case a.unanswered && !a.close && opening != modelFailed:
		l.paragraph(opening + nothingClose(a.nearestSources))
	default:
		l.collect(found)
		l.best(opening, searched)
	}
	a.listed = l.shown
	return l.out.String()
}

// factFits reports whether a fact about the user fits the question.
func (a *answer) factFits() bool {
	return slices.ContainsFunc(a.recalled.Facts, func(f agent.Fact) bool { return f.Fits })
}

// timeAsked returns the period of the last search, if only notes of that period
// can answer; nil otherwise.
func (a *answer) timeAsked() *when.Found {
	if a.coverage == nil || a.coverage.Time == nil || !a.coverage.Time.Only {
		return nil
	}
	return a.coverage.Time
}

func nothingClose(nearest []agent.Source) string {
	names := make([]string, len(nearest))
	for i, s := range nearest {
		names[i] = code(s.Title())
	}
	if len(names) == 0 {
		return "Nothing close in your notes."
	}
	return "Nothing close in your notes. Nearest: " + strings.Join(names, ", ") + "."
}

// lister writes a list of passages.
type lister struct {
	answer *answer
	out    strings.Builder
	notes  []*noteBlocks
	shown  []agent.Citation // At is relative to the start of the list
}

// noteBlocks has the blocks of one note.
type noteBlocks struct {
	blocks []agent.Block
	show   int // number of leading blocks to show
}

func (n *noteBlocks) source() agent.Source { return n.blocks[0].Source }

// next returns the score of the first block that is not shown; -1 if all are.
func (n *noteBlocks) next() float64 {
	if n.show == len(n.blocks) {
		return -1
	}
	return n.blocks[n.show].Score
}

func (l *lister) paragraph(s string) {
	if l.out.Len() > 0 && s != "" {
		l.out.WriteString("\n\n")
	}
	l.out.WriteString(s)
}

// outcome writes what a step did, unless its text is among the passages.
func (l *lister) outcome(f finding) {
	r := forModel(f)
	if f.Status == agent.Done && (f.step.Tool == agent.SearchNotes || r.cited) {
		return
	}
	number := 0
	if f.Result.Untrusted {
		number = l.answer.resultNumber(f.step.ID)
	}
	l.paragraph(tell(f.step.Tool, f.Status, r.text, number))
	l.cite(number)
}

// tellWorkers writes the results of calls by workers.
func (l *lister) tellWorkers() {
	for _, s := range l.answer.sources[:l.answer.foundSources] {
		if s.Call != "" && !l.answer.inResults(s) {
			l.paragraph(tell(s.Path, agent.Done, s.Text, s.N))
			l.cite(s.N)
		}
	}
}

// cite records that the text so far ends with the number of a source, unless n
// is 0.
func (l *lister) cite(n int) {
	if n > 0 {
		s := l.answer.sources[n-1]
		l.shown = append(l.shown, agent.Citation{N: n, Path: s.Path, Line: s.Line, EndLine: s.EndLine, Quote: s.Text, Verdict: agent.Cites, At: l.out.Len()})
	}
}

// collect gathers the blocks found, by note in the order of the searches.
// Sources that a search did not split into blocks are split here.
func (l *lister) collect(found []finding) {
	for i, f := range l.answer.recalled.Facts {
		if f.Fits {
			s := l.answer.sources[l.answer.foundSources+i]
			s.Text = f.Text
			l.add(agent.Block{Source: s, Score: certain})
		}
	}
	if l.answer.factFits() && nothingIn(found) {
		return
	}
	for _, f := range found {
		for _, b := range f.Result.Blocks {
			l.add(b)
		}
		for _, s := range f.Result.Sources {
			if len(f.Result.Blocks) == 0 && s.Call == "" { // otherwise outcome has written its text
				l.addWhole(s)
			}
		}
	}
}

// certain is the score of what the user named, which is below all search
// scores.
const certain = 1e-9

func (l *lister) add(b agent.Block) {
	i := slices.IndexFunc(l.notes, func(n *noteBlocks) bool { return samePlace(n.source(), b.Source) })
	if i < 0 {
		l.notes = append(l.notes, &noteBlocks{blocks: []agent.Block{b}})
		return
	}
	if n := l.notes[i]; !slices.ContainsFunc(n.blocks, func(have agent.Block) bool {
		return have.Source.Line == b.Source.Line && have.Source.Text == b.Source.Text
	}) {
		n.blocks = append(n.blocks, b)
	}
}

// addWhole adds all blocks of a source, except front matter.
func (l *lister) addWhole(s agent.Source) {
	if s.Line == 1 && strings.HasPrefix(s.Text, "---") {
		return
	}
	for _, b := range text.Blocks(s.Text) {
		part := s
		part.Text = s.Text[b.Start:b.End]
		part.Line += strings.Count(s.Text[:b.Start], "\n")
		part.EndLine = part.Line + strings.Count(part.Text, "\n")
		if !strings.HasPrefix(strings.TrimSpace(part.Text), "#") {
			l.add(agent.Block{Source: part, Code: b.Kind == text.Code, Score: certain})
		}
	}
}

// best writes the best blocks of the first notes: of those that contain a word
// of the question, or of all if they are ranked semantically. What the user
// named explicitly, without a search, is written in full.
func (l *lister) best(opening string, searched bool) {
	for _, n := range l.notes {
		slices.SortStableFunc(n.blocks, func(a, b agent.Block) int { return cmp.Compare(b.Score, a.Score) })
	}
	if called := opening != modelFailed && !searched; called {
		for _, n := range l.notes {
			n.show = len(n.blocks)
			l.note(n)
		}
		return
	}
	hasWord := func(n *noteBlocks) bool { return n.blocks[0].Score > 0 }
	if opening != modelFailed && slices.ContainsFunc(l.notes, hasWord) {
		l.notes = slices.DeleteFunc(l.notes, func(n *noteBlocks) bool { return !hasWord(n) })
	}
	l.notes = l.notes[:min(len(l.notes), maxNotes)]
	switch {
	case len(l.notes) == 0 && !searched:
		return
	case opening != modelFailed && !l.answer.coverage.Semantic() && !slices.ContainsFunc(l.notes, hasWord):
		var nearest []agent.Source
		for _, n := range l.notes {
			nearest = append(nearest, n.source())
		}
		l.paragraph(opening + nothingClose(nearest))
		return
	case len(l.notes) == 0:
		l.paragraph(opening + nothingClose(nil))
		return
	}
	if slices.ContainsFunc(l.notes, hasWord) {
		l.paragraph(opening + closest)
	} else {
		l.paragraph(opening + closestMeaning)
	}
	for _, n := range l.notes {
		n.show = 1
	}
	for range maxListed - len(l.notes) {
		if n := slices.MaxFunc(l.notes, func(a, b *noteBlocks) int { return cmp.Compare(a.next(), b.next()) }); n.next() >= 0 {
			n.show++
		}
	}
	for _, n := range l.notes {
		l.note(n)
	}
}

// byDate writes the first lines of the notes of a period, by date.
func (l *lister) byDate(found []finding, period *when.Found) {
	for _, f := range found {
		for _, b := range f.Result.Blocks {
			l.add(b)
		}
	}
	lines := 1
	if len(period.List) <= daysWell {
		lines = dayLines
	}
	if earlier := period.Notes - len(period.List); earlier > 0 {
		l.paragraph(fmt.Sprintf("*%d earlier notes are not listed*", earlier))
	}
	for _, entry := range period.List {
		i := slices.IndexFunc(l.notes, func(n *noteBlocks) bool { return n.source().Path == entry.Path && n.source().Dated })
		if i < 0 {
			l.paragraph(code(entry.Path) + dayOf(entry.Path, entry.Date))
			continue
		}
		n := l.notes[i]
		slices.SortStableFunc(n.blocks, func(a, b agent.Block) int { return cmp.Compare(a.Source.Line, b.Source.Line) })
		n.show = min(lines, len(n.blocks))
		l.note(n)
	}
}

// note writes a line about a note, and its blocks that are shown.
func (l *lister) note(n *noteBlocks) {
	first := n.source()
	common := strings.Split(first.Heading, headingSeparator)
	for _, b := range n.blocks[1:n.show] {
		path := strings.Split(b.Source.Heading, headingSeparator)
		same := 0
		for same < min(len(common), len(path)) && common[same] == path[same] {
			same++
		}
		common = common[:same]
	}
	head := code(agent.Citation{Path: first.Path, Line: first.Line}.Place())
	if heading := inline(strings.Join(common, headingSeparator), nil); heading != "" && !strings.Contains(first.Path, heading) {
		head = "**" + strings.ReplaceAll(heading, "*", "") + "** · " + head
	}
	if !first.Date.IsZero() {
		head += dayOf(first.Path, first.Date.String())
	}
	if first.Untrusted {
		head += " · not written by you"
	}
	l.paragraph(head)
	var before agent.Block
	for i, b := range n.blocks[:n.show] {
		nested := b.Lead != "" && (b.Lead == before.Lead || before.Lead == "" && b.Lead == before.Source.Text) // its parent was just written
		if i > 0 && !nested {
			l.out.WriteString("\n>")
		}
		l.block(b, strings.Join(strings.Split(b.Source.Heading, headingSeparator)[len(common):], headingSeparator), nested)
		before = b
	}
	if more := len(n.blocks) - n.show; more > 0 {
		fmt.Fprintf(&l.out, "\n>\n> *%d more in this note*", more)
	}
}

// dayOf returns the date of a note, unless its path contains it.
func dayOf(path, day string) string {
	if strings.Contains(strings.ReplaceAll(path, "_", "-"), day) {
		return ""
	}
	return " · " + day
}

// block writes a block under the part of its heading that the note's line lacks. nested means that its parent was just written.
func (l *lister) block(b agent.Block, heading string, nested bool) {
	s := b.Source
	if agent.IsPaged(s.Path) {
		heading = strings.TrimSuffix(fmt.Sprintf("p. %d, %s", s.Line, heading), ", ")
	}
	number := l.numberIn(s)
	md, end := blockMarkdown(b, heading, nested)
	if md == "" {
		return
	}
	at := l.out.Len() + len("\n") + end
	l.out.WriteString("\n" + md)
	if number > 0 {
		quote := s.Text
		if b.Code && b.Lead != "" {
			quote = b.Lead + "\n" + quote
		}
		l.shown = append(l.shown, agent.Citation{N: number, Path: s.Path, Line: s.Line, EndLine: s.EndLine, Quote: quote, Verdict: agent.Cites, Sentence: md[:end], At: at})
	}
}

// numberIn returns the number of the source that contains a block, or else of
// another source of its note.
func (l *lister) numberIn(s agent.Source) (number int) {
	for _, other := range l.answer.sources {
		switch {
		case !samePlace(other, s):
		case other.Line <= s.Line && s.EndLine <= other.EndLine:
			return other.N
		default:
			number = cmp.Or(number, other.N)
		}
	}
	return number
}

// statedBefore returns the best-fitting earlier statement of the user; "" if
// there is none.
func (a *answer) statedBefore() string {
	for _, p := range a.recalled.Past {
		if statement := inline(p.Question, nil); statement != "" && !strings.HasSuffix(statement, "?") {
			return "On " + p.Asked.Format(time.DateOnly) + " you said: “" + statement + "”"
		}
	}
	return ""
}

// listPassages lists the findings of the steps if the model failed before
// answering.
func (a *answer) listPassages(ctx context.Context) {
	var err error
	defer agent.Catch(&err) // the turn has already failed and reports that
	found := a.steps.found[a.steps.attached:]
	if ctx.Err() != nil || !slices.ContainsFunc(found, func(f finding) bool { return f.Status == agent.Done && !f.Result.Nothing }) {
		return
	}
	a.numberAll()
	a.passageList = a.passages(found, modelFailed)
	if strings.Contains(a.steps.saved.text, a.passageList) { // saved by an earlier failure, or empty
		a.passageList, a.listed = "", nil
		return
	}
	if a.steps.saved.longer(a.events.Text()) != "" {
		const broken = "\n\n(The answer breaks off here.)\n\n"
		a.passageList = broken + a.passageList
		for i := range a.listed {
			a.listed[i].At += len(broken)
		}
	}
	a.events.Lead = ""
	a.events.Say(a.passageList)
}
