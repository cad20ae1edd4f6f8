// Package encoder is the built-in sentence encoder: a table of word vectors, for
// English. A text is the normalised sum of the vectors of its words, so that
// "bicycle" is near to a note on a bike without any model server. README.md says
// where the table comes from.
package encoder

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"

	"lifehub/internal/text"
)

// The table is read in place, in the read-only pages of the program. Its format:
//
//	"LHWORDS2", language (4 bytes, ISO 639-1), number of words, dimensions,
//	bytes of the word list: three uint32
//	the words, sorted by bytes, separated by newlines
//	a float32 for each word, the scale of its row
//	a row of int8 for each word, whose length is the weight of the word
//
// All numbers are little endian.
//
//go:embed words128.bin
var embedded string

const (
	magic      = "LHWORDS2"
	headerSize = len(magic) + 4 + 3*4
	// every is the distance between the words that the index of a table has.
	every = 16
)

// table is an embedded table.
type table struct {
	language text.Lang
	words    string
	starts   []uint32 // of every 16th word
	scales   string
	rows     string
	count    int
	numbers  int // dimension of the vectors
}

// english is the embedded table, indexed on first use.
var english = sync.OnceValues(func() (*table, error) {
	t, err := read(embedded)
	if err == nil && t.language != "en" {
		err = fmt.Errorf("the word table is for the language %q, not for English", t.language)
	}
	return t, err
})

// read checks the header and the size of a table, and indexes its words.
func read(file string) (*table, error) {
	if len(file) < headerSize || file[:len(magic)] != magic {
		return nil, fmt.Errorf("the word table does not begin with %s", magic)
	}
	header := []byte(file[:headerSize])
	number := func(i int) int { return int(binary.LittleEndian.Uint32(header[len(magic)+4+4*i:])) }
	t := &table{language: text.Lang(strings.TrimRight(file[len(magic):len(magic)+4], "\x00")), count: number(0), numbers: number(1)}
	words := headerSize + number(2)
	scales := words + 4*t.count
	if whole := scales + t.count*t.numbers; t.numbers == 0 || whole != len(file) {
		return nil, fmt.Errorf("the word table has %d bytes, its header says %d", len(file), whole)
	}
	t.words, t.scales, t.rows = file[headerSize:words], file[words:scales], file[scales:]
	t.starts = make([]uint32, 0, t.count/every+1)
	n, at := 0, 0
	for word := range strings.SplitSeq(t.words, "\n") {
		if n%every == 0 {
			t.starts = append(t.starts, uint32(at))
		}
		n, at = n+1, at+len(word)+1
	}
	if n != t.count {
		return nil, fmt.Errorf("the word table has %d words, its header says %d", n, t.count)
	}
	return t, nil
}

// find returns the row of a word, or -1.
func (t *table) find(word string) int {
	low, high := 0, len(t.starts) // the block of 16 words that may contain it
	for low < high {
		if middle := (low + high) / 2; t.wordAt(int(t.starts[middle])) <= word {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return -1
	}
	at := int(t.starts[low-1])
	for row := (low - 1) * every; row < min(low*every, t.count); row++ {
		known := t.wordAt(at)
		if known >= word {
			if known == word {
				return row
			}
			return -1
		}
		at += len(known) + 1
	}
	return -1
}

func (t *table) wordAt(start int) string {
	word := t.words[start:]
	if end := strings.IndexByte(word, '\n'); end >= 0 {
		return word[:end]
	}
	return word
}

// lookUp returns the row of a word in lower case or of a form of it: without 's, its
// stem, without s, with s or e; -1 if there is none.
func (t *table) lookUp(word string) int {
	for _, form := range [...]string{word, strings.TrimSuffix(word, "'s"), stem(word), strings.TrimRight(word, "s")} {
		if row := t.find(form); row >= 0 {
			return row
		}
	}
	if row := t.find(word + "s"); row >= 0 {
		return row
	}
	return t.find(word + "e")
}

var endings = [...]string{"ings", "ing", "edly", "ed", "ies", "es", "s", "ly"}

// stem removes the first suffix that leaves three letters, as in the construction of
// the table.
func stem(word string) string {
	for _, ending := range endings {
		if len(word) >= len(ending)+3 && strings.HasSuffix(word, ending) {
			return word[:len(word)-len(ending)]
		}
	}
	return word
}

// add adds a row to a sum. Sums of integers are the same on every processor.
func (t *table) add(sum []int, i int) {
	s := t.scales[4*i : 4*i+4]
	scale := int(math.Float32frombits(uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24) * (1 << 30))
	row := t.rows[i*t.numbers:][:len(sum)]
	for j := range sum {
		sum[j] += scale * int(int8(row[j]))
	}
}

// encode returns the vector of a text. A text without known words gets a vector far
// from all others, so that no vector is zero. rows caches lookups.
func (t *table) encode(s string, rows map[string]int) (vector []float32, known bool) {
	sum := make([]int, t.numbers)
	for word := range words(s) {
		row, seen := rows[word]
		if !seen {
			row = t.lookUp(word)
			rows[word] = row
		}
		if row >= 0 {
			t.add(sum, row)
		}
	}
	square := 0.0
	for _, x := range sum {
		square += float64(x) * float64(x)
	}
	vector = make([]float32, t.numbers)
	if square == 0 {
		vector[t.numbers-1] = 1
		return vector, false
	}
	length := math.Sqrt(square)
	for i, x := range sum {
		vector[i] = float32(float64(x) / length)
	}
	return vector, true
}

// Encoder embeds texts with the embedded table.
type Encoder struct{}

// Name implements [llm.Embedder]. Another table or algorithm needs another name.
func (Encoder) Name() string { return "built-in/words128-en" }

// Embed implements [llm.Embedder].
func (Encoder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	t, err := english()
	if err != nil {
		return nil, err
	}
	vectors, rows := make([][]float32, len(texts)), map[string]int{}
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i], _ = t.encode(s, rows)
	}
	return vectors, nil
}

// Knows reports whether the table has exactly this word, in lower case.
func (Encoder) Knows(word string) bool {
	t, err := english()
	return err == nil && t.find(word) >= 0
}

// Understands reports whether the table has a content word of a question. It returns
// false if the question's stop words or script are of another language.
func (Encoder) Understands(question string) bool {
	t, err := english()
	if err != nil || len(text.Languages(question)) > 0 || !text.Latin(question) {
		return false // text.Languages does not return English
	}
	for word := range words(question) {
		if !text.StopWord(word, "") && t.lookUp(word) >= 0 {
			return true
		}
	}
	return false
}
