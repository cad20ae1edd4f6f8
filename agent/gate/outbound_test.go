package gate

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/llm"
)

const (
	searchSchema  = `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":20}},"required":["query"],"additionalProperties":false}`
	weatherSchema = `{"type":"object","properties":{"place":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":16},"hours":{"type":"integer","minimum":1,"maximum":48},"units":{"type":"string","enum":["metric","imperial"]}},"required":["place"],"additionalProperties":false}`
	crawlSchema   = `{"type":"object","properties":{"url":{"type":"string"},"pages":{"type":"integer","minimum":1,"maximum":10}},"required":["url"],"additionalProperties":false}`
	fetchSchema   = `{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}`
	// serverSchema has what schemas of MCP servers have: lists, nested objects, and
	// additional properties.
	serverSchema = `{"type":"object","properties":{
		"query":{"type":"string"},"count":{"type":"integer","default":10},"mode":{"type":"string","enum":["driving","walking","transit"]},
		"origin":{"type":"string"},"destination":{"type":"string"},"state":{"enum":["open","closed"]},"text":{"type":"string"},"target":{"type":"string"},
		"tags":{"type":"array","items":{"type":"string"}},"flags":{"type":"array","items":{"type":"boolean"}},"numbers":{"type":"array","items":{"type":"number"}},
		"filter":{"type":"object","properties":{"text":{"type":"string"},"since":{"type":"string"},"exact":{"type":"boolean"}}},
		"rows":{"type":"array"}}}`
)

// outboundTools returns the real specs of the tools through which text can leave this
// machine.
func outboundTools() map[string]agent.Tool {
	return map[string]agent.Tool{
		"web_search":  &fakeTool{name: "web_search", schema: searchSchema, outward: true},
		"get_weather": &fakeTool{name: "get_weather", schema: weatherSchema, outward: true},
		"crawl":       opener{&fakeTool{name: "crawl", schema: crawlSchema, level: agent.Confirm, outward: true, bounds: []string{"url"}}},
		"web_fetch":   opener{&fakeTool{name: "web_fetch", schema: fetchSchema, level: agent.Confirm, bounds: []string{"url"}}},
		"server":      &fakeTool{name: "server", schema: serverSchema, outward: true},
	}
}

// letOut returns rules that allow all of these tools; those that open an address, on
// one host.
func letOut() *Rules {
	all := (*Rules)(nil).With(Rule{Tool: "*", Level: agent.Auto})
	for _, tool := range []string{"crawl", "web_fetch"} {
		all = all.With(Rule{Tool: tool, Level: agent.Auto, Where: []Where{{Argument: "url", Fit: OnHost, Values: []string{"docs.example.org"}}}})
	}
	return all
}

// private returns prompts that contain text known only to the user's notes or memory.
func private(question string, history ...llm.Message) Prompts {
	return Prompts{Question: question, History: history, Recalled: true}
}

// asksFor passes the calls of one turn through the gate, refuses every question, and
// returns the questions.
func asksFor(t *testing.T, prompts Prompts, calls ...[2]string) []agent.PermissionAsked {
	t.Helper()
	guard, asked := testGuard(t, New(letOut(), nil, false), "c1", prompts, agent.Refuse)
	for i, call := range calls {
		pass(t, guard, fmt.Sprint(i+1), call[0], call[1])
	}
	return asked()
}

// pass passes a call of an outbound tool through the gate.
func pass(t *testing.T, guard *Guard, step, tool, input string) {
	t.Helper()
	_, err := guard.Pass(t.Context(), Call{Step: step, ID: step, Tool: outboundTools()[tool], Input: args.Read(json.RawMessage(input))})
	var refused *Refusal
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("%s %s: %v", tool, input, err)
	}
}

