package tools

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

const (
	maxExpression = 1000 // bytes
	maxBits       = 4096 // of an exact number; beyond that it is rounded to a float64
)

// evaluate returns the value of an arithmetic expression. Fractions are exact
// where possible, so that 0.1 + 0.2 is 0.3; functions such as roots are not.
func evaluate(text string) (*big.Rat, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("it is longer than %d characters", maxExpression)
	}
	c := calculation{rest: plainOperators.Replace(text)}
	value, err := c.expression(0)
	if err == nil && c.next() != "" {
		err = c.notUnderstood()
	}
	if err != nil {
		return nil, err
	}
	return value.number, nil
}

// plainOperators replaces signs that people paste with those that are parsed.
var plainOperators = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "**", "^", "√", "sqrt ", "π", "pi", "\u00a0", " ", "\u202f", " ", "=", " ")

// calculation parses and evaluates an expression by operator precedence.
type calculation struct {
	rest     string // unparsed text
	argument bool   // inside the arguments of a function, where a comma separates
}

// amount is a number. percent marks a percentage that has not been combined
// with another number yet.
type amount struct {
	number  *big.Rat
	percent bool
}

// operators maps binary operators to their precedence.
var operators = map[string]int{"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "mod": 2, "of": 2, "^": 4}

// signStrength is the precedence of a sign, below that of ^, so that -2^2 is
// -4.
const signStrength = 3

var (
	word = pattern.Lazy(`^[\pL\d]+`)
	// number matches 1234.5, 1,234.5, 1_000 and 1.2e-3.
	number = pattern.Lazy(`^[\d_]*(?:,\d{3}\b)*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?`)
	// remainder matches the % of "7 % 3", but not that of "7 % + 3"; ofAmount
	// matches that of "7 % of 3".
	remainder = pattern.Lazy(`^%\s*[\pL\d.(]`)
	ofAmount  = pattern.Lazy(`^%\s*(?i:of)\b`)
)

// next returns the next sign or lower-case word without consuming it; "" at the
// end.
func (c *calculation) next() string {
	c.rest = strings.TrimLeft(c.rest, " \t\r\n")
	if found := word.FindString(c.rest); found != "" {
		return strings.ToLower(found)
	}
	return c.rest[:min(len(c.rest), 1)]
}

// takes consumes the next sign if it is one of signs.
func (c *calculation) takes(signs string) bool {
	next := c.next()
	found := next != "" && strings.Contains(signs, next)
	if found {
		c.rest = c.rest[len(next):]
	}
	return found
}

func (c *calculation) notUnderstood() error {
	return fmt.Errorf("%q is not understood at this place", text.Cut(c.rest, 30))
}

// expression parses values and operators with at least the given precedence.
func (c *calculation) expression(strength int) (amount, error) {
	left, err := c.value()
	for err == nil {
		operator := c.next()
		binds := operators[operator]
		if binds == 0 || binds < strength || operator == "of" && !left.percent {
			break
		}
		c.rest = c.rest[len(operator):]
		if operator != "^" { // 2^3^2 is 2^9
			binds++
		}
		var right amount
		if right, err = c.expression(binds); err == nil {
			left, err = combine(left, operator, right)
		}
	}
	return left, err
}

// combine applies an operator. A percentage that is added to a number is a
// percentage of that number, as on a pocket calculator.
func combine(left amount, operator string, right amount) (amount, error) {
	number, percent := new(big.Rat), false
	switch operator {
	case "+", "-":
		if percent = left.percent && right.percent; right.percent && !left.percent {
			right.number = new(big.Rat).Mul(left.number, right.number)
		}
		if number.Add(left.number, right.number); operator == "-" {
			number.Sub(left.number, right.number)
		}
	case "*", "of":
		number.Mul(left.number, right.number)
	case "^":
		number, err := raise(left.number, right.number)
		return amount{number: number}, err
	default:
		if right.number.Sign() == 0 {
			return amount{}, errors.New("it divides by zero")
		}
		if number.Quo(left.number, right.number); operator != "/" { // the remainder has the sign of the divisor
			whole := new(big.Rat).Mul(floor(number), right.number)
			number.Sub(left.number, whole)
		}
	}
	return amount{bounded(number), percent}, nil
}

// value parses a signed number, constant, function call or parenthesis,
// followed by an optional percent sign.
func (c *calculation) value() (amount, error) {
	if c.takes("+") {
		return c.expression(signStrength)
	}
	if c.takes("-") {
		value, err := c.expression(signStrength)
		if err == nil {
			value.number = new(big.Rat).Neg(value.number)
		}
		return value, err
	}
	number, err := c.plainValue()
	if err == nil && c.next() == "%" && (ofAmount.MatchString(c.rest) || !remainder.MatchString(c.rest)) {
		c.rest = c.rest[1:]
		return amount{bounded(new(big.Rat).Mul(number, big.NewRat(1, 100))), true}, nil
	}
	return amount{number: number}, err
}

func (c *calculation) plainValue() (*big.Rat, error) {
	switch next := c.next(); {
	case next == "":
		return nil, errors.New("it ends where a number is missing")
	case c.takes("("):
		values, err := c.list(false)
		if err != nil {
			return nil, err
		}
		return values[0], nil
	case strings.ContainsAny(next[:1], ".0123456789"):
		return c.number()
	case unicode.IsLetter([]rune(next)[0]):
		c.rest = c.rest[len(word.FindString(c.rest)):]
		return c.named(next)
	}
	return nil, c.notUnderstood()
}

// list parses the content of parentheses and the closing one.
func (c *calculation) list(arguments bool) (values []*big.Rat, err error) {
	outer := c.argument
	defer func() { c.argument = outer }()
	c.argument = arguments
	for {
		value, err := c.expression(0)
		if err != nil {
			return nil, err
		}
		values = append(values, value.number)
		switch {
		case c.takes(")"):
			return values, nil
		case !arguments || !c.takes(",;"):
			return nil, errors.New("a parenthesis is not closed")
		}
	}
}

func (c *calculation) number() (*big.Rat, error) {
	written := number.FindString(c.rest)
	if c.argument {
		written, _, _ = strings.Cut(written, ",")
	}
	c.rest = c.rest[len(written):]
	plain := strings.NewReplacer(",", "", "_", "").Replace(written)
	if _, exponent, ok := strings.Cut(strings.ToLower(plain), "e"); ok {
		if e, err := strconv.Atoi(exponent); err != nil || e > 300 || e < -300 {
			return nil, fmt.Errorf("%s is too large or too small", written)
		}
	}
	value, ok := new(big.Rat).SetString(plain)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", written)
	}
	return bounded(value), nil
}

