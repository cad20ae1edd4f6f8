package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/internal/testenv"
	"lifehub/internal/webtest"
)

func fetch(ctx context.Context, t *testing.T, web *webtest.Server, path, more string) (agent.Result, error) {
	t.Helper()
	return newWebFetch(atHome(web.Host())).Run(ctx, json.RawMessage(`{"url":"`+web.URL+path+`"`+more+`}`))
}

func TestArticleIsReadWithoutNavigation(t *testing.T) {
	web := webtest.New(t)
	result, err := fetch(t.Context(), t, web, "/hop/4", "")
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "article", result.Text, web.URL+"/marathon\n", "# Marathon training: a plan for sixteen weeks\n",
		"## The long run", "Raise it by ten percent",
		"[shoes for long runs]("+web.URL+"/shoes)", "[rest days]("+web.URL+"/site/rest)", "60")
	for _, noise := range []string{"privacy", "Sign in", "Imprint", "dataLayer", "base64", "font:"} {
		if strings.Contains(result.Text, noise) {
			t.Errorf("%q stands in\n%s", noise, result.Text)
		}
	}
	if !result.Untrusted || len(result.Sources) == 0 {
		t.Fatalf("got %+v", result)
	}
	for _, s := range result.Sources {
		if s.Path != web.URL+"/marathon" || !s.Untrusted || s.Line < 1 || s.Vault != "" {
			t.Errorf("a source is %+v", s)
		}
	}
	for i := range result.Sources {
		result.Sources[i].N = i + 1
	}
	answer := fmt.Sprintf("“Drink early: two hundred millilitres every twenty minutes, beginning with the second "+
		"kilometre.” [%d]", len(result.Sources))
	cited := citation.Check(answer, result.Sources, nil)
	if len(cited) != 1 || cited[0].Verdict != agent.Verified || cited[0].Place() != web.URL+"/marathon" {
		t.Errorf("the citation is %+v", cited)
	}
}

func TestTextIsReadInAnyCharacterSet(t *testing.T) {
	web := webtest.New(t)
	for path, want := range map[string]string{
		"/latin1": "süßen Tee", "/mislabelled": "süßen Tee", "/meta": "süßen Tee",
		"/bom": "süßen Tee", "/notype": "süßen Tee",
		"/shiftjis": "マラソンの練習は週に三回。", "/plain": "just text\n\nin two parts", "/data": `{"distance": 42.195}`,
	} {
		result, err := fetch(t.Context(), t, web, path, "")
		if err != nil || !strings.Contains(result.Text, want) || strings.ContainsAny(result.Text, "\ufffd\ufeffÃ") ||
			len(result.Sources) == 0 {
			t.Errorf("%s: %v, %.200q", path, err, result.Text)
		}
	}
}

func TestOtherContentTypesAreReported(t *testing.T) {
	web := webtest.New(t)
	for path, want := range map[string]string{
		"/paper.pdf": "it is a PDF, which LifeHub cannot read", "/hidden-pdf": "it is a PDF",
		"/photo": "it is not text but image/png", "/photo.html": "it is not text but image/png",
		"/archive": "it is not text but application/zip", "/noise": "it is not text but application/octet-stream",
		"/login": "it can only be read after signing in", "/members": "the server requires signing in (401 " +
			"Unauthorized)", "/forbidden": "refuses access (403 Forbidden)",
		"/challenge": "asks for a captcha", "/challenge2": "asks for a captcha", "/app": "no text without JavaScript",
		"/empty": "it has no text", "/blank": "it has no text",
		"/nowhere": "the server has nothing at this address (404 Not Found)",
		"/broken":  "the server has a problem (502 Bad Gateway); try again later",
		"/hop/6":   "it redirects more than 5 times",
	} {
		if result, err := fetch(t.Context(), t, web, path, ""); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), web.URL+path) && !strings.HasPrefix(path, "/hop") {
			t.Errorf("%s: %v, %.100q", path, err, result.Text)
		}
	}
}

func TestSlowServerIsGivenUp(t *testing.T) {
	web := webtest.New(t)
	for _, path := range []string{"/slow", "/drip"} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := fetch(ctx, t, web, path, ""); err == nil ||
			!strings.Contains(err.Error(), "did not answer in time") {
			t.Errorf("%s: %v", path, err)
		}
		cancel()
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := fetch(ctx, t, web, path, ""); err == nil || !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("%s, stopped: %v", path, err)
		}
	}
}

func TestLongPageIsReadInParts(t *testing.T) {
	testenv.WithoutRace(t)
	web := webtest.New(t)
	first, err := fetch(t.Context(), t, web, "/huge", "")
	if err != nil {
		t.Fatal(err)
	}
	text, hint, ok := strings.Cut(first.Text, "The page goes on: fetch it again from line ")
	if !ok || len(text) > MaxRead+200 || len(text) < MaxRead/2 {
		t.Fatalf("%d bytes, and then %q", len(text), hint)
	}
	line, _, _ := strings.Cut(hint, " ")
	next, err := fetch(t.Context(), t, web, "/huge", `,"from":`+line)
	if err != nil || len(next.Sources) == 0 || next.Sources[0].Line < first.Sources[len(first.Sources)-1].EndLine {
		t.Errorf("then: %v, %+v", err, next.Sources)
	}
	if _, err := fetch(t.Context(), t, web, "/plain", `,"from":9999999`); err == nil ||
		!strings.Contains(err.Error(), "not 9999999") {
		t.Errorf("beyond the end: %v", err)
	}
}
