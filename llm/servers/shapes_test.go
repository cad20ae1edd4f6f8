package servers_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lifehub/llm"
)

// shape is a server's response to a chat request and the expected result.
type shape struct {
	body string
	text string         // text that arrives
	end  llm.StopReason // empty: the answer is truncated or missing
	says string         // part of the error
}

// piece returns a stream event with a text.
func piece(text string) string {
	return `data: {"choices":[{"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

const (
	stops = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done  = "data: [DONE]\n\n"
)

var openAIShapes = map[string]shape{
	"a complete answer": {piece("a") + piece("b") + stops + done, "ab", llm.StopEnd, ""},
	"without [DONE]":    {piece("a") + stops, "a", llm.StopEnd, ""},
	"without a reason":  {piece("a") + done, "a", llm.StopEnd, ""},
	"without an end":    {piece("a"), "a", "", "cut off"},
	"the limit": {
		piece("a") + strings.Replace(stops, "stop", "length", 1) + done,
		"a", llm.StopLength, "",
	},
	"a content filter": {
		piece("a") + strings.Replace(stops, "stop", "content_filter", 1) + done,
		"a", "", "content_filter",
	},
	"a content filter and no text": {
		strings.Replace(stops, "stop", "content_filter", 1) + done,
		"", "", "content_filter",
	},
	"an unknown reason": {piece("a") + strings.Replace(stops, "stop", "abort", 1), "a", "", "abort"},
	"a reason with the text": {`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"content_filter"}]}` +
		"\n\n" + done, "a", "", "content_filter"},
	"a reason of an older server": {piece("a") + strings.Replace(stops, "stop", "eos_token", 1), "a", llm.StopEnd, ""},
	"the reason null as a text": {`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"null"}]}` + "\n\n" +
		stops, "a", llm.StopEnd, ""},
	"a second choice": {
		piece("a") + `data: {"choices":[{"index":1,"delta":{"content":"X"},"finish_reason":"content_filter"}]}` +
			"\n\n" + stops + done, "a", llm.StopEnd, "",
	},
	"the second choice first": {
		`data: {"choices":[{"index":1,"delta":{"content":"X"}},{"index":0,"delta":{"content":"a"}}]}` + "\n\n" +
			stops, "a", llm.StopEnd, "",
	},
	"a list of parts": {
		`data: {"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"image_url",` +
			`"image_url":{"url":"x"}},{"type":"text","text":"b"}]}}]}` + "\n\n" + stops,
		"ab", llm.StopEnd, "",
	},
	"content that is null": {`data: {"choices":[{"delta":{"role":"assistant","content":null}}]}` + "\n\n" +
		piece("a") + stops, "a", llm.StopEnd, ""},
	"content of another type": {`data: {"choices":[{"delta":{"content":7}}]}` + "\n\n" +
		piece("a") + stops, "a", llm.StopEnd, ""},
	"a refusal": {
		`data: {"choices":[{"delta":{"refusal":"I cannot."}}]}` + "\n\n" + stops,
		"I cannot.", llm.StopEnd, "",
	},
	"CR LF":             {strings.ReplaceAll(piece("a")+stops+done, "\n", "\r\n"), "a", llm.StopEnd, ""},
	"CR":                {strings.ReplaceAll(piece("a")+stops+done, "\n", "\r"), "a", llm.StopEnd, ""},
	"a byte order mark": {"\uFEFF" + piece("a") + stops + done, "a", llm.StopEnd, ""},
	"a whole answer after a byte order mark": {
		"\uFEFF" + `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, "a", llm.StopEnd, "",
	},
	"JSON in several lines": {
		"data: {\"choices\":[{\ndata:   \"delta\":{\"content\":\"a\"}\ndata: }]}\n\n" + stops, "a", llm.StopEnd, "",
	},
	"comments that are data": {
		"data: : OPENROUTER PROCESSING\n\n" + piece("a") + "data: ping\n\n" + stops, "a", llm.StopEnd, "",
	},
	"nothing but a text": {"data: overloaded\n\n", "", "", "not JSON"},
	"comments":           {": hi\n\n" + piece("a") + ": ping\n\n" + stops, "a", llm.StopEnd, ""},
	"ids and retries":    {"id: 1\nretry: 5\n" + piece("a") + "id\n" + stops, "a", llm.StopEnd, ""},
	"an error event": {
		piece("a") + "event: error\ndata: {\"message\":\"out of memory\"}\n\n" + done,
		"a", "", "out of memory",
	},
	"an error event first": {
		"event: error\ndata: {\"error\":{\"message\":\"out of memory\"}}\n\n",
		"", "", "out of memory",
	},
	"an error event of text":     {piece("a") + "event: error\ndata: overloaded\n\n", "a", "", "overloaded"},
	"an error without a message": {piece("a") + "event: error\ndata: {}\n\n", "a", "", "unspecified error"},
	"an error of an older vLLM": {
		`data: {"object":"error","message":"out of memory","code":400}` + "\n\n" + done, "", "", "out of memory",
	},
	"an error in a list of errors": {
		piece("a") + `data: {"choices":null,"errors":[{"message":"out of memory"}]}` + "\n\n", "a", "", "out of memory",
	},
	"an error that is all": {`{"detail":"out of memory"}`, "", "", "out of memory"},
	"an error in a list":   {`[{"error":{"code":500,"message":"out of memory"}}]`, "", "", "out of memory"},
	"an error of nothing": {
		`data: {"error":"","choices":[{"delta":{"content":"a"}}]}` + "\n\n" +
			`data: {"error":{},"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n" + done, "a", llm.StopEnd, "",
	},
	"an error in a chunk": {piece("a") + "data: {\"error\":{\"message\":\"gone\"}}\n\n", "a", "", "gone"},
	"an event of another kind": {
		"event: ping\ndata: still here\n\n" + piece("a") + stops, "a", llm.StopEnd, "",
	},
	"an event that is not JSON":   {piece("a") + "data: {\"choices\":[{\"delta\"\n\n" + stops, "a", "", "not JSON"},
	"half an event at the end":    {piece("a") + `data: {"choices":[{"delta":{"cont`, "a", "", "cut off"},
	"half an event after the end": {piece("a") + stops + `data: {"usage":`, "a", llm.StopEnd, ""},
	"a last line without its end": {piece("a") + strings.TrimSpace(stops), "a", llm.StopEnd, ""},
	"a usage of another type": {piece("a") + `data: {"choices":[],"usage":{"prompt_tokens":12.5}}` + "\n\n" +
		stops, "a", llm.StopEnd, ""},
	"choices that are no list": {piece("a") + `data: {"choices":{}}` + "\n\n" + stops, "a", llm.StopEnd, ""},
	"null":                     {"data: null\n\n" + piece("a") + stops, "a", llm.StopEnd, ""},
	"nothing":                  {"", "", "", "cut off"},
	"only an end":              {done, "", llm.StopEnd, ""},
	"a whole answer": {`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]},` +
		`"finish_reason":"stop"}]}`, "a", llm.StopEnd, ""},
	"a whole answer after its pieces": {
		piece("a") + piece("b") + `data: {"choices":[{"delta":{},"message":{"content":"ab"},"finish_reason":"stop"}]}` +
			"\n\n" + done, "ab", llm.StopEnd, "",
	},
	"the answer so far in each piece": {
		`data: {"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":"b"},"message":{"content":"ab"}}]}` + "\n\n" + stops,
		"ab", llm.StopEnd, "",
	},
	"a whole answer after empty pieces": {
		piece("") + `data: {"choices":[{"delta":{"role":"assistant"},"message":{"content":"ab"},` +
			`"finish_reason":"stop"}]}` +
			"\n\n", "ab", llm.StopEnd, "",
	},
	"a call of nothing beside a text": {
		piece("a") + `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":"",` +
			`"arguments":"{}"}}]}}]}` + "\n\n" + stops, "a", llm.StopEnd, "",
	},
	"a call without a name beside a text": {
		piece("a") + `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":null,"arguments":""}}]}}]}` +
			"\n\n" + stops, "a", llm.StopEnd, "",
	},
	"half a whole answer": {`{"choices":[{"message":{"content":"a"}`, "", "", "cut off"},
	"a whole answer that was cut": {
		`{"choices":[{"message":{"content":"a"},"finish_reason":"content_filter"}]}`,
		"a", "", "content_filter",
	},
	"a text":                {"It is on fire.", "", "", "cut off"},
	"text after the reason": {piece("a") + stops + piece("b") + done, "ab", llm.StopEnd, ""},
	"a call that is filtered": {`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1",` +
		`"function":{"name":"x","arguments":"{}"}}]},` +
		`"finish_reason":"content_filter"}]}` + "\n\n", "", "", "content_filter"},
}

