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

	"lifehub/internal/files"
)

// A quantised file has vectors with 12 bits per number, sorted by key:
//
//	header, 4096 bytes, as of a vector file, with the number of records
//	records of 32 + d bytes, d the dimension rounded up to 32:
//	  key (16), crc of the rest of the record (4), scale (float32), crc of its fine part (4), zero (4), a byte per number
//	fine parts of (dimension+1)/2 bytes, in the order of the records: four bits per number, the lower half of a byte first
//
// A number is scale·(16·(byte - 128) + fine - 8); with 8 as its fine part it is accurate
// to 8.5 scales. The records are mapped into memory, which all processes share, and every
// search reads their bytes. The fine parts are read only for the nearest few.
//
// The file is written as a whole, renamed into place and never changed, so a mapping stays
// valid. A damaged or truncated record counts as missing, and its passage is embedded
// again. A damaged fine part counts as 8 until the file is next written, and then the
// passage is embedded again.
type quantised struct {
	path      string
	dimension int
	count     int     // records in the file
	sound     []int32 // undamaged records, in the order of their keys
	mapped    []byte  // header and records
}

const (
	quantisedMagic = "LifeHub vectors at 12 bits 1\n"
	quantisedHead  = 32
	fineBits       = 4
	mostQuantised  = 1<<(7+fineBits) - 1<<(fineBits-1) - 1 // 2039: the byte of 2040 would be 256
	fineZero       = 1 << (fineBits - 1)

	// rescored is the number of nearest vectors that are scored again with their fine
	// parts: enough for the ten nearest (docs/design/vectors.md). The others are ranked
	// by their bytes.
	rescored = 40
)

// padded rounds a dimension up to whole vector instructions.
func padded(dimension int) int { return (dimension + 31) &^ 31 }

// openQuantised maps the file at path. status is nil if the file does not exist; q is
// nil if its header is not of this model.
func openQuantised(path, model string) (q *quantised, status os.FileInfo, err error) {
	defer files.Wrap(&err, "open vectors")
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
	if _, err := io.ReadFull(file, header); err != nil && !errors.Is(err, io.EOF) &&
		!errors.Is(err, io.ErrUnexpectedEOF) {
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

// check finds the undamaged records.
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

// cutShort returns a function to be deferred, which turns a fault from reading a mapped
// file beyond its end, because another program truncated it, into an error, and calls
// lost.
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

// fineAt returns the offset of the fine part of record i in the file.
func (q *quantised) fineAt(i int32) int64 {
	return vectorHeader + int64(q.count)*int64(q.recordSize()) + int64(i)*int64((q.dimension+1)/2)
}

// find returns the position of a key among the records, or where it would be inserted,
// but at least from. Since keys are evenly distributed hashes, it interpolates, and
// reads few records, which take most of the time. A nil q has no records.
func (q *quantised) find(k Key, from int) (at int, ok bool) {
	const guesses = 8 // more guesses mean that the keys are not evenly distributed
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

// records returns the undamaged records, in the order of their keys. A nil q has none.
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

// question is a vector to compare with the bytes of records, at 11 bits per number, so
// that the sum of products fits into 32 bits for any dimension.
type question struct {
	scale   float32
	numbers []int16 // within ±1023, padded
	offset  int32   // to subtract, since each byte is 128 too large
}

func ask(vector []float32) *question {
	asked := &question{scale: largest(vector) / 1023, numbers: make([]int16, padded(len(vector)))}
	for i, f := range vector {
		asked.numbers[i] = int16(math.Round(float64(f / asked.scale)))
		asked.offset += 128 * int32(asked.numbers[i])
	}
	return asked
}

func largest(vector []float32) float32 {
	most := float32(math.SmallestNonzeroFloat32 * (1 << 24)) // keeps quotients finite
	for _, f := range vector {
		most = max(most, f, -f)
	}
	return most
}

// cosine compares a question with the bytes of a record.
func (q *quantised) cosine(asked *question, i int32) float32 {
	return asked.scale * q.scale(i) * (1 << fineBits) * float32(asked.dot(q.record(i)[quantisedHead:])-asked.offset)
}

// dotPortable returns the inner product of the question and the bytes of a record. dot
// uses the processor's vector instructions if it has them.
func (asked *question) dotPortable(b []byte) (sum int32) {
	b = b[:len(asked.numbers)]
	for i, number := range asked.numbers {
		sum += int32(number) * int32(b[i])
	}
	return sum
}

// nearest compares a question with the bytes of some records, and the nearest few again
// with their fine parts.
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

// read opens the file to read fine parts. It is not kept open, since some systems
// cannot replace an open file.
func (q *quantised) read(do func(*os.File) error) error {
	file, err := os.Open(q.path)
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	return errors.Join(do(file), file.Close())
}

// fine reads the fine part of a record. whole is false if it is damaged, truncated, or
// in a file that was replaced.
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

// vector reads a vector with 12 bits per number.
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

// quantise returns the record and the fine part of a vector.
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

// origin is the source of a record in a new file: rows, or another file.
type origin struct {
	key    Key
	row    int32 // -1: the other file
	record int32
}

// rewrite replaces the file by one that has its records for which keep returns true,
// and rows, which it does not have. A nil q has no records.
func (q *quantised) rewrite(path, model string, dimension int, rows []row,
	keep func(Key) bool,
) (made *quantised, status os.FileInfo, err error) {
	defer files.Wrap(&err, "quantise vectors")
	var all []origin
	for n, r := range rows {
		all = append(all, origin{r.key, int32(n), 0})
	}
	var old *os.File
	if q != nil {
		if old, err = os.Open(path); err != nil {
			return nil, nil, err
		}
		defer old.Close() //nolint:errcheck // already closed on success
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
	temp := path + ".new" // one that is left by a kill is overwritten
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(temp) // fails after the rename
	err = made.write(file, model, all, func(o origin) (record, fine []byte, err error) {
		if o.row >= 0 {
			record, fine = quantise(o.key, rows[o.row].vector)
			return record, fine, nil
		}
		fine, _, err = q.fine(old, o.record)
		return q.record(o.record), fine, err
	})
	if old != nil {
		err = errors.Join(err, old.Close()) // some systems cannot replace an open file
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, nil, err
	}
	if made, status, err = openQuantised(temp, model); err != nil {
		return nil, nil, err
	}
	if made.size() < len(all) {
		return nil, nil, errors.Join(fmt.Errorf("of %d vectors written, %d can be read", len(all), made.size()),
			made.close())
	}
	made.path = path
	if err := os.Rename(temp, path); err != nil {
		return nil, nil, errors.Join(err, made.close())
	}
	return made, status, nil
}

// write writes header, records and fine parts.
func (q *quantised) write(file *os.File, model string, all []origin,
	of func(origin) (record, fine []byte, err error),
) error {
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
		records.Write(record) //nolint:errcheck // Flush reports it
		fines.Write(fine)     //nolint:errcheck // Flush reports it
	}
	return errors.Join(records.Flush(), fines.Flush(), file.Sync())
}

// close releases the memory. A nil q has none.
func (q *quantised) close() error {
	if q == nil || q.mapped == nil {
		return nil
	}
	mapped := q.mapped
	q.mapped, q.sound = nil, nil
	return release(mapped)
}
