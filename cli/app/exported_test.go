package app

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"lifehub/agent"
	"lifehub/internal/hostile"
	"lifehub/internal/testenv"
	"lifehub/store"
)

// active returns what would make a browser run or load something: elements, attributes and link
// targets.
func active(page string) (found []string) {
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		token := z.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		if strings.Contains(" script style img iframe object embed link svg video audio form base meta ",
			" "+token.Data+" ") {
			found = append(found, token.String())
		}
		for _, a := range token.Attr {
			leads := a.Key == "href" || a.Key == "src"
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" ||
				leads && !regexp.MustCompile(`(?i)^(https?://|mailto:)`).MatchString(a.Val) {
				found = append(found, token.String())
			}
		}
	}
	return found
}

func TestExportedPageRunsAndLoadsNothing(t *testing.T) {
	testenv.WithoutRace(t)
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	texts := []string{
		`<script>alert(1)</script> & "quotes"`, `![x](https://evil.example/p.png "t")`,
		`[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x)`,
		`<img src=x onerror=alert(1)>`, "<div\n onclick='alert(1)'>\n\nx\n</div>", `<https://example.com/?a="b">`,
		`[x](https://e.example/" onmouseover="alert(1))`,
		"<style>@import url(https://evil.example)</style>", "```html\n<script>x</script>\n```",
		"[ref]: javascript:alert(1)\n\n[ref]", "<!-- --> <script>x</script> -->",
		`<svg/onload=alert(1)>`, `</style><script>alert(1)</script>`, "https://example.com/<script>",
		"| a |\n|---|\n| <b onclick='x'>y</b> |", "</div></article></body><script>1</script>",
	}
	for _, p := range hostile.Payloads {
		texts = append(texts, p.Text)
	}
	for _, text := range texts {
		turn, err := s.Begin(t.Context(), "c", text)
		if err != nil {
			t.Fatal(err)
		}
		answer := agent.Answer{
			Text: text, Error: text, Citations: []agent.Citation{{N: 1, Path: text}},
			Log: []agent.Logged{{Thought: text}, {At: len(text), Step: "1", Action: text, Result: text}},
		}
		if err := s.Finish(t.Context(), turn, answer); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Rename(t.Context(), "c", texts[0]); err != nil {
		t.Fatal(err)
	}
	c, err := s.Conversation(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteConversation(t.Context(), s, c, "html", &b); err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(b.String(), "</style>")
	if !strings.Contains(head, `default-src 'none'; style-src 'sha256-`) {
		t.Errorf("the page does not forbid to load:\n%s", head)
	}
	if !strings.Contains(head, `<title>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#34;quotes&#34;</title>`) {
		t.Errorf("the title is not escaped:\n%s", head)
	}
	if found := active(body); found != nil {
		t.Errorf("the page holds %q", found)
	}
	if strings.ContainsAny(body, "\x1b\x07\u202e") {
		t.Error("the page holds control characters")
	}
	for _, want := range []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;",
		"[picture: x · https://evil.example/p.png]",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}

// Note editors show "- [1]" as a check box.
func TestSourcesAreNotTasks(t *testing.T) {
	cited := agent.Answer{Text: "Three times. [1]", Citations: []agent.Citation{
		{N: 1, Path: "plan.md", Line: 8},
		{N: 2, Path: "log.md", Line: 9},
	}}
	got := Disarm(ConversationMarkdown(agent.Conversation{Title: "running"},
		[]agent.Exchange{{Question: "how often?", Answer: cited}}))
	if !strings.Contains(got, "\n[1] plan.md:8  \n[2] log.md:9\n") {
		t.Errorf("exported:\n%s", got)
	}
}
