package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"lifehub/llm"
)

// advert is a server's description of one of its models, with the union of the
// fields of known servers. Sizes are tokens; 0 means not reported.
type advert struct {
	ID   string `json:"id"`
	Type string `json:"type"` // LM Studio: llm, vlm, embeddings

	MaxModelLen   float64 `json:"max_model_len"`  // vLLM, SGLang
	Context       float64 `json:"context_length"` // routers
	ContextWindow float64 `json:"context_window"` // Groq
	Meta          struct {
		Slot       float64 `json:"n_ctx"` // llama.cpp
		Trained    float64 `json:"n_ctx_train"`
		Parameters float64 `json:"n_params"`
	} `json:"meta"`

	listed  bool  // it is in the list of models
	listErr error // error of requesting that list
}

// window returns how many tokens a request may hold.
func (a advert) window() int {
	return int(cmp.Or(a.MaxModelLen, a.Context, a.ContextWindow, a.Meta.Slot))
}

// allocate returns the window to use given the configured one, 0 for none.
func (a advert) allocate(setting int) int {
	if window := a.window(); window > 0 {
		return min(cmp.Or(setting, window), window)
	}
	return cmp.Or(setting, min(llm.UsualWindow, cmp.Or(int(a.Meta.Trained), llm.UsualWindow)))
}

// isLlamaCpp reports whether the server is that of llama.cpp, the only one with this
// part of a description.
func (a advert) isLlamaCpp() bool { return a.Meta.Trained > 0 }

// chats reports whether the model may be a chat model, rather than one for
// embedding.
func (a advert) chats() bool {
	return !strings.Contains(strings.ToLower(a.ID+a.Type), "embed")
}

// listing is the response about models.
type listing struct {
	Data  []advert        `json:"data"`
	Error json.RawMessage `json:"error"` // LM Studio answers an unknown path with status 200
}

// sideTimeout bounds requests for optional information.
const sideTimeout = 2 * time.Second

// list requests the models of the server.
func (o *Provider) list(ctx context.Context, timeout time.Duration) ([]advert, error) {
	var all listing
	_, err := llm.Again(ctx, func() (struct{}, error) {
		return llm.Within(ctx, timeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, o.roundTrip(ctx, http.MethodGet, "models", nil, &all)
		})
	})
	if failure := llm.ErrorText(all.Error); err == nil && failure != "" {
		err = &llm.StatusError{Code: http.StatusOK, Message: llm.Short(failure)}
	}
	return slices.DeleteFunc(all.Data, func(a advert) bool { return !llm.IsName(a.ID) }), err
}

// about describes the model that requests call name. An empty name means the
// model that answers: the user's choice, else the first chat model. Answers are
// cached.
func (o *Provider) about(ctx context.Context, name string) (advert, error) {
	select {
	case o.asking <- struct{}{}:
		defer func() { <-o.asking }()
	case <-ctx.Done():
		return advert{}, ctx.Err()
	}
	o.mu.Lock()
	name = cmp.Or(name, o.model)
	a, ok := o.adverts[name]
	o.mu.Unlock()
	if ok {
		return a, nil
	}
	return o.resolve(ctx, name)
}

// resolve queries the server about a model. An empty name means the one that
// resolve chooses from the list.
func (o *Provider) resolve(ctx context.Context, name string) (advert, error) {
	timeout, chosen := llm.QuestionTimeout, name == ""
	if name != "" { // only its window is missing, which is optional
		timeout = sideTimeout
	}
	listed, err := o.list(ctx, timeout)
	var status *llm.StatusError
	var silent *llm.SilentError
	switch {
	case name != "" && errors.As(err, &status): // some servers have no list
	case name != "" && errors.As(err, &silent):
		return advert{ID: name}, nil // not cached, so the next request asks again
	case err != nil:
		return advert{ID: name}, err
	}
	found := advert{ID: name}
	i := slices.IndexFunc(listed, func(a advert) bool { return name == "" && a.chats() || llm.SameModel(a.ID, name) })
	switch {
	case i >= 0:
		found = listed[i]
		found.ID, found.listed = cmp.Or(name, found.ID), true
	case name == "":
		return advert{}, errors.New("the model server lists no chat model; load one there or choose one with -m")
	}
	found.listErr = err
	o.mu.Lock()
	defer o.mu.Unlock()
	if chosen {
		o.model = cmp.Or(o.model, found.ID)
	}
	o.adverts[found.ID] = found
	return found, nil
}

// forget clears the cached description of a model if the server refuses a request, because it may have
// been restarted with another window or model; the next request asks again.
func (o *Provider) forget(name string, err error) {
	var missing *llm.NotFoundError
	gone := errors.As(err, &missing)
	var status *llm.StatusError
	if !gone && !(errors.As(err, &status) && status.Refused()) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.adverts, name)
	if gone && !o.named && o.model == name {
		o.model = ""
	}
}
