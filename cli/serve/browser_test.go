//go:build unix

package serve

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// browser is a headless Chromium with one page, spoken to by the DevTools protocol on two pipes.
type browser struct {
	t       *testing.T
	to      io.Writer
	from    *bufio.Reader
	session string
	id      int
	faults  []string // what the page's console and its policy complained about
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := testenv.Program(t, "chromium", "chromium")
	var ends [4]*os.File
	for i := range 2 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ends[2*i], ends[2*i+1] = r, w
	}
	profile, err := os.MkdirTemp("", "lifehub-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{ends[0], ends[3]} // 3 is read, 4 is written
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ends[0].Close()
	ends[3].Close()
	t.Cleanup(func() {
		_, _ = ends[1].Write([]byte(`{"id":0,"method":"Browser.close"}` + "\x00")) // it ends its other processes, too
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait()
		_ = os.RemoveAll(profile) // one that was killed may leave processes that still write there
		ends[1].Close()
		ends[2].Close()
	})
	b := &browser{t: t, to: ends[1], from: bufio.NewReader(ends[2])}
	_ = ends[2].SetReadDeadline(time.Now().Add(2 * patience)) // a pipe that knows none waits for the test's own
	var made struct{ TargetID, SessionID string }
	b.do("Target.createTarget", `{"url":"about:blank"}`, &made)
	b.do("Target.attachToTarget", `{"targetId":"`+made.TargetID+`","flatten":true}`, &made)
	b.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.do(domain+".enable", `{}`, nil)
	}
	return b
}

// do calls a method and waits for its result.
func (b *browser) do(method, params string, result any) {
	b.t.Helper()
	b.id++
	call := map[string]any{"id": b.id, "method": method, "params": json.RawMessage(params)}
	if b.session != "" {
		call["sessionId"] = b.session
	}
	text, err := json.Marshal(call)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var got struct {
			ID            int
			Method        string
			Result, Error json.RawMessage
		}
		line = bytes.TrimRight(line, "\x00")
		if err := json.Unmarshal(line, &got); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case got.Method == "Runtime.exceptionThrown", got.Method == "Log.entryAdded":
			b.faults = append(b.faults, string(line))
		case got.ID != b.id:
		case got.Error != nil:
			b.t.Fatalf("%s: %s", method, got.Error)
		case result == nil:
			return
		default:
			if err := json.Unmarshal(got.Result, result); err != nil {
				b.t.Fatal(err)
			}
			return
		}
	}
}

// run evaluates a script in the page.
func (b *browser) run(script string) string {
	b.t.Helper()
	script = "(async () => String(await (" + script + ")))()"
	params, err := json.Marshal(map[string]any{"expression": script, "awaitPromise": true})
	if err != nil {
		b.t.Fatal(err)
	}
	var got struct {
		Result           struct{ Value string }
		ExceptionDetails json.RawMessage
	}
	if b.do("Runtime.evaluate", string(params), &got); got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, got.ExceptionDetails)
	}
	return got.Result.Value
}

// await waits until a script is true.
func (b *browser) await(script string) {
	b.t.Helper()
	if b.run(`new Promise((done) => {
		const look = () => { try { if (`+script+`) done("yes") } catch { } };
		setInterval(look, 20); setTimeout(() => done("no"), `+"60000"+`);
	})`) != "yes" {
		b.t.Fatalf("never true: %s\n%s", script, b.run("document.body.innerText"))
	}
}

// size sets the size of the window.
func (b *browser) size(width, height, scale, scheme string) {
	b.t.Helper()
	metrics := `{"width":` + width + `,"height":` + height + `,"deviceScaleFactor":` + scale + `,"mobile":false}`
	b.do("Emulation.setDeviceMetricsOverride", metrics, nil)
	b.do("Emulation.setEmulatedMedia", `{"features":[{"name":"prefers-color-scheme","value":"`+scheme+`"}]}`, nil)
}

