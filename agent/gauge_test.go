package agent

import (
	"testing"

	"pgregory.net/rapid"
)

func TestAPromptThatTheServerCutIsNoticed(t *testing.T) {
	measured := Gauge{Low: 0.8, High: 0.9}
	for name, tc := range map[string]struct {
		gauge                     Gauge
		estimate, counted, window int
		refuses, want             bool
	}{
		"as expected":                        {measured, 4000, 3400, 16384, false, false},
		"half of it is missing":              {measured, 8000, 3000, 16384, false, true},
		"nothing is missing where it cannot": {measured, 8000, 3000, 16384, true, false},
		"a count of what was not cached":     {measured, 8000, 12, 16384, false, false},
		"it fills the window":                {measured, 12000, 16384, 16384, true, true},
		"it fills a usual window":            {measured, 5000, 4096, 16384, false, true},
		"the same where nothing is cut":      {measured, 4700, 4096, 16384, true, false},
		"an unmeasured model":                {Gauge{}, 8000, 5600, 16384, false, false},
		"an unmeasured model that lost all":  {Gauge{}, 12000, 4000, 16384, false, true},
		"the server does not count":          {measured, 8000, 0, 16384, false, false},
		"a short prompt":                     {measured, 300, 100, 16384, false, false},
	} {
		if got := tc.gauge.wasCut(tc.estimate, tc.counted, tc.window, tc.refuses); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// Once measured, no prompt that was like the ones before is estimated too low.
func TestTheGaugeStaysOnTheSafeSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g Gauge
		tokenizer := rapid.Float64Range(0.3, 4).Draw(t, "tokens of the server for one of the estimate")
		for range rapid.IntRange(1, 40).Draw(t, "prompts") {
			estimate := rapid.IntRange(200, 20_000).Draw(t, "estimate")
			counted := int(tokenizer * rapid.Float64Range(0.95, 1.03).Draw(t, "mixture") * float64(estimate))
			if g.High > 0 && float64(counted) > g.scale().rest*float64(estimate) {
				t.Fatalf("%d tokens were estimated as %.0f", counted, g.scale().rest*float64(estimate))
			}
			g.seen(estimate, counted)
		}
	})
}
