// Package pattern provides regular expressions that are compiled on first use:
// compiling all of LifeHub's takes 25 ms, which would delay every start.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression with the methods of [regexp.Regexp]. It is
// safe for concurrent use.
type Pattern struct{ compiled func() *regexp.Regexp }

// Lazy returns a pattern. An invalid expression panics on first use.
func Lazy(expression string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

func (p Pattern) MatchString(s string) bool              { return p.compiled().MatchString(s) }
func (p Pattern) FindString(s string) string             { return p.compiled().FindString(s) }
func (p Pattern) FindStringIndex(s string) []int         { return p.compiled().FindStringIndex(s) }
func (p Pattern) FindStringSubmatch(s string) []string   { return p.compiled().FindStringSubmatch(s) }
func (p Pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

func (p Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

func (p Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

func (p Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}

func (p Pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}

func (p Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, with)
}

func (p Pattern) Match(b []byte) bool            { return p.compiled().Match(b) }
func (p Pattern) FindSubmatch(b []byte) [][]byte { return p.compiled().FindSubmatch(b) }

func (p Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.compiled().FindAllSubmatch(b, n)
}

func (p Pattern) ReplaceAllFunc(b []byte, with func([]byte) []byte) []byte {
	return p.compiled().ReplaceAllFunc(b, with)
}
