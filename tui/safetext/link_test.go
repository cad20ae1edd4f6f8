package safetext

import (
	"strings"
	"testing"
)

func TestOnlyPagesAndMailsBecomeLinks(t *testing.T) {
	page := "https://a.example/"
	for address, want := range map[string]bool{
		"https://a.example":        true,
		"HTTP://a.example/b?c#d":   true,
		"mailto:a@b.example":       true,
		"https://":                 false,
		"mailto:":                  false,
		"a.example":                false,
		"file:///home/a/n.md":      false,
		"file://evil/x":            false,
		"javascript:alert(1)":      false,
		"https://a.example/\u202e": false,
		"https://a.example/ b":     false,
		"https://a.example/\x1b]":  false,
		"https://a.example/%zz":    false,
		"https://b.com@a.example/": false,
		"":                         false,

		page + strings.Repeat("a", maxLink-len(page)):   true,
		page + strings.Repeat("a", maxLink-len(page)+1): false,
	} {
		if got := LinkAllowed(address); got != want {
			t.Errorf("LinkAllowed(%q) = %v, want %v", address, got, want)
		}
	}
}
