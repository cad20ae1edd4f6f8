package openai

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/llm"
)

// advert is a server's description of one of its models, with the union of the
// fields of known servers. Sizes are tokens; 0 means not reported.
type advert struct {
	ID     string `json:"id"`
	Model  string `json:"model_name"` // LiteLLM's /model/info
	Loaded string `json:"name"`       // Ollama's /api/ps
	Type   string `json:"type"`       // LM Studio: llm, vlm, embeddings
	State  string `json:"state"`      // LM Studio: loaded, not-loaded

	MaxModelLen   float64 `json:"max_model_len"`         // vLLM, SGLang
	LoadedContext float64 `json:"loaded_context_length"` // LM Studio
	Context       float64 `json:"context_length"`        // routers, Ollama's /api/ps
	ContextWindow float64 `json:"context_window"`        // Groq
	MaxContext    float64 `json:"max_context_length"`    // LM Studio: of a model that is not loaded; Mistral
	Meta          struct {
		Slot       float64 `json:"n_ctx"` // llama.cpp
		Trained    float64 `json:"n_ctx_train"`
		Parameters float64 `json:"n_params"`
	} `json:"meta"`
	Limits struct {
		Input float64 `json:"max_input_tokens"` // LiteLLM
		Mode  string  `json:"mode"`             // LiteLLM: chat, embedding, …
	} `json:"model_info"`

	listed  bool  // it is in the list of models
	listErr error // error of requesting that list
}

func (a advert) name() string { return cmp.Or(a.ID, a.Model, a.Loaded) }

// window returns how many tokens a request may hold.
func (a advert) window() int {
	return int(cmp.Or(a.MaxModelLen, a.LoadedContext, a.Context, a.ContextWindow, a.Meta.Slot, a.Limits.Input))
}

// most returns the context that the model was trained for; the server may support
// less.
func (a advert) most() int { return int(cmp.Or(a.MaxContext, a.Meta.Trained)) }

// allocate returns the window to use given the configured one, 0 for none.
func (a advert) allocate(setting int) int {
	if window := a.window(); window > 0 {
		return min(cmp.Or(setting, window), window)
	}
	return cmp.Or(setting, min(llm.UsualWindow, cmp.Or(a.most(), llm.UsualWindow)))
}

// isLlamaCpp reports whether the server is that of llama.cpp, the only one with this
// part of a description.
func (a advert) isLlamaCpp() bool { return a.Meta.Trained > 0 }

// rejectsLong reports whether the server is known to reject a prompt that is too
// long. LM Studio and Ollama, which load models on demand, silently truncate it;
// a server that reports no window may do either.
func (a advert) rejectsLong() bool { return a.window() > 0 && a.State == "" }

// chats reports whether the model may be a chat model, rather than one for
// embedding.
func (a advert) chats() bool {
	return !strings.Contains(strings.ToLower(a.name()+a.Type+a.Limits.Mode), "embed")
}

// listing is any response about models.
type listing struct {
	Data     []advert `json:"data"`
	Running  []advert `json:"models"` // Ollama's /api/ps
	Settings struct {
		Slot float64 `json:"n_ctx"`
	} `json:"default_generation_settings"` // llama.cpp's /props
	Error *apiError `json:"error"` // LM Studio answers an unknown path with status 200
}

// sidePaths are the paths, relative to the base address, at which LM Studio,
// LiteLLM, llama.cpp and Ollama report windows that the list of models lacks.
var sidePaths = []string{"../api/v0/models", "model/info", "../props", "../api/ps"}

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
	if err == nil && all.Error != nil {
		err = &llm.StatusError{Code: http.StatusOK, Message: llm.Short(all.Error.Message)}
	}
	return slices.DeleteFunc(all.Data, func(a advert) bool { return !llm.IsName(a.name()) }), err
}

