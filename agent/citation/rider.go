package citation

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// layout is the structure of a passage, used to find what surrounds a
// quotation.
type layout struct {
	blocks []text.Block
	levels []int       // heading level of each block; 0 if it is not a heading
	struck []text.Span // ~~words~~
	hidden []text.Span // comments
	front  []string    // lines of the front matter
}

var (
	struckText  = pattern.Lazy(`(?s)~~.+?~~|(?i:<(?:del|s|strike)>.*?</(?:del|s|strike)>)`)
	commentText = pattern.Lazy(`(?s)<!--.*?(?:-->|\z)|%%.*?%%`)
	frontMatter = pattern.Lazy(`(?s)^---\r?\n(.*?)\n---[ \t]*\r?(?:\n|$)`)
	headingLine = pattern.Lazy(`^(?: {0,3}#{1,6}|\*+)\s`)
	taskState   = pattern.Lazy(`^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+(?:\[(.)\]\s)?\s*|\*+\s+)?(?:(TODO|DOING|NOW|LATER|WAITING|WAIT|STARTED|NEXT|CANCELL?ED|DONE)\b)?`)
	speakerLine = pattern.Lazy(`^[\s>*+-]*(?:\[?\(?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[ap]m)?\)?\]?[\s,-]*)?[*_]*(\p{Lu}[\pL'’.-]*(?: \p{Lu}[\pL'’.-]*){0,2})(?:,? ?\(?\d{1,2}[:.]\d\d\)?)?[*_]*[:：][*_]*(?:\s|$)`)
)

func (p *passage) structure() *layout {
	if p.layout == nil {
		p.layout = &layout{blocks: text.Blocks(p.text)}
		for _, b := range p.layout.blocks {
			level := 0
			if b.Kind == text.Prose {
				level = levelOf(p.text[b.Start:b.End])
			}
			p.layout.levels = append(p.layout.levels, level)
		}
		for _, at := range struckText.FindAllStringIndex(p.text, -1) {
			p.layout.struck = append(p.layout.struck, text.Span{Start: at[0], End: at[1]})
		}
		for _, at := range commentText.FindAllStringIndex(p.text, -1) {
			p.layout.hidden = append(p.layout.hidden, text.Span{Start: at[0], End: at[1]})
		}
		if m := frontMatter.FindStringSubmatch(p.text); m != nil {
			p.layout.front = strings.Split(m[1], "\n")
		}
	}
	return p.layout
}

// rider describes what changes the meaning of quoted words without being
// quoted, or returns "". quoted holds all words that the same claim quotes.
func (f found) rider(quoted map[*passage]map[int]bool) string {
	p := f.passage
	l := p.structure()
	start, end := p.words[f.runs[0].first].Token.Start, p.words[f.runs[len(f.runs)-1].last-1].Token.End
	first := p.sentences[p.within[f.runs[0].first]]
	var list []string
	add := func(rider string) {
		if rider != "" && !slices.Contains(list, rider) {
			list = append(list, rider)
		}
	}
	if overlaps(l.struck, start, end) {
		add("struck out")
	}
	if overlaps(l.hidden, start, end) {
		add("commented out")
	}
	rest := p.rest(f, quoted[p])
	if own := slices.IndexFunc(l.blocks, func(b text.Block) bool { return b.End > first.Start }); own >= 0 {
		add(p.state(own, start))
		add(rest)
		add(p.takenBack(f))
		add(p.under(own))
		if p.isQuotation(l.blocks[own], start, end) {
			add("in a quotation")
		}
		if rest == "" {
			add(p.speaker(start))
		}
	}
	if rest == "" {
		add(f.denied())
	}
	return strings.Join(list, " · ")
}

func overlaps(spans []text.Span, start, end int) bool {
	return slices.ContainsFunc(spans, func(s text.Span) bool { return s.Start < end && start < s.End })
}

