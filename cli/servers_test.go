package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lifehub/llm/llmtest"

	"lifehub/internal/testenv"
)

// serverShape is a model server that behaves like one in common use.
type serverShape struct {
	provider string            // "" for openai
	paths    map[string]string // bodies of answers to GET and, for Ollama, to show
	window   int               // in tokens; a token has four bytes
	rejects  bool              // prompts that leave no room for the answer are rejected; otherwise they are cut
	refuses  string            // an option that is rejected with status 400
	usage    func(prompt, n int) string
	end      string // end of an answer; "" for the standard one
	model    string // "" if the user names none
	want     int    // the window shown; 0 means window
}

const servedModel = "qwen3-8b"

// counted returns usage in the standard form.
func counted(prompt, _ int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":9,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d}}`, prompt, prompt+9, prompt/2)
}

var serverShapes = map[string]serverShape{
	"Ollama": {
		provider: "ollama", window: 16384,
		paths: map[string]string{
			"/api/version": `{"version":"0.30.1"}`,
			"/api/tags": `{"models":[{"name":"qwen3-8b:latest","model":"qwen3-8b:latest","size":1,` +
				`"digest":"0123456789abcdef","details":{}}]}`,
			"/api/show": `{"details":{"family":"qwen3"},"parameters":"num_ctx 16384",` +
				`"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960},` +
				`"capabilities":["completion","tools"]}`,
		},
		// 0.30 excluded what it had cached
		usage: func(prompt, n int) string { return fmt.Sprint(prompt - n*prompt/2) },
	},
	"a list without windows, as LM Studio, LiteLLM and Ollama's /v1 have it": {
		window: 16384,
		paths: map[string]string{"/v1/models": `{"object":"list","data":[{"id":"text-embedding-nomic",` +
			`"object":"model"},{"id":"qwen3-8b","object":"model","owned_by":"x"}]}`},
	},
	"a server that knows no schemas": {
		window: 32768, want: 16384, rejects: true, refuses: "response_format",
		paths: map[string]string{"/v1/models": `{"object":"list","data":[{"id":"qwen3-8b","object":"model"}]}`},
	},
	"vLLM": {
		window: 12288, rejects: true,
		paths: map[string]string{"/v1/models": `{"object":"list","data":[{"id":"qwen3-8b","object":"model",` +
			`"created":1723770563,"owned_by":"vllm","root":"Qwen/Qwen3-8B","parent":null,"max_model_len":12288,` +
			`"permission":[{"id":"modelperm-1","object":"model_permission","allow_sampling":true,` +
			`"group":null}]}]}`},
		usage: func(prompt, _ int) string {
			return fmt.Sprintf(`{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":9,`+
				`"prompt_tokens_details":null}`, prompt, prompt+9)
		},
	},
	"vLLM, the model named": {
		window: 12288, rejects: true, model: servedModel,
		paths: map[string]string{"/v1/models": `{"object":"list","data":[{"id":"other","max_model_len":2048},` +
			`{"id":"qwen3-8b","owned_by":"vllm","max_model_len":12288}]}`},
	},
	"llama.cpp": {
		window: 12288, rejects: true,
		paths: map[string]string{
			"/v1/models": `{"models":[{"name":"qwen3-8b","model":"qwen3-8b","type":"model",` +
				`"capabilities":["completion"]}],"object":"list","data":[{"id":"qwen3-8b","object":"model",` +
				`"created":1,"owned_by":"llamacpp","meta":{"vocab_type":2,"n_vocab":151936,"n_ctx":12288,` +
				`"n_ctx_train":40960,"n_embd":4096,"n_params":8190735360,"size":5025000000}}]}`,
		},
		usage: func(prompt, n int) string {
			return fmt.Sprintf(`{"completion_tokens":9,"prompt_tokens":%d,"total_tokens":%d},"timings":{"cache_n":%d,`+
				`"prompt_n":%d}`, prompt-n*prompt/2, prompt-n*prompt/2+9, n*prompt/2, prompt-n*prompt/2)
		},
	},
	"a server that tells nothing, counts what was not cached, and has no list": {
		window: 1 << 20, want: 16384, model: servedModel,
		usage: func(_, n int) string {
			return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":9,"total_tokens":%d}`, 300+n*2100, 309+n*2100)
		},
	},
	"no usage, no end mark": {
		window: 12288, end: "early", usage: func(int, int) string { return "" },
		paths: map[string]string{"/v1/models": `{"data":[{"id":"qwen3-8b","context_length":12288}]}`},
	},
	"a connection that stays open": {
		window: 12288, end: "open",
		paths: map[string]string{"/v1/models": `{"data":[{"id":"qwen3-8b","context_window":12288}]}`},
	},
	"a whole body in place of a stream": {
		window: 12288, end: "whole", refuses: "stream_options",
		paths: map[string]string{"/v1/models": `{"data":[{"id":"qwen3-8b","max_model_len":12288}]}`},
	},
}

