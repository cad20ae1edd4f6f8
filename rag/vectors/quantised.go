package vectors

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"lifehub/internal/wrap"
)

// A quantised file holds vectors at 12 bits a number, sorted by key:
//
//	header, 4096 bytes, as of a vector file, with the number of records
//	records of 32 + d bytes, d the dimension rounded up to 32:
//	  key (16), crc of the rest of the record (4), scale (float32), crc of its fine part (4), zero (4), a byte a number
//	fine parts of (dimension+1)/2 bytes, in the order of the records: four bits a number, the lower of a byte first
//
// A number is scale·(16·(byte - 128) + fine - 8), and within 8.5 scales of what
// it is with 8 for its fine part. The records are mapped into memory, shared by
// all processes, and every search reads their bytes. The fine parts are read
// for the few that come closest.
//
// The file is written whole, renamed into place and never changed: what a
// process has mapped stays what it was. A record that is garbled or cut off is
// not there, and its passage is embedded again; so is, when the file is next
// written, one whose fine part is; until then that counts as 8.
type quantised struct {
	path      string
	dimension int
	count     int     // of records that were written
	sound     []int32 // the records that are whole, in the order of their keys
	mapped    []byte  // header and records
}

const (
	quantisedMagic = "LifeHub vectors at 12 bits 1\n"
	quantisedHead  = 32
	fineBits       = 4
	mostQuantised  = 1<<(7+fineBits) - 1<<(fineBits-1) - 1 // 2039: the byte of 2040 would be 256
	fineZero       = 1 << (fineBits - 1)

	// rescored is how many vectors a search looks at finely: enough for the ten
	// nearest (docs/design/vectors.md). Those after them are told apart by their bytes.
	rescored = 40
)

// padded is a dimension in whole steps of the vector instructions.
func padded(dimension int) int { return (dimension + 31) &^ 31 }

// openQuantised maps the file at path, and says which it is. A nil status: there
// is none. A nil q: its first page is not one of this model's.
func openQuantised(path, model string) (q *quantised, status os.FileInfo, err error) {
	defer wrap.Error(&err, "open vectors")
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	if status, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	header := make([]byte, vectorHeader)
	if _, err := io.ReadFull(file, header); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, err
	}
	dimension, count, of, ok := readVectorHeader(quantisedMagic, header)
	if !ok || of != model {
		return nil, status, nil
	}
	q = &quantised{path: path, dimension: dimension, count: count}
	if q.mapped, err = mapFile(file, int(min(status.Size(), q.fineAt(0)))); err != nil {
		return nil, nil, err
	}
	if err := q.check(); err != nil {
		return nil, nil, errors.Join(err, q.close())
	}
	return q, status, nil
}

// check finds the records that are whole.
func (q *quantised) check() (err error) {
	defer cutShort(&err, nil)()
	q.sound = make([]int32, 0, (len(q.mapped)-vectorHeader)/q.recordSize())
	for i := range int32(cap(q.sound)) {
		if record := q.record(i); binary.LittleEndian.Uint32(record[len(Key{}):]) == quantisedSum(record) {
			q.sound = append(q.sound, i)
		}
	}
	return nil
}

func quantisedSum(record []byte) uint32 {
	sum := crc32.Checksum(record[:len(Key{})], castagnoli)
	return ^crc32.Update(sum, castagnoli, record[len(Key{})+4:])
}

// cutShort makes an error of reading where the mapped file has ended, since
// somebody else cut it, and calls lost. The function that it returns is
// deferred by the one that reads.
func cutShort(err *error, lost func()) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch fault := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			if lost != nil {
				lost()
			}
			*err = errors.New("read vectors: another program changed their file, search again")
		default:
			panic(fault)
		}
	}
}

func (q *quantised) recordSize() int { return quantisedHead + padded(q.dimension) }

func (q *quantised) record(i int32) []byte {
	return q.mapped[vectorHeader+int(i)*q.recordSize():][:q.recordSize()]
}

// fineAt is where the fine part of record i is in the file.
func (q *quantised) fineAt(i int32) int64 {
	return vectorHeader + int64(q.count)*int64(q.recordSize()) + int64(i)*int64((q.dimension+1)/2)
}

// find returns where a key is among the records, or belongs: not before from.
// No file has none. Keys are hashes, spread evenly, so that where one is can be
// told from those around it: few records are read, which is what takes the time.
func (q *quantised) find(k Key, from int) (at int, ok bool) {
	const guesses = 8 // or they are no hashes
	all, number := q.records(), func(k []byte) float64 { return float64(binary.BigEndian.Uint64(k)) }
	to, least, most := len(all), 0., math.Exp2(64)
	if from > 0 && from < to {
		least = number(q.record(all[from-1]))
	}
	for tries := 0; from < to; tries++ {
		at = from + (to-from)/2
		if tries < guesses && least < most {
			at = min(to-1, from+int(float64(to-from)*(number(k[:])-least)/(most-least)))
		}
		here := q.record(all[at])[:len(k)]
		switch bytes.Compare(here, k[:]) {
		case 0:
			return at, true
		case -1:
			from, least = at+1, number(here)
		default:
			to, most = at, number(here)
		}
	}
	return from, false
}

