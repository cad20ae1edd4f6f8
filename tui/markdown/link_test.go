package markdown

import (
	"testing"

	"lifehub/tui/layout"
)

// drawn is what reads of a text, and where the first link in it leads.
func drawn(src string) (text, link string) {
	theme := layout.Palette{}.Theme()
	p := newInline(&theme, &links{}, layout.Style{})
	p.Add(src)
	p.Advance(closed, func(s layout.Span) {
		text += s.Text
		if link == "" {
			link = s.Link
		}
	})
	return text, link
}

func TestLinksShowTheirDestinations(t *testing.T) {
	for src, want := range map[string]string{
		"[a](https://h.example/x)":                                    "a (h.example)",
		"[https://bank.example](https://evil.example)":                "https://bank.example (evil.example)",
		"[a](https://bank.example@evil.example/)":                     "a (evil.example)",
		"[h.example](https://h.example/x)":                            "h.example",
		"[a](https://accounts.google.com.this.is.long.evil.example/)": "a (….evil.example)",
		"<https://h.example/x>":                                       "https://h.example/x",
		"run [[1]](notes/run.md), [[1, 2]](x)":                        "run [1], [1, 2]",
		"run [[1]] (so) [[a]](x)":                                     "run 1 (so) a(x)",
		"https://h.example/x.":                                        "https://h.example/x.",
		"[a](javascript:alert(1))":                                    "a (javascript:alert(1))",
		"[a](notes/run.md)":                                           "a (notes/run.md)",
		"[a](https://аpple.com/)":                                     "a (xn--pple-43d.com)",
		"![x](https://h.example/q)":                                   "[image: x] (h.example)",
		"[a](mailto:me@h.example)":                                    "a (me@h.example)",
		`[a](https://h.example "no end`:                               `[a](https://h.example "no end`,
	} {
		if got, _ := drawn(src); got != want {
			t.Errorf("%s reads %q, want %q", src, got, want)
		}
	}
	for src, want := range map[string]string{
		"[a](https://h.example/x)":      "https://h.example/x",
		"[a](HTTPS://h.example/x)":      "HTTPS://h.example/x",
		"[a](mailto:me@h.example)":      "mailto:me@h.example",
		"[a](javascript:alert(1))":      "",
		"[a](data:text/html,x)":         "",
		"[a](file://host/share)":        "",
		"[a](https://аpple.com/)":       "",
		"[a](https://h.example/\u009c)": "https://h.example/",
	} {
		if _, got := drawn(src); got != want {
			t.Errorf("%s leads to %q, want %q", src, got, want)
		}
	}
}
