package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

type weatherArgs struct {
	Place string `json:"place"`
	Days  int    `json:"days,omitempty" minimum:"1" maximum:"16"`
	Hours int    `json:"hours,omitempty" minimum:"1" maximum:"48"`
	Units string `json:"units,omitempty" enum:"metric,imperial"`
}

const (
	publicGeocoding = "https://geocoding-api.open-meteo.com/v1/search"
	publicForecast  = "https://api.open-meteo.com/v1/forecast"

	weatherDays     = 3
	maxWeatherDays  = 16 // Open-Meteo's own bound
	maxWeatherHours = 48
	weatherTime     = webTime
	maxWeatherBody  = 1 << 20
)

// weather gets forecasts from Open-Meteo.
type weather struct {
	client              *http.Client
	geocoding, forecast string // addresses
	units               string // default units, metric or imperial; "": metric
}

func newGetWeather(w weather) agent.Tool {
	spec := agent.DescribeTool[weatherArgs](descriptions, "get_weather")
	return agent.NewOutward(spec, "Open-Meteo", func(ctx context.Context, args weatherArgs) (agent.Result, error) {
		if strings.Trim(args.Place, " ,\t\n") == "" {
			return agent.Result{}, errors.New("the weather of which place?")
		}
		days := weatherDays
		if args.Days > 0 {
			days = min(args.Days, maxWeatherDays)
		}
		request := outlook{
			days: days, hours: min(max(args.Hours, 0), maxWeatherHours),
			imperial: cmp.Or(args.Units, w.units) == "imperial",
		}
		ctx, cancel := context.WithTimeout(ctx, weatherTime)
		defer cancel()
		found, err := w.find(ctx, args.Place)
		if err != nil {
			return agent.Result{}, err
		}
		report, err := w.report(ctx, found[0], request)
		if err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: report.text(found[0]) + others(found), Untrusted: true}, nil
	})
}

// outlook is the requested range and units of a report.
type outlook struct {
	days, hours int
	imperial    bool
}

// report is the forecast by Open-Meteo, with the values requested in
// [weather.report].
type report struct {
	Current struct {
		Temperature float64 `json:"temperature_2m"`
		Feels       float64 `json:"apparent_temperature"`
		Humidity    float64 `json:"relative_humidity_2m"`
		Wind        float64 `json:"wind_speed_10m"`
		Code        int     `json:"weather_code"`
	} `json:"current"`
	Units struct {
		Temperature string `json:"temperature_2m"`
		Wind        string `json:"wind_speed_10m"`
	} `json:"current_units"`
	Daily struct {
		Day    []string   `json:"time"`
		Code   []*int     `json:"weather_code"`
		Max    []*float64 `json:"temperature_2m_max"`
		Min    []*float64 `json:"temperature_2m_min"`
		Rain   []*float64 `json:"precipitation_sum"`
		Chance []*float64 `json:"precipitation_probability_max"`
		Wind   []*float64 `json:"wind_speed_10m_max"`
	} `json:"daily"`
	DailyUnits struct {
		Rain string `json:"precipitation_sum"`
	} `json:"daily_units"`
	Hourly struct {
		Time        []string   `json:"time"`
		Code        []*int     `json:"weather_code"`
		Temperature []*float64 `json:"temperature_2m"`
		Rain        []*float64 `json:"precipitation"`
		Chance      []*float64 `json:"precipitation_probability"`
	} `json:"hourly"`
}

func (w weather) report(ctx context.Context, t town, request outlook) (report, error) {
	query := url.Values{
		"latitude":  {strconv.FormatFloat(t.Latitude, 'f', -1, 64)},
		"longitude": {strconv.FormatFloat(t.Longitude, 'f', -1, 64)},
		"current":   {"temperature_2m,apparent_temperature,relative_humidity_2m,wind_speed_10m,weather_code"},
		"daily": {"weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum," +
			"precipitation_probability_max,wind_speed_10m_max"},
		"timezone":      {"auto"},
		"forecast_days": {strconv.Itoa(request.days)},
	}
	if request.hours > 0 {
		query.Set("hourly", "weather_code,temperature_2m,precipitation,precipitation_probability")
		query.Set("forecast_hours", strconv.Itoa(request.hours))
	}
	if request.imperial {
		query.Set("temperature_unit", "fahrenheit")
		query.Set("wind_speed_unit", "mph")
		query.Set("precipitation_unit", "inch")
	}
	var r report
	if err := w.get(ctx, w.forecast, query, &r); err != nil {
		return r, fmt.Errorf("get the weather of %s: %w", t.Name, err)
	}
	return r, nil
}

// get fetches a JSON response from Open-Meteo.
func (w weather) get(ctx context.Context, address string, query url.Values, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return fmt.Errorf("ask Open-Meteo: %w", llm.Explain(err))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxWeatherBody))
	if err != nil {
		return fmt.Errorf("read the answer of Open-Meteo: %w", llm.Explain(err))
	}
	if response.StatusCode != http.StatusOK {
		var refusal struct {
			Reason string `json:"reason"`
		}
		_ = json.Unmarshal(body, &refusal) // the status alone is sufficient
		refused := llm.Status("Open-Meteo", response.StatusCode, refusal.Reason)
		if refusal.Reason != "" {
			refused.Problem += ": " + refusal.Reason
		}
		return refused
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("Open-Meteo's answer is not JSON: %w", err)
	}
	return nil
}

func (r report) text(t town) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, now: %s, %.0f%s (feels like %.0f%s), wind %.0f %s, humidity %.0f %%.\n",
		t, sky(r.Current.Code), r.Current.Temperature, r.Units.Temperature, r.Current.Feels, r.Units.Temperature,
		r.Current.Wind, r.Units.Wind, r.Current.Humidity)
	r.tellHours(&text)
	d := r.Daily
	for i, day := range d.Day {
		date, err := time.Parse(time.DateOnly, day)
		if err != nil {
			continue
		}
		fmt.Fprintf(&text, "\n- %s: ", date.Format("Monday, 2006-01-02"))
		if code := at(d.Code, i); code != nil {
			text.WriteString(sky(*code) + ", ")
		}
		low, high := at(d.Min, i), at(d.Max, i)
		if low != nil && high != nil {
			fmt.Fprintf(&text, "%.0f to %.0f%s", *low, *high, r.Units.Temperature)
		}
		if rain := at(d.Rain, i); rain != nil {
			fmt.Fprintf(&text, ", %s %s rain or snow", strconv.FormatFloat(*rain, 'f', -1, 64), r.DailyUnits.Rain)
		}
		if chance := at(d.Chance, i); chance != nil {
			fmt.Fprintf(&text, " (%.0f %% likely)", *chance)
		}
		if wind := at(d.Wind, i); wind != nil {
			fmt.Fprintf(&text, ", wind up to %.0f %s", *wind, r.Units.Wind)
		}
	}
	text.WriteString("\n\nSource: Open-Meteo")
	return text.String()
}

// tellHours writes the hourly forecast, if one was requested.
func (r report) tellHours(text *strings.Builder) {
	h := r.Hourly
	day := ""
	for i, hour := range h.Time {
		when, err := time.Parse("2006-01-02T15:04", hour)
		temperature := at(h.Temperature, i)
		if err != nil || temperature == nil {
			continue
		}
		if today := when.Format("Monday, 2006-01-02"); today != day {
			day = today
			fmt.Fprintf(text, "\n%s, by the hour:\n", day)
		}
		fmt.Fprintf(text, "- %s: ", when.Format("15:04"))
		if code := at(h.Code, i); code != nil {
			text.WriteString(sky(*code) + ", ")
		}
		fmt.Fprintf(text, "%.0f%s", *temperature, r.Units.Temperature)
		if rain := at(h.Rain, i); rain != nil && *rain > 0 {
			fmt.Fprintf(text, ", %s %s", strconv.FormatFloat(*rain, 'f', -1, 64), r.DailyUnits.Rain)
		}
		if chance := at(h.Chance, i); chance != nil && *chance >= 10 {
			fmt.Fprintf(text, " (%.0f %% likely)", *chance)
		}
		text.WriteString("\n")
	}
}

// at returns item i of a list, or nil if the list is too short or the item is
// null.
func at[T any](list []*T, i int) *T {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// skies describes the WMO weather codes (Open-Meteo docs, "WMO Weather
// interpretation codes").
var skies = map[int]string{
	0: "clear", 1: "mainly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "fog",
	51: "drizzle", 53: "drizzle", 55: "drizzle", 56: "freezing drizzle", 57: "freezing drizzle",
	61: "light rain", 63: "rain", 65: "heavy rain", 66: "freezing rain", 67: "freezing rain",
	71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains",
	80: "rain showers", 81: "rain showers", 82: "violent rain showers", 85: "snow showers", 86: "snow showers",
	95: "thunderstorm", 96: "thunderstorm with hail", 99: "thunderstorm with hail",
}

func sky(code int) string { return cmp.Or(skies[code], fmt.Sprint("weather code ", code)) }
