package offline

import (
	"strings"
	"unicode"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// segment is a sentence or a code block of a source.
type segment struct {
	text    string
	code    bool
	heading bool
	block   int // where its block begins
}

var (
	lineMarks = pattern.Lazy(`(?m)^\s*(?:>\s*)*`)
	itemMarks = pattern.Lazy(`^(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?:\[[ xX/-]\]\s+)?`)
	tableRule = pattern.Lazy(`^[\s|:\-]+$`)
)

// withoutFront is a note's text without the front matter at its head. Where
// that is never closed, it is the lines that read like it: settings, up to a
// heading or to a paragraph that is none.
func withoutFront(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	fence := strings.TrimSpace(strings.TrimPrefix(first, "\ufeff"))
	if fence != "---" && fence != "+++" || !setting.MatchString(rest) {
		return text
	}
	read, front, open, parted := 0, 0, true, false
	for line := range strings.Lines(rest) {
		read += len(line)
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == fence, trimmed == "..." && fence == "---":
			return rest[read:]
		case trimmed == "":
			parted = true
		case strings.HasPrefix(line, "# "), parted && !setting.MatchString(line):
			open = false
		case open:
			front = read
		}
	}
	return rest[front:]
}

// setting is the beginning of a line of front matter that sets something.
var setting = pattern.Lazy(`^\s*["']?[\pL_][\pL\pN_-]*["']?\s*[:=]`)

// segments cuts Markdown into what can be quoted: sentences without the marks
// of lists and headings, and code blocks.
func segments(md string) []segment {
	var out []segment
	for _, s := range text.Sentences(md) {
		found, last := segment{text: md[s.Start:s.End], block: s.Block.Start}, len(out)-1
		switch {
		case s.Kind == text.Code:
			if last >= 0 && out[last].block == found.block {
				continue
			}
			found.text, found.code = md[s.Block.Start:s.Block.End], true
		case tableRule.MatchString(found.text):
			if last >= 0 {
				out[last].heading = true // the head of a table
			}
			continue
		case strings.HasPrefix(found.text, "#") && strings.HasPrefix(strings.TrimLeft(found.text, "#"), " "):
			found.text, found.heading = strings.TrimSpace(strings.Trim(found.text, "#")), true
		default:
			found.text = lineMarks.ReplaceAllString(found.text, "")
			if s.Start == s.Block.Start {
				found.text = itemMarks.ReplaceAllString(found.text, "")
			}
			if head := strings.TrimLeft(found.text, "#"); head != found.text && strings.HasPrefix(head, " ") { // - ## in an outline
				found.text, found.heading = strings.TrimSpace(head), true
			}
			found.text = oneLine(found.text)
		}
		if found.text != "" {
			out = append(out, found)
		}
	}
	return out
}

// unsafe are the places where a quote would be read as something else: a
// citation, an image, HTML, code or a formula that begins and does not end.
var unsafe = pattern.Lazy(`!\[[^\]]*\](?:\([^)]*\))?|` + markText + `|<[!/?a-zA-Z][^>]*>?|\x60{2,}|\${2,}|~{3,}`)

// quotable is a sentence in one line that can be quoted word for word without
// breaking the Markdown around it: places that would are left out, with an
// ellipsis. It is "" when no word is left.
func quotable(sentence string) string {
	s := unsafe.ReplaceAllString(clipBytes(sentence, 4*maxQuote), " … ")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '“' || r == '”' || r == '„':
			return '"'
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	s = balance(oneLine(s))
	if len(s) > maxQuote {
		s = clipBytes(s, maxQuote)
		if i := strings.LastIndexByte(s, ' '); i > maxQuote/2 {
			s = s[:i]
		}
		s = balance(strings.TrimRight(s, " ,;:")) + " …"
	}
	s = strings.TrimPrefix(strings.Trim(s, " |\\"), "… ")
	if !hasWords(s) {
		return ""
	}
	return s
}

// balance makes single quotation marks of double ones when one of them opens
// and never closes.
func balance(s string) string {
	if strings.Count(s, `"`)%2 == 1 {
		return strings.ReplaceAll(s, `"`, "'")
	}
	return s
}

// fenced is code between fences that it cannot close, shortened to a screen.
func fenced(code string) string {
	lines := strings.Split(code, "\n")
	if len(lines) > maxCodeLines {
		lines = append(lines[:maxCodeLines], "…")
	}
	code = clipBytes(strings.Join(lines, "\n"), 4*maxQuote)
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + "\n" + code + "\n" + fence
}

// blockMarks begin a block that would swallow or outshout what follows.
var blockMarks = pattern.Lazy("(?m)^\\s*(#{1,6}\\s|```|~~~|<|={3,}\\s*$)")

// plainBlock is what a tool said, as Markdown that ends with it: lists stay,
// headings, fences and HTML become text.
func plainBlock(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxResult {
		s = strings.TrimRight(clipBytes(s, maxResult), " \n") + " …"
	}
	return blockMarks.ReplaceAllStringFunc(s, func(mark string) string {
		trimmed := strings.TrimLeft(mark, " \t\n")
		return mark[:len(mark)-len(trimmed)] + "\\" + trimmed
	})
}
