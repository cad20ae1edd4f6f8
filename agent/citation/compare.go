package citation

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// contents is what a passage holds of what a statement can be compared by.
type contents struct {
	stems    map[string]bool
	prefixes map[string]bool            // of names, for Canada and Canadian
	amounts  map[string]map[string]bool // the units of each number
	numbers  map[string]map[string]bool // those next to each word, by its root
	initials string                     // of all words, for acronyms
	acronyms map[string]bool            // as they are written
	words    []text.Token               // in their order, without the title
	roots    map[string]string          // of each word
	language text.Lang
	latin    bool
}

func (p *passage) content() *contents {
	if p.contents != nil {
		return p.contents
	}
	c := &contents{
		stems: map[string]bool{}, prefixes: map[string]bool{}, amounts: map[string]map[string]bool{}, numbers: map[string]map[string]bool{}, roots: map[string]string{}, acronyms: map[string]bool{},
		language: text.Language(p.text), latin: text.Latin(p.text),
	}
	p.contents = c
	tokens := make([]text.Token, len(p.words)+len(p.title))
	for i, w := range p.words {
		tokens[i] = w.Token
	}
	copy(tokens[len(p.words):], p.title)
	var initials strings.Builder
	for _, w := range p.words {
		if isAcronym(w.raw) {
			c.acronyms[w.raw] = true
		}
		for _, part := range grownTogether.FindAllString(w.raw, -1) {
			c.stems[root(strings.ToLower(part))] = true
		}
	}
	for i, t := range tokens {
		if _, known := c.roots[t.Text]; !known {
			word := root(t.Text)
			c.roots[t.Text] = word
			c.stems[word] = true
			c.prefixes[prefix(t.Text)] = true
		}
		initials.WriteRune(FirstRune(t.Text))
		c.addAmount(tokens, i)
	}
	said := tokens[:len(p.words)] // without the title, which is another text
	c.words = said
	dates := isoDate.FindAllStringIndex(p.text, -1)
	for i, t := range said {
		ofDate := slices.ContainsFunc(dates, func(d []int) bool { return d[0] <= t.Start && t.Start < d[1] })
		if a, ok := amountAt(said, i); ok && !ofDate {
			values := []string{a.value}
			if i+1 < len(said) && strings.Trim(p.text[t.End:said[i+1].Start], " ") == ":" { // 26 : 11
				if next, ok := amountAt(said, i+1); ok {
					values = append(values, a.value+":"+next.value)
					c.amounts[values[1]] = map[string]bool{next.unit: true}
				}
			}
			for _, word := range nextTo(p.text, said, i) {
				if c.numbers[word] == nil {
					c.numbers[word] = map[string]bool{}
				}
				for _, value := range values {
					c.numbers[word][value] = true
				}
			}
		}
	}
	for _, m := range isoDate.FindAllStringSubmatch(p.text, -1) {
		if month := monthOf(strings.TrimLeft(m[1], "0")); month > 0 {
			for _, name := range text.MonthNames(month) {
				c.stems[root(name)] = true
			}
		}
	}
	c.initials = initials.String()
	return c
}

// root is what the forms of a word have in common; a possessive 's is none of it.
func root(word string) string { return text.Stem(text.Fold(word), "") }

// prefix is what the forms of a name have in common.
func prefix(word string) string {
	r := []rune(text.Fold(word))
	return string(r[:min(len(r), max(4, len(r)-3))])
}

var (
	amountText = pattern.Lazy(`^[-+]?(\d+(?:[.,:]\d+)*)(.*)$`)
	// grownTogether finds the words of Center101 and DepartmentRate, whose lines
	// were joined when a page was turned into a note.
	grownTogether = pattern.Lazy(`\p{Lu}\p{Ll}{3,}`)
	isoDate       = pattern.Lazy(`\b\d{4}-(\d{2})-(\d{2})\b`)
)

// amount is a number of a text and its unit; "" where it has none that is known.
type amount struct{ value, unit string }

// amountAt reads the number that is the i-th token.
func amountAt(tokens []text.Token, i int) (amount, bool) {
	if !unicode.IsNumber(FirstRune(strings.TrimLeft(tokens[i].Text, "+-"))) {
		return amount{}, false
	}
	m := amountText.FindStringSubmatch(tokens[i].Text)
	if m == nil {
		return amount{}, false
	}
	value := strings.TrimLeft(strings.ReplaceAll(m[1], ",", "."), "0")
	if whole, fraction, ok := strings.Cut(value, "."); ok && !strings.Contains(value, ":") {
		value = strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".")
	}
	a := amount{value: value}
	next := func(n int) string {
		if i+n < len(tokens) {
			return tokens[i+n].Text
		}
		return ""
	}
	switch {
	case m[2] != "" && !slices.Contains([]string{"st", "nd", "rd", "th", "s"}, m[2]):
		a.unit = text.Unit(m[2])
	case next(1) == "°":
		a.unit = text.Unit("°" + next(2))
	default:
		a.unit = text.Unit(next(1))
	}
	return a, true
}

