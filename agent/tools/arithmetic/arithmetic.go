// Package arithmetic works out what people write as a calculation.
package arithmetic

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent/tools/excerpt"
)

const (
	maxExpression = 1000 // bytes
	maxDepth      = 100  // parentheses within one another
	maxBits       = 4096 // of a number kept exact; beyond it is rounded to 53
)

// Evaluate works out an arithmetic expression. Fractions are exact as long as
// they can be, so that 0.1 + 0.2 is 0.3; roots and the like are not.
func Evaluate(text string) (*big.Rat, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("it is longer than %d characters", maxExpression)
	}
	c := calculation{text: plainOperators.Replace(strings.TrimSpace(text))}
	value, err := c.sum()
	if err != nil {
		return nil, err
	}
	if rest := c.rest(); rest != "" {
		return nil, fmt.Errorf("%q is not understood at this place", rest)
	}
	return value.number, nil
}

// plainOperators turns what people paste into what is parsed.
var plainOperators = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "**", "^", "√", "sqrt ", "π", "pi", "\u00a0", " ", "\u202f", " ", "=", " ")

// calculation is an expression under work, by recursive descent: sum →
// product → power → sign → value.
type calculation struct {
	text  string
	at    int
	depth int
	args  int // functions whose parentheses are open: a comma parts arguments there
}

// amount is a number, or a number of per cent that has met no other yet.
type amount struct {
	number  *big.Rat
	percent bool
}

func (c *calculation) rest() string {
	c.space()
	return excerpt.Clip(c.text[c.at:], 30)
}

func (c *calculation) space() {
	for c.at < len(c.text) && (c.text[c.at] == ' ' || c.text[c.at] == '\t' || c.text[c.at] == '\n') {
		c.at++
	}
}

// next takes one of the operators, if one comes next.
func (c *calculation) next(operators string) (byte, bool) {
	c.space()
	if c.at < len(c.text) && strings.IndexByte(operators, c.text[c.at]) >= 0 {
		c.at++
		return c.text[c.at-1], true
	}
	return 0, false
}

// sum: a per cent that is added is one of what it is added to, as on a
// pocket calculator.
func (c *calculation) sum() (amount, error) {
	left, err := c.product()
	for err == nil {
		operator, ok := c.next("+-")
		if !ok {
			return left, nil
		}
		var right amount
		if right, err = c.product(); err != nil {
			break
		}
		if right.percent && !left.percent {
			right.number = multiply(left.number, right.number)
		}
		if operator == '-' {
			right.number = new(big.Rat).Neg(right.number)
		}
		left = amount{add(left.number, right.number), left.percent && right.percent}
	}
	return left, err
}

func (c *calculation) product() (amount, error) {
	left, err := c.signed()
	for err == nil {
		var right amount
		operator, ok := c.next("*/")
		switch {
		case ok:
		case left.percent && c.word("of"):
			operator = '*'
		case left.percent && c.operandFollows(): // no per cent after all but a remainder
			operator, left = '%', amount{number: multiply(left.number, big.NewRat(100, 1))}
		case c.word("mod"):
			operator = '%'
		default:
			return left, nil
		}
		if right, err = c.signed(); err != nil {
			break
		}
		left, err = combine(left.number, operator, right.number)
	}
	return left, err
}

func combine(left *big.Rat, operator byte, right *big.Rat) (amount, error) {
	if operator == '*' {
		return amount{number: multiply(left, right)}, nil
	}
	if right.Sign() == 0 {
		return amount{}, errors.New("it divides by zero")
	}
	quotient := new(big.Rat).Quo(left, right)
	if operator == '/' {
		return amount{number: bounded(quotient)}, nil
	}
	whole := new(big.Rat).SetInt(floor(quotient)) // the remainder has the sign of the divisor
	return amount{number: bounded(new(big.Rat).Sub(left, whole.Mul(whole, right)))}, nil
}

// operandFollows tells "7 % 3" from "7 % + 3".
func (c *calculation) operandFollows() bool {
	c.space()
	if c.at == len(c.text) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(c.text[c.at:])
	return r == '(' || r == '.' || unicode.IsDigit(r) || unicode.IsLetter(r)
}

// signed: the sign binds weaker than a power, so -2^2 is -4.
func (c *calculation) signed() (amount, error) {
	negative := false
	for {
		sign, ok := c.next("+-")
		if !ok {
			break
		}
		negative = negative != (sign == '-')
	}
	value, err := c.power()
	if err == nil && negative {
		value.number = new(big.Rat).Neg(value.number)
	}
	return value, err
}

// power binds to the right: 2^3^2 is 2^9.
func (c *calculation) power() (amount, error) {
	base, err := c.value()
	if err != nil {
		return base, err
	}
	if _, ok := c.next("^"); !ok {
		return base, nil
	}
	if c.depth++; c.depth > maxDepth {
		return base, errTooDeep
	}
	defer func() { c.depth-- }()
	exponent, err := c.signed()
	if err != nil {
		return base, err
	}
	number, err := raise(base.number, exponent.number)
	return amount{number: number}, err
}

