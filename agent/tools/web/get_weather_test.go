package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lifehub/agent"
)

// The responses have the form that Open-Meteo documents, including nulls.
const (
	zurich = `{"results":[
		{"id":2657896,"name":"Zurich","latitude":47.36667,"longitude":8.55,"elevation":429.0,"country_code":"CH","timezone":"Europe/Zurich","country":"Switzerland","admin1":"Zurich"},
		{"id":1,"name":"Zurich","latitude":39.2,"longitude":-99.4,"country_code":"US","country":"United States","admin1":"Kansas"}],"generationtime_ms":0.9}`
	forecast = `{"latitude":47.36,"longitude":8.56,"timezone":"Europe/Zurich",
		"current_units":{"time":"iso8601","temperature_2m":"°C","wind_speed_10m":"km/h"},
		"current":{"time":"2026-10-08T12:00","interval":900,"temperature_2m":11.6,"apparent_temperature":9.2,"relative_humidity_2m":71,"wind_speed_10m":13.4,"weather_code":61},
		"daily_units":{"precipitation_sum":"mm"},
		"daily":{"time":["2026-10-08","2026-10-09"],"weather_code":[61,null],"temperature_2m_max":[12.4,15.0],"temperature_2m_min":[7.8,6.1],
			"precipitation_sum":[4.2,0],"precipitation_probability_max":[88,null],"wind_speed_10m_max":[22.1,10]}}`
)

// weatherServer replays responses and records the requests.
func weatherServer(t *testing.T, b *openMeteo, geocoding, forecast http.HandlerFunc) *[]string {
	t.Helper()
	var asked []string
	mux := http.NewServeMux()
	keep := func(answer http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path+"?"+r.URL.RawQuery)
			answer(w, r)
		}
	}
	mux.HandleFunc("/v1/search", keep(geocoding))
	mux.HandleFunc("/v1/forecast", keep(forecast))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b.geocoding, b.forecast, b.client = server.URL+"/v1/search", server.URL+"/v1/forecast", server.Client()
	return &asked
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
}

func TestGetWeatherReturnsNowAndForecast(t *testing.T) {
	b := &openMeteo{t: t}
	asked := weatherServer(t, b, says(200, zurich), says(200, forecast))
	result, got := b.run(`{"place":"Zürich","days":2}`)
	want := `Zurich, Switzerland, now: light rain, 12°C (feels like 9°C), wind 13 km/h, humidity 71 %.

- Thursday, 2026-10-08: light rain, 8 to 12°C, 4.2 mm rain or snow (88 % likely), wind up to 22 km/h
- Friday, 2026-10-09: 6 to 15°C, 0 mm rain or snow, wind up to 10 km/h

Source: Open-Meteo

There is also Zurich, Kansas, United States; name the region or country to choose.`
	if got != want || !result.Untrusted {
		t.Errorf("got untrusted %v,\n%s\nwant\n%s", result.Untrusted, got, want)
	}
	holds(t, "questions", strings.Join(*asked, "\n"), "/v1/search?count=10&format=json&language=en&name=Z%C3%BCrich",
		"forecast_days=2&latitude=47.36667&longitude=8.55&timezone=auto")
}

func TestGetWeatherUsesTheRegionAfterAComma(t *testing.T) {
	b := &openMeteo{t: t}
	weatherServer(t, b, says(200, zurich), says(200, forecast))
	for place, want := range map[string]string{
		"Zurich, Kansas": "Zurich, Kansas, United States, now", "Zurich, us": "Zurich, Kansas",
		"Zurich, Switzerland": "Zurich, Switzerland, now",
		"Zurich,Kansas , USA": "Zurich, Kansas, United States, now", "Zurich,": "Zurich, Switzerland, now",
		"Zurich, Kansas, CH": `error: no Zurich in "Kansas, CH"`,
		"Zurich, France":     `error: no Zurich in "France"; known: Zurich, Switzerland; Zurich, Kansas, United States`,
	} {
		if _, got := b.run(`{"place":"` + place + `"}`); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q", place, got)
		}
	}
}

func TestGetWeatherUsesTheUsersUnits(t *testing.T) {
	const hourly = `{"current_units":{"temperature_2m":"°F","wind_speed_10m":"mp/h"},"current":{"temperature_2m":52.9,"apparent_temperature":48.6,"relative_humidity_2m":71,"wind_speed_10m":8.3,"weather_code":3},
		"hourly_units":{"time":"iso8601","temperature_2m":"°F","precipitation":"inch"},
		"hourly":{"time":["2026-10-08T22:00","2026-10-08T23:00","2026-10-09T00:00","2026-10-09T01:00"],"weather_code":[61,null,0,0],"temperature_2m":[51.1,50,49.4,null],"precipitation":[0.16,0,0,0],"precipitation_probability":[88,null,3,0]},
		"daily_units":{"precipitation_sum":"inch"},"daily":{"time":["2026-10-08"],"weather_code":[61],"temperature_2m_max":[54],"temperature_2m_min":[46],"precipitation_sum":[0.2],"precipitation_probability_max":[88],"wind_speed_10m_max":[14]}}`
	const want = `Zurich, Kansas, United States, now: overcast, 53°F (feels like 49°F), wind 8 mp/h, humidity 71 %.

Thursday, 2026-10-08, by the hour:
- 22:00: light rain, 51°F, 0.16 inch (88 % likely)
- 23:00: 50°F

Friday, 2026-10-09, by the hour:
- 00:00: clear, 49°F

- Thursday, 2026-10-08: light rain, 46 to 54°F, 0.2 inch rain or snow (88 % likely), wind up to 14 mp/h

Source: Open-Meteo`
	for _, tc := range []struct{ set, args string }{
		{"imperial", `{"place":"Zurich, Kansas","hours":4,"days":1}`},
		{"metric", `{"place":"Zurich, Kansas","hours":4,"days":1,"units":"imperial"}`},
	} {
		b := &openMeteo{t: t}
		b.units = tc.set
		asked := weatherServer(t, b, says(200, zurich), says(200, hourly))
		if _, got := b.run(tc.args); got != want {
			t.Errorf("set to %s, %s: got\n%s", tc.set, tc.args, got)
		}
		holds(t, "questions", strings.Join(*asked, "\n"), "forecast_hours=4", "hourly=weather_code%2Ctemperature_2m",
			"temperature_unit=fahrenheit", "wind_speed_unit=mph", "precipitation_unit=inch")
	}
	b := &openMeteo{t: t}
	b.units = "imperial"
	asked := weatherServer(t, b, says(200, zurich), says(200, forecast))
	b.run(`{"place":"Zurich","units":"metric"}`)
	if all := strings.Join(*asked, " "); strings.Contains(all, "fahrenheit") || strings.Contains(all, "hourly") {
		t.Errorf("asked in metric units and without hours: %s", all)
	}
}

func TestGetWeatherReportsErrors(t *testing.T) {
	for want, answers := range map[string][2]http.HandlerFunc{
		`no place called "Nowhere" is known`: {says(200,
			`{"generationtime_ms":0.1}`), nil},
		"look up Nowhere: Open-Meteo has a problem (503 Service Unavailable); try again later": {
			says(503, "busy"),
			nil,
		},
		"get the weather of Zurich: Open-Meteo answered 400 Bad Request: Daily is wrong": {
			says(200, zurich),
			says(400, `{"error":true,"reason":"Daily is wrong"}`),
		},
		"is not JSON": {says(200, "<html>"), nil},
		"ask Open-Meteo: the server closed the connection": {func(http.ResponseWriter,
			*http.Request,
		) {
			panic(http.ErrAbortHandler)
		}, nil},
	} {
		b := &openMeteo{t: t}
		weatherServer(t, b, answers[0], answers[1])
		if _, got := b.run(`{"place":"Nowhere"}`); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	b := &openMeteo{t: t}
	if _, got := b.run(`{"place":" "}`); got != "error: the weather of which place?" {
		t.Errorf("got %q", got)
	}
}

func TestGetWeatherStopsWithTheTurn(t *testing.T) {
	b := &openMeteo{t: t}
	ctx, cancel := context.WithCancel(t.Context())
	weatherServer(t, b, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }, nil)
	if _, err := newGetWeather(b.weather).Run(ctx, []byte(`{"place":"Oslo"}`)); err == nil ||
		!strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v", err)
	}
}

// openMeteo is the tool with a server in place of Open-Meteo.
type openMeteo struct {
	t *testing.T
	weather
}

// run runs the tool. The text of an error is prefixed with "error: ".
func (b *openMeteo) run(args string) (agent.Result, string) {
	b.t.Helper()
	result, err := newGetWeather(b.weather).Run(b.t.Context(), json.RawMessage(args))
	if err != nil {
		return result, "error: " + err.Error()
	}
	return result, result.Text
}
