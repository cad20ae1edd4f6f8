package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/internal/pattern"
	"lifehub/llm"
)

const (
	maxQuoted    = 5   // quotes in one answer
	maxDated     = 10  // in one on a time
	maxQuote     = 400 // bytes of one quote, which is cut at a word
	maxCodeLines = 12
	maxResult    = 4 << 10 // bytes of a tool's text shown in the answer
)

// onlyQuotes is what the provider cannot do, and what it can.
const onlyQuotes = "Without a model I can only quote your notes, not summarise, translate or write. " +
	"`add task …` adds a task, `/remember …` remembers a fact, `@tool key=value` calls a tool, anything else searches your notes."

// makeAnswer answers from what the steps of a plan brought: what tools said,
// then the sentences of the sources that share most with the question, word
// for word.
func makeAnswer(task *llm.Task) string {
	var parts []string
	quotes, attached := len(task.Results) == 0, strings.ContainsAny(task.Question, "\r\n")
	for _, r := range task.Results {
		switch searched := r.Tool == "search_notes"; {
		case r.Status == "done" && (searched || r.Cited):
			quotes = true
			attached = attached || !searched
			continue
		case searched:
			quotes = true
		}
		if said := tell(r); said != "" {
			parts = append(parts, said)
		}
	}
	if quotes || len(parts) == 0 {
		said, fits := quoteAnswer(task)
		if attached || !fits && !told(task.History) {
			parts = append(parts, said, onlyQuotes)
		} else {
			parts = append(parts, cmp.Or(said, "There is nothing to quote."))
		}
	}
	return strings.TrimLeft(strings.Join(parts, "\n\n"), "\n")
}

// told reports whether a conversation already holds what the provider can do.
func told(history []llm.Message) bool {
	return slices.ContainsFunc(history, func(m llm.Message) bool {
		return m.Role == llm.Assistant && strings.HasSuffix(m.Text, onlyQuotes)
	})
}

// Quote quotes what the steps brought in place of a model that gave no answer,
// whether or not it fits; "" where there is nothing to quote.
func Quote(task *llm.Task) string {
	var parts []string
	for _, r := range task.Results {
		if said := tell(r); r.Status == "done" && !r.Cited && r.Tool != "search_notes" && said != "" {
			parts = append(parts, said)
		}
	}
	asked := contentQuery(task)
	quotes, opening := bestQuotes(asked, task.Sources), "Your notes say:"
	if asked.covered(quotes) < fitting || task.Unlikely {
		opening = "Closest notes:"
	}
	if len(quotes) == 0 {
		asked.any = true
		quotes = bestQuotes(asked, task.Sources)
	}
	if len(quotes) > 0 {
		parts = append(parts, writeQuotes(opening, quotes, true))
	}
	return strings.Join(parts, "\n\n")
}

// ownCitation is a number in brackets of a tool's own, or of a worker's report,
// which would be read as a citation.
var ownCitation = pattern.Lazy(markText)

// markText matches what is read as a citation: [1], [1, 2], 【1】 or 【1†line 3】.
const markText = `[\[【]\s*\^?(\d+(?:\s*[,;–-]\s*\d+)*)\s*[\]】]|【(\d+)[^】\n]*】`

// tell says how a step ended, in plain words.
func tell(r llm.Result) string {
	text := plainBlock(r.Text)
	if r.Status == "done" || r.Status == "" {
		text = ownCitation.ReplaceAllString(text, "($1$2)")
		if text != "" && r.N > 0 {
			text += fmt.Sprintf(" [%d]", r.N)
		}
		return text
	}
	tool, why := "`"+strings.ReplaceAll(oneLine(r.Tool), "`", "")+"`", strings.TrimRight(oneLine(text), ". ")
	if own, declined := strings.CutPrefix(why, "the user said no"); declined && r.Status == "denied" {
		return "You declined " + tool + own + "."
	}
	how := map[string]string{"denied": " was not allowed to run", "skipped": " was left out"}
	said := tool + cmp.Or(how[r.Status], " did not work")
	if why != "" {
		said += ": " + why
	}
	return said + "."
}

