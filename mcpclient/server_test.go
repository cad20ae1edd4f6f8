package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/mcptest"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/mcpclient/config"
)

// bad returns a server run by this test binary that misbehaves according to mode.
func bad(name, mode string) config.Entry {
	return config.Entry{
		Name: name, Transport: config.Stdio, Command: os.Args[0],
		Env: map[string]string{mcptest.Mode: mode, "GORACE": "atexit_sleep_ms=0"}, Level: agent.Confirm,
	}
}

// testUser answers what servers request; a request without a function is answered with nothing.
type testUser struct {
	ask    func(context.Context, agent.Question) agent.Input
	sample func(context.Context, string, llm.Request) (model, text string, err error)
	roots  func() []string
}

func (u testUser) Ask(ctx context.Context, form agent.Question) agent.Input { return u.ask(ctx, form) }

func (u testUser) Sample(ctx context.Context, server string, request llm.Request) (model, text string, err error) {
	if u.sample == nil {
		return "", "", nil
	}
	return u.sample(ctx, server, request)
}

func (u testUser) Roots() []string {
	if u.roots == nil {
		return nil
	}
	return u.roots()
}

// start starts servers and waits for them.
func start(t *testing.T, options Options, servers ...config.Entry) *Client {
	t.Helper()
	options.start = cmp.Or(options.start, time.Minute) // the machine may be busy
	s := Start(t.Context(), config.Config{File: filepath.Join(t.TempDir(), "mcp.json"), Servers: servers}, options)
	t.Cleanup(s.Close)
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// one returns the tool with this name.
func one(t *testing.T, s *Client, name string) agent.Tool {
	t.Helper()
	for _, tool := range s.Tools() {
		if tool.Spec().Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s; states: %+v", name, s.State())
	return nil
}

// within fails the test if do takes longer than limit.
func within(t *testing.T, limit time.Duration, name string, do func()) {
	t.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > limit {
		t.Errorf("%s took %v, more than %v", name, took, limit)
	}
}

func TestMisbehavingServerAffectsOnlyItself(t *testing.T) {
	t.Parallel()
	const input = `{"text":"hello"}`
	for mode, want := range map[string]struct{ result, err string }{
		"ok":        {result: input},
		"banner":    {result: input},
		"silent":    {result: input},
		"garbage":   {result: input},
		"ids":       {result: input},
		"flood":     {result: input},
		"asks":      {result: input},
		"deaf":      {result: input},
		"agrees":    {result: input},
		"pages":     {result: input},
		"textids":   {result: input},
		"glued":     {result: input},
		"damaged":   {err: `"text":"a`},
		"nan":       {err: "bad: the reply is not JSON: {"},
		"idlast":    {err: "humidity"},
		"coded":     {err: "no such user"},
		"saidso":    {err: "no such user"},
		"complains": {err: "no no no"},
		"dies":      {err: "exit status 2; its last output: panic: out of cheese"},
		"half":      {err: "it exited"},
		"mute":      {err: "no answer within 1s; the call was cancelled"},
		"wrong":     {result: "not a list"},
		"refuses":   {err: "no such city"},
		"huge":      {err: "8 MiB"},
		"deafstdin": {err: "no answer within 1s"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			misbehaves, good := bad("bad", mode), bad("good", "ok")
			misbehaves.Timeout = time.Second
			if !strings.HasPrefix(want.err, "no answer") {
				misbehaves.Timeout = time.Minute
			}
			s := start(t, Options{}, misbehaves, good)
			result, err := one(t, s, "bad_echo").Run(t.Context(), json.RawMessage(input))
			switch {
			case err != nil && len(err.Error()) > 2*maxWords:
				t.Errorf("an error of %d bytes", len(err.Error()))
			case errors.As(err, new(agent.NothingDone)):
				t.Errorf("a call that was sent has no effects: %v", err)
			case want.err != "" && (err == nil || !strings.Contains(err.Error(), want.err)):
				t.Errorf("got %q, %v, want an error with %q", text.Cut(result.Text, 100), err, want.err)
			case want.err == "" && (err != nil || result.Text != want.result || !result.Untrusted):
				t.Errorf("got %+v, %v, want %q", result, err, want.result)
			}
			within(t, time.Minute, "a call of the other server", func() {
				if result, err := one(t, s, "good_echo").Run(t.Context(), json.RawMessage(input)); err != nil ||
					result.Text != input {
					t.Errorf("the other server: %+v, %v", result, err)
				}
			})
			within(t, 20*time.Second, "the end", s.Close)
		})
	}
}

func TestServerThatCannotStartReportsWhy(t *testing.T) {
	t.Parallel()
	missing := config.Entry{Name: "missing", Transport: config.Stdio, Command: "no-such-program-here"}
	nowhere := bad("nowhere", "ok")
	nowhere.Cwd = "/no/such/folder"
	off := bad("off", "ok")
	off.Disabled = true
	keyless := bad("keyless", "ok")
	keyless.Env = map[string]string{
		"BRAVE_API_KEY": "${LIFEHUB_TEST_UNSET}", "B": "${LIFEHUB_TEST_UNSET_TOO}",
		"C": "${LIFEHUB_TEST_UNSET}",
	}
	s := start(t, Options{start: 2 * time.Second},
		bad("crash", "crash"), bad("hang", "hang"), bad("closed", "closed"), missing, nowhere, off, keyless)
	for i, want := range []struct {
		status Status
		reason string
	}{
		{Restarting, "exit status 3; its last output: wrong password"},
		{Restarting, "not started within 2s"},
		{Restarting, "it"}, // it closed its output or was killed
		{Off, `no such program "no-such-program-here" in PATH`},
		{Restarting, "no such file or directory"},
		{Off, "mcp.json"},
		{Off, "needs LIFEHUB_TEST_UNSET_TOO, LIFEHUB_TEST_UNSET"},
	} {
		st := s.State()[i]
		if !strings.Contains(st.Reason, want.reason) || (st.Status != want.status && st.Status != Starting) {
			t.Errorf("%s: got %s: %q, want %s: %q", st.Name, st.Status, st.Reason, want.status, want.reason)
		}
	}
	if got := s.Tools(); len(got) != 0 {
		t.Errorf("got tools %v", got)
	}
}

func TestStartReturnsImmediately(t *testing.T) {
	t.Parallel()
	within(t, 20*time.Second, "Start", func() {
		s := Start(t.Context(), config.Config{Servers: []config.Entry{bad("a", "hang"), bad("b", "ok")}},
			Options{start: time.Minute})
		t.Cleanup(s.Close)
	})
}

func TestCrashedServerIsRestarted(t *testing.T) {
	t.Parallel()
	s := start(t, Options{}, bad("bad", "dies"))
	echo := one(t, s, "bad_echo")
	for range 2 {
		// The second call waits for the restart.
		if _, err := echo.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "out of cheese") {
			t.Fatalf("got %v", err)
		}
	}
	if got := s.State()[0].Restarts; got < 1 {
		t.Errorf("got %d restarts", got)
	}
}

