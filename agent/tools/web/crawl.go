package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Limits of a crawl.
const (
	crawlPages    = 5
	maxCrawlPages = 10
	maxCrawlBytes = 8 << 20 // total
	crawlTime     = 90 * time.Second
	crawlDelay    = time.Second // between two requests
)

type crawlArgs struct {
	URL   string `json:"url"`
	Pages int    `json:"pages,omitempty" minimum:"1" maximum:"10"`
}

// crawl is a tool that reads a few pages of one site, one after the other, as
// its robots.txt allows.
type crawl struct {
	opener
	now   func() time.Time
	pause func(ctx context.Context, d time.Duration) error
}

func newCrawl(w *web, now func() time.Time, pause func(context.Context, time.Duration) error) agent.Tool {
	return &crawl{opener{agent.DescribeTool[crawlArgs](descriptions, "crawl"), w}, now, pause}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *crawl) Properties() agent.Properties {
	return agent.Properties{
		Level: agent.Confirm, ReadOnly: true, Outward: true, Bounds: []string{"url"},
		Timeout: crawlTime + webTime,
	}
}

func (c *crawl) args(raw json.RawMessage) (*url.URL, int, error) {
	args, err := agent.ReadArgs[crawlArgs]("crawl", raw)
	if err != nil {
		return nil, 0, err
	}
	start, err := parseAddress(args.URL)
	if err != nil {
		return nil, 0, fmt.Errorf("crawl %.200q: %w", args.URL, err)
	}
	most := crawlPages
	if args.Pages > 0 {
		most = min(args.Pages, maxCrawlPages)
	}
	return start, most, nil
}

// Preview shows the actual host, which a long address can hide.
func (c *crawl) Preview(_ context.Context, raw json.RawMessage) (agent.Preview, error) {
	start, most, err := c.args(raw)
	if err != nil {
		return agent.Preview{}, err
	}
	return agent.Preview{Text: fmt.Sprintf("Read up to %s of %s, and of no other host\n"+
			"One a second, as its robots.txt allows, beginning with:\n%s",
			text.Count(most, "page"), start.Host, start)},
		nil
}

func (c *crawl) Run(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	start, most, err := c.args(raw)
	if err != nil {
		return agent.Result{}, err
	}
	t, err := c.begin(ctx, start)
	for range 2 { // http://example.org redirects to https://example.org, and that to https://www.example.org
		if moved := (*elsewhereError)(nil); errors.As(err, &moved) && sameSite(start, moved.to) {
			t, err = c.begin(ctx, moved.to)
		}
	}
	if err != nil {
		return agent.Result{}, err
	}
	if err := t.goOn(ctx, most); err != nil {
		return agent.Result{}, err
	}
	return t.result(), nil
}

// tour is one crawl of one site.
type tour struct {
	*crawl
	site       *url.URL
	rules      robots
	until      time.Time
	next       []string // addresses to read
	known      map[string]bool
	read       []article
	bytes      int
	failed     []string // addresses that could not be read, and why
	disallowed int      // number of pages disallowed by robots.txt
	ended      string   // why it ended early; "" if it did not
}

// errRobots is returned for a page disallowed by robots.txt.
var errRobots = errors.New("robots.txt disallows it")

// begin reads the robots.txt of a site and the first page.
func (c *crawl) begin(ctx context.Context, start *url.URL) (*tour, error) {
	t := &tour{crawl: c, site: start, until: c.now().Add(crawlTime), known: map[string]bool{plainPage(start): true}}
	rules, err := c.web.within(onSite(start)).ask(ctx, (&url.URL{
		Scheme: start.Scheme, Host: start.Host,
		Path: "/robots.txt",
	}).String())
	moved := (*elsewhereError)(nil)
	switch {
	case errors.As(err, &moved):
		return nil, fmt.Errorf("crawl %s: its robots.txt redirects to %s, so it is not crawled: ask for a page there",
			start.Host, moved.to.Host)
	case err != nil:
		return nil, fmt.Errorf("crawl %s: %w", start.Host, err)
	case rules.status >= 500 || rules.status == http.StatusTooManyRequests:
		return nil, fmt.Errorf("crawl %s: its robots.txt cannot be read now, so it is not crawled: %w",
			start.Host, refusal(rules))
	case rules.status == http.StatusOK:
		t.rules = readRobots(rules.body)
	}
	if err := t.open(ctx, start); err != nil {
		return nil, fmt.Errorf("crawl %s: %w", start.Redacted(), err)
	}
	return t, nil
}

// allowed returns an error for pages on other hosts and for those disallowed by
// robots.txt.
func (t *tour) allowed(u *url.URL) error {
	switch {
	case u.Scheme != t.site.Scheme || !strings.EqualFold(hostPort(u), hostPort(t.site)):
		return &elsewhereError{u}
	case !t.rules.allows(u):
		return errRobots
	}
	return nil
}

// open reads one page and collects its links.
func (t *tour) open(ctx context.Context, u *url.URL) error {
	if err := t.allowed(u); err != nil {
		return err
	}
	page, err := t.web.within(t.allowed).get(ctx, u.String())
	if err != nil {
		return err
	}
	t.bytes += len(page.body)
	t.known[plainPage(page.url)] = true
	a, err := readArticle(page)
	if err != nil {
		return err
	}
	t.read = append(t.read, a)
	for _, link := range a.links {
		to, err := parseAddress(link)
		if err != nil || t.known[plainPage(to)] || slices.Contains(notAPage, strings.ToLower(path.Ext(to.Path))) {
			continue
		}
		if moved := (*elsewhereError)(nil); errors.As(t.allowed(to), &moved) {
			continue
		}
		t.known[plainPage(to)] = true
		if t.rules.allows(to) {
			t.next = append(t.next, link)
		} else {
			t.disallowed++
		}
	}
	return nil
}

// goOn reads pages until there are enough. It returns an error only if ctx is
// cancelled.
func (t *tour) goOn(ctx context.Context, most int) error {
	for tries := 1; len(t.read) < most && len(t.next) > 0 && tries < 2*maxCrawlPages; tries++ {
		switch {
		case t.now().Add(crawlDelay).After(t.until):
			t.ended = fmt.Sprintf("the time for one crawl is over (the site is asked every %v)", crawlDelay)
			return nil
		case t.bytes >= maxCrawlBytes:
			t.ended = "its pages are long: 8 MiB were read"
			return nil
		}
		if err := t.pause(ctx, crawlDelay); err != nil {
			return err
		}
		link := t.next[0]
		t.next = t.next[1:]
		u, err := parseAddress(link)
		if err == nil {
			err = t.open(ctx, u)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			t.failed = append(t.failed, fmt.Sprintf("%s: %v", link, err))
		}
	}
	return nil
}

// result returns the pages, each with an equal share of the bytes that reach
// the model.
func (t *tour) result() agent.Result {
	result := agent.Result{Untrusted: true}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s\n", text.Count(len(t.read), "page"), t.site.Host)
	for _, a := range t.read {
		lines := strings.Split(a.text, "\n")
		to := Fitting(lines, 1, len(lines), MaxRead/len(t.read))
		fmt.Fprintf(&b, "\n%s\n\n%s\n", a.address, strings.Join(lines[:to], "\n"))
		if to < len(lines) {
			fmt.Fprintf(&b, "\nThis page goes on: web_fetch it from line %d of %d.\n", to+1, len(lines))
		}
		result.Sources = append(result.Sources, a.sources(lines, 1, to)...)
	}
	var remarks []string
	if t.ended != "" {
		remarks = append(remarks, "It ended early: "+t.ended+".")
	}
	if t.disallowed > 0 {
		remarks = append(remarks, fmt.Sprintf("Its robots.txt keeps robots from %s.",
			text.Count(t.disallowed, "more page")))
	}
	for _, failed := range t.failed {
		remarks = append(remarks, "Not read: "+failed)
	}
	if len(remarks) > 0 {
		b.WriteString("\n" + strings.Join(remarks, "\n"))
	}
	result.Text = strings.TrimSpace(b.String())
	return result
}

// notAPage lists extensions of files without readable text.
var notAPage = strings.Fields(`
	.jpg .jpeg .png .gif .webp .svg .ico
	.mp3 .mp4 .m4a .ogg .webm .avi .mov .wav
	.zip .gz .tar .tgz .7z .rar .exe .dmg .iso .deb .rpm .apk
	.css .js .json .xml .rss .atom .woff .woff2 .ttf
	.pdf .doc .docx .xls .xlsx .ppt .pptx .odt .epub
`)

// plainPage returns a canonical form of an address, to recognize pages already
// read.
func plainPage(u *url.URL) string {
	return strings.ToLower(hostPort(u)) + "/" + strings.Trim(u.EscapedPath(), "/") + "?" + u.RawQuery
}
