package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/text"
)

// passage is a text prepared for comparing: a source, or its note on disk.
type passage struct {
	source    agent.Source
	text      string
	words     []word
	sentences []text.Sentence
	within    []int        // index of the sentence of each word
	ranges    [][2]int     // word range of each sentence
	title     []text.Token // of heading and path
	layout    *layout      // parsed on first use
	carriers  carriers     // its sentences; built on first use

	at    map[string][]int // positions of each word; built on first use
	forms []string         // the words in normalized form; built on first use
}

// place is a run of words in a passage, from first up to last.
type place struct{ first, last int }

// rowEnd ends the rows of a table within a page of a PDF, which is one line.
const rowEnd = "\u2028"

func openPassage(source agent.Source) *passage {
	p := &passage{source: source, text: unbroken(strings.ReplaceAll(strings.TrimRight(source.Text, "\n"), rowEnd,
		rowEnd+"\n"))}
	p.words = wordsOf(p.text)
	p.sentences = text.Sentences(p.text)
	if len(p.sentences) == 0 && len(p.words) > 0 { // for example, only the first line of a code block
		start := p.words[0].Token.Start
		p.sentences = []text.Sentence{{
			Start: start, End: len(p.text), Line: strings.Count(p.text[:start], "\n"),
			EndLine: strings.Count(p.text, "\n"),
		}}
	}
	rows := strings.Count(p.text, rowEnd)
	for i := range p.sentences {
		if s := &p.sentences[i]; rows > 0 {
			s.Line -= strings.Count(p.text[:s.Start], rowEnd)
			s.EndLine -= strings.Count(strings.TrimSuffix(p.text[:s.End], rowEnd), rowEnd)
		}
	}
	p.title = text.Tokens(source.Heading + " / " + strings.NewReplacer("/", " / ", ".md", " ", "-",
		" ").Replace(source.Path))
	p.within = make([]int, len(p.words))
	p.ranges = make([][2]int, len(p.sentences))
	at := 0
	for i, s := range p.sentences {
		first := at
		for at < len(p.words) && p.words[at].Token.Start < s.End {
			if p.words[at].Token.Start < s.Start { // a markup character between sentences
				first = at + 1
			}
			p.within[at] = i
			at++
		}
		p.ranges[i] = [2]int{first, at}
	}
	for ; at < len(p.words); at++ {
		p.within[at] = max(0, len(p.sentences)-1)
	}
	return p
}

// lines returns the line numbers in the note, and the text, of the sentences at
// runs; without runs, the first line of the source.
func (p *passage) lines(runs []place) (line, endLine int, quote string) {
	if len(runs) == 0 || len(p.sentences) == 0 {
		return p.source.Line, p.source.Line, ""
	}
	from, to := p.sentences[p.within[runs[0].first]], p.sentences[p.within[runs[len(runs)-1].last-1]]
	inNote := func(line int) int { return p.source.Line + max(0, line-p.source.Above) }
	const longest = 2000
	quote = p.text[from.Start:to.End]
	if len(quote) > longest {
		cut := longest
		for !utf8.RuneStart(quote[cut]) {
			cut--
		}
		quote = quote[:cut] + "…"
	}
	return inNote(from.Line), inNote(to.EndLine), quote
}

// begins reports whether word i is the first of its sentence, after a label,
// comments, struck-out text, the time of an entry and planning lines.
func (p *passage) begins(i int) bool {
	s := p.within[i]
	if p.ranges[s][0] == i {
		return true
	}
	before := p.before(i)
	return len(before) < maxClaim && !hasWords(labelText.ReplaceAllString(strings.TrimRight(before, " \t*_"), ""))
}

// before returns the text of a sentence before word i of it.
func (p *passage) before(i int) string {
	to := p.words[i].Token.Start
	return p.text[min(p.sentences[p.within[i]].Start, to):to]
}

// ends reports whether a sentence ends before word i, or has nothing but such
// text from there on.
func (p *passage) ends(i int) bool {
	s := p.within[i-1]
	if p.ranges[s][1] == i {
		return true
	}
	after := p.text[min(p.words[i-1].Token.End, p.sentences[s].End):p.sentences[s].End]
	return len(after) < maxClaim && !hasWords(after)
}

var (
	// labelText matches a label that ends a text: a few words and a colon.
	labelText = regexp.MustCompile(`[^\n:：.!?。！？|]{1,60}[*_]*[:：]$`)
	// planText matches a line with the dates of a task or a property, and times.
	planText = regexp.MustCompile(`(?m)^[ \t]*(?:(?:SCHEDULED|DEADLINE|CLOSED):.*|[\pL\d_-]+::.*)$|\d{4}-\d{2}-\d{2}|` +
		`\b\d{1,2}:\d{2}\b`)
)

