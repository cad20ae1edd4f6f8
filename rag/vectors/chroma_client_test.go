package vectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestTokenIsSentToTheServer(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent = []string{r.Header.Get("X-Chroma-Token"), r.Header.Get("Authorization"), r.URL.Path}
		http.NotFound(w, r)
	}))
	defer server.Close()
	store, err := NewChroma(ChromaServer{URL: server.URL, Token: "t", Tenant: "my tenant", Database: "notes"},
		filepath.Join(os.TempDir(), "笔记"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.State(t.Context(), "model"); err == nil {
		t.Error("a server that knows nothing was asked without an error")
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{"t", "Bearer t", "/api/v2/tenants/my tenant/databases/notes/collections/" +
		store.collectionName("model")}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

func TestRequestToChromaIsNotAborted(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	hungUp := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // a hang-up shows only once it is read
		giveUp()
		select {
		case <-r.Context().Done():
			hungUp <- true
		case <-time.After(50 * time.Millisecond):
			hungUp <- false
		}
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	chroma, err := newChromaClient(ChromaServer{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := chroma.ask(ctx, http.MethodPost, "collections", map[string]string{"name": "x"},
		nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a request given up ends with %v", err)
	}
	if <-hungUp {
		t.Error("the server was hung up on before it had answered")
	}
}
