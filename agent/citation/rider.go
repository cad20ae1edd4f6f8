package citation

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
)

// layout is the structure of a passage, used to find what a quotation is in.
type layout struct {
	blocks []text.Block
	struck []text.Span // ~~words~~
	hidden []text.Span // comments
}

var (
	struckText  = regexp.MustCompile(`(?s)~~.+?~~|(?i:<(?:del|s|strike)>.*?</(?:del|s|strike)>)`)
	commentText = regexp.MustCompile(`(?s)<!--.*?(?:-->|\z)|%%.*?%%`)
	headingLine = regexp.MustCompile(`^(?: {0,3}#{1,6}|\*+)\s`)
	taskState   = regexp.MustCompile(`^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+(?:\[(.)\]\s)?\s*|\*+\s+)?(?:(` +
		text.TaskStates + `)\b)?`)
	// callouts of the note's author; !quote and !cite are quotations
	callout = regexp.MustCompile(`^[>\s]*\[!(?:[^qc\]]|question|c[^i\]])`)
	// disowned matches a heading of what is rejected or a draft.
	disowned = regexp.MustCompile(`(?i)(?:^|\PL)(?:rejected|drafts?|abgelehnt|verworfen|entwurf|entwürfe|brouillons?|` +
		`rejeté\pL*|borrador\pL*|rechazad\pL*)(?:\PL|$)|拒绝|草稿`)
)

func (p *passage) structure() *layout {
	if p.layout == nil {
		spans := func(matches [][]int) (list []text.Span) {
			for _, at := range matches {
				list = append(list, text.Span{Start: at[0], End: at[1]})
			}
			return list
		}
		p.layout = &layout{
			text.Parts(p.text), spans(struckText.FindAllStringIndex(p.text, -1)),
			spans(commentText.FindAllStringIndex(p.text, -1)),
		}
	}
	return p.layout
}

// rider says what the note marks the quoted words as: struck out, commented
// out, an open task, a quotation, under a heading of what is rejected or a
// draft; "" if nothing. The words around them are not judged.
func (f found) rider() string {
	p := f.passage
	l := p.structure()
	start, end := p.words[f.runs[0].first].Token.Start, p.words[f.runs[len(f.runs)-1].last-1].Token.End
	var list []string
	if overlaps(l.struck, start, end) {
		list = append(list, "struck out")
	}
	if overlaps(l.hidden, start, end) {
		list = append(list, "commented out")
	}
	first := p.sentences[p.within[f.runs[0].first]]
	if own := slices.IndexFunc(l.blocks, func(b text.Block) bool { return b.End > first.Start }); own >= 0 {
		if state := p.state(own, start); state != "" {
			list = append(list, state)
		}
		if heading := p.under(own); heading != "" {
			list = append(list, "under “"+text.Cut(heading, 60)+"”")
		}
		if l.blocks[own].Kind == text.QuoteBlock && !callout.MatchString(p.of(own)) {
			list = append(list, "in a quotation")
		}
	}
	return strings.Join(list, " · ")
}

func overlaps(spans []text.Span, start, end int) bool {
	return slices.ContainsFunc(spans, func(s text.Span) bool { return s.Start < end && start < s.End })
}

// state describes the state of the task in block own, or of the line at an
// offset of it; "" if it is done or not a task.
func (p *passage) state(own, at int) string {
	b := p.structure().blocks[own]
	line, _, _ := strings.Cut(p.text[strings.LastIndexByte(p.text[:at], '\n')+1:], "\n")
	switch state := stateOf(p.of(own)); {
	case b.Kind == text.CodeBlock:
		return ""
	case b.Kind == text.QuoteBlock, state == "":
		return stateOf(strings.TrimLeft(line, "> "))
	default:
		return state
	}
}

func stateOf(block string) string {
	m := taskState.FindStringSubmatch(block)
	switch box, word := m[1], m[2]; {
	case box == "" && word == "", strings.EqualFold(box, "x"), word == "DONE":
		return ""
	case box == "-", strings.HasPrefix(word, "CANCEL"):
		return "cancelled task"
	case box == " ", box == "":
		return "open task"
	default:
		return "task marked [" + box + "]"
	}
}

// under returns the nearest heading of any level above a block that says that
// what is under it is rejected or a draft; "" if there is none.
func (p *passage) under(own int) string {
	const none = 7 // deeper than any heading
	level := cmp.Or(levelOf(p.of(own)), none)
	for i := own - 1; i >= 0; i-- {
		if n := levelOf(p.of(i)); n > 0 && n < level && p.structure().blocks[i].Kind.Prose() {
			if level = n; disowned.MatchString(p.of(i)) {
				heading := p.of(i)
				return strings.Trim(inlineMarks.ReplaceAllString(heading[len(lineMarks.FindString(heading)):], ""),
					":： \r")
			}
		}
	}
	if level < none {
		return ""
	}
	above := strings.Split(p.source.Heading, " › ") // outside the passage
	return append(slices.DeleteFunc(above, func(heading string) bool { return !disowned.MatchString(heading) }), "")[0]
}

// of returns the text of a block.
func (p *passage) of(block int) string {
	b := p.structure().blocks[block]
	return p.text[b.Start:b.End]
}

// levelOf returns the level of a heading; 0 if the line is not one.
func levelOf(line string) int { return len(strings.TrimSpace(headingLine.FindString(line))) }
