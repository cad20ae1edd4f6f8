package chatcmd

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/llm/llmtest"
)

// A chat has its model read the beginning of the prompts once, and each model that is chosen
// later.
func TestChatWarmsEachModelOnce(t *testing.T) {
	t.Parallel()
	first, other := llmtest.StartPaced(t, 60, 10, nil), llmtest.StartPaced(t, 60, 10, nil)
	home := t.TempDir()
	apptest.Write(t, filepath.Join(home, "config", "config.yaml"),
		"provider: openai\nopenai: {base_url: \""+first.URL+
			"\"}\nproviders: {desk: {kind: openai, url: \""+other.URL+"\"}}\n")
	a, err := app.Open(t.Context(), apptest.Process(home, "LIFEHUB_PROVIDER=openai"),
		app.RunFlags{Notes: []string{apptest.Vault(t)}, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(t.Context())
	bg := startBackground(ctx, a, a.Agent(), a.Store.NewConversation())
	defer bg.wait()
	defer cancel()
	waitFor := func(server *llmtest.Paced) {
		for len(server.Requests()) == 0 && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	waitFor(first)
	if len(other.Requests()) > 0 {
		t.Error("another server is asked")
	}
	if err := a.Provider.SetModel(t.Context(), "desk/"+llmtest.PacedModel); err != nil {
		t.Fatal(err)
	}
	waitFor(other)
	for _, server := range []*llmtest.Paced{first, other} {
		if list := server.Requests(); len(list) != 1 || list[0].Generated != 1 {
			t.Errorf("asked %+v", list)
		}
	}
}
