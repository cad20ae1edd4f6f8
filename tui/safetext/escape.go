package safetext

import "unicode/utf8"

const esc = 0x1b

// escape returns the length of the escape sequence that s begins with (s[0] is ESC). It ends at its
// final byte, at the end of the line, or before a byte that cannot belong to it. whole is false if
// s ends before the sequence does.
func escape(s string) (n int, whole bool) {
	if len(s) == 1 {
		return 1, false
	}
	switch b := s[1]; {
	case b == '[':
		return csi(s, 2)
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		return controlString(s, 2)
	case b >= 0x20 && b <= 0x2f: // intermediate bytes, as in ESC ( 0
		i := 2
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
			i++
		}
		switch {
		case i == len(s):
			return i, false
		case s[i] >= 0x30 && s[i] <= 0x7e:
			return i + 1, true
		}
		return i, true
	case b >= 0x30 && b <= 0x7e:
		return 2, true
	}
	return 1, true // ESC before a control, a line end or a non-ASCII character
}

// csi returns the length of a control sequence whose parameters begin at s[i].
func csi(s string, i int) (n int, whole bool) {
	for i < len(s) && s[i] >= 0x30 && s[i] <= 0x3f {
		i++
	}
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	switch {
	case i == len(s):
		return i, false
	case s[i] >= 0x40 && s[i] <= 0x7e:
		return i + 1, true
	}
	return i, true
}

// controlString returns the length of an OSC, DCS, APC, PM or SOS string whose
// text begins at s[i]. BEL, ST and the end of the line end it; CAN, SUB and a
// new escape sequence abandon it.
func controlString(s string, i int) (n int, whole bool) {
	for ; i < len(s); i++ {
		switch b := s[i]; {
		case b == 0x07 || b == 0x18 || b == 0x1a:
			return i + 1, true
		case b == '\n' || b == '\r':
			return i, true
		case b == 0x9c && !continues(s, i): // 8-bit ST, and not the middle of a UTF-8 character
			return i + 1, true
		case b == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2, true
		case b == esc:
			if i+1 == len(s) {
				return i, false
			}
			if s[i+1] == '\\' {
				return i + 2, true
			}
			return i, true
		}
	}
	return i, false
}

// continues reports whether the byte at s[i] belongs to a UTF-8 character that
// began before it.
func continues(s string, i int) bool {
	for back := 1; back <= 3 && back <= i; back++ {
		b := s[i-back]
		if b >= 0xc0 {
			return b >= 0xf0 && back <= 3 || b >= 0xe0 && back <= 2 || b >= 0xc2 && back <= 1
		}
		if b < 0x80 {
			return false
		}
	}
	return false
}

// sequence returns the length of the escape sequence or 8-bit control that s begins with, whether
// the control is encoded in UTF-8 or a single byte. It returns 0 if there is none.
func sequence(s string) (n int, whole bool) {
	if s[0] == esc {
		return escape(s)
	}
	r, size := utf8.DecodeRuneInString(s)
	if size == 1 {
		r = rune(s[0])
	}
	switch {
	case r < 0x80 || r > 0x9f:
		return 0, true
	case r == 0x9b:
		return csi(s, size)
	case r == 0x9d || r == 0x90 || r == 0x98 || r == 0x9e || r == 0x9f:
		return controlString(s, size)
	}
	return size, true
}
