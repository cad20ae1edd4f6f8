package citation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// layout is the structure of a passage, by which it is known what stands
// around a place.
type layout struct {
	blocks []text.Block
	struck []text.Span // ~~words~~
	hidden []text.Span // comments
}

var (
	struckText  = pattern.Lazy(`(?s)~~.+?~~`)
	commentText = pattern.Lazy(`(?s)<!--.*?(?:-->|\z)|%%.*?%%`)
	taskBox     = pattern.Lazy(`^\s*(?:[-*+]|\d{1,3}[.)])\s+\[(.)\]\s`)
)

func (p *passage) structure() *layout {
	if p.layout == nil {
		p.layout = &layout{blocks: text.Blocks(p.text)}
		for _, at := range struckText.FindAllStringIndex(p.text, -1) {
			p.layout.struck = append(p.layout.struck, text.Span{Start: at[0], End: at[1]})
		}
		for _, at := range commentText.FindAllStringIndex(p.text, -1) {
			p.layout.hidden = append(p.layout.hidden, text.Span{Start: at[0], End: at[1]})
		}
	}
	return p.layout
}

// around describes what stands around quoted words in their note and is no part of
// the quotation: whether they are a task, struck out or commented out, what
// they stand under, the rest of their sentence, and a sentence next to them that
// may take them back. "" is a whole sentence that speaks for itself.
func (p *passage) around(at place, parts [][]word) string {
	l := p.structure()
	first, last := p.sentences[p.within[at.first]], p.sentences[p.within[at.last-1]]
	start, end := p.words[at.first].Start, p.words[at.last-1].End
	var context []string
	add := func(s string) {
		if s != "" {
			context = append(context, s)
		}
	}
	own := slices.IndexFunc(l.blocks, func(b text.Block) bool { return b.End > first.Start })
	if own >= 0 {
		add(taskState(p.text[l.blocks[own].Start:l.blocks[own].End]))
	}
	if overlaps(l.struck, start, end) {
		add("struck out")
	}
	if overlaps(l.hidden, start, end) {
		add("commented out")
	}
	if own >= 0 {
		for _, above := range p.above(own) {
			add("under ‘" + above + "’")
		}
		if p.isQuotation(l.blocks[own], start, end) {
			add("a quotation there")
		}
	}
	if rest := p.rest(first, last, at, parts); rest != "" {
		add("in “" + rest + "”")
	}
	if i := p.within[at.first] - 1; i >= 0 && p.sentences[i].Block == first.Block && p.turns(i) {
		add("after “" + clip(plainText(p.text[p.sentences[i].Start:p.sentences[i].End])) + "”")
	}
	if i := p.within[at.last-1] + 1; i < len(p.sentences) && p.turns(i) && p.belongs(i, last) {
		add("then “" + clip(plainText(p.text[p.sentences[i].Start:p.sentences[i].End])) + "”")
	}
	return strings.Join(context, " · ")
}

func overlaps(spans []text.Span, start, end int) bool {
	return slices.ContainsFunc(spans, func(s text.Span) bool { return s.Start < end && start < s.End })
}

// taskState names the state of a task's box.
func taskState(block string) string {
	box := taskBox.FindStringSubmatch(block)
	switch {
	case box == nil:
		return ""
	case box[1] == " ":
		return "open task"
	case strings.EqualFold(box[1], "x"):
		return "done task"
	}
	return "task marked [" + box[1] + "]"
}

// above lists what a block stands under, the nearest last: a heading, unless
// the path says the same, items that it is below, the head of its table, and
// the line that introduces it.
func (p *passage) above(own int) (list []string) {
	blocks := p.structure().blocks
	of := func(b text.Block) string { return p.text[b.Start:b.End] }
	kind, depth := blockKind(of(blocks[own]), blocks[own].Kind), indentOf(of(blocks[own]))
	introduced := true // the block, or the list or table that it belongs to, may have a line before it
	heading := ""
	if parts := strings.Split(p.source.Heading, " › "); p.source.Heading != "" {
		heading = parts[len(parts)-1]
	}
	if kind == headingBlock {
		return nil
	}
	table := text.Block{} // its first row so far
	for i := own - 1; i >= 0; i-- {
		line := of(blocks[i])
		above := blockKind(line, blocks[i].Kind)
		if above == headingBlock {
			heading = plainText(line)
			break
		}
		if !introduced {
			continue
		}
		attached := strings.Count(p.text[blocks[i].End:blocks[i+1].Start], "\n") < 2
		switch {
		case kind == rowBlock && above == rowBlock:
			table = blocks[i]
		case kind == itemBlock && above == itemBlock:
			if d := indentOf(line); d < depth {
				depth = d
				list = append(list, strings.TrimPrefix(taskState(line)+": ", ": ")+clip(plainText(firstLine(line))))
			}
		case above == plainBlock && (strings.HasSuffix(strings.TrimRight(line, " *_"), ":") || attached && kind != plainBlock):
			list = append(list, clip(strings.TrimRight(plainText(lastLine(line)), ": ")))
			introduced = false
		default:
			introduced = false
		}
	}
	if table.End > 0 {
		list = append(list, clip(plainText(of(table))))
	}
	if heading != "" && !p.names(heading) {
		list = append(list, clip(heading))
	}
	slices.Reverse(list)
	return list
}

