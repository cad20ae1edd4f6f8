package when

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Style is how days are written.
type Style struct {
	Layout string // of package time
	German bool   // months and weekdays are German words
}

// Write returns a day as it is written in this style.
func (s Style) Write(d Day) string {
	if s.German {
		return germanNames.Replace(d.Format(s.Layout))
	}
	return d.Format(s.Layout)
}

var germanNames = strings.NewReplacer("January", "Januar", "February", "Februar", "March", "März", "May", "Mai",
	"June", "Juni", "July", "Juli", "October", "Oktober", "December", "Dezember", "Monday", "Montag", "Tuesday",
	"Dienstag", "Wednesday", "Mittwoch", "Thursday", "Donnerstag", "Friday", "Freitag", "Saturday", "Samstag",
	"Sunday", "Sonntag")

var (
	styleParts = regexp.MustCompile(`\d+|\pL+|[^\d\pL]+`)
	elements   = []string{"2006", "20060102", "January", "Jan", "Monday", "Mon", "01", "02", "1", "2"}
)

// mostStyles bounds the styles of a text that repeats a number, and longestStyle its bytes.
const mostStyles, longestStyle = 64, 64

// Styles returns the styles in which a text is the day, with its weekday or not, and nothing else; the likeliest first.
func (d Day) Styles(text string) (styles []Style) {
	if text = norm.NFC.String(text); len(text) > longestStyle {
		return nil
	}
	stop := strings.Contains(text, strconv.Itoa(d.Day)+". ")
	for _, german := range []bool{stop, !stop} {
		found := []Style{{"", german}}
		for _, part := range styleParts.FindAllString(text, -1) {
			ways := elements
			if !strings.ContainsFunc(part, isWordRune) {
				ways = []string{part}
			}
			var longer []Style
			for _, way := range ways {
				for _, s := range found {
					if (Style{way, german}).Write(d) == part && len(longer) < mostStyles {
						longer = append(longer, Style{s.Layout + way, german})
					}
				}
			}
			found = longer
		}
		styles = append(styles, found...)
	}
	styles = slices.DeleteFunc(styles, func(s Style) bool { return s.odd() < 0 || s.Write(d) != text })
	slices.SortStableFunc(styles, func(a, b Style) int { return cmp.Compare(a.odd(), b.odd()) })
	return styles
}

// odd counts what is unusual: a month that is not between year and day, and 02 next to the name of a month. It is
// negative if the style lacks a year, a month or a day.
func (s Style) odd() (n int) {
	rest := strings.ReplaceAll(s.Layout, "2006", "Y")
	year, month, day := strings.Index(rest, "Y"), strings.IndexAny(rest, "1J"), strings.Index(rest, "2")
	if min(year, month, day) < 0 {
		return -1
	}
	if (year < day) == (day < month) {
		n++
	}
	if rest[month] == 'J' && strings.Contains(rest, "02") {
		n++
	}
	return n
}