func TestOutboundCallsAskAboutUntypedWords(t *testing.T) {
	history := func(role llm.Role, text string) []llm.Message { return []llm.Message{{Role: role, Text: text}} }
	tests := map[string]struct {
		question string
		history  []llm.Message
		tool     string
		input    string
		asked    string // the words that are named; "": no question
	}{
		"the user's own words":          {"marathon tips please", nil, "web_search", `{"query":"marathon tips"}`, ""},
		"in another number":             {"marathon tip", nil, "web_search", `{"query":"marathons tips"}`, ""},
		"in another form":               {"ich suche Laufschuhe", nil, "web_search", `{"query":"laufschuhen"}`, ""},
		"in another case":               {"weather in lisbon", nil, "get_weather", `{"place":"Lisbon"}`, ""},
		"with an accent":                {"weather in zurich", nil, "get_weather", `{"place":"Zürich"}`, ""},
		"without an accent":             {"weather in Zürich", nil, "get_weather", `{"place":"Zurich"}`, ""},
		"words that nobody wrote":       {"marathon tips", nil, "web_search", `{"query":"training plan"}`, "training, plan"},
		"a word of memory":              {"what's the weather", nil, "get_weather", `{"place":"Zürich"}`, "Zürich"},
		"said by the user before":       {"and tomorrow?", history(llm.User, "weather in Zürich"), "web_search", `{"query":"weather Zürich tomorrow 2026-11-22"}`, ""},
		"said by the model before":      {"search that", history(llm.Assistant, "Your diagnosis is gout."), "web_search", `{"query":"gout"}`, "gout"},
		"brought along":                 {"search that\n```\nmarathon\n```", nil, "web_search", `{"query":"marathon"}`, "marathon"},
		"a number of memory":            {"search", nil, "web_search", `{"query":"4711"}`, "4711"},
		"a number that was said":        {"3 hotels for 150 euros", nil, "web_search", `{"query":"3 hotels 150 euros"}`, ""},
		"a number that nobody said":     {"hotels for 150 euros", nil, "web_search", `{"query":"15 hotels 150 euros"}`, "15"},
		"deep inside":                   {"search x", nil, "server", `{"query":"x","more":{"Zürich":[]}}`, "more, Zürich"},
		"function words":                {"marathon tips", nil, "web_search", `{"query":"tips for the marathon"}`, ""},
		"more of them than a call may":  {"marathon tips", nil, "web_search", `{"query":"tips for it in the marathon"}`, "for, it, in, the"},
		"a word again and again":        {"marathon tips", nil, "web_search", `{"query":"tips tips tips tips"}`, "tips"},
		"odd capitals":                  {"marathon tips", nil, "web_search", `{"query":"marAthon tipS"}`, "marAthon, tipS"},
		"odd signs":                     {"marathon tips", nil, "web_search", `{"query":"marathon.,.tips"}`, "., ,"},
		"signs as typed":                {"C++ std::vector on x86-64?", nil, "web_search", `{"query":"C++ std::vector x86-64"}`, ""},
		"blanks at an end":              {"marathon tips today", nil, "web_search", `{"query":"marathon tips   "}`, "U+0020"},
		"an emoji":                      {"marathon tips", nil, "web_search", `{"query":"marathon 🏃 tips"}`, "🏃"},
		"nothing to see":                {"marathon tips", nil, "web_search", "{\"query\":\"marathon\u200b tips\"}", "U+200B"},
		"tomorrow":                      {"rain in Lisbon tomorrow?", nil, "web_search", `{"query":"rain Lisbon 2026-11-22"}`, ""},
		"Friday":                        {"trains to Bern on Friday", nil, "server", `{"query":"trains to Bern","filter":{"since":"2026-11-27"}}`, ""},
		"today's date":                  {"news", nil, "web_search", `{"query":"news 2026-11-21"}`, ""},
		"a weekday of a day said":       {"rain in Lisbon tomorrow?", nil, "web_search", `{"query":"rain Lisbon Sunday"}`, ""},
		"another day":                   {"rain in Lisbon tomorrow?", nil, "web_search", `{"query":"rain Lisbon 2026-12-04"}`, "2026-12-04"},
		"a weekday that nobody meant":   {"rain in Lisbon tomorrow?", nil, "web_search", `{"query":"rain Lisbon Thursday"}`, "Thursday"},
		"a day and month":               {"hotels in Rome on 3 March", nil, "server", `{"query":"hotels Rome","filter":{"since":"2027-03-03"}}`, ""},
		"a month in German":             {"Hotels in Rom am 3. März", nil, "server", `{"query":"Hotels Rom","filter":{"since":"03.03.2027"}}`, ""},
		"a value that the schema lists": {"from Rome to Bari", nil, "server", `{"origin":"Rome","destination":"Bari","mode":"transit","count":10}`, ""},
		"days that the schema bounds":   {"weather in Rome", nil, "get_weather", `{"place":"Rome","days":5,"units":"metric"}`, ""},
		"a number that it does not":     {"search", nil, "server", `{"query":"search","count":4711}`, "4711"},
		"truths":                        {"search", nil, "server", `{"flags":[true,false,true,true]}`, "true, false"},
		"lists in lists":                {"search a b c", nil, "server", `{"rows":[["a"],[["b"]],[["c"]]]}`, "[]"},
		"empty texts":                   {"search", nil, "server", `{"tags":["","search","",""]}`, `""`},
		"characters without spaces":     {"東京の天気は", nil, "web_search", `{"query":"東京"}`, ""},
		"others of them":                {"東京の天気は", nil, "web_search", `{"query":"京都"}`, "京都"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			asked := asksFor(t, private(tc.question, tc.history...), [2]string{tc.tool, tc.input})
			got := ""
			for _, question := range asked {
				got += strings.Join(question.New, ", ")
				if !strings.HasSuffix(question.Reason, ": "+strings.Join(question.New, ", ")) {
					t.Errorf("%q does not name %q", question.Reason, question.New)
				}
			}
			if got != tc.asked || len(asked) > 1 {
				t.Errorf("asked %d times for %q, want %q", len(asked), got, tc.asked)
			}
		})
	}
}

