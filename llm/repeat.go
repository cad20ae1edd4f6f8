package llm

// A model that is stuck repeats itself until its token limit, which takes minutes
// on a slow machine. An answer is stopped if its recent output consists of one
// repeated text: either a short text many times, or a long one, such as a
// paragraph, a few times.
var circles = []struct{ span, most int }{
	{4 << 10, 512}, // bytes examined; longest repeated text in them
	{16 << 10, 4 << 10},
}

const (
	repeatSpan  = 16 << 10 // the longest span
	repeatEvery = 1 << 10  // bytes between two checks
)

// repetition examines an answer while it grows.
type repetition struct {
	tail  []byte // recent output, at most twice repeatSpan
	since int    // bytes since the last check
}

// add appends a piece and reports whether the answer has become repetitive.
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

// period returns the length of the shortest text whose repetition, possibly
// truncated, is s. It is the length of s minus its longest border, computed with
// the Knuth–Morris–Pratt prefix function.
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