// line returns the line that contains the offset at.
func (p *passage) line(at int) string {
	line, _, _ := strings.Cut(p.text[strings.LastIndexByte(p.text[:at], '\n')+1:], "\n")
	return line
}

// state describes the state of the task in block own, or of the line at an
// offset of it; "" if it is done or not a task.
func (p *passage) state(own, at int) string {
	b := p.structure().blocks[own]
	if b.Kind == text.Code {
		return ""
	}
	state := stateOf(p.text[b.Start:b.End])
	if b.Kind == text.Quoted || state == "" {
		return stateOf(strings.TrimLeft(p.line(at), "> "))
	}
	return state
}

func stateOf(block string) string {
	m := taskState.FindStringSubmatch(block)
	switch box, word := m[1], m[2]; {
	case box == "" && word == "", strings.EqualFold(box, "x"), word == "DONE":
		return ""
	case box == "-", strings.HasPrefix(word, "CANCEL"):
		return "cancelled task"
	case box == " ", box == "":
		return "open task"
	default:
		return "task marked [" + box + "]"
	}
}

// under describes what invalidates a block: an item or line that introduces it,
// a heading above it, or the title, folder or status of the note.
func (p *passage) under(own int) string {
	const none = 7 // deeper than any heading
	levels := p.structure().levels
	level := cmp.Or(levels[own], none)
	if list := p.underItem(own); list != "" && level == none {
		return list
	}
	for i := own - 1; i >= 0; i-- {
		if n := levels[i]; n > 0 && n < level {
			if level = n; disowns(p.of(i)) {
				return underWords(p.of(i))
			}
		}
	}
	if level == none { // headings above it may be outside the passage
		for _, heading := range strings.Split(p.source.Heading, " › ") {
			if disowns(heading) {
				return underWords(heading)
			}
		}
	}
	return p.noteIs()
}

// of returns the text of a block.
func (p *passage) of(block int) string {
	b := p.structure().blocks[block]
	return p.text[b.Start:b.End]
}

// levelOf returns the level of a heading; 0 if the line is not one.
func levelOf(line string) int { return len(strings.TrimSpace(headingLine.FindString(line))) }

func underWords(words string) string {
	return "under “" + clip(strings.TrimRight(plainText(words), ":： ")) + "”"
}

// underItem describes what invalidates the list, table or paragraph of a block:
// a parent item, or the line that introduces it.
func (p *passage) underItem(own int) string {
	blocks := p.structure().blocks
	isRow := func(i int) bool {
		return blocks[i].Kind == text.Prose && strings.HasPrefix(strings.TrimSpace(p.of(i)), "|")
	}
	item, depth := text.ItemLine.MatchString(p.of(own)), indentOf(p.line(blocks[own].Start))
	for i := own - 1; i >= 0; i-- {
		line := p.of(i)
		if blocks[i].Kind != text.Prose && blocks[i].Kind == blocks[own].Kind {
			continue
		}
		if blocks[i].Kind != text.Prose || p.structure().levels[i] > 0 {
			return ""
		}
		attached := strings.Count(p.text[blocks[i].End:blocks[i+1].Start], "\n") < 2
		above, d := text.ItemLine.MatchString(line), indentOf(p.line(blocks[i].Start))
		switch {
		case above && d < depth && (item || attached):
			depth, item = d, true
			switch state := stateOf(line); {
			case state == "open task":
				return "under an open task"
			case state != "":
				return "under a " + state
			case overlaps(p.structure().struck, blocks[i].Start, blocks[i].End):
				return underWords(line) + ", struck out"
			case introduces(line):
				return underWords(line)
			}
		case above && item, isRow(own) && isRow(i):
		case strings.HasSuffix(strings.TrimRight(line, " *_"), ":"), strings.HasSuffix(line, "："),
			(item || isRow(own) || attached) && len(text.Tokens(line)) <= remark && !strings.HasSuffix(line, "."):
			if introduces(lastLine(line)) {
				return underWords(lastLine(line))
			}
			if !above {
				return ""
			}
		default:
			return ""
		}
	}
	return ""
}

