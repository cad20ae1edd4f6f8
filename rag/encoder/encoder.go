// Package encoder is the built-in sentence encoder: a table of pieces of words in 16
// languages that lie in one space. A text is cut into pieces, and its vector is the
// normalised sum of theirs, so that "Fahrrad" is near to a note on a bike without any
// model server. README.md says where the table comes from.
package encoder

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The table is read in place, in the read-only pages of the program. Its format:
//
//	"LHPIECE1", version, number of pieces, dimensions, bits of a number, bytes of the
//	list of pieces: five uint32
//	unit, inner, unknown: three float32
//	the pieces, UTF-8, sorted by bytes, separated by newlines; a leading space marks the
//	beginning of a word
//	a uint16 for each piece, its price: 1000 times minus the logarithm of its probability
//	a uint16 for each piece, the scale of its row, whose length is the weight of the piece
//	a row for each piece, two numbers in a byte, the even one low, each minus 8
//
// All numbers are little endian. unit multiplies all rows, so that it cancels out.
//
//go:embed pieces.bin
var embedded string

const (
	magic      = "LHPIECE1"
	headerSize = len(magic) + 8*4
)

// table is an embedded table.
type table struct {
	pieces  string
	starts  []uint32 // of each piece, and the end of the last one plus 1
	prices  string
	scales  string
	rows    string
	numbers int // dimension of the vectors
	inner   int // price of a word within a word
	unknown int // price of a character that no piece has
}

// open is the embedded table, indexed on first use.
var open = sync.OnceValues(func() (*table, error) { return read(embedded) })

// read checks the header and the size of a table, and indexes its pieces.
func read(file string) (*table, error) {
	if len(file) < headerSize || file[:len(magic)] != magic {
		return nil, fmt.Errorf("the table of pieces does not begin with %s", magic)
	}
	header := []byte(file[len(magic):headerSize])
	number := func(i int) int { return int(binary.LittleEndian.Uint32(header[4*i:])) }
	price := func(i int) int { return int(1000 * math.Float32frombits(binary.LittleEndian.Uint32(header[4*i:]))) }
	version, count, bits, size := number(0), number(1), number(3), number(4)
	t := &table{numbers: number(2), inner: price(6), unknown: price(7)}
	if version != 1 || bits != 4 {
		return nil, fmt.Errorf("the table of pieces has version %d and %d bits, not 1 and 4", version, bits)
	}
	prices := headerSize + size
	scales := prices + 2*count
	rows := scales + 2*count
	if whole := rows + count*t.numbers/2; t.numbers == 0 || whole != len(file) {
		return nil, fmt.Errorf("the table of pieces has %d bytes, its header says %d", len(file), whole)
	}
	t.pieces, t.prices, t.scales, t.rows = file[headerSize:prices], file[prices:scales], file[scales:rows], file[rows:]
	t.starts = make([]uint32, 0, count+1)
	for at := 0; at <= size; {
		t.starts = append(t.starts, uint32(at))
		end := strings.IndexByte(t.pieces[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	if len(t.starts) != count {
		return nil, fmt.Errorf("the table of pieces has %d pieces, its header says %d", len(t.starts), count)
	}
	t.starts = append(t.starts, uint32(size+1))
	return t, nil
}

func (t *table) count() int          { return len(t.starts) - 1 }
func (t *table) piece(i int) string  { return t.pieces[t.starts[i] : t.starts[i+1]-1] }
func (t *table) priceOf(i int) int   { return int(t.prices[2*i]) | int(t.prices[2*i+1])<<8 }
func (t *table) scaleOf(i int) int32 { return int32(t.scales[2*i]) | int32(t.scales[2*i+1])<<8 }

// add adds a row to a sum. Sums of integers are the same on every processor.
func (t *table) add(sum []int32, i int) {
	scale := t.scaleOf(i)
	row := t.rows[i*t.numbers/2:][:t.numbers/2]
	sum = sum[:2*len(row)]
	for j := range len(row) {
		sum[2*j] += scale * (int32(row[j]&15) - 8)
		sum[2*j+1] += scale * (int32(row[j]>>4) - 8)
	}
}

// encode returns the vector of a text. A text without known pieces gets a vector far
// from all others, so that no vector is zero.
func (t *table) encode(s string, cut cuts) []float32 {
	sum := make([]int32, t.numbers)
	for run := range runs(s) {
		for _, i := range cut.of(t, run) {
			t.add(sum, int(i))
		}
	}
	square := 0.0
	for _, x := range sum {
		square += float64(x) * float64(x)
	}
	vector := make([]float32, t.numbers)
	if square == 0 {
		vector[t.numbers-1] = 1
		return vector
	}
	length := math.Sqrt(square)
	for i, x := range sum {
		vector[i] = float32(float64(x) / length)
	}
	return vector
}

// Languages names the languages whose words the encoder knows.
const Languages = "Arabic, Chinese (simplified and traditional), Dutch, English, French, German, " +
	"Italian, Japanese, Korean, Polish, Portuguese, Russian, Spanish, Thai and Turkish"

// Encoder embeds texts with the embedded table.
type Encoder struct{}

// Name implements [llm.Embedder]. Another table or algorithm needs another name.
func (Encoder) Name() string { return "built-in/pieces192" }

// Embed implements [llm.Embedder].
func (Encoder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	t, err := open()
	if err != nil {
		return nil, err
	}
	vectors, cut := make([][]float32, len(texts)), cuts{}
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = t.encode(s, cut)
	}
	return vectors, nil
}

// Words counts the words of a text by which its language can be told, and those that the table has
// whole: more than half in one of the [Languages], less in any other (docs/figures/retrieval.md). They
// have four letters or more. Korean and Arabic words, which have endings of many kinds, are left out.
func Words(s string) (known, all int, err error) {
	t, err := open()
	if err != nil {
		return 0, 0, err
	}
	cut := cuts{}
	for run := range runs(s) {
		const shortest = 4 // letters
		if run[0] != ' ' || utf8.RuneCount(run) <= shortest ||
			slices.ContainsFunc([]rune(string(run[1:])), func(r rune) bool {
				return unicode.In(r, unicode.Hangul, unicode.Arabic) || unicode.IsNumber(r)
			}) {
			continue
		}
		if all++; len(cut.of(t, run)) == 1 {
			known++
		}
	}
	return known, all, nil
}
