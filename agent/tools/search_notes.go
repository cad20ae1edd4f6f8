package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/tools/web"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag"
)

type searchArgs struct {
	Query  string `json:"query" description:"a few words as a note would have them, in a language of the notes"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"50"`
	Path   string `json:"path,omitempty" description:"folder or glob"`
	Tag    string `json:"tag,omitempty"`
	After  string `json:"after,omitempty"`
	Before string `json:"before,omitempty"`
}

// datedFilter matches what is meant as a date filter, even if its date is
// invalid.
var datedFilter = regexp.MustCompile(`(?i)\b(?:after|before):"?\d`)

const (
	// minPassages and maxPassages bound the passages that one search returns: a model
	// that asks for one misses what it is looking for.
	minPassages, maxPassages = 3, 50
	// maxWithout bounds the hidden notes excluded by the query itself, because
	// SQLite allows 32,766 values. Results from further hidden notes are
	// removed afterwards.
	maxWithout = 30_000
)

// searcher finds passages in all vaults. *rag.Library implements it.
type searcher interface {
	Search(ctx context.Context, q rag.Query) (rag.Found, error)
}

func newSearchNotes(search searcher, v vaults, now func() time.Time, model Model) agent.Tool {
	return agent.NewTool(spec[searchArgs]("search_notes"), agent.Auto,
		func(ctx context.Context, args searchArgs) (agent.Result, error) {
			query, err := args.query()
			if err != nil {
				return agent.Result{}, err
			}
			query.Today, query.Talk, query.Room = when.DayOf(now()), agent.TalkOf(ctx), room(model)
			found, err := SearchShown(ctx, search, v, query)
			if err != nil {
				return agent.Result{}, err
			}
			list := listed(found.Passages)
			if query.After.IsZero() && query.Before.IsZero() { // otherwise the note may contain lines of other dates
				found.Passages = v.wholeNotes(ctx, found.Passages)
			}
			result := searchResult(args.Query, query, found)
			result.Passages = list
			return result, nil
		}, agent.SearchesNotes)
}

// How many lines a list shows of a passage, and of a note that the question names.
const (
	maxPassageLines = 3
	maxNamedLines   = 12
)

// listed returns what a list shows of the passages: the blocks that fit best, as many as fit into a
// few lines. A note that the question names is in its own order.
func listed(passages []rag.Passage) (list []agent.Passage) {
	for _, p := range passages {
		var blocks []agent.Block
		for _, b := range p.Blocks {
			source := sourceOf(p)
			source.Above = 0
			source.Line, source.EndLine, source.Heading, source.Text = b.Line, b.EndLine, b.Heading, b.Text
			blocks = append(blocks, agent.Block{
				Source: source, Lead: b.Lead, Code: b.Code,
				Score: b.Score, Words: b.Words,
			})
		}
		if len(blocks) == 0 {
			continue
		}
		most := maxPassageLines
		if p.Named {
			most = maxNamedLines
		}
		lines, show := height(blocks[0]), 1
		for show < len(blocks) && lines+height(blocks[show]) <= most {
			lines += height(blocks[show])
			show++
		}
		if p.Named {
			slices.SortStableFunc(blocks[:show], func(a, b agent.Block) int {
				return cmp.Compare(a.Source.Line, b.Source.Line)
			})
		}
		list = append(list, agent.Passage{Blocks: blocks, Show: show})
	}
	return list
}

// height returns the number of lines of a block.
func height(b agent.Block) int { return b.Source.EndLine - b.Source.Line + 1 }

// room returns how much of a model's window the notes of a period may take, in
// tokens: half.
func room(model Model) int {
	const unknown = 8192
	if model == nil {
		return unknown / 2
	}
	return cmp.Or(model.Window(), unknown) / 2
}

// Hidden returns the paths of the notes that rules hide, by their folder.
func Hidden(ctx context.Context, v vaults) (map[string][]string, error) {
	if !agent.HidesNotes(ctx) {
		return nil, nil
	}
	places, err := v.all(ctx)
	hidden := map[string][]string{}
	for _, p := range places {
		dir := p.folder.Dir()
		if len(hidden[dir]) < maxWithout && agent.HidesNote(ctx, PathOf(v, p.folder, p.Entry.Path)) {
			hidden[dir] = append(hidden[dir], p.Entry.Path)
		}
	}
	return hidden, err
}