func TestServerIsSwitchedOffAndOn(t *testing.T) {
	t.Parallel()
	a, b := bad("a", "ok"), bad("b", "ok")
	s := start(t, Options{}, a, b)
	for _, on := range []bool{false, true} {
		a.Disabled = !on
		if got := s.Use(config.Config{Servers: []config.Entry{a, b}}); !slices.Equal(got, []string{"changed a"}) {
			t.Errorf("got %v", got)
		}
		waitFor(t, func() bool {
			return (s.State()[0].Status == Running) == on && len(s.Tools()) == map[bool]int{false: 1, true: 2}[on]
		})
	}
	one(t, s, "b_echo")
}

func TestRestartsStopAfterFiveInThreeMinutes(t *testing.T) {
	t.Parallel()
	var tries tries
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var delays []time.Duration
	for range 4 {
		delay, more := tries.next(at)
		if !more {
			t.Fatal("ended too early")
		}
		delays = append(delays, delay)
		at = at.Add(delay)
	}
	if _, more := tries.next(at); more {
		t.Errorf("there was a sixth start after delays of %v", delays)
	}
	if _, more := tries.next(at.Add(triesWithin)); !more {
		t.Error("old failures still count")
	}
}

func TestCancelledCallReturnsAndNotifiesTheServer(t *testing.T) {
	t.Parallel()
	s := start(t, Options{}, bad("bad", "mute"))
	ctx, cancel := context.WithCancel(t.Context())
	echo := one(t, s, "bad_echo")
	done := make(chan error)
	go func() { _, err := echo.Run(ctx, nil); done <- err }()
	waitFor(t, func() bool { return s.State()[0].Stderr == "called" })
	cancel()
	within(t, 20*time.Second, "the call's end", func() {
		if err := <-done; err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
	waitFor(t, func() bool { return strings.HasPrefix(s.State()[0].Stderr, "cancelled ") })
}

// waitFor waits for an effect of another process.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); <-time.After(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("it did not come")
		}
	}
}

