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
	maxListed = 5 // passages in a list
	daysWell  = 7 // up to this many notes of a period are listed with several lines each
	dayLines  = 3

	headingSeparator = " › " // in a heading path
)

// Openings of a list of passages.
const (
	noModelLead    = "No model is connected."
	modelFailed    = "The model failed."
	closest        = "Closest passages:"
	closestMeaning = "Closest in meaning:"
	nothingClose   = "No match."
)

// passages returns an answer without a model: the results of the tools and the
// passages that the search found, after the opening, which says why if it is not empty. It
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
	case period != nil && len(period.List) > 0:
		l.paragraph(period.String() + ":")
		l.byDate(found, period)
	case nothingIn(found) && a.statedBefore() != "" && !a.factFits():
		l.paragraph(a.statedBefore())
	default:
		l.collect(found)
		l.list(l.opening(opening), searched, semanticOnly(found))
	}
	a.listed = l.shown
	return l.out.String()
}

// opening returns the first line of a list: what the notes lack of the question, or why there is no
// answer.
func (l *lister) opening(why string) string {
	lacking := l.answer.lacks()
	if lacking == "" || why == modelFailed {
		lacking = strings.TrimSpace(why + " " + lacking)
	}
	return lacking
}

// lacks says what the question asks for and no note has; "" if nothing.
func (a *answer) lacks() string {
	if a.coverage == nil {
		return ""
	}
	return a.coverage.Lacking
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

// lister writes a list of passages.
type lister struct {
	answer   *answer
	out      strings.Builder
	passages []agent.Passage
	shown    []agent.Citation // At is relative to the start of the list
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

// collect gathers the passages found, in the order of the searches. Sources that a search
// did not find are shown whole.
func (l *lister) collect(found []finding) {
	for i, f := range l.answer.recalled.Facts {
		if f.Fits {
			s := l.answer.sources[l.answer.foundSources+i]
			s.Text = f.Text
			l.add(agent.Passage{Blocks: []agent.Block{{Source: s}}, Show: 1})
		}
	}
	if l.answer.factFits() && nothingIn(found) {
		return
	}
	for _, f := range found {
		for _, p := range f.Result.Passages {
			l.add(p)
		}
		for _, s := range f.Result.Sources {
			if len(f.Result.Passages) == 0 && s.Call == "" { // otherwise outcome has written its text
				l.addWhole(s)
			}
		}
	}
}

// add adds a passage without the blocks that an earlier one shows.
func (l *lister) add(p agent.Passage) {
	var fresh agent.Passage
	for i, b := range p.Blocks {
		if slices.ContainsFunc(l.passages, func(have agent.Passage) bool { return hasShown(have, b.Source) }) {
			continue
		}
		if fresh.Blocks = append(fresh.Blocks, b); i < p.Show {
			fresh.Show++
		}
	}
	if fresh.Show > 0 {
		l.passages = append(l.passages, fresh)
	}
}

// hasShown reports whether the blocks that are shown of a passage have the place and text of a source.
func hasShown(p agent.Passage, s agent.Source) bool {
	return slices.ContainsFunc(p.Blocks[:p.Show], func(b agent.Block) bool {
		return samePlace(b.Source, s) && b.Source.Line == s.Line && b.Source.Text == s.Text
	})
}

// addWhole adds all blocks of a source, except front matter.
func (l *lister) addWhole(s agent.Source) {
	if s.Line == 1 && strings.HasPrefix(s.Text, "---") {
		return
	}
	var whole agent.Passage
	for _, b := range text.Blocks(s.Text) {
		part := s
		part.Text = s.Text[b.Start:b.End]
		part.Line += max(0, strings.Count(s.Text[:b.Start], "\n")-s.Above)
		part.EndLine = part.Line + strings.Count(part.Text, "\n")
		if !strings.HasPrefix(strings.TrimSpace(part.Text), "#") {
			whole.Blocks = append(whole.Blocks, agent.Block{Source: part, Code: b.Kind == text.Code})
		}
	}
	whole.Show = len(whole.Blocks)
	l.add(whole)
}

// list writes the first passages after the opening, and all of them if the user named them without a search.
// byMeaning means that no note has a word of the question.
func (l *lister) list(opening string, searched, byMeaning bool) {
	switch {
	case !searched && len(l.passages) == 0:
		return
	case len(l.passages) == 0 && l.answer.lacks() != "":
		l.paragraph(opening)
	case len(l.passages) == 0:
		l.paragraph(opening + " " + nothingClose)
	case searched && byMeaning:
		l.paragraph(strings.TrimSpace(opening + " " + closestMeaning))
	case searched:
		l.paragraph(strings.TrimSpace(opening + " " + closest))
	}
	if searched {
		l.passages = l.passages[:min(len(l.passages), maxListed)]
	}
	for _, p := range l.passages {
		l.passage(p)
	}
}

// byDate writes the first lines of the notes of a period, by date.
func (l *lister) byDate(found []finding, period *when.Found) {
	lines := 1
	if len(period.List) <= daysWell {
		lines = dayLines
	}
	if earlier := period.Notes - len(period.List); earlier > 0 {
		l.paragraph(fmt.Sprintf("*%d earlier notes are not listed*", earlier))
	}
	for _, entry := range period.List {
		var day agent.Passage
		for _, f := range found {
			for _, p := range f.Result.Passages {
				if s := p.Blocks[0].Source; s.Path == entry.Path && s.Dated {
					day.Blocks = append(day.Blocks, p.Blocks...)
				}
			}
		}
		if len(day.Blocks) == 0 {
			l.paragraph(code(entry.Path) + dayOf(entry.Path, entry.Date))
			continue
		}
		slices.SortStableFunc(day.Blocks, func(a, b agent.Block) int { return cmp.Compare(a.Source.Line, b.Source.Line) })
		day.Show = min(lines, len(day.Blocks))
		l.passage(day)
	}
}

// passage writes a line about a passage, and its blocks that are shown.
func (l *lister) passage(p agent.Passage) {
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
	if heading := inline(strings.Join(common, headingSeparator), nil); heading != "" && !strings.Contains(first.Path, heading) {
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
	l.paragraph(head)
	var before agent.Block
	under := ""
	for i, b := range p.Blocks[:p.Show] {
		heading := strings.Join(strings.Split(b.Source.Heading, headingSeparator)[len(common):], headingSeparator)
		nested := b.Lead != "" && !isItem(b) && (b.Lead == before.Lead || before.Lead == "" && b.Lead == before.Source.Text) // its parent was just written
		listed := p.Show > 1 && isItem(b) && heading == under
		if i > 0 && !nested && (!listed || !isItem(before)) {
			l.out.WriteString("\n>")
		}
		if heading == under {
			heading = ""
		} else {
			under = heading
		}
		l.block(b, heading, nested, listed)
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
func (l *lister) block(b agent.Block, heading string, nested, item bool) {
	s := b.Source
	if agent.IsPaged(s.Path) {
		heading = strings.TrimSuffix(fmt.Sprintf("p. %d, %s", s.Line, heading), ", ")
	}
	number := l.numberIn(s)
	md, end := blockMarkdown(b, heading, nested, item)
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
