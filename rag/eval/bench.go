// Package eval measures how well questions find their notes: nDCG@10,
// recall@10 and MRR on public benches and on a user's own notes, with a
// paired bootstrap to tell a difference from chance. Start with [Load] and
// [Bench.Run].
package eval

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lifehub/rag"
)

// Bench is a collection with questions and the documents that answer them.
type Bench struct {
	Name      string
	Documents []Document
	Questions []Question
}

// Document is one document of a bench.
type Document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Scope string `json:"scope"` // searched only by questions of this scope
}

// Question is one question of a bench.
type Question struct {
	ID       string         `json:"id"`
	Text     string         `json:"text"`
	Scope    string         `json:"scope"`
	History  []Turn         `json:"history"` // what was said before
	Relevant map[string]int `json:"-"`       // document → grade
}

// Turn is something said before a question.
type Turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Load reads the bench in a folder: corpus.jsonl or corpus.jsonl.gz,
// queries.jsonl, qrels.tsv.
func Load(dir string) (Bench, error) {
	b := Bench{Name: filepath.Base(dir)}
	if err := readLines(filepath.Join(dir, "corpus.jsonl"), func(line []byte) error {
		var d Document
		err := json.Unmarshal(line, &d)
		b.Documents = append(b.Documents, d)
		return err
	}); err != nil {
		return b, fmt.Errorf("load bench: %w", err)
	}
	relevant := map[string]map[string]int{}
	if err := readLines(filepath.Join(dir, "qrels.tsv"), func(line []byte) error {
		fields := strings.Split(string(line), "\t")
		grade, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil || len(fields) != 3 {
			return nil //nolint:nilerr // the heading of the table
		}
		if relevant[fields[0]] == nil {
			relevant[fields[0]] = map[string]int{}
		}
		relevant[fields[0]][fields[1]] = grade
		return nil
	}); err != nil {
		return b, fmt.Errorf("load bench: %w", err)
	}
	if err := readLines(filepath.Join(dir, "queries.jsonl"), func(line []byte) error {
		var q Question
		err := json.Unmarshal(line, &q)
		if q.Relevant = relevant[q.ID]; q.Relevant != nil {
			b.Questions = append(b.Questions, q)
		}
		return err
	}); err != nil {
		return b, fmt.Errorf("load bench: %w", err)
	}
	return b, nil
}

func readLines(path string, take func([]byte) error) error {
	file, err := os.Open(path)
	var source io.Reader = file
	if errors.Is(err, fs.ErrNotExist) {
		if file, err = os.Open(path + ".gz"); err == nil {
			source, err = gzip.NewReader(file)
		}
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(source)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if err := take(lines.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return lines.Err()
}

// WriteNotes writes the documents as markdown notes below dir, one each, a
// title as the first heading, a scope as a folder. It returns the document of
// each note.
func (b Bench) WriteNotes(dir string) (map[string]string, error) {
	ids := make(map[string]string, len(b.Documents))
	for i, d := range b.Documents {
		name := fmt.Sprintf("%05d.md", i)
		if d.Scope != "" {
			name = d.Scope + "/" + name
		}
		text := d.Text + "\n"
		if d.Title != "" {
			text = "# " + d.Title + "\n\n" + text
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("write bench: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write bench: %w", err)
		}
		ids[name] = d.ID
	}
	return ids, nil
}

// Searcher finds passages. *rag.Index and rag.Library are the real ones.
type Searcher interface {
	Search(ctx context.Context, q rag.Query) (rag.Found, error)
}

// depth is how many passages are asked for, so that ten different notes are
// among them.
const depth = 40

// Run asks every question of one side of the search, or of both, and returns
// its figures, in order. ids are the documents of the notes, as WriteNotes
// returns them.
func (b Bench) Run(ctx context.Context, searcher Searcher, ids map[string]string, side rag.Side) ([]Figures, error) {
	figures := make([]Figures, len(b.Questions))
	for i, question := range b.Questions {
		query := rag.Query{Text: question.Text, Limit: depth, Side: side}
		if question.Scope != "" {
			query.Paths = []string{question.Scope}
		}
		found, err := searcher.Search(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("%s, question %s: %w", b.Name, question.ID, err)
		}
		figures[i] = measure(rankedNotes(found, ids), question.Relevant)
		figures[i].Answerable, figures[i].Signals = found.Answerable, found.Signals
	}
	return figures, nil
}

// RunWithout asks every question with the notes that answer it left out, and
// returns what the search thought of its chances then.
func (b Bench) RunWithout(ctx context.Context, searcher Searcher, ids map[string]string, side rag.Side) ([]Figures, error) {
	paths := map[string]string{}
	for path, id := range ids {
		paths[id] = path
	}
	figures := make([]Figures, len(b.Questions))
	for i, question := range b.Questions {
		query := rag.Query{Text: question.Text, Limit: 5, Side: side}
		if question.Scope != "" {
			query.Paths = []string{question.Scope}
		}
		for id := range question.Relevant {
			query.Without = append(query.Without, paths[id])
		}
		found, err := searcher.Search(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("%s, question %s: %w", b.Name, question.ID, err)
		}
		figures[i] = Figures{Answerable: found.Answerable, Signals: found.Signals}
	}
	return figures, nil
}

// rankedNotes are the documents of the passages found, each once.
func rankedNotes(found rag.Found, ids map[string]string) []string {
	var ranked []string
	seen := map[string]bool{}
	for _, p := range found.Passages {
		if id := ids[p.Path]; !seen[id] {
			seen[id] = true
			ranked = append(ranked, id)
		}
	}
	return ranked
}
