package notes

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// embedMacro is what stands before a link in Logseq's embeds.
const embedMacro = "{{embed "

// maxLink bounds the text of a link in bytes, so that a page of brackets takes
// linear time.
const maxLink = 1000

// inlineScan finds links and tags in the text of blocks, with Obsidian's syntax.
type inlineScan struct {
	runs []tickRun // buffer for the current block
}

// tickRun is a run of backticks; closing is where the code that it opens ends.
type tickRun struct{ start, size, closing int }

// block scans body[start:stop].
func (s *inlineScan) block(n *Note, body string, start, stop int, lines lineIndex) {
	text := body[:stop]
	s.findTicks(text, start)
	run := 0
	for i := start; i < stop; {
		switch text[i] {
		case '\\':
			i += 2
		case '`':
			for s.runs[run].start < i {
				run++
			}
			n.setApart(body, i, s.runs[run].closing)
			i = s.runs[run].closing
		case '[':
			link, spot, end := readLink(text, i)
			if end == 0 && (i == start || text[i-1] == '\n') {
				link, spot, end = readDefinition(text, i)
			}
			if end == 0 {
				i++
				continue
			}
			link.Line, link.Embed = lines.at(i), i > start && text[i-1] == '!' ||
				strings.HasSuffix(text[start:i], embedMacro)
			n.addLink(link, spot, body)
			if link.Wiki && link.Target != "" && opensTag(text, start, i-1) {
				n.addTag(link.Target, spot.name, body)
			}
			n.setApart(body, i, end)
			i = end
		case '(':
			id, size := ReferredID(text[i:])
			if size > 0 {
				n.addLink(Link{Target: id, Line: lines.at(i), Embed: strings.HasSuffix(text[start:i], embedMacro)},
					linkSpot{}, body)
				n.setApart(body, i, i+size)
			}
			i += max(1, size)
		case '#':
			tag, end := readTag(text, start, i)
			if tag != "" {
				at := i + 1 + strings.Index(text[i+1:end], tag)
				n.addTag(tag, span{at, at + len(tag)}, body)
			}
			i = end
		default:
			i++
		}
	}
}

// findTicks finds the runs of backticks from start on, and where the code that
// each one opens ends. For a run that is not closed, this is the end of the run
// itself.
func (s *inlineScan) findTicks(text string, start int) {
	s.runs = s.runs[:0]
	for i := start; i < len(text); i++ {
		if text[i] != '`' {
			continue
		}
		run := tickRun{start: i}
		for i < len(text) && text[i] == '`' {
			i++
		}
		run.size = i - run.start
		run.closing = i
		s.runs = append(s.runs, run)
	}
	if len(s.runs) == 0 {
		return
	}
	next := map[int]int{} // size → end of the nearest following run of that size
	for i := len(s.runs) - 1; i >= 0; i-- {
		run := &s.runs[i]
		end := run.closing
		if closing, ok := next[run.size]; ok {
			run.closing = closing
		}
		next[run.size] = end
	}
}

// readLink parses [[target#heading|text]] or [text](target) at i. end is the
// offset after it, or 0 if there is no link. Links to other places than notes
// have no target.
func readLink(text string, i int) (link Link, spot linkSpot, end int) {
	near := text[i:min(len(text), i+maxLink)]
	if strings.HasPrefix(near, "[[") {
		inner := wikiInner(near[2:])
		if strings.HasPrefix(near, "[[[") && wikiInner(near[3:]) != "" || inner == "" { // the innermost is meant
			return Link{}, linkSpot{}, 0
		}
		return wikilink(inner), wikiSpot(inner, i+2), i + 2 + len(inner) + 2
	}
	shown := near[:shownText(near)]
	if shown == "" || strings.Contains(shown, "\n\n") {
		return Link{}, linkSpot{}, 0
	}
	at := len(shown) + 2
	target, size := linkTarget(near[at:])
	if size == 0 {
		return Link{}, linkSpot{}, 0
	}
	link = noteLink(target)
	link.Text = strings.Join(strings.Fields(shown[1:]), " ")
	return link, addressSpot(target, i+at+strings.Index(near[at:], target)), i + at + size
}

// PlainLinks returns a text in which what each link shows stands in its place.
func PlainLinks(text string) string {
	var plain strings.Builder
	for i := 0; i < len(text); {
		if link, _, end := readLink(text, i); text[i] == '[' && end > 0 {
			plain.WriteString(cmp.Or(link.Text, link.Target, link.Heading))
			i = end
			continue
		}
		plain.WriteByte(text[i])
		i++
	}
	return plain.String()
}

// maxPairs bounds the nesting of brackets in the text of a link.
const maxPairs = 8

// shownText returns the length of the text of a link, up to the bracket that closes it before a target; 0 if there is
// none. Brackets in it come in pairs; of a link in a link the inner one is meant, unless it is an image.
func shownText(near string) int {
	image := false
	for i, open := 0, 0; i < len(near); i++ {
		switch near[i] {
		case '\\':
			i++
		case '[':
			if open++; open > maxPairs {
				return 0
			}
			image = i > 0 && near[i-1] == '!'
		case ']':
			open--
			target := strings.HasPrefix(near[i:], "](")
			switch {
			case open == 0 && target:
				return i
			case open == 0 || target && !image:
				return 0
			}
		}
	}
	return 0
}