// hasWords reports whether a text has words besides comments, struck-out text
// and planning.
func hasWords(md string) bool {
	for _, form := range []*regexp.Regexp{commentText, struckText, planText} {
		md = form.ReplaceAllString(md, "")
	}
	return len(text.Tokens(md)) > 0
}

// alike returns how many words of the passage from i on, and of the quotation,
// make up one equal word: one of each, or several if a line break or a space
// splits a word or a number. It returns 0, 0 if they differ.
func (p *passage) alike(i int, quoted []word, same func(i int, quoted word) bool) (here, there int) {
	if same(i, quoted[0]) {
		return 1, 1
	}
	for n := i + 2; n <= len(p.words) && p.words[n-1].parted; n++ {
		if joined(p.words[i:n]) == quoted[0].key {
			return n - i, 1
		}
	}
	for n := 2; n <= len(quoted) && quoted[n-1].parted; n++ {
		if joined(quoted[:n]) == p.words[i].key {
			return 1, n
		}
	}
	return 0, 0
}

// match returns where the words of a quotation occur in the passage,
// consecutively from word i on; skipped table cells start a new run. The number
// of a list item may be left out, or be within a line. exact reports whether
// punctuation, case and the numbers of items are the same.
func (p *passage) match(i int, quoted []word, same func(i int, quoted word) bool) (runs []place, exact bool) {
	runs, exact = []place{{i, i}}, p.sameItem(i, quoted[0])
	for j := 0; j < len(quoted); {
		if i == len(p.words) {
			return nil, false
		}
		here, there := p.alike(i, quoted[j:], same)
		if here == 0 && j > 0 && quoted[j].key == p.words[i].item {
			j++
			continue
		}
		if here == 0 && j > 0 && p.words[i].key == quoted[j].item {
			i++
			continue
		}
		if here == 0 {
			if j == 0 || !p.words[i].cell {
				return nil, false
			}
			for i++; i < len(p.words) && !p.words[i].cell; i++ {
			}
			if i == len(p.words) || p.within[i] != p.within[runs[0].first] {
				return nil, false
			}
			runs = append(runs, place{i, i})
			continue
		}
		note := p.words[i]
		if j > 0 {
			sameItem := note.item == "" || quoted[j].item == "" || note.item == quoted[j].item
			sameSigns := note.signs == quoted[j].signs ||
				note.cell && strings.Trim(quoted[j].signs, "-:=→") == "" ||
				note.line && strings.Trim(quoted[j].signs, "->#*+") == note.signs
			exact = exact && sameItem && sameSigns
		} else {
			exact = exact && strings.TrimPrefix(note.lead, "#") == strings.TrimPrefix(quoted[j].lead, "#")
		}
		if here == 1 && there == 1 {
			exact = exact && (note.raw == quoted[j].raw || sameAsWritten(note, quoted[j], j == 0 || p.begins(i)))
		}
		i, j = i+here, j+there
		runs[len(runs)-1].last = i
	}
	last := quoted[len(quoted)-1]
	follows := p.words[i-1].tail
	if i < len(p.words) {
		follows = p.words[i].signs
	}
	trail := p.words[i-1].trail
	if last.trail == "" {
		trail = strings.Trim(trail, "([{<") // an opening bracket after the last word is not quoted
	}
	exact = exact && trail == last.trail && (last.tail == last.trail || strings.HasPrefix(follows, last.tail))
	return runs, exact
}

// sameItem reports whether a quotation that begins with the number of an item
// does not begin at another number. What looks like one may be the day of a date.
func (p *passage) sameItem(i int, quoted word) bool {
	if quoted.item == "" {
		return true
	}
	here := p.words[i].item
	if here == "" && i > 0 && !p.words[i].line {
		here = p.words[i-1].number
	}
	return here == "" || here == quoted.item
}

// quote finds a quotation: its parts must occur in order within one sentence,
// or be cut where sentences end, each with the same punctuation and case. near
// reports that its words occur in other forms or another grammatical person.
func (p *passage) quote(q quotedWords) (runs []place, near bool) {
	first := q.parts[0]
	starts := p.startsOf(first[0].key)
	for n := 2; n <= len(first) && first[n-1].parted; n++ {
		starts = append(slices.Clone(starts), p.startsOf(joined(first[:n]))...)
	}
	if runs = p.search(q, starts, func(i int, quoted word) bool { return p.words[i].key == quoted.key }); runs != nil {
		return runs, false
	}
	if loose, bound := q.loose(); bound && p.search(loose, starts,
		func(i int, quoted word) bool { return p.words[i].key == quoted.key }) != nil {
		return nil, q.head == nil
	}
	const least = 3 // words
	if len(first) < least || q.head != nil {
		return nil, false
	}
	if p.forms == nil {
		for _, w := range p.words {
			p.forms = append(p.forms, w.form())
		}
	}
	forms := map[string]string{} // of the words in the quotation
	for _, part := range q.parts {
		for _, w := range part {
			forms[w.key] = w.form()
		}
	}
	starts = nil
	for i, form := range p.forms {
		if form == forms[first[0].key] {
			starts = append(starts, i)
		}
	}
	return nil, p.search(q, starts, func(i int, quoted word) bool {
		return p.words[i].key == quoted.key ||
			p.forms[i] == forms[quoted.key]
	}) != nil
}

