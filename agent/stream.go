package agent

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

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
	Journal Journal // nil: an interrupted turn cannot be resumed
	Trace   Tracer  // nil: no trace

	answer  answer
	Lead    string // emitted before the next piece of the answer
	Cut     bool   // the answer is incomplete
	Metrics Metrics

	sending sync.Mutex // one event at a time; guards the fields below
	to      chan<- Event
	seq     int
	trace   io.WriteCloser // nil if not opened yet, or not used
	piece   *Event         // text not yet written to the trace; nil if none
	course  []CourseEvent

	began    time.Time
	userWait userWait

	counting     sync.Mutex // guards Metrics and degradations
	degradations []degradation
}

// NewStream returns the stream of a turn that begins now. The channel, which may be
// nil, has to be read until the turn has ended.
func NewStream(to chan<- Event, now func() time.Time) *Stream {
	return &Stream{to: to, Now: now, began: now()}
}

// Emit sends the next event and waits until it was received: a slow reader
// slows the turn, but no event is lost.
func (s *Stream) Emit(body Body) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.seq++
	e := Event{Type: TypeOf(body), Turn: s.Turn, Seq: s.seq, Time: s.Now(), Body: body}
	s.Count(func(m *Metrics) { tally(m, body) })
	s.record(e)
	s.follow(e)
	if s.to != nil {
		s.to <- e
	}
}

// Notice shows the user a message without interrupting the turn.
func (s *Stream) Notice(format string, args ...any) {
	s.Emit(Noticed{Text: fmt.Sprintf(format, args...)})
}

// Phase starts a phase of one  The caller must call end.
func (s *Stream) Phase(started PhaseStarted) (end func()) {
	s.Emit(started)
	start := s.Now()
	return func() { s.Emit(PhaseEnded{Agent: started.Agent, Took: s.Since(start)}) }
}

// Since returns the time since start in milliseconds.
func (s *Stream) Since(start time.Time) int64 { return s.Now().Sub(start).Milliseconds() }

// Count changes the metrics, which concurrent steps may do.
func (s *Stream) Count(change func(*Metrics)) {
	s.counting.Lock()
	defer s.counting.Unlock()
	change(&s.Metrics)
}

// tally updates the counters for an event.
func tally(m *Metrics, body Body) {
	switch body := body.(type) {
	case ToolEnded:
		if body.Error != "" {
			m.ToolsFailed++
		}
	case StepChanged:
		if body.Status == Denied {
			m.ToolsDenied++
		}
	case PermissionAsked:
		m.Asked++
	case Cited:
		if body.Verdict == Verified {
			m.Cited++
		}
	}
}

// Timed sets the times in the metrics of a turn that ends, and returns the
// metrics.
func (s *Stream) Timed() Metrics {
	s.Metrics.Waited = s.waited()
	s.Metrics.Latency = s.Since(s.began) - s.Metrics.Waited
	return s.Metrics
}

// Enter writes entries to the journal, before what they describe happens.
// Without a journal it does nothing, and the turn cannot be resumed.
func (s *Stream) Enter(ctx context.Context, entries ...Entry) error {
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
