package encoder

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func tableOf(t testing.TB) *table {
	t.Helper()
	all, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The pieces and vectors equal those of the reference implementation.
func TestVectorsEqualTheReference(t *testing.T) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Text   string    `json:"text"`
		Pieces []string  `json:"pieces"`
		First8 []float64 `json:"first8"`
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	all := tableOf(t)
	for _, w := range want {
		pieces := []string{}
		for run := range runs(w.Text) {
			cut := all.cut(string(run))
			slices.Reverse(cut)
			for _, i := range cut {
				pieces = append(pieces, all.piece(int(i)))
			}
		}
		if !slices.Equal(pieces, w.Pieces) {
			t.Errorf("%q is cut into %q, want %q", w.Text, pieces, w.Pieces)
		}
		vector := all.encode(w.Text, cuts{})
		for i, x := range w.First8 {
			if math.Abs(float64(vector[i])-x) > 0.00002 {
				t.Errorf("%q: %v, want %v", w.Text, vector[:8], w.First8)
				break
			}
		}
	}
	if len(want) < 10 {
		t.Errorf("only %d texts", len(want))
	}
}

func TestEveryPieceIsFound(t *testing.T) {
	all := tableOf(t)
	for i := range all.count() {
		if m := all.narrow(matches{0, all.count(), 0}, all.piece(i)); all.whole(m) != i {
			t.Fatalf("%q is piece %d, found %d", all.piece(i), i, all.whole(m))
		}
	}
}

func TestNoVectorIsZero(t *testing.T) {
	for _, text := range []string{"", " ", "⠀⠀", "\xff\xfe", "…—"} {
		v, err := Encoder{}.Embed(t.Context(), []string{text})
		if err != nil || len(v[0]) != 192 || slices.Max(v[0]) != 1 {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func TestDamagedTableIsRejected(t *testing.T) {
	table := func(magic string, version, count, numbers, bits int, pieces string, rest int) string {
		b := []byte(magic)
		for _, n := range []int{version, count, numbers, bits, len(pieces), 0, 0, 0} {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		return string(append(append(b, pieces...), make([]byte, rest)...))
	}
	good := table("LHPIECE1", 1, 2, 4, 4, " ab\nb", 2*(4+2))
	if got, err := read(good); err != nil || got.count() != 2 || got.piece(0) != " ab" || got.piece(1) != "b" {
		t.Errorf("a table of two pieces: %+v, %v", got, err)
	}
	for name, file := range map[string]string{
		"empty": "", "cut": good[:len(good)-1], "longer": good + "x", "another format": "LHPIECE2" + good[8:],
		"another version": table("LHPIECE1", 2, 2, 4, 4, " ab\nb", 2*(4+2)),
		"another width":   table("LHPIECE1", 1, 2, 4, 8, " ab\nb", 2*(4+4)),
		"fewer pieces":    table("LHPIECE1", 1, 3, 4, 4, " ab\nb", 3*(4+2)),
		"more pieces":     table("LHPIECE1", 1, 1, 4, 4, " ab\nb", 4+2),
		"no numbers":      table("LHPIECE1", 1, 2, 0, 4, " ab\nb", 2*4),
	} {
		if _, err := read(file); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever the text, its runs are cut without loss of a known character.
func FuzzCut(f *testing.F) {
	for _, seed := range []string{
		"Zimmerpflanzen gießen", "مَدْرَسَة", "ﬁne ½ Ａ１", "ポルトガル旅行の荷物",
		"\xff0", "a\u0301\u0301",
	} {
		f.Add(seed)
	}
	all := tableOf(f)
	f.Fuzz(func(t *testing.T, text string) {
		for run := range runs(text) {
			if !utf8.Valid(run) {
				t.Fatalf("the run %q of %q is not UTF-8", run, text)
			}
			length := 0
			for _, i := range all.cut(string(run)) {
				length += len(strings.TrimPrefix(all.piece(int(i)), " "))
			}
			if length > len(run) {
				t.Fatalf("%q is cut into %d bytes", run, length)
			}
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	text := []string{strings.Repeat("I run three times a week and raise the long run by ten percent. ", 13)}
	b.SetBytes(int64(len(text[0])))
	for b.Loop() {
		if _, err := (Encoder{}).Embed(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _, err := read(embedded); err != nil {
			b.Fatal(err)
		}
	}
}
