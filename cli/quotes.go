package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// quotes know what prompts of servers have put into the composer, in this run
// and in earlier ones, so that a message made of it, one that is gone on with
// and one taken from the history of the composer too, is not taken for the
// user's own words. They hold fingerprints, no words. The zero value forgets
// all with the run; it is safe for concurrent use.
type quotes struct {
	file string // keeps them; "": nothing does

	mu    sync.Mutex
	seen  int64             // bytes of the file that were read
	runs  map[uint64]string // whose a run of letters is
	sizes map[int]bool      // letters that a run has
}

const (
	// quoteRun is how many letters in a row two texts share by quoting, and
	// quoteStep how many letters apart the runs begin that are remembered: what
	// shares 30 letters with a prompt is found, what shares fewer than 20 not.
	// A text that is shorter than a run is one run.
	quoteRun  = 20
	quoteStep = 10
	// leastKept is how many letters a run has that is known beyond the run of
	// LifeHub: "Hi" would stand in every message for ever. An address has more.
	leastKept = 8
)

// add remembers a text and whose it is.
func (q *quotes) add(whose, text string) error {
	letters := lettersOf(text)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.catchUp(); err != nil {
		return err
	}
	var lines bytes.Buffer
	size, last := min(quoteRun, len(letters)), max(0, len(letters)-quoteRun)
	for at := 0; size > 0 && at <= last; at += quoteStep {
		if last-at < quoteStep {
			at = last
		}
		if run := runPrint(letters[at : at+size]); q.runs[run] == "" {
			q.take(size, run, whose)
			if size >= leastKept {
				fmt.Fprintf(&lines, "%d %016x %s\n", size, run, whose)
			}
		}
	}
	if q.file == "" || lines.Len() == 0 {
		return nil
	}
	return appendPrivate(q.file, lines.Bytes())
}

func (q *quotes) take(size int, run uint64, whose string) {
	if q.runs == nil {
		q.runs, q.sizes = map[uint64]string{}, map[int]bool{}
	}
	q.runs[run], q.sizes[size] = whose, true
}

// catchUp reads what was kept, by other runs too, since it was last looked at.
func (q *quotes) catchUp() error {
	if q.file == "" {
		return nil
	}
	file, err := os.Open(q.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer file.Close()
		_, err = file.Seek(q.seen, 0)
	}
	if err != nil {
		return fmt.Errorf("read whose words prompts were: %w", err)
	}
	for in := bufio.NewReader(file); ; {
		line, err := in.ReadString('\n')
		if err != nil { // the end, or half a line: it is read once it is whole
			return nil
		}
		q.seen += int64(len(line))
		var size int
		var run uint64
		if n, _ := fmt.Sscanf(line, "%d %x", &size, &run); n == 2 && size > 0 {
			_, whose, _ := strings.Cut(strings.TrimSpace(line[strings.IndexByte(line, ' ')+1:]), " ")
			q.take(size, run, whose)
		}
	}
}

// in names whose texts stand in a message, or parts of them.
func (q *quotes) in(message string) (whose []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.catchUp(); err != nil {
		return []string{err.Error()} // then it may be anybody's
	}
	letters := lettersOf(message)
	for size := range q.sizes {
		for at := 0; at+size <= len(letters); at++ {
			if name := q.runs[runPrint(letters[at:at+size])]; name != "" && !slices.Contains(whose, name) {
				whose = append(whose, name)
			}
		}
	}
	slices.Sort(whose)
	return whose
}

func runPrint(letters []rune) uint64 {
	sum := fnv.New64a()
	sum.Write([]byte(string(letters))) // never an error
	return sum.Sum64()
}

// lettersOf is what is left of a text when blanks, signs and case do not count.
func lettersOf(text string) []rune {
	var letters []rune
	for _, r := range norm.NFKC.String(text) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return letters
}

// appendPrivate adds to a file that only its owner may read.
func appendPrivate(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("make folder for %s: %w", name, err)
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
