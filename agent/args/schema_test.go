package args

import (
	"encoding/json"
	"strings"
	"testing"

	"lifehub/llm"
)

func TestASchemaMayNotFetchAnother(t *testing.T) {
	err := Check(json.RawMessage(`{"$ref":"file:///etc/passwd"}`), json.RawMessage(`{}`))
	if err == nil || !strings.Contains(err.Error(), "may not load") {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerThatDoesNotFitIsToldInPlainWords(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"deep":{"type":"integer","maximum":30},"bed":{"type":"string"},"day":{"type":"string","format":"date"}},"required":["bed"]}`)
	for content, want := range map[string]string{
		`{"bed":"north","deep":99}`:      "deep: maximum: got 99, want 30",
		`{}`:                             "missing property 'bed'",
		`{"bed":"north","day":"monday"}`: "day: 'monday' is not valid date",
	} {
		if err := Check(schema, json.RawMessage(content)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", content, err, want)
		}
	}
}

func TestAKeyThatIsThereTwiceIsWrittenOnce(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"\u0061":2}`:         `{"a":2}`,
		`{"b":[{"a":1, "a":"x,y"}]}`: `{"b":[{"a":"x,y"}]}`,
		`{"b":{"a":1}, "a":{"b":1}}`: `{"b":{"a":1},"a":{"b":1}}`,
	} {
		if got, _, err := new(Schemas).Repair(llm.ToolSpec{Name: "t"}, json.RawMessage(raw)); err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v", raw, got, err)
		}
	}
}

func TestArgumentsKeepTheOrderOfTheirSchema(t *testing.T) {
	got := PropertyOrder(json.RawMessage(`{"type":"object","properties":{"z":{"properties":{"x":{}}},"a":{},"m":true}}`))
	if strings.Join(got, " ") != "z a m" {
		t.Errorf("got %q", got)
	}
}
