package text

import (
	"slices"
	"strings"
	"time"
)

var (
	relativeDays   = map[int][]string{-1: {"yesterday", "gestern"}, 0: {"today", "heute"}, 1: {"tomorrow", "morgen"}}
	germanWeekdays = strings.Fields("sonntag montag dienstag mittwoch donnerstag freitag samstag")
	germanMonths   = strings.Fields("januar februar märz april mai juni juli august september oktober november dezember")
)

// RelativeDays returns the words for a day with this offset from today, in
// English and German.
func RelativeDays(offset int) []string { return relativeDays[offset] }

// WeekdayNames returns the English name of a weekday, its abbreviation, and the
// German name.
func WeekdayNames(day time.Weekday) []string {
	name := strings.ToLower(day.String())
	return []string{name, name[:3], germanWeekdays[day]}
}

// MonthNames returns the English name of a month, its abbreviation, and the
// German name.
func MonthNames(month time.Month) []string {
	name := strings.ToLower(month.String())
	return []string{name, name[:3], germanMonths[month-1]}
}

// GermanMonth reports whether a word in lower case is the German name of a month.
// In German, a full stop follows the number of a day.
func GermanMonth(word string) bool { return slices.Contains(germanMonths, word) }
