package settings

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/llm"
)

func linesOf(t testing.TB, body agent.Body, kind string) string {
	t.Helper()
	line, err := json.Marshal(agent.Event{Type: kind, Turn: "c.1", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

func TestExportHasNoSecretInAnyForm(t *testing.T) {
	const secret = `p4$$w0rd&"mit" größe/+`
	r := newRedactor([]string{secret})
	for name, form := range map[string]string{
		"plain":      secret,
		"query":      url.QueryEscape(secret),
		"path":       url.PathEscape(secret),
		"hex":        hex.EncodeToString([]byte(secret)),
		"base64":     base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 url": base64.URLEncoding.EncodeToString([]byte(secret)),
		"in base64":  base64.StdEncoding.EncodeToString([]byte("user:" + secret + ":more")),
		"after two":  base64.URLEncoding.EncodeToString([]byte("ab" + secret + "x")),
		"JSON":       inJSON(t, map[string]string{"k": secret}),
	} {
		for _, line := range []string{
			linesOf(t, agent.ToolStarted{Name: "fetch", Input: json.RawMessage(inJSON(t,
				map[string]string{"header": form}))}, "tool_start"),
			linesOf(t, agent.ToolEnded{Name: "fetch", Output: "before " + form + " after"}, "tool_end"),
			linesOf(t, agent.Prompted{Messages: []llm.Message{{Role: llm.User, Text: "it is " + form}}}, "prompt"),
		} {
			clean := string(r.trace([]byte(line)))
			var e agent.Event
			if err := json.Unmarshal([]byte(clean), &e); err != nil {
				t.Errorf("%s: no event is left: %v", name, err)
			}
			if !strings.Contains(clean, redacted) || strings.Contains(clean, "w0rd") || strings.Contains(clean, form) {
				t.Errorf("%s: got %s", name, clean)
			}
		}
	}
}

func TestSecretInPiecesIsRedacted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9/+ ]{8,20}`).Draw(t, "secret")
		secret = "x" + secret + "y" // so that TrimSpace leaves the ends
		before, after := rapid.StringMatching(`[ a-c\n]{0,10}`).Draw(t, "before"),
			rapid.StringMatching(`[ a-c\n]{0,10}`).Draw(t, "after")
		text := before + secret + after
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		clean := newRedactor([]string{secret}).pieces(pieces)
		if got := strings.Join(clean, ""); got != before+redacted+after {
			t.Fatalf("%q in pieces %q became %q", text, pieces, got)
		}
	})
}

func TestInterleavedStreamedSecretsAreRedacted(t *testing.T) {
	secret := "correct-horse-battery"
	lines := linesOf(t, agent.Said{Content: "the key is correct-"}, "token") + linesOf(t,
		agent.Noticed{Text: "the model is loading"}, "notice") +
		linesOf(t, agent.Said{Content: "horse-battery."}, "token") + linesOf(t, agent.Thought{Content: "correct-hor"},
		"thinking") + linesOf(t, agent.Thought{Content: "se-battery"}, "thinking")
	clean := string(newRedactor([]string{secret}).trace([]byte(lines)))
	for _, part := range []string{"correct-", "horse", "se-battery"} {
		if strings.Contains(clean, part) {
			t.Errorf("%q is left in\n%s", part, clean)
		}
	}
	if n := strings.Count(clean, "\n"); n != 5 || !strings.Contains(clean, "the key is [redacted]") {
		t.Errorf("%d events are left:\n%s", n, clean)
	}
}

// Workers think in parallel: the pieces of a secret may be interleaved with those of another
// worker.
func TestSecretsInWorkersThoughtsAreRedacted(t *testing.T) {
	thought := func(step, text string) string {
		return linesOf(t, agent.Thought{Agent: "notes", Step: step, Content: text}, "thinking")
	}
	clean := string(newRedactor([]string{"correct-horse-battery"}).trace([]byte(
		thought("1", "I saw correct-hor") + thought("2", "I see correct-horse-") + thought("1",
			"se-battery there") + thought("2", "battery here"))))
	for _, part := range []string{"correct", "horse", "battery"} {
		if strings.Contains(clean, part) {
			t.Errorf("%q is left in\n%s", part, clean)
		}
	}
	if strings.Count(clean, `"step":"2"`) != 2 {
		t.Errorf("who thought is lost:\n%s", clean)
	}
}

func TestOnlySecretsAreRedacted(t *testing.T) {
	r := newRedactor(nil)
	for _, secret := range []string{
		"sk-proj-abcdefghijklmnopqrstuvwx", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "AKIAIOSFODNN7EXAMPLE",
		"xoxb-1234567890-abcdef",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
		"AIzaSyA1234567890abcdefghijklmnopqrstuv",
	} {
		if got := r.text("before " + secret + " after"); got != "before [redacted] after" {
			t.Errorf("%q became %q", secret, got)
		}
	}
	for text, want := range map[string]string{
		"Authorization: Bearer abcdef123456789": "Authorization: Bearer [redacted]",
		"postgres://ana:hunter22@db:5432/x":     "postgres://ana:[redacted]@db:5432/x",
		`{"password": "swordfish1"}`:            `{"password": "[redacted]"}`,
		"API_KEY=0123456789abcdef":              "API_KEY=[redacted]",
	} {
		if got := r.text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"I run three times a week [1].", "the key to the shed is under the pot", "a basic question about bread",
		"The bearer of this letter",
		"https://example.org/a?b=c", "2026-03-14 09:30", "task-list.md:12–14", "password: ",
		strings.Repeat("word ", 100),
	} {
		if got := r.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestSecretsAreKnownFromSettingsEnvironmentAndServers(t *testing.T) {
	t.Setenv("FAR_AWAY", "from-a-variable")
	config := t.TempDir()
	put(t, filepath.Join(config, "mcp.json"), `{"mcpServers":{"brave":{"command":"npx","env":{"BRAVE_API_KEY":"from-mcp-env","LANGUAGE":"german"}},
		"far":{"url":"https://example.org/mcp","headers":{"Authorization":"Bearer from-mcp-header","X-Far":"Basic ${FAR_AWAY}"}}}}`)
	c := Defaults()
	c.OpenAI.APIKey = "from-settings"
	got := fmt.Sprint(secretsAt(Paths{Config: config}, c, []string{
		"DB_PASSWORD=from-environ", "HOME=/home/ana",
		"SSH_AUTH_SOCK=/tmp/agent", "EDITOR=vi-improved", "GIT_AUTHOR_NAME=Ana Lind", "COLOR=bluegreen",
		"PROXY=http://ana:from-an-address@10.0.0.1",
	}))
	for _, want := range []string{
		"from-settings", "from-environ", "from-an-address", "from-mcp-env",
		"from-mcp-header", "from-a-variable",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not known: %s", want, got)
		}
	}
	for _, not := range []string{"bluegreen", "/tmp/agent", "vi-improved", "Ana", "german", "Bearer"} {
		if strings.Contains(got, not) {
			t.Errorf("%s is taken for a secret: %s", not, got)
		}
	}
}

// The arguments of a call may look like a piece of streamed text.
func TestSecretsInArgumentsAreRedacted(t *testing.T) {
	const secret = "correct-horse-battery"
	var kept kept
	w := &TraceWriter{WriteCloser: &kept, Secrets: &Redaction{cut: newRedactor([]string{secret})}}
	for _, kind := range []string{"token", "thinking"} {
		input := json.RawMessage(`{"type":"` + kind + `","content":"x","value":"` + secret + `"}`)
		for _, line := range []string{
			linesOf(t, agent.ToolStarted{Name: "create", Input: input}, "tool_start"),
			linesOf(t, agent.Said{Content: "it is " + secret}, "token"),
		} {
			if _, err := w.Write([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if text := kept.String(); strings.Contains(text, secret) || strings.Count(text, redacted) != 4 ||
		strings.Count(text, "\n") != 4 {
		t.Errorf("kept was\n%s", text)
	}
}

// kept collects what a trace writer wrote.
type kept struct{ bytes.Buffer }

func (*kept) Close() error { return nil }

func TestOtherLinesAreExportedAsText(t *testing.T) {
	clean := string(newRedactor([]string{"secret-value"}).trace([]byte("{half a line with secret-value\n" +
		"{\"type\":\"notice\",\"text\":\"ok\"}\n")))
	for line := range strings.Lines(clean) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q is no JSON", line)
		}
	}
	if strings.Contains(clean, "secret-value") || strings.Count(clean, "\n") != 2 {
		t.Errorf("got %s", clean)
	}
}

func inJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