// startsOf returns the positions of a word, including those where it is split.
func (p *passage) startsOf(key string) []int {
	if p.at == nil {
		p.at = map[string][]int{}
		for i, w := range p.words {
			p.at[w.key] = append(p.at[w.key], i)
			for n := i + 2; n <= len(p.words) && p.words[n-1].parted; n++ {
				whole := joined(p.words[i:n])
				p.at[whole] = append(p.at[whole], i)
			}
		}
	}
	return p.at[key]
}

// joined returns the word that the split parts form.
func joined(words []word) (whole string) {
	for _, w := range words {
		whole += strings.ToLower(w.Token.Text)
	}
	return whole
}

func (p *passage) search(q quotedWords, starts []int, same func(i int, quoted word) bool) []place {
	for _, i := range starts {
		runs, exact := p.match(i, q.parts[0], same)
		for _, part := range q.parts[1:] {
			if !exact {
				break
			}
			var more []place
			if more, exact = p.next(runs[len(runs)-1].last, part, same); exact {
				runs = append(runs, more...)
			}
		}
		if exact && p.fits(runs, q) {
			return runs
		}
	}
	return nil
}

// fits reports whether a quotation of a table's cell is from the row that its
// label names, and from the column and row that its head names. A label that no
// other row of the table has is none of a row.
func (p *passage) fits(runs []place, q quotedWords) bool {
	s := p.within[runs[0].first]
	if !p.isRow(s) {
		return q.head == nil
	}
	top, bottom := s, s
	for top > 0 && p.isRow(top-1) {
		top--
	}
	for bottom+1 < len(p.sentences) && p.isRow(bottom+1) {
		bottom++
	}
	column := p.column(runs[len(runs)-1].first)
	first, head := p.cell(s, 1), p.cell(top, column)
	if said := keysOf(q.head); said != nil && (column == 1 || !p.words[runs[0].first].cell ||
		!slices.Equal(said, head) && !slices.Equal(said, slices.Concat(first, head)) &&
			!slices.Equal(said, slices.Concat(head, first))) {
		return false
	}
	elsewhere := false
	for _, w := range q.label {
		if w.Token.Stop {
			continue
		}
		if p.holds(s, w) {
			return true
		}
		for row := top; row <= bottom; row++ {
			elsewhere = elsewhere || p.holds(row, w) && !slices.Contains(head, w.key)
		}
	}
	return !elsewhere
}

// isRow reports whether a sentence is a row of a table.
func (p *passage) isRow(s int) bool {
	return strings.HasPrefix(p.text[p.sentences[s].Start:p.sentences[s].End], "|")
}

// holds reports whether a sentence has a word.
func (p *passage) holds(s int, w word) bool {
	return slices.ContainsFunc(p.words[p.ranges[s][0]:p.ranges[s][1]], func(own word) bool { return own.key == w.key })
}

// cell returns the words of a cell of a row; nil if it has none.
func (p *passage) cell(s, column int) []string {
	var words []word
	for i := p.ranges[s][0]; i < p.ranges[s][1]; i++ {
		if p.column(i) == column {
			words = append(words, p.words[i])
		}
	}
	return keysOf(words)
}

func keysOf(words []word) (keys []string) {
	for _, w := range words {
		keys = append(keys, w.key)
	}
	return keys
}

// column returns the number of the table cell that a word is in, from 1.
func (p *passage) column(i int) int {
	return strings.Count(p.before(i), "|")
}

// next finds the next part of a quotation after position from: in the same
// sentence, or in a nearby one if both parts are cut where sentences end.
func (p *passage) next(from int, part []word, same func(i int, quoted word) bool) (runs []place, exact bool) {
	const close = 2 // sentences
	before := p.within[from-1]
	for i := from; i < len(p.words) && p.within[i] <= before+close; i++ {
		clean := p.ranges[before][1] == from && p.begins(i)
		if p.within[i] != before && !clean {
			continue
		}
		if runs, exact = p.match(i, part, same); exact {
			return runs, true
		}
	}
	return nil, false
}

// closest returns the sentence that shares most words with a claim; nil if none
// shares any.
func (p *passage) closest(claim string) []place {
	if p.carriers.holds == nil {
		p.carriers.holds = map[string][]int{}
		p.carriers.add(p, 0)
	}
	most, shared := p.carriers.of(claim)
	if shared == 0 {
		return nil
	}
	return []place{most.place}
}

// contentOf returns the tokens of a text that are not stop words.
func contentOf(s string) []text.Token {
	return slices.DeleteFunc(text.Tokens(s), func(t text.Token) bool { return t.Stop })
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
