package main

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

// bench is a collection of documents with questions that they answer.
type bench struct {
	Name      string
	Documents []document
	Questions []question
}

// document is one document of a bench.
type document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Scope string `json:"scope"` // searched only by questions of this scope
}

// question is one question of a bench.
type question struct {
	ID       string         `json:"id"`
	Text     string         `json:"text"`
	Scope    string         `json:"scope"`
	History  []exchange     `json:"history"` // earlier turns
	Relevant map[string]int `json:"-"`       // document → grade
}

// exchange is a turn before a question.
type exchange struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// readBench reads the bench in a folder: corpus.jsonl or corpus.jsonl.gz,
// queries.jsonl, qrels.tsv.
func readBench(dir string) (bench, error) {
	b := bench{Name: filepath.Base(dir)}
	if err := readLines(filepath.Join(dir, "corpus.jsonl"), func(line []byte) error {
		var d document
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
		var q question
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

// writeNotes writes each document as a Markdown note below dir, with its title as the
// first heading and its scope as a folder. It returns the document of each note.
func (b bench) writeNotes(dir string) (map[string]string, error) {
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

// readLines calls take with each line of a file, or of the same file with .gz.
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
