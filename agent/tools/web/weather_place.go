package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// town is a place in the format of Open-Meteo's geocoding.
type town struct {
	Name      string  `json:"name"`
	Region    string  `json:"admin1"`
	Country   string  `json:"country"`
	Code      string  `json:"country_code"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

func (t town) String() string {
	parts := []string{t.Name}
	for _, part := range []string{t.Region, t.Country} {
		if part != "" && part != t.Name {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// find returns the places with a name, likeliest first. Text after a comma
// selects among places of the same name.
func (w weather) find(ctx context.Context, place string) ([]town, error) {
	parts := strings.Split(place, ",")
	for i := range parts {
		parts[i] = oneLine(parts[i])
	}
	name := parts[0]
	where := slices.DeleteFunc(parts[1:], func(part string) bool { return part == "" })
	known, err := w.named(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("no place called %q is known; name the nearest town, and the region after a comma", name)
	}
	fitting := slices.DeleteFunc(slices.Clone(known), func(t town) bool {
		return slices.ContainsFunc(where, func(part string) bool { return !t.liesIn(part) })
	})
	if len(fitting) == 0 {
		return nil, fmt.Errorf("no %s in %q; known: %s", name, strings.Join(where, ", "), townNames(known))
	}
	return fitting, nil
}

// commonNames maps common names of countries to their codes, if Open-Meteo uses
// another name.
var commonNames = map[string]string{
	"usa": "US", "u.s.": "US", "u.s.a.": "US", "america": "US",
	"uk": "GB", "england": "GB", "great britain": "GB",
	"holland": "NL", "czech republic": "CZ",
}

func (t town) liesIn(part string) bool {
	return strings.EqualFold(part, t.Code) || strings.EqualFold(commonNames[strings.ToLower(part)], t.Code) &&
		t.Code != "" ||
		containsFold(t.Region, part) || containsFold(t.Country, part)
}

func containsFold(text, part string) bool {
	return text != "" && strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func (w weather) named(ctx context.Context, name string) ([]town, error) {
	var found struct {
		Results []town `json:"results"`
	}
	query := url.Values{"name": {name}, "count": {"10"}, "language": {"en"}, "format": {"json"}}
	if err := w.get(ctx, w.geocoding, query, &found); err != nil {
		return nil, fmt.Errorf("look up %s: %w", name, err)
	}
	return found.Results, nil
}

// others lists the other places of the same name, so that the user can choose;
// "" if there are none.
func others(found []town) string {
	rest := slices.DeleteFunc(slices.Clone(found), func(t town) bool {
		return t.String() == found[0].String() ||
			t.Name != found[0].Name
	})
	if len(rest) == 0 {
		return ""
	}
	return "\n\nThere is also " + townNames(rest[:min(len(rest), 4)]) + "; name the region or country to choose."
}

func townNames(towns []town) string {
	var names []string
	for _, t := range towns {
		if !slices.Contains(names, t.String()) {
			names = append(names, t.String())
		}
	}
	return strings.Join(names, "; ")
}
