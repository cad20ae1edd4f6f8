package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Fault is a way in which a model server can misbehave.
type Fault string

// The faults. Those marked "at" occur after Faults.At bytes of an answer.
const (
	None           Fault = ""
	Refuse         Fault = "refuse"             // the connection is refused
	Status500      Fault = "500"                // every request fails
	Status429      Fault = "429"                // every request is rejected as one too many
	Busy           Fault = "busy, then well"    // 503 for the first two requests
	HangBefore     Fault = "hang before header" // nothing is sent
	HangMiddle     Fault = "hang in the middle" // at
	Reset          Fault = "reset"              // at
	CleanEnd       Fault = "clean end"          // at: the body ends as if it were complete
	HalfLine       Fault = "half a line"        // at: it ends within a line
	BadUTF8        Fault = "bad UTF-8"          // the text contains invalid bytes
	ErrorObject    Fault = "error object"       // at: an error instead of the next line
	OneByteAtATime Fault = "one byte at a time"
	Endless        Fault = "endless"         // the text never ends
	LongLine       Fault = "50 MB line"      // one line of 50 MB
	WrongType      Fault = "wrong type"      // an HTML page, as from a login form or a proxy
	Redirect       Fault = "redirect"        // to another host
	Garbage        Fault = "garbage"         // lines that are not JSON
	CallThenEnd    Fault = "call, then end"  // a tool call without an end of the answer
	Nothing        Fault = "an empty answer" // status 200 without a body
	Circles        Fault = "circles"         // at: the same line is repeated forever
)

// AllFaults lists all faults.
var AllFaults = []Fault{
	Refuse, Status500, Status429, HangBefore, HangMiddle, Reset, CleanEnd, HalfLine, BadUTF8, ErrorObject,
	OneByteAtATime, Endless, LongLine, WrongType, Redirect, Garbage, CallThenEnd, Nothing, Circles,
}

// FaultyAnswer is the server's answer when no fault is set.
const FaultyAnswer = "The answer is long enough to be cut at many places, größer als null."

// FaultModel is the only model that the server lists.
const FaultModel = "faulty"

// Faults is a misbehaving model server. It speaks Ollama's protocol at URL and
// OpenAI's at URL/v1. Only chat requests are affected, except by Refuse.
type Faults struct {
	URL string

	t        testing.TB
	mu       sync.Mutex
	server   *httptest.Server
	fault    Fault
	at       int
	strikes  string // text that a request must contain to trigger the fault; empty: any request
	plan     string // answer to planner requests; empty: same as other requests
	said     string // answer to all other requests
	bodies   [][]byte
	chats    int
	arrived  chan struct{}
	released chan struct{}
}

// NewFaults starts the server. It stops when the test ends.
func NewFaults(t testing.TB) *Faults {
	f := &Faults{t: t, said: FaultyAnswer, arrived: make(chan struct{}, 1), released: make(chan struct{})}
	f.start("127.0.0.1:0")
	f.URL = f.server.URL
	release, err := keep(f.server.Listener)
	if err != nil {
		t.Fatalf("reserve the port: %v", err)
	}
	t.Cleanup(func() {
		close(f.released)
		f.server.CloseClientConnections()
		f.server.Close()
		release()
	})
	return f
}

func (f *Faults) start(address string) {
	f.t.Helper()
	listener, err := listen(address)
	if err != nil {
		f.t.Fatalf("listen: %v", err)
	}
	f.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(f.serve)}}
	f.server.Start()
}

// Set chooses the fault, and the number of bytes of an answer after which it
// occurs. A server that refused connections accepts them again once another fault
// is set.
func (f *Faults) Set(fault Fault, at int) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault == Refuse && f.fault != Refuse {
		f.server.CloseClientConnections()
		f.server.Listener.Close()
	}
	if fault != Refuse && f.fault == Refuse {
		f.start(strings.TrimPrefix(f.URL, "http://"))
	}
	f.fault, f.at, f.chats = fault, at, 0
}

// Strike limits the fault to requests that contain text; empty means all
// requests.
func (f *Faults) Strike(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.strikes = text
}

// Every request for a plan contains PlanMark, and every one for the answer after it AnswerMark.
const (
	PlanMark   = "Plan for this message"
	AnswerMark = "Answer this message of the user now"
)

// Play makes the server reply to planner requests with plan and to others with
// answer.
func (f *Faults) Play(plan, answer string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan, f.said = plan, answer
}

// Arrived signals that a chat request arrived since the last receive.
func (f *Faults) Arrived() <-chan struct{} { return f.arrived }

// Bodies returns the bodies of all chat requests so far.
func (f *Faults) Bodies() [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([][]byte(nil), f.bodies...)
}

func (f *Faults) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/api/chat", "/v1/chat/completions":
		f.mu.Lock()
		f.bodies = append(f.bodies, body)
		f.chats++
		fault, at, n, text := f.fault, f.at, f.chats, f.said
		if !bytes.Contains(body, []byte(f.strikes)) {
			fault = None
		}
		if f.plan != "" && bytes.Contains(body, []byte(PlanMark)) {
			text = f.plan
		}
		f.mu.Unlock()
		select {
		case f.arrived <- struct{}{}:
		default:
		}
		f.chat(w, r, text, fault, at, n)
	case "/api/ps": // reports no window
		http.NotFound(w, r)
	default:
		if !describeModel(w, r.URL.Path, FaultModel, 0, "completion", "tools") {
			http.NotFound(w, r)
		}
	}
}

