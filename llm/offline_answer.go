package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	maxQuoted    = 5   // quotes in one answer
	maxQuote     = 400 // bytes of one quote, which is cut at a word
	maxCodeLines = 12
	maxResult    = 4 << 10 // bytes of a tool's text shown in the answer
)

// makeAnswer answers from what the steps of a plan brought: what tools said,
// then the sentences of the sources that share most with the question, word
// for word.
func makeAnswer(task *Task) string {
	german := looksGerman(filter.ReplaceAllString(task.Question, " "))
	var parts []string
	searched := len(task.Sources) > 0
	for _, r := range task.Results {
		if r.Cited || isSearch(r) {
			searched = searched || isSearch(r)
			if r.Status == "done" {
				continue
			}
		}
		if said := tell(r, german); said != "" {
			parts = append(parts, said)
		}
	}
	if searched || len(parts) == 0 {
		parts = append(parts, quoteAnswer(task, german))
	}
	return strings.Join(parts, "\n\n")
}

func isSearch(r Result) bool { return r.Tool == "search_notes" }

// tell says how a step ended, in plain words.
func tell(r Result, german bool) string {
	text := plainBlock(r.Text, maxResult)
	name := "`" + strings.ReplaceAll(oneLine(r.Tool), "`", "") + "`"
	because := ""
	if why := strings.TrimRight(oneLine(text), ". "); why != "" {
		because = ": " + why
	}
	switch r.Status {
	case "done", "":
		return text
	case "denied":
		return choose(german, name+" was not allowed to run", name+" durfte nicht laufen") + because + "."
	case "skipped":
		return choose(german, name+" was left out", name+" wurde ausgelassen") + because + "."
	}
	return choose(german, name+" did not work", name+" hat nicht geklappt") + because + "."
}

// quoteAnswer quotes the sources that fit the question best.
func quoteAnswer(task *Task, german bool) string {
	asked := askedFor(task)
	quotes := bestQuotes(asked, task.Sources)
	inThese := asked.covered(quotes) >= 0.34
	if asked.any && timed(task.Question) || asked.dated && len(quotes) == 0 {
		asked.any = true
		quotes = bestQuotes(asked, slices.DeleteFunc(slices.Clone(task.Sources), func(s Source) bool { return !s.Dated }))
	}
	if said := fromPast(asked, task.Past, asked.covered(quotes), german); said != "" {
		return said
	}
	if len(quotes) == 0 {
		if earlier := fromHistory(asked, task.History, german); earlier != "" {
			return earlier
		}
		return dontSay(task, german)
	}
	var out strings.Builder
	if task.Unlikely || !inThese {
		out.WriteString(choose(german, "Your notes don't say that in these words.",
			"Das steht nicht in deinen Notizen, jedenfalls nicht in diesen Worten."))
	} else if len(quotes) == 1 {
		out.WriteString(choose(german, "Your notes say:", "In deinen Notizen steht:"))
	} else {
		out.WriteString(choose(german, "This is in your notes:", "Das steht in deinen Notizen:"))
	}
	foreign := false
	for _, q := range quotes {
		if q.source.Foreign && !foreign {
			foreign = true
			if q != quotes[0] {
				out.WriteString("\n\n" + choose(german, "From elsewhere:", "Von anderswo:"))
			} else {
				out.Reset()
				out.WriteString(choose(german, "This was found:", "Das wurde gefunden:"))
			}
		}
		fmt.Fprintf(&out, "\n\n“%s” [%d]", q.text, q.source.N)
		if q.code != "" {
			out.WriteString("\n\n" + q.code)
		}
	}
	return out.String()
}

// dontSay is the answer when no source shares a word with the question.
func dontSay(task *Task, german bool) string {
	topic := bare(strings.TrimSpace(filter.ReplaceAllString(task.Question, " ")))
	if r := []rune(topic); len(r) > 80 {
		topic = string(r[:80])
		if word := strings.LastIndexByte(topic, ' '); word > 0 {
			topic = topic[:word]
		}
		topic += "…"
	}
	out := choose(german, "Your notes don't say anything about that", "Das steht nicht in deinen Notizen")
	if topic = quotable(oneLine(topic)); topic != "" {
		out = choose(german, "Your notes don't say anything about “"+topic+"”", "Das steht nicht in deinen Notizen: „"+topic+"“")
	}
	return out + "."
}

// fromHistory quotes what the user said earlier, for questions about the
// conversation itself.
func fromHistory(asked query, history []Message, german bool) string {
	best, score := "", 0.0
	for _, m := range history {
		if m.Role != User {
			continue
		}
		for _, s := range segments(m.Text) {
			if got := asked.score(s.text); got > score && asked.coverage(s.text) >= 0.5 && !strings.HasSuffix(s.text, "?") {
				best, score = s.text, got
			}
		}
	}
	if best = quotable(best); best == "" {
		return ""
	}
	return choose(german, "Earlier you said: “", "Vorhin hast du gesagt: „") + best + choose(german, "”", "“")
}

