package turn

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

const (
	maxShown  = 480     // bytes of one block
	maxResult = 8 << 10 // bytes of a tool's text in an answer
)

var (
	itemMark  = pattern.Lazy(`^(?:[-*+]\s+|(\d{1,3}[.)]\s+))`)
	quoteMark = pattern.Lazy(`(?m)^\s*(?:>\s*)+(?:\[![\w-]+\][-+]?\s*)?`)
	blockMark = pattern.Lazy(`^(?:#{1,6}\s|[-*+]\s|>|\||={3,})`)
)

// blockMarkdown is a block as an item of a list, with its number, which ends at
// the byte end; "" where it holds no word. nested: without its parent, which is
// in the list already.
func blockMarkdown(b agent.Block, heading string, n int, nested bool) (md string, end int) {
	number := ""
	if n > 0 {
		number = fmt.Sprintf(" [%d]", n)
	}
	if heading = inline(heading, nil); heading != "" {
		heading = "*" + strings.ReplaceAll(heading, "*", "") + "* · "
	}
	body, above, after := strings.TrimSpace(quoteMark.ReplaceAllString(b.Source.Text, "")), "", ""
	switch {
	case b.Code:
		body, after = b.Lead, "\n\n  "+strings.ReplaceAll(fenced(b.Source.Text), "\n", "\n  ")
	case strings.HasPrefix(body, "|"):
		body = rowText(b.Lead, body)
	case b.Lead != "":
		above = inline(itemMark.ReplaceAllString(b.Lead, ""), b.Words)
	}
	if body = inline(itemMark.ReplaceAllString(body, "$1"), b.Words); body == "" && after == "" {
		return "", 0
	}
	if heading == "" || above != "" { // it begins the item
		body = blockMark.ReplaceAllString(body, `\$0`)
	}
	switch {
	case above == "":
		md = "- " + heading + body
	case nested:
		md = "  - " + body
	default:
		md = "- " + heading + above + "\n  - " + body
	}
	return md + number + after, len(md) + len(number)
}

// rowText is a row of a table, each cell with the name of its column.
func rowText(header, row string) string {
	names, cells := cellsOf(header), cellsOf(row)
	var parts []string
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		if i < len(names) && names[i] != "" {
			cell = names[i] + ": " + cell
		}
		parts = append(parts, cell)
	}
	return strings.Join(parts, " · ")
}

func cellsOf(row string) []string {
	row = strings.ReplaceAll(strings.Trim(strings.TrimSpace(row), "|"), `\|`, "\x00")
	cells := strings.Split(row, "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))
	}
	return cells
}

// ownCitation is a number in brackets of a note's own, or of a tool's, which
// would be read as a citation.
var ownCitation = pattern.Lazy(markText)

// markText matches what is read as a citation: [1], [1, 2], 【1】 or 【1†line 3】.
const markText = `[\[【]\s*\^?(\d+(?:\s*[,;–-]\s*\d+)*)\s*[\]】]|【(\d+)[^】\n]*】`

// unsafe are the places where a text would be read as something else: an
// image, HTML, code or a formula that begins and does not end.
var unsafe = pattern.Lazy(`!\[[^\]]*\](?:\([^)]*\))?|<[!/?a-zA-Z][^>]*>?|\x60{2,}|\${2,}|~{3,}`)

// inline is a text of a note in one line of Markdown that cannot break what is
// around it, with words in bold; "" when it holds no word.
func inline(s string, words []string) string {
	s = ownCitation.ReplaceAllString(text.Cut(s, 4*maxShown), "($1$2)")
	s = unsafe.ReplaceAllString(s, " … ")
	s = text.OneLine(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
	if len(s) > maxShown {
		s = strings.TrimSuffix(text.Cut(s, maxShown), "…")
		if i := strings.LastIndexByte(s, ' '); i > maxShown/2 {
			s = s[:i]
		}
		s = strings.TrimRight(s, " ,;:") + " …"
	}
	s = strings.TrimPrefix(strings.Trim(s, ` |\`), "… ")
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return ""
	}
	return highlight(s, words)
}

// protected are the parts of a line in which nothing is highlighted.
var protected = pattern.Lazy("`[^`]*`|\\]\\([^)]*\\)|\\[\\[[^\\]]*\\]\\]|https?://\\S+|\\*+[^*]+\\*+|__[^_]+__|\\$[^$]+\\$")

// highlight puts words of a line in bold, where that leaves its other marks as
// they are.
func highlight(s string, words []string) string {
	if strings.Contains(protected.ReplaceAllString(s, ""), "*") {
		return s
	}
	bold := make([]bool, len(s)+1) // by bytes
	for _, word := range words {
		for at := 0; word != ""; {
			i := strings.Index(s[at:], word)
			if i < 0 {
				break
			}
			from := at + i
			if at = from + len(word); isWhole(s, from, at) {
				for j := from; j < at; j++ {
					bold[j] = true
				}
			}
		}
	}
	for _, closed := range protected.FindAllStringIndex(s, -1) {
		clear(bold[closed[0]:closed[1]])
	}
	var out strings.Builder
	for i := range bold {
		if bold[i] != (i > 0 && bold[i-1]) {
			out.WriteString("**")
		}
		if i < len(s) {
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// isWhole reports whether a part of a line is a whole word.
func isWhole(s string, from, to int) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	first, _ := utf8.DecodeRuneInString(s[from:])
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return text.Unspaced(first) || !inWord(before) && !inWord(after)
}

// code is a name as inline code.
func code(name string) string {
	return "`" + strings.ReplaceAll(text.OneLine(name), "`", "'") + "`"
}

// fenced is code between fences that it cannot close.
func fenced(code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + "\n" + text.Cut(code, 4*maxShown) + "\n" + fence
}

// tell says how a step ended, in plain words.
func tell(tool string, status agent.Status, result string, n int) string {
	said := plainBlock(result)
	if status == agent.Done {
		said = ownCitation.ReplaceAllString(said, "($1$2)")
		if said != "" && n > 0 {
			said += fmt.Sprintf(" [%d]", n)
		}
		return said
	}
	name, why := code(tool), strings.TrimRight(text.OneLine(said), ". ")
	if own, declined := strings.CutPrefix(why, "the user said no"); declined && status == agent.Denied {
		return "You declined " + name + own + "."
	}
	how := map[agent.Status]string{agent.Denied: " was not allowed to run", agent.Skipped: " was left out"}
	ended := name + cmp.Or(how[status], " did not work")
	if why != "" {
		ended += ": " + why
	}
	return ended + "."
}

// breaking begin a block that would swallow or outshout what follows.
var breaking = pattern.Lazy("(?m)^\\s*(#{1,6}\\s|```|~~~|<|={3,}\\s*$)")

// plainBlock is what a tool said, as Markdown that ends with it: lists stay,
// headings, fences and HTML become text.
func plainBlock(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxResult {
		cut := s[:maxResult]
		cut = cut[:max(0, strings.LastIndexByte(cut, '\n'))]
		s = fmt.Sprintf("%s\n\n*%d more lines are not shown*", cut, strings.Count(s[len(cut):], "\n"))
	}
	return breaking.ReplaceAllStringFunc(s, func(mark string) string {
		trimmed := strings.TrimLeft(mark, " \t\n")
		return mark[:len(mark)-len(trimmed)] + `\` + trimmed
	})
}
