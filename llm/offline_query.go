package llm

import (
	"math"
	"slices"
	"strings"

	"lifehub/internal/pattern"
)

// query is what a question asks for, as the stems of its words.
type query struct {
	terms map[string]float64 // stem → weight: rarer in the sources weighs more
	total float64
	any   bool // it holds no word of its own: whatever was found answers
}

// askedFor reads the question, together with the one before it when it leans
// on that.
func askedFor(task *Task) query {
	q := query{terms: map[string]float64{}}
	question := searchFilter.ReplaceAllString(inContext(clipBytes(task.Question, maxRead), task.History), " ")
	for word := range content(question) {
		q.terms[stem(word)] = 0
	}
	q.any = len(q.terms) == 0
	n := float64(len(task.Sources))
	for term := range q.terms {
		in := 0.0
		for _, s := range task.Sources {
			if contains(s.Text, term) || contains(s.Title, term) {
				in++
			}
		}
		q.terms[term] = math.Log(1 + (n+1)/(in+0.5))
		q.total += q.terms[term]
	}
	return q
}

// maxRead bounds what is read of a message, in bytes.
const maxRead = 64 << 10

// searchFilter is a part of a question that keeps notes out of the search.
var searchFilter = pattern.Lazy(`(?i)\b(?:path|tag|after|before):(?:"[^"]*"|\S+)`)

// content are the words of a text that say what it is about.
func content(text string) map[string]bool {
	stops := stopWords(text)
	found := map[string]bool{}
	for word := range words(text) {
		if !stops[word] && !asking[word] && !frequent[word] {
			found[word] = true
		}
	}
	return found
}

// asking are words that ask of the notes, and say nothing of what.
var asking = wordSet("note notes notiz notizen mention mentions write wrote written search look remind")

// inContext is a question with the user's messages before it, up to one that
// stands alone.
func inContext(question string, history []Message) string {
	for i, open := len(history)-1, leans(question); i >= 0 && open; i-- {
		if m := history[i]; m.Role == User {
			before := clipBytes(m.Text, maxQuery/2)
			question, open = before+" "+question, leans(before)
		}
	}
	return question
}

// topic is a question without the words that only make it one; as it is when
// there are no others, or some are in quotation marks. Words of a time stay
// ("in March", "this week").
func topic(question string) string {
	asks := englishAsking
	if looksGerman(question) {
		asks = germanAsking
	}
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

// leans reports whether a question cannot be understood alone: none of its
// words says what it is about, or few do and another points back.
func leans(question string) bool {
	const few = 3
	about, first := len(content(question)), true
	for word := range words(question) {
		if about <= few && (pointing[word] || first && joining[word]) {
			return true
		}
		first = false
	}
	return about == 0
}

var (
	pointing = wordSet("it its they them their theirs he him his she her hers that this these those there er ihn ihm sie dies diese dieser")
	joining  = wordSet("and but or also und aber oder auch") // at the beginning
	frequent = wordSet("often oft")                          // a search ranks by them, and no sentence has to hold them
)

// hasWords reports whether a text holds a letter or a digit.
func hasWords(text string) bool {
	for range words(text) {
		return true
	}
	return false
}

func contains(text, term string) bool {
	for word := range words(text) {
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
func (q query) coverage(text string) float64 {
	if q.any {
		return 1
	}
	found := 0.0
	for term, weight := range q.terms {
		if contains(text, term) {
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
