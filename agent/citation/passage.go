package citation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// passage is a source made ready for comparing.
type passage struct {
	source    agent.Source
	text      string
	tokens    []text.Token
	sentences []text.Sentence
	within    []int          // the sentence of each token
	ranges    [][2]int       // the tokens of each sentence
	common    map[string]int // how often each word stands in it
	title     []text.Token   // of heading and path
	kept      []int          // the tokens that are no filler
	shift     int            // lines of text before the source's first line
}

// place is a run of tokens of a passage; the zero value is none.
type place struct{ first, last int }

func (p place) none() bool { return p.first >= p.last }

func openPassage(source agent.Source) *passage {
	p := &passage{source: source, text: strings.TrimRight(source.Text, "\n")}
	p.tokens = text.Tokens(p.text)
	p.sentences = text.Sentences(p.text)
	if len(p.sentences) == 0 && len(p.tokens) > 0 { // such as the first line of a code block, and no more
		p.sentences = []text.Sentence{{End: len(p.text), EndLine: strings.Count(p.text, "\n")}}
	}
	p.title = text.Tokens(source.Heading + " / " + strings.NewReplacer("/", " / ", ".md", " ", "-", " ").Replace(source.Path))
	p.common = make(map[string]int, len(p.tokens))
	for i, tok := range p.tokens {
		p.common[stem(tok)]++
		if !isFiller(tok) {
			p.kept = append(p.kept, i)
		}
	}
	p.within = make([]int, len(p.tokens))
	p.ranges = make([][2]int, len(p.sentences))
	at := 0
	for i, s := range p.sentences {
		for at < len(p.tokens) && p.tokens[at].Start < s.Start { // a mark between sentences
			p.within[at] = i
			at++
		}
		first := at
		for at < len(p.tokens) && p.tokens[at].Start < s.End {
			p.within[at] = i
			at++
		}
		p.ranges[i] = [2]int{first, at}
	}
	for ; at < len(p.tokens); at++ {
		p.within[at] = max(0, len(p.sentences)-1)
	}
	if extra := strings.Count(p.text, "\n") - (source.EndLine - source.Line); source.EndLine >= source.Line && extra > 0 {
		p.shift = extra // a heading path was put before the lines
	}
	return p
}