// noteIs reports that the whole note is a draft or obsolete, according to its
// front matter or path.
func (p *passage) noteIs() string {
	for _, line := range p.structure().front {
		key, value, _ := strings.Cut(line, ":")
		value = strings.Trim(value, " \"'\r")
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case slices.Contains([]string{"status", "state", "stage", "phase", "title", "zustand", "statut", "état", "estado", "stato", "状态"}, key) && disowns(value):
			return "under “" + clip(plainText(line)) + "”"
		case (strings.EqualFold(value, "true") || strings.EqualFold(value, "yes")) && disowns(key):
			return "under “" + clip(plainText(line)) + "”"
		}
	}
	if agent.OnWeb(p.source.Path) || p.source.Call != "" {
		return ""
	}
	path := strings.TrimSuffix(p.source.Path, ".md")
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if disowns(strings.NewReplacer("-", " ", "_", " ").Replace(part)) {
			return "under “" + clip(part) + "”"
		}
	}
	return ""
}

// isQuotation reports whether the note itself quotes the words.
func (p *passage) isQuotation(b text.Block, start, end int) bool {
	if b.Kind == text.Quoted {
		return !callout.MatchString(p.text[b.Start:b.End])
	}
	return slices.ContainsFunc(text.Quotations(p.text, b), func(q text.Span) bool { return q.Start < start && end < q.End })
}

var callout = pattern.Lazy(`^[>\s]*\[!(?:[^qc\]]|question|c[^i\]])`) // callouts of the note's author; !quote and !cite are quotations

// speaker names the speaker of a line that begins with a name and a colon and
// is in the first person.
func (p *passage) speaker(at int) string {
	line, start := p.line(at), strings.LastIndexByte(p.text[:at], '\n')+1
	m := speakerLine.FindStringSubmatchIndex(line)
	if m == nil || start+m[1] > at {
		return ""
	}
	name := line[m[2]:m[3]]
	speaks := func(t text.Token) bool {
		return persons[t.Text] != "" && !slices.Contains([]string{"am", "are", "was", "were", "have", "has", "had"}, t.Text)
	}
	if persons[strings.ToLower(name)] != "" || !slices.ContainsFunc(text.Tokens(line[m[1]:]), speaks) {
		return ""
	}
	return "in “" + name + ": […]”"
}

// rest returns the sentences around a quotation, with […] for the quoted words,
// if the rest changes its meaning; "" otherwise.
func (p *passage) rest(f found, quoted map[int]bool) string {
	first, last := p.within[f.runs[0].first], p.within[f.runs[len(f.runs)-1].last-1]
	from, to := p.ranges[first][0], p.ranges[last][1]
	var pieces []piece
	for i := from; i < to; i++ {
		switch n := len(pieces); {
		case n > 0 && pieces[n-1].quoted == quoted[i]:
			pieces[n-1].last = i + 1
		default:
			pieces = append(pieces, piece{place{i, i + 1}, quoted[i]})
		}
	}
	question := strings.HasSuffix(strings.TrimRight(p.text[p.sentences[last].Start:p.sentences[last].End], "*_\"”’») "), "?") && !strings.Contains(f.text, "?") && f.passage.words[to-1].Token.Text != "?"
	if len(pieces) == 1 && question {
		return "in “[…]?”"
	} else if len(pieces) == 1 {
		return ""
	}
	sense := p.sense(p.text[p.sentences[first].Start:p.sentences[last].End])
	turns, term := question, lengthOf(f.text) <= maxTerm
	var b strings.Builder
	for n, piece := range pieces {
		if piece.quoted {
			b.WriteString(" […] ")
			continue
		}
		key := -1
		if n+1 < len(pieces) {
			key = sense.before(p, piece.place, term)
		}
		if n > 0 && key < 0 {
			key = sense.behind(p, piece.place, term)
		}
		turns = turns || key >= 0
		start, end := p.sentences[first].Start, p.sentences[last].End
		if n > 0 {
			start = p.words[piece.first-1].Token.End
		}
		if n+1 < len(pieces) {
			end = p.words[piece.last].Token.Start
		}
		b.WriteString(p.shorten(start, end, key, n > 0))
	}
	if !turns {
		return ""
	}
	return "in “" + beforeStop.Replace(strings.Join(strings.Fields(b.String()), " ")) + "”"
}

