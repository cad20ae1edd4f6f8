package agent

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// passage is a source made ready for comparing.
type passage struct {
	source    Source
	text      string
	tokens    []token
	sentences []sentence
	within    []int          // the sentence of each token
	ranges    [][2]int       // the tokens of each sentence
	common    map[string]int // how often each word stands in it
	title     []token        // of heading and path
	shift     int            // lines of text before the source's first line
}

// place is a run of tokens of a passage; the zero value is none.
type place struct{ first, last int }

func (p place) none() bool { return p.first >= p.last }

func openPassage(source Source) *passage {
	p := &passage{source: source, text: strings.TrimRight(source.Text, "\n")}
	p.tokens = tokenize(p.text)
	p.sentences = sentencesOf(p.text)
	p.title = tokenize(source.Heading + " / " + strings.NewReplacer("/", " / ", ".md", " ", "-", " ").Replace(source.Path))
	p.common = make(map[string]int, len(p.tokens))
	for _, tok := range p.tokens {
		p.common[stem(tok)]++
	}
	p.within = make([]int, len(p.tokens))
	p.ranges = make([][2]int, len(p.sentences))
	at := 0
	for i, s := range p.sentences {
		for at < len(p.tokens) && p.tokens[at].start < s.start { // a mark between sentences
			p.within[at] = i
			at++
		}
		first := at
		for at < len(p.tokens) && p.tokens[at].start < s.end {
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
	quote = p.text[from.start:to.end]
	if len(quote) > longest {
		cut := longest
		for !utf8.RuneStart(quote[cut]) {
			cut--
		}
		quote = quote[:cut] + "…"
	}
	return inNote(from.line), inNote(to.endLine), quote
}

// find is where the words stand one after the other, from a token on.
func (p *passage) find(words []token, from int) (place, bool) {
	i := indexOf(p.tokens, words, from)
	return place{i, i + len(words)}, i >= 0
}

func indexOf(tokens, words []token, from int) int {
	if len(words) == 0 {
		return -1
	}
	for i := from; i+len(words) <= len(tokens); i++ {
		if slices.EqualFunc(tokens[i:i+len(words)], words, func(a, b token) bool { return a.text == b.text }) {
			return i
		}
	}
	return -1
}

// quotes are the places of the quotations that stand in the passage, and
// whether all do.
func (p *passage) quotes(quotes [][]token) (found []place, all bool) {
	all = true
	for _, quote := range quotes {
		if at, ok := p.find(quote, 0); ok {
			found = append(found, at)
		} else {
			all = false
		}
	}
	return found, all
}

// supports tells whether the passage says what a claim says, in its words and
// their order, within one sentence or two neighbours.
func (p *passage) supports(claim string) (place, bool) {
	said := content(claim)
	least := 2
	if len(said) > 0 && isCJK(firstRune(said[0].text)) {
		least = 4
	}
	if len(said) < least {
		return place{}, false
	}
	asks := strings.HasSuffix(strings.TrimSpace(claim), "?")
	for i := range p.sentences {
		if at, ok := p.inOrder(said, i, i); ok && p.certain(said, at, asks) {
			return at, true
		}
	}
	for i := range len(p.sentences) - 1 {
		if at, ok := p.inOrder(said, i, i+1); ok && p.certain(said, at, asks) {
			return at, true
		}
	}
	return place{}, false
}

// inOrder looks for the words in the sentences from to to, in order and not
// too far apart.
func (p *passage) inOrder(said []token, from, to int) (place, bool) {
	first, last := p.ranges[from][0], p.ranges[to][1]
	room := 2 * len(said)
	if isCJK(firstRune(said[0].text)) {
		room = len(said) + len(said)/4
	}
	for start := first; start < last; start++ {
		if stem(p.tokens[start]) != stem(said[0]) {
			continue
		}
		next, used := 1, 1
		at := start + 1
		for ; at < last && next < len(said) && used <= room; at++ {
			if p.tokens[at].stop {
				continue
			}
			used++
			if stem(p.tokens[at]) == stem(said[next]) {
				next++
			}
		}
		if next == len(said) && used <= room {
			return place{start, at}, true
		}
	}
	return place{}, false
}

// certain tells whether the sentences at a place say nothing that turns or
// weakens what is said: a "not", an "if", a question.
func (p *passage) certain(said []token, at place, asks bool) bool {
	from, to := p.within[at.first], p.within[at.last-1]
	doubts := 0
	for _, tok := range p.tokens[p.ranges[from][0]:p.ranges[to][1]] {
		if doubtWords[tok.text] {
			doubts++
		}
	}
	for _, tok := range said {
		if doubtWords[tok.text] {
			doubts--
		}
	}
	questions := false
	for _, s := range p.sentences[from : to+1] {
		questions = questions || strings.HasSuffix(strings.TrimRight(p.text[s.start:s.end], "*_\"”) "), "?")
	}
	return doubts == 0 && questions == asks
}

// closest is the sentence that shares most with a claim, rare words counting
// more than those that stand all over the passage.
func (p *passage) closest(c claim) place {
	wanted := map[string]bool{}
	for _, text := range append([]string{c.text}, c.quotes...) {
		for _, tok := range content(text) {
			wanted[stem(tok)] = true
		}
	}
	best, top := place{}, 0.0
	for i := range p.sentences {
		score, seen := 0.0, map[string]bool{}
		for _, tok := range p.tokens[p.ranges[i][0]:p.ranges[i][1]] {
			if word := stem(tok); wanted[word] && !seen[word] && !tok.stop {
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

// content is the tokens of a text that carry meaning.
func content(text string) []token {
	return slices.DeleteFunc(tokenize(text), func(t token) bool { return t.stop })
}

// stem takes the plural s off, so that "shoe" and "shoes" meet.
func stem(t token) string {
	if len(t.text) > 3 && strings.HasSuffix(t.text, "s") && !strings.HasSuffix(t.text, "ss") {
		return t.text[:len(t.text)-1]
	}
	return t.text
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// doubtWords turn or weaken the sentence in which they stand.
var doubtWords = wordSet(`
	not no never none nor neither nobody nothing nowhere without except instead cannot cant dont doesnt didnt isnt arent wasnt werent
	wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt hardly barely
	if unless maybe perhaps might could would should supposedly allegedly
	nicht kein keine keinen keinem keiner keines nie niemals ohne außer statt kaum falls wenn vielleicht sollte könnte würde
	不 没 無 无 未 非 勿 莫 否 別 别`)
