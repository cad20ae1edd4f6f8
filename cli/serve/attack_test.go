package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/cli/settings"
)

// Only the page itself, with the secrets of a link, gets or changes anything.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	other := pageOf(t, p.link)
	other.enter(must(Running(s.Paths)))
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	without := func(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Del(name) } }
	host := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Host = name; r.Header.Set("Origin", "http://"+name) }
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(p.base, "http://"))
	requests := []string{
		"GET /api/conversation", "GET /api/stats", "GET /api/turns/c1.1/events",
		"POST /api/chat", "POST /api/turns/c1.1/resume", "POST /api/turns/c1.1/stop",
	}
	for name, c := range map[string]struct {
		change    func(*http.Request)
		get, post int
	}{
		"no cookie":               {without("Cookie"), 401, 401},
		"another cookie":          {header("Cookie", p.cookie+"x"), 401, 401},
		"the cookie alone":        {without(keyHeader), 401, 401},
		"the key of another page": {header(keyHeader, other.key), 401, 401},
		"a rebound name":          {host("evil.example:" + port), 403, 403},
		"an address elsewhere":    {host("192.168.1.5:" + port), 403, 403},
		"a name like ours":        {host("localhost.evil.example"), 403, 403},
		"a rebound zero":          {host("0.0.0.0:" + port), 403, 403},
		"another site":            {header("Sec-Fetch-Site", "cross-site"), 403, 403},
		"another port":            {header("Sec-Fetch-Site", "same-site"), 403, 403},
		"a page elsewhere":        {header("Origin", "https://evil.example"), 0, 403},
		"a page of another port":  {header("Origin", "http://127.0.0.1:1"), 0, 403},
		"a page of another name":  {header("Origin", "http://localhost:"+port), 0, 403},
		"a hidden page":           {header("Origin", "null"), 0, 403},
		"no origin":               {without("Origin"), 0, 403},
		"a form":                  {header("Content-Type", "text/plain"), 0, 403},
		"no type":                 {without("Content-Type"), 0, 403},
	} {
		for _, request := range requests {
			method, path, _ := strings.Cut(request, " ")
			want := c.get
			if method == "POST" {
				want = c.post
			}
			if want == 0 {
				continue
			}
			answer := p.send(method, path, `{"text":"x"}`, c.change)
			answer.Body.Close()
			if answer.StatusCode != want || answer.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s, %s: %d, want %d", name, request, answer.StatusCode, want)
			}
		}
	}
	for _, request := range []string{
		"GET /api/chat", "GET /api/session", "PUT /api/chat", "OPTIONS /api/chat", "POST /api/conversation", "DELETE /",
	} {
		method, path, _ := strings.Cut(request, " ")
		if answer := p.send(method, path, "", nil); answer.StatusCode < 400 {
			t.Errorf("%s: %s", request, answer.Status)
		}
	}
	select {
	case sent := <-s.Hub.Sent():
		t.Errorf("sent was %+v", sent)
	default:
	}
	if got := p.post("/api/chat", `{"text":"`+strings.Repeat("x", maxBody)+`"}`); got != 413 {
		t.Errorf("a huge message: %d", got)
	}
	huge := header("X-Huge", strings.Repeat("x", 2*maxHeader))
	if answer := p.send("GET", "/health", "", huge); answer.StatusCode != 431 {
		t.Errorf("a huge head: %s", answer.Status)
	}
	if got := p.post("/api/chat", `{"text":"x"}`); got != 202 {
		t.Errorf("the page itself: %d", got)
	}
}

func must(link string, err error) string {
	if err != nil {
		panic(err)
	}
	return link
}

// A link lets one browser in. The next one has another token, of which neither the address nor a log has any.
func TestTokenIsExchangedOnce(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	_, used, _ := strings.Cut(p.link, "#")
	next := must(s.Start(t.Context(), 0))
	_, token, _ := strings.Cut(next, "#")
	for name, given := range map[string]string{
		"used": used, "none": "", "part": token[:10], "more": token + "x", "another": strings.ToLower(token),
	} {
		if got := p.post("/api/session", `{"token":"`+given+`"}`); got != 401 {
			t.Errorf("%s: %d", name, got)
		}
	}
	if link := must(Running(s.Paths)); link != next || link == p.link {
		t.Errorf("another process reads %s, the next link is %s", link, next)
	}
	p.enter(next)
	if again := must(s.Start(t.Context(), 0)); again == next {
		t.Error("the link stays after it was used")
	}
	for range maxSessions {
		p.enter(must(s.Start(t.Context(), 0)))
	}
	if got := len(s.site.door.sessions); got != maxSessions {
		t.Errorf("%d browsers are let in", got)
	}
}

