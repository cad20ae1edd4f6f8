// Package bluemonday has the names that glamour uses of bluemonday, and nothing
// behind them: no HTML reaches glamour, which would take its tags away; it is
// shown as it is written. The real one costs 0.7 ms before main.
package bluemonday

// Policy changes nothing.
type Policy struct{}

// StrictPolicy returns a policy.
func StrictPolicy() *Policy { return &Policy{} }

// Sanitize returns text as it is: it goes to a terminal, not to a browser.
func (*Policy) Sanitize(text string) string { return text }
