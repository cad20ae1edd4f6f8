package citation

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/text"
)

var (
	// placeText matches note.md:12, note.md:12-14, note.md#L12, "note.md, line
	// 12" and "paper.pdf p. 3", also inside a code span.
	placeText = regexp.MustCompile(`([^\s"'“”„«»()<>\[\]|:*#` + "`" +
		`]+\.(?:md|markdown|txt|org|pdf)\b)(?:(?::|#L|,? (?:on |in )?(?:lines?|Zeilen?|pages?|Seiten?|pp?\.|S\.) ` +
		`?)(\d{1,7})(?:[-–]L?(\d{1,7}))?)?`)
	// linkText matches [[note]], [[note|label]] and [[note#Heading]].
	linkText = regexp.MustCompile(`\[\[([^\[\]|#\n]+)[^\[\]\n]*\]\]`)
)

// NamedPlace is a note or a web address that an answer names.
type NamedPlace struct {
	Name          string // as written
	before        string // the text before it, which may contain the start of a path with spaces
	Line, EndLine int    // 0 if not given
	link          bool   // a wikilink; Name is a path without extension, or a title
	Bracketed     bool   // in brackets, like a source
}

// PlacesIn returns the first notes and addresses that an answer names, except in
// code blocks and in quotations, which are judged by the words they quote.
func PlacesIn(answer string) (places []NamedPlace) {
	for _, b := range text.Parts(answer) {
		if !b.Kind.Prose() {
			continue
		}
		line := answer[b.Start:b.End]
		rest := []byte(line) // what was not read yet
		blank := func(from, to int) {
			for i := from; i < to; i++ {
				rest[i] = ' '
			}
		}
		for _, q := range text.Quotations(answer, b) {
			if !onlyNames(strings.Trim(answer[q.Start:q.End], quotationMarks)) {
				blank(q.Start-b.Start, q.End-b.Start)
			}
		}
		line = string(rest)
		add := func(p NamedPlace, start int) {
			p.Bracketed = p.link || start > 0 && (line[start-1] == '(' || line[start-1] == '[')
			p.before = p.before[max(0, len(p.before)-maxClaim):]
			if len(places) < maxJudged {
				places = append(places, p)
			}
		}
		for _, at := range agent.AddressText.FindAllStringSubmatchIndex(line, -1) {
			add(NamedPlace{Name: strings.TrimRight(line[at[0]:at[1]], ".,;:!?)]*_"+quotationMarks)}, at[0])
			blank(at[0], at[1])
		}
		line = string(rest)
		for _, at := range text.CitationForm.FindAllStringIndex(line, -1) {
			if n := strings.Index(line[at[0]:at[1]], "]("); n > 0 { // [[1]](note.md)
				blank(at[0], at[0]+n)
			}
		}
		line = string(rest)
		for _, at := range linkText.FindAllStringSubmatchIndex(line, -1) {
			add(NamedPlace{
				Name:   strings.TrimSpace(line[at[2]:at[3]]),
				before: answer[b.Start : b.Start+at[0]], link: true,
			}, at[0])
			blank(at[0], at[1])
		}
		line = string(rest)
		for _, at := range placeText.FindAllStringSubmatchIndex(line, -1) {
			p := NamedPlace{Name: line[at[2]:at[3]], before: line[:at[2]]}
			if at[4] < 0 && !strings.HasSuffix(p.Name, ".md") && !strings.HasSuffix(p.Name, ".markdown") {
				continue // notes mention files and sites with such names
			}
			if at[4] >= 0 {
				p.Line, _ = strconv.Atoi(line[at[4]:at[5]]) // at most 7 digits: cannot fail
				p.EndLine = p.Line
			}
			if at[6] >= 0 {
				p.EndLine, _ = strconv.Atoi(line[at[6]:at[7]])
			}
			add(p, at[2])
		}
	}
	return places
}

const quotationMarks = "\"“”„«»「」『』‹›"

// onlyNames reports whether a quotation is just the name of a place, in at most
// four words.
func onlyNames(quotation string) bool {
	if len(strings.Fields(quotation)) > 4 {
		return false
	}
	for _, place := range []*regexp.Regexp{agent.AddressText, linkText, placeText} {
		if at := place.FindStringIndex(quotation); at != nil && at[1] == len(quotation) &&
			(at[0] == 0 || quotation[at[0]-1] == ' ') {
			return true
		}
	}
	return false
}

// is reports whether the place is the note or page of a source.
func (p NamedPlace) is(s agent.Source) bool {
	switch {
	case agent.OnWeb(p.Name):
		return agent.OnWeb(s.Path) && agent.PlainAddress(p.Name) == agent.PlainAddress(strings.TrimRight(s.Path,
			".,;:!?)]*_"))
	case p.link:
		bare := strings.TrimSuffix(s.Path, path.Ext(s.Path))
		title, _, _ := strings.Cut(s.Heading, " › ")
		return slices.ContainsFunc([]string{s.Path, bare, path.Base(s.Path), path.Base(bare), title},
			func(name string) bool {
				return text.Key(name) == text.Key(strings.Trim(p.Name, "/"))
			})
	}
	named := text.Key(p.before + strings.TrimPrefix(p.Name, "./"))
	for _, name := range []string{
		s.Path, path.Base(s.Path), path.Base(s.Vault) + "/" + s.Path,
		s.Vault + "/" + s.Path,
	} {
		rest, ends := strings.CutSuffix(named, text.Key(name))
		r, _ := utf8.DecodeLastRuneInString(rest)
		joined := r < firstWithoutSpaces && (unicode.IsLetter(r) || unicode.IsDigit(r)) ||
			strings.ContainsRune("/_-.\\", r)
		if ends && (rest == "" || !joined) {
			return true
		}
	}
	return false
}

// LinkedIn reports whether the place is a wikilink that md also contains, after
// the same word.
func (p NamedPlace) LinkedIn(md string) bool {
	before := strings.Fields(p.before)
	return p.link && len(before) > 0 && strings.Contains(md, before[len(before)-1]+" [["+p.Name)
}

// firstWithoutSpaces is the first rune of the scripts that put no space before
// a name.
const firstWithoutSpaces = '\u2e80'

// Within reports whether the sources contain the place, with its lines if
// given.
func (p NamedPlace) Within(sources []agent.Source) bool {
	holds := func(line int) bool {
		return slices.ContainsFunc(sources, func(s agent.Source) bool {
			return p.is(s) &&
				(line == 0 || line >= s.Line && line <= s.EndLine)
		})
	}
	return holds(p.Line) && holds(p.EndLine) && p.EndLine >= p.Line
}
