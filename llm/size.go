package llm

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// sizeIn finds a number of parameters in a name. One with k is the size of a context.
var sizeIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^a-wyz0-9.])(\d+(?:\.\d+)?) ?([MBT])(?:[^a-z0-9]|$)`)
})

// ParametersIn returns the number of parameters that a model's size or name says, such
// as "8.2B", "mistral:7b" or "SmolLM2-135M.gguf"; 0 if it says none.
func ParametersIn(name string) float64 {
	if thousands, ok := strings.CutSuffix(name, "K"); ok { // the whole of it: not the end of a name
		if n, err := strconv.ParseFloat(thousands, 64); err == nil {
			return n * 1e3
		}
	}
	m := sizeIn().FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64) // the pattern is that of a number
	return math.Round(n * map[string]float64{"M": 1e6, "B": 1e9, "T": 1e12}[strings.ToUpper(m[2])])
}
