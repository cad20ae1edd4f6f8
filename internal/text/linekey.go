package text

import (
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// dateOf matches a date of these centuries.
const dateOf = `(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`

var (
	// lineStart matches what precedes the text of a line: indent, quotation, list
	// sign and checkbox.
	lineStart = regexp.MustCompile(`^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[.\]\s+)?`)
	// lineDate matches a date, as Obsidian Tasks, Dataview and LifeHub write them.
	lineDate = regexp.MustCompile(`(?i)[\[(](?:due|scheduled|start|created|done|completion|cancelled)::\s*` + dateOf +
		`[\])]|(?:[📅🗓⏳⌛🛫✅➕❌]\x{FE0F}?\s*)?\b` + dateOf + `\b`)
	// factEnd matches the date and origin at the end of a fact.
	factEnd = regexp.MustCompile(`\s\((?:\d{4}-\d\d-\d\d|you|chat [a-z2-7]{8}|untrusted|foreign)(?:, (?:you|chat ` +
		`[a-z2-7]{8}|untrusted|foreign))*\)\s*$`)
	headline = regexp.MustCompile(`^ {0,3}#{1,6}(?:\s|$)`)
)

// LineText returns what a line of a note says, in NFC, without indent, list sign, checkbox, dates,
// the origin of a fact and spaces at the end: ticking off or moving on a task does not change it. It is "" for a
// heading and for a line without letter or digit.
func LineText(line string) string {
	if headline.MatchString(line) {
		return ""
	}
	bare := norm.NFC.String(line)
	bare = factEnd.ReplaceAllString(bare[len(lineStart.FindString(bare)):], "")
	bare = OneLine(lineDate.ReplaceAllString(bare, " "))
	if !strings.ContainsFunc(norm.NFKC.String(bare), func(r rune) bool {
		return unicode.IsLetter(r) ||
			unicode.IsNumber(r)
	}) {
		return ""
	}
	return bare
}

// LineKey returns the key by which a line of a note is recognised: the first 64 bits of the SHA-256
// of its [LineText]. It reports false if that is empty.
func LineKey(line string) (int64, bool) {
	said := LineText(line)
	if said == "" {
		return 0, false
	}
	sum := sha256.Sum256([]byte(said))
	return int64(binary.BigEndian.Uint64(sum[:])), true
}

// LineKeys returns the keys of those lines that have one.
func LineKeys(lines []string) (keys []int64) {
	for _, line := range lines {
		if key, ok := LineKey(line); ok {
			keys = append(keys, key)
		}
	}
	return keys
}
