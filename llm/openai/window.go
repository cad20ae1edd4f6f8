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

// advert is what a server tells about one of its models, in the fields of all
// servers that are known to tell something. Sizes are tokens; 0: not told.
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
		Slot    float64 `json:"n_ctx"` // llama.cpp
		Trained float64 `json:"n_ctx_train"`
	} `json:"meta"`
	Limits struct {
		Input float64 `json:"max_input_tokens"` // LiteLLM
		Mode  string  `json:"mode"`             // LiteLLM: chat, embedding, …
	} `json:"model_info"`

	listed  bool  // the list of models has it
	listErr error // there is no such list
}

func (a advert) name() string { return cmp.Or(a.ID, a.Model, a.Loaded) }

// window is what a request may fill.
func (a advert) window() int {
	return int(cmp.Or(a.MaxModelLen, a.LoadedContext, a.Context, a.ContextWindow, a.Meta.Slot, a.Limits.Input))
}

// most is what the model was made for: its server may have less room.
func (a advert) most() int { return int(cmp.Or(a.MaxContext, a.Meta.Trained)) }

// allocate is the window to use under a setting, which is 0 for none.
func (a advert) allocate(setting int) int {
	if told := a.window(); told > 0 {
		return min(cmp.Or(setting, told), told)
	}
	return cmp.Or(setting, min(llm.UsualWindow, cmp.Or(a.most(), llm.UsualWindow)))
}

// rejectsLong reports whether the server answers a prompt that is too long with
// an error. Those that load models at the first request, LM Studio and Ollama,
// cut it in silence; of one that tells no window nothing is known.
func (a advert) rejectsLong() bool { return a.window() > 0 && a.State == "" }

// chats reports whether the model is not known to be for embedding.
func (a advert) chats() bool {
	return !strings.Contains(strings.ToLower(a.name()+a.Type+a.Limits.Mode), "embed")
}

// listing is any answer of a server about its models.
type listing struct {
	Data     []advert `json:"data"`
	Running  []advert `json:"models"` // Ollama's /api/ps
	Settings struct {
		Slot float64 `json:"n_ctx"`
	} `json:"default_generation_settings"` // llama.cpp's /props
	Error *apiError `json:"error"` // LM Studio at an address that it does not know, with status 200
}

// sidePaths tell the windows of models that the list keeps silent about, from
// the base address on: LM Studio, LiteLLM, llama.cpp and Ollama.
var sidePaths = []string{"../api/v0/models", "model/info", "../props", "../api/ps"}

// sideTimeout bounds a question whose answer is of use and not needed.
const sideTimeout = 2 * time.Second

// list asks for the models of the server, which has so much time to answer.
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

// side asks all the side paths at once. running are the models that are in
// memory, where the server is Ollama; nil where it is not.
func (o *Provider) side(ctx context.Context) (told []advert, slot float64, running []advert) {
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
				answers[i] = listing{} // it is another server
			}
		})
	}
	asked.Wait()
	for _, a := range answers {
		told = append(told, a.Data...)
		slot = max(slot, a.Settings.Slot)
	}
	return told, slot, answers[len(answers)-1].Running
}

// about describes a model, its ID the name in requests; "" is the one that
// answers: the user's choice, else the first of the list that is in memory and
// chats, else the first that chats. The server is asked until it told once. With
// load a server that knows the window only of models in memory is made to load it.
func (o *Provider) about(ctx context.Context, name string, load bool) (advert, error) {
	select {
	case o.asking <- struct{}{}:
		defer func() { <-o.asking }()
	case <-ctx.Done():
		return advert{}, ctx.Err()
	}
	o.mu.Lock()
	name = cmp.Or(name, o.model)
	a, told := o.adverts[name]
	o.mu.Unlock()
	if !told {
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
		a.State = loaded // once is enough
		o.mu.Lock()
		o.adverts[a.ID] = a
		o.mu.Unlock()
	}
	return a, nil
}

// The states of a model, in LM Studio's words.
const (
	loaded    = "loaded"
	notLoaded = "not-loaded" // the first request loads it
)

// resolve asks the server about the model of this name; "": about that which
// it chooses.
func (o *Provider) resolve(ctx context.Context, name string) (advert, error) {
	timeout, chosen := llm.QuestionTimeout, name == ""
	if name != "" { // its window is of use, and can do without
		timeout = sideTimeout
	}
	listed, err := o.list(ctx, timeout)
	var status *llm.StatusError
	var silent *llm.SilentError
	switch {
	case name != "" && errors.As(err, &status): // there are servers without a list
	case name != "" && errors.As(err, &silent):
		return advert{ID: name}, nil // it is asked again before the next request
	case err != nil:
		return advert{ID: name}, err
	}
	of := func(name string) func(advert) bool {
		return func(a advert) bool { return llm.SameModel(a.name(), name) }
	}
	var (
		told, running []advert
		slot          float64
	)
	if i := slices.IndexFunc(listed, func(a advert) bool { return a.chats() && (name == "" || of(name)(a)) }); i < 0 || listed[i].window() == 0 {
		told, slot, running = o.side(ctx)
	}
	for i := range running {
		running[i].State = loaded
	}
	for _, better := range slices.Concat(told, running) {
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
			return advert{}, errors.New("the model server lists no chat model: load one there, or name one with -m")
		}
		name = listed[i].ID
	}
	found := advert{}
	if all := slices.Concat(listed, told); slices.ContainsFunc(all, of(name)) {
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

// load makes the server load a model, as the first request does otherwise,
// whose prompt has to fit a window that nobody knows before. What goes wrong
// is met by that request too.
func (o *Provider) load(ctx context.Context, name string) {
	body := &chatBody{Model: name, Messages: []chatMessage{{Role: string(llm.User), Content: "hi"}}, MaxTokens: 1}
	var answer struct{}
	_ = o.roundTrip(ctx, http.MethodPost, "chat/completions", body, &answer)
}

// forget has the server asked again about a model after an error that says
// that it was restarted since, with another window or another model. It
// reports whether the server now chooses the model again.
func (o *Provider) forget(name string, err error) (chooses bool) {
	var missing *llm.NotFoundError
	gone := errors.As(err, &missing)
	if !gone && !errors.Is(err, llm.ErrTooLong) {
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
