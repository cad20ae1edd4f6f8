package words

import (
	"runtime"
	"strings"
	"testing"
)

// Packing and unpacking a note allocate its text only, and not a new compressor of more
// than a megabyte.
func TestPackingReusesItsMemory(t *testing.T) {
	const times = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range times {
		text := strings.Repeat("Sourdough wants time. ", 1+i)
		if got, err := Unpack(compress(text)); err != nil || got != text {
			t.Fatalf("%d bytes came back as %d: %v", len(text), len(got), err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 500_000 {
		t.Errorf("%d bytes a note", each)
	}
}

// Text that cannot be unpacked does not affect the next one.
func TestDamagedTextIsAnErrorOnce(t *testing.T) {
	whole := compress("Sourdough wants time.")
	for _, bad := range [][]byte{nil, {0xff, 0xff}, whole[:len(whole)/2]} {
		if text, err := Unpack(bad); err == nil {
			t.Errorf("%v was unpacked as %q", bad, text)
		}
		if text, err := Unpack(whole); err != nil || text != "Sourdough wants time." {
			t.Errorf("after it: %q, %v", text, err)
		}
	}
}
