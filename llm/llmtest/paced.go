package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lifehub/llm"
)

// PacedModel is the name of the model that [Paced] serves.
const PacedModel = "qwen2.5-1.5b-instruct-q4_k_m.gguf"

// Paced is a server as llama.cpp's with one slot: it reads and writes so many
// tokens a second, by a clock of its own, and does not read again what the last
// request and its reply begin with. Nothing sleeps: the clock adds up what each
// request takes and stands still between requests.
//
// A token is 4 bytes of the conversation as rendered for the model, with the
// tools. The model looks into the notes with search_notes until it has read the
// sentence that answers the question, and then says it; see [Paced.Answers].
type Paced struct {
	URL         string // with /v1
	Read, Write float64
	Window      int // tokens of prompt and answer together
	// Answers has by question the sentence of the notes that answers it, as it is
	// written there within one line.
	Answers map[string]string

	slot sync.Mutex // held while a request is answered

	mu       sync.Mutex
	clock    time.Duration
	cached   string // last prompt, as rendered, and its reply
	requests []PacedRequest
}

// PacedRequest is a request that [Paced] has answered, or is answering.
type PacedRequest struct {
	Began, First, Ended        time.Duration // on the server's clock: taken up, first and last token written
	Prompt, Cached, Generated  int           // tokens
	Streamed, Structured, Call bool          // the answer was streamed; had a schema; is a tool call
	Rendered, Reply            string
}

// StartPaced starts a server that reads and writes so many tokens a second. It
// stops when the test ends.
func StartPaced(t testing.TB, read, write float64, answers map[string]string) *Paced {
	s := &Paced{Read: read, Write: write, Window: 32768, Answers: answers}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Now returns the time on the server's clock.
func (s *Paced) Now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

// Requests returns the requests so far, oldest first.
func (s *Paced) Requests() []PacedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Paced) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
		fmt.Fprint(w, `{"status":"ok"}`)
	case "/props":
		fmt.Fprintf(w, `{"default_generation_settings":{"n_ctx":%d},"total_slots":1,"model_path":%q}`, s.Window,
			PacedModel)
	case "/v1/models":
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model","owned_by":"llamacpp",`+
			`"meta":{"n_ctx_train":32768,"n_params":1543714304,"size":1117320736}}]}`, PacedModel)
	case "/v1/chat/completions":
		s.chat(w, r)
	default:
		http.NotFound(w, r)
	}
}

type pacedBody struct {
	Messages      []pacedMessage
	Tools         []json.RawMessage
	Stream        bool
	StreamOptions struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Format struct {
		Schema struct{ Schema json.RawMessage } `json:"json_schema"`
	} `json:"response_format"`
	MaxTokens     int  `json:"max_tokens"`
	MaxCompletion int  `json:"max_completion_tokens"`
	Progress      bool `json:"return_progress"`
}

