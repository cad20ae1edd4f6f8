package llmtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/openai"
)

const (
	askedForKey = "Where is the key?"
	keyIsThere  = "The key is in the blue can."
)

// ask sends messages in turn, those of the user first.
func ask(t *testing.T, s *llmtest.Paced, req llm.Request, texts ...string) llm.Message {
	t.Helper()
	p, err := openai.New(llm.Settings{OpenAIURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	role := llm.User
	for _, text := range texts {
		req.Messages = append(req.Messages, llm.Message{Role: role, Text: text})
		if role = llm.Assistant; len(req.Messages)%2 == 0 {
			role = llm.User
		}
	}
	reply, usage, err := llm.Collect(p.Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	list := s.Requests()
	if r := list[len(list)-1]; usage.Prompt != r.Prompt || usage.Answer != r.Generated {
		t.Errorf("reported %d and %d tokens, counted %d and %d", usage.Prompt, usage.Answer, r.Prompt, r.Generated)
	}
	return reply
}

func TestPacedClockAddsUpWhatIsReadAndWritten(t *testing.T) {
	s := llmtest.StartPaced(t, 60, 10, nil)
	first := ask(t, s, llm.Request{}, strings.Repeat("word ", 500))
	ask(t, s, llm.Request{}, strings.Repeat("word ", 500), first.Text, "And now?")
	var clock time.Duration
	for i, r := range s.Requests() {
		if r.Began != clock {
			t.Errorf("request %d began at %v, want %v", i, r.Began, clock)
		}
		read := time.Duration(float64(r.Prompt-r.Cached) / 60 * 1e9)
		clock += read + time.Duration(r.Generated)*time.Second/10
		if word := r.Began + read + time.Second/10; (r.First - word).Abs() > time.Millisecond {
			t.Errorf("request %d: first word at %v, want %v", i, r.First, word)
		}
		if (r.Ended - clock).Abs() > time.Millisecond {
			t.Errorf("request %d ended at %v, want %v", i, r.Ended, clock)
		}
		clock = r.Ended
	}
	if s.Now() != clock {
		t.Errorf("the clock says %v, want %v", s.Now(), clock)
	}
}

func TestPacedReadsOnlyWhatFollowsTheSamePrefix(t *testing.T) {
	s := llmtest.StartPaced(t, 60, 10, nil)
	long := strings.Repeat("word ", 400) // 500 tokens
	first := ask(t, s, llm.Request{}, long)
	ask(t, s, llm.Request{}, long, first.Text, "And now?")           // goes on
	ask(t, s, llm.Request{}, long, first.Text, "And now?")           // the same again
	ask(t, s, llm.Request{}, long+"other", first.Text, "And now?")   // changed after 500 tokens
	ask(t, s, llm.Request{}, "Other: "+long, first.Text, "And now?") // changed at the beginning
	tools := []llm.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"object"}`)}}
	ask(t, s, llm.Request{Tools: tools}, "Other: "+long, first.Text, "And now?")
	list := s.Requests()
	template := len("<|im_start|>user\n") / 4
	for i, want := range []struct{ least, most int }{
		{0, 0},
		{list[0].Prompt, list[0].Prompt + list[0].Generated},
		{list[1].Prompt - 1, list[1].Prompt - 1},
		{500 + template, 501 + template},
		{template, template + 1},
		{500 + template, 502 + template + len("Other: ")/4},
	} {
		if got := list[i].Cached; got < want.least || got > want.most {
			t.Errorf("request %d: %d of %d tokens were cached, want %d to %d", i, got,
				list[i].Prompt, want.least, want.most)
		}
	}
}

func TestPacedSaysItsWordsInTheShapeAskedFor(t *testing.T) {
	const tool = `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`
	const passage = "[2] " + keyIsThere + " Mind the step.\n\n" + askedForKey
	choice := json.RawMessage(`{"type":"object","anyOf":[
		{"type":"object","required":["tool","input"],"properties":{"tool":{"const":"answer"},
			"input":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}}},
		{"type":"object","required":["tool","input"],"properties":{"tool":{"const":"search_notes"},"input":` + tool + `}}]}`)
	plan := json.RawMessage(`{"type":"object","required":["steps"],"properties":{
		"steps":{"type":"array","items":{"type":"object","required":["tool","input"],"properties":{
			"tool":{"type":"string","enum":["list_tasks","search_notes"]},"input":{"type":"object"}}}},
		"answer":{"type":"string"}}}`)
	search := []llm.ToolSpec{{Name: "search_notes", Schema: json.RawMessage(tool)}}
	const looks = `{"query":"Where is the key?"}`
	const call = `{"tool":"search_notes","input":` + looks + `}`
	const answers = `{"tool":"answer","input":{"text":"` + keyIsThere + `"}}`
	for name, test := range map[string]struct {
		req        llm.Request
		message    string
		text, call string
	}{
		"prose":              {llm.Request{}, passage, `"` + keyIsThere + `" [2]`, ""},
		"a native call":      {llm.Request{Tools: search}, askedForKey, "", looks},
		"prose with tools":   {llm.Request{Tools: search}, passage, `"` + keyIsThere + `" [2]`, ""},
		"answer by a schema": {llm.Request{Schema: choice}, passage, answers, ""},
		"call by a schema":   {llm.Request{Schema: choice}, askedForKey, call, ""},
		"a plan":             {llm.Request{Schema: plan}, askedForKey, `{"steps":[` + call + `]}`, ""},
		"a plan without steps": {
			llm.Request{Schema: plan},
			passage,
			`{"steps":[],"answer":"` + keyIsThere + `"}`, "",
		},
		"a question without notes": {llm.Request{}, askedForKey, "That is not in your notes.", ""},
		"one token":                {llm.Request{MaxTokens: 1}, passage, `"The`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.StartPaced(t, 60, 10, map[string]string{askedForKey: keyIsThere})
			reply, args := ask(t, s, test.req, test.message), ""
			if len(reply.Calls) > 0 {
				args = string(reply.Calls[0].Args)
			}
			if reply.Text != test.text || args != test.call {
				t.Errorf("said %s, called with %s; want %s and %s", reply.Text, args, test.text, test.call)
			}
		})
	}
}

