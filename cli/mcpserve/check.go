package mcpserve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/tui/safetext"
)

type checkArgs struct {
	Text string `json:"text" description:"the text to check, with its quotations and sources such as [running/plan.md:12]"`
}

// Verdict is the result of checking one citation or quotation.
type Verdict struct {
	Verdict   agent.Verdict `json:"verdict"`
	Text      string        `json:"text"`           // sentence or quotation that was checked
	Path      string        `json:"path,omitempty"` // the note's
	Line      int           `json:"line,omitempty"` // where the note has the words
	EndLine   int           `json:"end_line,omitempty"`
	Note      string        `json:"note_says,omitempty"`
	Context   string        `json:"context,omitempty"` // what the note marks the words as, such as "struck out"
	Detail    string        `json:"detail,omitempty"`
	Untrusted bool          `json:"untrusted,omitempty"`
}

const checkSchema = `{"type":"object","required":["verdicts"],"properties":{"verdicts":{"type":"array","items":{"type":"object","required":["verdict","text"],"properties":{
"verdict":{"type":"string","enum":["verified","cited","not_found","stale"]},"text":{"type":"string","description":"what was judged"},
"path":{"type":"string"},"line":{"type":"integer"},"end_line":{"type":"integer"},"note_says":{"type":"string"},"context":{"type":"string","description":"of verified: what the note marks the words as, such as struck out"},"detail":{"type":"string"},
"untrusted":{"type":"boolean"}}}},"left_out":{"type":"integer","description":"further verdicts"}}}`

// limits bound one check.
type limits struct {
	verdicts, searches int // verdicts, and the quotations without a source that are searched for
	text, sources      int // bytes of the text, and the sources it names
	// opened bounds the text of the named notes, in bytes, and compared the text compared for all
	// sources together, which takes 0.1 s per MiB.
	opened, compared int
}

var (
	ofCall = limits{verdicts: 40, searches: 20, text: 64 << 10, sources: 100, opened: 4 << 20, compared: 16 << 20}
	ofFile = limits{
		verdicts: math.MaxInt, searches: math.MaxInt, text: 8 << 20, sources: 10_000,
		opened: 256 << 20, compared: 1 << 30,
	}
)

// placeMarker matches a source as programs write it: [running/plan.md:12-14], [plan.md], [paper.pdf
// p. 3].
var placeMarker = regexp.MustCompile(`\[([^\[\]\n]{1,300}?\.\pL[\pL\d]{1,9})(?:(?::|#L|, lines? | p\. ?)(\d{1,` +
	`7})(?:[-–]L?(\d{1,7}))?)?\]`)

// cited is a source that the text names.
type cited struct {
	name      string
	line, end int // 0 if not given
}

// Checked is what check_citations returns.
type Checked struct {
	Verdicts []Verdict `json:"verdicts"`
	LeftOut  int       `json:"left_out,omitempty"`
}

// ErrNothing reports a text without anything to check.
var ErrNothing = errors.New("nothing to check: the text has no quotation of four words or more, and no source such " +
	"as [running/plan.md:12]")

// checkCitations returns the tool check_citations.
func (s *notesServer) checkCitations() agent.Tool {
	spec := agent.DescribeTool[checkArgs](descriptions, "check_citations")
	return agent.NewTool(spec, agent.Auto, func(ctx context.Context, given checkArgs) (agent.Result, error) {
		found, used, err := s.check(ctx, given.Text, ofCall)
		if err != nil {
			return agent.Result{}, err
		}
		all := found.Verdicts
		for count := min(len(all), ofCall.verdicts); ; count-- { // as many as fit into a result
			raw, err := json.Marshal(Checked{all[:count], len(all) - count + found.LeftOut})
			if used.Text = string(raw); err != nil || len(raw) <= turn.MaxResult || count == 0 {
				return used, err
			}
		}
	})
}

// Check judges the citations and quotations of a text against the notes that it names, as the tool
// check_citations does, but leaves none out. The error is ErrNothing if there are none.
func Check(ctx context.Context, a *app.App, text string) (Checked, error) {
	found, _, err := newReader(a).check(ctx, text, ofFile)
	return found, err
}

// onDisk reads the notes of sources again for one check.
type onDisk struct {
	ctx    context.Context
	reader *reader
}

func (d onDisk) Reread(source agent.Source) (string, bool) {
	if source.Line == 0 || agent.IsPaged(source.Path) { // the note does not exist, or a page counts as one line
		return source.Text, true
	}
	note, err := d.reader.wholeNote(d.ctx, source.Path)
	return note.Text, err == nil
}

