package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// An Ollama server behind this protocol cuts a prompt that is longer than its
// window, which is 4096 tokens unless its owner said otherwise. Its own
// protocol, beside /v1, tells the window of a model that is loaded.

// askWindow asks for the window of a model that has just answered, once a
// model. A server that is not Ollama does not know the question.
func (o *OpenAI) askWindow(ctx context.Context, model string) {
	o.mu.Lock()
	asked := o.asked[model]
	o.asked[model] = true
	o.mu.Unlock()
	if asked {
		return
	}
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base.JoinPath("..", "api", "ps").String(), nil)
	if err != nil {
		return
	}
	res, err := o.client.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	var loaded struct {
		Models []struct {
			Name    string `json:"name"`
			Context int    `json:"context_length"`
		} `json:"models"`
	}
	const most = 1 << 20
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, most)).Decode(&loaded) != nil {
		return
	}
	for _, m := range loaded.Models {
		if sameModel(m.Name, model) && m.Context > 0 {
			o.mu.Lock()
			o.bounds[model] = m.Context
			o.mu.Unlock()
		}
	}
}
