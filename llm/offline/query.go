package offline

import (
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
)

// query is what a question asks for, as the stems of its words.
type query struct {
	in    text.Lang
	terms map[string]float64 // stem → weight: rarer in the sources weighs more
	total float64
	any   bool // it holds no word of its own: whatever was found answers
	time  bool // the question names a time and no more: notes of another are no answer
	named bool // it names a time
	short bool // of a week at most: what notes of that say answers it, whatever their words
	only  bool // nor does what it follows up name more
	each  int  // how many sentences of each source are quoted; 0: as many as fit
}

// contentQuery reads the question, together with the one before it when it leans
// on that.
func contentQuery(task *llm.Task) query {
	question, instead := inContext(clipBytes(task.Question, maxRead), task.History)
	question = searchFilter.ReplaceAllString(question, " ")
	span, rest := when.In(question, time.Now())
	q := query{in: text.Language(question), terms: map[string]float64{}, named: !span.IsZero(), short: !span.From.IsZero() && !span.To.IsZero() && span.To.Sub(span.From) <= 7*24*time.Hour+time.Hour, only: asksForTime(question)}
	q.time = q.only || !instead.IsZero()
	if q.named && !q.only && slices.ContainsFunc(task.Sources, func(s llm.Source) bool { return s.Dated }) {
		question = rest // those are of the time, whether or not they name it
	}
	for word := range content(question) {
		q.terms[stem(word)] = 0
	}
	q.any = len(q.terms) == 0
	n := float64(len(task.Sources))
	for term := range q.terms {
		in := 0.0
		for _, s := range task.Sources {
			if q.contains(s.Text, term) || q.contains(s.Title, term) {
				in++
			}
		}
		q.terms[term] = math.Log(1 + (n+1)/(in+0.5))
		q.total += q.terms[term]
	}
	return q
}

// asksForTime reports whether a question asks for a time and no more.
func asksForTime(question string) bool {
	span, rest := when.In(question, time.Now())
	for word := range content(rest) {
		if !when.SaysNothing(text.FoldedStem(word, "")) {
			return false
		}
	}
	return !span.IsZero()
}

// maxRead bounds what is read of a message, in bytes.
const maxRead = 64 << 10

// searchFilter is a part of a question that keeps notes out of the search.
var searchFilter = pattern.Lazy(`(?i)\b(?:path|tag|after|before):(?:"[^"]*"|\S+)`)

// content are the words of a text that say what it is about.
func content(question string) map[string]bool {
	in, found := text.Language(question), map[string]bool{}
	for word := range words(question) {
		if !text.StopWord(word, in) && !asking[word] {
			found[word] = true
		}
	}
	return found
}

// asking are words that ask of the notes, or how often, and say nothing of what.
var asking = wordSet("note notes notiz notizen mention mentions write wrote written search look remind often oft")

// inContext is a question with the user's messages before it, up to one that
// stands alone. A question of a time and no more takes the place of the time
// that they name: that is returned, and no part of the text.
func inContext(question string, history []llm.Message) (text string, instead when.Span) {
	named, _ := when.In(question, time.Now())
	before := ""
	for i, open := len(history)-1, refersBack(question); i >= 0 && open; i-- {
		if m := history[i]; m.Role == llm.User {
			said := clipBytes(m.Text, maxQuery/2)
			if span, rest := when.In(said, time.Now()); !named.IsZero() && !span.IsZero() {
				said = rest // "and the week before last?" names another one
				if asksForTime(question) && !asksForTime(m.Text) {
					instead = named
				}
			}
			before, open = said+" "+before, refersBack(said)
		}
	}
	if !instead.IsZero() {
		return before, instead
	}
	return before + question, instead
}

// topic is a question without the words that only make it one; as it is when
// there are no others, or some are in quotation marks. Words of a time stay
// ("in March", "this week").
func topic(question string) string {
	asks := questionWords[text.Language(question)]
	fields := strings.Fields(question)
	kept := slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		for word := range words(field) {
			if !asks[word] && !asking[word] {
				return false
			}
		}
		return true
	})
	if len(kept) == 0 || strings.ContainsAny(question, `"“„«»「『`) {
		kept = fields
	}
	return strings.TrimRight(strings.Join(kept, " "), " .?!。？！")
}

