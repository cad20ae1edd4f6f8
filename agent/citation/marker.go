package citation

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// marker is a citation in the answer, or several in a row.
type marker struct {
	Span    text.Span
	numbers []int
}

var (
	// markerText matches [1], [1, 2], [1-3], [1: "the words it relies on"],
	// (Source 1), and the 【1】 of some models.
	markerText = pattern.Lazy(`\[(\d{1,5}(?:\s*[,;–-]\s*\d{1,5})*)(?:: *["“”„«»‚‘'「『][^\n\]]{1,600}["”“»«’‘'」』])?\]|【(\d{1,5})[^】\n]{0,40}】|(?i:[\[(](?:sources?|quellen?) (\d{1,5}(?:\s*[,;–-]\s*\d{1,5})*)[\])])`)
	inlineCode = pattern.Lazy("``[^\n]+?``|`[^`\n]+`")
	between    = pattern.Lazy(`^[\s,;]*(?:and|und|&)?[\s]*$`)
)

// maxJudged bounds the source numbers, the quotations and the places that are
// read in one answer; what follows is plain text. No honest answer has so many.
const maxJudged = 200

// markersIn returns the citations outside code and links. Adjacent ones are
// merged.
func markersIn(answer string) (markers []marker) {
	hidden := codeIn(answer)
	rejected := -1 // end of the last bracket that is not a citation
	read := 0      // numbers so far
	for _, at := range markerText.FindAllStringSubmatchIndex(answer, -1) {
		start, end := at[0], at[1]
		list := answer[max(at[2], at[4], at[6]):max(at[3], at[5], at[7])] // exactly one of the groups matched
		if start == rejected || covers(hidden, start) || isLink(answer, start, end) || isIndex(answer, start, end) {
			rejected = end
			continue
		}
		numbers := numbersIn(list)
		if len(numbers) == 0 {
			continue
		}
		if read += len(numbers); read > maxJudged {
			break
		}
		if last := len(markers) - 1; last >= 0 && between.MatchString(answer[markers[last].Span.End:start]) && !strings.Contains(answer[markers[last].Span.End:start], "\n") {
			markers[last].Span.End = end
			markers[last].numbers = appendNew(markers[last].numbers, numbers)
			continue
		}
		markers = append(markers, marker{text.Span{Start: start, End: end}, numbers})
	}
	return markers
}

// WithPaths replaces the citations in an answer with the paths of the user's
// own notes they refer to, for a prompt that numbers its sources differently.
// Other citations are removed.
func WithPaths(answer string, sources []agent.Source) string {
	var b strings.Builder
	from := 0
	for _, m := range markersIn(answer) {
		var names []string
		for _, n := range m.numbers {
			i := slices.IndexFunc(sources, func(s agent.Source) bool { return s.N == n })
			if i >= 0 && sources[i].Call == "" && !sources[i].Untrusted && !agent.OnWeb(sources[i].Path) && !slices.Contains(names, text.OneLine(sources[i].Path)) {
				names = append(names, text.OneLine(sources[i].Path))
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

// numbersIn parses "1, 3" and "1-3". It skips years, which are not sources.
func numbersIn(list string) (numbers []int) {
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ';' }) {
		low, high, isRange := strings.Cut(strings.ReplaceAll(item, "–", "-"), "-")
		from, err := strconv.Atoi(strings.TrimSpace(low))
		if err != nil || from >= 1900 && from < 2100 {
			continue
		}
		to := from
		if isRange {
			if n, err := strconv.Atoi(strings.TrimSpace(high)); err == nil {
				from, to = min(from, n), max(from, n)
			}
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
	for _, b := range text.Blocks(answer) {
		if b.Kind == text.Code {
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
	return strings.HasPrefix(rest, ":") && (before == "" || strings.HasSuffix(before, "\n")) && strings.Contains(rest[:min(len(rest), 20)], "://")
}

var (
	wordBefore  = pattern.Lazy(`[\pL\pN_.$]+$`)
	indexNames  = wordSet(`arr array arrays list lists args argv items item values vals data row rows col cols matrix vec tuple slice buf buffer bytes str xs ys idx lines tokens nums self this result results`)
	indexAfter  = pattern.Lazy(`^\s*(?:[-+*/]?=|\+\+|--|\(|\.\pL|\[\D)`)
	hasInnerCap = pattern.Lazy(`\p{Ll}\p{Lu}`)
)

// isIndex reports whether a bracket is an index such as arr[1] in program text,
// rather than a citation that follows a word without a space.
func isIndex(answer string, start, end int) bool {
	word := wordBefore.FindString(answer[max(0, start-60):start])
	if word == "" {
		return false
	}
	trimmed := strings.TrimRight(word, ".")
	if trimmed != word || strings.Trim(word, "0123456789.") == "" {
		return false // after a full stop or a number
	}
	if utf8.RuneCountInString(word) == 1 && !text.Unspaced([]rune(word)[0]) || indexNames[strings.ToLower(word)] || hasInnerCap.MatchString(word) {
		return true
	}
	if strings.ContainsAny(word, "_.$") || strings.ContainsFunc(word, unicode.IsDigit) {
		return true
	}
	return indexAfter.MatchString(answer[end:])
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
