package prompt

import "strings"

// preamble is the number of bytes held back at the start of a text, by which a
// tool call that the model prints can be recognised.
const preamble = 200

// CallSplitter passes a streamed text to Say up to the first tool call that the
// model prints in it. The call itself is kept back; see [CallSplitter.All].
type CallSplitter struct {
	Say    func(text string)
	Hold   bool // pass on nothing before Flush
	text   strings.Builder
	passed int  // bytes passed on
	caught bool // a call has begun
}

// Add reads the next piece of the text.
func (s *CallSplitter) Add(piece string) {
	s.text.WriteString(piece)
	text := s.text.String()
	if s.Hold || s.caught || len(text) < preamble {
		return
	}
	start := strings.TrimSpace(text)
	if start == "" {
		return
	}
	if s.caught = s.passed == 0 && (beginsJSON(start) || strings.HasPrefix(start, "```")); s.caught {
		return
	}
	end := len(text)
	if at := markAt(text); at >= 0 {
		if s.caught, end = true, at; s.passed == 0 {
			return // the text before the call was not passed on yet, and may be a thought
		}
	} else {
		for _, mark := range callMarks {
			end = min(end, len(text)-overlap(text, mark)) // these bytes may be the start of a mark
		}
		if line := strings.LastIndexByte(text, '\n') + 1; callBegun.MatchString(text[line:]) {
			end = min(end, line)
		}
	}
	s.UpTo(end)
}

// All returns the whole text so far.
func (s *CallSplitter) All() string { return s.text.String() }

// UpTo passes on the text up to the byte offset end.
func (s *CallSplitter) UpTo(end int) {
	if text := s.text.String(); end > s.passed {
		s.Say(text[s.passed:end])
		s.passed = end
	}
}

// Flush passes on everything that was held back.
func (s *CallSplitter) Flush() { s.UpTo(s.text.Len()) }
