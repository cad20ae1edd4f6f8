package passage

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// Block is a part of a passage in a list of results: a paragraph, a list item, a row of a
// table, a property, or code.
type Block struct {
	Line, EndLine int    // in its note
	Heading       string // the path of headings above it
	Lead          string // its parent item, the header of its table, the sentence before its code; "": none
	Text          string // its lines, or some sentences of a long paragraph
	Code          bool
	Score         float64  // how well it fits the question
	Words         []string // its words that the question asks for
}

const (
	maxBlock     = 400 // bytes; a longer paragraph is divided between sentences
	maxCodeLines = 12  // of one block
	maxLead      = 120 // bytes of a paragraph that leads to a list
	wrapped      = 60  // bytes of a line in a text file that continues in the next
)

var (
	propertyLine = regexp.MustCompile(`^\s*(?:[-*+]\s+)?[\pL_][\pL\pN _-]{0,40}::(?:\s|$)`)
	taskHeading  = regexp.MustCompile(`^(?:` + text.TaskStates + `)\s`)
	frontField   = regexp.MustCompile(`^([^\s:=-][^:=]*?)\s*[:=]`)
	listMark     = regexp.MustCompile(`^(?:[-*+]|\d{1,3}[.)])\s+`)
)

// blockCutter divides a passage into blocks.
type blockCutter struct {
	blocks   []Block
	base     []string // headings above the passage
	headings []heading
	parents  []parent
	lead     string // the paragraph that ends right before, if it leads to what follows
	plain    bool   // a text file
}

// parent is a list item that may have nested items.
type parent struct {
	depth int
	text  string
}

// Blocks divides a passage of the note at a path into blocks. headings is its path of
// headings, and line the number of its first line.
func Blocks(note, md, headings string, line int) []Block {
	c := blockCutter{plain: strings.EqualFold(path.Ext(note), ".txt")}
	md, headings, added := Whole(dedented(md), headings)
	if headings != "" {
		c.base = strings.Split(headings, Separator)
	}
	end := 0 // of the block before
	for _, b := range text.Blocks(md) {
		if strings.Count(md[end:b.Start], "\n") > 2 {
			c.lead = ""
		}
		end = b.Start + len(strings.TrimRightFunc(md[b.Start:b.End], unicode.IsSpace))
		if end < b.Start || strings.Trim(md[b.Start:end], "-*_= \t\n") == "" {
			end = b.Start
			continue
		}
		from := b.Start + len(md[b.Start:end]) - len(strings.TrimLeft(md[b.Start:end], "\n"))
		start := line - added + strings.Count(md[:from], "\n")
		c.add(b, Block{Line: start, EndLine: start + strings.Count(md[from:end], "\n"), Text: md[from:end]})
	}
	return slices.DeleteFunc(c.blocks, func(b Block) bool { return b.Line < line })
}

// Whole returns a passage as Markdown that stands on its own: after the header of the table, or the line that
// opens the code, that it continues, and with its code closed. headings is its path of headings, which loses that
// header; above is how many lines were put before the passage.
func Whole(md, headings string) (whole, rest string, above int) {
	at := strings.LastIndex(headings, Separator)
	header := headings[max(0, at+len(Separator)*min(1, at+1)):]
	first, _, _ := strings.Cut(md, "\n")
	switch {
	case isFence(header):
		if marks := header[:strings.IndexAny(header, "`~")]; marks != "" &&
			!strings.HasPrefix(strings.TrimLeft(md, " \t"), ">") {
			md = marks + md // it begins within a line of a quotation
		}
		md, above = header+"\n"+md, 1
	case strings.Contains(header, "|") && strings.Contains(first, "|") && first != header:
		md, above = header+"\n|---|\n"+md, 2
	}
	if above > 0 {
		headings = headings[:max(0, at)]
	}
	return md + closing(md), headings, above
}

