package mcpserve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/agent/tools/describe"
	"lifehub/agent/work"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
	"lifehub/tui/safetext"
)

type checkArgs struct {
	Text string `json:"text" description:"the text to check, with its quotations and sources such as [running/plan.md:12]"`
}

// verdict is what became of one citation or quotation.
type verdict struct {
	Verdict   agent.Verdict `json:"verdict"`
	Text      string        `json:"text"`           // of the sentence or the quotation that was judged
	Path      string        `json:"path,omitempty"` // of the note
	Line      int           `json:"line,omitempty"` // where the words stand
	EndLine   int           `json:"end_line,omitempty"`
	Note      string        `json:"note_says,omitempty"`
	Detail    string        `json:"detail,omitempty"` // what differs
	Untrusted bool          `json:"untrusted,omitempty"`
}

const checkSchema = `{"type":"object","required":["verdicts"],"properties":{"verdicts":{"type":"array","items":{"type":"object","required":["verdict","text"],"properties":{
"verdict":{"type":"string","enum":["verified","cited","differs","not_found","stale"]},"text":{"type":"string","description":"what was judged"},
"path":{"type":"string"},"line":{"type":"integer"},"end_line":{"type":"integer"},"note_says":{"type":"string"},"detail":{"type":"string","description":"what differs"},
"untrusted":{"type":"boolean"}}}},"left_out":{"type":"integer","description":"further verdicts"}}}`

const (
	// maxVerdicts bounds the answer, and maxSearches the quotations without a
	// source that are looked for.
	maxVerdicts, maxSearches = 40, 20
)

// placeMarker is a source as programs write it: [running/plan.md:12-14], [plan.md],
// [paper.pdf p. 3].
var placeMarker = pattern.Lazy(`\[([^\[\]\n]{1,300}?\.(?:md|markdown|txt|org|pdf))(?:(?::|#L|, lines? | p\. ?)(\d{1,7})(?:[-–]L?(\d{1,7}))?)?\]`)

// cited is a place that the text names as a source.
type cited struct {
	name      string
	line, end int // 0: not said
}

// checkCitations is the tool of that name.
func (s *notesServer) checkCitations() agent.Tool {
	return agent.NewTool(describe.Tool[checkArgs](descriptions, "check_citations"), agent.Auto, func(ctx context.Context, given checkArgs) (agent.Result, error) {
		var sources []agent.Source
		numbers := map[int]cited{} // of the sources that the text names
		checked := placeMarker.ReplaceAllStringFunc(given.Text, func(mark string) string {
			m := placeMarker.FindStringSubmatch(mark)
			place := cited{name: m[1]}
			place.line, _ = strconv.Atoi(m[2]) // their digits are bounded
			place.end, _ = strconv.Atoi(cmp.Or(m[3], m[2]))
			source, err := s.wholeNote(ctx, place.name)
			if err != nil {
				source = agent.Source{Path: place.name}
			}
			sources = append(sources, source)
			numbers[len(sources)] = place
			return fmt.Sprintf("[%d]", len(sources))
		})
		named := len(sources)
		quotes := quotedIn(checked)
		for _, words := range quotes {
			plain := strings.NewReplacer(":", " ", `"`, " ", ">", " ").Replace(words) // no filter, and no words that must stand there
			input, err := json.Marshal(map[string]any{"query": plain, "limit": 3})
			if err != nil {
				return agent.Result{}, err
			}
			found, err := s.run(ctx, s.served[agent.SearchNotes], input)
			if err != nil {
				return agent.Result{}, err
			}
			for _, source := range found.Result.Sources { // none of a search that failed: of signs only, or forbidden
				if !slices.ContainsFunc(sources, func(o agent.Source) bool {
					return o.Path == source.Path && o.Vault == source.Vault && o.Line <= source.Line && o.EndLine >= source.EndLine
				}) {
					sources = append(sources, source)
				}
			}
		}
		var list []verdict
		used := agent.Result{}
		for _, c := range citation.Check(checked, sources, nil) {
			v := verdict{Verdict: c.Verdict, Text: clip(cmp.Or(c.Words, c.Sentence)), Path: c.Path, Line: c.Line, EndLine: c.EndLine, Note: clip(c.Quote), Detail: cmp.Or(c.Detail, c.Context)}
			place, isNamed := numbers[c.N]
			switch {
			case c.N < 1 || c.N > len(sources):
				v.Path, v.Line, v.EndLine = "", 0, 0
			case isNamed && sources[c.N-1].Line == 0:
				v = verdict{Verdict: agent.NotFound, Text: v.Text, Path: place.name, Detail: "there is no such note"}
			default:
				if place.line > 0 && v.Verdict != agent.NotFound && v.Note != "" && (v.EndLine < place.line || v.Line > place.end) {
					v.Detail = strings.TrimPrefix(v.Detail+fmt.Sprintf("; it is on line %d, not %d", v.Line, place.line), "; ")
				}
				v.Untrusted = sources[c.N-1].Untrusted
				used.Sources = append(used.Sources, sources[c.N-1])
			}
			list = append(list, v)
		}
		for _, words := range quotes { // those that nothing speaks for: whether the notes are meant is not known
			if !slices.ContainsFunc(list, func(v verdict) bool { return strings.Contains(v.Text, words) || strings.Contains(words, v.Text) }) {
				list = append(list, verdict{Verdict: agent.NotFound, Text: words})
			}
		}
		if named == 0 && len(list) == 0 {
			return agent.Result{}, fmt.Errorf("nothing to check: the text has no quotation of four words or more, and no source such as [running/plan.md:12]")
		}
		for i := range list {
			v := &list[i]
			v.Text, v.Path, v.Note, v.Detail = safetext.Visible(v.Text), safetext.Visible(v.Path), safetext.Visible(v.Note), safetext.Visible(v.Detail)
		}
		for kept := min(len(list), maxVerdicts); ; kept-- { // as many as a call may bring
			raw, err := json.Marshal(struct {
				Verdicts []verdict `json:"verdicts"`
				LeftOut  int       `json:"left_out,omitempty"`
			}{append([]verdict{}, list[:kept]...), len(list) - kept})
			if used.Text = string(raw); err != nil || len(raw) <= work.MaxResult || kept == 0 {
				return used, err
			}
		}
	})
}

// quotedIn lists the quotations of a text that are long enough to be judged.
func quotedIn(checked string) (list []string) {
	for _, b := range text.Blocks(checked) {
		quotes := text.Quotations(checked, b)
		if b.Kind == text.Quoted {
			quotes = []text.Span{{Start: b.Start, End: b.End}}
		}
		for _, q := range quotes {
			if words := checked[q.Start:q.End]; len(list) < maxSearches && len(strings.Fields(words)) > 3 {
				list = append(list, clip(strings.Trim(words, "\"“”„«»「」『』‹›‘’")))
			}
		}
	}
	return list
}

// clip bounds a text of an answer.
func clip(s string) string { return text.Clip(text.OneLine(s), 300) }
