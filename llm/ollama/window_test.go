package ollama

import (
	"testing"

	"lifehub/llm"
)

func TestHostIsParsedAsOllamaDoes(t *testing.T) {
	for given, want := range map[string]string{
		"":                         "http://127.0.0.1:11434",
		"0.0.0.0":                  "http://127.0.0.1:11434",
		":8080":                    "http://127.0.0.1:8080",
		"example.org":              "http://example.org:11434",
		"example.org:1":            "http://example.org:1",
		"http://example.org":       "http://example.org:80",
		"https://example.org/base": "https://example.org:443/base",
		"[::1]:1234":               "http://[::1]:1234",
		"http://[::]":              "http://127.0.0.1:80",
		`"127.0.0.1"`:              "http://127.0.0.1:11434",
	} {
		u, err := parseOllamaHost(given)
		if err != nil || u.String() != want {
			t.Errorf("%q: got %v, %v, want %s", given, u, err, want)
		}
	}
	for _, bad := range []string{"ftp://x", "http://a b", "::::"} {
		if u, err := parseOllamaHost(bad); err == nil && u.Port() == "" {
			t.Errorf("%q: got %v", bad, u)
		}
	}
}

func TestWindowNeverFallsBackToOllamasDefault(t *testing.T) {
	if n := llm.DefaultWindow(); n < 8<<10 {
		t.Errorf("the default is %d", n)
	}
	o, err := New(llm.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		setting int
		info    llm.Info
		want    int
	}{
		{0, llm.Info{}, llm.DefaultWindow()},
		{0, llm.Info{Context: 2048}, 2048},
		{0, llm.Info{Context: 1 << 20, Preferred: 65536}, 65536},
		{0, llm.Info{Context: 32768, Preferred: 65536}, 32768},
		{9000, llm.Info{Context: 32768, Preferred: 65536}, 9000},
		{99999, llm.Info{Context: 32768}, 32768},
		{0, llm.Info{Context: 1 << 20, Remote: "ollama.com"}, 128 << 10},
	} {
		o.SetWindow(c.setting)
		if got := o.allocate(c.info); got != c.want {
			t.Errorf("setting %d, %+v: got %d, want %d", c.setting, c.info, got, c.want)
		}
	}
}
