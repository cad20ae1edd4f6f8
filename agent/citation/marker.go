package citation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/text"
)

// marker is a citation in the answer, or several in a row.
type marker struct {
	Span    text.Span
	numbers []int
}

var (
	inlineCode = regexp.MustCompile("``[^\n]+?``|`[^`\n]+`")
	between    = regexp.MustCompile(`^[\s,;]*(?:and|und|&)?[\s]*$`)
	// indexAfter matches what follows an index of a program, such as x[1] = 3.
	indexAfter = regexp.MustCompile(`^(?:\s*(?:[-+*/]?=|\+\+|--|\()|\.\pL|\[\D)`)
)

// maxJudged bounds the source numbers, the quotations and the places that are
// read in one answer; what follows is plain text. No honest answer has so many.
const maxJudged = 200

// markersIn returns the citations of an answer: what is written as one after a
// word or a quotation, outside code and links, and has only numbers of sources.
// Any other bracket is text. Adjacent citations are merged.
func markersIn(answer string, isSource func(n int) bool) (markers []marker) {
	hidden := codeIn(answer)
	read := 0 // numbers so far
	for _, at := range text.CitationForm.FindAllStringIndex(answer, -1) {
		start, end := at[0], at[1]
		last := len(markers) - 1
		fresh := last < 0 || strings.Contains(answer[markers[last].Span.End:start], "\n") ||
			!between.MatchString(answer[markers[last].Span.End:start])
		numbers := numbersIn(answer[start:end])
		if len(numbers) == 0 || slices.ContainsFunc(numbers, func(n int) bool { return !isSource(n) }) ||
			covers(hidden, start) || isLink(answer, start, end) || fresh && !follows(answer, start, end) {
			continue
		}
		if read += len(numbers); read > maxJudged {
			break
		}
		if !fresh {
			markers[last].Span.End = end
			markers[last].numbers = appendNew(markers[last].numbers, numbers)
			continue
		}
		markers = append(markers, marker{text.Span{Start: start, End: end}, numbers})
	}
	return markers
}

// among returns whether a number is that of a source.
func among(sources []agent.Source) func(n int) bool {
	return func(n int) bool { return slices.ContainsFunc(sources, func(s agent.Source) bool { return s.N == n }) }
}

// follows reports whether the bracket at an offset follows a word or a
// quotation, on its line or at the end of the line before. After another
// bracket, a dash or the mark of a list it is text, as in a list of sources. Below quoted lines it names their source.
func follows(answer string, start, end int) bool {
	if strings.HasSuffix(answer[:start], "]") && !strings.HasSuffix(answer[:start], "]]") {
		return false
	}
	from := strings.LastIndexByte(answer[:start], '\n') + 1
	line := answer[from:start]
	line = strings.TrimRight(line[len(lineMarks.FindString(line)):], " \t(|*_")
	if strings.Trim(line, "—–- ") == "" {
		above := strings.TrimRight(answer[:from], " \t\r\n")
		if strings.HasPrefix(above[strings.LastIndexByte(above, '\n')+1:], ">") {
			return true
		}
		if strings.TrimSpace(answer[from:start]) != "" || strings.Count(answer[len(above):from], "\n") != 1 ||
			strings.HasSuffix(above, ":") {
			return false
		}
		line = above
	}
	r, _ := utf8.DecodeLastRuneInString(line)
	word := unicode.IsLetter(r) || unicode.IsNumber(r)
	if word && strings.HasSuffix(answer[:start], string(r)) && indexAfter.MatchString(answer[end:]) {
		return false
	}
	return word || !strings.ContainsRune("[{<>#=-–—", r)
}

// WithPaths replaces the citations in an answer with the paths of the user's
// own notes they refer to, for a prompt that numbers its sources differently.
// Other citations are removed.
func WithPaths(answer string, sources []agent.Source) string {
	var b strings.Builder
	from := 0
	isSource := among(sources)
	if sources == nil {
		isSource = func(int) bool { return true }
	}
	for _, m := range markersIn(answer, isSource) {
		var names []string
		for _, n := range m.numbers {
			i := slices.IndexFunc(sources, func(s agent.Source) bool { return s.N == n })
			if i < 0 || !ownNote(sources[i]) {
				continue
			}
			if name := text.OneLine(sources[i].Path); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		before := answer[from:m.Span.Start]
		if len(names) > 0 {
			b.WriteString(before + "(" + strings.Join(names, ", ") + ")")
		} else {
			b.WriteString(strings.TrimRight(before, " "))
		}
		from = m.Span.End
	}
	return beforeStop.Replace(b.String() + answer[from:])
}

// ownNote reports whether a source is a note in the user's own words.
func ownNote(s agent.Source) bool { return s.Call == "" && !s.Untrusted && !agent.OnWeb(s.Path) }

func appendNew(list, more []int) []int {
	for _, n := range more {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// maxRange bounds how many sources [1-99] may cite; a longer list is not a
// citation.
const maxRange = 50

// numbersIn returns the numbers of a citation, those of "1, 3" or of "1-3".
func numbersIn(citation string) (numbers []int) {
	for _, item := range strings.FieldsFunc(text.CitationNumbers.FindString(citation),
		func(r rune) bool { return r == ',' || r == ';' }) {
		low, high, isRange := strings.Cut(strings.ReplaceAll(item, "–", "-"), "-")
		from, _ := strconv.Atoi(strings.TrimSpace(low)) // at most five digits: cannot fail
		to := from
		if isRange {
			n, _ := strconv.Atoi(strings.TrimSpace(high))
			from, to = min(from, n), max(from, n)
		}
		for n := from; n <= to && n-from < maxRange; n++ {
			numbers = append(numbers, n)
		}
		if len(numbers) > maxRange {
			return nil
		}
	}
	return numbers
}

// codeIn returns the code blocks and code spans of a text.
func codeIn(answer string) (spans []text.Span) {
	for _, b := range text.Parts(answer) {
		if b.Kind == text.CodeBlock {
			spans = append(spans, text.Span{Start: b.Start, End: b.End})
			continue
		}
		for _, at := range inlineCode.FindAllStringIndex(answer[b.Start:b.End], -1) {
			spans = append(spans, text.Span{Start: b.Start + at[0], End: b.Start + at[1]})
		}
	}
	return spans
}

func covers(spans []text.Span, at int) bool {
	i, _ := slices.BinarySearchFunc(spans, at, func(s text.Span, at int) int {
		if s.End <= at {
			return -1
		}
		return 1
	})
	return i < len(spans) && spans[i].Start <= at
}

// isLink reports whether a bracket is the text of a link or a link definition.
func isLink(text string, start, end int) bool {
	rest := text[end:]
	if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "](") {
		return true
	}
	before := strings.TrimRight(text[:start], " \t")
	return strings.HasPrefix(rest, ":") && (before == "" || strings.HasSuffix(before, "\n")) &&
		strings.Contains(rest[:min(len(rest), 20)], "://")
}