// lines are the lines in the note and the text of the sentences at a place;
// of no place, the source's first line.
func (p *passage) lines(at place) (line, endLine int, quote string) {
	if at.none() || len(p.sentences) == 0 {
		return p.source.Line, p.source.Line, ""
	}
	from, to := p.sentences[p.within[at.first]], p.sentences[p.within[at.last-1]]
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

// find is where the words stand one after the other, from a token on.
func (p *passage) find(words []text.Token, from int) (place, bool) {
	i := IndexOf(p.tokens, words, from)
	return place{i, i + len(words)}, i >= 0
}

func IndexOf(tokens, words []text.Token, from int) int {
	if len(words) == 0 {
		return -1
	}
	for i := from; i+len(words) <= len(tokens); i++ {
		if slices.EqualFunc(tokens[i:i+len(words)], words, func(a, b text.Token) bool { return a.Text == b.Text }) {
			return i
		}
	}
	return -1
}

// quote finds a quotation: its parts in order, within one sentence, or cut
// where sentences end. It is a paraphrase where what it leaves out turns what
// it says. Program text has to stand there sign by sign.
func (p *passage) quote(q quotedWords) (place, agent.Verdict) {
	best, verdict := place{}, agent.NotFound
	for from := 0; ; {
		at, ok := p.find(q.parts[0], from)
		if !ok {
			return best, verdict
		}
		whole, v := p.goOn(at, q.parts[1:])
		if v == agent.Verified && (p.turnedAround(whole) || !p.sameCode(whole, q.text)) {
			v = agent.Paraphrase
		}
		switch {
		case v == agent.Verified:
			return whole, v
		case v == agent.Paraphrase && verdict == agent.NotFound:
			best, verdict = whole, v
		}
		from = at.first + 1
	}
}

// turnedAround reports whether the sentence of a place says "not" or "if" of it
// outside of it: before it in its clause, or after it up to a comma.
func (p *passage) turnedAround(at place) bool {
	doubt := func(i int) bool { return turns(p.tokens[i]) || text.Is(p.tokens[i].Text, text.Hedge) }
	for i := at.first; i > p.ranges[p.within[at.first]][0]; i-- {
		if clauseMark.MatchString(p.text[p.tokens[i-1].End:p.tokens[i].Start]) {
			break
		}
		if doubt(i - 1) {
			return true
		}
	}
	for i := at.last; i < p.ranges[p.within[at.last-1]][1]; i++ {
		if between := p.text[p.tokens[i-1].End:p.tokens[i].Start]; strings.ContainsAny(between, ",，、(") || clauseMark.MatchString(between) {
			return text.Is(p.tokens[i].Text, text.Hedge) // ", if it rains"
		}
		if doubt(i) {
			return true
		}
	}
	rest := p.text[p.tokens[at.last-1].End:max(p.tokens[at.last-1].End, p.sentences[p.within[at.last-1]].End)]
	if stop := clauseEnd.FindStringIndex(rest); stop != nil {
		rest = rest[:stop[0]]
	}
	return text.NegatesWithin(rest)
}

// sameCode reports whether a quotation of program text has its signs, and ends
// where a word of the program does. Prose is always the same.
func (p *passage) sameCode(at place, quote string) bool {
	from, to := p.sentences[p.within[at.first]], p.sentences[p.within[at.last-1]]
	if from.Kind != text.Code && to.Kind != text.Code {
		return true
	}
	plain := func(s string) string {
		return strings.Join(strings.Fields(strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "‘", "'").Replace(s)), " ")
	}
	_, after, ok := strings.Cut(strings.ToLower(plain(p.text[from.Start:to.End])), strings.ToLower(strings.Trim(plain(quote), "`.,; ")))
	return ok && !codeGoesOn.MatchString(after)
}

// codeGoesOn begins with what belongs to the word before it.
var codeGoesOn = pattern.Lazy(`^[\pL\pN_/~^@-]`)

// otherClause begins a clause that says something else; a colon goes on.
var otherClause = pattern.Lazy(`[;；]|\s[—–-]+\s|—`)

// goOn is the place that a quotation takes when its other parts follow.
func (p *passage) goOn(at place, parts [][]text.Token) (place, agent.Verdict) {
	verdict := agent.Verified
	for _, part := range parts {
		next, ok := p.find(part, at.last)
		if !ok {
			return place{}, agent.NotFound
		}
		before, after := p.within[at.last-1], p.within[next.first]
		clean := p.ranges[before][1] == at.last && p.ranges[after][0] == next.first
		if before != after && (!clean || after > before+2) {
			return place{}, agent.NotFound
		}
		if slices.ContainsFunc(p.tokens[at.last:next.first], turns) || before == after && otherClause.MatchString(p.text[p.tokens[at.last-1].End:p.tokens[next.first].Start]) {
			verdict = agent.Paraphrase
		}
		at.last = next.last
	}
	return at, verdict
}

// supports reports whether the passage says what a claim says: all its words,
// one after the other, from the beginning of a clause to the end of one. Only
// articles and "and" may differ, a plural s, and who is spoken of as I or you.
func (p *passage) supports(claim string) (place, bool) {
	least := 2
	meaning := Content(claim)
	if len(meaning) > 0 && text.Unspaced(FirstRune(meaning[0].Text)) {
		least = 4
	}
	if len(meaning) < least {
		return place{}, false
	}
	asks := strings.HasSuffix(strings.TrimSpace(claim), "?")
	all := slices.DeleteFunc(text.Tokens(claim), isFiller)
	for _, begin := range beginningsOf(all) {
		said := all[begin:]
		for i := range p.kept {
			if at, ok := p.says(said, i); ok && p.certain(said, at, asks) {
				return at, true
			}
		}
	}
	return place{}, false
}