// records are those that are whole, in the order of their keys. No file has none.
func (q *quantised) records() []int32 {
	if q == nil {
		return nil
	}
	return q.sound
}

func (q *quantised) size() int { return len(q.records()) }

func (q *quantised) key(i int32) Key { return KeyOf(q.record(i)[:len(Key{})]) }

func (q *quantised) scale(i int32) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(q.record(i)[20:]))
}

// question is a vector to be compared with the bytes of records, at 11 bits a
// number: the sum of the products fits into 32 bits for every dimension.
type question struct {
	scale   float32
	numbers []int16  // within ±1023, padded
	packed  []uint64 // the same for dotPortable
	offset  int32    // what 128 too much in each byte adds
}

func ask(vector []float32) *question {
	asked := &question{scale: largest(vector) / 1023, numbers: make([]int16, padded(len(vector)))}
	for i, f := range vector {
		asked.numbers[i] = int16(math.Round(float64(f / asked.scale)))
		asked.offset += 128 * int32(asked.numbers[i])
	}
	asked.packed = pack(asked.numbers)
	return asked
}

func largest(vector []float32) float32 {
	most := float32(math.SmallestNonzeroFloat32 * (1 << 24)) // what is divided by it stays finite
	for _, f := range vector {
		most = max(most, f, -f)
	}
	return most
}

// cosine compares a question with the bytes of a record.
func (q *quantised) cosine(asked *question, i int32) float32 {
	return asked.scale * q.scale(i) * (1 << fineBits) * float32(asked.dot(q.record(i)[quantisedHead:])-asked.offset)
}

// pack splits each number into 64·a + b, with a and b within ±32, and puts the
// four a of the bytes 0, 2, 4, 6 into one word, so those of 1, 3, 5, 7, then
// their b; the first is the highest.
func pack(numbers []int16) (words []uint64) {
	for eight := range slices.Chunk(numbers, 8) {
		var word [4]uint64
		for i, number := range eight {
			a := (number + 32) >> 6
			at := 48 - 16*(i/2)
			word[i%2] += uint64(a) << at
			word[2+i%2] += uint64(number-64*a) << at
		}
		words = append(words, word[:]...)
	}
	return words
}

// dotPortable is the inner product of the question and so many bytes. dot is
// the same in the processor's vector instructions where it has them.
//
// Four products are made by one multiplication: of words of four numbers of 16
// bits, one in reverse, the highest 16 bits are the sum of the products, less
// than 2^15 here; what is below them is rounded off.
func (asked *question) dotPortable(b []byte) int32 {
	const lanes, half = 0x00ff_00ff_00ff_00ff, 1 << 47
	var as, bs int64
	for words := asked.packed; len(words) >= 4 && len(b) >= 8; words, b = words[4:], b[8:] {
		eight, word := binary.LittleEndian.Uint64(b), (*[4]uint64)(words)
		even, odd := eight&lanes, eight>>8&lanes
		as += int64(even*word[0]+half)>>48 + int64(odd*word[1]+half)>>48
		bs += int64(even*word[2]+half)>>48 + int64(odd*word[3]+half)>>48
	}
	return int32(64*as + bs)
}

// nearest compares a question with the bytes of some records, and the few that
// come closest again with their fine parts.
func (q *quantised) nearest(ctx context.Context, vector []float32, limit int, records []int32) ([]Match, error) {
	asked := ask(vector)
	top := TopK[int32]{Limit: max(limit, rescored)}
	for n, i := range records {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		top.Offer(i, q.cosine(asked, i))
	}
	near := top.Sorted()
	found := make([]Match, len(near))
	for n, at := range near {
		found[n] = Match{q.key(at.Key), at.Cosine}
	}
	return found, q.read(func(file *os.File) error {
		numbers := make([]float32, q.dimension)
		for n := range found[:min(rescored, len(found))] {
			if err := q.vector(file, near[n].Key, numbers); err != nil {
				return err
			}
			found[n].Cosine = float64(Dot(vector, numbers))
		}
		return nil
	})
}

// read opens the file for its fine parts. Not every system replaces a file that
// is open.
func (q *quantised) read(do func(*os.File) error) error {
	file, err := os.Open(q.path)
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	return errors.Join(do(file), file.Close())
}

// fine reads the fine part of a record. whole is false where it is garbled, cut
// off or in a file that was replaced.
func (q *quantised) fine(file *os.File, i int32) (part []byte, whole bool, err error) {
	part = make([]byte, (q.dimension+1)/2)
	if _, err := file.ReadAt(part, q.fineAt(i)); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read vectors: %w", err)
	}
	if crc32.Checksum(part, castagnoli) == binary.LittleEndian.Uint32(q.record(i)[24:]) {
		return part, true, nil
	}
	for n := range part {
		part[n] = fineZero<<fineBits | fineZero
	}
	return part, false, nil
}

