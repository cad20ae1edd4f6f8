package turn

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/prompt"
	"lifehub/agent/toolchoice"
	"lifehub/internal/testenv"
)

// synonyms replace words in names of arguments. The repair rules know none of them.
var synonyms = map[string]string{
	"location": "place", "city": "town", "country": "nation", "year": "yr", "years": "period", "days": "num_d", "time": "when",
	"date": "day", "name": "label", "type": "kind", "unit": "measure", "units": "measures", "number": "value", "amount": "sum",
	"company": "firm", "destination": "target", "distance": "how_far", "duration": "how_long", "height": "altitude", "weight": "heaviness",
	"radius": "half_width", "team": "club", "game": "match", "artist": "musician", "genre": "style", "start": "begin", "end": "finish",
	"initial": "first", "final": "last", "format": "output", "mode": "way", "method": "approach", "category": "group", "size": "extent",
	"include": "with", "detail": "depth", "price": "cost", "currency": "money", "species": "animal", "region": "zone", "platform": "console",
	"function": "formula", "velocity": "speed", "speed": "pace", "query": "q", "id": "identifier", "title": "heading", "text": "body",
	"season": "term", "substance": "material", "status": "condition", "level": "grade", "rate": "ratio", "color": "colour", "language": "lang",
}

// misnamings write the name of an argument as careless models do.
var misnamings = map[string]func(name string) string{
	"camel case": func(name string) string {
		words := args.NameWords(name)
		for i := range words[1:] {
			words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
		}
		return strings.Join(words, "")
	},
	"kebab case":    func(name string) string { return strings.Join(args.NameWords(strings.ToLower(name)), "-") },
	"upper case":    strings.ToUpper,
	"first letter":  func(name string) string { return name[:1] },
	"first letters": func(name string) string { return name[:min(len(name), 4)] },
	"singular or plural": func(name string) string {
		if one, many := strings.CutSuffix(name, "s"); many {
			return one
		}
		return name + "s"
	},
	"first word": func(name string) string { return args.NameWords(name)[0] },
	"other order": func(name string) string {
		return strings.Join(backwards(args.NameWords(name)), "_")
	},
	"synonym": func(name string) string {
		words := args.NameWords(strings.ToLower(name))
		for i, word := range words {
			if other := synonyms[word]; other != "" {
				words[i] = other
				return strings.Join(words, "_")
			}
		}
		return name
	},
}

// meantFigures counts the outcomes of calls by how they were written.
type meantFigures map[string]*struct{ all, right, other int }

// try repairs a call, and counts whether the result is the call that was meant, or one
// with another meaning. written is the call as the model wrote it.
func (f meantFigures) try(t *testing.T, form string, offered []agent.Tool, written, want wanted, isOther func(got wanted) bool) {
	t.Helper()
	n := f[form]
	if n == nil {
		n = new(struct{ all, right, other int })
		f[form] = n
	}
	n.all++
	got := aloneTool().callsOf(planJSON([]wanted{written}, nil), offered)
	switch {
	case len(got) == 1 && sameCalls(got[0], want):
		n.right++
	case len(got) == 1 && isOther(got[0]):
		n.other++
		t.Errorf("%s: %v became %v, and %v was meant", form, written, got[0], want)
	}
}

