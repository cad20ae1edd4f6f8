package words

import (
	"slices"
	"testing"
)

func TestTermsOf(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"English is stemmed": {
			"Running the relational databases",
			[]string{"run", "the", "relat", "databas"},
		},
		"accents and case fall away":       {"Müller CAFÉ Ｆｕｌｌ", []string{"muller", "cafe", "full"}},
		"Chinese goes by pairs":            {"我在北京吃饭", []string{"我在", "在北", "北京", "京吃", "吃饭"}},
		"Japanese keeps the marks of kana": {"ガラス", []string{"ガラ", "ラス"}},
		"one character stands alone":       {"猫 and 犬", []string{"猫", "and", "犬"}},
		"mixed scripts part":               {"Go言語入門", []string{"go", "言語", "語入", "入門"}},
		"a flag is its words":              {"git reset --soft HEAD~1", []string{"git", "reset", "soft", "head", "1"}},
		"an identifier is its words": {
			"call useState() in foo_bar.go.",
			[]string{"call", "usest", "in", "foo", "bar", "go"},
		},
		"a tag is its words": {"a #trip/lisbon tag", []string{"a", "trip", "lisbon", "tag"}},
		"C++ is not C":       {"C++, C# or C", []string{"c", "c++", "c", "c#", "or", "c"}},
		"a sum is no name":   {"a+b, x #y", []string{"a", "b", "x", "y"}},
		"letters of one language alone": {
			"Łódź Đakovo Ægir cœur Þór ŒUVRE",
			[]string{"lodz", "dakovo", "aegir", "coeur", "thor", "oeuvr"},
		},
		"emoji and § are terms":   {"🏠❤️ § 17a", []string{"🏠", "❤", "§", "17a"}},
		"marks alone say nothing": {"-- ... !!! ***", nil},
		"broken UTF-8 is no word": {"a\xff\xfeb", []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, term := range Terms(c.text, "") {
				got = append(got, term.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
