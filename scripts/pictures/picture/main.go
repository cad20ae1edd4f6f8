// Picture renders terminal screens as images.
//
//	picture svg <SCREEN >OUT.svg       a screen as written by `tmux capture-pane -e -p`
//	picture gif OUT.gif <LIST          an animation: a line "FRAME.png SECONDS" for each frame
//
// Each cell is placed where the terminal has it, whatever the fonts' metrics, so that borders join
// and columns of Chinese characters or emoji are aligned.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/cellbuf"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "svg":
		err = drawScreen(os.Stdin, os.Stdout)
	case len(os.Args) == 3 && os.Args[1] == "gif":
		err = writeFilm(os.Stdin, os.Args[2])
	default:
		err = fmt.Errorf("picture svg <SCREEN >OUT.svg, or picture gif OUT.gif <LIST")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// Sizes in pixels. The characters of JetBrains Mono are 0.6 of their size wide, and its box-drawing
// characters join at a line height of 1.32.
const (
	letterSize            = 15.0
	cellWidth, cellHeight = 9.0, 19.8
	baseline              = 15.3
	margin                = 14.0
)

// ground and ink are the default colours of a cell.
func ground() string { return cmp.Or(os.Getenv("PICTURE_BACKGROUND"), "#171717") }
func ink() string    { return cmp.Or(os.Getenv("PICTURE_FOREGROUND"), "#D8D8D8") }

// drawScreen writes a screen as SVG.
func drawScreen(from io.Reader, to io.Writer) error {
	in := bufio.NewScanner(from)
	in.Buffer(nil, 1<<20)
	parser := ansi.NewParser()
	var style cellbuf.Style // tmux carries it over line ends
	var body strings.Builder
	row, widest := 0, 0
	for in.Scan() {
		column, start, run := 0, 0, ""
		flush := func() {
			drawRun(&body, run, start, column, row, style)
			run, start = "", column
		}
		for line := in.Text(); line != ""; {
			text, width, n, _ := ansi.DecodeSequence(line, ansi.NormalState, parser)
			line = line[n:]
			switch {
			case width > 0:
				if run != "" && !(joins(run) && joins(text)) {
					flush()
				}
				run += text
				column += width
			case parser.Command() == 'm' && ansi.HasCsiPrefix(text):
				flush()
				cellbuf.ReadStyle(parser.Params(), &style)
			}
		}
		flush()
		widest = max(widest, column)
		row++
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read the screen: %w", err)
	}
	w, h := float64(widest)*cellWidth+2*margin, float64(row)*cellHeight+2*margin
	_, err := fmt.Fprintf(to, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">
<rect width="100%%" height="100%%" fill="%s"/>
<g font-family="JetBrains Mono, monospace" font-size="%g" xml:space="preserve">
%s</g></svg>
`, w, h, w, h, ground(), letterSize, body.String())
	return err
}

// joins reports whether text may be drawn as one piece, because the font certainly has its
// characters, each one cell wide.
func joins(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > '~' && (r < 0x2500 || r > 0x257F) })
}

// drawRun writes cells of one style.
func drawRun(to *strings.Builder, run string, from, past, row int, style cellbuf.Style) {
	front, back := named(style.Fg, ink()), named(style.Bg, "")
	if style.Attrs.Contains(cellbuf.ReverseAttr) {
		front, back = cmp.Or(back, ground()), front
	}
	x, y := margin+float64(from)*cellWidth, margin+float64(row)*cellHeight
	if back != "" && past > from {
		fmt.Fprintf(to, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y,
			float64(past-from)*cellWidth, cellHeight+.2, back)
	}
	if strings.TrimSpace(run) == "" {
		return
	}
	looks := ""
	if style.Attrs.Contains(cellbuf.BoldAttr) {
		looks += ` font-weight="bold"`
	}
	if style.Attrs.Contains(cellbuf.ItalicAttr) {
		looks += ` font-style="italic"`
	}
	if style.Attrs.Contains(cellbuf.FaintAttr) {
		looks += ` opacity="0.6"`
	}
	switch {
	case style.UlStyle != cellbuf.NoUnderline:
		looks += ` text-decoration="underline"`
	case style.Attrs.Contains(cellbuf.StrikethroughAttr):
		looks += ` text-decoration="line-through"`
	}
	fmt.Fprintf(to, `<text x="%.1f" y="%.1f" fill="%s"%s>%s</text>`+"\n", x, y+baseline, front,
		looks, html.EscapeString(run))
}

// named returns a colour for SVG.
func named(c ansi.Color, none string) string {
	if c == nil {
		return none
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// writeFilm joins frames of the same size into a GIF. Each frame contains only what changed.
func writeFilm(list io.Reader, out string) error {
	var frames []image.Image
	film := &gif.GIF{}
	count := map[color.RGBA]int{}
	in := bufio.NewScanner(list)
	for in.Scan() {
		var name string
		var seconds float64
		if _, err := fmt.Sscan(in.Text(), &name, &seconds); err != nil {
			return fmt.Errorf("read the list, %q: %w", in.Text(), err)
		}
		frame, err := load(name)
		if err != nil {
			return err
		}
		for y := frame.Bounds().Min.Y; y < frame.Bounds().Max.Y; y++ {
			for x := frame.Bounds().Min.X; x < frame.Bounds().Max.X; x++ {
				count[color.RGBAModel.Convert(frame.At(x, y)).(color.RGBA)]++
			}
		}
		frames = append(frames, frame)
		film.Delay = append(film.Delay, int(seconds*100+.5))
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read the list: %w", err)
	}
	if len(frames) == 0 {
		return fmt.Errorf("the list names no frame")
	}
	used := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	palette := color.Palette{}
	for _, c := range used[:min(len(used), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.Color]uint8{}
	var before *image.Paletted
	window := image.Rectangle{} // a screen is drawn as wide as its widest line
	for _, frame := range frames {
		window = window.Union(frame.Bounds())
	}
	for _, frame := range frames {
		now := image.NewPaletted(window, palette)
		for y := now.Rect.Min.Y; y < now.Rect.Max.Y; y++ {
			for x := now.Rect.Min.X; x < now.Rect.Max.X; x++ {
				c := frame.At(x, y)
				if !image.Pt(x, y).In(frame.Bounds()) {
					c = frame.At(0, 0)
				}
				at, known := nearest[c]
				if !known {
					at = uint8(palette.Index(c))
					nearest[c] = at
				}
				now.SetColorIndex(x, y, at)
			}
		}
		changed := now.Rect
		if before != nil {
			changed = differs(before, now)
		}
		part := image.NewPaletted(changed, palette)
		draw.Draw(part, changed, now, changed.Min, draw.Src)
		film.Image = append(film.Image, part)
		before = now
	}
	to, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := gif.EncodeAll(to, film); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	return to.Close()
}

// differs returns the smallest rectangle outside of which two frames are the same.
func differs(a, b *image.Paletted) image.Rectangle {
	r := image.Rectangle{}
	for y := b.Rect.Min.Y; y < b.Rect.Max.Y; y++ {
		for x := b.Rect.Min.X; x < b.Rect.Max.X; x++ {
			if a.ColorIndexAt(x, y) != b.ColorIndexAt(x, y) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if r.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return r
}

func load(name string) (image.Image, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	frame, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return frame, nil
}