// check judges the citations and quotations of a text within limits. The result has the sources that
// the verdicts are on.
func (s *reader) check(ctx context.Context, given string, most limits) (found Checked, used agent.Result, err error) {
	checked, named := citedIn(given)
	if len(given) > most.text || len(named) > most.sources {
		return Checked{}, used, fmt.Errorf("the text has %d KiB and names %d sources: check at most %d KiB with %d "+
			"sources at a time",
			len(given)>>10, len(named), most.text>>10, most.sources)
	}
	sources, err := s.citedNotes(ctx, named, most)
	if err != nil {
		return Checked{}, used, err
	}
	quotes := quotedIn(checked)
	leftOut := quotes[min(len(quotes), most.searches):]
	quotes = quotes[:len(quotes)-len(leftOut)]
	for _, words := range quotes {
		plain := strings.NewReplacer(":", " ", `"`, " ", ">", " ").Replace(words) // remove filters and exact phrases
		input, err := json.Marshal(map[string]any{"query": plain, "limit": 3})
		if err != nil {
			return Checked{}, used, err
		}
		near, err := s.run(ctx, s.served[agent.SearchNotes], input)
		if err != nil {
			return Checked{}, used, err
		}
		// none if the search failed, because the query has no words or is forbidden
		for _, source := range near.Result.Sources {
			if !slices.ContainsFunc(sources, func(o agent.Source) bool {
				sameNote := o.Path == source.Path && o.Vault == source.Vault
				return sameNote && o.Line <= source.Line && o.EndLine >= source.EndLine
			}) {
				sources = append(sources, source)
			}
		}
	}
	list, unchecked := []Verdict{}, map[string]bool{}
	var paths []string // by numbers, which the client does not know
	for i, source := range sources {
		paths = append(paths, fmt.Sprintf("[%d]", i+1), source.Path)
	}
	inWords := strings.NewReplacer(paths...)
	citations, more := citation.CheckFirst(ctx, checked, sources, onDisk{ctx, s}, most.verdicts)
	for _, c := range citations {
		v := Verdict{
			Verdict: c.Verdict, Text: clip(cmp.Or(c.Words, c.Sentence)),
			Path: c.Path, Line: c.Line, EndLine: c.EndLine, Note: clip(c.Quote),
			Context: clip(c.Context), Detail: inWords.Replace(c.Detail),
		}
		switch {
		case c.N < 1 && slices.ContainsFunc(leftOut, v.isOn):
			unchecked[v.Text] = true
			continue
		case c.N < 1 || c.N > len(sources):
			v.Path, v.Line, v.EndLine = "", 0, 0
		case c.N <= len(named) && sources[c.N-1].Line == 0:
			v = Verdict{Verdict: agent.NotFound, Text: v.Text, Path: named[c.N-1].name, Detail: "no such note"}
		default:
			var place cited
			if c.N <= len(named) {
				place = named[c.N-1]
			}
			elsewhere := place.line > 0 && (v.EndLine < place.line || v.Line > place.end)
			if elsewhere && v.Verdict != agent.NotFound && v.Note != "" {
				v.Detail = strings.TrimPrefix(v.Detail+fmt.Sprintf("; it is on line %d, not %d", v.Line, place.line),
					"; ")
			}
			v.Untrusted = sources[c.N-1].Untrusted
			used.Sources = append(used.Sources, sources[c.N-1])
		}
		list = append(list, v)
	}
	for _, words := range quotes { // no verdict: it is unknown whether the quotation is from the notes
		if !slices.ContainsFunc(list, func(v Verdict) bool { return v.isOn(words) }) {
			list = append(list, Verdict{Verdict: agent.NotFound, Text: words})
		}
	}
	for _, words := range leftOut {
		if !slices.ContainsFunc(list, func(v Verdict) bool { return v.isOn(words) }) {
			unchecked[words] = true
		}
	}
	for i := range list {
		v := &list[i]
		for _, shown := range []*string{&v.Text, &v.Path, &v.Note, &v.Context, &v.Detail} {
			*shown = safetext.Visible(*shown)
		}
	}
	if len(named) == 0 && len(list) == 0 {
		return Checked{}, used, ErrNothing
	}
	return Checked{list, more + len(unchecked)}, used, nil
}

// isOn reports whether the verdict is about a quotation or the sentence around it.
func (v Verdict) isOn(words string) bool {
	return strings.Contains(v.Text, words) || strings.Contains(words, v.Text)
}

// citedIn returns the sources that a text names, and the text with each replaced by its number.
func citedIn(given string) (checked string, named []cited) {
	checked = placeMarker.ReplaceAllStringFunc(given, func(mark string) string {
		m := placeMarker.FindStringSubmatch(mark)
		if !notes.IsNote(m[1]) {
			return mark
		}
		place := cited{name: m[1]}
		place.line, _ = strconv.Atoi(m[2]) // at most seven digits, so it cannot fail
		place.end, _ = strconv.Atoi(cmp.Or(m[3], m[2]))
		named = append(named, place)
		return fmt.Sprintf("[%d]", len(named))
	})
	return checked, named
}

// citedNotes reads the notes that a text names, each once. The Line of a source is 0 if the note
// does not exist.
func (s *reader) citedNotes(ctx context.Context, named []cited, most limits) (sources []agent.Source, err error) {
	known := map[string]agent.Source{}
	opened, compared := 0, 0
	for _, place := range named {
		source, ok := known[place.name]
		if !ok {
			if source, err = s.wholeNote(ctx, place.name); err != nil {
				source = agent.Source{Path: place.name}
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			known[place.name] = source
			opened += len(source.Text)
		}
		if compared += len(source.Text); opened > most.opened || compared > most.compared {
			return nil, fmt.Errorf("the notes that the text names are too long to be checked together: "+
				"check the text in parts, with up to %d MiB of notes each", most.opened>>20)
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// quotedIn returns the quotations of a text that are long enough to be checked.
func quotedIn(checked string) (list []string) {
	for _, b := range text.Parts(checked) {
		quotes := text.Quotations(checked, b)
		if b.Kind == text.QuoteBlock {
			quotes = []text.Span{{Start: b.Start, End: b.End}}
		}
		for _, q := range quotes {
			if words := checked[q.Start:q.End]; len(strings.Fields(words)) > 3 {
				list = append(list, clip(strings.Trim(words, "\"“”„«»「」『』‹›‘’")))
			}
		}
	}
	return list
}

// clip shortens a text of the answer.
func clip(s string) string { return text.Clip(text.OneLine(s), 300) }
