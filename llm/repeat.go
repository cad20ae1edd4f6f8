package llm

// A model that has lost its way says the same again and again until its limit,
// which is minutes on a slow machine. An answer is stopped when what it said
// last is one text over and over: a short one many times, a long one, such as
// a paragraph, a few times.
var circles = []struct{ span, most int }{
	{4 << 10, 512}, // bytes looked at; the longest text that repeats in them
	{16 << 10, 4 << 10},
}

const (
	repeatSpan  = 16 << 10 // the longest span
	repeatEvery = 1 << 10  // bytes between two looks
)

// repetition watches an answer as it grows.
type repetition struct {
	tail  []byte // the last bytes, twice repeatSpan at most
	since int    // bytes since the last look
}

// add takes a piece and reports whether the answer goes in circles.
func (r *repetition) add(piece string) bool {
	if len(piece) > repeatSpan {
		piece = piece[len(piece)-repeatSpan:]
	}
	if len(r.tail)+len(piece) > 2*repeatSpan {
		r.tail = append(r.tail[:0], r.tail[len(r.tail)-repeatSpan:]...)
	}
	r.tail = append(r.tail, piece...)
	if r.since += len(piece); r.since < repeatEvery {
		return false
	}
	r.since = 0
	for _, c := range circles {
		if len(r.tail) >= c.span && period(r.tail[len(r.tail)-c.span:]) <= c.most {
			return true
		}
	}
	return false
}

// period is the length of the shortest text that s is repetitions of, the last
// one perhaps cut. It is the length of s without its longest border, which the
// prefix function of Knuth, Morris and Pratt gives.
func period(s []byte) int {
	border := make([]int, len(s))
	for i, k := 1, 0; i < len(s); i++ {
		for k > 0 && s[i] != s[k] {
			k = border[k-1]
		}
		if s[i] == s[k] {
			k++
		}
		border[i] = k
	}
	return len(s) - border[len(s)-1]
}
