package tools

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
)

// value is what a note gives for something: a number, a day or longer time, yes or no. A range, a list or
// words are a text, which is not compared.
type value struct {
	kind    valueKind
	numbers []float64 // each way to read a number: 1,000 may be 1000 or 1
	unit    string
	span    when.Span
	yes     bool
	text    string // key of the text
}

type valueKind int

const (
	textValue valueKind = iota
	numberValue
	dateValue
	yesOrNo
)

var (
	// numberText matches a sign, a currency sign, a number, and a unit of one word.
	numberText = regexp.MustCompile(`^([-+−]?)([$€£¥]?)(\d(?:[\d., '’\x{A0}\x{2009}\x{202F}]*\d)?)[ ` +
		`\x{A0}\x{2009}\x{202F}]?([%‰°$€£¥\pL][%‰°$€£¥\pL²³/]{0,20})?$`)
	slashed   = regexp.MustCompile(`\d/\d{1,2}/\d{4}`) // day or month first
	dayOfYear = regexp.MustCompile(`^([0-3]?\d)\.([01]?\d)$`)
	yesNo     = map[string]bool{"yes": true, "true": true, "ja": true, "no": false, "false": false, "nein": false}
	markup    = strings.NewReplacer("**", "", "__", "", "`", "", "==", "", "[[", "", "]]", "")
	oneSpace  = strings.NewReplacer("\u00a0", " ", "\u2009", " ", "\u202f", " ", "'", "’")
)

func readValue(written string) value {
	bare := strings.Trim(strings.TrimSpace(markup.Replace(written)), `*_"' `)
	v := value{text: text.Key(bare)}
	if yes, ok := yesNo[v.text]; ok {
		v.kind, v.yes = yesOrNo, yes
		return v
	}
	if dates, rest := when.Dates(bare, 0); len(dates) == 1 && !slashed.MatchString(bare) {
		if rest = strings.Trim(rest, "., "); rest == "" || when.IsWeekday(rest) {
			v.kind, v.span = dateValue, dates[0]
		}
		return v
	}
	if body, ok := strings.CutSuffix(bare, "."); ok && !strings.ContainsAny(body[max(0, len(body)-1):], "0123456789") {
		bare = body
	}
	m := numberText.FindStringSubmatch(bare)
	if m == nil || m[2] != "" && m[4] != "" {
		return v
	}
	for _, n := range readNumbers(oneSpace.Replace(m[3])) {
		if m[1] != "" && m[1] != "+" {
			n = -n
		}
		v.kind, v.unit, v.numbers = numberValue, m[2]+m[4], append(v.numbers, n)
	}
	if day := dayOfYear.FindStringSubmatch(bare); day != nil { // 14.03 may be a day, and 14.3 the same
		d, _ := strconv.Atoi(day[1])                             // at most two digits, so it cannot fail
		month, _ := strconv.Atoi(day[2])                         // likewise
		v.numbers = append(v.numbers, -0.5-float64(100*month+d)) // equal to no other reading
	}
	return v
}

// readNumbers returns each number that digits with separators may be.
func readNumbers(digits string) (numbers []float64) {
	for _, separators := range []string{" .", " ,", ",.", ".,", "’.", "’,"} { // of thousands, of decimals
		whole, part, hasPart := strings.Cut(digits, separators[len(separators)-1:])
		groups := strings.Split(whole, strings.TrimSuffix(separators, separators[len(separators)-1:]))
		for i, group := range groups {
			if i > 0 && len(group) != 3 || i == 0 && len(groups) > 1 &&
				(len(group) > 3 || strings.HasPrefix(group, "0")) {
				part = "none"
			}
		}
		if hasPart && part == "" {
			continue
		}
		n, err := strconv.ParseFloat(strings.Join(groups, "")+"."+part, 64)
		if err == nil && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// contradicts reports whether only one of two values can be right.
func (v value) contradicts(other value) bool {
	if v.kind != other.kind {
		return false
	}
	switch v.kind {
	case numberValue:
		return v.unit == other.unit && !slices.ContainsFunc(v.numbers,
			func(n float64) bool { return slices.Contains(other.numbers, n) })
	case dateValue:
		return !v.span.Meets(other.span)
	case yesOrNo:
		return v.yes != other.yes
	}
	return false
}
