package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// spinner animates while work is in progress.
type spinner struct {
	Beat    int // steps so far
	beating bool
	rested  int // beats since the last step
}

// beatMsg advances spinners and clocks.
type beatMsg time.Time

// spinnerRest is the number of beats between two steps of the spinner while an answer
// streams, because each step is a frame of its own between those of the text.
const spinnerRest = 3

// Next requests a beat while something is animated.
func (s *spinner) Next(moves bool) tea.Cmd {
	if s.beating || !moves {
		return nil
	}
	s.beating = true
	return tea.Tick(120*time.Millisecond, func(now time.Time) tea.Msg { return beatMsg(now) })
}

// Turn advances on a beat. streams reports that text arrived since the last one.
func (s *spinner) Turn(streams bool) {
	s.beating = false
	if s.rested++; !streams || s.rested > spinnerRest {
		s.Beat, s.rested = s.Beat+1, 0
	}
}