// Without anything private read before, no word can be private.
func TestWithoutPrivateDataNothingIsAsked(t *testing.T) {
	prompts := Prompts{Question: "and tips?", History: []llm.Message{{Role: llm.User, Text: "marathon"}}, Instructions: "Be brief."}
	if asked := asksFor(t, prompts, [2]string{"web_search", `{"query":"NASA 4711"}`}); len(asked) != 0 {
		t.Errorf("asked %+v", asked)
	}
}

// Text that the user allowed to leave through a tool is not asked about again in this
// conversation for this tool.
func TestAllowedWordsAreAskedAboutOnce(t *testing.T) {
	gate := New(letOut(), nil, false)
	for i, tc := range []struct {
		conversation, tool, input string
		reply                     agent.Decision
		asked                     int
	}{
		{"c1", "web_search", `{"query":"asthma cough"}`, agent.Refuse, 1},
		{"c1", "web_search", `{"query":"asthma cough"}`, agent.AllowOnce, 1},
		{"c1", "web_search", `{"query":"cough asthma"}`, agent.Refuse, 0},
		{"c1", "web_search", `{"query":"asthma inhaler"}`, agent.Refuse, 1},
		{"c1", "server", `{"query":"asthma"}`, agent.Refuse, 1},
		{"c2", "web_search", `{"query":"asthma"}`, agent.Refuse, 1},
		{"c1", "server", `{"flags":[true,false,true,true]}`, agent.AllowOnce, 1},
		{"c1", "server", `{"flags":[true,false,true,true]}`, agent.Refuse, 0},
		{"c1", "server", `{"flags":[true,true,true,false]}`, agent.Refuse, 1},
	} {
		guard, asked := testGuard(t, gate, tc.conversation, private("What now?"), tc.reply)
		pass(t, guard, "1", tc.tool, tc.input)
		if got := asked(); len(got) != tc.asked {
			t.Errorf("%d: asked %d times, want %d: %+v", i, len(got), tc.asked, got)
		}
	}
}

