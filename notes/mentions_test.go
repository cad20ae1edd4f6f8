package notes

import (
	"fmt"
	"testing"
)

func TestMentionsAreWordsOutsideLinksAndCode(t *testing.T) {
	text := "---\ntitle: Ride\n---\n# Bike\n\nMy bike, a [[Bike]] and a [bike](bike.md).\nA motorbike; `bike` and " +
		"bikes.\n" +
		"\n```\nbike\n```\n\n> the BIKE!\n\n- 我的自行车在家。 [[Bike]] bike\n"
	n := Parse(Entry{Path: "n.md"}, []byte(text))
	for names, want := range map[string]string{
		"bike": "[4 6 13 15]", "自行车": "[15]", "my bike": "[6]", "of": "[]", "(": "[]", "Bike!": "[13]",
		"a motorbike;": "[7]", "ride": "[]",
	} {
		if got := fmt.Sprint(n.Mentions([]string{names})); got != want {
			t.Errorf("%s: lines %s, want %s", names, got, want)
		}
	}
	if got := fmt.Sprint(n.Mentions([]string{"bike", "自行车"})); got != "[4 6 13 15]" {
		t.Errorf("two names: lines %s", got)
	}
}