// Only the user can read the file with the link. What a process that was killed left of it is replaced.
func TestFileOfTheLink(t *testing.T) {
	t.Parallel()
	p := settings.Paths{State: filepath.Join(t.TempDir(), "state")}
	if link, err := Running(p); link != "" || err != nil {
		t.Errorf("nobody serves: %q, %v", link, err)
	}
	if err := os.WriteFile(p.Served(), []byte(`{"host":"127.0.0.1:1","token":"old"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if link, err := Running(p); link != "" || err != nil {
		t.Errorf("a process that is gone serves: %q, %v", link, err)
	}
	s := &Server{Hub: NewHub(""), Paths: p}
	link, err := s.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(p.Served()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v: the mode is %v", err, info.Mode())
	}
	var other *RunningError
	_, err = (&Server{Hub: NewHub(""), Paths: p}).Start(t.Context(), 0)
	if !errors.As(err, &other) || other.Link != link {
		t.Errorf("a second server: %v, want the link %s", err, link)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.Served()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	again, err := s.Start(t.Context(), 0)
	if err != nil || again == link {
		t.Errorf("%v: again it is %s", err, again)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// The page runs nothing but its own file, and asks nobody else for anything.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	_, p := serving(t)
	for _, path := range []string{"/", "/page.js", "/page.css"} {
		answer := p.send("GET", path, "", func(r *http.Request) { r.Header = http.Header{} })
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != 200 || len(text) == 0 {
			t.Fatalf("%s: %v %s", path, err, answer.Status)
		}
		const strict = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
		policy := answer.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, strict) || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for _, no := range []string{
			"://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
			"onclick=\"", "style=\"", "<script>",
		} {
			if strings.Contains(string(text), no) {
				t.Errorf("%s contains %q", path, no)
			}
		}
	}
}

// Connections on which nothing comes neither keep a page out nor end what it reads.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	turn := tell(s)
	turn.tell(agent.Started{})
	stream := p.watch("c1.1", "")
	if _, more := stream.next(); !more {
		t.Fatal("the stream is empty")
	}
	address := strings.TrimPrefix(p.base, "http://")
	for i := range 1000 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer conn.Close()
		if i%3 == 0 {
			_, _ = conn.Write([]byte("POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\n")) // and no more
		}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", p.base+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := fresh.Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("after 1,000 silent connections: %v", err)
	}
	answer.Body.Close()
	t.Logf("answered after %v", time.Since(began).Round(time.Millisecond))
	turn.tell(agent.Started{})
	if _, more := stream.next(); !more {
		t.Error("the stream was cut")
	}
	s.site.connections.mu.Lock()
	defer s.site.connections.mu.Unlock()
	if n := len(s.site.connections.strangers); n > maxStrangers {
		t.Errorf("%d connections of strangers are open", n)
	}
	turn.end()
}

// Any number of pages may be open until there are too many; then one more is told so.
func TestTooManyPagesAreRefused(t *testing.T) {
	t.Parallel()
	s, p := serving(t)
	turn := tell(s)
	turn.tell(agent.Started{})
	status := 0
	for range maxKnown + 1 {
		answer := p.send("GET", "/api/turns/c1.1/events", "", nil)
		defer answer.Body.Close()
		status = answer.StatusCode
	}
	if status != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d", status)
	}
	turn.end()
}

// No number of an event and no body makes the server fail or answer a question.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{
		"1", "-1", "99999999999999999999", "1.5", "2.x", ".", "%", "{", "[]", "null",
		`{"id":"p"}`, `{"text":1}`, `{"text":"x","pasted":[""]}`, `{"id":"p","hash":"h","decision":"always"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		hub := NewHub("c1")
		s := &Server{Hub: hub}
		p := &site{server: s, door: newDoor()}
		cookie, key, _ := p.door.exchange(p.door.next())
		turn, answered := hub.begin("c1"), false
		asked := agent.PermissionAsked{Call: "p", Hash: "h", Reply: func(agent.Reply) { answered = true }}
		hub.record(turn, agent.Event{Turn: "c1.1", Seq: 1, Body: asked})
		open := turn.asked
		hub.end(turn)
		turn.asked = open
		for _, request := range []struct{ method, path, body, last string }{
			{"GET", "/api/turns/c1.1/events?from=" + url.QueryEscape(given), "", ""},
			{"GET", "/api/turns/c1.1/events", "", strings.Join(strings.Fields(strings.ToValidUTF8(given, "")), "")},
			{"POST", "/api/chat", given, ""},
			{"POST", "/api/turns/c1.1/resume", given, ""},
			{"POST", "/api/session", given, ""},
			{"GET", "/api/conversation?seen=x" + url.QueryEscape(given), "", ""},
		} {
			w := httptest.NewRecorder()
			address := "http://localhost" + request.path
			r, err := http.NewRequestWithContext(t.Context(), request.method, address, strings.NewReader(request.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Origin", "http://localhost")
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Cookie", p.door.name+"="+cookie)
			r.Header.Set(keyHeader, key)
			r.Header.Set("Last-Event-ID", request.last)
			p.connections.known = map[net.Conn]bool{nil: true}
			p.handler().ServeHTTP(w, r)
			if w.Code >= 500 && w.Code != 503 {
				t.Errorf("%s %s %q: %d", request.method, request.path, request.body, w.Code)
			}
		}
		var valid answer
		if answered && (json.Unmarshal([]byte(given), &valid) != nil || valid.ID != "p" || valid.Hash != "h") {
			t.Errorf("%q was an answer", given)
		}
	})
}
