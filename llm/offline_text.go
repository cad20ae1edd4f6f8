package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/pattern"
)

// sentences cuts a paragraph at the marks that end a sentence, except within
// quotation marks.
func sentences(text string) (found []string) {
	start, quoted := 0, false
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
		case r == '"':
			quoted = !quoted
		case r == '“' || r == '„':
			quoted = true
		case r == '”':
			quoted = false
		case !quoted && (strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && endsSentence(text[start:i], text[next:], r)):
			found = append(found, strings.TrimSpace(text[start:next]))
			start = next
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		found = append(found, rest)
	}
	return found
}

// endsSentence reports whether the mark between two texts ends a sentence:
// white space follows, and no abbreviation or number of a list is before it.
func endsSentence(before, after string, mark rune) bool {
	rest := strings.TrimLeftFunc(after, unicode.IsSpace)
	if rest == "" || rest == after || mark != '.' {
		return rest == "" || rest != after
	}
	word := before[strings.LastIndexAny(before, " \t(")+1:]
	switch strings.ToLower(word) {
	case "dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc", "approx", "no", "nr", "ca", "bzw", "usw":
		return false
	}
	if strings.Trim(word, "0123456789") == "" { // a year may end one
		r, _ := utf8.DecodeRuneInString(rest)
		return len(word) > 2 && unicode.IsUpper(r)
	}
	return utf8.RuneCountInString(word) > 1 && !strings.Contains(word, ".") // z.B.
}

// segment is a sentence or a code block of a source.
type segment struct {
	text    string
	code    bool
	heading bool
	line    int
}

var (
	lineMarks = pattern.Lazy(`^\s*(?:>\s*)*(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?:\[[ xX/-]\]\s+)?`)
	ruleLine  = pattern.Lazy(`^\s*(?:[-*_=]\s*){3,}$|^[\s|:\-]+$`)
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
// of lists and headings, and code blocks. Lines of one paragraph are joined.
func segments(text string) []segment {
	var out []segment
	var paragraph []string
	begun := 0
	flush := func() {
		for _, s := range sentences(strings.Join(paragraph, " ")) {
			out = append(out, segment{text: s, line: begun})
		}
		paragraph = nil
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			flush()
			mark := trimmed[:3]
			var code []string
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), mark); i++ {
				code = append(code, strings.TrimRight(lines[i], " \t\r"))
			}
			if body := strings.Trim(strings.Join(code, "\n"), "\n"); body != "" {
				out = append(out, segment{text: body, code: true, line: i})
			}
		case trimmed == "" || ruleLine.MatchString(line):
			flush()
			if n := len(out) - 1; n >= 0 && strings.Contains(line, "|") && out[n].line == i-1 {
				out[n].heading = true // the head of a table
			}
		case strings.HasPrefix(trimmed, "#") && strings.HasPrefix(strings.TrimLeft(trimmed, "#"), " "):
			flush()
			out = append(out, segment{text: strings.TrimSpace(strings.Trim(trimmed, "#")), heading: true, line: i})
		default:
			if mark := lineMarks.FindString(line); strings.TrimSpace(mark) != "" || strings.HasPrefix(trimmed, "|") {
				flush() // a list item or a table row is a paragraph of its own
				line = line[len(mark):]
			}
			if len(paragraph) == 0 {
				begun = i
			}
			if line = strings.TrimSpace(line); line != "" {
				paragraph = append(paragraph, line)
			}
		}
	}
	flush()
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