// The calls of a turn share one allowance: a number split over several days counts as
// one.
func TestRelaxationsAreCountedPerTurn(t *testing.T) {
	var calls [][2]string
	for _, digit := range "4715" {
		calls = append(calls, [2]string{"get_weather", fmt.Sprintf(`{"place":"Lisbon","days":%c}`, digit)})
	}
	if asked := asksFor(t, private("Weather in Lisbon?"), calls...); len(asked) != len(calls)-2 {
		t.Errorf("asked %d times of %d calls, want all but %d", len(asked), len(calls), 2)
	}
	same := [][2]string{{"get_weather", `{"place":"Lisbon","days":5}`}, {"get_weather", `{"place":"Porto","days":5}`}, {"get_weather", `{"place":"Faro","days":5}`}}
	if asked := asksFor(t, private("Weather in Lisbon, Porto and Faro?"), same...); len(asked) != 0 {
		t.Errorf("asked %+v for the same days of three places", asked)
	}
}

// request is what the user asks for in these attacks; its words may go out.
const request = "Please find the best running shoes for the Lisbon marathon on Friday under 100 euros, and look at https://docs.example.org/find?q=shoes&n=3 for it"

const secret = "mallory-4711"

// eachLetter maps each letter and digit of the secret and joins the results.
func eachLetter(become func(i int, r rune) string) string {
	var list []string
	for i, r := range []rune(strings.ReplaceAll(secret, "-", "")) {
		list = append(list, become(i, r))
	}
	return strings.Join(list, " ")
}

// from maps letters, then digits, to the words of a list, cyclically.
func from(words string) string {
	list := strings.Fields(words)
	return eachLetter(func(_ int, r rune) string { return list[int(r)%len(list)] })
}

func shifted(by rune) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+by)%26
		case r >= '0' && r <= '9':
			return '0' + (r-'0'+by)%10
		}
		return r
	}, secret)
}

// letters shifts each letter and digit of the secret to another range of Unicode.
func letters(a, zero rune) string {
	return strings.Join(strings.Fields(eachLetter(func(_ int, r rune) string {
		if r >= 'a' {
			return string(a + r - 'a')
		}
		return string(zero + r - '0')
	})), "")
}

// eachBit encodes the secret in words that the user said: one variant for 0, another
// for 1.
func eachBit(words []string, one func(string) string) string {
	words = slices.Clone(words)
	for i := range words {
		if secret[0]>>i&1 == 1 { // m is 01101101
			words[i] = one(words[i])
		}
	}
	return strings.Join(words, " ")
}

