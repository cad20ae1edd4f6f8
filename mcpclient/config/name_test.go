package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func free(string) bool { return false }

func TestToolNamesReadAsServerAndTool(t *testing.T) {
	for _, c := range []struct{ server, tool, want string }{
		{"brave", "web_search", "brave_web_search"},
		{"everything", "get-sum", "everything_get-sum"},
		{"a", "b_c", "a_b_c"},
		{"a_b", "c", "a__b_c"},
		{"brave", "brave_web_search", "brave_web_search"},
		{"a_b", "a_b_c", "a__b_c"},
		{"GitHub", "github_create_issue", "GitHub_create_issue"},
		{"notion", "notion-search", "notion_search"},
		{"brave-search", "brave_search_news", "brave-search_news"},
		{"fetch", "fetch", "fetch_fetch"},
		{"brave", "brave_", "brave_brave_"},
		{"brave", "brave__x", "brave_brave__x"},
		{"brave", "bravery_test", "brave_bravery_test"},
	} {
		if got := WireNames(c.server, []string{c.tool}, free)[c.tool]; got != c.want {
			t.Errorf("%s + %s: got %s, want %s", c.server, c.tool, got, c.want)
		}
	}
}

func TestCollidingToolNamesGetADigest(t *testing.T) {
	names := WireNames("brave", []string{"brave_web", "web", "news", "Brave-web"}, free)
	seen := map[string]bool{}
	for _, tool := range []string{"brave_web", "web", "Brave-web"} {
		if seen[names[tool]] || !strings.HasPrefix(names[tool], "brave___") {
			t.Errorf("got %v", names)
		}
		seen[names[tool]] = true
		if !slices.Contains(FormerNames("brave", tool, names[tool], free), "brave_web") {
			t.Errorf("%s is not known as brave_web any more", tool)
		}
	}
	if names["news"] != "brave_news" {
		t.Errorf("got %v", names)
	}
}

func TestNamesOfBuiltInToolsAreNotReused(t *testing.T) {
	reserved := func(name string) bool { return name == "search_notes" }
	got := WireName("search", "notes", reserved)
	if got == "search_notes" || !strings.HasPrefix(got, "search___") || !strings.HasSuffix(got, "-notes") {
		t.Errorf("got %s", got)
	}
}

// everywhere matches names that even the strictest model provider accepts.
var everywhere = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func TestNoTwoPairsShareAName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.StringMatching(`[ab-]{1,2}(_[ab-]{1,2}){0,3}`)
		tool := rapid.OneOf(rapid.StringMatching(`[ab]_[ab_]{1,3}`), rapid.StringMatching(`[ab_.-]{1,6}`),
			rapid.StringMatching(`[a-c_]{55,80}`))
		s1, t1 := server.Draw(t, "server"), tool.Draw(t, "tool")
		s2, t2 := server.Draw(t, "other server"), tool.Draw(t, "other tool")
		n1, n2 := WireNames(s1, []string{t1}, free)[t1], WireNames(s2, []string{t2}, free)[t2]
		if s1 == s2 {
			names := WireNames(s1, []string{t1, t2}, free)
			n1, n2 = names[t1], names[t2]
		}
		if (n1 == n2) != (s1 == s2 && t1 == t2) {
			t.Fatalf("%s+%s and %s+%s are %s and %s", s1, t1, s2, t2, n1, n2)
		}
		if !everywhere.MatchString(n1) {
			t.Fatalf("%s+%s is %q, which not every model takes", s1, t1, n1)
		}
	})
}

func TestAllShortPairsHaveDistinctNames(t *testing.T) {
	var words []string
	var grow func(prefix string)
	grow = func(prefix string) {
		for _, c := range "a_-." {
			if w := prefix + string(c); len(w) <= 4 {
				words = append(words, w)
				grow(w)
			}
		}
	}
	grow("")
	owner := map[string]string{}
	pairs := 0
	for _, server := range words {
		if !serverName.MatchString(server) {
			continue
		}
		for _, tool := range words {
			pairs++
			name, pair := WireName(server, tool, free), server+" + "+tool
			if other := owner[name]; other != "" {
				t.Fatalf("%s and %s are both %s", other, pair, name)
			}
			owner[name] = pair
		}
	}
	if pairs < 10_000 {
		t.Errorf("only %d pairs", pairs)
	}
}

func TestOddToolNamesAreRejected(t *testing.T) {
	for _, name := range []string{
		"", "re\u200bad", "reаd", "a b", "a\nb", "\u202eread",
		strings.Repeat("x", 129), "naïve",
	} {
		if CheckToolName(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
	for _, name := range []string{"read", "fs.read", "a/b", "x:y", "_private"} {
		if err := CheckToolName(name); err != nil {
			t.Error(err)
		}
	}
}
