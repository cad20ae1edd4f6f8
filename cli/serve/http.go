package serve

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/safetext"
)

const (
	// maxBody bounds a message with its attachments, in bytes, as in `lifehub ask`.
	maxBody = 1 << 20
	// pollTime bounds how long a request waits for a change of the conversation, and beat how long a stream is silent.
	pollTime, beat = 25 * time.Second, 20 * time.Second
	// writeTime bounds how long a reader may take for what is written to it.
	writeTime = 30 * time.Second
	// lastTurns is how many turns of the conversation the page shows.
	lastTurns = 30
)

//go:embed page
var pages embed.FS

// handler returns the page and its API.
func (p *site) handler() http.Handler {
	files, err := fs.Sub(pages, "page")
	if err != nil {
		panic(err) // the build is broken
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]bool{"ok": true})
	})
	mux.HandleFunc("POST /api/session", p.enter)
	known := func(pattern string, handle http.HandlerFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case !p.door.knows(r):
				refuse(w, http.StatusUnauthorized, "open the link that /serve or `lifehub serve` prints")
			case !p.connections.admit(r.Context()):
				refuse(w, http.StatusServiceUnavailable, "too many pages are open; close one")
			default:
				handle(w, r)
			}
		})
	}
	known("GET /api/conversation", p.conversation)
	known("GET /api/stats", p.stats)
	known("GET /api/turns/{turn}/events", p.events)
	known("POST /api/chat", p.chat)
	known("POST /api/turns/{turn}/resume", p.resume)
	known("POST /api/turns/{turn}/stop", func(w http.ResponseWriter, _ *http.Request) {
		p.send(w, chat.Sent{Stop: true})
	})
	return guarded(mux)
}

