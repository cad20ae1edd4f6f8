package text

import (
	"slices"
	"strings"
)

var germanMonths = strings.Fields("januar februar märz april mai juni juli august september oktober november dezember")

// GermanMonth reports whether a word in lower case is the German name of a month.
// In German, a full stop follows the number of a day.
func GermanMonth(word string) bool { return slices.Contains(germanMonths, word) }
