package passage

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// unit is what a passage is built of: a heading, a paragraph, a list item
// with all below it, a code block, a table. Only one that alone is bigger than
// a passage is divided.
type unit struct {
	start, end int // bytes of the note's text, without blank lines around
	path       []string
	kind       unitKind
}

type unitKind int

const (
	textUnit unitKind = iota
	headingUnit
)

// structure reads block structure only: what is inside a line does not matter
// for where it may be cut.
var structure = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	// Definitions of links stay text, which is what is searched: goldmark's cost
	// of taking them out grows with the square of their number.
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
)

// maxNesting is how deep a note's blocks may nest before it is
// cut by lines alone: the parser's cost grows with the square of the depth.
const maxNesting = 200

// MaxHeading is how much of a heading, in characters, stands in the path of
// what is below it.
const MaxHeading = 200

// blocks divides the text from byte body on into units of at most about size
// tokens.
func blocks(note string, body, size int) []unit {
	source := note[body:]
	w := blockWalk{text: note, offset: body, size: size}
	if tooNested(source) {
		w.lines(body, len(note), nil)
		return w.units
	}
	document := structure.Parse(gmtext.NewReader([]byte(source)))
	w.children(document, len(source), nil)
	return w.units
}

type blockWalk struct {
	text   string
	offset int // of the parsed source in text
	size   int
	stack  []heading
	units  []unit
}

type heading struct {
	level int
	text  string
}

// children adds the blocks below parent, which ends before end.
func (w *blockWalk) children(parent ast.Node, end int, above []string) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		if node.Pos() >= 0 {
			w.block(node, w.begin(node), w.stop(node, end+w.offset), above)
		}
	}
}

// begin is where a block begins in the note: at its line, when only marks and
// blanks stand before it there.
func (w *blockWalk) begin(node ast.Node) int {
	at := node.Pos() + w.offset
	line := strings.LastIndexByte(w.text[:at], '\n') + 1
	if strings.Trim(w.text[line:at], " \t-*+>0123456789.)") == "" {
		return max(line, w.offset)
	}
	return at
}

// stop is where a block ends: where the next begins, or its parent ends.
func (w *blockWalk) stop(node ast.Node, end int) int {
	if next := node.NextSibling(); next != nil && next.Pos() >= 0 {
		return w.begin(next)
	}
	return end
}

func (w *blockWalk) block(node ast.Node, start, end int, above []string) {
	if start > end {
		return
	}
	start, end = w.trim(start, end)
	if start >= end {
		return
	}
	// Several lines with a rule right below them are a heading to CommonMark. Who
	// wrote them meant a paragraph and a rule.
	if h, ok := node.(*ast.Heading); ok && h.Lines().Len() <= 1 && node.Parent().Kind() == ast.KindDocument {
		w.enter(h.Level, Shorten(plainHeading(w.headingText(h)), MaxHeading))
		if EstimateTokens(w.text[start:end]) <= w.size {
			w.units = append(w.units, unit{start, end, w.path(nil), headingUnit})
		} else {
			w.sentences(start, end, nil)
		}
		return
	}
	isList := node.Kind() == ast.KindList
	if !isList && EstimateTokens(w.text[start:end]) <= w.size {
		w.units = append(w.units, unit{start, end, w.path(above), textUnit})
		return
	}
	switch node.Kind() {
	case ast.KindList:
		w.children(node, end-w.offset, above)
	case ast.KindListItem:
		w.item(node, start, end, above)
	case ast.KindParagraph, ast.KindTextBlock:
		w.sentences(start, end, above)
	case extast.KindTable:
		w.lines(start, end, above)
	default:
		w.lines(start, end, above)
	}
}

// item divides a list item that is too big: its own text, then what is
// nested below, under that text as a heading. This is how an outliner's notes
// get their structure.
func (w *blockWalk) item(node ast.Node, start, end int, above []string) {
	first := node.FirstChild()
	if first == nil {
		w.lines(start, end, above)
		return
	}
	second := first.NextSibling()
	own := end
	if second != nil && second.Pos() >= 0 {
		own = w.begin(second)
	}
	ownStart, ownEnd := w.trim(start, own)
	if ownStart < ownEnd {
		if EstimateTokens(w.text[ownStart:ownEnd]) <= w.size {
			w.units = append(w.units, unit{ownStart, ownEnd, w.path(above), textUnit})
		} else {
			w.sentences(ownStart, ownEnd, above)
		}
	}
	if second == nil {
		return
	}
	label, _, _ := strings.Cut(w.text[ownStart:ownEnd], "\n")
	below := above
	if label = plainHeading(strings.TrimLeft(label, "-*+ \t0123456789.)")); label != "" && len(above) < 6 {
		below = append(slices.Clone(above), Shorten(label, 80))
	}
	for node := second; node != nil; node = node.NextSibling() {
		if node.Pos() >= 0 {
			w.block(node, w.begin(node), w.stop(node, end), below)
		}
	}
}