// SearchShown searches the notes that no rule hides.
func SearchShown(ctx context.Context, search searcher, v vaults, query rag.Query) (rag.Found, error) {
	var err error
	if query.Without, err = Hidden(ctx, v); err != nil {
		return rag.Found{}, err
	}
	found, err := search.Search(ctx, query)
	if err != nil {
		return rag.Found{}, err
	}
	if !agent.HidesNotes(ctx) {
		return found, nil
	}
	// the index may still have a note that was moved or deleted
	folders := v()
	hidden := func(vault, name string) bool {
		at := slices.IndexFunc(folders, func(f *notes.Folder) bool { return f.Dir() == vault })
		return at < 0 || agent.HidesNote(ctx, PathOf(v, folders[at], name))
	}
	found.Passages = slices.DeleteFunc(found.Passages, func(p rag.Passage) bool { return hidden(p.Vault, p.Path) })
	if found.Time != nil {
		found.Time.List = slices.DeleteFunc(found.Time.List, func(n when.Entry) bool { return hidden(n.Vault, n.Path) })
	}
	return found, nil
}

// wholeNotes extends each passage of a small note to its whole text, without
// duplicates. Passages of notes that cannot be read are unchanged.
func (v vaults) wholeNotes(ctx context.Context, passages []rag.Passage) (list []rag.Passage) {
	for _, p := range passages {
		i := slices.IndexFunc(v(), func(f *notes.Folder) bool { return f.Dir() == p.Vault })
		// a dated passage has only the lines of its period; reading an image takes seconds
		if i < 0 || p.Dated || notes.IsPicture(p.Path) {
			list = append(list, p)
			continue
		}
		raw, entry, err := v()[i].Load(ctx, p.Path)
		if err != nil || len(raw) > notes.MaxFront+web.WholeNote { // parsing a large note takes seconds
			list = append(list, p)
			continue
		}
		note := notes.Parse(entry, raw)
		p.Untrusted = p.Untrusted || note.Untrusted
		lines := strings.Split(note.Text, "\n")
		if whole := web.Sections(agent.Source{}, nil, lines, max(1, note.BodyLine), len(lines)); len(whole) == 1 &&
			len(whole[0].Text) <= web.WholeNote {
			p.Text, p.Lines, p.Above, p.Line, p.EndLine = whole[0].Text, "", 0, whole[0].Line, whole[0].EndLine
			if p.Heading = ""; len(note.Headings) > 0 && note.Headings[0].Line == p.Line {
				p.Heading = note.Headings[0].Text
			}
		}
		if !slices.ContainsFunc(list, func(o rag.Passage) bool {
			return o.Vault == p.Vault &&
				o.Path == p.Path && o.Line == p.Line
		}) {
			list = append(list, p)
		}
	}
	return list
}

// query converts the arguments to a query. Filters may also be in the text, as
// a person would type them.
func (a searchArgs) query() (rag.Query, error) {
	q, err := rag.ParseQuery(a.Query)
	if err != nil && !datedFilter.MatchString(a.Query) { // a colon in the user's words is not a filter
		q, err = rag.Query{Text: a.Query}, nil
	}
	if err != nil {
		return q, err
	}
	if a.Limit > 0 {
		q.Limit = min(max(a.Limit, minPassages), maxPassages)
	}
	if a.Path != "" {
		q.Paths = append(q.Paths, a.Path)
	}
	if a.Tag != "" {
		q.Tags = append(q.Tags, strings.TrimPrefix(a.Tag, "#"))
	}
	if a.After != "" {
		q.After, err = rag.ParseDay(a.After)
	}
	if a.Before != "" && err == nil {
		q.Before, err = rag.ParseDay(a.Before)
	}
	if err == nil && strings.TrimSpace(q.Text) == "" {
		err = errors.New("empty query")
	}
	return q, err
}

