package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Spinner turns while something moves.
type Spinner struct {
	Beat    int // how far it has turned
	beating bool
	rested  int // beats since it turned
}

// BeatMsg moves what moves: spinners and clocks.
type BeatMsg time.Time

// spinnerRest is how many beats the spinner of the header rests for each that it
// turns while an answer streams: each turn is a picture of its own, sent to
// the terminal between those of the text.
const spinnerRest = 3

// Next asks for a beat while something moves.
func (s *Spinner) Next(moves bool) tea.Cmd {
	if s.beating || !moves {
		return nil
	}
	s.beating = true
	return tea.Tick(120*time.Millisecond, func(now time.Time) tea.Msg { return BeatMsg(now) })
}

// Turn takes a beat; streams says that text came since the last one.
func (s *Spinner) Turn(streams bool) {
	s.beating = false
	if s.rested++; !streams || s.rested > spinnerRest {
		s.Beat, s.rested = s.Beat+1, 0
	}
}