// said returns a line of Ollama's protocol with a text.
func said(text string) string {
	return `{"message":{"role":"assistant","content":"` + text + `"},"done":false}` + "\n"
}

const ends = `{"message":{"content":""},"done":true,"done_reason":"stop"}` + "\n"

var ollamaShapes = map[string]shape{
	"a complete answer": {said("a") + said("b") + ends, "ab", llm.StopEnd, ""},
	"without a reason":  {said("a") + `{"done":true}`, "a", llm.StopEnd, ""},
	"without an end":    {said("a"), "a", "", "cut off"},
	"the limit":         {said("a") + strings.Replace(ends, "stop", "length", 1), "a", llm.StopLength, ""},
	"an unknown reason": {
		said("a") + strings.Replace(ends, "stop", "content_filter", 1),
		"a", "", "content_filter",
	},
	"CR LF":                      {strings.ReplaceAll(said("a")+ends, "\n", "\r\n"), "a", llm.StopEnd, ""},
	"half a line":                {said("a") + `{"message":{"content":"b`, "a", "", "cut off"},
	"an error that is an object": {said("a") + `{"error":{"message":"out of memory"}}`, "a", "", "out of memory"},
	"an error of nothing":        {said("a") + `{"error":""}` + "\n" + ends, "a", llm.StopEnd, ""},
	"empty lines":                {"\n" + said("a") + "\n\r\n" + said("b") + "\n" + ends, "ab", llm.StopEnd, ""},
	"a byte order mark":          {"\uFEFF" + said("a") + ends, "a", llm.StopEnd, ""},
	"all in one line":            {strings.ReplaceAll(said("a")+said("b")+ends, "\n", ""), "ab", llm.StopEnd, ""},
	"indented JSON": {
		"{\n  \"message\": {\n    \"content\": \"a\"\n  }\n}\n" + ends, "a", llm.StopEnd, "",
	},
	"a line of text":       {said("a") + "upstream is gone\n", "a", "", "upstream is gone"},
	"an error":             {said("a") + `{"error":"out of memory"}` + "\n", "a", "", "out of memory"},
	"an error first":       {`{"error":"out of memory"}` + "\n", "", "", "out of memory"},
	"nothing":              {"", "", "", "cut off"},
	"a text after the end": {said("a") + ends + said("b"), "a", llm.StopEnd, ""},
	"a call of nothing": {
		said("a") + `{"message":{"tool_calls":[{"function":{"name":"","arguments":{}}}]}}` + "\n" + ends,
		"a", llm.StopEnd, "",
	},
	"a text in the last one": {said("a") + strings.Replace(ends, `""`, `"b"`, 1), "ab", llm.StopEnd, ""},
}

