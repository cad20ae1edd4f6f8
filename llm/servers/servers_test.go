package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"lifehub/llm"
	"lifehub/llm/servers"
)

// server speaks OpenAI's protocol, has one model, and answers with its name.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // path and key of each request
}

// watching receives each state that is reported.
type watching chan llm.State

func (w watching) Changed(now llm.State) { w <- now }

func serve(t *testing.T, name string) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, r.URL.Path+" "+r.Header.Get("Authorization"))
		s.mu.Unlock()
		switch r.URL.Path {
		case "/v1/models":
			fmt.Fprintf(w, `{"data":[{"id":"m","max_model_len":4096}]}`)
		case "/v1/chat/completions":
			var asked struct{ Model string }
			_ = json.Unmarshal(body, &asked)
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s %s"},"finish_reason":"stop"}],`+
				`"usage":{"prompt_tokens":1,"completion_tokens":1}}`, name, asked.Model)
		case "/v1/embeddings":
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1,0]}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func key(text string) llm.Key {
	return func(context.Context) (string, error) { return text, nil }
}

func open(t *testing.T, s llm.Settings) *servers.Set {
	t.Helper()
	set, err := servers.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

func ask(t *testing.T, m llm.Model) string {
	t.Helper()
	reply, _, err := llm.Collect(m.Stream(t.Context(), llm.Request{Messages: []llm.Message{{
		Role: llm.User,
		Text: "hello",
	}}}))
	if err != nil {
		t.Fatal(err)
	}
	return reply.Text
}

func TestEachServerGetsItsOwnModelsAndKey(t *testing.T) {
	plain, one, two := serve(t, "plain"), serve(t, "one"), serve(t, "two")
	set := open(t, llm.Settings{
		Provider: "openai", OpenAIURL: plain.URL + "/v1", OpenAIKey: "key-plain", Model: "one/m", Embedding: "two/e",
		Servers: []llm.Server{
			{Name: "one", Kind: "openai", URL: one.URL + "/v1", Key: key("key-one")},
			{Name: "two", Kind: "openai", URL: two.URL + "/v1", Key: key("key-two")},
		},
	})
	if got := ask(t, set); got != "one m" {
		t.Errorf("answered by %q", got)
	}
	if state := set.State(); state.Model != "one/m" || state.Remote != "" || state.Sent != 0 {
		t.Errorf("state %+v", state)
	}
	e, err := set.Embedder(t.Context())
	if err != nil || e.Name() != "openai/two/e" {
		t.Fatalf("embedder %v, %v", e, err)
	}
	if _, err := e.Embed(t.Context(), []string{"a note"}); err != nil {
		t.Fatal(err)
	}
	if n := len(plain.requests()); n != 0 {
		t.Errorf("the server that nobody chose heard of it: %q", plain.requests())
	}
	planner, err := set.Role("m")
	if err != nil || ask(t, planner) != "plain m" || ask(t, set) != "one m" {
		t.Errorf("the planner %v, %v", planner, err)
	}
	if err := set.SetModel(t.Context(), "two/m"); err != nil || ask(t, set) != "two m" {
		t.Errorf("changed to two: %v", err)
	}
	var missing *llm.NotFoundError
	if err := set.SetModel(t.Context(), "two/none"); !errors.As(err, &missing) || missing.Model != "two/none" ||
		set.State().Model != "two/m" {
		t.Errorf("a model that is not there: %v, %s answers", err, set.State().Model)
	}
	models, err := set.All(t.Context())
	if err != nil || len(models) != 3 || models[0].Name != "m" || models[1].Name != "one/m" ||
		models[2].Name != "two/m" {
		t.Errorf("models %+v, %v", models, err)
	}
	for s, want := range map[*server]string{plain: "Bearer key-plain", one: "Bearer key-one", two: "Bearer key-two"} {
		for _, request := range s.requests() {
			if !strings.HasSuffix(request, " "+want) {
				t.Errorf("%s came with %q, not %q", s.URL, request, want)
			}
		}
	}
}

// A model of the default server may have a name like that of another server's
// model. Choosing it from the list must reach the server that listed it.
func TestModelNameReachesTheServerThatListedIt(t *testing.T) {
	listing := func(answer string, ids ...string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ Model string }
			_ = json.NewDecoder(r.Body).Decode(&asked)
			switch r.URL.Path {
			case "/v1/models":
				var list []map[string]any
				for _, id := range ids {
					list = append(list, map[string]any{"id": id, "max_model_len": 4096})
				}
				_ = json.NewEncoder(w).Encode(map[string]any{"data": list})
			case "/v1/chat/completions":
				fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s %s"},"finish_reason":"stop"}]}`, answer,
					asked.Model)
			default:
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(s.Close)
		return s
	}
	escape, long := "\x1b[2Jm", strings.Repeat("m", 1<<20)
	own := listing("own", "m", "desk/m", "/desk/m", "/models/m", "a/b", escape, long)
	desk := listing("desk", "m", "desk/m", "/desk/m", escape)
	set := open(t, llm.Settings{
		Provider: "openai", OpenAIURL: own.URL + "/v1",
		Servers: []llm.Server{{Name: "desk", Kind: "openai", URL: desk.URL + "/v1"}},
	})
	list := set.Listings(t.Context())
	var names []string
	for i, answer := range []string{"own", "desk"} {
		for _, model := range list[i].Models {
			names = append(names, model.Name)
			if err := set.SetModel(t.Context(), model.Name); err != nil {
				t.Error(err)
				continue
			}
			if text := ask(t, set); !strings.HasPrefix(text, answer+" ") || set.State().Model != model.Name {
				t.Errorf("%s of %s: %q answers as %s", model.Name, answer, text, set.State().Model)
			}
		}
	}
	if want := "m /desk/m //desk/m /models/m a/b desk/m desk/desk/m desk//desk/m"; strings.Join(names, " ") != want {
		t.Errorf("listed %.300q, want %q", names, want)
	}
}

