package llm

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"lifehub/pattern"
)

// query is what a question asks for, as the stems of its words.
type query struct {
	terms   map[string]float64 // stem → weight: rarer in the sources weighs more
	total   float64
	any     bool                       // it holds no word of its own ("what did I do yesterday"): whatever was found answers
	dated   bool                       // it asks for a time, and there are sources of that time
	expects func(sentence string) bool // does it look like an answer; nil: no telling
}

// askedFor reads the question, together with the one before it when it leans
// on that.
func askedFor(task *Task) query {
	question := task.Question
	if leans(question) {
		for i := len(task.History) - 1; i >= 0; i-- {
			if task.History[i].Role == User {
				question = task.History[i].Text + " " + question
				break
			}
		}
	}
	question = clipBytes(question, maxRuleBytes)
	q := query{terms: map[string]float64{}, expects: expected(question)}
	question = questionPhrase.ReplaceAllString(filter.ReplaceAllString(question, " "), "")
	stops := stopWords(question)
	timeless := relativeTime.ReplaceAllString(question, " ") // the search has heeded it already
	timed := timeless != question
	dim := map[string]bool{}
	for word := range words(timeless) {
		if !stops[word] && !asking[word] && !(timed && (doing[word] || asksOnly(word))) {
			q.terms[stem(word)] = 0
			dim[stem(word)] = faint[word]
		}
	}
	q.dated = slices.ContainsFunc(task.Sources, func(s Source) bool { return s.Dated })
	q.any = len(q.terms) == 0 && len(task.Sources) > 0
	if len(q.terms) == 0 {
		for word := range words(question) {
			q.terms[stem(word)] = 0
		}
	}
	n := float64(len(task.Sources))
	for term := range q.terms {
		in := 0.0
		for _, s := range task.Sources {
			if contains(s.Text, term) || contains(s.Title, term) {
				in++
			}
		}
		q.terms[term] = math.Log(1 + (n+1)/(in+0.5))
		if dim[term] {
			q.terms[term] *= 0.4
		}
		q.total += q.terms[term]
	}
	return q
}

// asking are words of a question that are about asking: "what do my notes say".
var asking = wordSet("note notes notiz notizen mention mentions write wrote written search look")

// faint are words of a question that stand in many an answer by chance.
var faint = wordSet("next last first time times day days want need like new old best nächste nächsten letzte letzten neue")

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
	if q.expects != nil && q.expects(sentence) {
		found *= expectedWeight
	}
	if mostlyLinks(sentence) {
		found *= 0.4 // an index names many notes and says nothing of them
	}
	return found / (1 + 0.01*float64(max(n-12, 0)))
}

var link = pattern.Lazy(`\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)|https?://\S+`)

// mostlyLinks tells whether links are more than half of a sentence.
func mostlyLinks(sentence string) bool {
	linked := 0
	for _, at := range link.FindAllStringIndex(sentence, -1) {
		linked += at[1] - at[0]
	}
	return 2*linked > len(sentence)
}

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
	if q.total == 0 {
		return 0
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

// segment is a sentence or a code block of a source.
type segment struct {
	text    string
	code    bool
	heading bool
	line    int
}

var (
	lineMarks = pattern.Lazy(`^\s*(?:>\s*)*(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?:\[[ xX/-]\]\s+)?`)
	ruleLine  = pattern.Lazy(`^\s*(?:[-*_=]\s*){3,}$|^[\s|:\-]+$`)
)

// segments cuts Markdown into what can be quoted: sentences without the marks
// of lists and headings, and code blocks. Lines of one paragraph are joined.
func segments(text string) []segment {
	var out []segment
	var paragraph []string
	begun := 0
	flush := func() {
		for _, s := range sentences(strings.Join(paragraph, " ")) {
			out = append(out, segment{text: s, line: begun})
		}
		paragraph = nil
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			flush()
			mark := trimmed[:3]
			var code []string
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), mark); i++ {
				code = append(code, strings.TrimRight(lines[i], " \t\r"))
			}
			if body := strings.Trim(strings.Join(code, "\n"), "\n"); body != "" {
				out = append(out, segment{text: body, code: true, line: i})
			}
		case trimmed == "" || ruleLine.MatchString(line):
			flush()
			if n := len(out) - 1; n >= 0 && strings.Contains(line, "|") && out[n].line == i-1 {
				out[n].heading = true // the head of a table
			}
		case strings.HasPrefix(trimmed, "#") && strings.HasPrefix(strings.TrimLeft(trimmed, "#"), " "):
			flush()
			out = append(out, segment{text: strings.TrimSpace(strings.Trim(trimmed, "#")), heading: true, line: i})
		default:
			if mark := lineMarks.FindString(line); strings.TrimSpace(mark) != "" || strings.HasPrefix(trimmed, "|") {
				flush() // a list item or a table row is a paragraph of its own
				line = line[len(mark):]
			}
			if len(paragraph) == 0 {
				begun = i
			}
			if line = strings.TrimSpace(line); line != "" {
				paragraph = append(paragraph, line)
			}
		}
	}
	flush()
	return out
}

// unsafe are the places where a quote would be read as something else: a
// citation, an image, HTML, code or a formula that begins and does not end.
var unsafe = pattern.Lazy(`!\[[^\]]*\](?:\([^)]*\))?|[\[【]\s*\^?\d+(?:\s*[,;–-]\s*\d+)*\s*[\]】]|<[!/?a-zA-Z][^>]*>?|\x60{2,}|\${2,}|~{3,}`)

// quotable is a sentence in one line that can be quoted word for word without
// breaking the Markdown around it: places that would are left out, with an
// ellipsis. It is "" when no word is left.
func quotable(sentence string) string {
	s := unsafe.ReplaceAllString(clipBytes(sentence, 4*maxQuote), " … ")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '“' || r == '”' || r == '„':
			return '"'
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	s = balance(oneLine(s))
	if len(s) > maxQuote {
		s = clipBytes(s, maxQuote)
		if i := strings.LastIndexByte(s, ' '); i > maxQuote/2 {
			s = s[:i]
		}
		s = balance(strings.TrimRight(s, " ,;:")) + " …"
	}
	s = strings.TrimPrefix(strings.Trim(s, " |\\"), "… ")
	if strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return ""
	}
	return s
}

// balance makes single quotation marks of double ones when one of them opens
// and never closes.
func balance(s string) string {
	if strings.Count(s, `"`)%2 == 1 {
		return strings.ReplaceAll(s, `"`, "'")
	}
	return s
}

// fenced is code between fences that it cannot close, shortened to a screen.
func fenced(code string) string {
	lines := strings.Split(code, "\n")
	if len(lines) > maxCodeLines {
		lines = append(lines[:maxCodeLines], "…")
	}
	code = clipBytes(strings.Join(lines, "\n"), 4*maxQuote)
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + "\n" + code + "\n" + fence
}

// blockMarks begin a block that would swallow or outshout what follows.
var blockMarks = pattern.Lazy("(?m)^\\s*(#{1,6}\\s|```|~~~|<|={3,}\\s*$)")

// plainBlock is what a tool said, as Markdown that ends with it: lists stay,
// headings, fences and HTML become text.
func plainBlock(s string, most int) string {
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = strings.TrimRight(clipBytes(s, most), " \n") + " …"
	}
	s = blockMarks.ReplaceAllStringFunc(s, func(mark string) string {
		trimmed := strings.TrimLeft(mark, " \t\n")
		return mark[:len(mark)-len(trimmed)] + "\\" + trimmed
	})
	return s
}
