package draw

import (
	"image/color"
	"math"
	"reflect"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/lucasb-eyer/go-colorful"
)

// contrast is how far two colours are apart, as WCAG 2 has it: 1 to 21.
func contrast(a, b color.Color) float64 {
	luminance := func(c color.Color) float64 {
		r, g, b, _ := c.RGBA()
		linear := func(v uint32) float64 {
			x := float64(v) / 0xffff
			if x <= 0.03928 {
				return x / 12.92
			}
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// foregrounds are all colours that a theme, or a part of one, writes in.
func foregrounds(of reflect.Value, name string, yield func(name string, c color.Color)) {
	switch s := of.Interface().(type) {
	case lipgloss.Style:
		yield(name, s.GetForeground())
	case Style:
		yield(name, s.Foreground)
	default:
		for i := range of.NumField() {
			field := of.Field(i)
			switch of := name + "." + of.Type().Field(i).Name; field.Kind() {
			case reflect.Array:
				for i := range field.Len() {
					foregrounds(field.Index(i), of, yield)
				}
			case reflect.Struct:
				foregrounds(field, of, yield)
			}
		}
	}
}

func TestEveryColourStandsOutInEveryTheme(t *testing.T) {
	for _, s := range schemes {
		if s.background == "" {
			continue // the terminal's own colours
		}
		grounds, seen := []string{s.background}, 0
		if s.shade != "" {
			grounds = append(grounds, s.shade)
		}
		foregrounds(reflect.ValueOf(*NewTheme(s.Name, !s.light, true, nil)), s.Name, func(name string, c color.Color) {
			if c == nil || c == (lipgloss.NoColor{}) {
				return
			}
			seen++
			least := 4.5
			switch {
			case s.Name == "contrast":
				least = 7
			case strings.HasSuffix(name, "Border"):
				least = 3
			}
			for _, ground := range grounds {
				if got := contrast(c, lipgloss.Color(ground)); got < least && !(least == 3 && ground == s.shade) {
					t.Errorf("%s: %.2f:1 on %s, less than %.1f:1", name, got, ground, least)
				}
			}
		})
		if seen < 20 {
			t.Errorf("%s: only %d colours were looked at", s.Name, seen)
		}
	}
}

// A terminal of 256 colours keeps the meaning of those of a theme: each has its hue, what is grey stays grey, and all
// is read on the shade.
func Test256ColoursKeepTheirMeaning(t *testing.T) {
	hcl := func(c color.Color) (hue, chroma, light float64) {
		made, _ := colorful.MakeColor(c)
		return made.Hcl()
	}
	for _, s := range schemes {
		if s.Name == "ansi" {
			continue // the terminal's own
		}
		theme := NewTheme(s.Name, !s.light, true, nil)
		for name, style := range map[string]lipgloss.Style{
			"you": theme.You, "brand": theme.Brand, "key": theme.Key, "success": theme.Success,
			"warning": theme.Warning, "danger": theme.Danger,
			"running": theme.Running, "reference": theme.Reference, "dim": theme.Dim, "border": theme.Border,
		} {
			is := colorprofile.ANSI256.Convert(style.GetForeground())
			hue, chroma, _ := hcl(style.GetForeground())
			newHue, newChroma, _ := hcl(is)
			turned := math.Abs(math.Mod(hue-newHue+540, 360) - 180)
			if chroma > 0.2 && (turned > 35 || newChroma < chroma/3) || chroma < 0.1 && newChroma > chroma+0.1 {
				t.Errorf("%s: %s has another hue: %v instead of %v", s.Name, name, is, style.GetForeground())
			}
			if s.shade == "" || name == "border" {
				continue
			}
			if got := contrast(is, colorprofile.ANSI256.Convert(theme.Shade.GetBackground())); got < 3 {
				t.Errorf("%s: %s has %.2f:1", s.Name, name, got)
			}
		}
	}
}

func TestThemePaintsABackgroundThatDiffers(t *testing.T) {
	for _, r := range Themes() {
		for _, dark := range []bool{true, false} {
			s := schemeOf(r.Label, dark)
			theme := NewTheme(r.Label, dark, true, nil)
			paints := theme.Ground.GetBackground() != (lipgloss.NoColor{})
			if want := s.background != "" && s.light == dark; paints != want {
				t.Errorf("%s, dark %v: paints %v", r.Label, dark, paints)
			}
			if paints && contrast(theme.Ground.GetForeground(), theme.Ground.GetBackground()) < 7 {
				t.Errorf("%s, dark %v: text is hard to read", r.Label, dark)
			}
		}
	}
}
