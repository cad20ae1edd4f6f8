package rag

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag/vectors"
)

// stores returns the stores of vectors; each test of one also runs on the other.
func stores(t *testing.T) map[string]func(t *testing.T) *vectors.ChromaServer {
	t.Helper()
	server := testenv.StartChroma(t)
	return map[string]func(t *testing.T) *vectors.ChromaServer{
		"files":  func(*testing.T) *vectors.ChromaServer { return nil },
		"Chroma": func(*testing.T) *vectors.ChromaServer { return &vectors.ChromaServer{URL: server.URL} },
	}
}

// eachStore runs a test with files and with a Chroma server.
func eachStore(t *testing.T, test func(t *testing.T, dir string, store *vectors.ChromaServer)) {
	t.Helper()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) { test(t, namedVault(t, strings.ReplaceAll(t.Name(), "/", "-")), store(t)) })
	}
}

// namedVault creates an empty folder with this name.
func namedVault(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openWith(t *testing.T, dir, index string, store *vectors.ChromaServer) (*notes.Folder, *Index) {
	t.Helper()
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(index, Options{Vault: dir, Chroma: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(x.Close(), folder.Close()); err != nil {
			t.Error(err)
		}
	})
	return folder, x
}

func TestSyncAndSearchOnBothStores(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	eachStore(t, func(t *testing.T, dir string, store *vectors.ChromaServer) {
		for i := range 60 {
			write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
				i): fmt.Sprintf("---\ntags: [t%d]\n---\n# Note %d\n\nmarker%d stands here. %s\n",
				i%3, i, i, prose(i, 60))})
		}
		index := t.TempDir()
		folder, x := openWith(t, dir, index, store)
		embedder := &bagEmbedder{name: "bag"}
		first := syncNow(t, x, folder, embedder)
		if first.Embedded != first.Passages || len(first.Warnings) > 0 {
			t.Fatalf("embedded %d of %d passages, warnings %q", first.Embedded, first.Passages, first.Warnings)
		}
		if again := syncNow(t, x, folder, embedder); again.Embedded != 0 || len(again.Notes) > 0 {
			t.Errorf("the second sync embedded %d and did %q", again.Embedded, whats(again))
		}
		found, err := x.Search(t.Context(), Query{Text: "marker7 stands " + prose(7, 20)})
		if err != nil || found.Coverage.Embedder != "bag" || len(found.Passages) == 0 ||
			found.Passages[0].Path != "note07.md" {
			t.Errorf("found %+v, %v", found, err)
		}
		found, err = x.Search(t.Context(), Query{Text: prose(7, 40), Tags: []string{"t1"}})
		if err != nil || found.Coverage.Embedder != "bag" || len(found.Passages) == 0 ||
			found.Passages[0].Path != "note07.md" {
			t.Errorf("with a tag, found %+v, %v", found, err)
		}
		write(t, dir, map[string]string{"note03.md": "# Other\n\nquite another text\n"})
		rename(t, dir, "note04.md", "moved.md")
		remove(t, dir, "note05.md")
		changes := syncNow(t, x, folder, embedder)
		if got, want := whats(changes), []string{
			"moved moved.md from note04.md", "changed note03.md",
			"removed note05.md",
		}; !slices.Equal(got, want) {
			t.Errorf("changes %q, want %q", got, want)
		}
		if changes.Embedded != 1 {
			t.Errorf("embedded %d texts for one that is new", changes.Embedded)
		}
		status, err := x.Status(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range status {
			if s.Embedded != s.Passages {
				t.Errorf("%+v", s)
			}
		}
		// Another model has its own collection, and the old one remains.
		write(t, dir, map[string]string{"long.md": "# Long\n\n" + prose(99, 150) + "\n"})
		short := &bagEmbedder{name: "use-lite"}
		if c := syncNow(t, x, folder, short); c.Embedded != c.Passages {
			t.Errorf("a model of short texts embedded %d texts of %d passages", c.Embedded, c.Passages)
		}
		if c := syncNow(t, x, folder, short); c.Embedded != 0 {
			t.Errorf("again, %d were embedded", c.Embedded)
		}
		found, err = x.Search(t.Context(), Query{Text: prose(99, 40)})
		if err != nil || found.Coverage.Embedder != "use-lite" || len(found.Passages) == 0 ||
			found.Passages[0].Path != "long.md" {
			t.Errorf("by another model, found %+v, %v", found, err)
		}
		syncNow(t, x, folder, embedder) // the long note
		if c := syncNow(t, x, folder, embedder); c.Embedded != 0 {
			t.Errorf("back at the first model, %d were embedded again", c.Embedded)
		}
	})
}

