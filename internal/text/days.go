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

// RelativeDays are the words for a day by its distance from today, in English
// and German.
func RelativeDays(offset int) []string { return relativeDays[offset] }

// WeekdayNames are the names of a weekday in English, its short form, and
// German.
func WeekdayNames(day time.Weekday) []string {
	name := strings.ToLower(day.String())
	return []string{name, name[:3], germanWeekdays[day]}
}

// MonthNames are the names of a month in English, its short form, and German.
func MonthNames(month time.Month) []string {
	name := strings.ToLower(month.String())
	return []string{name, name[:3], germanMonths[month-1]}
}

// GermanMonth reports whether a word, in lower case, is the name of a month in
// German, where a full stop stands after the number of a day.
func GermanMonth(word string) bool { return slices.Contains(germanMonths, word) }
