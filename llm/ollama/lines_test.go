package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// replay answers every request with the same bytes.
type replay []byte

func (r replay) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(r)), Request: req,
	}, nil
}

// FuzzLines checks that reading any response of an Ollama server terminates,
// yields nothing after the end of the answer, and yields only calls that have
// arguments or a fault.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"message":{"role":"assistant","content":"Hi "},"done":false}` + "\n" +
		`{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":2}` + "\n"))
	f.Add([]byte(`{"message":{"thinking":"hm","tool_calls":[{"function":{"index":0,"name":"x",` +
		`"arguments":{"a":[1]}}}]},"done":false}` + "\n{\"error\":\"no\"}\n"))
	f.Add([]byte(`{"done":true,"done_reason":"length"}` + "\n" + `{"done":true}` + "\n\n{"))
	f.Add([]byte(`{"remote_host":"a","message":{"content":7}}`))
	base := &url.URL{Scheme: "http", Host: "127.0.0.1"}
	f.Fuzz(func(t *testing.T, stream []byte) {
		transport := &llm.Transport{Base: replay(stream), Proxy: http.ProxyFromEnvironment}
		o := &Provider{base: base, http: transport.Client(), known: map[string]llm.Info{}}
		ends := 0
		_ = o.chat(context.Background(), &api.ChatRequest{Model: "m"}, func(d llm.Delta) error {
			if ends > 0 {
				t.Fatalf("%+v after the end", d)
			}
			if d.Call != nil && (d.Call.Fault == "") != json.Valid(d.Call.Args) {
				t.Fatalf("%+v", d.Call)
			}
			if d.Usage != nil {
				ends++
				return llm.ErrStopped
			}
			return nil
		})
	})
}