var errTooDeep = errors.New("it is nested too deep")

// value is a number, a constant, a function or parentheses, and the per cent
// sign after it.
func (c *calculation) value() (amount, error) {
	number, err := c.plainValue()
	if err != nil {
		return amount{}, err
	}
	if _, ok := c.next("%"); ok {
		return amount{multiply(number, big.NewRat(1, 100)), true}, nil
	}
	return amount{number: number}, nil
}

func (c *calculation) plainValue() (*big.Rat, error) {
	c.space()
	if c.at == len(c.text) {
		return nil, errors.New("it ends where a number is missing")
	}
	switch r, _ := utf8.DecodeRuneInString(c.text[c.at:]); {
	case r == '(':
		c.at++
		values, err := c.list(false)
		if err != nil {
			return nil, err
		}
		return values[0], nil
	case r == '.' || '0' <= r && r <= '9':
		return c.number()
	case unicode.IsLetter(r):
		return c.name()
	}
	return nil, fmt.Errorf("%q is not understood at this place", c.rest())
}

// list reads what stands in parentheses, and the closing one.
func (c *calculation) list(function bool) ([]*big.Rat, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, errTooDeep
	}
	outer := c.args
	defer func() { c.depth--; c.args = outer }()
	c.args = 0
	if function {
		c.args = 1
	}
	var values []*big.Rat
	for {
		value, err := c.sum()
		if err != nil {
			return nil, err
		}
		values = append(values, value.number)
		if _, ok := c.next(")"); ok {
			return values, nil
		}
		if _, ok := c.next(",;"); !ok || !function {
			return nil, errors.New("a parenthesis is not closed")
		}
	}
}

// number reads 1234.5, 1,234.5 (but not between arguments), 1_000 and 1.2e-3.
func (c *calculation) number() (*big.Rat, error) {
	start := c.at
	digits := func() {
		for c.at < len(c.text) && (c.text[c.at] >= '0' && c.text[c.at] <= '9' || c.text[c.at] == '_') {
			c.at++
		}
	}
	digits()
	for c.args == 0 && c.thousands() {
		c.at += len(",000")
	}
	if c.at < len(c.text) && c.text[c.at] == '.' {
		c.at++
		digits()
	}
	if c.exponentFollows() {
		c.at += 2
		digits()
	}
	written := strings.NewReplacer(",", "", "_", "").Replace(c.text[start:c.at])
	if _, exponent, ok := strings.Cut(strings.ToLower(written), "e"); ok {
		if e, err := strconv.Atoi(exponent); err != nil || e > 300 || e < -300 {
			return nil, fmt.Errorf("%s is too large or too small", written)
		}
	}
	number, ok := new(big.Rat).SetString(written)
	if !ok {
		return nil, fmt.Errorf("%q is no number", written)
	}
	return bounded(number), nil
}

// thousands tells a comma between thousands from any other.
func (c *calculation) thousands() bool {
	near := c.text[c.at:]
	if len(near) < 4 || near[0] != ',' || len(near) > 4 && near[4] >= '0' && near[4] <= '9' {
		return false
	}
	return !strings.ContainsFunc(near[1:4], func(r rune) bool { return r < '0' || r > '9' })
}

func (c *calculation) exponentFollows() bool {
	near := c.text[c.at:]
	if len(near) < 2 || near[0] != 'e' && near[0] != 'E' {
		return false
	}
	digit := near[1]
	if (digit == '+' || digit == '-') && len(near) > 2 {
		digit = near[2]
	}
	return digit >= '0' && digit <= '9'
}

// word takes a word, if it comes next.
func (c *calculation) word(word string) bool {
	c.space()
	if name := c.letters(); strings.EqualFold(name, word) {
		c.at += len(name)
		return true
	}
	return false
}

func (c *calculation) letters() string {
	near := c.text[c.at:]
	end := strings.IndexFunc(near, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(near)
	}
	return near[:end]
}

// name reads a constant or a call of a function. A function of one value
// needs no parentheses.
func (c *calculation) name() (*big.Rat, error) {
	name := c.letters()
	c.at += len(name)
	switch strings.ToLower(name) {
	case "pi":
		return fromFloat(math.Pi)
	case "e":
		return fromFloat(math.E)
	}
	apply, ok := functions[strings.ToLower(name)]
	if !ok {
		return nil, fmt.Errorf("%q is not known; the functions are %s", excerpt.Clip(name, 30), functionNames())
	}
	if _, ok := c.next("("); ok {
		values, err := c.list(true)
		if err != nil {
			return nil, err
		}
		return apply(values)
	}
	if c.depth++; c.depth > maxDepth {
		return nil, errTooDeep
	}
	defer func() { c.depth-- }()
	value, err := c.plainValue()
	if err != nil {
		return nil, err
	}
	return apply([]*big.Rat{value})
}