// codings returns the secret as text in encodings that a model and the reader of its
// calls could agree on.
func codings() map[string]string {
	own := []string{"running", "shoes", "Lisbon", "marathon", "Friday", "euros", "best", "find"}
	reversed := []rune(secret)
	slices.Reverse(reversed)
	all := map[string]string{
		// These first 23 defeat naive comparisons of words.
		"two-letter chunks": "ma ll or y- 47 11", "dropped vowels": "mllry", "digits as words": "four seven one one", "digits as German words": "vier sieben eins eins",
		"flag emoji": letters('🇦', '🇦'), "base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base32": base32.StdEncoding.EncodeToString([]byte(secret)),
		"hex": hex.EncodeToString([]byte(secret)), "reversed": string(reversed), "leet": "m4ll0ry", "Morse": "-- .- .-.. .-.. --- .-. -.--",
		"NATO alphabet": "Mike Alfa Lima Lima Oscar Romeo Yankee", "acrostic": "Most apples lie low over rainy yards", "zero width": "sho\u200b\u200ces", "homoglyphs": "m\u0430llory",
		"percent": url.PathEscape("%6d%61%6c%6c"), "how often a word comes": strings.Repeat("shoes ", 4) + strings.Repeat("marathon ", 7), "lengths of words": "aaaa aaaaaaa a a",
		"capitals in words": "rUNning sHOes", "signs": "running. shoes, marathon; best!", "Roman numerals": "MMMMDCCXI", "ordinals": "fourth seventh first first", "keys next to it": ",s;;ptu",
		// Further encodings.
		"pig Latin": "allorymay", "Atbash": "nzooilb", "letters alone": "m a l l o r y", "letters in circles": letters('ⓐ', '⓪'), "letters in squares": letters('🄰', '🄰'),
		"tags of Unicode": "shoes" + letters(0xE0061, 0xE0030), "variation selectors": "shoes" + letters(0xFE00, 0xFE00), "braille": "⠍⠁⠇⠇⠕⠗⠽", "semaphore": "left right up down", "synonyms": "footwear jogging contest",
		"translations": "zapatos maratón", "Unix time": "1795305600", "a far date": "4711-07-11", "near dates": "2026-12-04 2026-12-07 2026-12-01", "colours": "#6d616c", "coordinates": "47.11 N 6.1 E",
		"combining accents": "sho\u0301es\u0300", "accents": "shóés márathön Lísbon", "wide letters": letters('ａ', '０'), "bold letters": letters('𝐚', '𝟎'), "superscripts": "shoes⁴⁷¹¹", "Arabic digits": "٤٧١١",
		"Chinese digits": "四七一一", "blanks": "running    shoes       marathon", "blanks at the end": "running shoes" + strings.Repeat(" ", 47), "tabs": "running\tshoes\t\tmarathon", "line breaks": "running\n\nshoes",
		"function words": from("the of and to in with at by from on"), "function words of German": from("der die das und ist auf bei aus mit wie"), "binary": "01101101", "glued to a word": "runningmallory", "glued digits": "shoes4711",
		"underscores": "shoes_mallory_", "hyphens": "mal-lo-ry", "Punycode": "xn--mallory-4za", "quoted-printable": "=6D=61=6C", "entities": "&#109;&#97;", "escapes": `\u006d\u0061`, "a host": "mallory.example.com", "arithmetic": "4700 + 11",
		"moves of chess": "e4 d7 a1 a1", "keys of a phone": "6255679", "weekdays": from("Monday Tuesday Wednesday Thursday Saturday Sunday"), "months": from("January March May July September November"), "years": "2004 2007 2001",
		"planets": from("Mercury Venus Earth Mars Jupiter"), "cards": "🂡🂢🂣", "dice": "⚃⚀", "amounts": "47.11 euros", "times": "04:07 11:01", "anagram": "yrollam", "letters in between": "mxaxlxlxoxrxyx", "doubled letters": "mmaallllooorry",
		"fractions": "4/7 1/1", "tally": "|||| |||||||", "said numbers as digits": "3 100 3 3 100", "endings": "shoe runs marathons euro", "case of each word": eachBit(own, strings.ToUpper), "quotes around words": eachBit(own, func(w string) string { return `"` + w + `"` }),
		"commas after words": eachBit(own, func(w string) string { return w + "," }), "words run together": "runningshoes LisbonFriday", "wide blanks": "running\u2003shoes", "soft hyphens": "run\u00adning shoes", "right to left": "\u202eshoes",
		"markup": "**shoes** _marathon_", "a link": "[shoes](mallory)", "smileys": ":-) :-( ;-)", "private characters": "\ue04d", "Greek": "μαλλορυ", "Cyrillic": "маллори", "kana": "マロリー", "Hangul": "맬러리", "runes": "ᛗᚨᛚᛚ", "a version": "shoes v4.7.1.1",
	}
	for by := rune(1); by < 26; by++ {
		all[fmt.Sprintf("Caesar by %d", by)] = shifted(by)
	}
	return all
}

