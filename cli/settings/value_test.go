package settings

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plantedValues are secrets by the name of their variable or header; after a space follows a part
// that must also be redacted alone.
var plantedValues = map[string]string{
	"GITHUB_PAT": "ghp-9fK2mQ7xLw", "CONNECTION_STRING": "Server=db;User Id=sa;Pwd=Tr0ub4dor&3;Encrypt=true Tr0ub4dor",
	"DATABASE_URL": "postgres://ana:s3cr3t-Pa55@db.example.org:5432/notes s3cr3t-Pa55",
	"MONGO_URI":    "mongodb+srv://ana:hunter2hunter@c1,c2/db?w=majority hunter2hunter",
	"REDIS":        "redis://:r3d1sPassw0rd@10.0.0.1:6379/0 r3d1sPassw0rd",
	"SENTRY":       "https://4f2e9a1b7c8d4e5f@o1.ingest.example.org/42 4f2e9a1b7c8d4e5f",
	"SLACK_HOOK":   "https://hooks.example.org/services/T0A1/B2C3/x8Yz7Wv6Ut5S x8Yz7Wv6Ut5S",
	"WEBHOOK":      "https://example.org/in?code=Ab3Cd5Ef7Gh9 Ab3Cd5Ef7Gh9",
	"AZURE":        "AccountName=ana;AccountKey=Zm9vYmFyYmF6cXV4MTIz==;EndpointSuffix=core.windows.net Zm9vYmFyYmF6cXV4MTIz",
	"AWS":          "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE", "AWS_ID": "AKIAIOSFODNN7EXAMPLE",
	"UUID": "3f2c9a8b-1d4e-4f6a-9b7c-0e1d2c3b4a5f", "HEX": "deadbeef0badc0de",
	"LETTERS": "xqzkvwjpbmtrdlgh", "MIXED": "kDmXqPzRtYuW",
	"HEADERS": `{"Authorization":"Bearer ntn_4711abcd","Version":"2022-06-28"} ntn_4711abcd`,
	"ACCOUNT": `{"type":"service","private":"MIIEvQIBADANBg"} MIIEvQIBADANBg`, "BASE64": "c3dvcmRmaXNoIQ==",
	"SLASHED": "/wJ4lrXUtnFEM1K7+a/b", "PIN": "12-34-ab-cd",
	"PASSWORDISH": "correct horse battery staple", "SYMBOLS": "a!b@c#d$e%f", "UMLAUT": "größe-77-Maß",
	"QUOTED": `"qU0ted-V4lue"`, "SPACES": "  sp4ced-V4lue ", "FLAG": "--token=Fl4gV4lue99 Fl4gV4lue99",
	"LIST":     "k3y-one-11,k3y-two-22 k3y-two-22",
	"USERPASS": "ana:Sw0rdf1sh", "JWT": "eyJhbGciOi.eyJzdWIi.c2lnbmF0", "TELEGRAM": "123456789:AAF-k9Lm2Nop",
	"SSH": "ssh-ed25519 AAAAC3NzaC1lZDI1 AAAAC3NzaC1lZDI1", "AUTH_LINE": "Bearer abc123def456 abc123def456",
	"SHORT_PLAIN_KEY": "secretly", "PHRASE": "correct-horse-battery-staple",
	"GROUPS": "KQWRT-BVNMX-PLKJH-GFDSA",
}

var plantedHeaders = map[string]string{
	"Authorization": "Bearer h3ader-T0ken", "X-Custom": "Zx81-Spectrum48",
	"Cookie": "theme=dark; sid=s3ss10nAbc s3ss10nAbc", "Proxy-Authorization": "Basic " +
		base64.StdEncoding.EncodeToString([]byte("ana:b4sicPassw0rd")) + " b4sicPassw0rd",
}

// parts splits a planted value into the value and its secret parts.
func parts(planted string) (value string, secrets []string) {
	i := strings.LastIndexByte(strings.TrimRight(planted, " "), ' ')
	if i < 0 || strings.HasPrefix(planted, " ") || strings.HasPrefix(planted, "correct") {
		return planted, []string{strings.Trim(planted, ` "`)}
	}
	if value, part := planted[:i], planted[i+1:]; strings.Contains(value, part) || strings.HasPrefix(value, "Basic") {
		return value, []string{part}
	}
	return planted, []string{planted[i+1:]}
}

func serversIn(t *testing.T, env, headers map[string]string) Paths {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"a": map[string]any{
		"command": "x",
		"env":     env,
	}, "b": map[string]any{"url": "https://example.org/mcp", "headers": headers}}})
	if err != nil {
		t.Fatal(err)
	}
	p := Paths{Config: t.TempDir()}
	put(t, p.ServersFile(), string(text))
	return p
}