// named evaluates a constant or function call. A function of one argument needs
// no parentheses.
func (c *calculation) named(name string) (*big.Rat, error) {
	switch name {
	case "pi":
		return fromFloat(math.Pi)
	case "e":
		return fromFloat(math.E)
	}
	apply := functions[name]
	if apply == nil {
		return nil, fmt.Errorf("%q is not known; the functions are %s", text.Cut(name, 30), functionNames())
	}
	if c.takes("(") {
		values, err := c.list(true)
		if err != nil {
			return nil, err
		}
		return apply(values)
	}
	value, err := c.plainValue()
	if err != nil {
		return nil, err
	}
	return apply([]*big.Rat{value})
}

// raise is exact for integer exponents unless the result would be too long.
func raise(base, exponent *big.Rat) (*big.Rat, error) {
	if base.Sign() == 0 && exponent.Sign() < 0 {
		return nil, errors.New("it divides by zero")
	}
	bits := int64(max(base.Num().BitLen(), base.Denom().BitLen()))
	if exponent.IsInt() && exponent.Num().CmpAbs(big.NewInt(maxBits/bits)) <= 0 {
		size := new(big.Int).Abs(exponent.Num())
		result := new(big.Rat).SetFrac(new(big.Int).Exp(base.Num(), size, nil), new(big.Int).Exp(base.Denom(), size, nil))
		if exponent.Sign() < 0 {
			result.Inv(result)
		}
		return result, nil
	}
	x, _ := base.Float64()
	y, _ := exponent.Float64()
	return fromFloat(math.Pow(x, y))
}

// floor returns the largest integer not above x.
func floor(x *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom())) // Euclidean division rounds down, as the denominator is positive
}

// bounded rounds a number that is too long to be exact.
func bounded(x *big.Rat) *big.Rat {
	if x.Num().BitLen() <= maxBits && x.Denom().BitLen() <= maxBits {
		return x
	}
	if f, _ := x.Float64(); !math.IsInf(f, 0) {
		return new(big.Rat).SetFloat64(f)
	}
	return x
}