// TestShapesOfStreams checks for many responses that a complete answer arrives in
// full, that a truncated one keeps its text and yields the reason, and that no
// raw JSON ends up in the text.
func TestResponsesOfAnyShapeAreParsed(t *testing.T) {
	t.Parallel()
	for kind, shapes := range map[string]map[string]shape{"openai": openAIShapes, "ollama": ollamaShapes} {
		for name, c := range shapes {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/chat/completions"), r.URL.Path == "/api/chat":
						_, _ = io.WriteString(w, c.body) // the client may be gone
					case r.URL.Path == "/api/show":
						_, _ = io.WriteString(w, `{"capabilities":["completion"]}`)
					default:
						http.NotFound(w, r)
					}
				}))
				defer server.Close()
				p := open(t, llm.Settings{
					Provider: kind, OpenAIURL: server.URL + "/v1",
					OllamaHost: server.URL, Model: "m",
				})
				message, usage, err := llm.Collect(p.Stream(t.Context(),
					llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hi"}}}))
				if message.Text != c.text || usage.Stopped != c.end || len(message.Calls) > 0 {
					t.Errorf("got %q, ended by %q, with %d calls, want %q, %q", message.Text, usage.Stopped,
						len(message.Calls), c.text, c.end)
				}
				switch {
				case (err == nil) != (c.says == ""):
					t.Errorf("error %v, want %q", err, c.says)
				case err != nil && (!strings.Contains(err.Error(), c.says) || strings.ContainsAny(err.Error(), "{}")):
					t.Errorf("error %q, want %q and no JSON", err, c.says)
				case err != nil && c.text != "" && !errors.Is(err, llm.ErrCut):
					t.Errorf("error %v, which does not say that the answer was cut", err)
				}
			})
		}
	}
}
