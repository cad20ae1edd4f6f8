package mcptest

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// SearchMode makes the test binary a well-behaved server with one tool,
// web_search, over fixed pages. It uses a library that is common for such
// servers.
const SearchMode = "search"

// page is a search result.
type page struct{ title, url, snippet string }

var pages = []page{
	{
		"Marathon training for first-timers", "https://runs.example/marathon",
		"Drink early, and run the long run slowly: marathon training is won on easy days.",
	},
	{
		"Ten tips for race day", "https://runs.example/race-day",
		"Marathon tips: start slower than you feel, wear nothing new.",
	},
	{"Agents in 2026", "https://news.example/ai", "AI news: small models plan, call tools and check each other."},
	{
		"Stories with the upstream keyword", "https://stories.example/upstream",
		"12 stories carry the keyword upstream, 5 of them the tag backend.",
	},
	{"Paris, now", "https://weather.example/paris", "Weather in Paris: 14 °C, light rain until the evening."},
	{
		"What is machine learning?", "https://learn.example/ml",
		"Machine learning finds rules from examples instead of being given them.",
	},
	{
		"asyncio best practices", "https://python.example/asyncio",
		"Python asyncio: prefer TaskGroup, never block the loop, set timeouts.",
	},
}

// serveSearch serves on stdin and stdout until stdin closes.
func serveSearch() error {
	s := server.NewMCPServer("test-search", "1")
	tool := mcp.NewTool("web_search", mcp.WithDescription("Search the web."), mcp.WithReadOnlyHintAnnotation(true),
		mcp.WithString("query", mcp.Required(), mcp.Description("what to look for")))
	s.AddTool(tool, func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		query, err := req.RequireString("query")
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(resultsFor(query)), nil
	})
	return server.ServeStdio(s)
}

// resultsFor lists the pages that contain a word of the query.
func resultsFor(query string) string {
	var b strings.Builder
	for _, p := range pages {
		text := strings.ToLower(p.title + " " + p.snippet)
		for _, word := range strings.Fields(strings.ToLower(query)) {
			if len(word) > 3 && strings.Contains(text, word) {
				fmt.Fprintf(&b, "%s\n%s\n%s\n\n", p.title, p.url, p.snippet)
				break
			}
		}
	}
	if b.Len() == 0 {
		return "no results"
	}
	return strings.TrimSpace(b.String())
}
