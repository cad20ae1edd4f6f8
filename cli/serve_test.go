//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
)

// browserPage is the page of a chat, let in with the link that the file of the link has.
type browserPage struct {
	t           *testing.T
	base        string
	cookie, key string
}

func openPage(t *testing.T, term *terminal) *browserPage {
	t.Helper()
	var link struct{ Host, Token string }
	file := filepath.Join(term.home, ".lifehub", "state", "serve.json")
	if err := json.Unmarshal([]byte(apptest.Read(t, file)), &link); err != nil {
		t.Fatal(err)
	}
	p := &browserPage{t: t, base: "http://" + link.Host}
	answer := p.send("POST", "/api/session", `{"token":"`+link.Token+`"}`)
	defer answer.Body.Close()
	var given struct{ Key string }
	if err := json.NewDecoder(answer.Body).Decode(&given); err != nil || len(answer.Cookies()) != 1 {
		t.Fatalf("%v: the exchange returned %s", err, answer.Status)
	}
	p.cookie, p.key = answer.Cookies()[0].Name+"="+answer.Cookies()[0].Value, given.Key
	return p
}

func (p *browserPage) send(method, path, body string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Origin": p.base, "Content-Type": "application/json", "Cookie": p.cookie, "LifeHub-Key": p.key,
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer
}

// asked returns the running turn and its open question.
func (p *browserPage) asked() (turn, id, hash string) {
	p.t.Helper()
	for turn == "" {
		var state struct{ Running string }
		answer := p.send("GET", "/api/conversation", "")
		if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
			p.t.Fatal(err)
		}
		answer.Body.Close()
		turn = state.Running
	}
	stream := p.send("GET", "/api/turns/"+turn+"/events", "")
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		var e struct {
			Shown struct{ Ask struct{ ID, Hash string } }
		}
		record, isRecord := strings.CutPrefix(line, "data: ")
		if isRecord && json.Unmarshal([]byte(record), &e) == nil && e.Shown.Ask.ID != "" {
			return turn, e.Shown.Ask.ID, e.Shown.Ask.Hash
		}
	}
}

// A call is allowed from the page while the terminal shows its dialog: that closes, and the call runs once.
func TestPageAnswersTheDialogOfTheTerminal(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	term := startTerminal(t, 100, 30, []string{"LIFEHUB_PROVIDER=offline"}, "chat", "--notes", vault)
	term.sees("Ask")
	term.types("/serve\r")
	term.sees("works once")
	p := openPage(t, term)
	term.types("/task buy running socks\r")
	term.sees("Allow once")
	turn, id, hash := p.asked()
	allow := func() int {
		answer := p.send("POST", "/api/turns/"+turn+"/resume", `{"id":"`+id+`","hash":"`+hash+`","decision":"once"}`)
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	if got := allow(); got != http.StatusNoContent {
		t.Fatalf("allow: %d", got)
	}
	term.sees("changed tasks.md (+1)")
	term.waits(func(screen string) bool { return !strings.Contains(screen, "Allow once") }, "the end of the dialog")
	if got := allow(); got != http.StatusConflict && got != http.StatusNotFound {
		t.Errorf("allowed again: %d", got)
	}
	if n := strings.Count(apptest.Read(t, filepath.Join(vault, "tasks.md")), "buy running socks"); n != 1 {
		t.Errorf("the task was written %d times", n)
	}

	// A message of the page is asked in the terminal. There, the next call is allowed, and the page is too late.
	answer := p.send("POST", "/api/chat", `{"text":"how often do I run?"}`)
	answer.Body.Close()
	term.sees("how often do I run?", "changed nothing")
	term.types("/task call the lighthouse\r")
	term.sees("Allow once")
	turn, id, hash = p.asked()
	term.waits(func(screen string) bool { return !strings.Contains(screen, "wait…") }, "the end of the quiet period")
	term.types("y\r")
	term.sees("added to tasks.md:5: call the lighthouse", "changed tasks.md (+1)")
	if got := allow(); got != http.StatusConflict && got != http.StatusNotFound {
		t.Errorf("allowed after the terminal: %d", got)
	}
	term.types("/serve off\r")
	term.sees("shut out")
	if _, err := http.Get(p.base + "/health"); err == nil {
		t.Error("it is still served")
	}
}