func TestMalformedToolsAreRejectedByName(t *testing.T) {
	t.Parallel()
	server := bad("s", "schemas")
	server.Level = agent.Auto
	server.Deny = []string{"no*"}
	s := start(t, Options{}, server)
	got := map[string]string{}
	for _, tool := range s.Tools() {
		got[tool.Spec().Name] = string(tool.Spec().Schema)
	}
	odd := config.WireName("s", "_odd.name", func(string) bool { return false })
	for name, schema := range map[string]string{
		"s_echo":   `{"properties":{"text":{"type":"string"}},"type":"object"}`,
		"s_null":   `{"properties":{},"type":"object"}`,
		"s_empty":  `{"properties":{},"type":"object"}`,
		"s_rm":     `{"properties":{},"type":"object"}`,
		odd:        `{"properties":{},"type":"object"}`,
		"s_either": `{"oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{},"type":"object"}`,
	} {
		if got[name] != schema {
			t.Errorf("%s: got %s, want %s", name, got[name], schema)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("also offered: %v", got)
	}
	if refused := strings.Join(s.State()[0].Refused, "\n"); strings.Count(refused, "\n") != 8 ||
		!strings.Contains(refused, "description has type \"number\"") {
		t.Errorf("got refused:\n%s", refused)
	}
	if level := one(t, s, "s_rm").Properties().Level; level != agent.ConfirmEach {
		t.Errorf("a tool that says it destroys has level %v", level)
	}
	if level := one(t, s, "s_echo").Properties().Level; level != agent.Auto {
		t.Errorf("the user's own level was not taken: %v", level)
	}
}

func TestNumberOfToolsIsLimited(t *testing.T) {
	t.Parallel()
	all, chosen := bad("all", "many"), bad("chosen", "many")
	chosen.Allow = []string{"echo", "t99*"}
	s := start(t, Options{start: time.Minute}, all, chosen)
	if st := s.State()[0]; len(st.Tools) != 500 || len(st.Refused) != 1 ||
		!strings.HasPrefix(st.Refused[0], errMore.Error()) {
		t.Errorf("got %d tools: %s", len(st.Tools), st.Text())
	}
	if st := s.State()[1]; len(st.Tools) != 12 || len(st.Refused) != 0 {
		t.Errorf("of those chosen got %d tools: %s", len(st.Tools), st.Text())
	}
	one(t, s, "chosen_echo")
}

func TestLongResultsAndImagesAreSavedToFiles(t *testing.T) {
	t.Parallel()
	files := filepath.Join(t.TempDir(), "files")
	s := start(t, Options{Files: files}, bad("a", "long"), bad("b", "images"))
	result, err := one(t, s, "a_echo").Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Text) > 32<<10 || !strings.HasPrefix(result.Text, "abab") || !strings.HasSuffix(result.Text, "END") ||
		!strings.Contains(result.Text, "saved whole in "+files) {
		t.Errorf("got %d bytes: …%s", len(result.Text), result.Text[len(result.Text)-100:])
	}
	result, err = one(t, s, "b_echo").Run(t.Context(), nil)
	if err != nil || (!strings.Contains(result.Text, "[image, image/png, 8 bytes, saved in ") ||
		!strings.Contains(result.Text, "damaged")) {
		t.Errorf("got %q, %v", result.Text, err)
	}
	kept, _ := filepath.Glob(filepath.Join(files, "*"))
	for _, file := range kept {
		if info, _ := os.Stat(file); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", file, info.Mode().Perm())
		}
	}
	if len(kept) == 0 {
		t.Error("nothing was kept")
	}
}

// The model's spelling of arguments must not carry information to the server:
// order and repetition of names, escapes and white space are normalised.
func TestArgumentsAreNormalised(t *testing.T) {
	t.Parallel()
	echo := one(t, start(t, Options{}, bad("s", "ok")), "s_echo")
	for _, args := range []string{
		`{"n":1.50,"text":"hello"}`, `{ "text" : "h\u0065llo", "n":1.50 }`,
		`{"text":"4711","n":1.50,"text":"hello"}`,
	} {
		if result, err := echo.Run(t.Context(), json.RawMessage(args)); err != nil ||
			result.Text != `{"n":1.50,"text":"hello"}` {
			t.Errorf("of %s the server saw %s, %v", args, result.Text, err)
		}
	}
}
