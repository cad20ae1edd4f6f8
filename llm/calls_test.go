package llm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// scheme is how a server streams calls.
type scheme struct{ index, id, args string }

// schemes returns all that keep calls apart: by index, by id or by their position.
func schemes() (all []scheme) {
	for _, index := range []string{"right", "from one", "zero", "none"} {
		for _, id := range []string{"first", "each", "none", "new in each"} {
			if id == "new in each" && (index == "zero" || index == "none") {
				continue
			}
			for _, args := range []string{"text", "object", "coded"} {
				all = append(all, scheme{index, id, args})
			}
		}
	}
	return all
}

// split cuts a text at random.
func split(r *rand.Rand, text string) (pieces []string) {
	for runes := []rune(text); len(runes) > 0; {
		n := 1 + r.IntN(min(len(runes), 9))
		pieces, runes = append(pieces, string(runes[:n])), runes[n:]
	}
	return pieces
}

// pieces returns what a server sends for a call.
func (s scheme) pieces(r *rand.Rand, at int, c ToolCall) (pieces []CallPiece) {
	text := string(c.Args)
	if s.args == "coded" {
		coded, _ := json.Marshal(text)
		text = string(coded)
	}
	pieces = append(pieces, CallPiece{Name: c.Name})
	if s.args == "object" {
		pieces[len(pieces)-1].Args = c.Args
	} else {
		for i, part := range split(r, text) {
			raw, _ := json.Marshal(part)
			if i > 0 || r.IntN(2) == 0 {
				pieces = append(pieces, CallPiece{})
			}
			pieces[len(pieces)-1].Args = raw
		}
	}
	if r.IntN(4) == 0 {
		pieces = append(pieces, CallPiece{Args: json.RawMessage(`""`)})
	}
	for i := range pieces {
		p := &pieces[i]
		switch s.index {
		case "right":
			p.Index = new(at)
		case "from one":
			p.Index = new(at + 1)
		case "zero":
			p.Index = new(0)
		}
		switch {
		case s.id == "each", s.id == "first" && i == 0:
			p.ID = c.ID
		case s.id == "new in each":
			if p.ID = c.ID; i < len(pieces)-1 {
				p.ID = fmt.Sprintf("%s-%d", c.ID, i)
			}
		}
	}
	return pieces
}

// Calls come back as they were made, however a server numbers and cuts them.
func TestCallsComeBackInAnyScheme(t *testing.T) {
	names := []string{"search_notes", "add_task", "today", "web_search", "search_notes"}
	values := []any{
		"running", "a \"b\" \\ {", "Füße 👟", 3.5, true, nil,
		[]any{"x", map[string]any{}},
		map[string]any{"a": "}"},
		"",
	}
	for _, s := range schemes() {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			var want []ToolCall
			var sent [][]CallPiece
			for i := range 1 + r.IntN(4) {
				input := map[string]any{}
				for k := range r.IntN(3) {
					input[fmt.Sprintf("k%d", k)] = values[r.IntN(len(values))]
				}
				args, _ := json.Marshal(input)
				call := ToolCall{ID: fmt.Sprintf("call_%d", i), Name: names[r.IntN(len(names))], Args: args}
				sent = append(sent, s.pieces(r, i, call))
				switch {
				case s.id == "none":
					call.ID = ""
				case s.id == "new in each":
					call.ID = "" // any
				}
				want = append(want, call)
			}
			var pieces []CallPiece
			if apart := s.index == "right" || s.index == "from one"; apart && s.id != "new in each" && r.IntN(2) == 0 {
				for slices.ContainsFunc(sent, func(p []CallPiece) bool { return len(p) > 0 }) { // interleaved
					for i := range sent {
						if n := min(len(sent[i]), 1+r.IntN(2)); n > 0 {
							pieces, sent[i] = append(pieces, sent[i][:n]...), sent[i][n:]
						}
					}
				}
			} else {
				pieces = slices.Concat(sent...)
			}
			var b CallBuilder
			for _, p := range pieces {
				b.Add(p)
			}
			got := b.Calls()
			if s.id == "new in each" {
				for i := range got {
					got[i].ID = ""
				}
			}
			if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
				sent, _ := json.Marshal(pieces)
				t.Fatalf("%+v, seed %d: got\n%s\nwant\n%s\nof %s", s, seed, g, w, sent)
			}
		}
	}
}

func TestCallThatCannotBeReadHasAFault(t *testing.T) {
	for args, want := range map[string]string{
		`""`: "{}", `null`: "{}", ``: "{}", `"{}}"`: "", `"{"`: "",
		`"[1]"`: "[1]", `"\"{\\\"a\\\":1}\""`: `{"a":1}`, `"{}{\"a\":1}"`: `{"a":1}`, `"{}\n{} {\"a\":1}"`: `{"a":1}`,
		`"{\"a\":1}{\"a\":2}"`: "", `"{\"a\":1}{}"`: "", `"{}]"`: "", "\"```json\\n{\\\"a\\\":1}\\n```\"": `{"a":1}`,
		`"{'a': True}"`: `{"a": true}`, `"{\"a\":\"x\ny\"}"`: `{"a":"x\u000ay"}`, `"{\"a\":1,}"`: `{"a":1}`, `"a=1"`: "",
	} {
		var b CallBuilder
		b.Add(CallPiece{Name: "today<|channel|>commentary", Args: json.RawMessage(args)})
		got := b.Calls()
		if len(got) != 1 || got[0].Name != "today" || string(got[0].Args) != want ||
			(got[0].Fault == "") != (want != "") {
			t.Errorf("%s: got %+v", args, got)
		}
	}
	var b CallBuilder
	for i := range 10 * maxCalls {
		b.Add(CallPiece{Index: new(i - 5), ID: fmt.Sprint(i), Name: "x", Args: json.RawMessage(`{}`)})
	}
	if got := b.Calls(); len(got) != maxCalls || got[0].Fault != "" || got[maxCalls-1].Fault == "" {
		t.Errorf("got %d calls", len(got))
	}
	long, _ := json.Marshal(strings.Repeat("x", maxArgs))
	for range 3 {
		b.Add(CallPiece{ID: "0", Args: long})
	}
	if got := b.Calls(); got[0].Fault == "" || len(got[0].Fault) > 500 {
		t.Errorf("got %.300q", got[0].Fault)
	}
}

// Arguments that are sent whole in each piece, as far as they are written, are read once.
func TestArgumentsSoFarReplaceThose(t *testing.T) {
	var b CallBuilder
	for _, args := range []string{`"{\"q"`, `"{\"q\":\"ru"`, `"{\"q\":\"run\"}"`} {
		b.Add(CallPiece{Index: new(0), ID: "a", Name: "search_notes", Args: json.RawMessage(args)})
	}
	if got := b.Calls(); len(got) != 1 || string(got[0].Args) != `{"q":"run"}` {
		t.Errorf("got %+v", got)
	}
	b = CallBuilder{}
	b.Add(CallPiece{Name: "x", Args: json.RawMessage(`"` + strings.Repeat("{}", 1<<16) + `"`)})
	if got := b.Calls(); len(got) != 1 || string(got[0].Args) != "{}" {
		t.Errorf("got %.99q", got)
	}
}

// A name in parts is whole before the arguments begin, and one that is repeated is one. What has neither
// a name nor arguments is no call.
func TestNamesOfCalls(t *testing.T) {
	for sent, want := range map[string]string{
		`[{"Index":0,"ID":"a","Name":"search_"},{"Index":0,"Name":"notes","Args":"{\"q\":1}"}]`:              `search_notes {"q":1};`,
		`[{"ID":"a","Name":"add"},{"ID":"a","Name":"_"},{"ID":"a","Name":"task"},{"ID":"a","Args":{"t":1}}]`: `add_task {"t":1};`,
		`[{"Index":0,"Name":"today","Args":""},{"Index":0,"Name":"today"},{"Index":0,"Args":"{}"}]`:          `today {};`,
		`[{"Index":0,"Name":"today","Args":"{\"z\":"},{"Index":0,"Name":"today","Args":"1}"}]`:               `today {"z":1};`,
		`[{"Index":0,"Name":"search_"},{"Index":0,"Name":"search_notes","Args":{"q":1}}]`:                    `search_notes {"q":1};`,
		`[{"Index":0,"ID":"","Name":"","Args":""}]`:                                                          ``,
		`[{"Name":"","Args":{}},{"Index":1,"Name":"today","Args":"{}"}]`:                                     `today {};`,
		`[{"ID":"a","Args":"null"}]`:      ``,
		`[{"ID":"a","Args":"{\"q\":1}"}]`: ` {"q":1};`,
		`[{"Index":0,"Name":"today","Args":"{}"},{"Index":1,"Name":"add_task","Args":"{}"}]`: `today {};add_task {};`,
	} {
		var pieces []CallPiece
		if err := json.Unmarshal([]byte(sent), &pieces); err != nil {
			t.Fatal(err)
		}
		var b CallBuilder
		for _, p := range pieces {
			b.Add(p)
		}
		got := ""
		for _, c := range b.Calls() {
			got += c.Name + " " + string(c.Args) + c.Fault + ";"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", sent, got, want)
		}
	}
}

// FuzzCalls checks that any pieces become calls that either have arguments or a
// fault.
func FuzzCalls(f *testing.F) {
	f.Add([]byte(`[{"Index":0,"ID":"a","Name":"x","Args":"{\"a\":"},{"Index":0,"Args":"1}"},{"Name":"y",` +
		`"Args":{"b":[]}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var pieces []CallPiece
		if json.Unmarshal(raw, &pieces) != nil {
			return
		}
		var b CallBuilder
		for _, p := range pieces {
			b.Add(p)
		}
		calls := b.Calls()
		named := slices.ContainsFunc(pieces, func(p CallPiece) bool {
			name, _, _ := strings.Cut(p.Name, "<|")
			return strings.TrimSpace(name) != ""
		})
		if len(calls) == 0 && named {
			t.Fatal("a call was lost")
		}
		for _, c := range calls {
			if (c.Fault == "") != json.Valid(c.Args) {
				t.Fatalf("%+v", c)
			}
		}
	})
}
