package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// count writes a number of things: 1 note, 1,284 notes.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

// thousands writes a number with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// short writes a number of tokens: 840, 2.1k, 16k.
func short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
	default:
		return strconv.Itoa((n+500)/1000) + "k"
	}
}

// bytes writes a size: 0 B, 1.2 kB, 5.2 GB.
func bytes(n int64) string {
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

// duration writes a time as people do: 84 ms, 1.2 s, 2 min 5 s.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
