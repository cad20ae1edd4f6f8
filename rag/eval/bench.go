// Package eval measures how well questions find their notes: nDCG@10, recall@10 and MRR
// on public benches and on a user's own notes, with a paired bootstrap to distinguish
// differences from chance. Start with [Load] and [AskOwn].
package eval

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	History  []Turn         `json:"history"` // earlier turns
	Relevant map[string]int `json:"-"`       // document → grade
}

// Turn is a turn before a question.
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
			return nil //nolint:nilerr // the header of the table
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
