package vectors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ChromaServer describes a server that stores the vectors of a vault, so that several
// machines share them. Terms and texts stay on each machine; the server gets only
// vectors and hashes of the embedded texts. Why: docs/design/vectors.md.
type ChromaServer struct {
	URL      string // of the server, as in http://127.0.0.1:8000
	Tenant   string // "": default_tenant
	Database string // "": default_database
	Token    string // "": none
}

// Check asks the server for its collections, and returns an error if it cannot be used.
func (c ChromaServer) Check(ctx context.Context) error {
	server, err := newChromaClient(c)
	if err != nil {
		return err
	}
	var count int
	return server.ask(ctx, http.MethodGet, "collections_count", nil, &count)
}

// Chroma has one collection per model on a Chroma server.
type Chroma struct {
	server *chromaClient
	vault  string // the folder's name, which identifies it on all machines that share it
	owner  string // marks the records written by this machine for this folder
}

func NewChroma(c ChromaServer, vault string) (*Chroma, error) {
	server, err := newChromaClient(c)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this machine: %w", err)
	}
	owner := sha256.Sum256([]byte(host + "\x00" + vault))
	return &Chroma{server: server, vault: filepath.Base(vault), owner: hex.EncodeToString(owner[:8])}, nil
}

// notInNames matches the characters of a vault's name that a collection's name cannot have.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// collectionName returns a distinct name for each vault and model, which begins with
// their readable parts.
func (s *Chroma) collectionName(model string) string {
	sum := sha256.Sum256([]byte(s.vault + "\x00" + model))
	readable := strings.Trim(notInNames.ReplaceAllString(s.vault, "-"), "-")
	readable = readable[:min(len(readable), 40)]
	return strings.Join(strings.FieldsFunc("lifehub "+readable+" "+hex.EncodeToString(sum[:8]),
		func(r rune) bool { return r == ' ' }), "-")
}

func (s *Chroma) Open(model string) (Collection, error) {
	return &chromaCollection{Chroma: s, model: model}, nil
}

func (s *Chroma) State(ctx context.Context, model string) (string, error) {
	c := &chromaCollection{Chroma: s, model: model}
	if err := c.look(ctx); err != nil {
		return "", err
	}
	return fmt.Sprint("chroma ", c.at.ID, " ", c.at.count), nil
}

// chromaCollection is a collection on a Chroma server.
//
// A vector's ID is its key, so machines that index the same notes write the same records,
// and each text is embedded only once. A machine removes only records that it wrote, since
// the others may not have noticed yet that a note changed. If another machine still needs
// a removed record, its next sync finds it missing.
type chromaCollection struct {
	*Chroma
	model string

	mu sync.Mutex  // guards the following; not held during requests
	at chromaPlace // zero: not looked up yet
}

// chromaPlace is a collection as the server describes it.
type chromaPlace struct {
	ID        string         `json:"id"`
	Dimension int            `json:"dimension"` // 0: nothing is embedded yet
	Metadata  map[string]any `json:"metadata"`
	Settings  map[string]struct {
		Space string `json:"space"`
	} `json:"configuration_json"`
	count int
}

// look asks the server about the collection.
func (c *chromaCollection) look(ctx context.Context) error {
	var at chromaPlace
	err := c.server.ask(ctx, http.MethodGet, "collections/"+c.collectionName(c.model), nil, &at)
	if isGoneFromChroma(err) {
		at, err = chromaPlace{}, nil // the first put creates it
	}
	if err == nil && at.ID != "" {
		err = errors.Join(at.check(), c.server.ask(ctx, http.MethodGet, "collections/"+at.ID+"/count", nil, &at.count))
	}
	if err != nil {
		return err
	}
	c.remember(at)
	return nil
}

// check rejects a collection that uses another distance than expected.
func (p chromaPlace) check() error {
	for _, kind := range []string{"hnsw", "spann"} {
		if space := p.Settings[kind].Space; space != "" && space != "cosine" {
			return &UnavailableError{Err: fmt.Errorf("the collection on the Chroma server compares by %s, not by cosine", space)}
		}
	}
	return nil
}