func TestNoKeyFollowsARedirect(t *testing.T) {
	other := serve(t, "other")
	for _, kind := range []string{"openai", "ollama"} {
		var led []string
		leads := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			led = append(led, r.Header.Get("Authorization"))
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		set := open(t, llm.Settings{
			Provider: "openai", OpenAIURL: other.URL + "/v1", Model: "away/m",
			Servers: []llm.Server{{Name: "away", Kind: kind, URL: leads.URL, Key: key("key-away")}},
		})
		_, _, err := llm.Collect(set.Stream(t.Context(), llm.Request{Messages: []llm.Message{{
			Role: llm.User,
			Text: "secret",
		}}}))
		if err == nil || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("%s: %v", kind, err)
		}
		if len(led) == 0 || led[0] != "Bearer key-away" {
			t.Errorf("%s: the key did not come to its own server: %q", kind, led)
		}
		leads.Close()
	}
	if n := other.requests(); len(n) > 0 {
		t.Errorf("followed: %q", n)
	}
}

// A server that does not answer has an error in its own listing, and the listings
// of others arrive without waiting for it.
func TestServersAreListedAsTheyAnswer(t *testing.T) {
	one := serve(t, "one")
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"data":[{"id":"late"}]}`)
	}))
	t.Cleanup(slow.Close)
	set := open(t, llm.Settings{Provider: "openai", OpenAIURL: "http://127.0.0.1:9/v1", Servers: []llm.Server{
		{Name: "slow", Kind: "openai", URL: slow.URL + "/v1"},
		{Name: "one", Kind: "openai", URL: one.URL + "/v1"},
		{Name: "desk", Kind: "ollama", URL: "http://127.0.0.1:9"},
	}})
	var waiting, names []string
	for l := range set.List(t.Context()) {
		name, _, _ := strings.Cut(l.Server, " ")
		switch {
		case l.Waiting:
			waiting = append(waiting, name)
			continue
		case errors.Is(l.Err, llm.ErrUnreachable):
			name += " is unreachable"
		case l.Err != nil:
			t.Errorf("%s: %v", name, l.Err)
		}
		if names = append(names, name); len(names) == 3 {
			close(release)
		}
	}
	if !slices.Equal(waiting, []string{"openai", "slow", "one", "desk"}) || len(names) != 4 || names[3] != "slow" {
		t.Errorf("waiting %q, told %q", waiting, names)
	}
	if !slices.Contains(names, "one") || !slices.Contains(names, "desk is unreachable") {
		t.Errorf("told %q", names)
	}
}

func TestOfflineReachesNoServer(t *testing.T) {
	one := serve(t, "one")
	set := open(t, llm.Settings{
		Provider: "offline", Model: "one/m", Embedding: "one/e",
		Servers: []llm.Server{{Name: "one", Kind: "openai", URL: one.URL + "/v1"}},
	})
	planner, err := set.Role("one/m")
	if planner != nil || err != nil {
		t.Errorf("a planner %v, %v", planner, err)
	}
	_, _, _ = llm.Collect(set.Stream(t.Context(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "hello"}},
		Task:     &llm.Task{Kind: llm.ExplainTask, Question: "hello"},
	}))
	if e, err := set.Embedder(t.Context()); err != nil || e != nil {
		t.Errorf("embeds by %v, %v", e, err)
	}
	_, _ = set.All(t.Context())
	if seen := one.requests(); len(seen) > 0 || set.State().Remote != "" {
		t.Errorf("it heard %q", seen)
	}
}

// State names the machines that get questions, plans or notes.
func TestRemoteNamesEveryOtherMachine(t *testing.T) {
	elsewhere := func(name string) llm.Server {
		return llm.Server{Name: name, Kind: "openai", URL: "http://" + name + ".example/v1"}
	}
	set := open(t, llm.Settings{
		Provider: "openai", OpenAIURL: "http://127.0.0.1:9/v1", Model: "m", Embedding: "embeds/e",
		Servers: []llm.Server{elsewhere("answers"), elsewhere("embeds"), elsewhere("plans"), elsewhere("unused")},
	})
	if got := set.State().Remote; got != "embeds.example" {
		t.Errorf("with a model here: %q", got)
	}
	if _, err := set.Role("plans/p"); err != nil {
		t.Fatal(err)
	}
	if got := set.State().Remote; got != "plans.example, embeds.example" {
		t.Errorf("with a planner elsewhere: %q", got)
	}
}

func TestOllamaChangesAreNotReportedWhileUnused(t *testing.T) {
	one := serve(t, "one")
	states := make(watching, 4)
	set := open(t, llm.Settings{
		OllamaHost: "127.0.0.1:9", Model: "one/m", Watcher: states,
		Servers: []llm.Server{{Name: "one", Kind: "openai", URL: one.URL + "/v1"}},
	})
	if s := <-states; s.Text != "" || s.Provider != "openai" || s.Model != "one/m" {
		t.Errorf("told %+v", s)
	}
	if got := ask(t, set); got != "one m" {
		t.Errorf("answered by %q", got)
	}
}
