package settings

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestByValue is the minimum length in bytes for a value of a server's env or headers to be
// taken for a secret by its form.
const shortestByValue = 8

// authorization matches a header value that begins with a scheme.
var authorization = regexp.MustCompile(`(?i)^(?:bearer|basic|token|bot|api-?key|key|digest|negotiate)\s+(.+)$`)

// secretsByValue returns the secrets in a value of unknown meaning: each part of it that is neither
// a number nor words, and then the value itself. Paths have none.
func secretsByValue(value string) (values []string) {
	value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), "\"'`"))
	if scheme := authorization.FindStringSubmatch(value); scheme != nil {
		values := []string{scheme[1]}
		if pair, err := base64.StdEncoding.DecodeString(scheme[1]); err == nil && utf8.Valid(pair) {
			_, password, _ := strings.Cut(string(pair), ":")
			values = append(values, string(pair), password)
		}
		return values
	}
	if len(value) < shortestByValue || isPath(value) {
		return nil
	}
	hidden := phrase.MatchString(value)
	name := "" // the part before this one
	for _, part := range strings.FieldsFunc(value, func(r rune) bool {
		return unicode.IsSpace(r) ||
			strings.ContainsRune(`,;:&|?/\@="'{}[]()<>*`, r)
	}) {
		switch strange := strange.MatchString(part); {
		case secretName.MatchString(name):
			values, hidden = append(values, part), true
		case len(part) >= shortestByValue && !isPlain(part):
			values, hidden = append(values, part), true
		case strange:
			hidden = true
		}
		name = part
	}
	if hidden {
		values = append(values, value, strings.TrimRight(value, "="))
	}
	return values
}

var (
	// phrase matches more words than a name has.
	phrase = regexp.MustCompile(`^\pL+(?: \pL+){3,}$`)
	// strange matches a sign that neither words nor numbers hold.
	strange = regexp.MustCompile(`[^\pL\pN\pM._+~%-]`)
	number  = regexp.MustCompile(`^[+-]?\d[\d_.,T-]*(?i:e[+-]?\d+|ms|s|m|h|d|z|[kmgt]i?b?|px|%)?$`)
	version = regexp.MustCompile(`^v?\d+(?:\.\d+)+(?:[-+][a-z]+[.\d]*)?$`)
	host    = regexp.MustCompile(`^(?:[a-z][a-z-]*\d{0,3}\.)+[a-z]{2,6}$`)
)

// isPlain reports whether a part is a number, a version, a host or a few words.
func isPlain(part string) bool {
	return number.MatchString(part) || version.MatchString(part) || host.MatchString(part) || isWords(part)
}

// isPath reports whether a value is a file path from a root. A key in base64 may begin as one does.
func isPath(value string) bool {
	const longestName = 40
	if !rooted.MatchString(value) || strings.ContainsAny(value, "+=") {
		return false
	}
	for name := range strings.SplitSeq(value, "/") {
		if len(name) > longestName {
			return false
		}
	}
	return true
}

var rooted = regexp.MustCompile(`^(?:/|~/|\.\.?/|file:///|[A-Za-z]:[\\/]|\\\\)`)

// isWords reports whether a part may be up to three ordinary words, or a flag of any number, joined
// by hyphens, underscores and dots. The last may be one digit, as in us-east-1.
func isWords(part string) bool {
	const most = 3 // a passphrase has more
	words := strings.FieldsFunc(part, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	for i, word := range words {
		isDigit := len(word) == 1 && word[0] >= '0' && word[0] <= '9'
		if !isLikeWord(word) && !(isDigit && i > 0 && i == len(words)-1) {
			return false
		}
	}
	return len(words) <= most || strings.HasPrefix(part, "-")
}

// hump matches a word or an identifier such as inMemory or HTTPServer.
var hump = regexp.MustCompile(`^(?:\p{Ll}+|\p{Lu}+|\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}{2,})*|\p{Lo}+)$`)

// isLikeWord distinguishes a word from random characters by its length, its capitals and its vowels.
func isLikeWord(text string) bool {
	const longestWord, shortWord, mostConsonants = 20, 5, 5
	letters, vowels, run, longestRun := 0, 0, 0, 0
	for _, r := range strings.ToLower(text) {
		letters++
		run++
		if strings.ContainsRune("aeiouy", r) || r > unicode.MaxASCII {
			vowels++
			run = 0
		}
		longestRun = max(longestRun, run)
	}
	if letters > longestWord || !hump.MatchString(text) {
		return false
	}
	return letters <= shortWord || longestRun <= mostConsonants && 5*vowels >= letters
}
