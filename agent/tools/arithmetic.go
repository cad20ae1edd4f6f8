package tools

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

const maxExpression = 1000 // bytes

// evaluate returns the value of an arithmetic expression.
func evaluate(expression string) (float64, error) {
	if len(expression) > maxExpression {
		return 0, fmt.Errorf("it is longer than %d characters", maxExpression)
	}
	program, err := expr.Compile(plain(expression), expr.DisableAllBuiltins(), expr.Env(functions),
		expr.AsFloat64(), expr.Patch(amounts{}))
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return 0, errors.New(reason)
	}
	value, err := expr.Run(program, functions)
	switch number, ok := value.(float64); {
	case err != nil:
		return 0, err
	case !ok:
		return 0, errors.New("the result is no number")
	case math.IsNaN(number):
		return 0, errors.New("it has no result among the real numbers")
	case math.IsInf(number, 0):
		return 0, errors.New("it is too large or infinite")
	default:
		return number, nil
	}
}

var (
	pasted = strings.NewReplacer(
		"×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "√", "sqrt ", "π", "pi",
		";", ",", "=", " ", "\u202f", " ", "\u00a0", " ",
	)
	ofAmount   = regexp.MustCompile(`%\s*of\b`)
	modulo     = regexp.MustCompile(`\bmod\b`)
	percentage = regexp.MustCompile(`([\d._]+)\s*%(\s*(?:[-+*/^),]|$))`) // 7 % 3 is a remainder
	argument   = regexp.MustCompile(`\b([a-z]\w*)\s+([\d.]+)`)
	call       = regexp.MustCompile(`\pL\s*\(`)
	thousands  = regexp.MustCompile(`(\d),(\d{3})\b`)
)

// plain writes an expression as the library reads it: with a function for percentages
// and parentheses around arguments. Commas between thousands go, unless a function is
// called, whose arguments they separate.
func plain(expression string) string {
	s := strings.TrimSpace(pasted.Replace(strings.ToLower(expression)))
	for !call.MatchString(s) && thousands.MatchString(s) {
		s = thousands.ReplaceAllString(s, "$1$2")
	}
	s = modulo.ReplaceAllString(ofAmount.ReplaceAllString(s, "%*"), "%")
	return argument.ReplaceAllString(percentage.ReplaceAllString(s, "percent($1)$2"), "$1($2)")
}

// amounts makes all numbers floats, which do not overflow, and a percentage that is
// added to a number one of that number, as on a pocket calculator.
type amounts struct{}

// Visit implements [ast.Visitor].
func (amounts) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IntegerNode:
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
	case *ast.BinaryNode:
		switch {
		case n.Operator == "%":
			ast.Patch(node, &ast.CallNode{
				Callee:    &ast.IdentifierNode{Value: "mod"},
				Arguments: []ast.Node{n.Left, n.Right},
			})
		case (n.Operator == "+" || n.Operator == "-") && isPercentage(n.Right) && !isPercentage(n.Left):
			part := &ast.BinaryNode{Operator: n.Operator, Left: &ast.FloatNode{Value: 1}, Right: n.Right}
			ast.Patch(node, &ast.BinaryNode{Operator: "*", Left: n.Left, Right: part})
		}
	}
}

func isPercentage(node ast.Node) bool {
	call, ok := node.(*ast.CallNode)
	if !ok {
		return false
	}
	name, ok := call.Callee.(*ast.IdentifierNode)
	return ok && name.Value == "percent"
}

// functions are what an expression can name.
var functions = map[string]any{
	"pi": math.Pi, "e": math.E,
	"percent": func(x float64) float64 { return x / 100 },
	"mod":     func(x, y float64) float64 { return x - math.Floor(x/y)*y }, // with the sign of the divisor
	"sqrt":    math.Sqrt, "cbrt": math.Cbrt, "exp": math.Exp, "ln": math.Log, "log": math.Log10, "log10": math.Log10,
	"log2": math.Log2, "abs": math.Abs,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"floor": math.Floor, "ceil": math.Ceil,
	"min":  func(first float64, others ...float64) float64 { return slices.Min(append(others, first)) },
	"max":  func(first float64, others ...float64) float64 { return slices.Max(append(others, first)) },
	"sum":  sumOfValues,
	"mean": func(values ...float64) float64 { return sumOfValues(values...) / float64(len(values)) },
	"avg":  func(values ...float64) float64 { return sumOfValues(values...) / float64(len(values)) },
	"round": func(x float64, places ...float64) float64 {
		shift := math.Pow(10, sumOfValues(places...))
		return math.Round(x*shift) / shift
	},
}

func sumOfValues(values ...float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// formatNumber writes a number with at most 12 significant digits, integers with all
// that a float64 holds.
func formatNumber(x float64) string {
	switch size := math.Abs(x); {
	case x == math.Trunc(x) && size < 1<<53:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case size < 1e-6 || size >= 1e21:
		return strconv.FormatFloat(x, 'g', 12, 64)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}