func TestPacedReportsWhatItReadsAsLlamaServerDoes(t *testing.T) {
	s := llmtest.StartPaced(t, 60, 10, nil)
	post := func(options string) string {
		body := strings.NewReader(`{"messages":[{"role":"user","content":"` +
			strings.Repeat("word ", 400) + `"}]` + options + `}`)
		res, err := http.Post(s.URL+"/chat/completions", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		all, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	events := post(`,"stream":true,"return_progress":true,"stream_options":{"include_usage":true}`)
	whole := post(``)
	list := s.Requests()
	progress := fmt.Sprintf(`"prompt_progress":{"total":%d,"cache":0,"processed":%[1]d,`, list[0].Prompt)
	if at := strings.Index(events, progress); at < 0 || at > strings.Index(events, `"content":"`) {
		t.Errorf("no %s before the first word in\n%s", progress, events)
	}
	var answer struct {
		Usage struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		Timings struct {
			Cached int `json:"cache_n"`
			Read   int `json:"prompt_n"`
		}
	}
	if err := json.Unmarshal([]byte(whole), &answer); err != nil {
		t.Fatal(err)
	}
	r := list[1]
	if answer.Usage.Details.Cached != r.Cached || answer.Timings.Cached != r.Cached ||
		answer.Timings.Read != r.Prompt-r.Cached || r.Streamed {
		t.Errorf("reported %+v, counted %d of %d cached", answer, r.Cached, r.Prompt)
	}
}

func TestFollowerTellsWhenTheServerWroteWhatIsShown(t *testing.T) {
	s := llmtest.StartPaced(t, 60, 10, nil)
	p, err := openai.New(llm.Settings{OpenAIURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	f := s.Follow(p)
	var shown []time.Duration
	for delta, err := range f.Stream(t.Context(), llm.Request{Messages: []llm.Message{{
		Role: llm.User,
		Text: "thanks",
	}}}) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Text != "" {
			shown = append(shown, f.At(time.Now()))
		}
	}
	r := s.Requests()[0]
	if len(shown) != r.Generated {
		t.Fatalf("%d pieces of %d tokens", len(shown), r.Generated)
	}
	if shown[0] != r.First || (shown[len(shown)-1]-r.Ended).Abs() > time.Millisecond {
		t.Errorf("the first piece at %v, the last at %v, want %v and %v", shown[0],
			shown[len(shown)-1], r.First, r.Ended)
	}
}