const (
	plainBlock = iota
	itemBlock
	rowBlock
	headingBlock
	otherBlock
)

var headingLine = pattern.Lazy(`^ {0,3}#{1,6}\s`)

func blockKind(block string, kind text.BlockKind) int {
	switch {
	case kind != text.Prose:
		return otherBlock
	case headingLine.MatchString(block):
		return headingBlock
	case strings.HasPrefix(strings.TrimSpace(block), "|"):
		return rowBlock
	case text.ItemLine.MatchString(block):
		return itemBlock
	}
	return plainBlock
}

// names reports whether the path of the source says what a heading does.
func (p *passage) names(heading string) bool {
	path := text.Tokens(strings.NewReplacer("/", " / ", ".md", " ", "-", " ", "_", " ").Replace(p.source.Path))
	return !slices.ContainsFunc(text.Tokens(heading), func(t text.Token) bool {
		return !t.Stop && !slices.ContainsFunc(path, func(have text.Token) bool { return stem(have) == stem(t) })
	})
}

// isQuotation reports whether words are what the note itself quotes.
func (p *passage) isQuotation(b text.Block, start, end int) bool {
	return b.Kind == text.Quoted || slices.ContainsFunc(text.Quotations(p.text, b), func(q text.Span) bool { return q.Start < start && end < q.End })
}

// rest is the sentences of a place with […] for what is quoted of them; "" if
// that is all.
func (p *passage) rest(first, last text.Sentence, at place, parts [][]word) string {
	var b strings.Builder
	more := false
	from, next := first.Start, at.first
	gap := func(to int) {
		between := p.text[from:max(from, to)]
		said := plainText(between)
		more = more || strings.ContainsFunc(said, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '?' || r == '？' })
		b.WriteString(clip(said))
	}
	for _, part := range parts {
		here, _ := p.find(part, next)
		gap(p.words[here.first].Start)
		b.WriteString(" […] ")
		from, next = p.words[here.last-1].End, here.last
	}
	gap(last.End)
	if !more {
		return ""
	}
	return beforeStop.Replace(strings.Join(strings.Fields(b.String()), " "))
}

// turns reports whether a sentence may take back what stands next to it.
func (p *passage) turns(sentence int) bool {
	s := p.sentences[sentence]
	return slices.ContainsFunc(p.words[p.ranges[sentence][0]:p.ranges[sentence][1]], func(w word) bool {
		return text.Is(w.Text, text.Negation|text.Hedge|text.Contrast)
	}) || text.NegatesWithin(p.text[s.Start:s.End])
}

// belongs reports whether a sentence continues the one before it: in its
// paragraph, as an item below it, or as a short remark of its own.
func (p *passage) belongs(next int, before text.Sentence) bool {
	const remark = 6 // words
	s := p.sentences[next]
	if s.Block == before.Block {
		return true
	}
	line := func(at int) string { return p.text[strings.LastIndexByte(p.text[:at], '\n')+1:] }
	here, above := line(s.Block.Start), line(before.Block.Start)
	switch {
	case headingLine.MatchString(here) || s.Start != s.Block.Start:
		return false
	case text.ItemLine.MatchString(here):
		return text.ItemLine.MatchString(above) && indentOf(here) > indentOf(above)
	}
	return s.End == s.Block.End && p.ranges[next][1]-p.ranges[next][0] <= remark
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// indentOf is how deep a line is indented.
func indentOf(line string) int {
	return len(strings.ReplaceAll(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t", "    "))
}

// plainText is markdown as it reads, in one line.
func plainText(md string) string {
	var b strings.Builder
	for line := range strings.Lines(md) {
		line = line[len(lineMarks.FindString(line)):]
		line = strings.TrimPrefix(inlineMarks.ReplaceAllString(line, ""), "|")
		b.WriteString(line)
	}
	plain := strings.NewReplacer("[[", "", "]]", "", "|", " | ", "“", "", "”", "", "\"", "").Replace(b.String())
	return strings.Trim(strings.Join(strings.Fields(plain), " "), " |")
}

// clip leaves out the middle of a long text.
func clip(s string) string {
	const longest, half = 160, 70 // characters
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	r := []rune(s)
	return string(r[:half]) + " … " + string(r[len(r)-half:])
}