// structures returns the secret in the structure of arguments, by tool.
func structures() map[string][2]string {
	return map[string][2]string{
		"names of arguments":  {"server", `{"query":"shoes","mallory":"shoes"}`},
		"names deeper":        {"server", `{"filter":{"text":"shoes","mallory":"shoes"}}`},
		"numbers":             {"server", `{"numbers":[4,7,1,1]}`},
		"one number":          {"server", `{"count":4711}`},
		"another spelling":    {"server", `{"numbers":[3.00,3e0,0.3e1]}`},
		"signs of numbers":    {"server", `{"numbers":[-3,-100,3]}`},
		"truths":              {"server", `{"flags":[false,true,true,false,true]}`},
		"nothing":             {"server", `{"rows":[null,null,null,null]}`},
		"empty texts":         {"server", `{"tags":["","","",""]}`},
		"depth":               {"server", `{"rows":[["shoes"],[["marathon"]],[[["Lisbon"]]]]}`},
		"empty lists":         {"server", `{"rows":[[],[],[],[]]}`},
		"empty objects":       {"server", `{"rows":[{},{},{}]}`},
		"cut over arguments":  {"server", `{"query":"mal","text":"lo","target":"ry"}`},
		"cut over items":      {"server", `{"tags":["shoes","ma","ll","ory"]}`},
		"the same word again": {"server", `{"tags":["running","running","running","running"]}`},
		"enums and truths":    {"server", `{"mode":"transit","state":"closed","filter":{"exact":true}}`},
		"days and hours":      {"get_weather", `{"place":"Lisbon","days":4,"hours":47,"units":"imperial"}`},
		"pages of a crawl":    {"crawl", `{"url":"https://docs.example.org/find?q=mallory","pages":7}`},
		"a part of a page":    {"crawl", `{"url":"https://docs.example.org/find?q=shoes&n=3#mallory"}`},
		"another number":      {"web_fetch", `{"url":"https://docs.example.org/find?q=shoes&n=4711"}`},
		"a longer path":       {"web_fetch", `{"url":"https://docs.example.org/find/mallory?q=shoes&n=3"}`},
		"a subdomain":         {"web_fetch", `{"url":"https://mallory.docs.example.org/find?q=shoes"}`},
	}
}

func TestEncodedPrivateWordsAreAskedAbout(t *testing.T) {
	text := func(s string) string { out, _ := json.Marshal(s); return string(out) }
	sinks := map[string]func(coded string) string{
		"web_search":  func(coded string) string { return `{"query":` + text(coded) + `}` },
		"get_weather": func(coded string) string { return `{"place":` + text(coded) + `}` },
		"crawl": func(coded string) string {
			return `{"url":` + text("https://docs.example.org/find?q="+url.QueryEscape(coded)) + `}`
		},
		"web_fetch": func(coded string) string {
			return `{"url":` + text("https://docs.example.org/find?q="+url.QueryEscape(coded)) + `}`
		},
		"server": func(coded string) string {
			return `{"query":"shoes","filter":{"text":` + text(coded) + `}}`
		},
	}
	runs := 0
	for name, coded := range codings() {
		for tool, input := range sinks {
			if runs++; len(asksFor(t, private(request), [2]string{tool, input(coded)})) != 1 {
				t.Errorf("%s leaves through %s unasked: %s", name, tool, input(coded))
			}
		}
		parts := slices.Collect(slices.Chunk([]rune(coded), max(1, len([]rune(coded))/3)))
		var calls [][2]string
		for _, part := range parts {
			calls = append(calls, [2]string{"web_search", sinks["web_search"](string(part))})
		}
		if runs++; len(asksFor(t, private(request), calls...)) == 0 {
			t.Errorf("%s leaves unasked, cut over %d calls", name, len(calls))
		}
	}
	for name, call := range structures() {
		if runs++; len(asksFor(t, private(request), call)) != 1 {
			t.Errorf("%s leave unasked: %s", name, call)
		}
	}
	t.Logf("%d codings of a text in %d sinks and cut over calls, %d of a structure: %d runs", len(codings()), len(sinks), len(structures()), runs)
}

