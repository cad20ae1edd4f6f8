package agent

import (
	"strings"
	"testing"
)

func TestAddressIsReadByItsHost(t *testing.T) {
	for address, want := range map[string]struct{ whole, site string }{
		"https://Docs.Example.org/a?b#c":    {"https://docs.example.org/a?b#c", "example.org"},
		" http://shop.example.co.uk:8080/ ": {"http://shop.example.co.uk:8080/", "example.co.uk"},
		"https://accounts.google.com.evil.example/login": {
			"https://accounts.google.com.evil.example/login",
			"evil.example",
		},
		"https://p\u0430ypal.example/": {
			"https://xn--pypal-4ve.example/",
			"xn--pypal-4ve.example",
		},
		"https://m\u00fcller\uff0ede/":                   {"https://xn--mller-kva.de/", "xn--mller-kva.de"},
		"https://ana.github.io/":                         {"https://ana.github.io/", "ana.github.io"},
		"http://127.0.0.1:8080/":                         {"http://127.0.0.1:8080/", "127.0.0.1"},
		"http://[::1]:8080/":                             {"http://[::1]:8080/", "::1"},
		"http://localhost/":                              {"http://localhost/", "localhost"},
		"http://note_server:3000/":                       {"http://note_server:3000/", "note_server"},
		"https://accounts.google.com@evil.example/login": {},
		"https://accounts.google.com:x@evil.example/":    {},
		"https://@evil.example/":                         {},
		`https://accounts.google.com\@evil.example/`:     {},
		"https:evil.example":                             {},
		"https:///evil.example":                          {},
		"http://2130706433/":                             {},
		"http://0x7f.1/":                                 {},
		"http://127.1:8080/":                             {},
		"http://0177.0.0.1/":                             {},
		"http://0X7F000001/":                             {},
		"http://127.0.0.0x1./":                           {},
		"http://0x/":                                     {},
		"http://127.0.0.1./":                             {},
		"http://evil.example.1/":                         {},
		"http://\uff11\uff12\uff17.1/":                   {},
		"https://1.example/":                             {"https://1.example/", "1.example"},
		"https://0xcafe.example/":                        {"https://0xcafe.example/", "0xcafe.example"},
		"javascript:alert(1)":                            {},
		"file:///etc/passwd":                             {},
		"https://a\u200b.example/":                       {"https://a.example/", "a.example"},
		"https://google.com\u2044login.evil.example/": {
			"https://google.xn--comlogin-g03d.evil.example/",
			"evil.example",
		},
		"https://google.com\"login.evil.example/": {},
		"https://" + strings.Repeat("a.", 60) + "evil.example/": {"https://" + strings.Repeat("a.", 60) +
			"evil.example/", "evil.example"},
	} {
		u, site, err := ReadAddress(address)
		if err != nil {
			if want.whole != "" {
				t.Errorf("%s: %v", address, err)
			}
			continue
		}
		if u.String() != want.whole || site != want.site {
			t.Errorf("%s: got %s of %s, want %s of %s", address, u, site, want.whole, want.site)
		}
		if shown := ShownHost(u, site); !strings.Contains(shown, site) || len(shown) > len(site)+maxHost {
			t.Errorf("%s: shown as %s", address, shown)
		}
	}
}
