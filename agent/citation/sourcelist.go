package citation

import (
	"slices"
	"strings"
	"unicode"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// SourceList filters a streamed answer, removing a list of sources at its end,
// since the program shows one itself. Such a list is a final block in which
// every line is just the number, path or title of a source cited before, under
// at most one line that ends in a colon or is a heading.
type SourceList struct {
	shown []byte // a byte slice, because a string would be copied with each piece
	cites bool   // an answer without citations cannot have such a list
	held  string
}

// Add returns the text that can be shown now: everything except a possible list
// at the end.
func (l *SourceList) Add(piece string, sources []agent.Source) string {
	l.held += piece
	l.cites = l.cites || strings.Contains(piece, "]")
	at := len(l.held)
	if l.cites {
		at = l.listAt(sources, true)
	}
	return l.take(at)
}

// End returns the remaining text; if drop is set, without the list of sources.
func (l *SourceList) End(sources []agent.Source, drop bool) string {
	at := len(l.held)
	if drop {
		at = l.listAt(sources, false)
	}
	rest := l.take(at)
	l.held = ""
	return rest
}

func (l *SourceList) take(n int) string {
	piece := l.held[:n]
	l.shown, l.held = append(l.shown, piece...), l.held[n:]
	return piece
}

var blankLine = pattern.Lazy(`\n[ \t]*\n\s*|\n\s*$`)

// listAt returns the offset in held where the list begins, including the blank
// lines before it; len(held) if there is none. growing means that more text may
// follow.
func (l *SourceList) listAt(sources []agent.Source, growing bool) int {
	var markers []marker
	if !growing {
		markers = markersIn(string(l.shown)+l.held, among(sources))
	}
	var cited []int
	other := 0 // the last line that belongs to no list with lines before it
	for _, gap := range blankLine.FindAllStringIndex(l.held, -1) {
		if gap[1] < other {
			continue
		}
		for len(markers) > 0 && markers[0].Span.End <= len(l.shown)+gap[0] {
			cited, markers = appendNew(cited, markers[0].numbers), markers[1:]
		}
		at, is := isSourceList(l.held[gap[1]:], sources, cited, growing)
		if is {
			return gap[0]
		}
		other = gap[1] + at
	}
	return len(l.held)
}

// longestHead bounds the line before a list, in bytes.
const longestHead = 40

// isSourceList reports whether a block lists sources, each at most once; if not,
// other is the offset of its first line that does not belong to such a list.
func isSourceList(block string, sources []agent.Source, cited []int, growing bool) (other int, is bool) {
	head, listed := false, 0
	next := 0
	for line := range strings.SplitSeq(block, "\n") {
		other, next = next, next+len(line)+1
		line = strings.TrimSpace(line)
		partial := growing && next > len(block)
		begins := strings.TrimRight(line, "*_ ")
		switch {
		case line == "":
		case slices.ContainsFunc(sources, func(s agent.Source) bool {
			return isPlaceOf(line, s, partial) && (growing || slices.Contains(cited, s.N) && !citesOther(line, cited))
		}):
			if listed++; listed > len(sources) {
				return other, false
			}
		case listed > 0 || head || len(line) > longestHead:
			return other, false
		case strings.HasSuffix(begins, ":"), strings.HasPrefix(line, "#"), strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**"), partial && !strings.ContainsAny(line, ".!?["):
			head = true
		default:
			return other, false
		}
	}
	return len(block), growing || listed > 0
}

// isPlaceOf reports whether a line contains nothing but the number, path or
// title of a source. partial means that its end has not arrived yet.
func isPlaceOf(line string, s agent.Source, partial bool) bool {
	numbered := slices.Contains(numbersOf(line), s.N)
	if !partial && !numbered && !strings.Contains(line, s.Path) {
		return false
	}
	words := strings.FieldsFunc(line, notOfWord)
	if partial && len(words) > 0 {
		words = words[:len(words)-1]
	}
	names := strings.FieldsFunc(strings.ToLower(s.Path+" "+s.Heading+" "+s.Vault), notOfWord)
	for _, w := range words {
		if !unicode.IsNumber(firstRune(w)) && !slices.Contains(names, strings.ToLower(w)) {
			return false
		}
	}
	return true
}

// citesOther reports whether a line contains the number of a source that is not
// cited.
func citesOther(line string, cited []int) bool {
	return slices.ContainsFunc(numbersOf(line), func(n int) bool { return !slices.Contains(cited, n) })
}

// numbersOf returns the numbers of a line, wherever they are in it.
func numbersOf(line string) (numbers []int) {
	for _, form := range text.CitationForm.FindAllString(line, -1) {
		numbers = append(numbers, numbersIn(form)...)
	}
	return numbers
}

func notOfWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
