package llm

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"lifehub/pattern"
)

var (
	weatherAsked = pattern.Lazy(`(?i)\b(?:weather|forecast|temperature outside|rain|raining|snow|snowing|sunny|how (?:warm|cold|hot) is it|wetter|regnet|regnen|schneit|vorhersage)\b`)
	weatherWhen  = pattern.Lazy(`(?i)[\s,]+(?:(?:for|over|during|in)\s+the\s+)?(?:today|tonight|tomorrow|now|right now|currently|at the moment|later|this (?:morning|afternoon|evening|week|weekend)|next (?:week|few days|couple of days)|(?:for |over |in )?(?:the )?next (\d+) days|on \w+day|the weekend|weekend|heute|morgen|übermorgen|gerade|jetzt|diese woche|nächste woche|am wochenende|am \w+tag)[\s?.!]*$`)
	weatherIn    = pattern.Lazy(`(?i)\b(?:in|at|for|near|around|für|bei)\s+([\pL][\pL\pN .,'’-]*)$`)
	weatherOf    = compile(`^(?:the\s+)?(?:weather|forecast|wetter)\s*:?\s+(?:forecast\s+)?([\pL][\pL .,'’-]*)$`, `^([\pL][\pL .'’-]*?)\s+(?:weather|wetter)(?:\s+forecast)?$`)
	hourly       = pattern.Lazy(`(?i)\s*\b(?:hourly|hour by hour|by the hour|every hour|stündlich|stunde für stunde)\b`)
	degrees      = pattern.Lazy(`(?i)\s*\b(?:in|as)\s+(?:degrees\s+|grad\s+)?(fahrenheit|celsius)\b`)
	placeEnds    = " \t\n?.!,"
)

func weather(said string, _ *Task) map[string]any {
	if !weatherAsked.MatchString(said) || aboutMine.MatchString(said) {
		return nil
	}
	args := map[string]any{}
	if hourly.MatchString(said) {
		args["hours"] = 24
		said = hourly.ReplaceAllString(said, "")
	}
	if m := degrees.FindStringSubmatch(said); m != nil {
		args["units"] = "imperial"
		if strings.EqualFold(m[1], "celsius") {
			args["units"] = "metric"
		}
		said = degrees.ReplaceAllString(said, "")
	}
	place := strings.Trim(said, placeEnds)
	for range 2 { // "in Oslo tomorrow", "tomorrow in Oslo this week"
		if m := weatherWhen.FindStringSubmatchIndex(place); m != nil {
			if days := weatherDays(place[m[0]:]); days > 0 {
				args["days"] = days
			}
			place = strings.Trim(place[:m[0]], placeEnds)
		}
	}
	if days := weatherDays(said); args["days"] == nil && days > 0 {
		args["days"] = days
	}
	if m := weatherIn.FindStringSubmatch(place); m != nil {
		place = m[1]
	} else if m := match(weatherOf, place); m != nil {
		place = m[1]
	} else {
		return nil
	}
	place = strings.TrimSpace(timeBeforePlace.ReplaceAllString(place, ""))
	if place == "" || timeWord.MatchString(place) || question.MatchString(place) {
		return nil
	}
	args["place"] = place
	return args
}

// weatherDays is how many days ahead the words look; 0: they do not say.
func weatherDays(said string) int {
	said = strings.ToLower(said)
	if m := nextDays.FindStringSubmatch(said); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2])
		return min(max(n, 1), 14)
	}
	switch {
	case strings.Contains(said, "week"), strings.Contains(said, "woche"), strings.Contains(said, "days"):
		return 7
	case strings.Contains(said, "tomorrow"), strings.Contains(said, "morgen") && !strings.Contains(said, "übermorgen"):
		return 2
	case strings.Contains(said, "übermorgen"):
		return 3
	case onADay.MatchString(said):
		return 7
	}
	return 0
}

var webSearches = compile(
	`^(?:search|look|google|browse|check)\s+(?:up\s+)?(?:on\s+|in\s+)?(?:the\s+)?(?:web|internet|online)\s+(?:for|about)?\s*(.+)$`,
	`^(?:google|duckduckgo)\s+(?:for\s+)?(.+)$`,
	`^(?:search|look|find)\s+(?:for\s+|up\s+)?(.+?)\s+(?:on the web|on the internet|online)[.!?]?$`,
	`^suche\s+im\s+(?:web|internet|netz)\s+(?:nach\s+)?(.+)$`,
)

func webSearch(said string, _ *Task) map[string]any {
	m := match(webSearches, said)
	if m == nil {
		return nil
	}
	return map[string]any{"query": strings.TrimRight(m[1], ".!? ")}
}

// Addresses are read as they are written, without what ends the sentence.
var (
	crawlAsked = compile(`^(?:crawl|go through|read through|durchsuche|durchstöbere)\s+(?:the\s+)?(?:(?:web)?site|pages|docs|documentation|seite|webseite)?\s*(?:at\s+|of\s+|on\s+|under\s+|from\s+|von\s+|unter\s+)?(https?://\S+)`)
	fetchAsked = compile(
		`^(?:read|open|fetch|get|show|summari[sz]e|look at|check|visit|lies|lese|öffne|hole?|zeige?)\s+(?:me\s+|mir\s+)?(?:(?:the|this|die|den|das|diese[ns]?)\s+)?(?:(?:web\s*)?(?:page|site|article|link|seite|webseite|artikel)\s+)?(?:at\s+|unter\s+)?(https?://\S+)`,
		`^(?:what(?:'s|’s| is) (?:on|at|in)|what does|was steht (?:auf|unter)|was sagt)\s+(https?://\S+)`,
		`^(https?://\S+)$`,
	)
)