// says reports whether the words stand from the i-th kept token on, from the
// beginning of a clause to the end of one.
func (p *passage) says(said []text.Token, i int) (place, bool) {
	end := i + len(said)
	if len(said) == 0 || end > len(p.kept) {
		return place{}, false
	}
	for n, tok := range said {
		if !sameWord(p.tokens[p.kept[i+n]], tok) {
			return place{}, false
		}
	}
	if !p.clauseBegins(i) || !p.clauseEnds(end-1) {
		return place{}, false
	}
	return place{p.kept[i], p.kept[end-1] + 1}, true
}

// clauseBegins reports whether a clause begins at the i-th kept token, be it
// with an "I" before it.
func (p *passage) clauseBegins(i int) bool {
	if i == 0 || p.parted(i-1, i) {
		return true
	}
	return text.Is(p.tokens[p.kept[i-1]].Text, text.Speaker) && (i == 1 || p.parted(i-2, i-1))
}

func (p *passage) clauseEnds(i int) bool { return i+1 == len(p.kept) || p.parted(i, i+1) }

// clauseMark parts clauses that can stand alone; a comma parts too little.
var clauseMark = pattern.Lazy(`[:;](?:\s|$)|\s[—–-]+\s|—|[：；，]`)

// parted reports whether two kept tokens stand in different clauses. A mark
// before a sentence, such as the language of its code block, is none of it.
func (p *passage) parted(i, j int) bool {
	a, b := p.kept[i], p.kept[j]
	return p.within[a] != p.within[b] || p.tokens[a].Start < p.sentences[p.within[b]].Start || clauseMark.MatchString(p.text[p.tokens[a].End:p.tokens[b].Start])
}

// certain reports whether the sentences at a place say nothing that turns or
// weakens what is said: a "not", an "if", a question, words struck out.
func (p *passage) certain(said []text.Token, at place, asks bool) bool {
	from, to := p.within[at.first], p.within[at.last-1]
	doubts := 0
	for _, tok := range p.tokens[p.ranges[from][0]:p.ranges[to][1]] {
		if turns(tok) || text.Is(tok.Text, text.Hedge) {
			doubts++
		}
	}
	for _, tok := range said {
		if turns(tok) || text.Is(tok.Text, text.Hedge) {
			doubts--
		}
	}
	questions, struck := false, false
	for _, s := range p.sentences[from : to+1] {
		text := p.text[s.Start:s.End]
		questions = questions || strings.HasSuffix(strings.TrimRight(text, "*_\"”) "), "?") || strings.HasSuffix(text, "？")
		struck = struck || strings.Contains(text, "~~")
	}
	return doubts == 0 && questions == asks && !struck
}

// closest is the sentence that shares most with a claim, rare words counting
// more than those that stand all over the passage.
func (p *passage) closest(c claim) place {
	wanted := map[string]bool{}
	for _, text := range append([]string{c.text}, c.quotes...) {
		for _, tok := range Content(text) {
			wanted[stem(tok)] = true
		}
	}
	best, top := place{}, 0.0
	for i := range p.sentences {
		score, seen := 0.0, map[string]bool{}
		for _, tok := range p.tokens[p.ranges[i][0]:p.ranges[i][1]] {
			if word := stem(tok); wanted[word] && !seen[word] && !tok.Stop {
				seen[word] = true
				score += 1 / float64(p.common[word])
			}
		}
		if score > top {
			best, top = place{p.ranges[i][0], p.ranges[i][1]}, score
		}
	}
	return best
}

// Content is the tokens of a text that carry meaning.
func Content(s string) []text.Token {
	return slices.DeleteFunc(text.Tokens(s), func(t text.Token) bool { return t.Stop })
}

// stem takes the plural s off, so that "shoe" and "shoes" meet.
func stem(t text.Token) string {
	if len(t.Text) > 3 && strings.HasSuffix(t.Text, "s") && !strings.HasSuffix(t.Text, "ss") {
		return t.Text[:len(t.Text)-1]
	}
	return t.Text
}

func FirstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
