package cli

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// quotes remember what prompts of servers have put into the composer, so that
// a message that is made of it is not taken for the user's own words. The zero
// value remembers nothing; it is safe for concurrent use.
type quotes struct {
	mu    sync.Mutex
	runs  map[string]string // whose a run of letters is
	short map[string]string // and a text that is shorter than a run
}

const (
	// quoteRun is how many letters in a row two texts share by quoting, and
	// quoteStep how many letters apart the runs begin that are remembered: what
	// shares 30 letters with a prompt is found, what shares fewer than 20 not.
	quoteRun  = 20
	quoteStep = 10
)

// add remembers a text and whose it is.
func (q *quotes) add(whose, text string) {
	letters := lettersOf(text)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.runs == nil {
		q.runs, q.short = map[string]string{}, map[string]string{}
	}
	last := len(letters) - quoteRun
	switch {
	case len(letters) == 0:
	case last < 0:
		q.short[string(letters)] = whose
	default:
		for at := 0; at < last; at += quoteStep {
			q.runs[string(letters[at:at+quoteRun])] = whose
		}
		q.runs[string(letters[last:])] = whose
	}
}

// in names whose texts stand in a message, or parts of them.
func (q *quotes) in(message string) (whose []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.runs)+len(q.short) == 0 {
		return nil
	}
	note := func(name string) {
		if name != "" && !slices.Contains(whose, name) {
			whose = append(whose, name)
		}
	}
	letters := lettersOf(message)
	for at := 0; at+quoteRun <= len(letters); at++ {
		note(q.runs[string(letters[at:at+quoteRun])])
	}
	all := string(letters)
	for text, name := range q.short {
		if strings.Contains(all, text) {
			note(name)
		}
	}
	slices.Sort(whose)
	return whose
}

// lettersOf is what is left of a text when blanks, signs and case do not count.
func lettersOf(text string) []rune {
	var letters []rune
	for _, r := range norm.NFKC.String(text) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return letters
}