func (c *contents) addAmount(tokens []text.Token, i int) {
	a, ok := amountAt(tokens, i)
	if !ok {
		if a.value = text.NumberWord(tokens[i].Text); a.value == "" {
			return
		}
		if i+1 < len(tokens) {
			a.unit = text.Unit(tokens[i+1].Text)
		}
	}
	if c.amounts[a.value] == nil {
		c.amounts[a.value] = map[string]bool{}
	}
	c.amounts[a.value][a.unit] = true
}

// namesFrom is how much of a claim its closest sentence has to say for a name
// to be compared: far from its source an answer tells of what it knows.
const namesFrom = 0.25

// missing lists the numbers, and if asked to the names, of a claim that none of
// its sources has.
func (d *checker) missing(c claim, names bool) (list []string) {
	var sources []*contents
	for _, n := range c.numbers {
		if p := d.passage(n); p != nil {
			sources = append(sources, p.content())
		}
	}
	if len(sources) == 0 {
		return nil
	}
	tokens := text.Tokens(c.text)
	any := func(has func(*contents) bool) bool { return slices.ContainsFunc(sources, has) }
	months := map[string]bool{}
	for _, m := range isoDate.FindAllStringSubmatch(c.text, -1) {
		months[strings.TrimLeft(m[1], "0")] = true
	}
	sums := sumsIn(c.text)
	for i, t := range tokens {
		made := slices.ContainsFunc(sums, func(s sum) bool { return s.result.Start <= t.Start && t.Start < s.result.End })
		if a, ok := amountAt(tokens, i); ok && !made {
			written := c.text[t.Start:t.End]
			if strings.Contains("$€£¥", written) { // it stands before the number
				written += a.value
			}
			switch {
			case any(func(s *contents) bool { return s.amounts[a.value] != nil }):
				switch {
				case otherNumber(sources, nextTo(c.text, tokens, i), a.value):
					list = append(list, written)
				case a.unit != "" && !any(func(s *contents) bool { return s.amounts[a.value][a.unit] }) && any(func(s *contents) bool { return s.hasUnit(a.value) }):
					list = append(list, written+" "+a.unit)
				}
			case months[a.value] && any(func(s *contents) bool { return s.hasMonth(a.value) }):
			default:
				list = append(list, written)
			}
		}
	}
	comparable := func(s *contents) bool {
		return s.latin == text.Latin(c.text) && s.language == text.Language(c.text)
	}
	if !names || text.Language(c.text) == "de" || !slices.ContainsFunc(sources, comparable) {
		return list // German writes all nouns with a capital
	}
	for _, i := range namesIn(c.text, tokens) {
		word := bare(strings.Map(lettersOrQuote, c.text[tokens[i].Start:tokens[i].End]))
		if !any(func(s *contents) bool {
			return s.names(word) || s.acronyms[initialsAround(c.text, tokens, i)] || s.shortens(tokens, i)
		}) {
			list = append(list, word)
		}
	}
	return list
}

// nextTo is the roots of the words right before and after the i-th token.
func nextTo(s string, tokens []text.Token, i int) (words []string) {
	isNumber := func(j int) bool { return j >= 0 && j < len(tokens) && unicode.IsNumber(FirstRune(tokens[j].Text)) }
	for _, step := range []int{-1, 1} {
		j := i + step
		between := func() string { return strings.Trim(s[tokens[min(j, j-step)].End:tokens[max(j, j-step)].Start], " \t") }
		for isNumber(j) && between() == "," { // of a date: May 4, 2024
			j += step
		}
		if j < 0 || j >= len(tokens) || tokens[j].Stop || isNumber(j) || between() != "" && between() != "\n" {
			continue
		}
		words = append(words, root(tokens[j].Text))
	}
	return words
}

// otherNumber reports whether the sources have words next to other numbers, and
// none of them next to this one.
func otherNumber(sources []*contents, words []string, value string) (other bool) {
	for _, word := range words {
		for _, s := range sources {
			if s.numbers[word][value] {
				return false
			}
			other = other || len(s.numbers[word]) > 0
		}
	}
	return other
}

// hasUnit reports whether a number stands there with a unit that is known.
func (c *contents) hasUnit(value string) bool {
	units := c.amounts[value]
	return len(units) > 1 || len(units) == 1 && !units[""]
}

func (c *contents) hasMonth(number string) bool {
	for m := time.January; m <= time.December; m++ {
		if m == monthOf(number) {
			return slices.ContainsFunc(text.MonthNames(m), func(name string) bool { return c.stems[root(name)] })
		}
	}
	return false
}