func fromFloat(f float64) (*big.Rat, error) {
	switch {
	case math.IsNaN(f):
		return nil, errors.New("it has no result among the real numbers")
	case math.IsInf(f, 0):
		return nil, errors.New("it is too large, or infinite")
	}
	return new(big.Rat).SetFloat64(f), nil
}

// formatNumber formats integers of up to 60 digits in full, and other numbers
// with at most 12 significant digits.
func formatNumber(x *big.Rat) string {
	if x.IsInt() {
		if text := x.Num().String(); len(text) <= 60 {
			return text
		}
	}
	f, _ := x.Float64()
	if math.IsInf(f, 0) {
		return fmt.Sprintf("about 10^%d", len(x.Num().String())-len(x.Denom().String()))
	}
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return fmt.Sprintf("%.12g", f)
	}
	places := 12 - int(math.Ceil(math.Log10(math.Abs(f)+1e-300)))
	text := x.FloatString(min(max(places, 0), 18))
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// functions by name. Those computed with floats have the precision of a
// float64.
var functions = map[string]func([]*big.Rat) (*big.Rat, error){
	"sqrt": ofFloat(math.Sqrt), "cbrt": ofFloat(math.Cbrt), "exp": ofFloat(math.Exp),
	"ln": ofFloat(math.Log), "log": ofFloat(math.Log10), "log10": ofFloat(math.Log10), "log2": ofFloat(math.Log2),
	"sin": ofFloat(math.Sin), "cos": ofFloat(math.Cos), "tan": ofFloat(math.Tan),
	"asin": ofFloat(math.Asin), "acos": ofFloat(math.Acos), "atan": ofFloat(math.Atan),
	"abs":   ofOne(func(x *big.Rat) (*big.Rat, error) { return new(big.Rat).Abs(x), nil }),
	"floor": ofOne(func(x *big.Rat) (*big.Rat, error) { return floor(x), nil }),
	"ceil": ofOne(func(x *big.Rat) (*big.Rat, error) {
		below := floor(new(big.Rat).Neg(x))
		return below.Neg(below), nil
	}),
	"round": round,
	"min":   func(values []*big.Rat) (*big.Rat, error) { return slices.MinFunc(values, (*big.Rat).Cmp), nil },
	"max":   func(values []*big.Rat) (*big.Rat, error) { return slices.MaxFunc(values, (*big.Rat).Cmp), nil },
	"sum":   func(values []*big.Rat) (*big.Rat, error) { return sumOfValues(values), nil },
	"avg":   average, "mean": average,
}

func functionNames() string {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func ofOne(f func(*big.Rat) (*big.Rat, error)) func([]*big.Rat) (*big.Rat, error) {
	return func(values []*big.Rat) (*big.Rat, error) {
		if len(values) != 1 {
			return nil, fmt.Errorf("a function of one number was given %d", len(values))
		}
		return f(values[0])
	}
}

func ofFloat(f func(float64) float64) func([]*big.Rat) (*big.Rat, error) {
	return ofOne(func(value *big.Rat) (*big.Rat, error) {
		x, _ := value.Float64()
		return fromFloat(f(x))
	})
}

func sumOfValues(values []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, v := range values {
		total = bounded(total.Add(total, v))
	}
	return total
}

func average(values []*big.Rat) (*big.Rat, error) {
	return bounded(new(big.Rat).Quo(sumOfValues(values), big.NewRat(int64(len(values)), 1))), nil
}

// round rounds half away from zero, to an integer or to a number of decimal
// places.
func round(values []*big.Rat) (*big.Rat, error) {
	digits := big.NewInt(0)
	switch {
	case len(values) > 2:
		return nil, errors.New("round takes a number and how many digits to keep")
	case len(values) == 2:
		if digits = values[1].Num(); !values[1].IsInt() || digits.CmpAbs(big.NewInt(50)) > 0 {
			return nil, errors.New("round keeps -50 to 50 digits")
		}
	}
	shift := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), new(big.Int).Abs(digits), nil))
	if digits.Sign() < 0 {
		shift.Inv(shift)
	}
	shifted := new(big.Rat).Mul(new(big.Rat).Abs(values[0]), shift)
	whole := floor(shifted.Add(shifted, big.NewRat(1, 2)))
	whole.Quo(whole, shift)
	if values[0].Sign() < 0 {
		whole.Neg(whole)
	}
	return bounded(whole), nil
}