// questionWords only make a sentence a question.
var questionWords = map[text.Lang]map[string]bool{
	"": wordSet(
		"is are was were be been being am i me my mine myself you your yours we us our ours do does did done doing have has had having",
		"will would shall should can could might must ll ve re d s t m don doesn didn isn aren wasn weren",
		"what when where which who whom whose why how tell show give find say says said know please let get got"),
	"de": wordSet(
		"wie was wer wo wann warum welche welcher welches ich du wir ihr mich dich sich mir dir uns euch",
		"mein meine meinen meinem meiner dein deine sein seine ist sind war waren bin bist hat habe haben hatte wird werden kann können soll muss",
		"bitte sag zeig gibt steht stehen"),
}

func wordSet(lines ...string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			set[text.Fold(word)] = true
		}
	}
	return set
}

// words are the words of a text, folded.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range text.Words(s) {
			if !yield(text.Fold(w.Text)) {
				return
			}
		}
	}
}

// refersBack reports whether a question cannot be understood alone: none of its
// words says what it is about, or few do and another points back.
func refersBack(question string) bool {
	const few = 3
	about, first := len(content(question)), true
	for word := range words(question) {
		if about <= few && (pointing[word] || first && joining[word]) {
			return true
		}
		first = false
	}
	span, rest := when.In(question, time.Now())
	return about == 0 || !span.IsZero() && len(slices.Collect(words(rest))) <= 1 // "no, in October"
}

var (
	pointing = wordSet("it its they them their theirs he him his she her hers that this these those there er ihn ihm sie dies diese dieser")
	joining  = wordSet("and but or also und aber oder auch") // at the beginning
)

// hasWords reports whether a text holds a letter or a digit.
func hasWords(s string) bool {
	for range text.Words(s) {
		return true
	}
	return false
}

func (q query) contains(s, term string) bool {
	for word := range words(s) {
		if stem(word) == term {
			return true
		}
	}
	return false
}

// score is how much of the question a sentence holds: the weight of the terms
// in it, a little less the longer it is.
func (q query) score(sentence string) float64 {
	if q.any {
		return 1
	}
	found, n := 0.0, 0
	seen := map[string]bool{}
	for word := range words(sentence) {
		n++
		if term := stem(word); !seen[term] {
			seen[term] = true
			found += q.terms[term]
		}
	}
	if found == 0 {
		return 0
	}
	if 2*len(link.ReplaceAllString(sentence, "")) < len(sentence) {
		found *= 0.4 // an index names many notes and says nothing of them
	}
	return found / (1 + 0.01*float64(max(n-12, 0)))
}

var link = pattern.Lazy(`\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)|https?://\S+`)

// heading is what a title gives to each sentence below it: a part of its own
// score, and all of it where the title is what was asked for.
func (q query) heading(title string) float64 {
	score := q.score(title)
	if q.coverage(title) > 0.99 {
		return score
	}
	return 0.4 * score
}

// coverage is the share of the question, by weight, that a text holds.
func (q query) coverage(s string) float64 {
	if q.any {
		return 1
	}
	found := 0.0
	for term, weight := range q.terms {
		if q.contains(s, term) {
			found += weight
		}
	}
	return found / q.total
}

// covered is the coverage of the best of the quoted sources.
func (q query) covered(quotes []*quote) float64 {
	best := 0.0
	for _, it := range quotes {
		best = max(best, q.coverage(it.source.Title+"\n"+it.source.Text))
	}
	return best
}

// stem folds the endings that a question and a note differ in. It is rough on
// purpose: both sides go through it.
func stem(word string) string {
	n := len([]rune(word))
	for _, ending := range []string{"ings", "ing", "edly", "ies", "ied", "ed", "ly", "es", "en", "er", "s", "e", "y"} {
		if strings.HasSuffix(word, ending) && n-len(ending) >= 3 {
			root := strings.TrimSuffix(word, ending)
			if r := []rune(root); len(r) > 3 && r[len(r)-1] == r[len(r)-2] {
				root = string(r[:len(r)-1]) // running, planned
			}
			return root
		}
	}
	return word
}
