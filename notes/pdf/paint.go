package pdf

import (
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

// matrix is an affine transformation, in PDF notation: a b c d e f.
type matrix [6]float64

var unit = matrix{1, 0, 0, 1, 0, 0}

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func moved(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// state is the graphics state that text operators change.
type state struct {
	ctm, line, at                         matrix // matrices of the page, of the start of the line and of the next glyph
	font                                  *font
	height, spacing, wordSpacing, leading float64
	scale                                 float64 // horizontal scaling
}

// painter collects the lines of a page in painting order, which in nearly all
// files is reading order; [arranged] repairs it where it is not.
type painter struct {
	*reading
	state
	saved    []state
	lines    []line
	size     int     // bytes of text in lines
	x, y     float64 // end of the last glyph
	pictures []picture
	named    map[string]*font // fonts of the current resources; finding one is expensive
}

// Minimum distances between glyphs of different words, of different cells of a
// row and of different lines, relative to the height of a glyph.
const wordGap, cellGap, lineGap = 0.17, 1, 0.5

const (
	maxPageText = 1 << 20
	maxForms    = 8 // nesting of form XObjects
	maxSaved    = 1000
)

// paint interprets a content stream.
func (p *painter) paint(stream, resources pdf.Value, depth int) {
	pdf.Interpret(stream, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		p.do(op, args, resources, depth)
	})
}

func (p *painter) do(op string, args []pdf.Value, resources pdf.Value, depth int) {
	n := func(i int) float64 { // operands are counted from the last, as on a stack
		if i >= len(args) {
			return 0
		}
		return args[i].Float64()
	}
	six := func() matrix { return matrix{n(0), n(1), n(2), n(3), n(4), n(5)} }
	switch op {
	case "q":
		if len(p.saved) < maxSaved {
			p.saved = append(p.saved, p.state)
		}
	case "Q":
		if last := len(p.saved) - 1; last >= 0 {
			p.state, p.saved = p.saved[last], p.saved[:last]
		}
	case "cm":
		p.ctm = six().times(p.ctm)
	case "Do":
		p.form(args, resources, depth)
	case "BT":
		p.line, p.at = unit, unit
	case "Tf":
		if len(args) == 2 {
			p.font, p.height = p.fontNamed(resources, args[0].Name()), n(1)
		}
	case "Tc":
		p.spacing = n(0)
	case "Tw":
		p.wordSpacing = n(0)
	case "Tz":
		p.scale = n(0) / 100
	case "TL":
		p.leading = n(0)
	case "Tm":
		p.line = six()
		p.at = p.line
	case "TD":
		p.leading = -n(1)
		p.next(n(0), n(1))
	case "Td":
		p.next(n(0), n(1))
	case "T*":
		p.next(0, -p.leading)
	case "\"":
		p.wordSpacing, p.spacing = n(0), n(1)
		fallthrough
	case "'":
		p.next(0, -p.leading)
		fallthrough
	case "Tj":
		if len(args) > 0 {
			p.show(args[len(args)-1].RawString())
		}
	case "TJ":
		if len(args) == 0 {
			return
		}
		for i := range args[0].Len() {
			if part := args[0].Index(i); part.Kind() == pdf.String {
				p.show(part.RawString())
			} else {
				p.at = moved(-part.Float64()/1000*p.height*p.scale, 0).times(p.at)
			}
		}
	}
}

// next moves to the next line, whose start has this offset from the start of the
// current one.
func (p *painter) next(x, y float64) {
	p.line = moved(x, y).times(p.line)
	p.at = p.line
}

// form paints a form XObject, which is a nested content stream.
func (p *painter) form(args []pdf.Value, resources pdf.Value, depth int) {
	if len(args) == 0 || depth >= maxForms {
		return
	}
	form := resources.Key("XObject").Key(args[0].Name())
	if form.Key("Subtype").Name() == "Image" && len(p.pictures) < maxPictures {
		p.pictures = append(p.pictures, picture{form, math.Hypot(p.ctm[0], p.ctm[1])})
	}
	if form.Key("Subtype").Name() != "Form" {
		return
	}
	was, saved, named := p.state, p.saved, p.named
	if m := form.Key("Matrix"); m.Len() == 6 {
		var own matrix
		for i := range own {
			own[i] = m.Index(i).Float64()
		}
		p.ctm = own.times(p.ctm)
	}
	if own := form.Key("Resources"); !own.IsNull() {
		resources, p.named = own, nil
	}
	p.paint(form, resources, depth+1)
	p.state, p.saved, p.named = was, saved, named
}

// fontNamed finds a font of the current resources by name.
func (p *painter) fontNamed(resources pdf.Value, name string) *font {
	f, known := p.named[name]
	if !known {
		if p.named == nil {
			p.named = map[string]*font{}
		}
		f = p.fontOf(resources.Key("Font").Key(name))
		p.named[name] = f
	}
	return f
}

// show paints a string. It begins a word, a cell or a line where glyphs are apart.
func (p *painter) show(raw string) {
	if p.font == nil {
		return
	}
	for len(raw) > 0 {
		glyph, width, rest := p.font.next(raw)
		width = width / 1000 * p.height
		if len(raw)-len(rest) == 1 && raw[0] == ' ' {
			width += p.wordSpacing
		}
		raw = rest
		from, to := p.at.times(p.ctm), moved(width*p.scale, 0).times(p.at).times(p.ctm)
		p.at = moved((width+p.spacing)*p.scale, 0).times(p.at)
		if glyph == "" {
			continue
		}
		if p.size += len(glyph); p.size > maxPageText {
			panic("page too long")
		}
		p.glyph(glyph, from, to)
	}
}

// glyph adds a glyph to the last cell, or to a new one if it is apart from the
// last glyph.
func (p *painter) glyph(glyph string, from, to matrix) {
	length := math.Hypot(from[0], from[1])
	height := math.Hypot(from[2], from[3]) * math.Abs(p.height)
	placed := length > 0 && height > 0 && !math.IsInf(length+height, 0) && !math.IsNaN(length+height)
	turn := [2]float64{1, 0}
	if placed {
		turn = [2]float64{from[0] / length, from[1] / length}
	}
	along := func(x, y float64) float64 { return x*turn[0] + y*turn[1] }
	across := func(x, y float64) float64 { return y*turn[0] - x*turn[1] }
	switch gap, drop := (along(from[4], from[5])-along(p.x, p.y))/height, (across(from[4], from[5])-across(p.x, p.y))/height; {
	case len(p.lines) > 0 && !placed:
	case len(p.lines) == 0 || math.Abs(drop) > lineGap || gap < -2*lineGap:
		p.lines = append(p.lines, line{turn: turn, y: across(from[4], from[5]), height: height})
		p.lines[len(p.lines)-1].cells = []cell{{from: along(from[4], from[5])}}
	case gap > cellGap && glyph != " " && p.lines[len(p.lines)-1].dividesAfter():
		last := &p.lines[len(p.lines)-1]
		last.cells = append(last.cells, cell{from: along(from[4], from[5])})
	case gap > wordGap:
		p.lines[len(p.lines)-1].last().text = append(p.lines[len(p.lines)-1].last().text, ' ')
	}
	last := p.lines[len(p.lines)-1].last()
	last.text = append(last.text, glyph...)
	if strings.TrimSpace(glyph) != "" {
		last.to = along(to[4], to[5])
	}
	p.x, p.y = to[4], to[5]
}