// fitting is the share of a question that a text has to hold to answer it.
const fitting = 0.34

// quoteAnswer quotes the sources that fit the question best. fits reports
// whether they hold enough of it to be its answer.
func quoteAnswer(task *llm.Task) (answer string, fits bool) {
	asked, sources, opening := contentQuery(task), task.Sources, "Your notes say:"
	dated := slices.DeleteFunc(slices.Clone(sources), func(s llm.Source) bool { return !s.Dated })
	if asked.time || asked.named && len(dated) > 0 && (asked.short || asked.covered(bestQuotes(asked, dated)) >= fitting) {
		sources, opening = dated, "Your notes of that time say:"
	}
	quotes := bestQuotes(asked, sources)
	covered := asked.covered(quotes)
	if (covered < fitting && (asked.short || !asked.named) || asked.only) && len(dated) > 0 {
		asked.any, asked.each = true, max(1, maxDated/len(dated)) // it asks for a time, and these are of that time
		quotes, covered, opening = bestQuotes(asked, dated), 1, "Your notes of that time say:"
	}
	if called := slices.ContainsFunc(task.Results, func(r llm.Result) bool { return r.Tool != "search_notes" }); !called && !asked.time {
		past := task.Past
		if len(quotes) == 0 {
			past = append(said(task.History), past...)
		}
		if words := recalled(asked, past, covered); words != "" {
			return words, true
		}
	}
	switch fits = len(quotes) > 0 && covered >= fitting && !task.Unlikely; {
	case task.Close:
		return writeNearest(quotes), false // the answer begins with that the notes don't say
	case task.Unlikely:
		return "", false
	case asked.time && !fits:
		opening = "Your notes of that time don't say."
	case !fits && len(quotes) == 0 && len(sources) > 0:
		opening = "No exact match. Closest notes: " + closest(sources) + "."
	case !fits:
		opening = "No exact match."
	}
	return writeQuotes(opening, quotes, fits), fits
}

// writeQuotes puts an opening before quotes; what the user did not write has
// one of its own.
func writeQuotes(opening string, quotes []*quote, fits bool) string {
	if fits && quotes[0].source.Untrusted {
		opening = "Found in text you did not write:"
	}
	var out strings.Builder
	out.WriteString(opening)
	for i, q := range quotes {
		if q.source.Untrusted && (i == 0 && !fits || i > 0 && !quotes[i-1].source.Untrusted) {
			out.WriteString("\n\nFrom text you did not write:")
		}
		fmt.Fprintf(&out, "\n\n“%s” [%d]", q.text, q.source.N)
		if q.code != "" {
			out.WriteString("\n\n" + q.code)
		}
	}
	return strings.TrimLeft(out.String(), "\n")
}

// mostNearest bounds the sentences that are listed where the notes don't say.
const mostNearest = 3

// writeNearest lists the sentences that come nearest, one a source. They answer
// nothing, so they are not quoted: a quotation gets a tick.
func writeNearest(quotes []*quote) string {
	var lines []string
	listed := map[int]bool{}
	for _, q := range quotes {
		if !listed[q.source.N] && len(lines) < mostNearest {
			listed[q.source.N] = true
			lines = append(lines, fmt.Sprintf("- %s [%d]", q.text, q.source.N))
		}
	}
	return strings.Join(lines, "\n")
}

