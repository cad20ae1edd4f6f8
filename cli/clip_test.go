package cli

import "testing"

func TestClipTakesNoAddressThatHidesItsHost(t *testing.T) {
	for given, want := range map[string]string{
		"example.org/a":                            "https://example.org/a",
		"http://Example.org":                       "http://example.org",
		"https://accounts.google.com@evil.example": "",
		"accounts.google.com@evil.example/login":   "",
		"https:///evil.example":                    "",
		"example.org:8080/x":                       "https://example.org:8080/x",
		"localhost:8080":                           "https://localhost:8080",
		"example.org/a?to=http://example.com/":     "https://example.org/a?to=http://example.com/",
		"HTTP://example.org/a":                     "http://example.org/a",
		"example.org:8080?a:b":                     "https://example.org:8080?a:b",
		"mailto:a@b":                               "",
		"javascript:alert(1)":                      "",
		"data:text/html,x":                         "",
		"file:///x":                                "",
		"https:/evil":                              "",
		"https:evil":                               "",
		"tel:1-2":                                  "",
		"javascript:1;alert(2)":                    "",
		"2130706433/x":                             "",
	} {
		if got, err := clipAddress(given); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", given, got, err)
		}
	}
}
