package pdf

import (
	"encoding/hex"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// font maps character codes to text and widths.
type font struct {
	bytes   int // length of a code: 1 or 2
	unicode map[string]string
	widths  map[int]float64
	width   float64 // width of all other codes, in thousandths
	decode  func(string) string
}

// fontOf reads a font, or returns it from the cache shared by all pages.
func (r *reading) fontOf(v pdf.Value) *font {
	key := v.String() // equal descriptions refer to the same objects
	if f, known := r.fonts[key]; known {
		return f
	}
	f := &font{bytes: 1, widths: map[int]float64{}, width: 500}
	f.unicode = toUnicode(v.Key("ToUnicode"))
	if v.Key("Subtype").Name() == "Type0" {
		f.composite(v)
	} else {
		f.simple(v)
	}
	r.fonts[key] = f
	return f
}

func (f *font) simple(v pdf.Value) {
	own := pdf.Font{V: v}
	first := own.FirstChar()
	for i, w := range own.Widths() {
		f.widths[first+i] = w
	}
	f.decode = own.Encoder().Decode
}

// composite reads a font with two-byte codes. They are mapped by ToUnicode or are
// Unicode themselves; otherwise their meaning is unknown.
func (f *font) composite(v pdf.Value) {
	f.bytes, f.width = 2, 1000
	name := v.Key("Encoding").Name()
	isUnicode := strings.Contains(name, "UCS2") || strings.Contains(name, "UTF16")
	f.decode = func(code string) string {
		if isUnicode {
			return fromUTF16(code)
		}
		return ""
	}
	below := v.Key("DescendantFonts").Index(0)
	if w := below.Key("DW"); !w.IsNull() {
		f.width = w.Float64()
	}
	list := below.Key("W")
	for i := 0; i+1 < list.Len(); {
		first := int(list.Index(i).Int64())
		if each := list.Index(i + 1); each.Kind() == pdf.Array {
			for j := range each.Len() {
				f.widths[first+j] = each.Index(j).Float64()
			}
			i += 2
			continue
		}
		last, w := int(list.Index(i+1).Int64()), list.Index(i+2).Float64()
		for code := first; code <= min(last, first+1<<16); code++ {
			f.widths[code] = w
		}
		i += 3
	}
}

// next removes the first code from a string, which must not be empty.
func (f *font) next(raw string) (glyph string, width float64, rest string) {
	n := min(f.bytes, len(raw))
	code, rest := raw[:n], raw[n:]
	number := 0
	for i := range len(code) {
		number = number<<8 | int(code[i])
	}
	width, ok := f.widths[number]
	if !ok {
		width = f.width
	}
	glyph, ok = f.unicode[code]
	if !ok {
		glyph = f.decode(code)
		if c, size := utf8.DecodeRuneInString(glyph); size == len(glyph) && (c == utf8.RuneError || 0x80 <= c && c < 0xa0) { // a byte that the library did not convert
			glyph = string(charmap.Windows1252.DecodeByte(code[0]))
		}
	}
	return glyph, width, rest
}

// maxCodes bounds a font's ToUnicode map, in bytes and in codes.
const maxCodes = 4 << 20

// toUnicode reads the ToUnicode map of a font.
func toUnicode(v pdf.Value) map[string]string {
	if v.Kind() != pdf.Stream {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(v.Reader(), maxCodes))
	if err != nil && len(raw) == 0 {
		return nil
	}
	return toUnicodeOf(raw)
}

// toUnicodeOf reads pairs and ranges of codes, ignoring everything else.
func toUnicodeOf(raw []byte) map[string]string {
	codes := map[string]string{}
	var row []string // operands since the last operator; lists are enclosed in brackets
	spaced := strings.NewReplacer("<", " <", ">", "> ", "[", " [ ", "]", " ] ").Replace(string(raw))
	for word := range strings.FieldsSeq(spaced) {
		switch {
		case word == "endbfchar":
			for i := 0; i+1 < len(row); i += 2 {
				codes[row[i]] = fromUTF16(row[i+1])
			}
		case word == "endbfrange":
			addRanges(codes, row)
		case strings.HasPrefix(word, "<"):
			bytes, err := hex.DecodeString(strings.Trim(word, "<>"))
			if err == nil {
				row = append(row, string(bytes))
			}
			continue
		case word == "[" || word == "]":
			row = append(row, word)
			continue
		}
		row = row[:0]
	}
	return codes
}

// addRanges adds ranges of codes. Each has its first and last code, and either
// the text of the first code or a bracketed list with the text of each.
func addRanges(codes map[string]string, row []string) {
	for len(row) >= 3 && len(codes) < maxCodes {
		first, last, meaning := row[0], row[1], row[2]
		row = row[3:]
		var each []string
		if meaning == "[" {
			for len(row) > 0 && row[0] != "]" {
				each, row = append(each, row[0]), row[1:]
			}
			row = row[min(1, len(row)):]
		}
		for i := 0; first != "" && len(first) == len(last) && first <= last && i < 1<<16; i++ {
			if meaning != "[" {
				codes[first] = fromUTF16(meaning)
				meaning = after(meaning)
			} else if i < len(each) {
				codes[first] = fromUTF16(each[i])
			}
			if first == last {
				break
			}
			first = after(first)
		}
	}
}

// after returns the number that follows, with the same number of bytes.
func after(number string) string {
	b := []byte(number)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			break
		}
	}
	return string(b)
}

func fromUTF16(raw string) string {
	if len(raw) == 1 {
		return string(rune(raw[0]))
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
	}
	return string(utf16.Decode(units))
}
