// Package fingerprint recognizes text by fingerprints of its letters and
// digits, wherever it occurs in other text.
package fingerprint

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// Text is recognized by fingerprints of runs of its letters and digits; spaces,
// punctuation, list markers and case do not matter. docs/figures/gate.md has
// the measurements behind these values.
const (
	// Run is the number of characters in one fingerprint. Of every printWindow
	// consecutive runs the smallest is chosen (winnowing), so that any two
	// texts with LongRun characters in common share a fingerprint.
	Run         = 25
	printWindow = 6
	LongRun     = Run + printWindow - 1
	// shortRun is the length of the shortest text that is recognized. Text
	// shorter than LongRun is recognized only if it is a whole text, line or
	// sentence.
	shortRun = 8
	// leastLine is the minimum length for a line or sentence of a longer text
	// to be recognized alone, unless it contains leastNumber digits: pages are
	// full of "Read more".
	leastLine   = 20
	leastNumber = 5
)

// Of returns the fingerprints that a text is recognized by.
func Of(text string) []int64 { return Except(text, false, &Own{}) }

// Own is text that the user wrote. Runs of it do not identify other text.
type Own struct {
	texts   []string // not yet in letters and runs, which are computed on first use
	letters strings.Builder
	runs    map[int64]bool
}

// Add adds texts.
func (o *Own) Add(texts ...string) { o.texts = append(o.texts, texts...) }

func (o *Own) take() {
	if o.runs == nil {
		o.runs = map[int64]bool{}
	}
	texts := o.texts
	o.texts = nil
	for _, text := range texts {
		letters := Letters(withoutAddresses(text))
		o.letters.WriteString(string(letters) + "\n")
		for _, run := range runsOf(letters) {
			o.runs[run] = true
		}
	}
}

// Except returns the fingerprints of a text without those that also occur in
// own. If written is set, every line of at least two words is fingerprinted
// alone, however short: the text was composed rather than copied from a page.
func Except(text string, written bool, own *Own) []int64 {
	own.take()
	text = withoutAddresses(text)
	letters := Letters(text)
	prints := slices.DeleteFunc(winnowed(letters), func(run int64) bool { return own.runs[run] })
	add := func(unit []rune) {
		if !strings.Contains(own.letters.String(), string(unit)) {
			prints = append(prints, short(unit)...)
		}
	}
	whole := len(letters) < LongRun
	if whole {
		add(letters)
	}
	for line := range strings.Lines(text) {
		if letters := Letters(line); whole || isTelling(letters) || written && len(strings.Fields(line)) > 1 {
			add(letters)
		}
		for _, part := range partsOf(line) {
			if isTelling(part) {
				add(part)
			}
		}
	}
	slices.Sort(prints)
	return slices.Compact(prints)
}

// lengthOf returns the length of a text in characters, where one of a script
// without spaces counts three.
func lengthOf(letters []rune) (n int) {
	for _, r := range letters {
		if text.Unspaced(r) {
			n += 2
		}
		n++
	}
	return n
}

// isTelling reports whether a line of a longer text is distinctive enough to be
// recognized alone.
func isTelling(letters []rune) bool {
	digits := 0
	for _, r := range letters {
		if unicode.IsNumber(r) {
			digits++
		}
	}
	return lengthOf(letters) >= leastLine || digits >= leastNumber && (digits < len(letters) || digits > len("20061231"))
}

// In returns all fingerprints that may be found in a text, including those of
// its parts.
func In(text string) []int64 {
	text = withoutAddresses(text)
	prints := winnowed(Letters(text))
	for line := range strings.Lines(text) {
		parts := partsOf(line)
		for i := range parts {
			hash, letters, length := uint64(emptySum), 0, 0
			for _, part := range parts[i:] {
				if letters += len(part); letters >= LongRun {
					break
				}
				hash = sumRunes(hash, part)
				if length += lengthOf(part); length >= shortRun {
					prints = append(prints, ^int64(hash)) // like short
				}
			}
		}
	}
	slices.Sort(prints)
	return slices.Compact(prints)
}

