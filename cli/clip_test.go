package cli

import "testing"

func TestClipTakesNoAddressThatHidesItsHost(t *testing.T) {
	for given, want := range map[string]string{
		"example.org/a":                            "https://example.org/a",
		"http://Example.org":                       "http://example.org",
		"https://accounts.google.com@evil.example": "",
		"accounts.google.com@evil.example/login":   "",
		"https:///evil.example":                    "",
	} {
		if got, err := clipAddress(given); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", given, got, err)
		}
	}
}
