package encoder

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

func cosine(t *testing.T, a, b string) float64 {
	t.Helper()
	v, err := Encoder{}.Embed(t.Context(), []string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := range v[0] {
		sum += float64(v[0][i]) * float64(v[1][i])
	}
	return sum
}

// The cosines equal those of the reference implementation from which the table was
// built.
func TestCosinesEqualTheReference(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"bicycle", "bike: brake pads, chain oil", 0.653},
		{"bicycle", "soup with lentils", 0.008},
	} {
		if got := cosine(t, c.a, c.b); math.Abs(got-c.want) > 0.0006 {
			t.Errorf("%q and %q: %.4f, want %.3f", c.a, c.b, got, c.want)
		}
	}
}

func TestInflectedFormsAreFound(t *testing.T) {
	for _, pair := range [][2]string{
		{"Bike", "bike"}, {"dog’s", "dog's"}, {"ｂｉｋｅ", "bike"}, {"‘bike’", "bike"}, {"bike_bike", "bike"}, {"gardenings", "garden"},
	} {
		if got := cosine(t, pair[0], pair[1]); got < 0.999 {
			t.Errorf("%q and %q: %.4f", pair[0], pair[1], got)
		}
	}
	if got := slices.Collect(words("Don't 'stop' rock'n'roll, it’s 3pm_now — 自行车.")); strings.Join(got, "|") != "don't|stop|rock'n|roll|it's|3pm|now|自行车" {
		t.Errorf("cut into %q", got)
	}
}

func TestEveryWordOfTheTableIsFound(t *testing.T) {
	table, err := english()
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for word := range strings.SplitSeq(table.words, "\n") {
		if got := table.find(word); got != row {
			t.Fatalf("%q is in row %d, found in %d", word, row, got)
		}
		row++
	}
	for _, word := range []string{"", "!", "zzzzzzzz", "bicyclist~", "~"} {
		if got := table.find(word); got >= 0 {
			t.Errorf("%q is found in row %d", word, got)
		}
	}
}

func TestNoVectorIsZero(t *testing.T) {
	for _, text := range []string{"", " ", "自行车在哪里", "\xff\xfe", "xqzzt"} {
		v, err := Encoder{}.Embed(t.Context(), []string{text})
		if err != nil || len(v[0]) != 128 || slices.Max(v[0]) != 1 {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func TestQuestionsAreUnderstoodByTheirWords(t *testing.T) {
	for question, want := range map[string]bool{
		"bicycle": true, "where is my bicycle?": true, "bicycle xqzzt": true, "Wo steht denn mein Fahrrad?": false, "自行车在哪里": false, "xqzzt": false, "": false,
	} {
		if got := (Encoder{}).Understands(question); got != want {
			t.Errorf("%q is understood: %v, want %v", question, got, want)
		}
	}
}

func TestDamagedTableIsRejected(t *testing.T) {
	table := func(magic string, count, numbers int, words string, rest int) string {
		b := append([]byte(magic), "en\x00\x00"...)
		for _, n := range []int{count, numbers, len(words)} {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		return string(append(append(b, words...), make([]byte, rest)...))
	}
	good := table("LHWORDS2", 2, 3, "ab\nb", 2*(4+3))
	if got, err := read(good); err != nil || got.language != "en" || got.find("b") != 1 {
		t.Errorf("a table of two words: %+v, %v", got, err)
	}
	for name, file := range map[string]string{
		"empty": "", "cut": good[:len(good)-1], "longer": good + "x", "another format": "LHWORDS1" + good[8:],
		"fewer words": table("LHWORDS2", 3, 3, "ab\nb", 3*(4+3)), "no numbers": table("LHWORDS2", 2, 0, "ab\nb", 8),
	} {
		if _, err := read(file); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
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