// Within reports whether text occurs in longer as whole lines, so that [In]
// finds in longer every fingerprint that it finds in text. Spaces around text
// do not matter.
func Within(text, longer string) bool {
	return strings.Contains("\n"+longer+"\n", "\n"+strings.Trim(text, " \t\r\n")+"\n")
}

// partsOf splits a line at sentence punctuation, list markers and the brackets
// and quotes that tools put around text, and returns the letters of each part.
// A number is a part.
func partsOf(line string) (parts [][]rune) {
	for _, clause := range strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(".,!?:;–—()[]{}<>|/=\"“”'‘’`«»*_#~。，、：；！？（）「」『』【】", r) || unicode.IsControl(r) || unicode.Is(unicode.So, r)
	}) {
		var part []rune
		for word := range strings.FieldsSeq(clause) {
			letters := Letters(word)
			if len(letters) == 0 || unicode.IsNumber(letters[0]) { // a lone sign, or a number
				parts = append(parts, part, letters)
				part = nil
				continue
			}
			part = append(part, letters...)
		}
		parts = append(parts, part)
	}
	return slices.DeleteFunc(parts, func(part []rune) bool { return len(part) == 0 })
}

func short(letters []rune) []int64 {
	if lengthOf(letters) < shortRun || len(letters) >= LongRun {
		return nil
	}
	return []int64{^fingerprint(letters)} // inverted, to differ from that of a run
}

func winnowed(letters []rune) (prints []int64) {
	if len(letters) < LongRun {
		return nil
	}
	runs := runsOf(letters)
	for i := range runs[printWindow-1:] {
		if least := slices.Min(runs[i : i+printWindow]); len(prints) == 0 || prints[len(prints)-1] != least {
			prints = append(prints, least)
		}
	}
	return prints
}

func runsOf(letters []rune) []int64 {
	if len(letters) < Run {
		return nil
	}
	text, starts := make([]byte, 0, 2*len(letters)), make([]int, 0, len(letters)+1)
	for _, r := range letters {
		starts = append(starts, len(text))
		text = utf8.AppendRune(text, r)
	}
	starts = append(starts, len(text))
	runs := make([]int64, len(letters)-Run+1)
	for i := range runs {
		runs[i] = int64(sum(emptySum, text[starts[i]:starts[i+Run]]))
	}
	return runs
}

func fingerprint(letters []rune) int64 { return int64(sumRunes(emptySum, letters)) }

// emptySum is the FNV-1a hash of an empty text.
const emptySum = 14695981039346656037

// sum extends an FNV-1a hash. Changing it would invalidate the saved
// fingerprints.
func sum(hash uint64, text []byte) uint64 {
	for _, b := range text {
		hash = (hash ^ uint64(b)) * 1099511628211
	}
	return hash
}

func sumRunes(hash uint64, letters []rune) uint64 {
	var encoded [utf8.UTFMax]byte
	for _, r := range letters {
		hash = sum(hash, utf8.AppendRune(encoded[:0], r))
	}
	return hash
}

// webAddress matches a web address in a text.
var webAddress = pattern.Lazy(`(?i)https?://[^\s<>"'` + "`" + `)\]}]+`)

// withoutAddresses replaces each web address with a part derived from its hash,
// because most of an address is that of its site.
func withoutAddresses(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return webAddress.ReplaceAllStringFunc(text, func(address string) string {
		bare := strings.TrimRight(address, ".,;:!?*_~/")
		sum := sha256.Sum256([]byte(strings.ToLower(bare)))
		return "|" + base32.StdEncoding.EncodeToString(sum[:])[:leastLine] + "|" + address[len(bare):]
	})
}

// Letters returns the letters and digits of a text in lower case.
func Letters(text string) []rune {
	letters := make([]rune, 0, len(text))
	for _, r := range norm.NFKC.String(text) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return letters
}