func monthOf(number string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if time.Date(2000, m, 1, 0, 0, 0, 0, time.UTC).Format("1") == number {
			return m
		}
	}
	return 0
}

// shortens reports whether the beginning of the i-th word stands there next to a
// word that it is next to: Edwin P. for Edwin Powell, pub 527 for Publication 527.
func (c *contents) shortens(tokens []text.Token, i int) bool {
	for _, step := range []int{-1, 1} {
		if i+step < 0 || i+step >= len(tokens) || tokens[i+step].Stop {
			continue
		}
		for at, t := range c.words {
			if j := at - step; t.Text == tokens[i+step].Text && j >= 0 && j < len(c.words) && (c.words[j].Capital || !c.words[j].Stop) && strings.HasPrefix(tokens[i].Text, c.words[j].Text) {
				return true
			}
		}
	}
	return false
}

// knows reports whether a word stands there in some form.
func (c *contents) knows(word string) bool {
	return word != "" && (c.stems[root(word)] || c.prefixes[prefix(word)])
}

// names reports whether a name stands there, or words that it is short for.
func (c *contents) names(word string) bool {
	lower := strings.ToLower(word)
	if !isAcronym(word) {
		return c.knows(lower)
	}
	lower = strings.TrimSuffix(lower, "s")
	return c.stems[root(lower)] || c.stems[root(lower+"s")] || strings.Contains(c.initials, lower)
}

func lettersOrQuote(r rune) rune {
	if r == '\'' || r == '’' {
		return r
	}
	return lettersOnly(r)
}

// bare is a name without a possessive 's.
func bare(word string) string {
	for _, s := range []string{"'s", "’s", "'", "’"} {
		word = strings.TrimSuffix(word, s)
	}
	return word
}

// initialsAround is the acronym of the name that a token is part of: US for
// either word of United States; "" for a name of one word.
func initialsAround(claim string, tokens []text.Token, i int) string {
	joined := func(a, b int) bool {
		return tokens[b].Capital && tokens[a].Capital && strings.TrimSpace(claim[tokens[a].End:tokens[b].Start]) == ""
	}
	from, to := i, i
	for from > 0 && joined(from-1, from) {
		from--
	}
	for to+1 < len(tokens) && joined(to, to+1) {
		to++
	}
	if from == to {
		return ""
	}
	var initials strings.Builder
	for _, t := range tokens[from : to+1] {
		initials.WriteRune(unicode.ToUpper(FirstRune(t.Text)))
	}
	return initials.String()
}

// namesIn are the words of a claim that name something: written with a capital
// where no sentence begins, or as an acronym.
func namesIn(claim string, tokens []text.Token) (names []int) {
	capitals, content := 0, 0
	for i, t := range tokens {
		if t.Stop || text.Is(t.Text, text.Contrast) || len([]rune(t.Text)) < 2 || strings.HasPrefix(t.Text, "i") && strings.ContainsAny(claim[t.Start:t.End][1:2], "'’") || unicode.IsNumber(FirstRune(t.Text)) {
			continue
		}
		content++
		word := claim[t.Start:t.End]
		if t.Capital {
			capitals++
		}
		if isAcronym(word) || t.Capital && !beginsClause(claim, t) {
			names = append(names, i)
		}
	}
	if capitals == content && content > 3 { // a title
		return nil
	}
	return names
}

// beginsClause reports whether a word may have its capital from where it stands.
func beginsClause(claim string, t text.Token) bool {
	before := strings.TrimRight(claim[:t.Start], "*_`")
	trimmed := strings.TrimRight(before, " \t\n")
	switch {
	case trimmed == "" || strings.ContainsRune(".!?:;“\"—>|•‘'„", lastRune(trimmed)):
		return true
	case strings.HasSuffix(trimmed, "("):
		return !strings.HasPrefix(claim[t.End:], ")")
	}
	return strings.ContainsRune("-–", lastRune(trimmed)) && trimmed != before
}

func lastRune(s string) rune {
	r := []rune(s)
	return r[len(r)-1]
}

// isAcronym reports whether a word is an acronym: GPT4, EVs and iOS from other words.
func isAcronym(word string) bool {
	r := []rune(strings.TrimSuffix(word, "s"))
	return len(r) > 1 && slices.ContainsFunc(r[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) })
}

// difference describes what a claim without a quotation says that none of its
// sources does; "": nothing that can be compared. It is the same for each of
// the claim's numbers.
func (d *checker) difference(c claim) string {
	told, known := d.differences[c.at]
	if !known {
		near := d.nearest(c)
		const closely = 0.7 // of a sentence that repeats one of the note, whose "I" is the user
		if near.share < closely && saysItLacks(c.text) {
			return ""
		}
		lacking := d.missing(c, near.share >= namesFrom)
		if len(lacking) == 0 && !d.shares(c) {
			for _, t := range contentOf(c.text) {
				lacking = append(lacking, c.text[t.Start:t.End])
			}
		}
		if told = tell(c, near, lacking); told == "" {
			told = d.negation(c)
		}
		for _, s := range sumsIn(c.text) {
			told = cmp.Or(s.wrong, told)
		}
		d.differences[c.at] = told
	}
	return told
}