// piece is a run of words that is either quoted or not.
type piece struct {
	place
	quoted bool
}

// shorten returns the text next to a quotation, shortened to the words nearest
// to it and the word key that changes its meaning.
func (p *passage) shorten(start, end, key int, after bool) string {
	const most, near = 48, 24 // characters
	plain := []rune(plainText(p.text[start:end]))
	if len(plain) <= most {
		return string(plain)
	}
	at := len(plain)
	if after {
		at = 0
	}
	if key >= 0 {
		at = utf8.RuneCountInString(plainText(p.text[start:p.words[key].Token.Start]))
	}
	switch at = min(at, len(plain)); {
	case after && at < near:
		return string(plain[:most]) + "…"
	case after:
		return "… " + string(plain[at:min(len(plain), at+most)]) + "…"
	case len(plain)-at <= most:
		return "…" + string(plain[len(plain)-most:])
	}
	return "…" + string(plain[at:at+near]) + " … " + string(plain[len(plain)-near:])
}

// takenBack returns an adjacent sentence that retracts the quotation.
func (p *passage) takenBack(f found) string {
	first, last := p.within[f.runs[0].first], p.within[f.runs[len(f.runs)-1].last-1]
	sentence := func(i int) (string, []word) {
		return p.text[p.sentences[i].Start:p.sentences[i].End], p.words[p.ranges[i][0]:p.ranges[i][1]]
	}
	if i := first - 1; i >= 0 && p.sentences[i].Block == p.sentences[first].Block {
		if md, words := sentence(i); announces(md, words) {
			return "after “" + clip(plainText(md)) + "”"
		}
	}
	if i := last + 1; i < len(p.sentences) && p.belongs(i, p.sentences[last]) {
		if md, words := sentence(i); retracts(md, words) {
			return "then “" + clip(plainText(md)) + "”"
		}
	}
	return ""
}

// remark is the greatest number of words in a line that comments on the line
// before it or introduces a list.
const remark = 8

// belongs reports whether sentence next continues before: in the same
// paragraph, as a nested item, or as a short remark.
func (p *passage) belongs(next int, before text.Sentence) bool {
	s := p.sentences[next]
	if s.Block == before.Block {
		return true
	}
	here, above := p.line(s.Block.Start), p.line(before.Block.Start)
	switch {
	case headingLine.MatchString(here) || s.Start != s.Block.Start || before.End != before.Block.End:
		return false
	case text.ItemLine.MatchString(here):
		return text.ItemLine.MatchString(above) && indentOf(here) > indentOf(above)
	}
	return p.ranges[next][1]-p.ranges[next][0] <= remark
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// indentOf returns the indentation of a line in columns.
func indentOf(line string) int {
	return len(strings.ReplaceAll(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t", "    "))
}

// plainText returns markdown as plain text in one line.
func plainText(md string) string {
	var b strings.Builder
	for line := range strings.Lines(md) {
		line = line[len(lineMarks.FindString(line)):]
		b.WriteString(strings.TrimPrefix(inlineMarks.ReplaceAllString(line, ""), "|"))
	}
	plain := strings.NewReplacer("[[", "", "]]", "", "|", " | ", "“", "", "”", "", "\"", "").Replace(b.String())
	return strings.Trim(strings.Join(strings.FieldsFunc(plain, unicode.IsSpace), " "), " |")
}

// clip shortens a long text.
func clip(s string) string {
	const longest = 60 // characters
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}