// answer returns the complete, correct answer in the protocol of path.
func answer(path, text string, call bool) []byte {
	var out bytes.Buffer
	line := func(v string) {
		if strings.HasPrefix(path, "/v1") {
			fmt.Fprintf(&out, "data: %s\n\n", v)
		} else {
			out.WriteString(v + "\n")
		}
	}
	for _, piece := range strings.SplitAfter(text, " ") {
		quoted, _ := json.Marshal(piece)
		if strings.HasPrefix(path, "/v1") {
			line(`{"choices":[{"delta":{"content":` + string(quoted) + `}}]}`)
		} else {
			line(`{"model":"faulty","message":{"role":"assistant","content":` + string(quoted) + `},"done":false}`)
		}
	}
	if strings.HasPrefix(path, "/v1") {
		if call {
			line(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"search_notes",` +
				`"arguments":"{}"}}]}}]}`)
		}
		line(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
		line(`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}`)
		line(`[DONE]`)
	} else {
		if call {
			line(`{"message":{"role":"assistant","content":"","tool_calls":[{"id":"c1",` +
				`"function":{"name":"search_notes","arguments":{}}}]},"done":false}`)
		}
		line(`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,` +
			`"eval_count":9}`)
	}
	return out.Bytes()
}

// oneLine returns one piece of text in the protocol of path.
func oneLine(path, text string) []byte {
	line := answer(path, text, false)
	line = line[:bytes.IndexByte(line, '\n')+1]
	if strings.HasPrefix(path, "/v1") {
		line = append(line, '\n')
	}
	return line
}

// Answered returns the bytes that the server sends for text when there is no
// fault.
func Answered(text string, openai bool) []byte {
	if openai {
		return answer("/v1", text, false)
	}
	return answer("/api", text, false)
}

func (f *Faults) chat(w http.ResponseWriter, r *http.Request, text string, fault Fault, at, n int) {
	path := r.URL.Path
	good := answer(path, text, fault == CallThenEnd)
	at = min(at, len(good))
	w.Header().Set("Content-Type", "application/x-ndjson")
	if strings.HasPrefix(path, "/v1") {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	send := func(b []byte) {
		_, _ = w.Write(b)
		_ = http.NewResponseController(w).Flush()
	}
	switch fault {
	case None:
		send(good)
	case Status500, Status429:
		code := map[Fault]int{Status500: 500, Status429: 429}[fault]
		w.WriteHeader(code)
		fmt.Fprint(w, `{"error":"the server is not well"}`)
	case Busy:
		if n <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":"server busy, please try again"}`)
			return
		}
		send(good)
	case HangBefore:
		f.hang(r)
	case HangMiddle:
		send(good[:at])
		f.hang(r)
	case Reset:
		send(good[:at])
		f.reset(w)
	case CleanEnd:
		send(good[:bytes.LastIndexByte(good[:at], '\n')+1])
	case HalfLine:
		if at > 0 && good[at-1] == '\n' {
			at--
		}
		send(good[:at])
	case BadUTF8:
		send(bytes.Replace(good, []byte("answer "), []byte("ans\xff\xfe\xc3( "), 1))
	case ErrorObject:
		send(good[:bytes.LastIndexByte(good[:at], '\n')+1])
		if strings.HasPrefix(path, "/v1") {
			send([]byte("data: {\"error\":{\"message\":\"the runner has died\",\"code\":500}}\n\n"))
		} else {
			send([]byte("{\"error\":\"the runner has died\"}\n"))
		}
	case OneByteAtATime:
		for i := range good {
			send(good[i : i+1])
		}
	case Endless:
		for i := 0; r.Context().Err() == nil; i++ {
			if _, err := w.Write(oneLine(path, fmt.Sprintf("and_%d ", i))); err != nil {
				return
			}
		}
	case Circles:
		send(good[:bytes.LastIndexByte(good[:at], '\n')+1])
		for err := error(nil); err == nil && r.Context().Err() == nil; {
			_, err = w.Write(oneLine(path, "and_again\n"))
		}
	case LongLine:
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		send([]byte(`data: {"choices":[{"delta":{"content":"`))
		for range 50 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	case WrongType:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html><body>Please sign in</body></html>")
	case Redirect:
		http.Redirect(w, r, "http://elsewhere.invalid/api/chat", http.StatusTemporaryRedirect)
	case Garbage:
		send([]byte("data: what is this\n\nnot json at all\n"))
	case CallThenEnd:
		lines := bytes.SplitAfter(good, []byte("\n"))
		for _, line := range lines {
			if bytes.Contains(line, []byte("finish_reason")) || bytes.Contains(line, []byte(`"done":true`)) {
				return
			}
			send(line)
		}
	case Nothing:
	}
}

func (f *Faults) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-f.released:
	}
}

// reset closes the connection abruptly, so that the client gets a read error.
func (f *Faults) reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}
