package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
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

// secretsByValue returns the secrets in a value of unknown meaning: the value and each part of it
// that is not plain. Plain are values that are not credentials, such as paths, numbers, words, and
// URLs without a password.
func secretsByValue(value string) []string {
	value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), "\"'`"))
	if scheme := authorization.FindStringSubmatch(value); scheme != nil {
		values := []string{scheme[1]}
		if pair, err := base64.StdEncoding.DecodeString(scheme[1]); err == nil && utf8.Valid(pair) {
			_, password, _ := strings.Cut(string(pair), ":")
			values = append(values, string(pair), password)
		}
		return values
	}
	if len(value) < shortestByValue || isPlain(value) {
		return nil
	}
	values := append([]string{value}, secretsInURL(value)...)
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;&|?/@\"'{}[]()<>", r) }) {
		name, after, _ := strings.Cut(part, "=")
		if secretName.MatchString(name) {
			values = append(values, after)
		}
		for _, text := range []string{part, after, part[strings.LastIndexByte(part, ':')+1:]} {
			if len(text) >= shortestByValue && !isPlain(text) {
				values = append(values, text, strings.TrimRight(text, "="))
			}
		}
	}
	return values
}

// plainValues match values that are not credentials, whatever their length.
var plainValues = []*regexp.Regexp{
	regexp.MustCompile(`^[+-]?\d[\d_.,]*(?i:e[+-]?\d+|ms|s|m|h|d|[kmgt]i?b?|px|%)?$`),                                                  // numbers, sizes, durations
	regexp.MustCompile(`^v?\d+(?:\.\d+)+(?:[-+][a-z]+[.\d]*)?$`),                                                                       // versions
	regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$|^\d{2}:\d{2}(?::\d{2})?$`), // dates and times
	regexp.MustCompile(`^[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$`),                                                   // mail addresses
	regexp.MustCompile(`^(?:[a-z][a-z-]*\d{0,3}\.)+[a-z]{2,6}(?::\d+)?$|^localhost(?::\d+)?$`),                                         // hosts
	regexp.MustCompile(`^(?:[A-Za-z]:[\\/]|\\\\)[^"<>|]*$`),                                                                            // Windows paths
}

// isPlain reports whether a value is not a credential, including as an item of a list or after a
// name. A boolean counts as a word.
func isPlain(value string) bool {
	value = strings.TrimPrefix(strings.TrimSpace(value), "*.")
	for _, plain := range plainValues {
		if plain.MatchString(value) {
			return true
		}
	}
	switch {
	case value == "" || isName(value) || isPath(value) || isIP(value):
		return true
	case strings.HasPrefix(value, "{") || strings.HasPrefix(value, "["):
		return isPlainJSON(value)
	}
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		return isPlainURL(u)
	}
	for _, between := range []string{",", ";", ":/", " "} { // separators of lists; the last is for flags
		items := strings.Split(value, between)
		if len(items) < 2 || between == " " && !strings.HasPrefix(value, "-") {
			continue
		}
		for i, item := range items {
			if between == ":/" && i > 0 {
				item = "/" + item
			}
			if !isPlain(item) {
				return false
			}
		}
		return true
	}
	name, after, isPair := strings.Cut(strings.TrimLeft(value, "-"), "=")
	return isPair && isWord(name) && !secretName.MatchString(name) && isPlain(after)
}

// isPath reports whether a value is a file path or looks like one, as text/plain does. A base64 key
// may contain slashes too.
func isPath(value string) bool {
	rest, rooted := value, false
	for _, root := range []string{"/", "~/", "./", "../", "file:///"} {
		if after, ok := strings.CutPrefix(value, root); ok {
			rest, rooted = after, true
		}
	}
	if !rooted && !strings.Contains(value, "/") {
		return false
	}
	for i, part := range strings.Split(rest, "/") {
		if part = strings.TrimPrefix(part, "@"); rooted && i > 0 && len(part) < 40 && !strings.ContainsAny(part, "+=") {
			continue // below the first folder, names are arbitrary
		}
		if part != "" && !isWord(strings.Trim(part, "*")) && !(rooted && len(part) < shortestByValue) && !plainValues[0].MatchString(part) {
			return false
		}
	}
	return true
}

// isPlainURL reports whether a URL contains no credential. The host cannot be one.
func isPlainURL(u *url.URL) bool {
	if _, has := u.User.Password(); has || !isShortOrPlain(u.User.Username()) || !isShortOrPlain(u.Fragment) {
		return false
	}
	for _, part := range strings.Split(u.Path, "/") {
		if !isShortOrPlain(part) {
			return false
		}
	}
	for name, list := range u.Query() {
		for _, value := range list {
			if secretName.MatchString(name) || !isPlain(value) {
				return false
			}
		}
	}
	return true
}

func isShortOrPlain(text string) bool { return len(text) < shortestByValue || isPlain(text) }

// isPlainJSON reports whether a JSON value contains no credential.
func isPlainJSON(text string) bool {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return false
	}
	var plain func(name string, value any) bool
	plain = func(name string, value any) bool {
		switch v := value.(type) {
		case string:
			return !secretName.MatchString(name) && isPlain(v)
		case []any:
			for _, item := range v {
				if !plain(name, item) {
					return false
				}
			}
		case map[string]any:
			for name, item := range v {
				if !plain(name, item) {
					return false
				}
			}
		}
		return true
	}
	return plain("", value)
}

// isIP reports whether a value is an IP address or network.
func isIP(value string) bool {
	_, notAddress := netip.ParseAddr(value)
	_, notNetwork := netip.ParsePrefix(value)
	return notAddress == nil || notNetwork == nil
}

// mostWords bounds the words of a name; a passphrase has more.
const mostWords = 3

// isName reports whether a value may be an ordinary word, or a few joined by spaces, hyphens,
// underscores and dots.
func isName(value string) bool {
	words := 0
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" -_.", r) }) {
		if isLikeWord(word) {
			words++
		}
	}
	return words <= mostWords && isWord(strings.ReplaceAll(value, " ", "-"))
}

// isWord reports whether a value may be an ordinary word, or several joined by hyphens, underscores
// and dots. The last part may be one digit, as in us-east-1.
func isWord(value string) bool {
	parts := strings.FieldsFunc(value, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	for i, part := range parts {
		isDigit := len(part) == 1 && part[0] >= '0' && part[0] <= '9'
		if !isLikeWord(part) && !(isDigit && i > 0 && i == len(parts)-1) {
			return false
		}
	}
	return len(parts) > 0
}

// hump matches a word or an identifier such as inMemory or HTTPServer.
var hump = regexp.MustCompile(`^(?:\p{Ll}+|\p{Lu}+|\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}{2,})*|\p{Lo}+)$`)

// isLikeWord distinguishes a word from random characters by its length, its capitals, its vowels
// and its rare consonants.
func isLikeWord(text string) bool {
	const longestWord, shortWord = 20, 5
	letters, vowels, rare, run, longestRun := 0, 0, 0, 0, 0
	for _, r := range strings.ToLower(text) {
		letters++
		run++
		switch {
		case strings.ContainsRune("aeiouy", r) || r > unicode.MaxASCII:
			vowels++
			run = 0
		case strings.ContainsRune("jqxz", r):
			rare++
		}
		longestRun = max(longestRun, run)
	}
	switch {
	case letters > longestWord || !hump.MatchString(text):
		return false
	case letters <= shortWord:
		return true
	}
	return longestRun <= 5 && rare <= 1 && 5*vowels >= letters
}
