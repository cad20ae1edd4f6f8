package web

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRobotsFollowTheRFC(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		yes, no string // paths, separated by spaces
		delay   time.Duration
	}{
		"empty":                      {"", "/ /a", "", 0},
		"nothing to understand":      {"<html>\n:::\nDisallow: /\n", "/ /a", "", 0},
		"all":                        {"User-agent: *\nDisallow: /", "", "/ /a", 0},
		"an empty disallow":          {"User-agent: *\nDisallow:", "/ /a", "", 0},
		"a path":                     {"User-agent: *\nDisallow: /a # not this\nAllow: /a/b", "/ /b /a/b/c", "/a /ab /a/c", 0},
		"the longest rule":           {"User-agent: *\nAllow: /p\nDisallow: /", "/p /page", "/ /q", 0},
		"allow before disallow":      {"User-agent: *\nDisallow: /p\nAllow: /p", "/p", "", 0},
		"own group":                  {"User-agent: *\nDisallow: /\n\nUser-agent: lifehub\nDisallow: /x\nCrawl-delay: 2.5", "/ /a", "/x", 2500 * time.Millisecond},
		"own group, version":         {"user-agent : LifeHub/1.0\ndisallow : /x", "/a", "/x", 0},
		"own group, in two":          {"User-agent: LifeHub\nDisallow: /x\nUser-agent: other\nDisallow: /\nUser-agent: LifeHub\nDisallow: /y", "/a", "/x /y", 0},
		"own group, empty":           {"User-agent: LifeHub\nUser-agent: other\nAllow: /\nUser-agent: *\nDisallow: /", "/a", "", 0},
		"several names":              {"User-agent: a\nUser-agent: *\nDisallow: /x", "/a", "/x", 0},
		"another's":                  {"User-agent: LifeHubX\nDisallow: /", "/a", "", 0},
		"stars":                      {"User-agent: *\nDisallow: /*.gif$\nDisallow: /a*/z\nDisallow: *private", "/a.gif?x /a/y /b/z", "/a.gif /b/c.gif /a/b/z /az/z /ab/q/z1 /my/private", 0},
		"a star is not begun inside": {"User-agent: *\nDisallow: /a*b", "/x/ab /b", "/ab /axb /axbc", 0},
		"the end":                    {"User-agent: *\nDisallow: /a$", "/ab /a/", "/a", 0},
		"a dollar inside":            {"User-agent: *\nDisallow: /a$b", "/a", "/a$b /a$bc", 0},
		"spelling":                   {"User-agent: *\nDisallow: /%7Ejoe/caf%c3%a9\nDisallow: /ü\nDisallow: /a%2fb", "/a/b", "/~joe/café /%7ejoe/caf%C3%A9 /%C3%BC /a%2Fb", 0},
		"queries":                    {"User-agent: *\nDisallow: /*?sort=", "/a?page=1", "/a?sort=x /?sort=", 0},
		"line ends, a mark":          {"\ufeffUser-agent: *\r\nDisallow: /a\rDisallow: /b\nSitemap: https://x.example/s.xml\n", "/c", "/a /b", 0},
		"a delay of ages":            {"User-agent: *\nCrawl-delay: 1e300", "/a", "", time.Hour},
		"no delay":                   {"User-agent: *\nCrawl-delay: -1\nCrawl-delay: NaN\nCrawl-delay: soon", "/a", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := readRobots([]byte(tc.text), robotName)
			for want, paths := range map[bool]string{true: tc.yes, false: tc.no} {
				for path := range strings.FieldsSeq(paths) {
					u, err := url.Parse("https://x.example" + path)
					if err != nil {
						t.Fatal(err)
					}
					if r.allows(u) != want {
						t.Errorf("%s is allowed: %t", path, !want)
					}
				}
			}
			if r.delay != tc.delay {
				t.Errorf("the delay is %v, want %v", r.delay, tc.delay)
			}
		})
	}
}
