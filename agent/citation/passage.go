package citation

import (
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
	shift     int          // lines of text before the first line of the source
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
	p := &passage{source: source, text: unbroken(strings.ReplaceAll(strings.TrimRight(source.Text, "\n"), rowEnd, rowEnd+"\n"))}
	p.words = wordsOf(p.text)
	p.sentences = text.Sentences(p.text)
	if len(p.sentences) == 0 && len(p.words) > 0 { // for example, only the first line of a code block
		start := p.words[0].Token.Start
		p.sentences = []text.Sentence{{Start: start, End: len(p.text), Line: strings.Count(p.text[:start], "\n"), EndLine: strings.Count(p.text, "\n")}}
	}
	rows := strings.Count(p.text, rowEnd)
	for i := range p.sentences {
		if s := &p.sentences[i]; rows > 0 {
			s.Line -= strings.Count(p.text[:s.Start], rowEnd)
			s.EndLine -= strings.Count(strings.TrimSuffix(p.text[:s.End], rowEnd), rowEnd)
		}
	}
	p.title = text.Tokens(source.Heading + " / " + strings.NewReplacer("/", " / ", ".md", " ", "-", " ").Replace(source.Path))
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
	if extra := strings.Count(p.text, "\n") - rows - (source.EndLine - source.Line); source.EndLine >= source.Line && extra > 0 {
		p.shift = extra // the text begins with a heading path
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
	inNote := func(line int) int { return p.source.Line + max(0, line-p.shift) }
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

// begins reports whether word i is the first of its sentence.
func (p *passage) begins(i int) bool { return p.ranges[p.within[i]][0] == i }

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
// consecutively from word i on; skipped table cells start a new run. exact
// reports whether punctuation and case are the same.
func (p *passage) match(i int, quoted []word, same func(i int, quoted word) bool) (runs []place, exact bool) {
	runs, exact = []place{{i, i}}, true
	for j := 0; j < len(quoted); {
		if i == len(p.words) {
			return nil, false
		}
		here, there := p.alike(i, quoted[j:], same)
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
			exact = exact && (note.signs == quoted[j].signs || note.cell && strings.Trim(quoted[j].signs, "-:=→") == "" ||
				note.line && strings.Trim(quoted[j].signs, "->#*+") == note.signs)
		} else {
			exact = exact && strings.TrimPrefix(note.lead, "#") == strings.TrimPrefix(quoted[j].lead, "#")
		}
		if here == 1 && there == 1 {
			exact = exact && sameAsWritten(note, quoted[j], j == 0 || p.begins(i))
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
	const least = 3 // words
	if len(first) < least {
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
	return nil, p.search(q, starts, func(i int, quoted word) bool { return p.words[i].key == quoted.key || p.forms[i] == forms[quoted.key] }) != nil
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
		whole += w.Token.Text
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
		if exact {
			return runs
		}
	}
	return nil
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
