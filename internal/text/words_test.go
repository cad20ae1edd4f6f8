package text

import (
	"slices"
	"strings"
	"testing"
)

func TestWordsOf(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"letters and numbers": {"Running 10 km, twice!", []string{"Running", "10", "km", "twice"}},
		"punctuation of code separates words": {
			"foo_bar.go --soft HEAD~1",
			[]string{"foo", "bar", "go", "soft", "HEAD", "1"},
		},
		"an apostrophe separates words":      {"don’t c'est", []string{"don", "t", "c", "est"}},
		"numbers of any kind":                {"12 m² ½", []string{"12", "m²", "½"}},
		"accents in either spelling":         {"résumé re\u0301sume\u0301", []string{"résumé", "re\u0301sume\u0301"}},
		"vowels of Hindi stay with a word":   {"हिन्दी में", []string{"हिन्दी", "में"}},
		"Chinese is split into pairs":        {"我在北京吃饭", []string{"我在", "在北", "北京", "京吃", "吃饭"}},
		"an isolated character is a word":    {"猫 and 犬", []string{"猫", "and", "犬"}},
		"a change of script separates words": {"Go言語入門2025年", []string{"Go", "言語", "語入", "入門", "2025", "年"}},
		"Japanese long vowels stay":          {"ラーメン 人々", []string{"ラー", "ーメ", "メン", "人々"}},
		"a mark of kana stays":               {"か\u3099く", []string{"か\u3099く"}},
		"Korean":                             {"서울에 갑니다", []string{"서울", "울에", "갑니", "니다"}},
		"Thai pairs include all marks":       {"วิ่งไป", []string{"วิ่ง", "งไ", "ไป"}},
		"punctuation alone has no words":     {"-- ... !!! *** ❤️ 👍🏽", nil},
		"invalid UTF-8 is not a word":        {"a\xff\xfeb", []string{"a", "b"}},
		"nothing":                            {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for w := range Words(c.text) {
				got = append(got, w.Text)
				if c.text[w.Start:w.End()] != w.Text {
					t.Errorf("%q is not at %d", w.Text, w.Start)
				}
				if first := []rune(w.Text)[0]; w.Unspaced != Unspaced(first) {
					t.Errorf("%q: unspaced is %v", w.Text, w.Unspaced)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWordsCanStopEarly(t *testing.T) {
	for _, text := range []string{"one two", "我在北京吃饭", "猫 犬"} {
		for range Words(text) {
			break
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Running": "running", "Müller": "muller", "CAFÉ": "cafe", "e\u0301": "e", "Ｆｕｌｌ１": "full1", "Straße": "strasse",
		"STRASSE": "strasse", "ẞ": "ss",
		"Ёлка": "елка", "Ώρα": "ωρα", "كِتَاب": "كتاب", "שָׁלוֹם": "שלום", // marks that are often omitted
		// marks that form different letters
		"ガラス": "ガラス", "ｶﾞﾗｽ": "ガラス", "か\u3099": "が", "हिन्दी": "हिन्दी", "วิ่ง": "วิ่ง", "서울": "서울",
		"m²": "m2", "ﬁ": "fi", "": "",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q folds to %q, want %q", in, got, want)
		}
	}
}

// Gigabytes of notes are processed by Words.
func TestWordsAllocateNothing(t *testing.T) {
	text := strings.Repeat("I run three times a week. Im März läuft Müller. 明天早上跑步。 ", 100)
	n := 0
	if allocated := testing.AllocsPerRun(3, func() {
		for w := range Words(text) {
			n += len(w.Text)
		}
	}); allocated > 0 {
		t.Errorf("%g allocations", allocated)
	}
}

func FuzzWords(f *testing.F) {
	f.Add("I run 3 times, don’t I? 明天 วิ่ง\xff")
	f.Fuzz(func(t *testing.T, text string) {
		last := -1
		for w := range Words(text) {
			if w.Start <= last || w.Text == "" || text[w.Start:w.End()] != w.Text {
				t.Fatalf("%q at %d after %d in %q", w.Text, w.Start, last, text)
			}
			last = w.Start
			Stem(w.Text, "de")
		}
		Language(text)
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("I run three times a week and raise the long run by ten percent. ", 160)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for range Words(text) { //nolint:revive // only the splitting is measured
		}
	}
}

func TestWholeWordsCutNoWord(t *testing.T) {
	for _, c := range []struct {
		text, part string
		want       bool
	}{
		{"the boiler room", "boiler", true},
		{"boiler", "boiler", true},
		{"boilers", "boiler", false},
		{"reboiler", "boiler", false},
		{"C++, again", "C++", true},
		{"my C++11 notes", "C++", true},
		{"résumé́", "résumé", false}, // a mark belongs to its letter
		{"昨日犬が来た", "犬", true},
		{"iPhone用", "iPhone", true},
	} {
		from := strings.Index(c.text, c.part)
		if got := WholeWords(c.text, from, from+len(c.part)); got != c.want {
			t.Errorf("%q in %q: %v", c.part, c.text, got)
		}
	}
}