// shot saves a picture of the page if LIFEHUB_SHOTS names a folder.
func (b *browser) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("LIFEHUB_SHOTS")
	if dir == "" {
		return
	}
	var got struct{ Data string }
	b.do("Page.captureScreenshot", `{"format":"png"}`, &got)
	picture, err := base64.StdEncoding.DecodeString(got.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), picture, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// What a person does on a phone: open the link, ask, read what would change, allow it, read the answer.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	h := newHome(t)
	p, _ := h.serve()
	link := strings.TrimSpace(must(Running(h.paths())))
	b.size("390", "844", "2", "light")
	b.do("Page.navigate", `{"url":"`+link+`"}`, nil)
	b.await(`document.querySelector(".empty")`)
	if hash := b.run("location.hash"); hash != "" {
		t.Errorf("the token stays in the address: %s", hash)
	}
	if cookie := b.run("document.cookie"); cookie != "" {
		t.Errorf("a script can read the cookie: %s", cookie)
	}
	b.run(`(() => {
		find("text").value = "Put running socks on my list. How often do I run?";
		find("composer").requestSubmit();
	})()`)
	b.await(`document.querySelector(".choices .first:enabled")`)
	for script, want := range map[string]string{
		`document.querySelector(".question").textContent`: "Put running socks",
		`document.querySelector(".ask").innerText`:        "+ - [ ] Buy running socks",
		`document.querySelector(".ask h2").textContent`:   "Allow add_task?",
	} {
		if got := b.run(script); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q", script, got, want)
		}
	}
	if wide := b.run("document.documentElement.scrollWidth"); wide != "390" {
		t.Errorf("at 390 pixels the page is %s wide", wide)
	}
	b.shot("page-390.png")
	if apptest.Read(t, h.file) != apptest.Read(t, filepath.Join(apptest.Vault(t), "tasks.md")) {
		t.Error("it was written before it was allowed")
	}
	b.run(`document.querySelector(".choices .first").click()`)
	b.await(`document.querySelector(".sources")`)
	b.await(`!document.querySelector(".ask")`)
	b.await(`document.querySelector(".answer strong")`)
	if n := strings.Count(apptest.Read(t, h.file), "Buy running socks"); n != 1 {
		t.Errorf("the task was written %d times", n)
	}

	// The page is opened again: it shows what was saved.
	b.size("1280", "800", "1", "dark")
	b.do("Page.reload", `{}`, nil)
	b.await(`document.querySelector(".sources") && document.querySelector(".answer strong")`)
	b.run(`(() => {
		const pasted = new DataTransfer(); pasted.setData("text", "two\nlines");
		find("text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: pasted, cancelable: true }));
		find("text").value = "And what this asks?";
		find("composer").requestSubmit();
	})()`)
	b.await(`document.querySelector(".choices .first:enabled")`)
	b.shot("page-1280.png")
	got := b.run(`[...document.querySelectorAll(".turn")].at(-1).innerText`)
	if !strings.Contains(got, "[paste 1, 2 lines]") || !strings.Contains(got, ": paste 1") {
		t.Errorf("what was pasted counts as typed: %q", got)
	}
	why := `[...document.querySelectorAll(".choices button")].at(-1).click()`
	b.run(why)
	b.run(`document.querySelector(".ask label input").value = "not today"`)
	b.run(why)
	b.await(`document.querySelectorAll(".answer strong").length === 2 && !document.querySelector(".ask")`)
	b.await(`find("stop").hidden`) // the page has drawn the end of the turn
	got = b.run(`document.querySelectorAll(".turn")[1].innerText`)
	if !strings.Contains(got, "<img src=x") || strings.Contains(got, "**") {
		t.Errorf("the answer is %q", got)
	}
	if got := b.run(`document.querySelectorAll(".steps")[1].textContent`); !strings.Contains(got, "not today") {
		t.Errorf("the steps are %q", got)
	}
	if n := b.run("document.images.length"); n != "0" {
		t.Errorf("the answer has %s images", n)
	}
	if n := strings.Count(apptest.Read(t, h.file), "Buy running socks"); n != 1 {
		t.Errorf("denied, the task was written %d times", n)
	}

	// What does not fit is read to its end before it can be allowed.
	b.run(`(() => {
		const lines = Array.from({ length: 200 }, (_, i) => ({ mark: "added", text: "+ line " + i }));
		const turn = new Turn("long");
		main.append(turn.root);
		turn.question({ id: "q", hash: "h", title: "Allow it?", lines,
			choices: [{ decision: "once", label: "Allow once" }, { decision: "no", label: "Deny" }] });
	})()`)
	b.await(`document.querySelector(".choices .first + button:enabled")`)
	if b.run(`document.querySelector(".choices .first").disabled`) != "true" {
		t.Error("it can be allowed before it was read")
	}
	b.run(`document.querySelector(".preview").scrollTop = 1e6`)
	b.await(`document.querySelector(".choices .first:enabled")`)
	if len(b.faults) > 0 {
		t.Errorf("the console says %s", b.faults)
	}
	if got := p.post("/api/chat", `{"text":"still here?"}`); got != 202 {
		t.Errorf("the page that was let in before: %d", got)
	}
}
