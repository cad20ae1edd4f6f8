package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

type webFetchArgs struct {
	URL  string `json:"url"`
	From int    `json:"from,omitempty" minimum:"1"`
}

// opener is a tool that opens the page in its argument url.
type opener struct {
	spec llm.ToolSpec
	web  *web
}

func (o opener) Spec() llm.ToolSpec { return o.spec }

// Address returns the address that a call would open.
func (opener) Address(raw json.RawMessage) string {
	var args struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(raw, &args) // an unparsable argument is no known address
	return args.URL
}

// webFetch reads a web page as markdown.
type webFetch struct{ opener }

func newWebFetch(w *web) agent.Tool {
	return &webFetch{opener{agent.DescribeTool[webFetchArgs](descriptions, "web_fetch"), w}}
}

// Properties: calls ask, but the gate recognizes addresses that need no permission.
func (f *webFetch) Properties() agent.Properties {
	return agent.Properties{
		Level: agent.Confirm, ReadOnly: true, Bounds: []string{"url"},
		Timeout: webTime + 10*time.Second,
	}
}

// Preview shows the actual host and its site, which a long address can hide.
func (f *webFetch) Preview(_ context.Context, raw json.RawMessage) (agent.Preview, error) {
	u, site, err := agent.ReadAddress(f.Address(raw))
	if err != nil {
		return agent.Preview{}, fmt.Errorf("web_fetch: %w", err)
	}
	on := u.Host
	if u.Hostname() != site {
		on += " (" + site + ")"
	}
	return agent.Preview{Text: "Open a page on " + on + ", which learns this whole address\n" + u.String()}, nil
}

func (f *webFetch) Run(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	args, err := agent.ReadArgs[webFetchArgs]("web_fetch", raw)
	if err != nil {
		return agent.Result{}, err
	}
	asked, err := parseAddress(args.URL)
	if err != nil {
		return agent.Result{}, fmt.Errorf("fetch %.200q: %w", args.URL, err)
	}
	page, err := f.web.within(onSite(asked)).get(ctx, args.URL)
	if err != nil {
		return agent.Result{}, err
	}
	read, err := readArticle(page)
	if err != nil {
		return agent.Result{}, fmt.Errorf("read %s: %w", page.url.Redacted(), err)
	}
	lines := strings.Split(read.text, "\n")
	from := max(args.From, 1)
	if from > len(lines) {
		return agent.Result{}, fmt.Errorf("%s has %s, not %d", page.url.Redacted(),
			text.Count(len(lines), "line"), from)
	}
	to := Fitting(lines, from, len(lines), MaxRead)
	next, text := 0, read.address+"\n\n"+strings.Join(lines[from-1:to], "\n")
	switch {
	case to < len(lines):
		next = to + 1
		text += fmt.Sprintf("\n\nThe page goes on: fetch it again from line %d of %d.", next, len(lines))
	case page.cut:
		text += "\n\nThe page is longer than 2 MiB; the rest was not fetched."
	}
	return agent.Result{Text: text, Untrusted: true, Sources: read.sources(lines, from, to), Next: next}, nil
}