// lines divides a range between lines, and a line that is itself too big
// between sentences.
func (w *blockWalk) lines(start, end int, above []string) {
	w.pack(start, end, above, func(rest string) int {
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			return i + 1
		}
		return len(rest)
	}, w.sentences)
}

// sentences divides a range after the ends of sentences, and a sentence that
// is itself too big between words.
func (w *blockWalk) sentences(start, end int, above []string) {
	w.pack(start, end, above, text.SentenceEnd, w.words)
}

// words is the last resort: it cuts between words, or anywhere between
// characters when there are none.
func (w *blockWalk) words(start, end int, above []string) {
	w.pack(start, end, above, func(rest string) int {
		limit := min(len(rest), w.size*2)
		if limit == len(rest) {
			return limit
		}
		if i := strings.LastIndexByte(rest[:limit], ' '); i > 0 {
			return i + 1
		}
		for limit > 1 && !utf8.RuneStart(rest[limit]) {
			limit--
		}
		return limit
	}, nil)
}

// pack walks a range in steps and adds units of as many steps as fit. A step
// too big for a unit goes to divide.
func (w *blockWalk) pack(start, end int, above []string, step func(string) int, divide func(int, int, []string)) {
	path := w.path(above)
	begin, tokens := start, 0
	emit := func(to int) {
		if from, to := w.trim(begin, to); from < to {
			w.units = append(w.units, unit{from, to, path, textUnit})
		}
		tokens = 0
	}
	for at := start; at < end; {
		next := at + max(1, step(w.text[at:end]))
		cost := EstimateTokens(w.text[at:next])
		if tokens > 0 && tokens+cost > w.size {
			emit(at)
			begin = at
		}
		if cost > w.size && divide != nil {
			divide(at, next, above)
			begin = next
		} else {
			tokens += cost
		}
		at = next
	}
	if begin < end {
		emit(end)
	}
}

// trim takes blank lines and trailing blanks off a range. The indentation of
// the first line stays: it carries the nesting.
func (w *blockWalk) trim(start, end int) (from, to int) {
	end = start + len(strings.TrimRightFunc(w.text[start:end], unicode.IsSpace))
	for start < end {
		line := strings.IndexByte(w.text[start:end], '\n')
		if line < 0 || strings.TrimSpace(w.text[start:start+line]) != "" {
			break
		}
		start += line + 1
	}
	return start, end
}

func (w *blockWalk) enter(level int, text string) {
	for len(w.stack) > 0 && w.stack[len(w.stack)-1].level >= level {
		w.stack = w.stack[:len(w.stack)-1]
	}
	w.stack = append(w.stack, heading{level, text})
}

func (w *blockWalk) path(above []string) []string {
	path := make([]string, 0, len(w.stack)+len(above))
	for _, h := range w.stack {
		if h.text != "" {
			path = append(path, h.text)
		}
	}
	return append(path, above...)
}

func (w *blockWalk) headingText(h *ast.Heading) string {
	var b bytes.Buffer
	for i := range h.Lines().Len() {
		segment := h.Lines().At(i)
		b.WriteString(w.text[segment.Start+w.offset : segment.Stop+w.offset])
	}
	return b.String()
}

var (
	wikiLink   = pattern.Lazy(`!?\[\[([^\]|]*)(?:\|([^\]]*))?\]\]`)
	inlineLink = pattern.Lazy(`!?\[([^\]]*)\]\([^)]*\)`)
	blockID    = pattern.Lazy(`\s+\^[A-Za-z0-9-]+$`)
)

// plainHeading is a heading without its markup, on one line.
func plainHeading(raw string) string {
	if strings.Contains(raw, "[") { // the expressions cost more than the parser
		raw = wikiLink.ReplaceAllStringFunc(raw, func(link string) string {
			parts := wikiLink.FindStringSubmatch(link)
			if parts[2] != "" {
				return parts[2]
			}
			return parts[1]
		})
		raw = inlineLink.ReplaceAllString(raw, "$1")
	}
	if strings.Contains(raw, "^") {
		raw = blockID.ReplaceAllString(strings.TrimSpace(raw), "")
	}
	return strings.TrimSpace(headingMarks.Replace(raw))
}

var headingMarks = strings.NewReplacer("**", "", "__", "", "`", "", "\n", " ")

func Shorten(text string, runes int) string {
	if utf8.RuneCountInString(text) <= runes {
		return text
	}
	return string([]rune(text)[:runes]) + "…"
}

// tooNested reports whether some line begins with more quote marks or deeper
// indentation than a person writes.
func tooNested(source string) bool {
	for line := range strings.Lines(source) {
		marks := 0
		for _, r := range line {
			if r == '>' || r == '-' || r == '*' || r == '+' {
				marks++
			} else if r != ' ' && r != '\t' {
				break
			}
		}
		if marks > maxNesting {
			// A rule of dashes or stars nests nothing.
			if strings.Trim(strings.TrimSpace(line), "-*_ ") == "" && strings.Count(line, " ") < maxNesting {
				continue
			}
			return true
		}
	}
	return false
}
