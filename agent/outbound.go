package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"lifehub/llm"
)

// maxUnsaid bounds the words that a question names.
const maxUnsaid = 8

// unsaid lists the words of an outward call that the user did not say in this
// conversation and that come from notes, memory or results. When foreign text
// had a part in the call, any word may be one of these in disguise, so all
// that were not said are listed. Without that, words that nobody wrote pass,
// but for those that look like a disguise (see disguises).
func (t *turn) unsaid(input json.RawMessage, made *origin) (list []string) {
	said, private := newVocabulary(t.Instructions), newVocabulary(made.private...)
	for _, m := range append(slices.Clip(t.history), llm.Message{Role: llm.User, Text: t.question}) {
		typed, brought := "", m.Text
		if m.Role == llm.User {
			typed, brought = t.split(m.Text)
		}
		said.add(typed)
		private.add(brought)
	}
	private.add(t.summary.Text)
	for _, f := range t.facts {
		private.add(f.Text)
	}
	for _, r := range t.past {
		private.add(r.Question)
		private.add(r.Answer)
	}
	text := withoutDates(strings.Join(textsIn(input), "\n"), t.Now())
	counts := 0
	for _, raw := range splitWords(text) {
		switch word := foldText(raw); {
		case said.holds(word) || stopWords[word] || dateWords[word]:
		case isCount(word) && counts < maxCounts:
			counts++
		case len(made.foreign) > 0 || private.holds(word) || private.disguises(raw):
			if word = clip(word, 60); !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
	}
	for _, word := range spelled(wordsOf(text)) {
		if len(private.words) > 0 && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	if len(list) > maxUnsaid {
		list = append(list[:maxUnsaid:maxUnsaid], fmt.Sprintf("and %d more", len(list)-maxUnsaid))
	}
	return list
}

// textsIn lists the texts and numbers inside arguments, keys too: a server may
// take any.
func textsIn(input json.RawMessage) (texts []string) {
	args, err := readObject(input)
	if err != nil {
		return []string{string(input)}
	}
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			texts = append(texts, v)
		case json.Number:
			texts = append(texts, v.String())
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for name, item := range v {
				texts = append(texts, name)
				walk(item)
			}
		}
	}
	for _, value := range args { // the names of arguments are the tool's own
		walk(value)
	}
	slices.Sort(texts)
	return texts
}

// vocabulary is the words of some texts.
type vocabulary struct {
	words map[string]bool
	text  strings.Builder // for scripts that part no words
}

func newVocabulary(texts ...string) *vocabulary {
	v := &vocabulary{words: map[string]bool{}}
	for _, text := range texts {
		v.add(text)
	}
	return v
}

func (v *vocabulary) add(text string) {
	for _, word := range wordsOf(text) {
		v.words[word] = true
		v.words[bareWord(word)] = true
	}
	v.text.WriteString(foldText(text))
	v.text.WriteByte('\n')
}

// holds tells whether a word was among the texts, also in another number or case.
func (v *vocabulary) holds(word string) bool {
	if v.words[word] || v.words[bareWord(word)] {
		return true
	}
	return strings.ContainsFunc(word, isCJK) && strings.Contains(v.text.String(), word)
}

// bareWord takes a common ending off a word of letters.
func bareWord(word string) string {
	for _, ending := range []string{"es", "en", "er", "em", "s", "n", "e"} {
		if short, ok := strings.CutSuffix(word, ending); ok && len(short) >= 3 && !strings.ContainsFunc(short, unicode.IsNumber) {
			return short
		}
	}
	return word
}

func foldText(text string) string { return strings.ToLower(norm.NFKC.String(text)) }

// wordsOf lists the runs of letters and digits of a text, folded. Runs of a
// script without spaces stay whole.
func wordsOf(text string) []string { return splitWords(foldText(text)) }

// splitWords does the same and leaves them as they are.
func splitWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// dateWords stand in dates.
var dateWords = wordSet(`today tomorrow yesterday tonight weekend week month year morning evening
	monday tuesday wednesday thursday friday saturday sunday
	january february march april may june july august september october november december
	jan feb mar apr jun jul aug sep oct nov dec
	heute morgen gestern woche monat jahr wochenende montag dienstag mittwoch donnerstag freitag samstag sonntag
	januar februar märz mai juni juli oktober dezember`)
