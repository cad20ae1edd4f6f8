package text

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Key returns the form in which names, tags and paths are compared: in NFC and,
// as by Unicode's simple case folding, without regard to case. Two names of the
// same key may be those of different files: a key is never written to.
func Key(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}
