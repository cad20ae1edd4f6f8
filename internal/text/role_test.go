package text

import "testing"

func TestRoleIsOfTheExactWord(t *testing.T) {
	for _, c := range []struct {
		word string
		role Role
		want bool
	}{
		{"not", Negation, true},
		{"nicht", Negation, true},
		{"if", Hedge, true},
		{"if", Negation, false},
		{"if", Negation | Hedge, true},
		{"according", Saying, true},
		{"boiler", 1<<16 - 1, false},
		{"", 1<<16 - 1, false},
	} {
		if got := Is(c.word, c.role); got != c.want {
			t.Errorf("%q has role %b: %v", c.word, c.role, got)
		}
	}
	for s, want := range map[string]bool{"走らない": true, "走る": false, "가지 마": true, "간다": false} {
		if got := NegatesWithin(s); got != want {
			t.Errorf("%s is negated: %v", s, got)
		}
	}
}

// Words that negate or weaken a statement always count when texts are compared.
func TestMeaningfulWordsAreNeverOmitted(t *testing.T) {
	for word := range roles() {
		if Is(word, Saying) && Is(word, Negation|Hedge) {
			t.Errorf("%q is left out, and turns or weakens a sentence", word)
		}
	}
}
