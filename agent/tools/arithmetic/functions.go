package arithmetic

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

type function func(values []*big.Rat) (*big.Rat, error)

// functions by name; those of floats give as many digits as a float has.
var functions = map[string]function{
	"sqrt": ofFloat(math.Sqrt), "cbrt": ofFloat(math.Cbrt), "exp": ofFloat(math.Exp),
	"ln": ofFloat(math.Log), "log": ofFloat(math.Log10), "log10": ofFloat(math.Log10), "log2": ofFloat(math.Log2),
	"sin": ofFloat(math.Sin), "cos": ofFloat(math.Cos), "tan": ofFloat(math.Tan),
	"asin": ofFloat(math.Asin), "acos": ofFloat(math.Acos), "atan": ofFloat(math.Atan),
	"abs":   ofOne(func(x *big.Rat) *big.Rat { return new(big.Rat).Abs(x) }),
	"floor": ofOne(func(x *big.Rat) *big.Rat { return new(big.Rat).SetInt(floor(x)) }),
	"ceil":  ofOne(func(x *big.Rat) *big.Rat { y := floor(new(big.Rat).Neg(x)); return new(big.Rat).SetInt(y.Neg(y)) }),
	"round": round,
	"min":   ofMany(func(a, b *big.Rat) *big.Rat { return slices.MinFunc([]*big.Rat{a, b}, (*big.Rat).Cmp) }),
	"max":   ofMany(func(a, b *big.Rat) *big.Rat { return slices.MaxFunc([]*big.Rat{a, b}, (*big.Rat).Cmp) }),
	"sum":   ofMany(add),
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

func ofOne(f func(*big.Rat) *big.Rat) function {
	return func(values []*big.Rat) (*big.Rat, error) {
		if len(values) != 1 {
			return nil, fmt.Errorf("a function of one number was given %d", len(values))
		}
		return bounded(f(values[0])), nil
	}
}

func ofFloat(f func(float64) float64) function {
	return func(values []*big.Rat) (*big.Rat, error) {
		if len(values) != 1 {
			return nil, fmt.Errorf("a function of one number was given %d", len(values))
		}
		x, _ := values[0].Float64()
		return fromFloat(f(x))
	}
}

func ofMany(f func(a, b *big.Rat) *big.Rat) function {
	return func(values []*big.Rat) (*big.Rat, error) {
		result := values[0]
		for _, v := range values[1:] {
			result = f(result, v)
		}
		return result, nil
	}
}

func average(values []*big.Rat) (*big.Rat, error) {
	sum := new(big.Rat)
	for _, v := range values {
		sum = add(sum, v)
	}
	return bounded(new(big.Rat).Quo(sum, big.NewRat(int64(len(values)), 1))), nil
}

// round rounds half away from zero, to whole numbers or to a number of digits.
func round(values []*big.Rat) (*big.Rat, error) {
	if len(values) > 2 {
		return nil, errors.New("round takes a number and how many digits to keep")
	}
	digits := int64(0)
	if len(values) == 2 {
		if !values[1].IsInt() || values[1].Num().CmpAbs(big.NewInt(50)) > 0 {
			return nil, errors.New("round keeps -50 to 50 digits")
		}
		digits = values[1].Num().Int64()
	}
	shift := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(digits, -digits)), nil))
	if digits < 0 {
		shift.Inv(shift)
	}
	half := big.NewRat(1, 2)
	whole := new(big.Rat).SetInt(floor(half.Add(half, new(big.Rat).Mul(new(big.Rat).Abs(values[0]), shift))))
	whole.Quo(whole, shift)
	if values[0].Sign() < 0 {
		whole.Neg(whole)
	}
	return bounded(whole), nil
}

// raise is exact for whole exponents as long as the result is of a size to keep.
func raise(base, exponent *big.Rat) (*big.Rat, error) {
	if base.Sign() == 0 && exponent.Sign() < 0 {
		return nil, errors.New("it divides by zero")
	}
	if exponent.IsInt() && exponent.Num().IsInt64() {
		e := exponent.Num().Int64()
		bits := int64(max(base.Num().BitLen(), base.Denom().BitLen()))
		if e > -maxBits && e < maxBits && bits*max(e, -e) <= maxBits {
			power := big.NewInt(max(e, -e))
			result := new(big.Rat).SetFrac(new(big.Int).Exp(base.Num(), power, nil), new(big.Int).Exp(base.Denom(), power, nil))
			if e < 0 {
				result.Inv(result)
			}
			return result, nil
		}
	}
	x, _ := base.Float64()
	y, _ := exponent.Float64()
	return fromFloat(math.Pow(x, y))
}

func add(a, b *big.Rat) *big.Rat { return bounded(new(big.Rat).Add(a, b)) }

func multiply(a, b *big.Rat) *big.Rat { return bounded(new(big.Rat).Mul(a, b)) }

func floor(x *big.Rat) *big.Int {
	return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: down, as the denominator is positive
}

// bounded rounds a number that has grown too long to be kept exact.
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

// Format writes whole numbers in full up to 60 digits, others with at
// most 12 significant ones.
func Format(x *big.Rat) string {
	if x.IsInt() {
		if text := x.Num().String(); len(text) <= 60 {
			return text
		}
	}
	f, _ := x.Float64()
	if math.IsInf(f, 0) {
		digits := x.Num().String()
		return fmt.Sprintf("about 10^%d", len(digits)-len(x.Denom().String()))
	}
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(f, 'g', 12, 64)
	}
	places := 12 - int(math.Ceil(math.Log10(math.Abs(f)+1e-300)))
	text := x.FloatString(min(max(places, 0), 18))
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