// isFence reports whether a line opens code, also in a quotation.
func isFence(line string) bool {
	line = strings.TrimLeft(line, "> \t")
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// closing returns the line that closes the code at the end of a text, "" if there is none or it is closed.
func closing(md string) string {
	if !strings.Contains(md, "```") && !strings.Contains(md, "~~~") {
		return ""
	}
	indent := md[:len(md)-len(strings.TrimLeft(md, " \t"))]
	md = dedented(md)
	all := text.Blocks(md)
	if len(all) == 0 || all[len(all)-1].Kind != text.CodeBlock || all[len(all)-1].Header == "" {
		return ""
	}
	lines := strings.Split(strings.TrimRight(md[all[len(all)-1].Start:], "\n"), "\n")
	opens := strings.TrimLeft(lines[0], "> \t")
	fence := opens[:len(opens)-len(strings.TrimLeft(opens, opens[:1]))]
	if last := strings.Trim(lines[len(lines)-1], "> \t"); len(lines) > 1 && strings.HasPrefix(last, fence) &&
		strings.Trim(last, fence) == "" {
		return ""
	}
	return "\n" + indent + lines[0][:len(lines[0])-len(opens)] + fence
}

// dedented removes the indentation of the first line from each line that has it, since
// a passage can begin within a list.
func dedented(md string) string {
	indent := md[:len(md)-len(strings.TrimLeft(md, " \t"))]
	if indent == "" {
		return md
	}
	lines := strings.Split(md, "\n")
	for i, line := range lines {
		same := 0
		for same < min(len(indent), len(line)) && line[same] == indent[same] {
			same++
		}
		lines[i] = line[same:]
	}
	return strings.Join(lines, "\n")
}

func (c *blockCutter) add(at text.Block, b Block) {
	bare := strings.TrimSpace(b.Text)
	b.Heading, b.Code = c.path(), at.Kind == text.CodeBlock
	mark := listMark.FindString(bare)
	head := strings.TrimLeft(bare[len(mark):], "#")
	switch {
	case b.Code:
		c.code(b, at.Header != "")
	case at.Level > 0 && head == bare: // it is underlined
		name, _, _ := strings.Cut(bare, "\n")
		c.enter(at.Level, plainHeading(name))
	case head != bare[len(mark):] && strings.HasPrefix(head, " "): // also of an item in an outline
		c.enter(len(bare)-len(mark)-len(head), plainHeading(head))
		if taskHeading.MatchString(strings.TrimSpace(head)) {
			b.Text = strings.TrimSpace(head)
			c.blocks = append(c.blocks, b)
		}
	case at.Kind == text.TableBlock:
		c.table(b, at.Header)
	case propertyLine.MatchString(b.Text), c.plain && !isWrapped(b.Text), strings.HasPrefix(bare, "|"):
		c.lines(b)
	case mark != "":
		c.item(b, at.Depth)
	default:
		if at.Depth == 0 {
			c.parents = c.parents[:0]
		} else if n := len(c.parents); n > 0 {
			b.Lead = c.parents[n-1].text
		}
		c.paragraph(b)
		c.lead = ""
		if strings.HasSuffix(bare, ":") && len(bare) <= maxLead {
			c.lead = bare
		}
	}
}

// enter begins a section.
func (c *blockCutter) enter(level int, name string) {
	for len(c.headings) > 0 && c.headings[len(c.headings)-1].level >= level {
		c.headings = c.headings[:len(c.headings)-1]
	}
	c.headings = append(c.headings, heading{level, Shorten(name, MaxHeading)})
	c.parents, c.lead = c.parents[:0], ""
}

// path returns the current path of headings: those above the passage, then those in it.
func (c *blockCutter) path() string {
	all := slices.Clone(c.base)
	for _, h := range c.headings {
		if !slices.Contains(c.base, h.text) {
			all = append(all, h.text)
		}
	}
	return strings.Join(all, Separator)
}

// code adds code in pieces, with the paragraph before it as lead.
func (c *blockCutter) code(b Block, fenced bool) {
	leadLine := 0
	if last := len(c.blocks) - 1; last >= 0 && c.blocks[last].leadsTo(b) {
		b.Lead, leadLine = c.blocks[last].Text, c.blocks[last].Line
		c.blocks = c.blocks[:last]
	}
	lines := strings.Split(b.Text, "\n")
	if fenced {
		fence, last := strings.TrimLeft(lines[0], "> \t")[:1], len(lines)-1
		if last > 0 && strings.Trim(lines[last], fence+"> \t") == "" {
			lines = lines[:last]
		}
		lines, b.Line = lines[1:], b.Line+1
	}
	for at := 0; at < len(lines); at += maxCodeLines {
		piece := b
		to := min(at+maxCodeLines, len(lines))
		piece.Line, piece.EndLine, piece.Text = b.Line+at, b.Line+to-1, strings.Join(lines[at:to], "\n")
		if at == 0 && b.Lead != "" {
			piece.Line = leadLine
		}
		c.blocks = append(c.blocks, piece)
	}
}

// leadsTo reports whether a block is the sentence above a block of code.
func (b Block) leadsTo(code Block) bool {
	return !b.Code && b.Lead == "" && b.Heading == code.Heading && b.EndLine >= code.Line-3
}

// table adds the rows of a table under the header of its columns.
func (c *blockCutter) table(b Block, header string) {
	rows := strings.Split(b.Text, "\n")
	header = piped(header)
	if len(rows) <= 2 {
		b.Text, b.EndLine = header, b.Line
		c.blocks = append(c.blocks, b)
		return
	}
	for i, row := range rows[2:] {
		one := b
		one.Line, one.EndLine, one.Text, one.Lead = b.Line+2+i, b.Line+2+i, piped(row), header
		c.blocks = append(c.blocks, one)
	}
}

// piped returns a row with the pipe at its start, which need not be written.
func piped(row string) string {
	if row = strings.TrimSpace(row); !strings.HasPrefix(row, "|") {
		row = "| " + row
	}
	return row
}

// lines adds each line as a block.
func (c *blockCutter) lines(b Block) {
	for i, line := range strings.Split(b.Text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			one := b
			one.Line, one.EndLine, one.Text = b.Line+i, b.Line+i, line
			c.blocks = append(c.blocks, one)
		}
	}
}