// A call with a misnamed argument, a number out of bounds, or the words of a tool's
// name in another order is repaired or refused; it never becomes another call.
func TestCallsAreWhatTheyMean(t *testing.T) {
	testenv.WithoutRace(t)
	figures := meantFigures{}
	for n, list := range rightCalls(t) {
		if n%sampled() != 0 || list.from == "MetaTool" { // it defines no arguments
			continue
		}
		for _, call := range list.calls {
			tool := toolchoice.Find(list.offered, call.Tool)
			shape := args.ShapeOf(tool.Spec().Schema)
			for name, value := range call.Args {
				for form, misname := range misnamings {
					other := misname(name)
					if _, real := shape.Properties[other]; real || other == name || len(args.NameWords(other)) == 0 {
						continue // another argument has this name
					}
					form += map[bool]string{true: ", required", false: ", optional"}[slices.Contains(shape.Required, name)]
					figures.try(t, form, list.offered, otherName(call, name, other), call, func(got wanted) bool {
						for given := range got.Args { // another argument has this value
							if _, meant := call.Args[given]; !meant && given != other {
								return true
							}
						}
						return got.Tool != call.Tool
					})
				}
				if number, ok := value.(json.Number); ok && shape.Properties[name].Type != nil {
					for _, way := range []string{"maximum", "minimum"} {
						bounded, beyond := withBound(tool, name, way, number)
						figures.try(t, "beyond the "+way, bounded, with(call, name, beyond), call, func(got wanted) bool { return true })
					}
				}
			}
			words := args.NameWords(call.Tool)
			for form, swapped := range map[string][]string{"tool, first word last": append(slices.Clone(words[1:]), words[0]), "tool, backwards": backwards(words)} {
				if other := strings.Join(swapped, "_"); len(words) > 1 && toolchoice.Find(list.offered, other) == nil {
					figures.try(t, form, list.offered, wanted{other, call.Args}, call, func(got wanted) bool { return true })
				}
			}
		}
	}
	all, right := 0, 0
	for _, form := range slices.Sorted(maps.Keys(figures)) {
		n := figures[form]
		all, right = all+n.all, right+n.right
		t.Logf("| %-24s | %5d of %5d | %5.1f %% | other meaning %d |", form, n.right, n.all, 100*float64(n.right)/float64(n.all), n.other)
	}
	t.Logf("%d of %d, %.2f %%", right, all, 100*float64(right)/float64(all))
	least := 95 // percent
	if sampled() > 1 {
		least = 90 // with few calls, chance matters
	}
	if right*100 < all*least {
		t.Errorf("%d of %d calls are repaired, want %d %%", right, all, least)
	}
}

// sameCalls compares numbers by value: 8 equals 8.0.
func sameCalls(a, b wanted) bool {
	plain := func(call wanted) (args map[string]any) {
		raw, _ := json.Marshal(call.Args)
		_ = json.Unmarshal(raw, &args)
		return args
	}
	return a.Tool == b.Tool && reflect.DeepEqual(plain(a), plain(b))
}

func backwards(words []string) []string {
	words = slices.Clone(words)
	slices.Reverse(words)
	return words
}

func otherName(call wanted, name, other string) wanted {
	out := with(call, other, call.Args[name])
	delete(out.Args, name)
	return out
}

func with(call wanted, name string, value any) wanted {
	out := wanted{call.Tool, maps.Clone(call.Args)}
	out.Args[name] = value
	return out
}

// withBound returns the tools with a limit on an argument at its value, and a value
// beyond the limit.
func withBound(tool agent.Tool, name, way string, value json.Number) ([]agent.Tool, json.Number) {
	var schema map[string]any
	_ = json.Unmarshal(tool.Spec().Schema, &schema)
	schema["properties"].(map[string]any)[name].(map[string]any)[way] = value
	raw, _ := json.Marshal(schema)
	n, _ := value.Float64()
	beyond := n + 1000
	if way == "minimum" {
		beyond = n - 1000
	}
	return []agent.Tool{&doubleTool{name: tool.Spec().Name, schema: string(raw)}}, json.Number(fmt.Sprint(beyond))
}

// sampled returns n: every nth list is tested, and all in `make soak`.
func sampled() int {
	if os.Getenv("LIFEHUB_SOAK") != "" {
		return 1
	}
	return 10
}