// closest names the places of sources, each once.
func closest(sources []llm.Source) string {
	var names []string
	for _, s := range sources {
		if name := "`" + quotable(strings.ReplaceAll(s.Title, "`", "'")) + "`"; len(names) < mostNearest && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// recalled quotes what the user said before, in this conversation or long ago,
// where it holds more of the question than what holds so much already.
func recalled(asked query, past []llm.Past, covered float64) string {
	best, when := "", time.Time{}
	for _, p := range past {
		for _, s := range segments(p.Text) {
			if got := asked.coverage(s.text); got > covered && got >= 0.5 && !asked.any && !s.code && !strings.HasSuffix(s.text, "?") && quotable(s.text) != "" {
				best, when, covered = quotable(s.text), p.Date, got
			}
		}
	}
	switch {
	case best == "":
		return ""
	case when.IsZero():
		return "Earlier you said: “" + best + "”"
	}
	return "On " + when.Format(time.DateOnly) + " you said: “" + best + "”"
}

// said are the user's messages of a conversation.
func said(history []llm.Message) (past []llm.Past) {
	for _, m := range history {
		if m.Role == llm.User {
			past = append(past, llm.Past{Text: m.Text})
		}
	}
	return past
}

// quote is a sentence of a source, ready to be shown.
type quote struct {
	source *llm.Source
	text   string
	code   string // a code block that belongs to it, fenced
	score  float64
	at     int // its place in the source
}

// nearTop is the share of the best score that a sentence needs to be quoted
// too: what says much less only blurs the answer.
const nearTop = 0.6

// searchWeight is how much the score of a source, as the search has it, counts
// in the choice between sources, next to the words of a sentence.
const searchWeight = 2

// bestQuotes picks what to quote: the user's own notes first, then by score,
// the sentences of one source together.
func bestQuotes(asked query, sources []llm.Source) []*quote {
	var bySource [][]*quote
	top := 0.0
	for i := range sources {
		if quotes := fromSource(asked, &sources[i]); len(quotes) > 0 {
			bySource = append(bySource, quotes)
			top = max(top, highest(quotes))
		}
	}
	slices.SortStableFunc(bySource, func(a, b []*quote) int {
		if a[0].source.Untrusted != b[0].source.Untrusted {
			return map[bool]int{false: -1, true: 1}[a[0].source.Untrusted]
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
	return found[:min(len(found), max(maxQuoted, asked.each*len(bySource)))]
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
// question. The heading counts for all below it. Code alone is quoted where
// there is nothing else.
func fromSource(asked query, source *llm.Source) []*quote {
	parts := segments(withoutFront(source.Text))
	heading := asked.heading(source.Title)
	var found, code []*quote
	for i, part := range parts {
		q := &quote{source: source, text: quotable(part.text), score: heading + asked.score(part.text), at: i}
		if !part.code && i+1 < len(parts) && parts[i+1].code {
			q.score += 0.5 * asked.score(parts[i+1].text)
		}
		switch {
		case part.heading || q.text == "" || q.score == 0:
		case part.code:
			code = append(code, q)
		default:
			q.goOn(parts[i:])
			found = append(found, q)
		}
	}
	if len(found) == 0 {
		found = code[:min(len(code), 1)]
	}
	slices.SortStableFunc(found, func(a, b *quote) int { return cmp.Compare(b.score, a.score) })
	most := max(2, asked.each)
	if asked.each == 1 {
		most = 1
	}
	if len(found) > 0 && found[0].code != "" {
		most = 1 // the code is the answer
	}
	// A second sentence has to say as much of its own.
	found = slices.DeleteFunc(found, func(q *quote) bool { return q.score < 0.9*found[0].score })
	found = found[:min(len(found), most)]
	for _, q := range found {
		q.score += searchWeight * source.Score
	}
	slices.SortFunc(found, func(a, b *quote) int { return cmp.Compare(a.at, b.at) })
	return found
}

// goOn adds the code that a sentence leads to, at once or by the sentence after it.
func (q *quote) goOn(parts []segment) {
	text := parts[0].text
	for _, next := range parts[1:min(len(parts), 3)] {
		switch {
		case next.heading || len(text) > maxQuote:
			return
		case next.code:
			if text = quotable(text); text != "" {
				q.text, q.code = text, fenced(next.text)
			}
			return
		}
		text += " " + next.text
	}
}
