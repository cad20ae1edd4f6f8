package draw

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MarkdownStream is Markdown that is still arriving. A block is drawn once when the next one begins; the last
// one is drawn again with each call of [MarkdownStream.Lines]. What is drawn in the end does not depend on how
// the text was divided. It is not safe for concurrent use.
type MarkdownStream struct {
	source strings.Builder
	closed bool
	copied string

	doc    Document // what was read last
	lines  []string // drawn once
	read   int      // bytes of source before the list, code or other block that is open
	fences int      // blocks of fenced code before it
	parts  int      // of it that were drawn: items, pieces of code
}

// verdictSign precedes and follows a verdict in the source of a stream. It is a private character, and not
// part of what is written.
const verdictSign = "\U0010FFFD"

// withoutSigns returns text without the marks around verdicts.
func withoutSigns(text string) string { return strings.ReplaceAll(text, verdictSign, "") }

// NewMarkdownStream returns an empty stream. Code has a label with its number for copying, such as "/copy %d";
// "" for none.
func NewMarkdownStream(copied string) *MarkdownStream { return &MarkdownStream{copied: copied} }

// Write appends untrusted text, which may end anywhere, even inside a character.
func (s *MarkdownStream) Write(text string) { s.source.WriteString(withoutSigns(text)) }

// Verdict appends a verdict on the citation before it.
func (s *MarkdownStream) Verdict(kind Verdict, text string) {
	s.source.WriteString(verdictSign + string(rune('0'+kind)) + literalMarkdown.Replace(text) + verdictSign)
}

// literalMarkdown escapes Markdown.
var literalMarkdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`,
	"#", `\#`, "|", `\|`, "~", `\~`, "$", `\$`, "!", `\!`,
)

// Close marks the text as complete.
func (s *MarkdownStream) Close() { s.closed = true }

// Lines returns the lines drawn at a width. They are valid until the next call.
func (s *MarkdownStream) Lines(width int, theme *Theme) []string {
	d := &s.doc
	if d.width != width || d.theme != theme {
		s.read, s.parts, s.fences, s.lines = 0, 0, 0, nil
		d.width, d.theme, d.answer, d.copied = width, theme, true, s.copied
	}
	source := s.source.String()
	d.blocks, d.fences = nil, s.fences
	if !d.readBody(cleaned(s.complete(source[s.read:])), 1) {
		s.parts = 0 // rather draw something twice
	}
	if len(d.blocks) == 0 {
		return s.lines
	}
	d.blocks[0].tight = !strings.HasSuffix(strings.TrimRight(source[:s.read], " \t\r"), "\n\n")

	last := len(d.blocks) - 1
	for _, b := range d.blocks[min(s.parts, last):last] {
		s.lines = append(s.lines, s.rows(b)...)
	}
	open := d.blocks[last]
	s.parts, s.fences = 0, open.before
	for s.parts < last && d.blocks[last-s.parts-1].node == open.node {
		s.parts++
	}
	for range open.node - 1 {
		s.read += strings.IndexByte(source[s.read:], '\n') + 1
	}
	if open.open = !s.closed; open.open {
		open.fence.last = false
	}
	return append(s.lines[:len(s.lines):len(s.lines)], s.rows(open)...)
}

// complete returns text without what may change its meaning when more arrives: the rest of a character,
// and a last line that has no letter yet, or begins like code or a formula.
func (s *MarkdownStream) complete(text string) string {
	if s.closed {
		return text
	}
	last := strings.LastIndexByte(text, '\n') + 1
	if strings.IndexFunc(text[last:], unicode.IsLetter) < 0 || openingFence.MatchString(text[last:]) {
		return text[:last]
	}
	for end := max(0, len(text)-utf8.UTFMax); end < len(text); end++ {
		if utf8.RuneStart(text[end]) && !utf8.FullRuneInString(text[end:]) {
			return text[:end]
		}
	}
	return text
}

// openingFence matches a line that opens code or a formula, unless the rest of it says otherwise.
var openingFence = regexp.MustCompile("^ *(?:```|~~~|[$][$]|[\\\\]\\[)")

// rows draws a block, below a blank row if there is one in the source.
func (s *MarkdownStream) rows(b block) []string {
	rows := s.doc.draw(b, -1, s.doc.width).Rows
	if !b.tight && len(s.lines) > 0 {
		return append([]string{""}, rows...)
	}
	return rows
}