// item adds a list item under the one that it is nested in.
func (c *blockCutter) item(b Block, depth int) {
	for len(c.parents) > 0 && c.parents[len(c.parents)-1].depth >= depth {
		c.parents = c.parents[:len(c.parents)-1]
	}
	b.Lead = c.lead
	if len(c.parents) > 0 {
		b.Lead = c.parents[len(c.parents)-1].text
	}
	b.Text = strings.TrimSpace(b.Text)
	first, _, _ := strings.Cut(b.Text, "\n")
	c.parents = append(c.parents, parent{depth, Shorten(first, maxLead)})
	c.paragraph(b)
}

// paragraph adds a paragraph, a long one in pieces of whole sentences.
func (c *blockCutter) paragraph(b Block) {
	for rest := b.Text; strings.TrimSpace(rest) != ""; {
		size := pieceOf(rest)
		b.Text = strings.TrimRightFunc(rest[:size], unicode.IsSpace)
		b.EndLine = b.Line + strings.Count(b.Text, "\n")
		c.blocks = append(c.blocks, b)
		b.Line += strings.Count(rest[:size], "\n")
		rest = rest[size:]
	}
}

// pieceOf returns the length of the first sentences that fit into a block, or else of
// the first words or characters.
func pieceOf(s string) (size int) {
	if len(s) <= maxBlock {
		return len(s)
	}
	for at := 0; at < maxBlock; {
		at += max(1, text.SentenceEnd(s[at:maxBlock]))
		if at < maxBlock && s[at-1] != '\n' { // otherwise the sentence may continue
			size = at
		}
	}
	if size == 0 {
		size = strings.LastIndexAny(s[:maxBlock], " \n") + 1
	}
	if size == 0 {
		for size = maxBlock; size > 1 && !utf8.RuneStart(s[size]); size-- {
		}
	}
	return size
}

// isWrapped reports whether the lines of a text are one paragraph.
func isWrapped(s string) bool {
	first, _, more := strings.Cut(s, "\n")
	return more && len(first) > wrapped
}

// hidden are fields of front matter that are shown with a result already.
var hidden = map[string]bool{
	"title": true, "tags": true, "tag": true, "aliases": true, "alias": true, "date": true,
	"lang": true, "source": true,
}

// FrontBlocks divides front matter into its fields, each with the lines of its value. It
// returns nil for other text.
func FrontBlocks(front string) (fields []Block) {
	lines := strings.Split(strings.TrimSpace(front), "\n")
	if fence := strings.TrimSpace(lines[0]); len(lines) < 3 || fence != "---" && fence != "+++" ||
		strings.TrimSpace(lines[len(lines)-1]) != fence {
		return nil
	}
	skip := false
	for i, line := range lines[1 : len(lines)-1] {
		name, last := frontField.FindStringSubmatch(line), len(fields)-1
		switch {
		case name != nil:
			if skip = hidden[strings.ToLower(name[1])]; !skip {
				fields = append(fields, Block{Line: i + 2, EndLine: i + 2, Text: strings.TrimSpace(line)})
			}
		case !skip && last >= 0:
			fields[last].Text, fields[last].EndLine = fields[last].Text+" "+strings.TrimSpace(line), i+2
		}
	}
	return fields
}
