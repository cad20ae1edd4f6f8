package llm

import (
	"strings"
	"testing"
)

func TestErrorsOfAnyShapeHaveTheirText(t *testing.T) {
	for document, want := range map[string]string{
		`{"error":"boom"}`: "boom", `{"error":{"message":"boom","type":"x"}}`: "boom",
		`{"object":"error","message":"boom","code":400}`: "boom", `{"detail":"boom"}`: "boom",
		`[{"error":{"code":400,"message":"boom"}}]`: "boom", `{"errors":[{"message":"boom"},{"message":"no"}]}`: "boom",
		`{"errors":["boom"]}`: "boom", `{"error":{"error":{"message":"boom"}}}`: "boom",
		`"boom"`: "boom", `boom`: "boom",
		`{"detail":[{"loc":["body","x"],"msg":"no"}]}`: `{"loc":["body","x"],"msg":"no"}`,
		`{"error":{"message":null,"code":7}}`:          `{"message":null,"code":7}`,
		`{"error":"","message":"boom"}`:                "boom", `{"title":"no"}`: `{"title":"no"}`,
		`{}`: "", `[]`: "", `[ ]`: "[ ]", `null`: "", `""`: "", ``: "",
	} {
		if got := ErrorText([]byte(document)); got != want {
			t.Errorf("%s: got %q, want %q", document, got, want)
		}
	}
	if got := ErrorText([]byte(strings.Repeat(`{"error":`, 5000) + `"boom"` +
		strings.Repeat("}", 5000))); !strings.HasSuffix(got, `"boom"}`+strings.Repeat("}", 4994)) {
		t.Errorf("nested deeply: got %.40q", got)
	}
	for _, fine := range []string{
		`{"choices":[],"usage":{}}`, `{"error":null,"x":1}`, `{"error":{}}`,
		`{"error":"","message":""}`, `{"errors":[]}`,
		`{"error":false}`, `7`, `boom`, `{"error":`, ``, `[]`, `[ ]`, `[{"x":1}]`,
	} {
		if got := ErrorIn([]byte(fine)); got != "" {
			t.Errorf("%s: got %q", fine, got)
		}
	}
}