func crawl(said string, _ *Task) map[string]any { return addressAfter(crawlAsked, said) }

func webFetch(said string, _ *Task) map[string]any { return addressAfter(fetchAsked, said) }

func addressAfter(asked []pattern.Pattern, said string) map[string]any {
	m := match(asked, said)
	if m == nil {
		return nil
	}
	return map[string]any{"url": strings.TrimRight(m[1], ".,;:!?)]”\"'")}
}

var todayAsked = pattern.Lazy(`(?i)^(?:what(?:'s|’s| is| are)?|tell me|which|give me)?\s*(?:the\s+|today's\s+)?(?:current\s+|exact\s+)?(?:date|time|day|day of the week|weekday|date and time|time and date)(?:\s+(?:is it|is today|today|now|it is|right now|and time|is it now|is it today|do we have))*(?:\s+(?:in|at)\s+([\pL][\pL\pN /_-]*?))?(?:\s+(?:today|now|right now))?[\s?.!]*$|^what(?:'s|’s| is) today[\s?.!]*$|^(?:wie spät ist es|wie viel uhr ist es|wieviel uhr ist es|welcher tag ist heute|welches datum (?:ist|haben wir) heute|der wievielte ist heute)(?:\s+in\s+([\pL /_-]+?))?[\s?.!]*$`)

func today(said string, _ *Task) map[string]any {
	m := todayAsked.FindStringSubmatch(said)
	if m == nil || aboutMine.MatchString(said) {
		return nil
	}
	args := map[string]any{}
	if place := strings.TrimSpace(m[1] + m[2]); place != "" {
		args["zone"] = zoneOf(place)
	}
	return args
}

// zoneOf finds the zone of a city by its name; other words stay as they are.
func zoneOf(place string) string {
	name := strings.ReplaceAll(place, " ", "_")
	if r := []rune(strings.ToLower(name)); len(r) > 0 {
		for i := range r {
			if i == 0 || r[i-1] == '_' || r[i-1] == '/' || r[i-1] == '-' {
				r[i] = unicode.ToUpper(r[i])
			}
		}
		for _, area := range []string{"Europe/", "America/", "Asia/", "Africa/", "Australia/", "Pacific/", "Atlantic/", "Indian/"} {
			if _, err := time.LoadLocation(area + string(r)); err == nil {
				return area + string(r)
			}
		}
	}
	return place
}

var (
	sumAsked = pattern.Lazy(`(?i)^(?:what(?:'s|’s| is| are| does)?|calculate|compute|calc|evaluate|how much (?:is|are)|solve|work out|was ist|was sind|wie ?viel (?:ist|sind|ergibt)|berechne|rechne)\s*:?\s+`)
	sumWords = []struct {
		from pattern.Pattern
		to   string
	}{
		{pattern.Lazy(`(?i)(\d)\s*(?:%|percent|prozent)\s*(?:of|von)\s+`), "$1/100*"},
		{pattern.Lazy(`(?i)\bplus\b`), "+"},
		{pattern.Lazy(`(?i)\bminus\b`), "-"},
		{pattern.Lazy(`(?i)\b(?:times|multiplied by|mal)\b|×|·`), "*"},
		{pattern.Lazy(`(?i)\b(?:divided by|over|geteilt durch|durch)\b|÷`), "/"},
		{pattern.Lazy(`(?i)\b(?:to the power of|hoch)\b`), "^"},
		{pattern.Lazy(`(?i)\bsquared\b`), "^2"},
		{pattern.Lazy(`(?i)\b(?:square root of|the square root of|wurzel aus)\s*(\d+(?:\.\d+)?)`), "sqrt($1)"},
		{pattern.Lazy(`(\d)\s*[xX]\s*(\d)`), "$1*$2"},
		{pattern.Lazy(`(\d),(\d{3})\b`), "$1$2"},
	}
	sum  = pattern.Lazy(`^(?:[\d.\s+\-*/^()%]|sqrt)+$`)
	op   = pattern.Lazy(`[\d)]\s*[+*/^%]|[\d)]\s+-\s*[\d(]|[\d)]-[\d(]|sqrt`)
	date = pattern.Lazy(`\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}`)
)

func calculate(said string, _ *Task) map[string]any {
	expr := strings.Trim(said, " \t\n?.!=")
	asked := sumAsked.MatchString(expr)
	expr = sumAsked.ReplaceAllString(expr, "")
	for _, w := range sumWords {
		expr = w.from.ReplaceAllString(expr, w.to)
	}
	expr = strings.TrimSpace(expr)
	if !sum.MatchString(expr) || !op.MatchString(expr) || date.MatchString(expr) {
		return nil
	}
	if !asked && !operator.MatchString(expr) {
		return nil // 3-4 may be a range
	}
	return map[string]any{"expression": oneLine(expr)}
}
