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
	parents    int // how many of path, at its end, are list items or the header of a table or code
}

type unitKind int

const (
	textUnit unitKind = iota
	headingUnit
)

// MaxHeading bounds a heading in the path of what is below it, in characters.
const MaxHeading = 200

// blocks divides the text from byte body on into units of at most about size
// tokens.
func blocks(note string, body, size int) []unit {
	w := blockWalk{text: note, size: size}
	all := text.Blocks(note[body:])
	for i := range all {
		all[i].Start, all[i].End = all[i].Start+body, all[i].End+body
	}
	w.divide(all, nil)
	return w.units
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
// what is below it, with that text as a heading: this is the structure of an
// outliner's notes. The later parts of what is divided have its label as a heading.
func (w *blockWalk) divide(all []text.Block, above []string) {
	for len(all) > 0 {
		b, below := all[0], 1
		for b.Kind == text.ItemBlock && below < len(all) && isBelow(all[below], b) {
			below++
		}
		start, end := w.trim(b.Start, all[below-1].End)
		switch {
		case start == end:
		case b.Level > 0:
			name, _, _ := strings.Cut(w.text[start:end], "\n")
			w.enter(b.Level, Shorten(plainHeading(strings.TrimLeft(name, " #\t")), MaxHeading))
			if w.fits(start, end) {
				w.units = append(w.units, unit{start, end, w.path(nil), headingUnit, 0})
			} else {
				w.sentences(start, end, nil)
			}
		case w.fits(start, end):
			w.units = append(w.units, unit{start, end, w.path(above), textUnit, len(above)})
		case below > 1:
			w.divide([]text.Block{{Start: b.Start, End: b.End, Kind: text.ItemBlock}}, above)
			w.divide(all[1:below], append(slices.Clone(above), w.labels(b)...))
		default:
			first := len(w.units)
			if b.Kind == text.TextBlock || b.Kind == text.ItemBlock {
				w.sentences(start, end, above)
			} else {
				w.lines(start, end, above)
			}
			label := w.labels(b)
			for i := first + 1; i < len(w.units); i++ {
				w.units[i].path = append(w.units[i].path, label...)
				w.units[i].parents += len(label)
			}
		}
		all = all[below:]
	}
}

// labels returns what the path of headings says of a block above its later parts: the
// first line of a list item, the header of a table or code, or nothing.
func (w *blockWalk) labels(b text.Block) []string {
	label := Shorten(b.Header, MaxHeading)
	if b.Kind == text.ItemBlock {
		line, _, _ := strings.Cut(w.text[b.Start:b.End], "\n")
		label = Shorten(plainHeading(strings.TrimLeft(line, "-*+ \t0123456789.)")), maxParent)
	}
	if label == "" {
		return nil
	}
	return []string{label}
}

// maxParent bounds a list item in the path of what is below it, in characters.
const maxParent = 80

// isBelow reports whether a block is in a list item.
func isBelow(b, item text.Block) bool {
	return b.Depth > item.Depth || b.Depth == item.Depth && b.Kind != text.ItemBlock
}

// fits reports whether a range is no bigger than a passage. A byte has an eighth of
// a token at least.
func (w *blockWalk) fits(start, end int) bool {
	return end-start <= 8*w.size && EstimateTokens(w.text[start:end]) <= w.size
}

// lines divides a range between lines, and a line that is too long between sentences.
func (w *blockWalk) lines(start, end int, above []string) {
	w.pack(start, end, above, func(rest string) int {
		// what closes code stays with it
		if i := strings.IndexByte(rest, '\n'); i >= 0 && strings.Trim(rest[i:], "`~> \t\n") != "" {
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
			w.units = append(w.units, unit{from, to, slices.Clone(path), textUnit, len(above)})
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
