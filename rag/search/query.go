package search

import (
	"strings"
	"time"

	"lifehub/internal/pattern"
	"lifehub/internal/when"
	"lifehub/rag/passage"
)

// Query is what to look for.
type Query struct {
	Text    string
	Limit   int       // passages; 0: 5
	Paths   []string  // keep notes below one of these folders or matching one of these globs
	Tags    []string  // keep notes with all of these tags
	After   time.Time // keep what is dated on or after, and what has no date, lower; zero: no bound
	Before  time.Time // keep what is dated before, and what has no date, lower; zero: no bound
	Today   time.Time // the day that "yesterday" is told from; zero: now
	Talk    when.Talk // what the conversation said of times before
	Room    int       // tokens that the notes of a time may take where all are asked for; 0: Limit passages
	Without []string  // leave these notes out, by path
	Side    Side      // to measure one side of the search alone; zero: both
}

// Side says which sides of a search take part.
type Side int

// The sides.
const (
	Both Side = iota
	WordsAlone
	MeaningAlone // whatever trust the embedder has earned
)

// Passage is a piece of a note.
type Passage struct {
	Path      string   `json:"path"` // below its vault, with slashes
	Line      int      `json:"line"`
	EndLine   int      `json:"end_line"`
	Heading   string   `json:"heading"` // "Running › Plan"; "" before the first heading
	Score     float64  `json:"score"`   // 0 to 1
	Text      string   `json:"text"`
	Tags      []string `json:"tags"`
	Date      string   `json:"date"` // YYYY-MM-DD: the day of its lines that is asked for, else of its note; "": none
	Vault     string   `json:"-"`    // the vault's absolute folder
	Untrusted bool     `json:"-"`    // the note names a source outside
	Dated     bool     `json:"-"`    // it is of the day, or of the time, that the query asks for
	// Blocks are the parts of it that fit the query, the best first.
	Blocks []passage.Block `json:"-"`
}

// AtMost is how many passages are asked for.
func (q Query) AtMost() int {
	if q.Limit <= 0 {
		return 5
	}
	return q.Limit
}

func (q Query) today() time.Time {
	if q.Today.IsZero() {
		return time.Now()
	}
	return q.Today
}

// phrases are the quoted parts of a query's text.
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

var quoted = pattern.Lazy(`"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|»([^«]+)«|「([^」]+)」|『([^』]+)』`)

// filter is the part of a query that keeps notes out, as SQL.
type filter struct {
	notes string // selects the notes that are kept, as note; "": all
	args  []any
}

func (q Query) filter() filter {
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
		tag = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(tag), "#"))
		all = append(all, `SELECT note FROM tags WHERE tag >= ? AND tag < ? AND (tag = ? OR tag >= ?)`)
		f.args = append(f.args, tag, tag+"0", tag, tag+"/") // '0' follows '/'
	}
	if q.timed() {
		t := timeOf(when.Span{From: q.After, To: q.Before})
		all = append(all, `SELECT id AS note FROM notes WHERE id IN (SELECT note FROM dates WHERE day < ? AND until > ?) OR id NOT IN (SELECT note FROM dates)`)
		f.args = append(f.args, t.until, t.from)
	}
	if len(q.Without) > 0 {
		all = append(all, `SELECT id AS note FROM notes WHERE path NOT IN (`+marks(len(q.Without))+`)`)
		for _, p := range q.Without {
			f.args = append(f.args, p)
		}
	}
	f.notes = strings.Join(all, " INTERSECT ")
	return f
}

// pathFilter matches a folder and all below it, a note with or without its
// ending and, as Dendron has it, all notes below that by their dots; or a glob.
func pathFilter(p string) (where string, args []any) {
	p = strings.ToLower(strings.Trim(strings.TrimPrefix(strings.TrimSpace(p), "./"), "/"))
	if p == "" {
		return "1", nil
	}
	if strings.ContainsAny(p, "*?[") {
		return "(lower_path GLOB ? OR lower_path GLOB ?)", []any{p, p + "/*"}
	}
	return "(lower_path = ? OR lower_path >= ? AND lower_path < ?)", []any{p, p + ".", p + "0"} // '.', '/' and '0' follow one another
}

// marks are n parameters of a query.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }
