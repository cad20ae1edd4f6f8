package web

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/webtest"
)

// clock is a time that advances only while something waits.
type clock struct {
	time   time.Time
	waited []time.Duration
}

func (c *clock) now() time.Time { return c.time }

func (c *clock) pause(_ context.Context, d time.Duration) error {
	c.waited = append(c.waited, d)
	c.time = c.time.Add(d)
	return nil
}

func crawlSite(t *testing.T, web *webtest.Server, args string) (agent.Result, *clock, error) {
	t.Helper()
	c := &clock{time: noon}
	result, err := newCrawl(atHome(web.Host()), c.now, c.pause).Run(t.Context(),
		json.RawMessage(strings.ReplaceAll(args, "SITE", web.URL)))
	return result, c, err
}

func TestCrawlReadsAFewPagesOfOneSite(t *testing.T) {
	web := webtest.New(t)
	result, c, err := crawlSite(t, web, `{"url":"SITE/site/start","pages":10}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/robots.txt", "/site/start", "/site/rest", "/site/food", "/site/gone", "/site/away",
		"/site/sleep", "/site/water",
	}
	if got := web.Asked(); !slices.Equal(got, want) {
		t.Errorf("asked for %v, want %v", got, want)
	}
	if want := slices.Repeat([]time.Duration{time.Second}, 6); !slices.Equal(c.waited, want) {
		t.Errorf("waited %v, want a second before each page", c.waited)
	}
	holds(t, "result", result.Text, "5 pages of 127.0.0.1", web.URL+"/site/start\n\n# On start",
		web.URL+"/site/water\n\n# On water",
		"keeps robots from 1 more page", "/site/gone: fetch "+web.URL+
			"/site/gone: the server has nothing at this address",
		"/site/away: fetch "+web.URL+"/site/away: it redirects to https://elsewhere.example/: ask")
	if !result.Untrusted || len(result.Sources) != 5 || result.Sources[4].Path != web.URL+"/site/water" ||
		!result.Sources[4].Untrusted {
		t.Errorf("sources: %+v", result.Sources)
	}
}

func TestCrawlIsBounded(t *testing.T) {
	web := webtest.New(t)
	if result, c, err := crawlSite(t, web, `{"url":"SITE/site/start"}`); err != nil || len(c.waited) != 6 ||
		!strings.HasPrefix(result.Text, "5 pages") {
		t.Errorf("by itself: %v, waited %v, %.100q", err, c.waited, result.Text)
	}
	if result, _, err := crawlSite(t, web, `{"url":"SITE/site/start","pages":2}`); err != nil ||
		!strings.HasPrefix(result.Text, "2 pages") {
		t.Errorf("two: %v, %.100q", err, result.Text)
	}
	c := &clock{time: noon}
	slow := func(ctx context.Context, d time.Duration) error { return c.pause(ctx, 20*d) }
	result, err := newCrawl(atHome(web.Host()), c.now, slow).Run(t.Context(),
		json.RawMessage(`{"url":"`+web.URL+`/site/start"}`))
	if err != nil || !strings.Contains(result.Text, "It ended early: the time for one crawl is over") ||
		c.time.Sub(noon) > crawlTime+40*time.Second {
		t.Errorf("%v, after %v: %s", err, c.time.Sub(noon), result.Text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(ctx context.Context, d time.Duration) error { cancel(); return pause(ctx, d) }
	if _, err := newCrawl(atHome(web.Host()), time.Now, stop).Run(ctx,
		json.RawMessage(`{"url":"`+web.URL+`/site/start"}`)); err == nil {
		t.Error("it went on after the turn was stopped")
	}
}

func TestFailedCrawlReportsWhy(t *testing.T) {
	web := webtest.New(t)
	for args, want := range map[string]string{
		`{"url":"SITE/site/private/plan"}`: "robots.txt disallows it",
		`{"url":"SITE/site/gone"}`:         "the server has nothing at this address (404",
		`{"url":"SITE/paper.pdf"}`:         "it is a PDF",
		`{"url":"file:///etc/passwd"}`:     "only http and https",
		`{"url":"http://10.0.0.1/"}`:       "it is not a public address",
		`{"url":"SITE/site/away"}`:         "it redirects to https://elsewhere.example/: ask for that address",
	} {
		if _, _, err := crawlSite(t, web, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	tool := newCrawl(atHome(web.Host()), time.Now, pause)
	preview, err := tool.(agent.Previewer).Preview(t.Context(),
		json.RawMessage(`{"url":"https://docs.example/a","pages":3}`))
	if err != nil || !strings.Contains(preview.Text, "up to 3 pages of docs.example") ||
		tool.Properties().Level != agent.Confirm {
		t.Errorf("it is shown as %q, %v", preview.Text, err)
	}
}
