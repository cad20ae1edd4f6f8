package words

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTermsOf(t *testing.T) {
	cases := map[string]struct {
		text  string
		words []string
		exact []string
	}{
		"English is stemmed":               {"Running the relational databases", []string{"run", "the", "relat", "databas"}, nil},
		"accents and case fall away":       {"Müller CAFÉ Ｆｕｌｌ", []string{"muller", "cafe", "full"}, nil},
		"Chinese goes by pairs":            {"我在北京吃饭", []string{"我在", "在北", "北京", "京吃", "吃饭"}, nil},
		"Japanese keeps the marks of kana": {"ガラス", []string{"ガラ", "ラス"}, nil},
		"one character stands alone":       {"猫 and 犬", []string{"猫", "and", "犬"}, nil},
		"mixed scripts part":               {"Go言語入門", []string{"go", "言語", "語入", "入門"}, nil},
		"a flag is kept whole":             {"git reset --soft HEAD~1", []string{"git", "reset", "soft", "head", "1"}, []string{"--soft", "head~1"}},
		"an identifier is kept whole":      {"call useState() in foo_bar.go.", []string{"call", "usest", "in", "foo", "bar", "go"}, []string{"usestate", "foo_bar.go"}},
		"humps make an identifier":         {"see useState, please", []string{"see", "usest", "pleas"}, []string{"usestate"}},
		"tags are kept whole":              {"a #trip/lisbon tag", []string{"a", "trip", "lisbon", "tag"}, []string{"#trip/lisbon"}},
		"a call holds its name":            {"`syncLedgerEntries()`, a.go(\"x/y\")", []string{"syncledgerentri", "a", "go", "x", "y"}, []string{"syncledgerentries", "a.go", "x/y"}},
		"a link holds its address":         {"[The docs](docs/setup_guide.md).", []string{"the", "doc", "doc", "setup", "guid", "md"}, []string{"docs/setup_guide.md"}},
		"C++ is not C":                     {"C++ or C", []string{"c", "or", "c"}, []string{"c++"}},
		"marks alone say nothing":          {"-- ... !!! ***", nil, nil},
		"broken UTF-8 is no word":          {"a\xff\xfeb", []string{"a", "b"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var words, exact []string
			for _, term := range Terms(c.text, "") {
				if term.Exact {
					exact = append(exact, unmark(term.Text))
				} else {
					words = append(words, term.Text)
				}
			}
			if !slices.Equal(words, c.words) || !slices.Equal(exact, c.exact) {
				t.Errorf("got %q and exactly %q, want %q and %q", words, exact, c.words, c.exact)
			}
		})
	}
}

// unmark gives an exact term its punctuation back.
func unmark(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == exactMark:
			return -1
		case r > exactMark && r < exactMark+128:
			return r - exactMark
		}
		return r
	}, text)
}

// What is surely no more than a word holds nothing that means more than its letters.
func TestAPlainWordHoldsNoCode(t *testing.T) {
	const signs = "aZ9.:,;!?()'\"-_/#+é文 "
	random := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 200_000 {
		piece := ""
		for range 1 + random.IntN(6) {
			r := []rune(signs)
			piece += string(r[random.IntN(len(r))])
		}
		if !plainWord(piece) {
			continue
		}
		plain++
		for part := range strings.FieldsFuncSeq(piece, partsCode) {
			if looksLikeCode(strings.TrimRight(strings.TrimLeft(part, ":'’"), ":.'’")) {
				t.Fatalf("%q holds %q", piece, part)
			}
		}
	}
	if plain < 1000 {
		t.Errorf("%d pieces were plain", plain)
	}
}