// side queries all sidePaths concurrently. running lists the models in memory if
// the server is Ollama, and is nil otherwise.
func (o *Provider) side(ctx context.Context) (adverts []advert, slot float64, running []advert) {
	ctx, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	answers := make([]listing, len(sidePaths))
	var asked sync.WaitGroup
	for i, path := range sidePaths {
		asked.Go(func() {
			defer func() {
				if fault := recover(); fault != nil {
					slog.Error("ask for the window", "path", path, "fault", fault)
				}
			}()
			if o.roundTrip(ctx, http.MethodGet, path, nil, &answers[i]) != nil {
				answers[i] = listing{} // not a server of this kind
			}
		})
	}
	asked.Wait()
	for _, a := range answers {
		adverts = append(adverts, a.Data...)
		slot = max(slot, a.Settings.Slot)
	}
	return adverts, slot, answers[len(answers)-1].Running
}

// about describes the model that requests call name. An empty name means the
// model that answers: the user's choice, else the first chat model in memory,
// else the first chat model. Answers are cached. If load is set and the server
// reports windows only for models in memory, the model is loaded first.
func (o *Provider) about(ctx context.Context, name string, load bool) (advert, error) {
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
	if !ok {
		var err error
		if a, err = o.resolve(ctx, name); err != nil {
			return a, err
		}
	}
	if load && a.State == notLoaded && a.window() == 0 {
		o.load(ctx, a.ID)
		var err error
		if a, err = o.resolve(ctx, a.ID); err != nil {
			return a, err
		}
		a.State = loaded // load it only once
		o.mu.Lock()
		o.adverts[a.ID] = a
		o.mu.Unlock()
	}
	return a, nil
}

// States of a model, as LM Studio names them.
const (
	loaded    = "loaded"
	notLoaded = "not-loaded" // loaded by the first request
)

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
	of := func(name string) func(advert) bool {
		return func(a advert) bool { return llm.SameModel(a.name(), name) }
	}
	var (
		adverts, running []advert
		slot             float64
	)
	if i := slices.IndexFunc(listed, func(a advert) bool { return a.chats() && (name == "" || of(name)(a)) }); i < 0 || listed[i].window() == 0 {
		adverts, slot, running = o.side(ctx)
	}
	for i := range running {
		running[i].State = loaded
	}
	for _, better := range slices.Concat(adverts, running) {
		for i := range listed {
			if of(better.name())(listed[i]) {
				better.ID = listed[i].ID
				better.Meta = listed[i].Meta
				listed[i] = better
			}
		}
	}
	if name == "" {
		i := slices.IndexFunc(listed, func(a advert) bool { return a.chats() && a.State == loaded })
		if i < 0 {
			i = slices.IndexFunc(listed, advert.chats)
		}
		if i < 0 {
			return advert{}, errors.New("the model server lists no chat model; load one there or choose one with -m")
		}
		name = listed[i].ID
	}
	found := advert{}
	if all := slices.Concat(listed, adverts); slices.ContainsFunc(all, of(name)) {
		found = all[slices.IndexFunc(all, of(name))]
	}
	found.ID, found.listErr = name, err
	found.listed = slices.ContainsFunc(listed, of(name))
	if slot > 0 {
		found.Meta.Slot = slot
	}
	if running != nil && found.window() == 0 {
		found.State = notLoaded
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if chosen {
		o.model = cmp.Or(o.model, name)
	}
	o.adverts[name] = found
	return found, nil
}

// load makes the server load a model, as the first request would. That request
// needs the window to fit its prompt, and the window is only known after loading.
// Errors are ignored, because the request would meet them too.
func (o *Provider) load(ctx context.Context, name string) {
	body := &chatBody{Model: name, Messages: []chatMessage{{Role: string(llm.User), Content: "hi"}}, MaxTokens: 1}
	var answer struct{}
	_ = o.roundTrip(ctx, http.MethodPost, "chat/completions", body, &answer)
}

// forget clears the cached description of a model if the server refuses a request,
// because it may have been restarted with another window or model. It reports whether the model
// must be chosen again.
func (o *Provider) forget(name string, err error) (chooses bool) {
	var missing *llm.NotFoundError
	gone := errors.As(err, &missing)
	var status *llm.StatusError
	if !gone && !(errors.As(err, &status) && status.Refused()) {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.adverts, name)
	if gone && !o.named && o.model == name {
		o.model = ""
	}
	return gone && !o.named
}
