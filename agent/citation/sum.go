package citation

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"lifehub/internal/arithmetic"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// A calculation is numbers with operators between them and what they make:
// 15 km + 12 km = 27 km. A unit may follow each number.
var (
	calculation = pattern.Lazy(`[$€£]?\d+(?:[.,]\d+)*(?: ?(?:[%€$£]|\pL{1,12}))?(?: *[-+−–×*·÷/] *[$€£]?\d+(?:[.,]\d+)*(?: ?(?:[%€$£]|\pL{1,12}))?)+ *= *[$€£]?(\d+(?:[.,]\d+)*)`)
	operand     = pattern.Lazy(`(^|[-+−–×*·÷/])[^\d]*?(\d+(?:[.,]\d+)*)`)
)

// sum is a calculation of an answer.
type sum struct {
	result text.Span // where its result stands
	wrong  string    // what it says and what it is; "": it is right
}

// sumsIn computes the calculations of a text again.
func sumsIn(s string) (sums []sum) {
	if !strings.Contains(s, "=") {
		return nil
	}
	for _, at := range calculation.FindAllStringSubmatchIndex(s, -1) {
		parts, said := s[at[0]:at[2]], s[at[2]:at[3]]
		one, written := sum{result: text.Span{Start: at[2], End: at[3]}}, strings.TrimRight(parts, "= $€£")
		var plain strings.Builder // without units
		for _, m := range operand.FindAllStringSubmatch(written, -1) {
			plain.WriteString(m[1] + strconv.FormatFloat(numberIn(m[2]), 'f', -1, 64))
		}
		_, decimals, _ := strings.Cut(strings.ReplaceAll(said, ",", "."), ".")
		rounded := 0.5 / math.Pow10(len(decimals)) // of the last figure that is said
		if value, err := arithmetic.Evaluate(plain.String()); err != nil {
			one.wrong = written + ": " + err.Error()
		} else if total, _ := value.Float64(); math.Abs(total-numberIn(said)) > rounded+1e-9 {
			one.wrong = fmt.Sprintf("%s is %s, not %s", written, strconv.FormatFloat(math.Round(total*1e4)/1e4, 'f', -1, 64), said)
		}
		sums = append(sums, one)
	}
	return sums
}

// numberIn reads 1,250.50 and 12,5.
func numberIn(s string) float64 {
	if thousands := strings.Split(s, ","); len(thousands) > 1 && len(thousands[len(thousands)-1]) >= 3 {
		s = strings.ReplaceAll(s, ",", "")
	}
	n, _ := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64) // its digits are bounded by the answer
	return n
}
