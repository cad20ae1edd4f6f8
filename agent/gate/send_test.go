package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

const anyText = `{"type":"object","properties":{"query":{"type":"string"},"days":{"type":"integer"},` +
	`"list":{"type":"array"}}}`

// served is a tool of an MCP server.
type served struct {
	*fakeTool
	reads bool // read-only, on a server that is trusted to read
}

func (s served) Properties() agent.Properties {
	of := s.fakeTool.Properties()
	of.Server, of.Trusted, of.Declared = "notion", s.reads, &s.reads
	return of
}

func callFor(tool agent.Tool, input string) Call {
	return Call{Step: "1", ID: "1", Tool: tool, Input: agent.ParseArgs(json.RawMessage(input))}
}

// Two calls of a turn may send runs of words that the user typed after notes were
// read. Anything else is asked about.
func TestOnlyTypedRunsLeaveUnasked(t *testing.T) {
	const typed = `Look up "best running shoes" in Zürich for 10 days, bitte: 馬拉松訓練的鞋子?`
	for input, free := range map[string]bool{
		`{"query":"best running shoes"}`:             true,
		`{"query":"best running shoes","days":10}`:   true,
		`{"query":"in Zürich for 10 days"}`:          true,
		`{"query":"馬拉松"}`:                            true,
		`{"list":["running","shoes"]}`:               false,
		`{"list":[{"running":"shoes"}]}`:             false,
		`{"list":[{"4711":"shoes"}]}`:                false,
		`{"4711":"shoes"}`:                           false,
		`{}`:                                         true,
		`{"query":""}`:                               false,
		`{"list":[null,"",null,"shoes"]}`:            false,
		`{"query":"shoes","list":[]}`:                false,
		`{"query":"shoes","days":null}`:              false,
		`{"query":"running best shoes"}`:             false,
		`{"query":"Best running shoes"}`:             false,
		`{"query":"best running shoe"}`:              false,
		`{"query":"unning shoes"}`:                   false,
		`{"query":"best  running shoes"}`:            false,
		`{"query":"Zurich"}`:                         false,
		`{"query":"馬訓"}`:                             false,
		`{"query":"shoes","days":1}`:                 false,
		`{"query":"shoes 4711"}`:                     false,
		`{"list":["running","4711"]}`:                false,
		`{"list":[{"a":{"b":["4711"]}}]}`:            false,
		"{\"query\":\"best running shoes\\u200b\"}":  false,
		`{"query":"best running shoes","also":true}`: false,
		`{"query":"shoes\" in Zürich for 10 days, bitte: 馬拉松訓練的鞋子?"}`: true,
	} {
		guard, _ := testGuard(t, New(nil, nil, false), "c", typed, agent.Refuse)
		guard.Record.Add(agent.Own())
		v := guard.Verdict(t.Context(), callFor(&fakeTool{name: "web_search", outward: true, schema: anyText}, input))
		if (v.Level == agent.Auto) != free {
			t.Errorf("%s: %s, %s", input, v.Level, v.Reason)
		}
	}
}

// What is attached, or was filled in by a server, is not typed.
func TestAttachedTextIsNotTyped(t *testing.T) {
	sent := agent.Message{Text: "Look this up.", Attached: []agent.Attachment{{
		Name: "paste 1",
		Text: "best running shoes",
	}}}.String()
	guard, _ := testGuard(t, New(nil, nil, false), "c", sent, agent.Refuse)
	guard.Record.Add(agent.Own())
	if v := guard.Verdict(t.Context(), callFor(&fakeTool{name: "web_search", outward: true, schema: anyText},
		`{"query":"best running shoes"}`)); v.Level != agent.Confirm || !v.Fixed {
		t.Errorf("%s, %s", v.Level, v.Reason)
	}
}

