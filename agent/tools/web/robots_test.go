package web

import (
	"net/url"
	"strings"
	"testing"
)

func TestRobotsFollowTheRFC(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		yes, no string // paths, separated by spaces
	}{
		"empty":                 {"", "/ /a", ""},
		"nothing to understand": {"<html>\n:::\nDisallow: /\n", "/ /a", ""},
		"all":                   {"User-agent: *\nDisallow: /", "", "/ /a"},
		"an empty disallow":     {"User-agent: *\nDisallow:", "/ /a", ""},
		"a path": {
			"User-agent: *\nDisallow: /a # not this\nAllow: /a/b",
			"/ /b /a/b/c", "/a /ab /a/c",
		},
		"the longest rule":      {"User-agent: *\nAllow: /p\nDisallow: /", "/p /page", "/ /q"},
		"allow before disallow": {"User-agent: *\nDisallow: /p\nAllow: /p", "/p", ""},
		"own group":             {"User-agent: *\nDisallow: /\n\nUser-agent: lifehub\nDisallow: /x", "/ /a", "/x"},
		"own group, version":    {"user-agent : LifeHub/1.0\ndisallow : /x", "/a", "/x"},
		"own group, in two": {"User-agent: LifeHub\nDisallow: /x\nUser-agent: other\nDisallow: " +
			"/\nUser-agent: LifeHub\nDisallow: /y", "/a", "/x /y"},
		"own group, empty": {
			"User-agent: LifeHub\nUser-agent: other\nAllow: /\nUser-agent: *\nDisallow: /",
			"/a", "",
		},
		"several names": {"User-agent: a\nUser-agent: *\nDisallow: /x", "/a", "/x"},
		"another's":     {"User-agent: LifeHubX\nDisallow: /", "/a", ""},
		"stars": {
			"User-agent: *\nDisallow: /*.gif$\nDisallow: /a*/z\nDisallow: *private",
			"/a.gif?x /a/y /b/z", "/a.gif /b/c.gif /a/b/z /az/z /ab/q/z1 /my/private",
		},
		"a star is not begun inside": {"User-agent: *\nDisallow: /a*b", "/x/ab /b", "/ab /axb /axbc"},
		"the end":                    {"User-agent: *\nDisallow: /a$", "/ab /a/", "/a"},
		"a dollar inside":            {"User-agent: *\nDisallow: /a$b", "/a", "/a$b /a$bc"},
		"spelling": {
			"User-agent: *\nDisallow: /caf%C3%A9\nDisallow: /ü\nDisallow: /a%2Fb",
			"/a/b", "/café /%C3%BC /a%2Fb",
		},
		"queries": {"User-agent: *\nDisallow: /*?sort=", "/a?page=1", "/a?sort=x /?sort="},
		"line ends, a mark": {"\ufeffUser-agent: *\r\nDisallow: /a\rDisallow: /b\nSitemap: " +
			"https://x.example/s.xml\n", "/c", "/a /b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readRobots([]byte(tc.text))
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
		})
	}
}