func searchResult(question string, q rag.Query, found rag.Found) agent.Result {
	c := found.Coverage
	result := agent.Result{
		Searched: true, Nothing: len(found.Passages) == 0, Close: found.Close,
		Unlikely: found.Declined() || found.SemanticOnly, SemanticOnly: found.SemanticOnly,
		Coverage: &agent.Coverage{
			Indexed: c.Indexed, Total: c.Total, Unread: c.Unread, Unreadable: c.Unreadable,
			Age: c.Age, Embedder: c.Embedder, Time: found.Time, Lacking: text.OneLine(found.Lacking()),
		},
	}
	var b strings.Builder
	if result.Nothing {
		fmt.Fprintf(&b, "Nothing found in the notes for %q%s.\n", question, filtersOf(q))
	} else {
		fmt.Fprintf(&b, "%s%s\n", text.Count(len(found.Passages), "passage"), filtersOf(q))
	}
	if t := result.Coverage.Time; t != nil {
		b.WriteString(t.Summary() + "\n")
		for _, n := range t.List {
			result.Listed = append(result.Listed, agent.Source{Path: n.Path})
		}
	}
	if found.SemanticOnly {
		b.WriteString("Closest in meaning: no note has these words.\n")
	}
	if lacking := found.Lacking(); lacking != "" {
		b.WriteString(text.OneLine(lacking) + "\n")
	}
	if found.OtherLanguage {
		b.WriteString("The notes are in another language than these words: search again in theirs.\n")
	}
	for _, p := range found.Passages {
		source := sourceOf(p)
		result.Sources = append(result.Sources, source)
		undated := ""
		if p.Date == "" && !(q.After.IsZero() && q.Before.IsZero()) {
			undated = " (no date)"
		}
		fmt.Fprintf(&b, "\n%s%s\n%s\n", source.Head(), undated, strings.TrimSpace(p.Text))
	}
	if unread := found.Coverage.LeftOut.Unread().String(); unread != "" && found.Declined() {
		b.WriteString("\nNot searched, because no text could be read in them: " + unread + ".")
	}
	if waiting := found.Coverage.LeftOut[notes.UnreadImage]; waiting > 0 && found.Declined() {
		b.WriteString("\nNot searched yet: " + text.Count(waiting, "image") + ".")
	}
	b.WriteString(coverageHint(found.Coverage))
	result.Text = strings.TrimSpace(b.String())
	return result
}

func sourceOf(p rag.Passage) agent.Source {
	date, _ := when.ParseDay(p.Date)
	return agent.Source{
		Path: p.Path, Vault: p.Vault, Line: p.Line, EndLine: p.EndLine, Heading: p.Heading,
		Text: p.Text, Lines: p.Lines, Above: p.Above, Score: p.Score, Date: date,
		Untrusted: p.Untrusted, Dated: p.Dated,
	}
}

// filtersOf describes which notes were excluded, so that "nothing found" is not
// misunderstood.
func filtersOf(q rag.Query) string {
	var filters []string
	for _, p := range q.Paths {
		filters = append(filters, "in "+p)
	}
	for _, t := range q.Tags {
		filters = append(filters, "tagged #"+t)
	}
	if !q.After.IsZero() {
		filters = append(filters, "from "+q.After.String()+" on")
	}
	if !q.Before.IsZero() {
		filters = append(filters, "before "+q.Before.String())
	}
	if len(filters) == 0 {
		return ""
	}
	suffix := " (only notes " + strings.Join(filters, ", ")
	if !q.After.IsZero() || !q.Before.IsZero() {
		suffix += "; those without a date come last"
	}
	return suffix + ")"
}

// coverageHint describes why a search may be incomplete; "" if it is complete.
func coverageHint(c rag.Coverage) string {
	hint := ""
	if c.Indexed < c.Total {
		hint += fmt.Sprintf("\nOnly %d of %d notes are indexed so far; there may be more.", c.Indexed, c.Total)
	}
	if c.Unreadable > 0 {
		hint += fmt.Sprintf("\n%s cannot be read now; only what was read before could be found there.",
			text.Count(c.Unreadable, "note"))
	}
	if cloud := c.LeftOut.InCloud(); cloud != "" {
		hint += "\n" + cloud + "."
	}
	if why, ok := strings.CutPrefix(c.Embedder, agent.WordsOnly); ok {
		hint += "\nSearched by words, not by meaning" + why + "."
	}
	if hint != "" {
		hint = "\n" + hint
	}
	return hint
}
