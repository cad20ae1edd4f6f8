// Package events records what a turn does: it numbers the events and collects
// the answer, and writes the trace, the journal and the metrics.
package events

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Tracer opens a trace of a turn's events and prompts. Each Write is one line of JSON
// and must not block.
type Tracer interface {
	Begin(turn string) io.WriteCloser
}

// Stream receives the events of all parts of a turn. It is safe for concurrent
// use. Its exported fields are set before the first event, except Turn, which
// is set as soon as the message is saved.
type Stream struct {
	Turn    string // id in History; "" until the message is saved
	Now     func() time.Time
	Journal agent.Journal // nil: an interrupted turn cannot be resumed
	Trace   Tracer        // nil: no trace

	answer  answer
	Lead    string // emitted before the next piece of the answer
	Cut     bool   // the answer is incomplete
	Metrics agent.Metrics

	sending sync.Mutex // one event at a time; guards the fields below
	to      chan<- agent.Event
	seq     int
	trace   io.WriteCloser // nil if not opened yet, or not used
	piece   *agent.Event   // text not yet written to the trace; nil if none
	course  []agent.CourseEvent

	began    time.Time
	userWait userWait

	counting     sync.Mutex // guards Metrics and degradations
	degradations []degradation
}

// New returns the stream of a turn that begins now. The channel, which may be
// nil, has to be read until the turn has ended.
func New(to chan<- agent.Event, now func() time.Time) *Stream {
	return &Stream{to: to, Now: now, began: now()}
}

// Emit sends the next event and waits until it was received: a slow reader
// slows the turn, but no event is lost.
func (s *Stream) Emit(body agent.Body) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.seq++
	e := agent.Event{Type: agent.TypeOf(body), Turn: s.Turn, Seq: s.seq, Time: s.Now(), Body: body}
	s.Count(func(m *agent.Metrics) { tally(m, body) })
	s.record(e)
	s.follow(e)
	if s.to != nil {
		s.to <- e
	}
}

// Notice shows the user a message without interrupting the turn.
func (s *Stream) Notice(format string, args ...any) {
	s.Emit(agent.Noticed{Text: fmt.Sprintf(format, args...)})
}

// Phase starts a phase of one agent. The caller must call end.
func (s *Stream) Phase(started agent.PhaseStarted) (end func()) {
	s.Emit(started)
	start := s.Now()
	return func() { s.Emit(agent.PhaseEnded{Agent: started.Agent, Took: s.Since(start)}) }
}

// Since returns the time since start in milliseconds.
func (s *Stream) Since(start time.Time) int64 { return s.Now().Sub(start).Milliseconds() }

// Count changes the metrics, which concurrent steps may do.
func (s *Stream) Count(change func(*agent.Metrics)) {
	s.counting.Lock()
	defer s.counting.Unlock()
	change(&s.Metrics)
}

// tally updates the counters for an event.
func tally(m *agent.Metrics, body agent.Body) {
	switch body := body.(type) {
	case agent.ToolEnded:
		if body.Error != "" {
			m.ToolsFailed++
		}
	case agent.StepChanged:
		if body.Status == agent.Denied {
			m.ToolsDenied++
		}
	case agent.PermissionAsked:
		m.Asked++
	case agent.Cited:
		if body.Verdict == agent.Verified {
			m.Cited++
		}
	}
}

// Timed sets the times in the metrics of a turn that ends, and returns the
// metrics.
func (s *Stream) Timed() agent.Metrics {
	s.Metrics.Waited = s.waited()
	s.Metrics.Latency = s.Since(s.began) - s.Metrics.Waited
	return s.Metrics
}

// Enter writes entries to the journal, before what they describe happens.
// Without a journal it does nothing, and the turn cannot be resumed.
func (s *Stream) Enter(ctx context.Context, entries ...agent.Entry) error {
	if s.Journal == nil || s.Turn == "" {
		return nil
	}
	now := s.Now()
	for i := range entries {
		entries[i].Version, entries[i].Time = EntryVersion, now
	}
	if err := s.Journal.Record(ctx, s.Turn, entries...); err != nil {
		return fmt.Errorf("record the next action: %w", err)
	}
	return nil
}

// SaveTimeout bounds saves that happen even though the turn was cancelled.
const SaveTimeout = 5 * time.Second

// EntryVersion is the version of the Entry format. Entries of other versions
// are ignored.
const EntryVersion = 1

// degradation is a model error that did not end the turn, and what the turn had
// to do without.
type degradation struct {
	err  error
	lost []string
}

// Degrade records that the turn continues after a model error, without what is
// lost. The user sees it once, at the end.
func (s *Stream) Degrade(lost string, err error) {
	s.counting.Lock()
	defer s.counting.Unlock()
	for i, d := range s.degradations {
		if d.err.Error() == err.Error() {
			s.degradations[i].lost = append(d.lost, lost)
			return
		}
	}
	s.degradations = append(s.degradations, degradation{err, []string{lost}})
}

// ReportDegradations emits a notice for each recorded model error, except the
// one that ended the turn.
func (s *Stream) ReportDegradations(failure error) {
	for _, d := range s.degradations {
		if failure == nil || failure.Error() != d.err.Error() {
			s.Notice("%s", text.AsSentence(strings.Join(d.lost, "; ")+": "+text.OneLine(text.Clip(d.err.Error(), 500))))
		}
	}
}
