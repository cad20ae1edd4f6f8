package passages

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"lifehub/agent"
	"lifehub/internal/text"
)

const (
	maxShown  = 480     // bytes of one block
	maxResult = 8 << 10 // bytes of a tool's text in an answer
)

var (
	itemMark   = regexp.MustCompile(`^(?:[-*+]\s+|(\d{1,3}[.)]\s+))`)
	bulletMark = regexp.MustCompile(`^[-*+]\s`)
	quoteMark  = regexp.MustCompile(`(?m)^\s*(?:>\s*)+(?:\[![\w-]+\][-+]?\s*)?`)
	blockMark  = regexp.MustCompile(`^(?:#{1,6}\s|[-*+]\s|>|\||={3,})`)
)

// blockMarkdown formats a block as a quotation, the text of which ends at byte
// end; "" if it contains no word. nested means that its parent was just written, item that
// it is an item of a list.
func blockMarkdown(b agent.Block, heading string, nested, item bool) (md string, end int) {
	if heading = Inline(heading, nil); heading != "" {
		heading = "*" + strings.ReplaceAll(heading, "*", "") + "* · "
	}
	body, above, after := strings.TrimSpace(quoteMark.ReplaceAllString(b.Source.Text, "")), "", ""
	switch {
	case b.Code:
		body, after = b.Lead, "\n\n"+fenced(b.Source.Text)
	case strings.HasPrefix(body, "|"):
		body = rowText(b.Lead, body)
	case b.Lead != "":
		above = Inline(itemMark.ReplaceAllString(b.Lead, ""), b.Words)
	}
	if body = Inline(itemMark.ReplaceAllString(body, "$1"), b.Words); body == "" && after == "" {
		return "", 0
	}
	if heading == "" || above != "" { // it starts the line
		body = blockMark.ReplaceAllString(body, `\$0`)
	}
	switch {
	case above == "" && item && heading == "":
		md = "- " + body
	case above == "":
		md = heading + body
	case nested:
		md = "- " + body
	default:
		md = heading + above + "\n- " + body
	}
	md = quoted(md)
	return md + strings.TrimPrefix(quoted(after), ">"), len(md)
}

// quoted returns text as a Markdown quotation.
func quoted(md string) string {
	lines := strings.Split(md, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return strings.Join(lines, "\n")
}

// rowText formats a table row, with the column name before each cell.
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

// ownCitation matches a number in brackets that would be mistaken for a citation, and a wikilink, which would not.
var ownCitation = regexp.MustCompile(`\[\[[^\[\]\n]*\]\]\(?|` + markText)

// noSource matches what no source is called: a number as large as that of a year, in a date too.
var noSource = regexp.MustCompile(`\b[1-9]\d{3}`)

// disarmed puts the numbers of what would be mistaken for citations in parentheses.
func disarmed(s string) string {
	return ownCitation.ReplaceAllStringFunc(s, func(mark string) string {
		switch link := strings.HasPrefix(mark, "[["); {
		case noSource.MatchString(text.CitationNumbers.FindString(mark)), link && !strings.HasSuffix(mark, "("):
			return mark
		case link:
			return "[" + disarmed(mark[1:len(mark)-2]) + "]("
		}
		return citationText.ReplaceAllString(mark, "($1$2)")
	})
}

var citationText = regexp.MustCompile(markText)

// markText matches the forms of a citation: [1], [1, 2], 【1】 or 【1†line 3】.
const markText = `[\[【]\s*\^?(\d+(?:\s*[,;–-]\s*\d+)*)\s*[\]】]|【(\d+)[^】\n]*】`

// unsafe matches markup that must not be copied: images, HTML, and the start of
// code or formulas.
var unsafe = regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\))?|<[!/?a-zA-Z][^>]*>?|\x60{2,}|\${2,}|~{3,}`)

// Inline formats text of a note as one line of Markdown that cannot affect its
// surroundings, with words in bold; "" if it contains no letter or digit.
func Inline(s string, words []string) string {
	s = disarmed(text.Cut(s, 4*maxShown))
	s = strings.ReplaceAll(s, "![[", "[[") // what is embedded is linked
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

// protected matches the parts of a line in which nothing is highlighted.
var protected = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|\\[\\[[^\\]]*\\]\\]|https?://\\S+|\\*+[^*]+\\*+|" +
	"__[^_]+__|\\$[^$]+\\$")

// highlight makes words of a line bold, unless that would break other markup.
func highlight(s string, words []string) string {
	if strings.Contains(protected.ReplaceAllString(s, ""), "*") {
		return s
	}
	bold := make([]bool, len(s)+1) // by byte
	for _, word := range words {
		for at := 0; word != ""; {
			i := strings.Index(s[at:], word)
			if i < 0 {
				break
			}
			from := at + i
			if at = from + len(word); text.WholeWords(s, from, at) {
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

// code formats a name as inline code.
func code(name string) string {
	return "`" + strings.ReplaceAll(text.OneLine(name), "`", "'") + "`"
}

// fenced formats text as a code block.
func fenced(code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + "\n" + text.Cut(code, 4*maxShown) + "\n" + fence
}

// Tell says how a call of a tool ended. number is the citation number of its result; 0 if it has none.
func Tell(tool string, status agent.Status, result string, number int) string {
	shown := plainBlock(result)
	if status == agent.Done {
		shown = disarmed(shown)
		if shown != "" && number > 0 {
			shown += fmt.Sprintf(" [%d]", number)
		}
		return shown
	}
	name, why := code(tool), strings.TrimRight(text.OneLine(shown), ". ")
	if own, declined := agent.DeclinedIn(status, why); declined {
		return "You declined " + name + own + "."
	}
	how := map[agent.Status]string{agent.Denied: " was not allowed to run", agent.Skipped: " was left out"}
	ended := name + cmp.Or(how[status], " did not work")
	if why != "" {
		ended += ": " + why
	}
	return ended + "."
}

// breaking matches the start of a block that would absorb or dominate the
// following text.
var breaking = regexp.MustCompile("(?m)^\\s*(#{1,6}\\s|```|~~~|<|={3,}\\s*$)")

// plainBlock escapes the text of a tool so that headings, fences and HTML
// become plain text. Lists remain.
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