func TestTwoMachinesShareACollection(t *testing.T) {
	t.Parallel()
	server := testenv.StartChroma(t)
	store := &vectors.ChromaServer{URL: server.URL}
	here, there := namedVault(t, "team"), namedVault(t, "team")
	for i := range 40 {
		text := fmt.Sprintf("# Note %d\n\nmarker%d %s\n", i, i, prose(i, 60))
		for _, dir := range []string{here, there} {
			write(t, dir, map[string]string{fmt.Sprintf("note%02d.md", i): text})
		}
	}
	folderHere, xHere := openWith(t, here, t.TempDir(), store)
	folderThere, xThere := openWith(t, there, t.TempDir(), store)
	embedder := &bagEmbedder{name: "bag"}
	if c := syncNow(t, xHere, folderHere, embedder); c.Embedded != 40 {
		t.Fatalf("the first machine embedded %d", c.Embedded)
	}
	if c := syncNow(t, xThere, folderThere, embedder); c.Embedded != 0 {
		t.Errorf("the second machine embedded %d texts that the first had", c.Embedded)
	}
	found, err := xThere.Search(t.Context(), Query{Text: prose(7, 30)})
	if err != nil || found.Coverage.Embedder != "bag" || len(found.Passages) == 0 ||
		found.Passages[0].Path != "note07.md" {
		t.Errorf("on the second machine, found %+v, %v", found, err)
	}

	t.Run("both index at once", func(t *testing.T) {
		for i := 40; i < 80; i++ {
			for _, dir := range []string{here, there} {
				write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
					i): fmt.Sprintf("# Note %d\n\nmarker%d %s\n", i, i, prose(i, 60))})
			}
		}
		var both sync.WaitGroup
		for x, folder := range map[*Index]*notes.Folder{xHere: folderHere, xThere: folderThere} {
			both.Go(func() {
				if _, err := x.Sync(t.Context(), folder, &bagEmbedder{name: "bag"}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		wholeCollection(t, xHere, 80)
	})

	t.Run("one machine deletes, the other has not heard of it", func(t *testing.T) {
		for i := range 70 {
			remove(t, here, fmt.Sprintf("note%02d.md", i))
		}
		syncNow(t, xHere, folderHere, embedder)
		write(t, there, map[string]string{"new.md": "# New\n\nmakes the other look\n"})
		syncNow(t, xThere, folderThere, embedder)
		status, err := xThere.Status(t.Context(), folderThere)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range status {
			if s.Embedded != s.Passages || s.Passages == 0 {
				t.Errorf("the other machine has %+v", s)
			}
		}
	})
}

// wholeCollection checks that the server has this many vectors, without duplicates.
func wholeCollection(t *testing.T, x *Index, want int) {
	t.Helper()
	c, err := x.vectors.Open("bag")
	if err != nil {
		t.Fatal(err)
	}
	if count, _, err := c.Size(t.Context()); err != nil || count != want {
		t.Errorf("the collection holds %d vectors, %v; want %d", count, err, want)
	}
}

func TestKeywordsAnswerWhileChromaIsDown(t *testing.T) {
	t.Parallel()
	server := testenv.StartChroma(t)
	dir := t.TempDir()
	for i := range 60 {
		write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
			i): fmt.Sprintf("# Note %d\n\nmarker%d %s\n", i, i, prose(i, 60))})
	}
	folder, x := openWith(t, dir, t.TempDir(), &vectors.ChromaServer{URL: server.URL})
	embedder := &bagEmbedder{name: "bag"}
	// Kill a sync in the middle, so that some vectors are saved.
	batches := 0
	embedder.spoil = func(string) ([]float32, error) {
		if batches++; batches == embedBatch+4 {
			server.Kill()
		}
		return nil, nil
	}
	changes := syncNow(t, x, folder, embedder)
	if changes.Embedded != embedBatch || len(changes.Warnings) != 1 ||
		!strings.Contains(changes.Warnings[0], "Chroma server at "+server.URL) {
		t.Errorf("embedded %d, warnings %q; want the first batch and one warning", changes.Embedded, changes.Warnings)
	}
	byWords := func(when string) {
		t.Helper()
		found, err := x.Search(t.Context(), Query{Text: "marker7"})
		if err != nil || len(found.Passages) == 0 || found.Passages[0].Path != "note07.md" {
			t.Errorf("%s, found %+v, %v", when, found.Passages, err)
		}
		coverage, err := x.Coverage(t.Context())
		for _, name := range []string{found.Coverage.Embedder, coverage.Embedder} {
			if err != nil || !strings.HasPrefix(name, keywordsOnly+": ask the Chroma server") {
				t.Errorf("%s, it says %q, %v", when, name, err)
			}
		}
	}
	byWords("while the server is down")
	if changes := syncNow(t, x, folder, embedder); changes.Embedded != 0 || len(changes.Warnings) != 1 {
		t.Errorf("a sync without the server: %+v", changes)
	}
	if _, err := x.Status(t.Context(), folder); err != nil {
		t.Errorf("status without the server: %v", err)
	}
	embedder.spoil, embedder.texts = nil, 0
	server.Start(t)
	changes = syncNow(t, x, folder, embedder)
	if changes.Embedded != 60-embedBatch || len(changes.Warnings) > 0 {
		t.Errorf("after the server came back: embedded %d, warnings %q", changes.Embedded, changes.Warnings)
	}
	wholeCollection(t, x, 60)
	found, err := x.Search(t.Context(), Query{Text: prose(7, 30)})
	if err != nil || found.Coverage.Embedder != "bag" {
		t.Errorf("after the server came back, found %+v, %v", found.Coverage, err)
	}
	server.Kill()
	byWords("after it went away again")
}

