package mcpserve

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/rag"
)

// BenchmarkSearch searches 2,000 notes directly and through a client on two pipes; x is the ratio
// of the times, the median of pairs.
func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("boiler pressure valve garden tomato harvest running interval shoes mountain ferry " +
		"ticket island recipe flour yeast oven bread music chord guitar lesson meeting budget plan review train " +
		"station harbour winter light battery charger router backup restore photo album letter aunt birthday")
	for i := range 2000 {
		var text strings.Builder
		fmt.Fprintf(&text, "# Note %d\n", i)
		for range 6 {
			text.WriteString("\n")
			for range 30 {
				text.WriteString(words[random.IntN(len(words))] + " ")
			}
			text.WriteString("\n")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("note-%04d.md", i)),
			[]byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	home := b.TempDir()
	a, err := app.Open(b.Context(), apptest.Process(home), app.RunFlags{
		Notes:  []string{dir},
		NoSave: true, Alone: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Sync(b.Context(), a.OpenVaults()[0], nil); err != nil {
		b.Fatal(err)
	}
	// otherwise there are no marks to look for
	if err := a.Marks.Mark(b.Context(), "https://example.org/",
		[]string{"A page that somebody wrote, of which a note has a part."}); err != nil {
		b.Fatal(err)
	}
	s := newServer(b.Context(), a, false)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	go func() { _ = s.serveStdio(b.Context(), toServer, fromServer) }()
	defer fromClient.Close()
	c := client.NewClient(transport.NewIO(toClient, fromClient, io.NopCloser(strings.NewReader(""))))
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Initialize(b.Context(), mcp.InitializeRequest{}); err != nil {
		b.Fatal(err)
	}
	query := func(i int) string {
		return "which " + words[i%len(words)] + " and " + words[(i*7+3)%len(words)] + " for the " +
			words[(i*11+5)%len(words)]
	}
	direct := func(i int) {
		if _, err := a.Search(b.Context(), rag.Query{Text: query(i), Limit: 5}); err != nil {
			b.Fatal(err)
		}
	}
	served := func(i int) {
		request := mcp.CallToolRequest{}
		request.Params.Name, request.Params.Arguments = "search_notes", map[string]any{"query": query(i)}
		if result, err := c.CallTool(b.Context(), request); err != nil || result.IsError {
			b.Fatal(err, result)
		}
	}
	timed := func(f func(int), i int) time.Duration {
		start := time.Now()
		f(i)
		return time.Since(start)
	}
	direct(0)
	served(0)
	var here, there []time.Duration
	for i := 0; b.Loop(); i++ {
		here, there = append(here, timed(direct, i)), append(there, timed(served, i))
	}
	slices.Sort(here)
	slices.Sort(there)
	b.ReportMetric(float64(here[len(here)/2].Microseconds())/1000, "direct-ms")
	b.ReportMetric(float64(there[len(there)/2].Microseconds())/1000, "served-ms")
	b.ReportMetric(float64(there[len(there)/2])/float64(here[len(here)/2]), "x")
}
