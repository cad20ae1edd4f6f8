package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

var stemmers = map[Lang]func(*snowballstem.Env) bool{
	"": english.Stem, "ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "es": spanish.Stem,
	"fi": finnish.Stem, "fr": french.Stem,
	"hu": hungarian.Stem, "it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem,
	"pt": portuguese.Stem, "ro": romanian.Stem,
	"ru": russian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// longestWord is the maximum length of a word in bytes; longer strings are not
// stemmed.
const longestWord = 64

// Stem returns the stem of a word in lower case. Accents affect the endings,
// except in English, for which the word must be folded first.
func Stem(word string, in Lang) string {
	word = strings.ToLower(word)
	stem := stemmers[in]
	if len(word) > longestWord || stem == nil {
		return word
	}
	env := snowballstem.NewEnv(word)
	stem(env)
	if env.Current() == "" {
		return word
	}
	return env.Current()
}

// stems caches recent stems, indexed by the hash of the word. Most of any text
// consists of a few thousand words, and stemming is most of the cost of indexing.
var (
	stems    [1 << 14]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

type stemmed struct {
	word, stem string
	in         Lang
}

// FoldedStem returns the form of a word that is indexed: its stem, folded, since
// many users omit accents.
func FoldedStem(word string, in Lang) string {
	if len(word) > longestWord {
		return foldedStem(word, in)
	}
	place := &stems[maphash.String(stemSeed, word)%uint64(len(stems))]
	if seen := place.Load(); seen != nil && seen.word == word && seen.in == in {
		return seen.stem
	}
	stem := foldedStem(word, in)
	// copies, so that the cache does not retain whole notes
	place.Store(&stemmed{strings.Clone(word), strings.Clone(stem), in})
	return stem
}

func foldedStem(word string, in Lang) string {
	if in == "" {
		return Stem(Fold(word), in)
	}
	return Fold(Stem(word, in))
}
