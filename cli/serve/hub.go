package serve

import (
	"cmp"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/chat"
)

const (
	// maxKept bounds the events of a turn that are kept for readers, in bytes. The oldest are dropped first.
	maxKept = 4 << 20
	// keptRuns is how many turns are kept. Others are read from the store.
	keptRuns = 2
	// runID is the length of the ID of a run.
	runID = 10
	// maxSent bounds the messages that wait for the screen.
	maxSent = 8
)

// Hub keeps the events of the latest turns for any number of readers, and takes what they send. It is a
// [chat.Second]. It exists while nobody serves it, too, so that a page can be opened in the middle of a turn.
type Hub struct {
	sent chan chat.Sent

	mu           sync.Mutex // guards the fields below, and those of runs
	changed      chan struct{}
	conversation string
	version      int // of the conversation: it is raised when another turn begins or ends
	runs         []*run
}

// run is a turn from its start, or from being resumed, to its end.
type run struct {
	id      string // unique, also among those of other processes
	turn    string // ID of the turn; "" until its first event
	records [][]byte
	dropped int // records that are no longer kept, before the others
	size    int
	over    bool
	asked   map[string]*question // open questions, by the ID of the call or input
	view    chat.View            // only of the goroutine that follows the run
}

// question is a question of a turn that the page or the screen answers, whichever is first.
type question struct {
	permission *agent.PermissionAsked
	input      *agent.InputAsked
	answered   atomic.Bool
}

// first reports whether this is the first answer. All others have no effect.
func (q *question) first() bool { return q.answered.CompareAndSwap(false, true) }

// NewHub returns a hub for a chat that begins with a conversation.
func NewHub(conversation string) *Hub {
	return &Hub{sent: make(chan chat.Sent, maxSent), changed: make(chan struct{}), conversation: conversation}
}

// Sent implements [chat.Second].
func (h *Hub) Sent() <-chan chat.Sent { return h.sent }

// errBusy is returned if what was sent before was not taken yet.
var errBusy = errors.New("too many messages are waiting; try again when the turn is over")

// send passes on what a page sends.
func (h *Hub) send(s chat.Sent) error {
	select {
	case h.sent <- s:
		return nil
	default:
		return errBusy
	}
}

// Follow implements [chat.Second]. Its goroutine ends with the turn.
func (h *Hub) Follow(conversation string, events <-chan agent.Event) <-chan agent.Event {
	r := h.begin(conversation)
	passed := make(chan agent.Event)
	go func() {
		defer close(passed)
		defer h.end(r)
		for e := range events {
			passed <- h.record(r, e)
		}
	}()
	return passed
}

// change runs do, and wakes all readers. The caller does not hold the mutex.
func (h *Hub) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *Hub) begin(conversation string) *run {
	r := &run{id: rand.Text()[:runID], asked: map[string]*question{}}
	h.change(func() {
		h.runs = append(h.runs, r)
		h.runs = h.runs[max(0, len(h.runs)-keptRuns):]
		h.conversation = cmp.Or(conversation, h.conversation)
	})
	return r
}

func (h *Hub) end(r *run) {
	r.view = chat.View{}
	h.change(func() { r.over, r.asked = true, nil; h.version++ })
}

// record keeps an event for the readers. It returns the event to pass on, whose replies have no effect once a page
// has answered.
func (h *Hub) record(r *run, e agent.Event) agent.Event {
	var fault error
	passed, record, asked := e, []byte("{}"), (*question)(nil)
	func() {
		defer agent.Catch(&fault) // the screen gets the event all the same
		r.view.Apply(e, time.Now())
		passed, asked = shared(e)
		record = recordOf(&r.view, e)
	}()
	h.change(func() {
		if r.turn == "" {
			r.turn = cmp.Or(e.Turn, "unsaved")
			h.version++
		}
		switch body := e.Body.(type) {
		case agent.PermissionAsked:
			r.asked[body.Call] = asked
		case agent.InputAsked:
			r.asked[body.ID] = asked
		case agent.PermissionGiven:
			delete(r.asked, body.Call)
		case agent.InputGiven:
			delete(r.asked, body.ID)
		}
		r.records = append(r.records, record)
		for r.size += len(record); r.size > maxKept && len(r.records) > 1; r.dropped++ {
			r.size -= len(r.records[0])
			r.records = r.records[1:]
		}
	})
	return passed
}

// shared returns an event whose question can be answered here, too; only the first answer has an effect.
func shared(e agent.Event) (agent.Event, *question) {
	q := &question{}
	switch body := e.Body.(type) {
	case agent.PermissionAsked:
		asked := body
		q.permission = &asked
		body.Reply = func(r agent.Reply) {
			if q.first() && asked.Reply != nil {
				asked.Reply(r)
			}
		}
		e.Body = body
	case agent.InputAsked:
		asked := body
		q.input = &asked
		body.Reply = func(i agent.Input) {
			if q.first() && asked.Reply != nil {
				asked.Reply(i)
			}
		}
		e.Body = body
	}
	return e, q
}

// find returns the latest run of a turn, or nil.
func (h *Hub) find(turn string) *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range slices.Backward(h.runs) {
		if r.turn == turn {
			return r
		}
	}
	return nil
}

// after returns the records of a run that follow the first so many, the number of the last one, and whether there
// will be no more. If more than those are gone, it begins with the oldest that is kept. changed is closed when there
// may be others.
func (h *Hub) after(r *run, seen int) (records [][]byte, last int, over bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := r.dropped + len(r.records)
	from := min(max(seen, r.dropped), all)
	return slices.Clone(r.records[from-r.dropped:]), all, r.over, h.changed
}

// open returns a question that waits for an answer, or nil.
func (h *Hub) open(r *run, id string) *question {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.asked[id]
}

// state is what is shown of the conversation.
type state struct {
	conversation string
	version      int
	running      string // turn that is running; "": none
}

// now returns the state. changed is closed when it may be another.
func (h *Hub) now() (s state, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s = state{conversation: h.conversation, version: h.version}
	for _, r := range h.runs {
		if !r.over {
			s.running = r.turn
		}
	}
	return s, h.changed
}
