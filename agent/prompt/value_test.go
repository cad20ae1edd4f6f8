package prompt

import "testing"

func TestAValueIsReadFromAnyReply(t *testing.T) {
	for reply, want := range map[string]string{
		`{"a": 1}`:                           `{"a": 1}`,
		"3\n":                                "3",
		`"three"`:                            `"three"`,
		"null":                               "null",
		`["a"]`:                              `["a"]`,
		"<think>{\"a\":0}</think>\n\n[1, 2]": "[1, 2]",
		"```json\n[true]\n```":               "[true]",
		"Here it is:\n{\"a\": {\"b\": []}}\nDone.": `{"a": {"b": []}}`,
		"three times": "",
		"":            "",
		`{"a": `:      "",
	} {
		if got, err := Value(reply); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %s, %v; want %s", reply, got, err, want)
		}
	}
}
