package web

import (
	"net/url"

	"github.com/jimsmart/grobotstxt"
)

// maxRobots is how much of a robots.txt is read, in bytes (RFC 9309, 2.5).
const maxRobots = 500 << 10

// robots is the text of a site's robots.txt. The zero value allows everything.
type robots string

func readRobots(body []byte) robots { return robots(body[:min(len(body), maxRobots)]) }

// allows reports whether LifeHub may read a page (RFC 9309).
func (r robots) allows(u *url.URL) bool {
	return grobotstxt.AgentAllowed(string(r), robotName, u.String())
}
