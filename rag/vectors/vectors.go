// Package vectors stores the embeddings of a vault's passages and finds the nearest of
// them, in local files or on a Chroma server.
package vectors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"unsafe"
)

// A vector file has the embeddings of a vault's passages by one model, by the hash of the
// embedded text:
//
//	header, 4096 bytes: magic, dimension, length of the model's name, the name, crc
//	records of 24 + 4·dimension bytes: key (16), crc of all else (4), zero (4), float32s
//
// Records are only appended, or overwrite unused ones. A truncated or damaged record does
// not match its checksum and counts as missing, so its passage is embedded again.

// Key identifies the embedded text.
type Key [16]byte

func KeyOf(raw []byte) (k Key) {
	copy(k[:], raw)
	return k
}

const (
	vectorMagic  = "LifeHub vectors 1\n"
	vectorHeader = 4096
	recordHead   = 24
	maxDimension = 1 << 14
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// vectorFile is an open vector file with all its vectors in memory.
type vectorFile struct {
	file      *os.File
	limited   bool // it is open read-only
	model     string
	dimension int   // 0: nothing is embedded yet
	rows      []row // the vectors in memory
	at        map[Key]int
	slots     int      // records in the file, including unreadable ones
	free      []int    // slots of unreadable records, which are reused
	blocks    [][]byte // memory read on opening, which the vectors point into
	size      int64    // of the file when it was read, to notice changes by other processes
}

// row is one vector in memory.
type row struct {
	key    Key
	slot   int
	vector []float32 // of length 1
}

// openVectors reads the file at path, or creates an empty one. Damaged records are left
// out. A file that cannot be written is opened read-only.
func openVectors(path, model string) (*vectorFile, error) {
	file, limited := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if limited != nil {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, fmt.Errorf("open vectors: %w", limited)
		}
	}
	v := &vectorFile{file: file, limited: limited != nil, model: model, at: map[Key]int{}}
	if err := v.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open vectors: %w", err), file.Close())
	}
	return v, nil
}

func (v *vectorFile) load() error {
	status, err := v.file.Stat()
	if err != nil {
		return err
	}
	header := make([]byte, vectorHeader)
	if _, err := io.ReadFull(v.file, header); err != nil && !errors.Is(err, io.EOF) &&
		!errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	dimension, _, model, ok := readVectorHeader(vectorMagic, header)
	if !ok || model != v.model {
		return nil // empty, of another model, or without its header: the first put starts it over
	}
	v.dimension, v.size = dimension, status.Size()
	record := recordHead + 4*dimension
	v.slots = max(0, int(status.Size()-vectorHeader)/record) // another process may have emptied it since Stat
	if v.slots == 0 {
		return nil
	}
	block, err := offHeap(v.slots * record)
	if err != nil {
		return err
	}
	// EOF: another process has just emptied it
	if _, err := v.file.ReadAt(block, vectorHeader); err != nil && !errors.Is(err, io.EOF) {
		return errors.Join(err, release(block))
	}
	v.blocks = append(v.blocks, block)
	v.rows, v.at = make([]row, 0, v.slots), make(map[Key]int, v.slots)
	for slot := range v.slots {
		bytes := block[slot*record : (slot+1)*record]
		k, ok := readRecord(bytes)
		if !ok || v.has(k) {
			v.free = append(v.free, slot)
			continue
		}
		v.add(row{k, slot, floats(bytes[recordHead:])})
	}
	return nil
}

func (v *vectorFile) has(k Key) bool {
	_, ok := v.at[k]
	return ok
}

func (v *vectorFile) add(r row) {
	v.at[r.key] = len(v.rows)
	v.rows = append(v.rows, r)
}

func (v *vectorFile) remove(k Key) {
	i, last := v.at[k], len(v.rows)-1
	v.rows[i] = v.rows[last]
	v.at[v.rows[i].key] = i
	v.rows = v.rows[:last]
	delete(v.at, k)
}

// reset empties the file, for vectors of a dimension. None of the old vectors may be
// used afterwards.
func (v *vectorFile) reset(dimension int) error {
	if err := v.release(); err != nil {
		return err
	}
	v.dimension, v.slots, v.free, v.size = dimension, 0, nil, 0
	if err := v.file.Truncate(0); err != nil {
		return err
	}
	_, err := v.file.WriteAt(writeVectorHeader(vectorMagic, dimension, 0, v.model), 0)
	v.size = vectorHeader
	return err
}

