package when

import (
	"strings"

	"lifehub/internal/text"
)

// Unread returns the words of a question that look like a time and are not read as one, such as "around
// harvest" or "week 60"; "" if there are none.
func (t Talk) Unread(question string, today Day) string {
	if it, ok := t.read(question, today, -1, false); ok {
		if !it.Span.IsZero() {
			return ""
		}
		return question[it.start:it.end] // two times that do not meet
	}
	start := question[:min(len(question), maxTimed)]
	if lower := strings.ToLower(start); len(lower) == len(start) {
		start = lower
	}
	r := newReader(start, today, -1)
	for i := range r.tokens {
		if from, to := r.unread(i); from < to && !inPath(question, r.tokens[from].start, r.tokens[to-1].end) {
			return question[r.tokens[from].start:r.tokens[to-1].end]
		}
	}
	return ""
}

// unread returns the tokens of a time that is not read, if token i shows that there is one.
func (r *reader) unread(i int) (from, to int) {
	const most = 4 // words behind a preposition
	kind, end := r.kinds[i], i+1
	for !r.ends(end) {
		end++
	}
	next := byte(0)
	if !r.ends(i + 1) {
		next = r.kinds[i+1]
	}
	switch {
	case kind == 'x':
		return i, i + 1
	case kind == 'G' && r.tokens[i].value == 0: // three Tuesdays ago
		for from = i; from > 0 && i-from < 2 && r.kinds[from-1] != '|'; from-- {
		}
		return from, i + 1
	case kind == 'U' && next == 'N' && r.tokens[i].value == aWeek, kind == 'M' &&
		(next == 'N' || next == 'O'), strings.IndexByte("NO", kind) >= 0 && next == 'M':
		return i, i + 2 // week 60, 31 February
	case next == 0 || end-i > most+1:
	case kind == 'Z', kind == 'i' && r.tokens[i].value == 1 && end == i+2 && next == '?' &&
		r.tokens[i+1].start == r.tokens[i].end+1:
		return i, end // since the move, around harvest
	case (strings.IndexByte("BVAT", kind) >= 0 || kind == 'i' && r.tokens[i].value > 0) && r.asksOnly(i):
		return i, end // before the wedding, if nothing else is asked
	}
	return 0, 0
}

// asksOnly reports whether there are words before a token and they say nothing: what did I do …
func (r *reader) asksOnly(i int) bool {
	if i == 0 {
		return false
	}
	for _, word := range strings.FieldsFunc(r.text[:r.tokens[i].start], func(c rune) bool { return !isWordRune(c) }) {
		if !SaysNothing(text.FoldedStem(word, "")) {
			return false
		}
	}
	return true
}
