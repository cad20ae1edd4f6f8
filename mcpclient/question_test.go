package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/mcpclient/config"
)

// overEveryTransport runs a test against server-everything over each transport.
func overEveryTransport(t *testing.T, test func(t *testing.T, entry config.Entry)) {
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		test(t, npm(t, "e", "@modelcontextprotocol/server-everything"))
	})
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		address, _ := serveEverything(t, "streamableHttp")
		test(t, config.Entry{Name: "e", Transport: config.HTTP, URL: "http://" + address + "/mcp"})
	})
	t.Run("SSE", func(t *testing.T) {
		t.Parallel()
		address, _ := serveEverything(t, "sse")
		test(t, config.Entry{Name: "e", Transport: config.SSE, URL: "http://" + address + "/sse"})
	})
}

func TestServersCanAskUserAndModelDuringACall(t *testing.T) {
	t.Parallel()
	overEveryTransport(t, func(t *testing.T, entry config.Entry) {
		if entry.Transport == config.SSE {
			return // see TestEveryFeatureOfServerEverythingWorks
		}
		dir := t.TempDir()
		entry.Roots = []string{dir}
		var asked agent.Question
		var reply agent.Input
		s := start(t, Options{User: testUser{
			ask: func(ctx context.Context, form agent.Question) agent.Input {
				if end, bounded := ctx.Deadline(); bounded {
					t.Errorf("the user has until %v to answer", end)
				}
				asked = form
				return reply
			},
			sample: func(_ context.Context, server string, request llm.Request) (model, text string, err error) {
				if last := request.Messages[len(request.Messages)-1].Text; server != "e" ||
					!strings.Contains(last, "why") || request.MaxTokens != 100 {
					t.Errorf("got a request %+v of %s", request, server)
				}
				return "tiny", "because of 42", nil
			},
		}}, entry)

		sample := one(t, s, "e_trigger-sampling-request")
		if r, err := sample.Run(t.Context(), json.RawMessage(`{"prompt":"why"}`)); err != nil ||
			!strings.Contains(r.Text, "because of 42") {
			t.Errorf("sampling: got %+v, %v", r, err)
		}
		roots := one(t, s, "e_get-roots-list")
		if r, err := roots.Run(t.Context(), nil); err != nil ||
			!strings.Contains(r.Text, (&url.URL{Path: dir}).String()) {
			t.Errorf("roots: got %+v, %v", r, err)
		}

		elicit := one(t, s, "e_trigger-elicitation-request")
		for _, c := range []struct {
			reply agent.Input
			want  string
		}{
			{agent.Input{Action: agent.InputAccepted, Values: json.RawMessage(`{"name":"Ana","integer":7}`)}, "Ana"},
			{agent.Input{Action: agent.InputDeclined}, "declined"},
			{agent.Input{Action: agent.InputCancelled}, "cancelled"},
			{
				agent.Input{Action: agent.InputAccepted, Values: json.RawMessage(`{"name":"Ana","integer":700}`)},
				"the form",
			},
		} {
			reply = c.reply
			r, err := elicit.Run(t.Context(), nil)
			got := r.Text
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.reply.Action, text.Cut(got, 300), c.want)
			}
		}
		if asked.From != "e" || asked.Message == "" || asked.Check(json.RawMessage(`{"name":"Ana"}`)) != nil ||
			asked.Check(json.RawMessage(`{"name":7}`)) == nil {
			t.Errorf("got form %+v", asked)
		}
	})
}

func TestQuestionsAreRejectedIfNotAllowed(t *testing.T) {
	t.Parallel()
	overEveryTransport(t, func(t *testing.T, entry config.Entry) {
		s := start(t, Options{}, entry)
		for _, tool := range s.Tools() {
			if name := tool.Spec().Name; strings.Contains(name, "elicitation") || strings.Contains(name, "sampling") ||
				strings.Contains(name, "roots") {
				t.Errorf("%s is offered", name)
			}
		}
	})
}

func TestClockIsPausedWhileTheUserIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		if _, _, err := c.pause(); err == nil {
			t.Error("a question without a call was let through")
		}
		late := errors.New("late")
		ctx, done, _ := c.limit(t.Context(), time.Minute, late)
		defer done()
		time.Sleep(50 * time.Second)
		_, resume, err := c.pause()
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := c.pause()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		resume()
		resume()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("the time ran while the user was asked")
		}
		other, otherDone, _ := c.limit(t.Context(), time.Minute, late)
		defer otherDone()
		second()
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took != time.Minute || context.Cause(ctx) != late {
			t.Errorf("ended after %v with %v, want the limit after the question", took, context.Cause(ctx))
		}
		<-other.Done()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("a call that began meanwhile ended after %v", took)
		}
	})
}

func TestTooManyConcurrentQuestionsAreRejected(t *testing.T) {
	t.Parallel()
	var c clock
	_, done, _ := c.limit(t.Context(), time.Minute, nil)
	defer done()
	for range maxQuestions {
		if _, _, err := c.pause(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := c.pause(); err == nil {
		t.Error("there is no bound")
	}
}

func TestQuestionsPerCallAreLimited(t *testing.T) {
	t.Parallel()
	var c clock
	for range 2 {
		_, done, _ := c.limit(t.Context(), time.Minute, nil)
		for range maxAsked {
			_, resume, err := c.pause()
			if err != nil {
				t.Fatal(err)
			}
			resume()
		}
		if _, _, err := c.pause(); err == nil || !strings.Contains(err.Error(), "during this call") {
			t.Errorf("got %v", err)
		}
		done()
	}
}
