package web

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// robots has the rules of a site's robots.txt that apply to LifeHub (RFC 9309).
// The zero value allows everything.
type robots struct {
	rules []robotRule
	delay time.Duration // between two requests; a common extension of the RFC
}

type robotRule struct {
	allow bool
	path  string // canonical; * matches anything, $ at the end matches the end
	fits  *regexp.Regexp
}

const (
	// maxRobots is how much of a robots.txt is read, in bytes (RFC 9309, 2.5).
	maxRobots = 500 << 10
	// maxRobotDelay bounds the delay that is respected, in seconds.
	maxRobotDelay = 3600
)

// readRobots returns the rules for the named robot, or else those for all
// robots. It skips lines that it cannot parse.
func readRobots(body []byte, name string) robots {
	text := strings.TrimPrefix(string(body[:min(len(body), maxRobots)]), byteOrderMark)
	var own, others robots
	var named bool          // a group for this name exists
	var forOwn, forAll bool // whether the current group applies to this name, or to all robots
	var inRules bool        // the rules of the current group have started
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch key = strings.ToLower(strings.TrimSpace(key)); key {
		case "user-agent":
			if inRules {
				forOwn, forAll, inRules = false, false, false
			}
			forOwn = forOwn || strings.EqualFold(productToken(value), name)
			forAll = forAll || value == "*"
			named = named || forOwn
		case "allow", "disallow", "crawl-delay":
			inRules = true
			if forOwn {
				own.add(key, value)
			}
			if forAll {
				others.add(key, value)
			}
		}
	}
	if named {
		return own
	}
	return others
}

// productToken returns the name at the start of a user agent: Bot for Bot/2.1.
func productToken(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	})
	if end < 0 {
		return agent
	}
	return agent[:end]
}

func (r *robots) add(key, value string) {
	switch {
	case key == "crawl-delay":
		if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
			r.delay = max(r.delay, time.Duration(min(seconds, maxRobotDelay)*float64(time.Second)))
		}
	case value != "": // an empty value has no effect
		value = oneSpelling(value)
		r.rules = append(r.rules, robotRule{key == "allow", value, matcher(value)})
	}
}

// allows reports whether a page may be read: the longest matching rule decides,
// and allow takes precedence over disallow.
func (r robots) allows(u *url.URL) bool {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	path = oneSpelling(path)
	allow, longest := true, -1
	for _, rule := range r.rules {
		if n := len(rule.path); (n > longest || n == longest && rule.allow) && rule.fits.MatchString(path) {
			allow, longest = rule.allow, n
		}
	}
	return allow
}

// matcher compiles the path of a rule.
func matcher(path string) *regexp.Regexp {
	plain, toEnd := strings.CutSuffix(path, "$")
	expression := `(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(plain), `\*`, `.*`)
	if toEnd {
		expression += `\z`
	}
	return regexp.MustCompile(expression) // every path yields a valid expression
}

// oneSpelling returns a path in canonical form: percent-encoded only where
// necessary, in upper case.
func oneSpelling(path string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		b, spelt := path[i], false
		if b == '%' && i+2 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				b, spelt = byte(n), true
				i += 2
			}
		}
		plain := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-._~", b) >= 0
		if spelt && !plain || b > 0x7e || b <= ' ' {
			out.Write([]byte{'%', hex[b>>4], hex[b&15]})
		} else {
			out.WriteByte(b)
		}
	}
	return out.String()
}
