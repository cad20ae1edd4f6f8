package agent

import "strings"

// preamble is how much of a text is held back, in bytes: by then it shows
// whether it is a call that the model prints.
const preamble = 200

// callSplitter passes on a text that arrives in pieces, as far as it is no
// call of a tool.
type callSplitter struct {
	say    func(text string)
	hold   bool // nothing is said before flush
	text   strings.Builder
	said   int // bytes of text
	caught bool
}

func (s *callSplitter) add(piece string) {
	s.text.WriteString(piece)
	text := s.text.String()
	if s.hold || s.caught || len(text) < preamble {
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
		s.caught, end = true, at
	} else {
		for _, mark := range callMarks {
			end = min(end, len(text)-overlap(text, mark)) // it may become a mark
		}
	}
	s.upTo(end)
}

// all is the whole text.
func (s *callSplitter) all() string { return s.text.String() }

// upTo says the text as far as end, in bytes.
func (s *callSplitter) upTo(end int) {
	if text := s.text.String(); end > s.said {
		s.say(text[s.said:end])
		s.said = end
	}
}

// flush says what was held back.
func (s *callSplitter) flush() { s.upTo(s.text.Len()) }