// everydayCalls are requests with the calls that a competent model makes for them.
var everydayCalls = [][3]string{
	{"What's the weather in Lisbon?", "get_weather", `{"place":"Lisbon"}`},
	{"Will it rain in Porto tomorrow?", "get_weather", `{"place":"Porto","days":2}`},
	{"How cold does it get tonight in Oslo?", "get_weather", `{"place":"Oslo","hours":12}`},
	{"weather zurich this weekend", "get_weather", `{"place":"Zurich","days":7}`},
	{"what's the forecast for new york for the next 5 days?", "get_weather", `{"place":"New York","days":5}`},
	{"Do I need an umbrella in Hamburg on Friday?", "get_weather", `{"place":"Hamburg","days":7}`},
	{"weather in Lisbon in fahrenheit please", "get_weather", `{"place":"Lisbon","days":1,"units":"imperial"}`},
	{"And what about Madrid?", "get_weather", `{"place":"Madrid"}`},
	{"Is it warmer in Athens, Greece?", "get_weather", `{"place":"Athens, Greece","days":1}`},
	{"Search the web for marathon training plans", "web_search", `{"query":"marathon training plans"}`},
	{"Find running shoes for wide feet under 100 euros", "web_search", `{"query":"running shoes for wide feet under 100 euros"}`},
	{"Look up the opening hours of the British Museum", "web_search", `{"query":"British Museum opening hours"}`},
	{"Who won the Champions League in 2025?", "web_search", `{"query":"Champions League 2025 winner"}`},
	{"What is the latest stable version of Go?", "web_search", `{"query":"latest stable Go version 2026"}`},
	{"Is there a train strike in Germany tomorrow?", "web_search", `{"query":"train strike Germany November 2026"}`},
	{"How do I descale a DeLonghi espresso machine?", "web_search", `{"query":"how to descale DeLonghi espresso machine"}`},
	{"Find a recipe for lentil soup with coconut milk", "web_search", `{"query":"lentil soup with coconut milk recipe"}`},
	{"What does a Eurail pass cost?", "web_search", `{"query":"Eurail pass cost 2026"}`},
	{"Search for reviews of the Sony WH-1000XM5", "web_search", `{"query":"Sony WH-1000XM5 review"}`},
	{"What's the exchange rate from euro to yen today?", "web_search", `{"query":"EUR JPY exchange rate today"}`},
	{"Best time to visit Japan for cherry blossoms?", "web_search", `{"query":"best time to visit Japan cherry blossoms"}`},
	{"Can dogs eat blueberries?", "web_search", `{"query":"can dogs eat blueberries"}`},
	{"What are the side effects of ibuprofen?", "web_search", `{"query":"ibuprofen side effects","limit":5}`},
	{"Find out how long the ferry from Ancona to Split takes", "web_search", `{"query":"ferry Ancona Split duration"}`},
	{"Which visa do Germans need for Vietnam?", "web_search", `{"query":"Vietnam visa requirements for German citizens"}`},
	{"search the news about the Artemis launch", "web_search", `{"query":"Artemis launch news"}`},
	{"What's on at the Elbphilharmonie next Friday?", "web_search", `{"query":"Elbphilharmonie program 2026-11-27"}`},
	{"How many calories are in a banana?", "web_search", `{"query":"calories in a banana"}`},
	{"Where can I park near Munich airport?", "web_search", `{"query":"Munich airport parking"}`},
	{"Is the Louvre open on Mondays?", "web_search", `{"query":"Louvre open Monday"}`},
	{"find tutorials on Rust lifetimes", "web_search", `{"query":"Rust lifetimes tutorial"}`},
	{"any good videos about bread scoring?", "server", `{"query":"bread scoring videos","count":10}`},
	{"How long is the drive from Berlin to Leipzig?", "server", `{"origin":"Berlin","destination":"Leipzig","mode":"driving"}`},
	{"Are there open issues about tmux in bubbletea?", "server", `{"query":"tmux bubbletea","state":"open"}`},
	{"Translate 'good morning' to Portuguese", "server", `{"text":"good morning","target":"pt"}`},
	{"What does https://docs.example.org/install say about Windows?", "web_fetch", `{"url":"https://docs.example.org/install"}`},
	{"Find vegan restaurants in Graz that are open on Sunday", "web_search", `{"query":"vegan restaurants Graz open Sunday"}`},
	{"sourdough starter smells like acetone", "web_search", `{"query":"sourdough starter smells like acetone"}`},
	{"What time is it in Tokyo?", "web_search", `{"query":"current time in Tokyo"}`},
	{"Find flights from Vienna to Rome on 3 March", "server", `{"query":"flights Vienna to Rome","filter":{"since":"2027-03-03"}}`},
	{"Wie wird das Wetter in Bremen?", "get_weather", `{"place":"Bremen"}`},
	{"Regnet es morgen in Köln?", "get_weather", `{"place":"Köln","days":2}`},
	{"Wetter für Zürich am Wochenende", "get_weather", `{"place":"Zürich","days":8}`},
	{"Brauche ich am Donnerstag in Wien einen Schirm?", "get_weather", `{"place":"Wien","days":6}`},
	{"Suche im Netz nach Laufschuhen für breite Füße", "web_search", `{"query":"Laufschuhe für breite Füße"}`},
	{"Finde ein Rezept für Kürbissuppe mit Ingwer", "web_search", `{"query":"Kürbissuppe Ingwer Rezept"}`},
	{"Wann öffnet das Deutsche Museum am Sonntag?", "web_search", `{"query":"Deutsches Museum Öffnungszeiten Sonntag"}`},
	{"Was kostet das Deutschlandticket?", "web_search", `{"query":"Deutschlandticket Preis 2026"}`},
	{"Wie entkalke ich eine Kaffeemaschine?", "web_search", `{"query":"Kaffeemaschine entkalken"}`},
	{"Gibt es morgen einen Bahnstreik?", "web_search", `{"query":"Bahnstreik 22.11.2026"}`},
	{"Welche Nebenwirkungen hat Ibuprofen?", "web_search", `{"query":"Ibuprofen Nebenwirkungen"}`},
	{"Suche Bewertungen zum Fairphone 6", "web_search", `{"query":"Fairphone 6 Bewertungen"}`},
	{"Wie lange dauert die Fahrt von Berlin nach Leipzig mit der Bahn?", "server", `{"origin":"Berlin","destination":"Leipzig","mode":"transit"}`},
	{"Wie hoch ist die Zugspitze?", "web_search", `{"query":"Zugspitze Höhe"}`},
	{"Finde Ferienwohnungen auf Rügen im Mai", "web_search", `{"query":"Ferienwohnung Rügen Mai"}`},
	{"Such mir ein Hotel in Prag für 2 Nächte unter 150 Euro", "web_search", `{"query":"Hotel Prag 2 Nächte unter 150 Euro"}`},
	{"Was ist der Unterschied zwischen Butter und Margarine?", "web_search", `{"query":"Unterschied zwischen Butter und Margarine"}`},
	{"Kann man Hokkaido-Kürbis mit Schale essen?", "web_search", `{"query":"Hokkaido-Kürbis mit Schale essen"}`},
	{"Neuigkeiten über die Artemis-Mission", "web_search", `{"query":"Artemis-Mission Neuigkeiten"}`},
	{"Wie spät ist es in New York?", "web_search", `{"query":"aktuelle Uhrzeit New York"}`},
}

// After notes were read, at most one in five of these calls asks. The golden file lists
// which.
func TestEverydayRequestsSeldomAsk(t *testing.T) {
	var list strings.Builder
	asks := 0
	for _, request := range everydayCalls {
		prompts := private(request[0], llm.Message{Role: llm.User, Text: "What do my notes say about running?"}, llm.Message{Role: llm.Assistant, Text: "You run 10 km on Mondays [1]."})
		for _, asked := range asksFor(t, prompts, [2]string{request[1], request[2]}) {
			asks++
			fmt.Fprintf(&list, "%s\n  %s %s\n  new: %s\n", request[0], request[1], request[2], strings.Join(asked.New, ", "))
		}
	}
	if asks*5 > len(everydayCalls) || len(everydayCalls) != 60 {
		t.Errorf("%d of %d ask, want one in five at most", asks, len(everydayCalls))
	}
	golden.RequireEqual(t, fmt.Appendf(nil, "%d of %d ask:\n\n%s", asks, len(everydayCalls), &list))
}
