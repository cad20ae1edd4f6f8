// Package fingerprint knows a text again by fingerprints of its letters, wherever
// and whatever it is part of.
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

// A text is known again by fingerprints of runs of its letters and digits;
// blanks, signs, marks of lists and case do not count. docs/figures/gate.md
// has the figures that these were chosen by.
const (
	// Run is how many letters have one fingerprint. Of printWindow runs that
	// follow one another the least is taken (winnowing), so that two texts which
	// share longRun letters share a fingerprint, wherever these stand.
	Run         = 25
	printWindow = 6
	LongRun     = Run + printWindow - 1
	// shortRun is the least that is known again. What is shorter than longRun is
	// so as a whole only: as a text, or as a line or sentence of a text.
	shortRun = 8
	// leastLine is the least that a line or a sentence of a longer text must have
	// to be known alone, unless it holds a number of leastNumber digits: pages
	// are full of "Read more".
	leastLine   = 20
	leastNumber = 5
)

// Of are what a text is remembered by.
func Of(text string) []int64 { return Except(text, false, &Own{}) }

// Own is what the user wrote: runs of it are no sign of another text.
type Own struct {
	texts   []string // that letters and runs do not hold yet: mostly nobody asks
	letters strings.Builder
	runs    map[int64]bool
}

// Add takes in texts.
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

// Except are those of a text without what stands in own texts. written:
// its lines are short ones that somebody wrote, not those of a page.
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

// lengthOf is how long a text is in letters; a character of a script without
// spaces says as much as three.
func lengthOf(letters []rune) (n int) {
	for _, r := range letters {
		if text.Unspaced(r) {
			n += 2
		}
		n++
	}
	return n
}

// isTelling reports whether a line of a longer text is known alone.
func isTelling(letters []rune) bool {
	digits := 0
	for _, r := range letters {
		if unicode.IsNumber(r) {
			digits++
		}
	}
	return lengthOf(letters) >= leastLine || digits >= leastNumber && (digits < len(letters) || digits > len("20061231"))
}

// In are the fingerprints that may stand in a text, whatever it is part of.
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
					prints = append(prints, ^int64(hash)) // as short has it
				}
			}
		}
	}
	slices.Sort(prints)
	return slices.Compact(prints)
}

// Within reports whether a text stands in a longer one as lines of its own: all
// that [In] finds in it, it then finds in the longer one. Only blanks that end an
// address, too, are left out at its ends.
func Within(text, longer string) bool {
	return strings.Contains("\n"+longer+"\n", "\n"+strings.Trim(text, " \t\r\n")+"\n")
}

// partsOf are the letters between the marks of a line: those of sentences, of
// lists, and what a tool writes before and after a text. A number is a part.
func partsOf(line string) (parts [][]rune) {
	for _, clause := range strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(".,!?:;–—()[]{}<>|/=\"“”'‘’`«»*_#~。，、：；！？（）「」『』【】", r) || unicode.IsControl(r) || unicode.Is(unicode.So, r)
	}) {
		var part []rune
		for word := range strings.FieldsSeq(clause) {
			letters := Letters(word)
			if len(letters) == 0 || unicode.IsNumber(letters[0]) { // a sign alone, a number
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
	return []int64{^fingerprint(letters)} // never that of a run
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

// emptySum is the FNV-1a sum of nothing.
const emptySum = 14695981039346656037

// sum adds a text to an FNV-1a sum, which the fingerprints that are saved were
// made with.
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

// webAddress is an address of the web in a text.
var webAddress = pattern.Lazy(`(?i)https?://[^\s<>"'` + "`" + `)\]}]+`)

// withoutAddresses has a part like no other instead of each address of the web:
// most letters of an address are its site's.
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

// Letters is what is left of a text when blanks, signs and case do not count.
func Letters(text string) []rune {
	letters := make([]rune, 0, len(text))
	for _, r := range norm.NFKC.String(text) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return letters
}