// fromPast quotes what long-term memory brought back, where it holds more of
// the question than anything else, which holds so much already.
func fromPast(asked query, past []Past, covered float64, german bool) string {
	best, when := "", time.Time{}
	for _, p := range past {
		for _, s := range segments(p.Text) {
			if got := asked.coverage(s.text); got > covered && got >= 0.5 && !strings.HasSuffix(s.text, "?") && quotable(s.text) != "" {
				best, when, covered = quotable(s.text), p.Date, got
			}
		}
	}
	if best == "" {
		return ""
	}
	return choose(german, "On "+when.Format("2006-01-02")+" you said: “"+best+"”", "Am "+when.Format("02.01.2006")+" hast du gesagt: „"+best+"“")
}

// quote is a sentence of a source, ready to be shown.
type quote struct {
	source *Source
	text   string
	code   string // a code block that belongs to it, fenced
	score  float64
	at     int // its place in the source
}

// nearTop is the share of the best score that a sentence needs to be quoted
// too: what says much less only blurs the answer.
const nearTop = 0.6

// bestQuotes picks what to quote: the user's own notes first, then by score,
// the sentences of one source together.
func bestQuotes(asked query, sources []Source) []*quote {
	var bySource [][]*quote
	top := 0.0
	for i := range sources {
		if quotes := fromSource(asked, &sources[i]); len(quotes) > 0 {
			bySource = append(bySource, quotes)
			top = max(top, highest(quotes))
		}
	}
	slices.SortStableFunc(bySource, func(a, b []*quote) int {
		if a[0].source.Foreign != b[0].source.Foreign {
			return map[bool]int{false: -1, true: 1}[a[0].source.Foreign]
		}
		return cmp.Compare(highest(b), highest(a))
	})
	var found []*quote
	said := map[string]bool{} // copies of a note say it once
	for _, quotes := range bySource {
		for _, q := range quotes {
			if q.score >= nearTop*top && !said[q.text+q.code] {
				said[q.text+q.code] = true
				found = append(found, q)
			}
		}
	}
	return found[:min(len(found), maxQuoted)]
}

func highest(quotes []*quote) float64 {
	top := 0.0
	for _, q := range quotes {
		top = max(top, q.score)
	}
	return top
}

// fromSource is the sentences of a source that fit best, in its order, each
// with the code that follows it; none when nothing shares a word with the
// question. The heading counts for all that stands below it.
func fromSource(asked query, source *Source) []*quote {
	parts := segments(source.Text)
	heading := asked.heading(source.Title)
	var found []*quote
	for i, part := range parts {
		text := quotable(part.text)
		if part.code || part.heading || text == "" {
			continue
		}
		score := heading + asked.score(part.text)
		if i+1 < len(parts) && parts[i+1].code {
			score += 0.5 * asked.score(parts[i+1].text)
		}
		if score > 0 {
			q := &quote{source: source, text: text, score: score + 0.02*source.Score, at: i}
			q.goOn(parts[i:])
			found = append(found, q)
		}
	}
	if len(found) == 0 {
		return codeOnly(asked, source, parts, heading)
	}
	slices.SortStableFunc(found, func(a, b *quote) int { return cmp.Compare(b.score, a.score) })
	// A second sentence has to say as much of its own, and no more than two are wanted.
	found = slices.DeleteFunc(found, func(q *quote) bool { return q.score < 0.9*found[0].score })
	found = found[:min(len(found), 2)]
	if found[0].code != "" {
		found = found[:1] // the code is the answer
	}
	slices.SortFunc(found, func(a, b *quote) int { return cmp.Compare(a.at, b.at) })
	return found
}

// goOn adds the code that a sentence leads to, at once or by the sentence after it.
func (q *quote) goOn(parts []segment) {
	for i := 1; i < min(len(parts), 3); i++ {
		if parts[i].heading {
			break
		}
		if parts[i].code {
			if longer := joined(parts[:i]); longer != "" {
				q.text, q.code = longer, fenced(parts[i].text)
			}
			return
		}
	}
}

// joined is neighbouring sentences as one quote; "" when that is too long.
func joined(parts []segment) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.text)
	}
	text := strings.Join(all, " ")
	if len(text) > maxQuote {
		return ""
	}
	return quotable(text)
}

// codeOnly quotes a source that holds nothing but code, by its first fitting block.
func codeOnly(asked query, source *Source, parts []segment, heading float64) []*quote {
	for _, part := range parts {
		score := heading + asked.score(part.text)
		if text := quotable(part.text); part.code && score > 0 && text != "" {
			return []*quote{{source: source, text: text, score: score}}
		}
	}
	return nil
}