func TestCollectionDeletedByOthersIsRebuilt(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	server := testenv.StartChroma(t)
	dir := t.TempDir()
	for i := range 40 {
		write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
			i): fmt.Sprintf("# Note %d\n\nmarker%d %s\n", i, i, prose(i, 60))})
	}
	folder, x := openWith(t, dir, t.TempDir(), &vectors.ChromaServer{URL: server.URL})
	embedder := &bagEmbedder{name: "bag"}
	syncNow(t, x, folder, embedder)
	collections := server.URL + "/api/v2/tenants/default_tenant/databases/default_database/collections"
	var all []struct{ ID, Name string }
	askChroma(t, http.MethodGet, collections, "", &all)
	askChroma(t, http.MethodDelete, collections+"/"+all[0].Name, "", nil)
	for range 2 {
		found, err := x.Search(t.Context(), Query{Text: "marker7 " + prose(7, 30)})
		if err != nil || len(found.Passages) == 0 || !strings.HasPrefix(found.Coverage.Embedder, keywordsOnly) {
			t.Errorf("without its collection, found %+v, %v", found, err)
		}
	}
	if changes := syncNow(t, x, folder, embedder); changes.Embedded != 40 || len(changes.Warnings) > 0 {
		t.Errorf("embedded %d again, warnings %q", changes.Embedded, changes.Warnings)
	}
	wholeCollection(t, x, 40)
	// Another program deletes some of the vectors.
	askChroma(t, http.MethodGet, collections, "", &all)
	var some struct {
		IDs []string `json:"ids"`
	}
	askChroma(t, http.MethodPost, collections+"/"+all[0].ID+"/get", `{"limit": 9, "include": []}`, &some)
	gone, err := json.Marshal(some)
	if err != nil {
		t.Fatal(err)
	}
	askChroma(t, http.MethodPost, collections+"/"+all[0].ID+"/delete", string(gone), nil)
	if _, err := x.Search(t.Context(), Query{Text: prose(7, 30)}); err != nil {
		t.Error(err)
	}
	if changes := syncNow(t, x, folder, embedder); changes.Embedded != 9 {
		t.Errorf("of nine that were taken away %d came back", changes.Embedded)
	}
}

// askChroma makes a request as another program would.
func askChroma(t *testing.T, method, url, body string, out any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(response.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s: %s, %v", method, url, response.Status, text, err)
	}
}

// TestUnexpectedChromaServersAreReported connects to servers that are not Chroma, or that refuse.
func TestUnexpectedChromaServersAreReported(t *testing.T) {
	t.Parallel()
	const token = "s3cret-token"
	cases := map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"not Chroma": {func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, "API version"},
		//nolint:errcheck // a test's page
		"a web page": {
			func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hello</html>") },
			"unexpected answer",
		},
		"an older API": {
			answerWith(http.StatusGone, `{"error":"Unimplemented","message":"The v1 API is deprecated"}`),
			"deprecated",
		},
		"a wrong token": {
			answerWith(http.StatusUnauthorized, `{"error":"AuthError","message":"`+token+` is unknown"}`),
			"rag.chroma_token",
		},
		"a full disk": {
			answerWith(http.StatusInternalServerError, `{"error":"InternalError","message":"disk full"}`),
			"disk full",
		},
		"a redirect to somewhere else": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				panic("the token went along")
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "Temporary Redirect"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			address := strings.Replace(server.URL, "http://", "http://ana:pass-w0rd@", 1)
			dir := t.TempDir()
			write(t, dir, map[string]string{"a.md": "# A\n\napples and pears\n"})
			folder, x := openWith(t, dir, t.TempDir(), &vectors.ChromaServer{URL: address, Token: token})
			changes := syncNow(t, x, folder, &bagEmbedder{name: "bag"})
			if len(changes.Warnings) != 1 || !strings.Contains(changes.Warnings[0], c.want) {
				t.Errorf("warnings %q, want one that says %q", changes.Warnings, c.want)
			}
			found, err := x.Search(t.Context(), Query{Text: "apples"})
			if err != nil || len(found.Passages) != 1 || !strings.HasPrefix(found.Coverage.Embedder, keywordsOnly) {
				t.Errorf("found %+v, %v", found, err)
			}
			if all := fmt.Sprint(changes, found); strings.Contains(all, token) || strings.Contains(all, "pass-w0rd") {
				t.Errorf("a secret was told: %s", all)
			}
		})
	}
	for _, address := range []string{"", "localhost:8000", "ftp://host", "http://"} {
		if _, err := Open(t.TempDir(), Options{
			Vault:  t.TempDir(),
			Chroma: &vectors.ChromaServer{URL: address},
		}); err == nil {
			t.Errorf("%q was taken for the address of a server", address)
		}
	}
}

func answerWith(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, text) //nolint:errcheck // a test's page
	}
}
