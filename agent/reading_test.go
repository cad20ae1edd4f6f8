package agent

import "testing"

func TestReadingIsOneLine(t *testing.T) {
	for want, r := range map[string]Reading{
		"reading 2,613 tokens · 40 s · about 22/s":                         {Tokens: 2613, Took: 40_200, PerSecond: 22.4},
		"reading 512 of 2,613 tokens · 40 s":                               {Tokens: 2613, Read: 512, Took: 40_000},
		"reading 512 of 2,613 tokens that every prompt begins with · 40 s": {Tokens: 2613, Read: 512, Took: 40_000, Beginning: true},
		"waiting for the model qwen3:8b · 3 s":                             {Model: "qwen3:8b", Took: 3000},
		"The server is busy. The request is sent again.":                   {Tokens: 2613, Took: 40_000, Waiting: "the server is busy"},
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
