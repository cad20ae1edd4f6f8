package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"lifehub/internal/benches"
	"lifehub/internal/testenv"
	"lifehub/internal/text"
	"lifehub/rag/words"
)

// wordNet looks up synonyms.
type wordNet struct {
	meanings map[string]map[string][]int64 // part of speech → word → offsets of its meanings, most frequent first
	data     map[string]*os.File
}

// partsOfSpeech are WordNet's, in the order in which a word is looked up.
var partsOfSpeech = []string{"noun", "verb", "adj"}

func openWordNet(t *testing.T) wordNet {
	t.Helper()
	dir := testenv.WordNet(t)
	w := wordNet{map[string]map[string][]int64{}, map[string]*os.File{}}
	for _, part := range partsOfSpeech {
		w.meanings[part] = map[string][]int64{}
		if err := benches.ReadLines(filepath.Join(dir, "index."+part), func(line []byte) error {
			fields := strings.Fields(string(line))
			if line[0] == ' ' { // the licence
				return nil
			}
			count, err := strconv.Atoi(fields[2])
			if err != nil {
				return err
			}
			for _, field := range fields[len(fields)-count:] {
				at, err := strconv.ParseInt(field, 10, 64)
				if err != nil {
					return err
				}
				w.meanings[part][fields[0]] = append(w.meanings[part][fields[0]], at)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(filepath.Join(dir, "data."+part))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() }) //nolint:errcheck // only read
		w.data[part] = file
	}
	return w
}

// others returns synonyms for the two most frequent meanings of a word in each part of
// speech, followed by hypernyms.
func (w wordNet) others(t *testing.T, word string) (all []string) {
	t.Helper()
	var kinds []string
	for _, part := range partsOfSpeech {
		for _, form := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es"), strings.TrimSuffix(word, "ed"), strings.TrimSuffix(word, "ing"), strings.TrimSuffix(word, "d")} {
			places := w.meanings[part][form]
			for _, at := range places[:min(2, len(places))] {
				same, above := w.meaning(t, part, at)
				all = append(all, same...)
				if above > 0 {
					same, _ = w.meaning(t, part, above)
					kinds = append(kinds, same...)
				}
			}
			if places != nil {
				break
			}
		}
	}
	return append(all, kinds...)
}

// meaning returns the words of one meaning, and the offset of its hypernym; 0 if it has
// none.
func (w wordNet) meaning(t *testing.T, part string, at int64) (all []string, above int64) {
	t.Helper()
	buffer := make([]byte, 16<<10)
	n, _ := w.data[part].ReadAt(buffer, at) //nolint:errcheck // the last one is shorter
	line, _, _ := strings.Cut(string(buffer[:n]), "\n")
	fields := strings.Fields(line)
	count, err := strconv.ParseInt(fields[3], 16, 0)
	if err != nil {
		t.Fatal(fmt.Errorf("%s at %d: %w", part, at, err))
	}
	for i := range int(count) {
		word, _, _ := strings.Cut(fields[4+2*i], "(")
		all = append(all, strings.ReplaceAll(word, "_", " "))
	}
	for i, field := range fields {
		if field == "@" {
			above, err = strconv.ParseInt(fields[i+1], 10, 64)
			if err != nil {
				t.Fatal(fmt.Errorf("%s at %d: %w", part, at, err))
			}
			break
		}
	}
	return all, above
}

// vocabulary is the set of terms of some texts.
type vocabulary map[string]bool

func (v vocabulary) add(text string) {
	for _, term := range words.Terms(text, "") {
		v[term.Text] = true
	}
}

// holdsAny reports whether a content word of a phrase is in the vocabulary.
func (v vocabulary) holdsAny(phrase string) bool {
	for _, term := range words.Terms(phrase, "") {
		if v[term.Text] && !text.StopWord(strings.ToLower(phrase[term.Start:term.End]), "") {
			return true
		}
	}
	return false
}

// inOtherWords rewrites a question without content words of the vocabulary: each is
// replaced by a synonym, or dropped. It returns "" if fewer than two of the question's
// own words would remain.
func (w wordNet) inOtherWords(t *testing.T, question string, v vocabulary) string {
	t.Helper()
	var said []string
	telling := 0
	for word := range strings.FieldsSeq(question) {
		bare := strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		bare = strings.TrimSuffix(strings.TrimSuffix(bare, "'s"), "’s")
		switch {
		case bare == "":
			continue
		case text.StopWord(bare, ""):
			said = append(said, bare)
			continue
		case v.holdsAny(bare):
			other := ""
			for _, o := range w.others(t, bare) {
				if !v.holdsAny(o) && !strings.EqualFold(o, bare) {
					other = o
					break
				}
			}
			if bare = other; bare == "" {
				continue
			}
		}
		said = append(said, bare)
		telling++
	}
	if telling < 2 {
		return ""
	}
	return strings.Join(said, " ")
}