func (c *chromaCollection) remember(at chromaPlace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// place returns the collection, which is looked up when first needed. An empty ID means
// that it does not exist yet.
func (c *chromaCollection) place(ctx context.Context) (chromaPlace, error) {
	c.mu.Lock()
	at := c.at
	c.mu.Unlock()
	if at.ID != "" {
		return at, nil
	}
	err := c.look(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at, err
}

// post sends a request to the collection. If the collection is gone, the cached
// description is dropped.
func (c *chromaCollection) post(ctx context.Context, at chromaPlace, what string, in, out any) error {
	err := c.server.ask(ctx, http.MethodPost, "collections/"+at.ID+"/"+what, in, out)
	if isGoneFromChroma(err) {
		c.remember(chromaPlace{})
	}
	return err
}

func (c *chromaCollection) Size(ctx context.Context) (count, dimension int, err error) {
	at, err := c.place(ctx)
	return at.count, at.Dimension, err
}

// idPage is the number of records per request, the maximum of Chroma's cloud.
const idPage = 300

func (c *chromaCollection) Missing(ctx context.Context, keys []Key) ([]Key, error) {
	if err := c.look(ctx); err != nil {
		return nil, err
	}
	at, err := c.place(ctx)
	if err != nil || at.ID == "" {
		return keys, err
	}
	have, err := c.present(ctx, at, keys)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return have[k] }), nil
}

func (c *chromaCollection) Get(ctx context.Context, keys []Key) ([][]float32, error) {
	at, err := c.place(ctx)
	if err != nil || at.ID == "" {
		return nil, err
	}
	var found [][]float32
	for page := range slices.Chunk(keys, idPage) {
		var got records
		if err := c.post(ctx, at, "get", get{IDs: idsOf(page), Include: []string{"embeddings"}}, &got); err != nil {
			return nil, err
		}
		found = append(found, got.Embeddings...)
	}
	return found, nil
}

// present returns the keys that the server has.
func (c *chromaCollection) present(ctx context.Context, at chromaPlace, keys []Key) (map[Key]bool, error) {
	have := make(map[Key]bool, len(keys))
	for page := range slices.Chunk(keys, idPage) {
		var got records
		if err := c.post(ctx, at, "get", get{IDs: idsOf(page), Include: []string{}}, &got); err != nil {
			return nil, err
		}
		for _, id := range got.IDs {
			if k, err := keyOfID(id); err == nil { // otherwise not LifeHub's record
				have[k] = true
			}
		}
	}
	return have, nil
}

func (c *chromaCollection) Put(ctx context.Context, keys []Key, embeddings [][]float32) error {
	if len(keys) == 0 {
		return nil
	}
	at, err := c.place(ctx)
	if err != nil {
		return err
	}
	if at.ID == "" {
		if at, err = c.create(ctx); err != nil {
			return err
		}
	}
	mark := map[string]string{ownerMark: c.owner}
	in := upsert{IDs: idsOf(keys), Embeddings: embeddings}
	for range keys {
		in.Metadatas = append(in.Metadatas, mark)
	}
	if err := c.post(ctx, at, "upsert", in, nil); err != nil {
		return err
	}
	at.count += len(keys) // until the server is asked again
	at.Dimension = len(embeddings[0])
	c.remember(at)
	return nil
}

// ownerMark is the metadata key for the machine that wrote a record.
const ownerMark = "by"

// create creates the collection, or finds the one that another machine created. The
// graph is denser than Chroma's default, which misses some of the nearest.
func (c *chromaCollection) create(ctx context.Context) (chromaPlace, error) {
	var at chromaPlace
	err := c.server.ask(ctx, http.MethodPost, "collections", map[string]any{
		"name":          c.collectionName(c.model),
		"get_or_create": true,
		"metadata":      map[string]string{"vault": c.vault, "model": c.model},
		"configuration": map[string]any{"hnsw": map[string]any{
			"space": "cosine", "ef_construction": 200,
			"ef_search": 400, "max_neighbors": 32,
		}},
	}, &at)
	if err == nil {
		err = at.check()
	}
	return at, err
}