// put adds vectors of length 1, which must have the file's dimension; the first ones
// determine it.
func (v *vectorFile) put(keys []Key, embeddings [][]float32) error {
	if len(keys) == 0 {
		return nil
	}
	if v.dimension != len(embeddings[0]) {
		if err := v.reset(len(embeddings[0])); err != nil {
			return fmt.Errorf("begin vectors: %w", err)
		}
	}
	record := recordHead + 4*v.dimension
	block := make([]byte, 0, len(keys)*record)
	tail := v.slots
	for i, k := range keys {
		if v.has(k) {
			continue
		}
		bytes := appendRecord(make([]byte, 0, record), k, embeddings[i])
		slot := v.slots
		if n := len(v.free); n > 0 {
			slot, v.free = v.free[n-1], v.free[:n-1]
			if _, err := v.file.WriteAt(bytes, vectorHeader+int64(slot)*int64(record)); err != nil {
				return fmt.Errorf("write vectors: %w", err)
			}
		} else {
			v.slots++
			block = append(block, bytes...)
		}
		v.add(row{k, slot, floats(bytes[recordHead:])})
	}
	if len(block) > 0 {
		at := vectorHeader + int64(tail)*int64(record)
		if _, err := v.file.WriteAt(block, at); err != nil {
			v.slots = tail
			for _, k := range keys {
				if i, ok := v.at[k]; ok && v.rows[i].slot >= tail {
					v.remove(k)
				}
			}
			return fmt.Errorf("write vectors: %w", errors.Join(err, v.file.Truncate(at)))
		}
	}
	v.size = max(v.size, vectorHeader+int64(v.slots)*int64(record))
	return nil
}

// drop frees records for reuse.
func (v *vectorFile) drop(what func(Key) bool) {
	for _, r := range slices.Clone(v.rows) {
		if what(r.key) {
			v.free = append(v.free, r.slot)
			v.remove(r.key)
		}
	}
}

// changedOutside reports whether another process changed the file since it was read, or
// whether a read-only file can now be written.
func (v *vectorFile) changedOutside() bool {
	if v.limited {
		if file, err := os.OpenFile(v.file.Name(), os.O_RDWR, 0o600); err == nil {
			return file.Close() == nil
		}
	}
	status, err := v.file.Stat()
	return err == nil && status.Size() != v.size
}

// Flush makes the changes durable.
func (v *vectorFile) Flush() error { return v.file.Sync() }

// Close releases the memory: no vector of the file may be used afterwards.
func (v *vectorFile) Close() error {
	return errors.Join(v.file.Close(), v.release())
}

func (v *vectorFile) release() (err error) {
	v.rows = nil
	v.at = map[Key]int{}
	for _, block := range v.blocks {
		err = errors.Join(err, release(block))
	}
	v.blocks = nil
	return err
}

// writeVectorHeader returns the first page of a file. count is 0 in a vector file,
// which grows.
func writeVectorHeader(magic string, dimension, count int, model string) []byte {
	header := make([]byte, vectorHeader)
	n := copy(header, magic)
	binary.LittleEndian.PutUint32(header[n:], uint32(dimension))
	binary.LittleEndian.PutUint32(header[n+4:], uint32(len(model)))
	copy(header[n+8:vectorHeader-8], model)
	binary.LittleEndian.PutUint32(header[vectorHeader-8:], uint32(count))
	binary.LittleEndian.PutUint32(header[vectorHeader-4:], crc32.Checksum(header[:vectorHeader-4], castagnoli))
	return header
}

func readVectorHeader(magic string, header []byte) (dimension, count int, model string, ok bool) {
	n := len(magic)
	sum := binary.LittleEndian.Uint32(header[vectorHeader-4:])
	if !bytes.HasPrefix(header, []byte(magic)) || sum != crc32.Checksum(header[:vectorHeader-4], castagnoli) {
		return 0, 0, "", false
	}
	dimension = int(binary.LittleEndian.Uint32(header[n:]))
	length := int(binary.LittleEndian.Uint32(header[n+4:]))
	count = int(binary.LittleEndian.Uint32(header[vectorHeader-8:]))
	if dimension < 1 || dimension > maxDimension || length > vectorHeader-n-16 || count > math.MaxInt32 {
		return 0, 0, "", false
	}
	return dimension, count, string(header[n+8 : n+8+length]), true
}

func appendRecord(buffer []byte, k Key, vector []float32) []byte {
	start := len(buffer)
	buffer = append(buffer, k[:]...)
	buffer = append(buffer, make([]byte, recordHead-len(k))...)
	for _, f := range vector {
		buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(f))
	}
	record := buffer[start:]
	binary.LittleEndian.PutUint32(record[len(k):], recordSum(record))
	return buffer
}

func readRecord(record []byte) (k Key, ok bool) {
	copy(k[:], record)
	return k, binary.LittleEndian.Uint32(record[len(k):]) == recordSum(record)
}

// recordSum never matches a record of zeros.
func recordSum(record []byte) uint32 {
	sum := crc32.Checksum(record[:len(Key{})], castagnoli)
	return ^crc32.Update(sum, castagnoli, record[recordHead:])
}

// floats converts little-endian bytes to float32s without copying. On a big-endian
// machine their bytes are swapped in place.
func floats(bytes []byte) []float32 {
	vector := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/4)
	if bigEndian {
		for i := range vector {
			vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
		}
	}
	return vector
}

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1