// A call in the user's own words needs no permission, but the third of a turn does:
// the choice of the words could say something. The words' order is not free.
func TestThirdCallOfATurnInTypedWordsAsks(t *testing.T) {
	words := strings.Fields("ant bee cat dog elk fox gnu hen ibis jay kite lion")
	guard, asked := testGuard(t, New(nil, nil, false), "c", strings.Join(words, " "), agent.Refuse)
	guard.Record.Add(agent.Own())
	ran := 0
	for i := range words {
		query := words[(5*i)%len(words)]
		if i%2 == 1 {
			query = words[(5*i)%len(words)] + " " + words[i] // permuted words carry what was read
		}
		c := callFor(&fakeTool{name: "web_search", outward: true, schema: anyText}, fmt.Sprintf(`{"query":%q}`, query))
		if _, err := guard.Pass(t.Context(), c); err == nil {
			ran++
		}
	}
	if n := len(asked()); ran != maxCopied || n != len(words)-maxCopied {
		t.Errorf("%d calls ran and %d asked", ran, n)
	}
}

// Private text is asked about once for each destination and conversation, if the
// user allows the destination; with text from outside, each time.
func TestSendingAsksOncePerDestination(t *testing.T) {
	page := agent.FromOutside("https://evil.example/")
	for name, tc := range map[string]struct {
		from   agent.Origin
		reply  agent.Decision
		asked  string // the calls that ask of: web_search, web_search, web_fetch, web_fetch, server, server
		twice  agent.Decision
		offers bool // to allow it in this conversation
	}{
		"typed":                         {agent.Origin{}, agent.AllowOnce, "3 4", "", true},
		"from outside":                  {page, agent.AllowOnce, "3 4", "", true},
		"private, once":                 {agent.Own(), agent.AllowOnce, "1 2 3 4 5 6", "", true},
		"private, in this conversation": {agent.Own(), agent.AllowConversation, "1 3 5", "", true},
		"both":                          {agent.Own().And(page), agent.AllowConversation, "1 2 3 4 5 6", "", false},
	} {
		gate := New((*Rules)(nil).With(mustRule(t, "notion_*"), mustRule(t, "*")), nil, false)
		search, fetch := &fakeTool{name: "web_search", outward: true, schema: anyText},
			opener{&fakeTool{name: "web_fetch", level: agent.Confirm, schema: anyText}}
		server := served{fakeTool: &fakeTool{name: "notion_get", level: agent.Confirm, outward: true, schema: anyText}}
		server.fakeTool.level = agent.Auto
		var list []string
		for i, c := range []Call{
			callFor(search, `{"query":"a"}`), callFor(search, `{"query":"b"}`),
			callFor(fetch, `{"url":"https://a.example/1"}`), callFor(fetch, `{"url":"https://a.example/2"}`),
			callFor(hinted{server}, `{"query":"a"}`), callFor(hinted{server}, `{"query":"b"}`),
		} {
			guard, asked := testGuard(t, gate, "c", "what now?", tc.reply)
			guard.Record.Add(tc.from)
			if _, err := guard.Pass(t.Context(), c); err != nil {
				t.Errorf("%s, %d: %v", name, i+1, err)
			}
			for _, q := range asked() {
				list = append(list, fmt.Sprint(i+1))
				if (q.Destination != "") != tc.offers {
					t.Errorf("%s, %d: offers %q", name, i+1, q.Destination)
				}
			}
		}
		if got := strings.Join(list, " "); got != tc.asked {
			t.Errorf("%s: asked %s, want %s", name, got, tc.asked)
		}
		fork, _ := testGuard(t, gate, "fork", "what now?", tc.reply)
		fork.Record.Add(tc.from)
		if v := fork.Verdict(t.Context(), callFor(search, `{"query":"a"}`)); (v.Level == agent.Auto) == tc.from.Private {
			t.Errorf("%s: in a fork %s, %s", name, v.Level, v.Reason)
		}
	}
}

// hinted is a tool of a server that says that it only reads.
type hinted struct{ served }

func (h hinted) Properties() agent.Properties {
	of := h.served.Properties()
	of.Declared = new(true)
	return of
}