func (c *chromaCollection) Forget(ctx context.Context, used map[Key]bool) error {
	at, err := c.place(ctx)
	if err != nil || at.ID == "" {
		return err
	}
	if !ManyUnused(at.count-len(used), at.count) {
		return nil
	}
	var unused []string
	for offset, more := 0, true; more; offset += idPage {
		var mine records
		in := get{Where: map[string]string{ownerMark: c.owner}, Limit: idPage, Offset: offset, Include: []string{}}
		if err := c.post(ctx, at, "get", in, &mine); err != nil {
			return err
		}
		for _, id := range mine.IDs {
			if k, err := keyOfID(id); err == nil && !used[k] {
				unused = append(unused, id)
			}
		}
		more = len(mine.IDs) == idPage
	}
	for page := range slices.Chunk(unused, idPage) {
		if err := c.post(ctx, at, "delete", get{IDs: page}, nil); err != nil {
			return err
		}
	}
	return c.look(ctx)
}

func (c *chromaCollection) Nearest(ctx context.Context, vector []float32, limit int) ([]Match, error) {
	at, err := c.place(ctx)
	if err != nil || at.ID == "" {
		return nil, err
	}
	return c.query(ctx, at, vector, limit, nil)
}

// Among returns the distances of some records. The server rejects a request for records
// that it lacks, so only those that it has are requested, each once.
func (c *chromaCollection) Among(ctx context.Context, vector []float32, keys []Key, limit int) ([]Match, error) {
	at, err := c.place(ctx)
	if err != nil || at.ID == "" || len(keys) == 0 {
		return nil, err
	}
	once := map[Key]bool{}
	for _, k := range keys {
		once[k] = true
	}
	have, err := c.present(ctx, at, slices.Collect(maps.Keys(once)))
	if err != nil {
		return nil, err
	}
	var all []Match
	for page := range slices.Chunk(slices.Collect(maps.Keys(have)), idPage) {
		found, err := c.query(ctx, at, vector, min(limit, len(page)), idsOf(page))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, ByCosine)
	return all[:min(limit, len(all))], nil
}

func (c *chromaCollection) query(ctx context.Context, at chromaPlace, vector []float32, limit int,
	ids []string,
) ([]Match, error) {
	var got nearest
	in := query{Embeddings: [][]float32{vector}, Results: limit, IDs: ids, Include: []string{"distances"}}
	if err := c.post(ctx, at, "query", in, &got); err != nil {
		return nil, err
	}
	if len(got.IDs) != 1 || len(got.Distances) != 1 || len(got.IDs[0]) != len(got.Distances[0]) {
		return nil, &UnavailableError{Err: errors.New("the Chroma server did not return ids and distances")}
	}
	found := make([]Match, 0, len(got.IDs[0]))
	for i, id := range got.IDs[0] {
		k, err := keyOfID(id)
		if err != nil || got.Distances[0][i] == nil {
			continue // not LifeHub's record
		}
		found = append(found, Match{Key: k, Cosine: 1 - *got.Distances[0][i]})
	}
	return found, nil
}

// Fresh implements [Collection]: the server is asked each time.
func (c *chromaCollection) Fresh() bool { return true }

// Flush implements [Collection]: the server makes changes durable itself.
func (c *chromaCollection) Flush() error { return nil }

func (c *chromaCollection) Close() error { return nil }

func idOf(k Key) string { return hex.EncodeToString(k[:]) }

func idsOf(keys []Key) []string {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = idOf(k)
	}
	return ids
}

func keyOfID(id string) (k Key, err error) {
	raw, err := hex.DecodeString(id)
	if err == nil && len(raw) != len(k) {
		err = errors.New("not an id of a passage")
	}
	return KeyOf(raw), err
}