// wikiInner returns what is before the brackets that end a wikilink, in which other brackets come in pairs; "" if it
// is none.
func wikiInner(rest string) string {
	open := 0
	for i := 0; i < len(rest) && rest[i] != '\n'; i++ {
		switch {
		case rest[i] == '[':
			if open++; open > maxPairs {
				return ""
			}
		case rest[i] == ']' && open > 0:
			open--
		case strings.HasPrefix(rest[i:], "]]") && strings.TrimSpace(rest[:i]) != "":
			return rest[:i]
		case rest[i] == ']':
			return ""
		}
	}
	return ""
}

// wikilink reads a link [[inner]]. Some programs escape its target like an address, and Dendron names the vault.
func wikilink(inner string) Link {
	target, shown, _ := strings.Cut(strings.Replace(inner, `\|`, "|", 1), "|")
	name, heading, _ := strings.Cut(target, "#")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	if below, ok := strings.CutPrefix(name, "dendron://"); ok {
		_, name, _ = strings.Cut(below, "/")
	}
	return Link{
		Target: strings.TrimSpace(name), Heading: strings.TrimSpace(heading),
		Text: strings.TrimSpace(shown), Wiki: true,
	}
}

// linkTarget parses the parentheses of a link. size is their length including the
// closing one, or 0 if it is not a link.
func linkTarget(rest string) (target string, size int) {
	if strings.HasPrefix(rest, "<") {
		target, after, ok := strings.Cut(rest[1:], ">")
		closing := strings.IndexByte(after, ')')
		if !ok || closing < 0 || strings.Contains(target, "\n") {
			return "", 0
		}
		return target, 1 + len(target) + 1 + closing + 1
	}
	open := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				target, _, _ = strings.Cut(strings.TrimSpace(rest[:i]), " ") // omit the title, if any
				return target, i + 1
			}
		case '\n':
			return "", 0
		}
	}
	return "", 0
}

// noteLink returns a link to a note, or an empty Link for other targets. A target is a destination of CommonMark.
func noteLink(target string) Link {
	target = string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(target)))))
	if id, size := ReferredID(target); size > 0 && size == len(target) {
		return Link{Target: id}
	}
	// Joplin's way to name a note by its id, which is its file name
	address, err := url.Parse(strings.TrimPrefix(target, ":/"))
	if err != nil || address.Scheme != "" || address.Host != "" {
		return Link{}
	}
	name := address.Path
	if !IsNote(name) && (name == "" || extension.MatchString(name)) {
		return Link{}
	}
	return Link{Target: name, Heading: address.Fragment}
}

// definition matches a line that says where links by a label lead.
var definition = regexp.MustCompile(`^\[([^\[\]\n^][^\[\]\n]*)\]:[ \t]+(?:<([^<>\n]+)>|(\S+))[ \t]*(?:"[^"\n]*"|` +
	`'[^'\n]*'|\([^()\n]*\))?[ \t]*(?:\n|$)`)

// readDefinition parses [label]: target at i, the start of a line. end is as of [readLink].
func readDefinition(text string, i int) (link Link, spot linkSpot, end int) {
	m := definition.FindStringSubmatchIndex(text[i:min(len(text), i+maxLink)])
	if m == nil {
		return Link{}, linkSpot{}, 0
	}
	at := max(m[4], m[6])
	target := text[i+at : i+max(m[5], m[7])]
	link = noteLink(target)
	link.Text = text[i+m[2] : i+m[3]]
	return link, addressSpot(target, i+at), i + len(strings.TrimRight(text[i:i+m[1]], "\n"))
}

// extension matches the name of a file of another kind: "v1.2 plan" has no extension.
var extension = regexp.MustCompile(`\.[0-9]*[A-Za-z][A-Za-z0-9]*$`)

// readTag parses a #tag at i. It returns "" if there is none, and the offset at
// which to continue. A tag follows white space or an opening bracket and has at
// least one character that is not a digit.
func readTag(text string, start, i int) (tag string, end int) {
	end = i + 1
	if !opensTag(text, start, i) {
		return "", end
	}
	onlyDigits := true
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !isTagRune(r) {
			break
		}
		onlyDigits = onlyDigits && unicode.IsDigit(r)
		end += size
	}
	if onlyDigits {
		return "", end
	}
	return strings.Trim(text[i+1:end], "/"), end
}

// opensTag reports whether the # at i starts a tag.
func opensTag(text string, start, i int) bool {
	if i < start || text[i] != '#' {
		return false
	}
	if i == start {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsSpace(before) || before == '(' && !strings.HasSuffix(text[:i], "](")
}

// isTagRune reports whether Obsidian allows r in tags: letters and digits of any
// script, _ - / and emoji.
func isTagRune(r rune) bool {
	return r == '_' || r == '-' || r == '/' || r == '\u200d' ||
		unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark, unicode.So, unicode.Sk) && r != '`' &&
			r != '^' && r != utf8.RuneError
}