// saysItLacks reports whether a sentence is about what the answer does not have
// or know: it repeats the question and claims nothing.
func saysItLacks(claim string) bool {
	tokens := text.Tokens(claim)
	speaker := slices.IndexFunc(tokens, func(t text.Token) bool { return t.Text == "i" || t.Text == "we" || t.Text == "ich" || t.Text == "wir" })
	const near = 4 // words
	return speaker >= 0 && slices.ContainsFunc(tokens[speaker:min(len(tokens), speaker+near)], func(t text.Token) bool { return text.Is(t.Text, text.Not) })
}

// tell words what a claim has and its sources lack, with the number that stands
// there instead.
func tell(c claim, near nearby, lacking []string) string {
	if len(lacking) == 0 {
		return ""
	}
	const most = 4 // words that are told
	lacking = slices.Compact(lacking)
	lacking = lacking[:min(len(lacking), most)]
	var told []string
	for i, word := range lacking {
		if other := near.counterpart(c, word); other != "" {
			told = append(told, word+", the note says "+other)
			lacking = slices.Delete(lacking, i, i+1)
			break
		}
	}
	if len(lacking) > 0 {
		where := "there" // the note is named next to its verdict
		if len(c.numbers) > 1 {
			where = "in these sources"
		}
		told = append(told, "not "+where+": "+strings.Join(lacking, ", "))
	}
	return strings.Join(told, " · ")
}

// shares reports whether a claim has a word in common with any of its sources,
// or is in another language and can't be expected to.
func (d *checker) shares(c claim) bool {
	content := slices.DeleteFunc(contentOf(c.text), func(t text.Token) bool { return text.Is(t.Text, text.Negation|text.Hedge|text.Contrast) })
	const enough = 3 // words that say something: "You are right." says nothing of a source
	if len(content) < enough {
		return true
	}
	for _, n := range c.numbers {
		p := d.passage(n)
		if p == nil {
			continue
		}
		s := p.content()
		if s.latin != text.Latin(c.text) || s.language != text.Language(c.text) || slices.ContainsFunc(content, func(t text.Token) bool { return s.knows(t.Text) }) {
			return true
		}
	}
	return false
}

// nearby is the sentence of a claim's sources that shares most words with it,
// and what share of the claim stands there; the zero value is none.
type nearby struct {
	*passage
	sentence int
	share    float64
}

func (d *checker) nearest(c claim) (best nearby) {
	wanted := map[string]bool{}
	for _, t := range contentOf(c.text) {
		if !negates(t.Text) {
			wanted[root(t.Text)] = true
		}
	}
	for _, n := range c.numbers {
		p := d.passage(n)
		if p == nil {
			continue
		}
		for i := range p.sentences {
			seen := map[string]bool{}
			for _, w := range p.words[p.ranges[i][0]:p.ranges[i][1]] {
				if word := p.content().roots[w.Text]; wanted[word] && !w.Stop {
					seen[word] = true
				}
			}
			if share := float64(len(seen)) / float64(len(wanted)); len(seen) > 1 && share > best.share {
				best = nearby{p, i, share}
			}
		}
	}
	return best
}

func (n nearby) words() []word {
	if n.passage == nil {
		return nil
	}
	return n.passage.words[n.ranges[n.sentence][0]:n.ranges[n.sentence][1]]
}

// counterpart is the number that the sentence has where a claim has another: the
// one before the same word, or the only one; "" where that is not clear.
func (n nearby) counterpart(c claim, number string) string {
	tokens := text.Tokens(c.text)
	at := slices.IndexFunc(tokens, func(t text.Token) bool { return c.text[t.Start:t.End] == number })
	if at < 0 || !unicode.IsNumber(FirstRune(number)) {
		return ""
	}
	var others, alike []string
	words := n.words()
	for i, w := range words {
		written := n.text[w.Start:w.End]
		if !unicode.IsNumber(FirstRune(w.raw)) || strings.Contains(c.text, written) {
			continue
		}
		others = append(others, written)
		if i+1 < len(words) && at+1 < len(tokens) && words[i+1].Text == tokens[at+1].Text {
			alike = append(alike, written)
		}
	}
	switch {
	case len(alike) == 1:
		return alike[0]
	case len(others) == 1:
		return others[0]
	}
	return ""
}

func negates(word string) bool { return text.Is(word, text.Negation) }
