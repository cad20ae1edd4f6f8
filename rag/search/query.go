package search

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"time"

	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag/passage"
)

// Query is a question with its filters.
type Query struct {
	Text  string
	Limit int      // most passages; 0: 5
	Paths []string // keep notes below one of these folders or matching one of these globs
	Tags  []string // keep notes with all of these tags
	// keep passages dated on or after it, and below them those without a date; none: no bound
	After   when.Day
	Before  when.Day            // keep passages dated before it, and below them those without a date; none: no bound
	Today   when.Day            // the day that "yesterday" refers to; none: today
	Talk    when.Talk           // the times mentioned earlier in the conversation
	Room    int                 // most tokens of passages if all notes of a time are asked for; 0: Limit passages
	Without map[string][]string // leave out the notes at these paths, by their vault's folder
	Side    Side                // restricts the search, for measurements; zero: both sides
}

// Side selects the parts of a search.
type Side int

// The sides of a search.
const (
	Both Side = iota
	KeywordsAlone
	SemanticAlone
)

// Passage is a piece of a note.
type Passage struct {
	Path    string  `json:"path"` // below its vault, with slashes
	Line    int     `json:"line"`
	EndLine int     `json:"end_line"`
	Heading string  `json:"heading"` // "Running › Plan"; "" before the first heading
	Score   float64 `json:"score"`   // 0 to 1
	Text    string  `json:"text"`    // Markdown that stands on its own
	// lines of Text before Line: the header of the table or code that it continues
	Above int      `json:"above,omitempty"`
	Lines string   `json:"-"` // the whole lines of which Text is a part; "" if it is whole lines
	Tags  []string `json:"tags"`
	// YYYY-MM-DD: of its lines if the query asks for a time, else of its note; "": none
	Date      string `json:"date"`
	Vault     string `json:"-"` // the vault's absolute folder
	Untrusted bool   `json:"-"` // the note names an outside source
	Dated     bool   `json:"-"` // it is of the time that the query asks for
	// the first one of a note whose title, file name or alias is in the query; its blocks are all of the note
	Named bool `json:"-"`
	// Excerpt is the part that fits the query best, whose lines and heading [Passage.Best] gives; "": not narrowed.
	Excerpt string `json:"excerpt,omitempty"`
	// Blocks are its parts that fit the query, best first.
	Blocks []passage.Block `json:"-"`
}

// Best returns the passage with the lines, heading and text of the part that has the words of the query. Of a
// part of several lines it is from the line that has most of them. A passage without such a part, and one of
// a file with pages, is returned as it is.
func (p Passage) Best() Passage {
	if len(p.Blocks) == 0 || p.Blocks[0].Score == 0 || notes.IsPaged(p.Path) {
		return p
	}
	b := p.Blocks[0]
	lines := strings.Split(b.Text, "\n")
	from, most := 0, 0
	for i, line := range lines {
		has, folded := 0, strings.ToLower(line)
		for _, word := range b.Words {
			if strings.Contains(folded, strings.ToLower(word)) {
				has++
			}
		}
		if has > most {
			from, most = i, has
		}
	}
	if b.Code || len(lines) != b.EndLine-b.Line+1 {
		from = 0
	}
	p.Line, p.EndLine, p.Heading, p.Excerpt = b.Line+from, b.EndLine, b.Heading, strings.Join(lines[from:], "\n")
	return p
}

// AtMost returns the number of passages to return.
func (q Query) AtMost() int {
	if q.Limit <= 0 {
		return 5
	}
	return q.Limit
}

func (q Query) today() when.Day {
	if q.Today.IsZero() {
		return when.DayOf(time.Now())
	}
	return q.Today
}

// filtered returns the time that the query filters by.
func (q Query) filtered() when.Span { return when.Span{From: q.After, To: q.Before} }

// phrases returns the quoted parts of a query's text.
func phrases(text string) []string {
	var found []string
	for _, match := range quoted.FindAllStringSubmatch(text, -1) {
		for _, part := range match[1:] {
			if strings.TrimSpace(part) != "" {
				found = append(found, part)
			}
		}
	}
	return found
}

var quoted = regexp.MustCompile(`"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|»([^«]+)«|「([^」]+)」|『([^』]+)』`)

// filter is a query's filters as SQL.
type filter struct {
	notes string // a SELECT of the ids of the notes to keep, as note; "": all
	args  []any
}

// filter returns the filters for a vault.
func (q Query) filter(vault string) filter {
	var all []string
	var f filter
	if len(q.Paths) > 0 {
		var any []string
		for _, p := range q.Paths {
			where, args := pathFilter(p)
			any = append(any, where)
			f.args = append(f.args, args...)
		}
		all = append(all, `SELECT id AS note FROM notes WHERE `+strings.Join(any, " OR "))
	}
	for _, tag := range q.Tags {
		tag = tagKey(tag)
		all = append(all, `SELECT note FROM tags WHERE tag >= ? AND tag < ? AND (tag = ? OR tag >= ?)`)
		f.args = append(f.args, tag, tag+"0", tag, tag+"/") // '0' follows '/'
	}
	if q.timed() {
		t := timeOf(q.filtered())
		all = append(all, `SELECT id AS note FROM notes WHERE id IN (SELECT note FROM dates WHERE day < ? AND until > ?)
			OR id NOT IN (SELECT note FROM dates)`)
		f.args = append(f.args, t.until, t.from)
	}
	if without := q.Without[vault]; len(without) > 0 {
		all = append(all, `SELECT id AS note FROM notes WHERE path NOT IN (`+marks(len(without))+`)`)
		for _, p := range without {
			f.args = append(f.args, p)
		}
	}
	f.notes = strings.Join(all, " INTERSECT ")
	return f
}

func tagKey(tag string) string { return text.Key(strings.TrimPrefix(strings.TrimSpace(tag), "#")) }

// asWritten returns a tag as the notes have it: itself if one does, or else the only one that is typed so without
// its accents.
func asWritten(ctx context.Context, db *sql.DB, tag string) (string, error) {
	tag = tagKey(tag)
	folded, levels := text.Fold(tag), 1+strings.Count(tag, "/")
	var alike []string
	for scan := range files.Rows(ctx, db, `SELECT DISTINCT tag FROM tags`) {
		var whole string
		if err := scan(&whole); err != nil {
			return "", err
		}
		parts := strings.Split(whole, "/")
		has := strings.Join(parts[:min(len(parts), levels)], "/") // the tag itself, or the one above it
		if has == tag {
			return tag, nil
		}
		if text.Fold(has) == folded && !slices.Contains(alike, has) {
			alike = append(alike, has)
		}
	}
	if len(alike) == 1 {
		return alike[0], nil
	}
	return tag, nil
}

// pathFilter matches a glob, or a folder with all below it, or a note with or without
// its extension, with all notes below it in Dendron's hierarchy of dots.
func pathFilter(p string) (where string, args []any) {
	p = text.Key(strings.Trim(strings.TrimPrefix(strings.TrimSpace(p), "./"), "/"))
	if p == "" {
		return "1", nil
	}
	if strings.ContainsAny(p, "*?[") {
		return "(path_key GLOB ? OR path_key GLOB ?)", []any{p, p + "/*"}
	}
	// '.', '/' and '0' follow one another
	return "(path_key = ? OR path_key >= ? AND path_key < ?)", []any{p, p + ".", p + "0"}
}

// marks returns n parameters of a query.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }
