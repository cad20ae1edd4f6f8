package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lifehub/llm"
)

func TestSchemaCannotFetchAnother(t *testing.T) {
	_, err := ReadSchema(json.RawMessage(`{"$ref":"file:///etc/passwd"}`))
	if err == nil || !strings.Contains(err.Error(), "may not load") {
		t.Errorf("got %v", err)
	}
}

func TestMismatchIsDescribedInPlainWords(t *testing.T) {
	schema, err := ReadSchema(json.RawMessage(`{"type":"object","properties":{"deep":{"type":"integer","maximum":30},` +
		`"bed":{"type":"string"},"day":{"type":"string","format":"date"}},"required":["bed"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		`{"bed":"north","deep":99}`:      "deep: maximum: got 99, want 30",
		`{}`:                             "missing property 'bed'",
		`{"bed":"north","day":"monday"}`: "day: 'monday' is not valid date",
	} {
		if err := schema.Check(json.RawMessage(content)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", content, err, want)
		}
	}
}

func TestDuplicateKeyIsWrittenOnce(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"\u0061":2}`:         `{"a":2}`,
		`{"b":[{"a":1, "a":"x,y"}]}`: `{"b":[{"a":"x,y"}]}`,
		`{"b":{"a":1}, "a":{"b":1}}`: `{"b":{"a":1},"a":{"b":1}}`,
	} {
		if got, err := new(Schemas).Repair(schemaTool{}, json.RawMessage(raw)); err != nil ||
			got.Input.String() != want {
			t.Errorf("%s: got %s, %v", raw, got.Input, err)
		}
	}
}

func TestArgumentsFollowTheOrderOfTheSchema(t *testing.T) {
	got := PropertyOrder(json.RawMessage(`{"type":"object","properties":{"z":{"properties":{"x":{}}},"a":{},` +
		`"m":true}}`))
	if strings.Join(got, " ") != "z a m" {
		t.Errorf("got %q", got)
	}
}

// schemaTool is a tool with nothing but a schema.
type schemaTool struct {
	Tool
	schema string
	reads  bool
}

func (s schemaTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "t", Schema: json.RawMessage(s.schema)}
}
func (s schemaTool) Properties() Properties { return Properties{ReadOnly: s.reads} }

func today() time.Time { return time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC) }

// Every value of a writing call reaches its tool, or the call is refused. A call that
// only reads runs with the values that fit.
func TestWriteLosesNoValue(t *testing.T) {
	const task = `{"type":"object","properties":{"text":{"type":"string"},"due":{"type":"string","description":"the ` +
		`day it is due, YYYY-MM-DD"},"hours":{"type":"integer","maximum":8}},"required":["text"],` +
		`"additionalProperties":false}`
	for raw, want := range map[string]string{
		`{"text":"tea","due":"nächsten Freitag"}`: `{"due":"2026-11-27","text":"tea"}`,
		`{"text":"tea","due":"übermorgen"}`:       `{"due":"2026-11-26","text":"tea"}`,
		// the tool itself reports what it accepts
		`{"text":"tea","due":"2026-11-27T10:00"}`:  `{"text":"tea","due":"2026-11-27T10:00"}`,
		`{"text":"tea","due":"next week"}`:         `{"text":"tea","due":"next week"}`,
		`{"text":"tea","tag":""}`:                  `{"text":"tea"}`,
		`{"task":"tea"}`:                           "t has no task: it takes text, due, hours",
		`{"text":"tea","due_date":"2026-11-27"}`:   "t has no due_date: it takes text, due, hours",
		`{"text":"tea","due":"x","date":"friday"}`: "t has no date: it takes text, due, hours",
		`{"text":"tea","hours":12}`:                "invalid arguments for t: hours: maximum: got 12, want 8",
	} {
		got, err := (&Schemas{Now: today}).Repair(schemaTool{schema: task}, json.RawMessage(raw))
		said := got.Input.String()
		if err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%s: got %s, want %s", raw, said, want)
		}
	}
	got, err := (&Schemas{Now: today}).Repair(schemaTool{schema: task, reads: true},
		json.RawMessage(`{"text":"tea","priority":"high","due":"Monday"}`))
	if want := `{"due":"2026-11-23","text":"tea"}`; err != nil || got.Input.String() != want ||
		strings.Join(got.Lost, " ") != "priority is not an argument" {
		t.Errorf("a call that only reads: %s, %q, %v, want %s", got.Input, got.Lost, err, want)
	}
}