// A server's value is recognised as a secret by its form, whatever its name, also if it comes from
// a variable or the file is broken.
func TestSecretsOfServersAreKnownByValue(t *testing.T) {
	literal, referring, headers := map[string]string{}, map[string]string{}, map[string]string{}
	wanted := map[string]string{}
	for name, planted := range plantedValues {
		value, secrets := parts(planted)
		literal[name], referring[name] = value, "${REF_"+name+"}"
		t.Setenv("REF_"+name, value)
		for _, secret := range secrets {
			wanted[secret] = name
		}
	}
	for name, planted := range plantedHeaders {
		value, secrets := parts(planted)
		headers[name] = value
		for _, secret := range secrets {
			wanted[secret] = name
		}
	}
	broken := serversIn(t, literal, headers)
	whole, _ := filepath.Abs(broken.ServersFile())
	text := strings.TrimSuffix(readFile(t, whole), "}")
	put(t, whole, text)
	for kind, p := range map[string]Paths{
		"literal":   serversIn(t, literal, headers),
		"referring": serversIn(t, referring, headers), "broken": broken,
	} {
		r := &Redaction{Paths: p, Config: Defaults()}
		for secret, name := range wanted {
			if kind == "broken" && (name == "SHORT_PLAIN_KEY") {
				continue // only its name identifies it
			}
			for _, text := range []string{
				"it is " + secret + ".",
				base64.StdEncoding.EncodeToString([]byte("x:" + secret + ":y")),
			} {
				if got := r.Known(text); !strings.Contains(got, redacted) || strings.Contains(got, secret) {
					t.Errorf("%s, %s: %q became %q", kind, name, text, got)
				}
			}
		}
	}
}

// Values that are not credentials stay visible, on the screen and in notes.
func TestPlainValuesOfServersAreNotSecrets(t *testing.T) {
	t.Parallel()
	plain := []string{
		"production", "info-level", "InMemoryStore", "DEVELOPMENT", "us-east-1", "some_module.Name", "Ana Lindqvist",
		"Europe/Berlin", "application/json", "text/event-stream, application/json",
		"text/html; charset=utf-8", "gzip, deflate, br",
		"/home/ana/notes", "/usr/local/bin:/usr/bin:/bin", "~/Documents/notes-2024", "./data/x1.db",
		"../other/file.sqlite3", `C:\Users\ana\notes`, "/data/3f2c9a8b/x.json", "file:///home/ana/notes",
		"src/index.js", "*.example.com", "docs/**", "@scope/some-server",
		"https://example.com", "https://api.example.com/v1/notes", "http://localhost:8080/mcp",
		"http://127.0.0.1:11434", "https://example.org/search?lang=german", "ssh://git@github.com/ana/notes",
		"db.example.org:5432", "localhost:27017", "db1.example.org",
		"12345678", "1234567890123", "-1234.5678", "1_000_000", "100000ms", "4096MiB", "2025-06-18",
		"2026-11-23T09:30:00Z", "09:30:00", "v1.22.333", "10.20.30.40", "10.20.0.0/16", "2001:db8::17",
		"enable-source-maps", "1.2.3-beta.4", "ana@example.org", "true,false,true",
		"read,write,delete", "production;staging",
		"--max-old-space-size=4096", "--inspect-brk", "--enable-source-maps --trace-warnings", "charset=unicode",
		"max-age=31536000", `{"Version":"2022-06-28","mode":"production"}`, `["read","write"]`, "disabled",
		"keep-alive", "secretly",
	}
	env, headers := map[string]string{}, map[string]string{}
	for i, value := range plain {
		env["VALUE_"+strings.Repeat("I", i+1)] = value
		headers["X-"+strings.Repeat("I", i+1)] = value
		if got := secretsByValue(value); got != nil {
			t.Errorf("%q is taken for a secret: %q", value, got)
		}
	}
	r := &Redaction{Paths: serversIn(t, env, headers), Config: Defaults()}
	for _, value := range plain {
		if got := r.Known("it is " + value); got != "it is "+value {
			t.Errorf("%q became %q", value, got)
		}
	}
}

// A reference to a variable is not a secret and is shown as written.
func TestReferenceIsNotASecret(t *testing.T) {
	t.Setenv("REF_SET", "s3t-V4lue-77")
	r := &Redaction{Paths: serversIn(t, map[string]string{
		"A_TOKEN": "${REF_SET}", "B": "x ${REF_SET}",
		"C_TOKEN": "${REF_NOT_SET}",
	}, map[string]string{"Authorization": "Bearer ${REF_SET}"}), Config: Defaults()}
	const text = "A_TOKEN=${REF_SET}, Bearer ${REF_SET}, ${REF_NOT_SET}"
	if got := r.Known(text + " s3t-V4lue-77"); got != text+" "+redacted {
		t.Errorf("got %q", got)
	}
}

// The keys of all providers are redacted before any of them is used.
func TestKeysOfAllProvidersAreKnown(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	put(t, file, "from-a-key-file\n")
	c := Defaults()
	c.Servers = []ModelServer{
		{Name: "a", KeyEnv: "WORK"},
		{Name: "b", KeyFile: file},
		{Name: "c", KeyCommand: []string{"false"}},
		{Name: "d", KeyFile: file + ".none"},
		{Name: "e"},
	}
	r := &Redaction{Paths: Paths{Config: t.TempDir()}, Config: c, Environ: []string{"WORK=from-the-environment"}}
	if got := r.Known("from-the-environment, from-a-key-file"); got != redacted+", "+redacted {
		t.Errorf("got %q", got)
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