// vector reads a vector at 12 bits.
func (q *quantised) vector(file *os.File, i int32, into []float32) error {
	part, _, err := q.fine(file, i)
	if err != nil {
		return err
	}
	scale, bytes := q.scale(i), q.record(i)[quantisedHead:]
	const zero = 128<<fineBits + fineZero
	for n := range into {
		into[n] = scale * float32(int32(bytes[n])<<fineBits+int32(part[n/2]>>(n%2*fineBits)&(1<<fineBits-1))-zero)
	}
	return nil
}

// get returns the vectors of some records.
func (q *quantised) get(records []int32) (found [][]float32, err error) {
	err = q.read(func(file *os.File) error {
		for _, i := range records {
			found = append(found, make([]float32, q.dimension))
			if err := q.vector(file, i, found[len(found)-1]); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// quantise returns a vector as its record and fine part.
func quantise(k Key, vector []float32) (record, fine []byte) {
	scale := largest(vector) / mostQuantised
	record, fine = make([]byte, quantisedHead+padded(len(vector))), make([]byte, (len(vector)+1)/2)
	for n, f := range vector {
		twelve := int(math.Round(float64(f/scale))) + 128<<fineBits + fineZero
		record[quantisedHead+n] = byte(twelve >> fineBits)
		fine[n/2] |= byte(twelve&(1<<fineBits-1)) << (n % 2 * fineBits)
	}
	copy(record, k[:])
	binary.LittleEndian.PutUint32(record[20:], math.Float32bits(scale))
	binary.LittleEndian.PutUint32(record[24:], crc32.Checksum(fine, castagnoli))
	binary.LittleEndian.PutUint32(record[len(k):], quantisedSum(record))
	return record, fine
}

// origin is where a record of a new file comes from: rows, or another file.
type origin struct {
	key    Key
	row    int32 // -1: another file
	record int32
}

// rewrite puts a file in the place of another: with the records of the other
// for which keep says so, and with rows, none of which the other has. No file
// is a file without records.
func (q *quantised) rewrite(path, model string, dimension int, rows []row, keep func(Key) bool) (made *quantised, status os.FileInfo, err error) {
	defer wrap.Error(&err, "quantise vectors")
	var all []origin
	for n, r := range rows {
		all = append(all, origin{r.key, int32(n), 0})
	}
	var old *os.File
	if q != nil {
		if old, err = os.Open(path); err != nil {
			return nil, nil, err
		}
		defer old.Close() //nolint:errcheck // closed already, where all went well
		for _, i := range q.sound {
			_, whole, err := q.fine(old, i)
			if err != nil {
				return nil, nil, err
			}
			if k := q.key(i); whole && keep(k) {
				all = append(all, origin{k, -1, i})
			}
		}
	}
	slices.SortFunc(all, func(a, b origin) int { return bytes.Compare(a.key[:], b.key[:]) })
	made = &quantised{path: path, dimension: dimension, count: len(all)}
	temp := path + ".new" // one that is killed leaves it to the next
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(temp) // nothing is there any more after the rename
	err = made.write(file, model, all, func(o origin) (record, fine []byte, err error) {
		if o.row >= 0 {
			record, fine = quantise(o.key, rows[o.row].vector)
			return record, fine, nil
		}
		fine, _, err = q.fine(old, o.record)
		return q.record(o.record), fine, err
	})
	if old != nil {
		err = errors.Join(err, old.Close()) // not every system replaces a file that is open
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, nil, err
	}
	if made, status, err = openQuantised(temp, model); err != nil {
		return nil, nil, err
	}
	if made.size() < len(all) {
		return nil, nil, errors.Join(fmt.Errorf("of %d vectors written, %d can be read", len(all), made.size()), made.close())
	}
	made.path = path
	if err := os.Rename(temp, path); err != nil {
		return nil, nil, errors.Join(err, made.close())
	}
	return made, status, nil
}

// write writes header, records and fine parts.
func (q *quantised) write(file *os.File, model string, all []origin, of func(origin) (record, fine []byte, err error)) error {
	if _, err := file.Write(writeVectorHeader(quantisedMagic, q.dimension, q.count, model)); err != nil {
		return err
	}
	records := bufio.NewWriterSize(io.NewOffsetWriter(file, vectorHeader), 1<<20)
	fines := bufio.NewWriterSize(io.NewOffsetWriter(file, q.fineAt(0)), 1<<20)
	for _, o := range all {
		record, fine, err := of(o)
		if err != nil {
			return err
		}
		records.Write(record) //nolint:errcheck // Flush says it
		fines.Write(fine)     //nolint:errcheck // Flush says it
	}
	return errors.Join(records.Flush(), fines.Flush(), file.Sync())
}

// close gives the memory back. No file has none.
func (q *quantised) close() error {
	if q == nil || q.mapped == nil {
		return nil
	}
	mapped := q.mapped
	q.mapped, q.sound = nil, nil
	return release(mapped)
}
