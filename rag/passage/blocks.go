package passage

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// unit is a piece that passages are packed from: a heading, a paragraph, a list
// item with all below it, a code block, a table. Only a unit that alone is bigger
// than a passage is divided.
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

// MaxHeading bounds a heading in the path of what is below it, in characters.
const MaxHeading = 200

var (
	headingLine   = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]|$)`)
	underlineLine = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	ruleLine      = regexp.MustCompile(`^\s*(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$`)
	fenceLine     = regexp.MustCompile("^[ \t]*(```+|~~~+)")
)

// blocks divides the text from byte body on into units of at most about size
// tokens.
func blocks(note string, body, size int) []unit {
	w := blockWalk{text: note, size: size}
	w.divide(parse(note, body), nil)
	return w.units
}

// block is a block of Markdown with the lines up to the next blank line, heading
// or list item.
type block struct {
	start, end int
	indent     int  // columns before the first character
	level      int  // of a heading; else 0
	item       bool // of a list
	rows       bool // code, a table or a quotation, which is divided between lines alone
	lines      int
}

// parse splits the text from a byte on into its blocks.
func parse(note string, from int) (all []block) {
	open, fence := false, "" // whether the last block may continue; what closes its code
	for start := from; start < len(note); {
		end := len(note)
		if i := strings.IndexByte(note[start:], '\n'); i >= 0 {
			end = start + i
		}
		line, last := note[start:end], len(all)-1
		bare := strings.TrimSpace(line)
		b := block{start: start, end: end, indent: columns(line), lines: 1}
		begins := func(with string, as *regexp.Regexp) bool { // a look at the first byte costs less
			return strings.IndexByte(with, bare[0]) >= 0 && as.MatchString(line)
		}
		switch {
		case fence != "":
			all[last].end = end
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence, open = "", false
			}
		case bare == "":
			open = false
		case begins("`~", fenceLine):
			fence, b.rows = fenceLine.FindStringSubmatch(line)[1], true
			all = append(all, b)
		case begins("#", headingLine):
			b.level = len(headingLine.FindStringSubmatch(line)[1])
			all, open = append(all, b), false
		case open && begins("=-", underlineLine):
			// A rule below several lines is a heading in CommonMark, and hardly ever meant as one.
			if p := &all[last]; p.lines == 1 && !p.item && !p.rows {
				p.level = 1 + strings.Count(bare[:1], "-")
			}
			all[last].end, open = end, false
		case begins("*-_", ruleLine):
			all, open = append(all, b), false
		case begins("-*+0123456789", text.ItemLine):
			b.item = true
			all, open = append(all, b), true
		case open:
			all[last].end = end
			all[last].lines++
		default:
			b.rows = bare[0] == '|' || bare[0] == '>'
			all, open = append(all, b), true
		}
		start = end + 1
	}
	return all
}

// columns is the width of the indentation of a line.
func columns(line string) int {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return len(indent) + 3*strings.Count(indent, "\t")
}

// blockWalk makes units of blocks.
type blockWalk struct {
	text  string
	size  int
	stack []heading
	units []unit
}

type heading struct {
	level int
	text  string
}

// divide adds blocks as units. A list item too big for one is its own text, then
// what is indented below it, with that text as a heading: this is the structure of
// an outliner's notes.
func (w *blockWalk) divide(all []block, above []string) {
	for len(all) > 0 {
		b, below := all[0], 1
		for b.item && below < len(all) && all[below].level == 0 && all[below].indent > b.indent {
			below++
		}
		start, end := w.trim(b.start, all[below-1].end)
		switch {
		case b.level > 0:
			name, _, _ := strings.Cut(w.text[start:end], "\n")
			w.enter(b.level, Shorten(plainHeading(strings.TrimLeft(name, " #\t")), MaxHeading))
			if w.fits(start, end) {
				w.units = append(w.units, unit{start, end, w.path(nil), headingUnit})
			} else {
				w.sentences(start, end, nil)
			}
		case w.fits(start, end):
			w.units = append(w.units, unit{start, end, w.path(above), textUnit})
		case below > 1:
			w.divide([]block{{start: b.start, end: b.end}}, above)
			label, _, _ := strings.Cut(w.text[b.start:b.end], "\n")
			nested := above
			if label = plainHeading(strings.TrimLeft(label, "-*+ \t0123456789.)")); label != "" && len(above) < 6 {
				nested = append(slices.Clone(above), Shorten(label, 80))
			}
			w.divide(all[1:below], nested)
		case b.rows:
			w.lines(start, end, above)
		default:
			w.sentences(start, end, above)
		}
		all = all[below:]
	}
}

// fits reports whether a range is no bigger than a passage. A byte has an eighth of
// a token at least.
func (w *blockWalk) fits(start, end int) bool {
	return end-start <= 8*w.size && EstimateTokens(w.text[start:end]) <= w.size
}

// lines divides a range between lines, and a line that is too long between sentences.
func (w *blockWalk) lines(start, end int, above []string) {
	w.pack(start, end, above, func(rest string) int {
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			return i + 1
		}
		return len(rest)
	}, w.sentences)
}

// sentences divides a range between sentences, and a sentence that is too long between
// words.
func (w *blockWalk) sentences(start, end int, above []string) {
	w.pack(start, end, above, text.SentenceEnd, w.words)
}

// words divides a range between words, or between characters if there are none.
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

// pack divides a range into units of as many steps as fit. A step that is too long for a
// unit is passed to divide.
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

// trim excludes blank lines and trailing blanks from a range, but not the indentation of
// the first line, which shows its nesting.
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

var (
	wikiLink   = regexp.MustCompile(`!?\[\[([^\]|]*)(?:\|([^\]]*))?\]\]`)
	inlineLink = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	// headingEnd matches the name of a block, or the signs that close a heading.
	headingEnd = regexp.MustCompile(`\s+(?:\^[A-Za-z0-9-]+|#+)$`)
)

// plainHeading returns a heading on one line without its markup.
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
	if strings.ContainsAny(raw, "^#") {
		raw = headingEnd.ReplaceAllString(strings.TrimSpace(raw), "")
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