// served is a running shape.
type served struct {
	serverShape
	t *testing.T

	mu      sync.Mutex
	chats   int      // answered
	plans   []string // prompts of planners
	refused int      // requests with the rejected option
	asked   []string // all paths
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program ended meanwhile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/chat/completions") || r.URL.Path == "/api/chat" {
		s.chat(w, r, raw)
		return
	}
	body := s.paths[r.URL.Path]
	if body == "" {
		http.Error(w, `{"detail":"Not Found"}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

func (s *served) planned() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.plans)
}

func (s *served) chat(w http.ResponseWriter, r *http.Request, raw []byte) {
	var req struct {
		Model     string
		Messages  []struct{ Content string }
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.Unmarshal(raw, &req); err != nil || !strings.HasPrefix(req.Model, servedModel) {
		s.t.Errorf("asked for model %q, %v", req.Model, err)
	}
	fail := func(message string) {
		quoted, _ := json.Marshal(message)
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%s,"type":"BadRequestError","param":null,"code":400}}`, quoted)
	}
	if s.refuses != "" && strings.Contains(string(raw), `"`+s.refuses+`"`) {
		s.refused++
		fail("litellm.UnsupportedParamsError: custom does not support parameters: ['" + s.refuses + "']")
		return
	}
	prompt := 0
	var texts []string
	for _, m := range req.Messages {
		prompt += 8 + len(m.Content)/4
		texts = append(texts, m.Content)
	}
	if prompt+req.MaxTokens > s.window && s.rejects {
		s.t.Errorf("%d tokens and %d for the answer do not fit", prompt, req.MaxTokens)
		fail(fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens.",
			s.window, prompt+req.MaxTokens))
		return
	}
	if prompt > s.window {
		s.t.Errorf("%d tokens were cut to %d", prompt, s.window)
	}
	answer := "A title"
	if strings.Contains(strings.Join(texts, "\n"), llmtest.PlanMark) {
		s.plans = append(s.plans, strings.Join(texts, "\n"))
		answer = `{"reasoning":"it was told","steps":[],"answer":"It is noted."}`
	}
	usage := counted(prompt, s.chats)
	if s.usage != nil {
		usage = s.usage(prompt, min(s.chats, 1))
	}
	s.chats++
	quoted, _ := json.Marshal(answer)
	if r.URL.Path == "/api/chat" {
		fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false}\n", quoted)
		fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":%s,\"eval_count\":9}\n", usage)
		return
	}
	if s.end == "whole" {
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":%s},"finish_reason":"stop"}],"usage":%s}`, quoted, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":null}]}\n\n", quoted)
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
	w.(http.Flusher).Flush()
	switch s.end {
	case "early":
		panic(http.ErrAbortHandler)
	case "open":
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return
	}
	if strings.Contains(string(raw), "stream_options") {
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":%s}\n\n", usage)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// env returns the environment of a program that uses the server.
func (s *served) env(url string) []string {
	env := []string{
		"LIFEHUB_MODE=plan", "LIFEHUB_PROVIDER=openai", "OPENAI_BASE_URL=" + url + "/v1",
		"LIFEHUB_MODEL=" + s.model,
	}
	if s.provider != "" {
		env = []string{"LIFEHUB_MODE=plan", "LIFEHUB_PROVIDER=" + s.provider, "OLLAMA_HOST=" + url}
	}
	return env
}

// With each kind of server, two consecutive runs of the program send their first prompt complete,
// fit it to the server's window, and report nothing false.
func TestPromptsFitServersOfEveryKind(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, shape := range serverShapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &served{serverShape: shape, t: t}
			server := httptest.NewServer(s)
			defer server.Close()
			home := t.TempDir()
			var turns []string
			for i := range 4 { // 3,000 tokens in all
				turns = append(turns, strings.Repeat(fmt.Sprintf("On day %d the boiler was at 1.%d bar. ", i+1, i), 80))
			}
			ask := func(args ...string) (windows []int, notices []string, answer string) {
				cmd := exec.Command(os.Args[0], append([]string{"ask", "--stream-json"}, args...)...)
				cmd.Env = append(asProgram(home, filepath.Join(home, "lh")), s.env(server.URL)...)
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %s%s", err, out, stderr.String())
				}
				for line := range strings.Lines(string(out)) {
					var e struct {
						Type, Text, Answer string
						Allocated          int
					}
					if err := json.Unmarshal([]byte(line), &e); err != nil {
						t.Fatalf("%v: %s", err, line)
					}
					switch e.Type {
					case "context_log":
						windows = append(windows, e.Allocated)
					case "notice":
						notices = append(notices, e.Text)
					}
					answer = cmp.Or(e.Answer, answer)
				}
				return windows, notices, answer
			}
			want := s.want
			if want == 0 {
				want = s.window
			}
			for run, args := range [][]string{{strings.Join(turns, "\n")}, {"-c", "And what was it on day 3?"}} {
				before := len(s.planned())
				windows, notices, answer := ask(args...)
				if len(notices) > 0 {
					t.Errorf("run %d: told %q", run+1, notices)
				}
				if len(windows) == 0 || slices.ContainsFunc(windows, func(w int) bool { return w != want }) {
					t.Errorf("run %d: windows of %d tokens, want %d", run+1, windows, want)
				}
				if answer != "It is noted." {
					t.Errorf("run %d: answered %q", run+1, answer)
				}
				if plans := s.planned(); len(plans) <= before ||
					!strings.Contains(plans[before], strings.TrimSpace(strings.Join(turns, "\n"))) {
					t.Errorf("run %d: the first prompt is not whole", run+1)
				}
			}
			server.Close()     // before s is read
			if s.refused > 4 { // once per run and option, unless it is named
				t.Errorf("%d requests had an option that is refused", s.refused)
			}
		})
	}
}