// Arguments with one possible meaning are repaired; those that would need a guess are
// refused.
func TestAmbiguousCallsAreNotGuessed(t *testing.T) {
	search := &doubleTool{name: "search_notes", schema: `{"type":"object","properties":{"query":{"type":"string"},"tag":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":50}},"required":["query"],"additionalProperties":false}`}
	mail := &doubleTool{name: "send_mail", schema: `{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to","text"],"additionalProperties":false}`}
	days := &doubleTool{name: "days", schema: `{"type":"object","properties":{"start_date":{"type":"string"},"end_date":{"type":"string"}},"required":["start_date","end_date"],"additionalProperties":false}`}
	tasks := &doubleTool{name: "list_tasks", schema: `{"type":"object","properties":{"status":{"type":"string","enum":["open","overdue","done","all"],"description":"open: pending, not finished; overdue: open and late; done: completed, finished"}},"additionalProperties":false}`}
	change := &doubleTool{name: "eur_to_usd", schema: `{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"]}`}
	tests := map[string]struct{ tool, input, want string }{
		"the one argument":             {"search_notes", `{"q":"tea"}`, "1 search_notes {\"query\":\"tea\"}\n~ step 1: q is query here"},
		"the words in another order":   {"notes_search", `{"text":"tea"}`, "1 search_notes {\"query\":\"tea\"}\n~ step 1: notes_search is search_notes here\n~ step 1: text is query here"},
		"beyond a bound":               {"search_notes", `{"query":"tea","limit":500}`, "1 search_notes {\"limit\":50,\"query\":\"tea\"}\n~ step 1: limit was 500: the most is 50"},
		"as text, and below":           {"search_notes", `{"query":"tea","limit":"0"}`, "1 search_notes {\"limit\":1,\"query\":\"tea\"}\n~ step 1: limit was 0: the least is 1"},
		"the opposite of an argument":  {"search_notes", `{"query":"tea","exclude_tag":"x"}`, "1 search_notes {\"query\":\"tea\"}\n- step 1: exclude_tag is not an argument"},
		"like another argument":        {"search_notes", `{"tags_wanted":"x"}`, "- step 1: the arguments of search_notes do not fit: missing property 'query'"},
		"two that are unknown":         {"search_notes", `{"a":"x","b":"y"}`, "- step 1: the arguments of search_notes do not fit: missing property 'query'"},
		"no text":                      {"search_notes", `{"words":["a","b"]}`, "- step 1: the arguments of search_notes do not fit: missing property 'query'"},
		"another direction":            {"send_mail", `{"from":"ana","text":"x"}`, "- step 1: the arguments of send_mail do not fit: missing property 'to'"},
		"the same argument once more":  {"days", `{"start_date":"a","start":"b"}`, "- step 1: the arguments of days do not fit: missing property 'end_date'"},
		"its beginning":                {"days", `{"start":"a","end":"b"}`, "1 days {\"end_date\":\"b\",\"start_date\":\"a\"}\n~ step 1: end is end_date here\n~ step 1: start is start_date here"},
		"a word of the description":    {"list_tasks", `{"status":"pending"}`, "1 list_tasks {\"status\":\"open\"}\n~ step 1: status \"pending\" is \"open\" here"},
		"another form of it":           {"list_tasks", `{"status":"complete"}`, "1 list_tasks {\"status\":\"done\"}\n~ step 1: status \"complete\" is \"done\" here"},
		"what it is not":               {"list_tasks", `{"status":"finished"}`, "1 list_tasks {\"status\":\"done\"}\n~ step 1: status \"finished\" is \"done\" here"},
		"the opposite of a value":      {"list_tasks", `{"status":"not done"}`, "- step 1: the arguments of list_tasks do not fit: status: value must be one of 'open', 'overdue', 'done', 'all'"},
		"another direction of a tool":  {"usd_to_eur", `{"amount":1}`, "- step 1: there is no tool \"usd_to_eur\""},
		"another order of its words":   {"to_usd_eur", `{"amount":1}`, "- step 1: there is no tool \"to_usd_eur\""},
		"a tool that is known and off": {"tasks_list", `{}`, "- step 1: there is no tool \"tasks_list\": it is switched off"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			worker := aloneTool()
			worker.missing = map[string]string{"tasks_list": "it is switched off"}
			draft := prompt.Step{ID: "1", Tool: tc.tool, Input: json.RawMessage(tc.input)}
			steps, dropped, repaired := worker.repairSteps([]prompt.Step{draft}, []agent.Tool{search, mail, days, tasks, change}, nil)
			if got := writtenPlan(steps, dropped, repaired); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// A long text is not used as a path under any misnamed argument.
func TestResultIsNeverUsedAsAPath(t *testing.T) {
	read := &doubleTool{name: "read_note", schema: `{"type":"object","properties":{"path":{"type":"string","description":"path of the note"}},"required":["path"]}`}
	for _, name := range []string{"path", "Path", "paths", "note_path", "file"} {
		got := repaired(`{"steps":[{"id":"1","tool":"read_note","input":{"path":"a.md"}},{"id":"2","tool":"read_note","input":{"`+name+`":"{{1.text}}"}}]}`, read)
		if !strings.Contains(got, "path of read_note takes no {{…}}") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
