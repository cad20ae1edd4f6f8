package text

import (
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestLineIsKnownWhateverLifeHubChangesInIt(t *testing.T) {
	t.Parallel()
	same := []string{
		"pay the owner in cash", "  - [ ] pay the owner in cash", "* [x] pay the owner in cash ✅ 2026-11-28",
		"12. pay the owner in cash  \r",
		"- [ ] pay the owner in cash 📅 2026-12-01", "- [ ] pay the owner in cash 🗓️ 2026-12-08",
		"> - pay the owner in cash [due:: 2026-12-01]",
		"- pay the owner in cash (2026-11-28, chat abcd2345, untrusted)", "- pay the owner in cash (you)",
	}
	want, ok := LineKey(same[0])
	for _, line := range same {
		if got, has := LineKey(line); !ok || !has || got != want {
			t.Errorf("%q has another key", line)
		}
	}
	for _, line := range []string{
		"pay the owner", "Pay the owner in cash", "pay the owner in cash, now",
		"pay the owner in cash [wire_it:: 2026-11-30]", "pay the owner in cash 1234-56-78",
		"pay the owner in cash (chat then,wire-it)",
	} {
		if got, _ := LineKey(line); got == want {
			t.Errorf("%q has the same key", line)
		}
	}
	for _, line := range []string{"ⓟⓐⓨ", "    # pay the owner", "[wire_it:: 2026-11-30]"} {
		if _, has := LineKey(line); !has {
			t.Errorf("%q has no key", line)
		}
	}
	for _, line := range []string{
		"", "  ", "---", "- [ ] ", "# pay the owner in cash", "  ### pay",
		"| --- | :-: |", "2026-11-28",
	} {
		if _, has := LineKey(line); has {
			t.Errorf("%q has a key", line)
		}
	}
}

func TestKeyOfALineIgnoresItsForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.String().Draw(t, "line")
		key, ok := LineKey(norm.NFC.String(line))
		if got, has := LineKey(norm.NFD.String(line)); got != key || has != ok {
			t.Fatalf("%q has another key decomposed", line)
		}
		if got, has := LineKey(line + " \t\r"); got != key || has != ok {
			t.Fatalf("%q has another key with spaces at its end", line)
		}
	})
}