type pacedMessage struct {
	Role    string
	Content json.RawMessage
	Calls   []struct {
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// text returns the content, which is a string or a list of parts.
func (m pacedMessage) text() (text string) {
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(m.Content, &parts) // anything else has no text
	for _, part := range parts {
		text += part.Text
	}
	return text
}

// render writes the conversation as Qwen's chat template does.
func (b pacedBody) render() string {
	var out strings.Builder
	for i, m := range b.Messages {
		role, text := m.Role, m.text()
		switch {
		case role == "tool":
			role, text = "user", "<tool_response>\n"+text+"\n</tool_response>"
		case i == 0 && len(b.Tools) > 0:
			text += "\n\n# Tools\n\n<tools>\n"
			for _, tool := range b.Tools {
				text += string(tool) + "\n"
			}
			text += "</tools>\n\nReturn each call within <tool_call></tool_call>."
		}
		for _, c := range m.Calls {
			text += pacedCall(c.Function.Name, c.Function.Arguments)
		}
		fmt.Fprintf(&out, "<|im_start|>%s\n%s<|im_end|>\n", role, text)
	}
	return out.String() + "<|im_start|>assistant\n"
}

func pacedCall(name, args string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, args)
}

// bytesOfToken is the rule by which tokens are counted.
const bytesOfToken = 4

// tokensOf cuts a text into tokens, which end with a whole character.
func tokensOf(text string) (tokens []string) {
	begin := 0
	for i := range text {
		if i-begin >= bytesOfToken {
			tokens, begin = append(tokens, text[begin:i]), i
		}
	}
	if begin < len(text) {
		tokens = append(tokens, text[begin:])
	}
	return tokens
}

// after returns how long so many tokens take at a rate.
func after(tokens int, rate float64) time.Duration {
	return time.Duration(float64(tokens) / rate * float64(time.Second))
}

func (s *Paced) chat(w http.ResponseWriter, r *http.Request) {
	var body pacedBody
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
		http.Error(w, `{"error":{"code":400,"message":"no messages","type":"invalid_request_error"}}`,
			http.StatusBadRequest)
		return
	}
	s.slot.Lock()
	defer s.slot.Unlock()
	rendered := body.render()
	prompt := (len(rendered) + bytesOfToken - 1) / bytesOfToken
	if prompt >= s.Window {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"code":400,"message":"the request exceeds the available context size, try `+
			`increasing it",`+
			`"type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, prompt, s.Window)
		return
	}
	said := s.reply(body)
	tokens, stopped := tokensOf(said.raw()), "stop"
	if said.tool != "" {
		stopped = "tool_calls"
	}
	if most := max(body.MaxTokens, body.MaxCompletion); most > 0 && len(tokens) > most {
		tokens, stopped = tokens[:most], "length"
	}
	request := s.took(PacedRequest{
		Prompt: prompt, Generated: len(tokens),
		Streamed: body.Stream, Structured: body.Format.Schema.Schema != nil, Call: said.tool != "",
		Rendered: rendered, Reply: strings.Join(tokens, ""),
	})
	out := pacedWriter{w, s.usage(request)}
	if !body.Stream {
		out.whole(said, request.Reply, stopped)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if body.Progress {
		progress := fmt.Sprintf(`,"prompt_progress":{"total":%d,"cache":%d,"processed":%d,"time_ms":%d}`,
			prompt, request.Cached, prompt, (request.First - request.Began).Milliseconds())
		out.chunk(map[string]any{"role": "assistant", "content": nil}, "", progress)
	}
	out.chunk(map[string]any{"role": "assistant", "content": nil}, "", "")
	if stopped == "tool_calls" {
		out.chunk(map[string]any{"tool_calls": said.calls()}, "", "")
	} else {
		for _, token := range tokens {
			out.chunk(map[string]any{"content": token}, "", "")
		}
	}
	out.chunk(map[string]any{}, stopped, "")
	if body.StreamOptions.Usage {
		fmt.Fprintf(w, `data: {"choices":[],"object":"chat.completion.chunk","model":%q,%s}`+
			"\n\n", PacedModel, out.usage)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// took completes a request by its times and what of it was cached, and advances
// the clock.
func (s *Paced) took(r PacedRequest) PacedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := 0
	for same < min(len(s.cached), len(r.Rendered)) && s.cached[same] == r.Rendered[same] {
		same++
	}
	r.Cached = min(same/bytesOfToken, r.Prompt-1) // the last token is always read
	r.Began = s.clock
	r.First = r.Began + after(r.Prompt-r.Cached, s.Read) + after(1, s.Write)
	r.Ended = r.First + after(r.Generated-1, s.Write)
	s.clock, s.cached = r.Ended, r.Rendered+r.Reply
	s.requests = append(s.requests, r)
	return r
}

// usage returns the counts that llama.cpp reports at the end of an answer.
func (s *Paced) usage(r PacedRequest) string {
	reading, writing := after(r.Prompt-r.Cached, s.Read), after(r.Generated, s.Write)
	return fmt.Sprintf(`"usage":{"completion_tokens":%d,"prompt_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d}},`+
		`"timings":{"cache_n":%d,"prompt_n":%d,"prompt_ms":%d,"prompt_per_second":%g,`+
		`"predicted_n":%d,"predicted_ms":%d,"predicted_per_second":%g}`,
		r.Generated, r.Prompt, r.Prompt+r.Generated, r.Cached,
		r.Cached, r.Prompt-r.Cached, reading.Milliseconds(), s.Read, r.Generated, writing.Milliseconds(), s.Write)
}

type pacedWriter struct {
	w     http.ResponseWriter
	usage string
}

func (p pacedWriter) chunk(delta map[string]any, finish, more string) {
	reason := "null"
	if finish != "" {
		reason = fmt.Sprintf("%q", finish)
	}
	fmt.Fprintf(p.w, `data: {"choices":[{"finish_reason":%s,"index":0,"delta":%s}],`+
		`"object":"chat.completion.chunk","model":%q%s}`+"\n\n",
		reason, encoded(delta), PacedModel, more)
	_ = http.NewResponseController(p.w).Flush() // a client that has gone shows in nothing here
}

func (p pacedWriter) whole(said said, reply, finish string) {
	message := map[string]any{"role": "assistant", "content": reply}
	if finish == "tool_calls" {
		message["content"], message["tool_calls"] = nil, said.calls()
	}
	fmt.Fprintf(p.w, `{"choices":[{"finish_reason":%q,"index":0,"message":%s}],"object":"chat.completion","model":%q,%s}`,
		finish, encoded(message), PacedModel, p.usage)
}

// Follower is a provider that notes what its reader has of each answer, and so
// tells the time on the server's clock when something was shown. It takes one
// request at a time to be answered for the reader.
type Follower struct {
	llm.Provider
	server *Paced

	mu      sync.Mutex
	moments []moment
}

// moment is when a piece was handed to the reader, and when the server wrote it.
type moment struct {
	handed  time.Time
	written time.Duration
}

// Follow returns a provider that asks through provider, which is connected to s.
func (s *Paced) Follow(provider llm.Provider) *Follower {
	return &Follower{Provider: provider, server: s}
}

// At returns when the server wrote the last piece that the reader had at a time.
func (f *Follower) At(shown time.Time) (written time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.moments {
		if !m.handed.After(shown) {
			written = m.written
		}
	}
	return written
}

// Stream implements [llm.Model].
func (f *Follower) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		var request PacedRequest
		pieces := 0
		for delta, err := range f.Provider.Stream(ctx, req) {
			if list := f.server.Requests(); pieces == 0 && len(list) > 0 {
				request = list[len(list)-1]
			}
			if delta.Reading == nil {
				written := request.First + after(pieces, f.server.Write)
				if pieces++; delta.Text == "" {
					written = request.Ended
				}
				f.mu.Lock()
				f.moments = append(f.moments, moment{time.Now(), written})
				f.mu.Unlock()
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}
