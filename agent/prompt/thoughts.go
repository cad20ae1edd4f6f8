package prompt

import "strings"

// Thoughts separates a <think> block at the start of a streamed answer from the
// answer. It ignores later tags, which the answer may mention.
type Thoughts struct {
	Say, Think func(text string)
	state      thinkState
	held       string // undecided text
	close      string // end tag of the block
}

type thinkState int

const (
	atHead thinkState = iota
	inThought
	afterThought // white space between reasoning and answer is dropped
	inAnswer
)

var thinkTags = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}}

func (s *Thoughts) Add(text string) {
	for text != "" {
		switch s.state {
		case atHead:
			text = s.head(text)
		case inThought:
			text = s.thought(text)
		case afterThought:
			if text = strings.TrimLeft(text, " \t\r\n"); text != "" {
				s.state = inAnswer
			}
		case inAnswer:
			s.Say(text)
			return
		}
	}
}

// head decides whether the answer starts with reasoning, and returns the text
// to be processed next.
func (s *Thoughts) head(text string) string {
	s.held += text
	trimmed := strings.TrimLeft(s.held, " \t\r\n")
	for _, tag := range thinkTags {
		if rest, ok := strings.CutPrefix(trimmed, tag[0]); ok {
			s.state, s.close, s.held = inThought, tag[1], ""
			return rest
		}
		if strings.HasPrefix(tag[0], trimmed) {
			return "" // may become a tag
		}
	}
	s.state, s.held = inAnswer, ""
	return trimmed
}

// thought passes on reasoning up to its end, and returns the text after it.
func (s *Thoughts) thought(text string) string {
	s.held += text
	if before, after, ended := strings.Cut(s.held, s.close); ended {
		s.state, s.held = afterThought, ""
		s.tell(before)
		return after
	}
	keep := overlap(s.held, s.close)
	s.tell(s.held[:len(s.held)-keep])
	s.held = s.held[len(s.held)-keep:]
	return ""
}

func (s *Thoughts) tell(text string) {
	if text != "" {
		s.Think(text)
	}
}

// Flush passes on what is held back at the end of the stream.
func (s *Thoughts) Flush() {
	held := s.held
	s.held = ""
	switch {
	case held == "" || strings.TrimSpace(held) == "":
	case s.state == inThought:
		s.tell(held)
	default:
		s.state = inAnswer
		s.Say(held)
	}
}

// overlap returns the length of the longest suffix of text that is a proper
// prefix of tag.
func overlap(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
