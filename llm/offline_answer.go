package llm

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxQuoted    = 4   // sources quoted in one answer
	maxQuote     = 400 // bytes of one quote, which is cut at a word
	maxCodeLines = 12
	maxResult    = 4 << 10 // bytes of a tool's text shown in the answer
)

// makeAnswer answers from what the steps of a plan brought: what tools said,
// then the sentences of the sources that share most with the question, word
// for word.
func makeAnswer(task *Task) string {
	german := looksGerman(task.Question)
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
		return choose(german, "Not done, as you decided", "Nicht getan, wie du entschieden hast") + " (" + name + ")."
	case "skipped":
		return choose(german, name+" was left out", name+" wurde ausgelassen") + because + "."
	}
	return choose(german, name+" did not work", name+" hat nicht geklappt") + because + "."
}

// quoteAnswer quotes the sources that fit the question best.
func quoteAnswer(task *Task, german bool) string {
	asked := askedFor(task)
	quotes := bestQuotes(asked, task.Sources)
	if len(quotes) == 0 {
		if earlier := fromHistory(asked, task.History, german); earlier != "" {
			return earlier
		}
		return dontSay(task, german)
	}
	var out strings.Builder
	if asked.covered(quotes) < 0.34 {
		out.WriteString(choose(german, "Your notes don't say that in these words. What comes nearest:",
			"In diesen Worten steht es nicht in deinen Notizen. Am nächsten kommt:"))
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
	topic := bare(task.Question)
	if r := []rune(topic); len(r) > 80 {
		topic = string(r[:80]) + "…"
	}
	out := choose(german, "Your notes don't say anything about that", "Deine Notizen sagen dazu nichts")
	if topic = quotable(oneLine(topic)); topic != "" {
		out = choose(german, "Your notes don't say anything about “"+topic+"”", "Deine Notizen sagen nichts zu „"+topic+"“")
	}
	if len(task.Sources) == 0 {
		return out + "."
	}
	var near []string
	for _, s := range task.Sources[:min(3, len(task.Sources))] {
		near = append(near, fmt.Sprintf("%s [%d]", plainLine(s.Title), s.N))
	}
	return out + choose(german, ". Nearest: ", ". Am nächsten: ") + strings.Join(near, ", ") + "."
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

// quote is a sentence of a source, ready to be shown.
type quote struct {
	source *Source
	text   string
	code   string // a code block that belongs to it, fenced
	score  float64
}

// bestQuotes picks at most one or two sentences a source, and at most
// maxQuoted sources, best first.
func bestQuotes(asked query, sources []Source) []*quote {
	var found []*quote
	for i := range sources {
		source := &sources[i]
		if q := bestOf(asked, source); q != nil {
			found = append(found, q)
		}
	}
	slices.SortStableFunc(found, func(a, b *quote) int {
		switch {
		case a.source.Foreign != b.source.Foreign:
			if b.source.Foreign {
				return -1
			}
			return 1
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	// What says much less than the best only blurs the answer.
	top := 0.0
	for _, q := range found {
		top = max(top, q.score)
	}
	found = slices.DeleteFunc(found, func(q *quote) bool { return q.score < 0.6*top })
	found = slices.CompactFunc(found, func(a, b *quote) bool { return a.text == b.text && a.code == b.code })
	return found[:min(len(found), maxQuoted)]
}

// bestOf is the sentence of a source that fits best, with the code that
// follows it; nil when none shares a word with the question. The heading counts
// for all that stands below it.
func bestOf(asked query, source *Source) *quote {
	parts := segments(source.Text)
	heading := asked.score(source.Title)
	best, at := 0.0, -1
	for i, part := range parts {
		if part.code || part.heading || quotable(part.text) == "" {
			continue
		}
		score := asked.score(part.text)
		if i+1 < len(parts) && parts[i+1].code {
			score += 0.5 * asked.score(parts[i+1].text)
		}
		if score > best {
			best, at = score, i
		}
	}
	if at < 0 && heading > 0 { // only the heading fits: its first sentence answers
		at = slices.IndexFunc(parts, func(p segment) bool { return !p.code && !p.heading && quotable(p.text) != "" })
	}
	if at < 0 {
		return codeOnly(asked, source, parts, heading)
	}
	q := &quote{source: source, text: quotable(parts[at].text), score: best + 0.4*heading + 0.02*source.Score}
	q.goOn(parts[at:])
	return q
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

// codeOnly quotes a source that holds nothing but code under a fitting heading.
func codeOnly(asked query, source *Source, parts []segment, heading float64) *quote {
	for _, part := range parts {
		if score := asked.score(part.text) + 0.4*heading; part.code && score > 0 {
			title := quotable(part.text)
			if title == "" {
				continue
			}
			return &quote{source: source, text: title, score: score}
		}
	}
	return nil
}
