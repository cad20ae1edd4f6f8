package draw

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lifehub/internal/text"
)

// Count formats a number of things: 1 note, 1,284 notes.
func Count(n int, thing string) string { return text.Count(n, thing) }

// Thousands formats a number with commas.
func Thousands(n int) string { return text.Thousands(n) }

// Nth formats the position of a row, counted from 0, among n: 3 of 34.
func Nth(chosen, n int) string {
	if n == 0 {
		return ""
	}
	return Thousands(chosen+1) + " of " + Thousands(n)
}

// Short formats a number of tokens: 840, 2.1k, 16k.
func Short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
	default:
		return strconv.Itoa((n+500)/1000) + "k"
	}
}

// Bytes formats a size: 0 B, 1.2 kB, 5.2 GB.
func Bytes(n int64) string {
	size := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if size < 1000 || unit == "GB" {
			if unit == "B" {
				return fmt.Sprintf("%d B", n)
			}
			return fmt.Sprintf("%.1f %s", size, unit)
		}
		size /= 1000
	}
	return ""
}

// Duration formats a duration: 84 ms, 1.2 s, 2 min 5 s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// Ago formats a duration in seconds with a single unit.
func Ago(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func Blank(text string) bool { return strings.TrimSpace(text) == "" }

// When formats a time, more briefly the closer it is to now.
func When(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.IsZero():
		return ""
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04")
	case now.Sub(t) < 6*24*time.Hour && now.After(t):
		return t.Format("Mon 15:04")
	}
	return t.Format("2006-01-02")
}

// Spinner are the frames of the spinner.
var Spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