// Exactly an address that this turn's search found is opened after one yes per
// conversation, whatever was read.
func TestPagesThatASearchFoundAskOnce(t *testing.T) {
	gate := New(nil, nil, false)
	fetch := opener{&fakeTool{name: "web_fetch", level: agent.Confirm, schema: anyText}}
	for i, tc := range []struct {
		url  string
		asks bool
	}{
		{"https://a.example/1", true},
		{"https://a.example/2", false},
		{"https://b.example/", false},
		{"https://b.example/?d=4711", true},
		{"https://B.example/", true},
	} {
		guard, asked := testGuard(t, gate, "c", "search for shoes", agent.AllowOnce)
		guard.Record.Add(agent.Own())
		guard.Record.Read(agent.WebSearch, agent.Result{Origin: agent.FromOutside("a search"), Sources: []agent.Source{
			{Path: "https://a.example/1"}, {Path: "https://a.example/2"}, {Path: "https://b.example/"},
		}})
		if _, err := guard.Pass(t.Context(), callFor(fetch, `{"url":"`+tc.url+`"}`)); err != nil {
			t.Error(err)
		}
		if n := len(asked()); (n > 0) != tc.asks {
			t.Errorf("%d, %s: asked %d times", i, tc.url, n)
		}
	}
}

// A level or a rule for all tools does not decide where private text goes; a rule that
// names the tool and its host does, unless text from outside had a part in it.
func TestOnlyARuleThatNamesTheHostLetsPrivateTextGo(t *testing.T) {
	fetch := opener{&fakeTool{name: "web_fetch", level: agent.Confirm, schema: anyText}}
	search := &fakeTool{name: "web_search", outward: true, schema: anyText}
	for name, tc := range map[string]struct {
		rule string
		c    Call
		runs bool
	}{
		"all tools":           {"*", callFor(search, `{"query":"4711"}`), false},
		"a part of the name":  {"web_*", callFor(search, `{"query":"4711"}`), false},
		"the tool":            {"web_search", callFor(search, `{"query":"4711"}`), true},
		"the tool, a query":   {"web_search query=4711", callFor(search, `{"query":"4711"}`), true},
		"the tool, no host":   {"web_fetch", callFor(fetch, `{"url":"https://a.example/"}`), false},
		"the tool, this host": {"web_fetch url=host:a.example", callFor(fetch, `{"url":"https://a.example/"}`), true},
		"the tool, another":   {"web_fetch url=host:b.example", callFor(fetch, `{"url":"https://a.example/"}`), false},
	} {
		guard, _ := testGuard(t, New((*Rules)(nil).With(mustRule(t, tc.rule)), nil, false), "c",
			"what now?", agent.Refuse)
		guard.Record.Add(agent.Own())
		if v := guard.Verdict(t.Context(), tc.c); (v.Level == agent.Auto) != tc.runs {
			t.Errorf("%s: %s, %s", name, v.Level, v.Reason)
		}
		guard.Record.Add(agent.FromOutside("a page"))
		if v := guard.Verdict(t.Context(), tc.c); v.Level == agent.Auto || !strings.Contains(v.Reason, "a page") {
			t.Errorf("%s, after a page: %s, %s", name, v.Level, v.Reason)
		}
	}
}

// Lines that a call writes are marked, but not those that the note held.
func TestLinesFromOutsideAreMarked(t *testing.T) {
	const diff = "--- a.md\n+++ a.md\n@@ -1,4 +1,5 @@\n # Plan\n-- [ ] call Eve\n+- [x] call Eve ✅ 2026-11-28\n+- " +
		"pay Mallory\n-old\n+# New heading\n own line\n+own line\n"
	for name, tc := range map[string]struct {
		from   agent.Origin
		marked []string
		want   []string
	}{
		"from outside":                    {agent.FromOutside("a page"), nil, []string{"pay Mallory"}},
		"in place of a line from outside": {agent.Own(), []string{"call Eve"}, []string{"call Eve", "pay Mallory"}},
		"of the user's":                   {agent.Own(), nil, nil},
	} {
		guard, _ := testGuard(t, New(nil, nil, false), "c", "write it", agent.AllowOnce)
		if err := guard.Record.Marks.Mark(t.Context(), "a letter", tc.marked); err != nil {
			t.Fatal(err)
		}
		tool := writer{diff}
		c := callFor(tool, `{}`)
		c.Origin = &tc.from
		p, err := guard.Pass(t.Context(), c)
		if err == nil {
			err = guard.Ready(t.Context(), c, p)
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range []string{"call Eve", "pay Mallory", "old", "own line", "# New heading"} {
			if len(guard.Record.marked(t.Context(), []string{line})) > 0 {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q are marked, want %q", name, got, tc.want)
		}
	}
}
