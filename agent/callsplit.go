package agent

import (
	"strings"

	"lifehub/internal/pattern"
)

// preamble is how much of a text is held back, in bytes: by then it shows
// whether it is a call that the model prints.
const preamble = 200

// beginsCall tells a text that may be a call by its first letters: f(…, or a tag.
var beginsCall = pattern.Lazy(`^(?:[A-Za-z_][\w.\-]*\(|<[A-Za-z_][\w.\-]*>)`)

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
	start := strings.TrimLeft(text, " \t\r\n")
	if start == "" {
		return
	}
	if s.caught = s.said == 0 && (start[0] == '{' || start[0] == '[' && strings.ContainsAny(start[:2], "{ \n") || strings.HasPrefix(start, "```") || beginsCall.MatchString(start)); s.caught {
		return
	}
	end := len(text)
	if at := markAt(text); at >= 0 {
		s.caught, end = true, at
	} else if at := strings.IndexAny(text[len(text)-maxMark:], "<[>`\nt"); at >= 0 {
		end = len(text) - maxMark + at // it may become a mark
	}
	s.upTo(end)
}

func (s *callSplitter) upTo(end int) {
	if text := s.text.String(); end > s.said {
		s.say(text[s.said:end])
		s.said = end
	}
}

// flush says what was held back.
func (s *callSplitter) flush() { s.upTo(s.text.Len()) }
