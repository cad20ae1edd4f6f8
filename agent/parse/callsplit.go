package parse

import "strings"

// preamble is how much of a text is held back, in bytes: by then it shows
// whether it is a call that the model prints.
const preamble = 200

// CallSplitter passes on a text that arrives in pieces, as far as it is no
// call of a tool.
type CallSplitter struct {
	Say    func(text string)
	Hold   bool // nothing is said before Flush
	text   strings.Builder
	said   int // bytes of text
	caught bool
}

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
	if s.caught = s.said == 0 && (beginsJSON(start) || strings.HasPrefix(start, "```")); s.caught {
		return
	}
	end := len(text)
	if at := markAt(text); at >= 0 {
		if s.caught, end = true, at; s.said == 0 {
			return // what it says before the call is not said yet, and may be a thought
		}
	} else {
		for _, mark := range callMarks {
			end = min(end, len(text)-overlap(text, mark)) // it may become a mark
		}
		if line := strings.LastIndexByte(text, '\n') + 1; callBegun.MatchString(text[line:]) {
			end = min(end, line)
		}
	}
	s.UpTo(end)
}

// All is the whole text.
func (s *CallSplitter) All() string { return s.text.String() }

// UpTo says the text as far as end, in bytes.
func (s *CallSplitter) UpTo(end int) {
	if text := s.text.String(); end > s.said {
		s.Say(text[s.said:end])
		s.said = end
	}
}

// Flush says what was held back.
func (s *CallSplitter) Flush() { s.UpTo(s.text.Len()) }
