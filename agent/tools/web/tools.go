// Package web has the tools that access the web: search, a page, a site, the
// weather. Start with [Tools].
package web

import (
	"sync/atomic"
	"time"

	"lifehub/agent"
)

// Tools returns the web tools. units are those of the weather: metric or
// imperial; "" means metric. sent counts the bytes sent to other machines; it
// may be nil.
func Tools(s Search, units string, now func() time.Time, sent *atomic.Int64) []agent.Tool {
	w := newWeb(nil, s.own(), sent)
	sky := weather{client: Client(sent), geocoding: publicGeocoding, forecast: publicForecast, units: units}
	return []agent.Tool{newWebSearch(s, w), newWebFetch(w), newCrawl(w, now, pause), newGetWeather(sky)}
}
