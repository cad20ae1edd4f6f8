// Package tinygguf creates language models of a few hundred KB that a real Ollama
// server loads in a moment: chat models with scripted answers or random weights,
// and an embedding model that knows some synonyms. Equal arguments produce equal
// bytes.
package tinygguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// The GGUF format, version 3: github.com/ggml-org/ggml/blob/master/docs/gguf.md.
const (
	version = 3
	align   = 32 // alignment of tensors in bytes
)

// Tensor types.
const (
	typeF32 = 0
	typeF16 = 1
)

// Value types of the metadata.
const (
	valueUint32  = 4
	valueInt32   = 5
	valueFloat32 = 6
	valueBool    = 7
	valueString  = 8
	valueArray   = 9
)

type pair struct {
	key   string
	value any
}

type tensor struct {
	name string
	dims []uint64 // row length first
	typ  uint32
	data []float32
}

type file struct {
	pairs   []pair
	tensors []tensor
}

func (f *file) set(key string, value any) { f.pairs = append(f.pairs, pair{key, value}) }

// add appends a tensor with len(data) = cols × rows values; rows 0 means a
// vector.
func (f *file) add(name string, typ uint32, data []float32, cols, rows int) {
	dims := []uint64{uint64(cols)}
	if rows > 0 {
		dims = append(dims, uint64(rows))
	}
	f.tensors = append(f.tensors, tensor{name, dims, typ, data})
}

// bytes encodes the file: header, metadata, tensor table, tensor data.
func (f *file) bytes() []byte {
	w := &writer{}
	w.WriteString("GGUF")
	w.put(uint32(version), uint64(len(f.tensors)), uint64(len(f.pairs)))
	for _, p := range f.pairs {
		w.text(p.key)
		w.value(p.value)
	}
	var offset uint64
	for _, t := range f.tensors {
		w.text(t.name)
		w.put(uint32(len(t.dims)), t.dims, t.typ, offset)
		offset += t.size() + padding(t.size())
	}
	w.pad()
	for _, t := range f.tensors {
		if t.typ == typeF16 {
			half := make([]uint16, len(t.data))
			for i, v := range t.data {
				half[i] = float16(v)
			}
			w.put(half)
		} else {
			w.put(t.data)
		}
		w.pad()
	}
	return w.Bytes()
}

func (t tensor) size() uint64 {
	if t.typ == typeF16 {
		return uint64(len(t.data)) * 2
	}
	return uint64(len(t.data)) * 4
}

func padding(n uint64) uint64 { return (align - n%align) % align }

type writer struct{ bytes.Buffer }

// put appends values in little-endian order.
func (w *writer) put(values ...any) {
	for _, v := range values {
		_ = binary.Write(w, binary.LittleEndian, v)
	}
}

func (w *writer) text(s string) {
	w.put(uint64(len(s)))
	w.WriteString(s)
}

func (w *writer) pad() { w.Write(make([]byte, padding(uint64(w.Len())))) }

func (w *writer) value(v any) {
	switch x := v.(type) {
	case uint32:
		w.put(uint32(valueUint32), x)
	case float32:
		w.put(uint32(valueFloat32), x)
	case bool:
		w.put(uint32(valueBool), x)
	case string:
		w.put(uint32(valueString))
		w.text(x)
	case []string:
		w.put(uint32(valueArray), uint32(valueString), uint64(len(x)))
		for _, s := range x {
			w.text(s)
		}
	case []float32:
		w.put(uint32(valueArray), uint32(valueFloat32), uint64(len(x)), x)
	case []int32:
		w.put(uint32(valueArray), uint32(valueInt32), uint64(len(x)), x)
	default:
		panic(fmt.Sprintf("tinygguf: no metadata of type %T", v))
	}
}

// float16 rounds to the nearest half-precision value. Numbers too small become 0,
// numbers too large the largest half.
func float16(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b>>16) & 0x8000
	exponent := int32(b>>23&0xff) - 127 + 15
	fraction := b & 0x7fffff
	switch {
	case exponent <= 0:
		return sign
	case exponent >= 31:
		return sign | 0x7bff
	}
	half := uint16(exponent)<<10 | uint16(fraction>>13)
	if fraction&0x1000 != 0 {
		half++
	}
	return sign | half
}

func ones(n int) []float32 { return filled(n, 1) }

func filled(n int, v float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = v
	}
	return x
}