// enter exchanges the token of a link for a session, once.
func (p *site) enter(w http.ResponseWriter, r *http.Request) {
	var given struct {
		Token string `json:"token"`
	}
	if !read(w, r, &given) {
		return
	}
	cookie, key, ok := p.door.exchange(given.Token)
	if !ok {
		refuse(w, http.StatusUnauthorized, "this link was used already; /serve or `lifehub serve` prints another")
		return
	}
	if err := p.announce(); err != nil {
		slog.Warn("the next link of the page", "error", err)
	}
	http.SetCookie(w, &http.Cookie{
		Name: p.door.name, Value: cookie, Path: "/api/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	reply(w, http.StatusOK, map[string]string{"key": key})
}

// saved is a turn of the conversation, as safe text.
type saved struct {
	Turn     string   `json:"turn"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Sources  []string `json:"sources,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	Failed   string   `json:"failed,omitempty"`
	Resume   bool     `json:"resume,omitempty"` // it is the last one, and was interrupted
}

// conversation returns the last turns, once their version is another than that of the request.
func (p *site) conversation(w http.ResponseWriter, r *http.Request) {
	seen, err := strconv.Atoi(cmp.Or(r.FormValue("seen"), "-1"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "seen: a whole number is expected")
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // that of the request would end the wait
	now, changed := p.server.Hub.now()
	late := time.After(pollTime)
	for waits := true; waits && now.version == seen; now, changed = p.server.Hub.now() {
		select {
		case <-changed:
		case <-late:
			waits = false
		case <-r.Context().Done():
			return
		}
	}
	list, err := p.server.Options.Conversations.Latest(r.Context(), now.conversation, lastTurns)
	if err != nil {
		reply(w, http.StatusInternalServerError, map[string]string{"error": safetext.Line(err.Error())})
		return
	}
	turns := []saved{}
	for i, e := range list {
		if e.Turn != now.running {
			turns = append(turns, savedTurn(e, i == len(list)-1 && p.server.Options.Resumer != nil))
		}
	}
	reply(w, http.StatusOK, map[string]any{
		"version": now.version, "conversation": now.conversation, "running": now.running, "turns": turns,
	})
}

// savedTurn returns what is shown of a saved turn.
func savedTurn(e agent.Exchange, last bool) saved {
	t := saved{
		Turn: e.Turn, Question: readable(e.Question), Answer: safetext.Text(e.Answer.Text),
		Sources: sources(chat.SourcesOf(e.Answer)), Lines: effects(e.Answer.Effects),
		Failed: safetext.Line(e.Answer.Error), Resume: last && chat.Resumable(e),
	}
	if ending := chat.Ending(e); ending != "" && (t.Failed == "" || e.Undone) {
		t.Lines = append(t.Lines, ending)
	}
	return t
}

// events streams the events of a turn from a number on, and ends with the turn. A turn that is no longer kept is
// part of the conversation.
func (p *site) events(w http.ResponseWriter, r *http.Request) {
	run := p.server.Hub.find(r.PathValue("turn"))
	if run == nil {
		refuse(w, http.StatusNotFound, "this turn is over; GET /api/conversation has what was saved of it")
		return
	}
	seen, ok := seenOf(r, run.id)
	if !ok {
		refuse(w, http.StatusBadRequest, "from: the number of an event is expected")
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the deadline of the request would end the stream
	w.Header().Set("Content-Type", "text/event-stream")
	silent := time.NewTimer(beat)
	defer silent.Stop()
	for {
		records, last, over, changed := p.server.Hub.after(run, seen)
		var b strings.Builder
		for i, record := range records {
			fmt.Fprintf(&b, "id: %s.%d\ndata: %s\n\n", run.id, last-len(records)+i+1, record)
		}
		if over {
			b.WriteString("event: over\ndata: {}\n\n")
		}
		seen = max(seen, last)
		if !stream(w, control, b.String()) || over {
			return
		}
		select {
		case <-changed:
		case <-silent.C:
			if !stream(w, control, ": waiting\n\n") {
				return
			}
			silent.Reset(beat)
		case <-r.Context().Done():
			return
		}
	}
}

// stream writes text to a reader. It reports false if that is gone, or too slow.
func stream(w io.Writer, control *http.ResponseController, text string) bool {
	if err := control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return false
	}
	_, err := io.WriteString(w, text)
	return err == nil && control.Flush() == nil
}

// seenOf returns how many events a reader has seen: all before the one that it asks for, or up to the last that it
// got. That of an earlier run of the turn counts for nothing.
func seenOf(r *http.Request, run string) (seen int, ok bool) {
	if from := r.FormValue("from"); from != "" {
		n, err := strconv.Atoi(from)
		return max(0, n-1), err == nil
	}
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		return 0, true
	}
	of, number, _ := strings.Cut(last, ".")
	n, err := strconv.Atoi(number)
	if of != run {
		n = 0
	}
	return max(0, n), err == nil
}

// chat sends a message, to be answered now or after the running turn.
func (p *site) chat(w http.ResponseWriter, r *http.Request) {
	var given struct {
		Text   string   `json:"text"`
		Pasted []string `json:"pasted"`
	}
	if !read(w, r, &given) {
		return
	}
	m := agent.Message{Text: strings.TrimSpace(safetext.Text(given.Text))}
	for i, pasted := range given.Pasted {
		name := fmt.Sprintf("paste %d", i+1)
		m.Attached = append(m.Attached, agent.Attachment{Name: name, Text: safetext.Text(pasted)})
	}
	switch refused := chat.NoShell(m.Text); {
	case m.Text == "" && len(m.Attached) == 0:
		refuse(w, http.StatusUnprocessableEntity, "the message is empty")
	case strings.HasPrefix(m.Text, "/") && !strings.Contains(m.Text, "\n"):
		refuse(w, http.StatusUnprocessableEntity, "commands run in the terminal only")
	case refused != "":
		refuse(w, http.StatusUnprocessableEntity, refused)
	case len(m.Attached) == 0:
		p.send(w, chat.Sent{Message: m.Text})
	default:
		p.send(w, chat.Sent{Message: m.String()})
	}
}

// resume answers a question of a turn. Without one it resumes the turn, if it was interrupted.
func (p *site) resume(w http.ResponseWriter, r *http.Request) {
	var given answer
	if !read(w, r, &given) {
		return
	}
	if given.ID == "" {
		p.send(w, chat.Sent{Resume: true})
		return
	}
	run := p.server.Hub.find(r.PathValue("turn"))
	if run == nil {
		refuse(w, http.StatusNotFound, "this turn is over")
		return
	}
	err := errAnswered
	if q := p.server.Hub.open(run, given.ID); q != nil {
		err = q.answer(given)
	}
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, errAnswered), errors.Is(err, errOther):
		refuse(w, http.StatusConflict, err.Error())
	default:
		refuse(w, http.StatusUnprocessableEntity, safetext.Line(err.Error()))
	}
}

func (p *site) send(w http.ResponseWriter, sent chat.Sent) {
	if err := p.server.Hub.send(sent); err != nil {
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// stats returns the figures of the last days.
func (p *site) stats(w http.ResponseWriter, r *http.Request) {
	if p.server.Options.Statistics == nil {
		refuse(w, http.StatusNotFound, "nothing is saved, so there are no figures")
		return
	}
	days, err := p.server.Options.Statistics.Figures(r.Context(), "day")
	if err != nil {
		reply(w, http.StatusInternalServerError, map[string]string{"error": safetext.Line(err.Error())})
		return
	}
	reply(w, http.StatusOK, map[string]any{"days": days})
}

// read decodes the body of a request. If it cannot be read, it has refused the request and reports false.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message may have %d bytes with what is pasted",
			maxBody))
	case err != nil:
		refuse(w, http.StatusBadRequest, "one JSON object is expected: "+safetext.Line(err.Error()))
	}
	return err == nil
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the reader may be gone
}
