package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// legitimate are sequences that terminals send: keys in each encoding, mouse and focus reports, and
// replies to queries.
var legitimate = []string{
	"a", "Z", " ", "ä", "走る", "👩‍👧‍👦", "e\u0301", "\u00a0", "\u0085", "~", ";:?<", "\r", "\t", "\x7f", "\b",
	"\x00", "\x03", "\x1a", "\x1f",
	"\x1ba", "\x1b\r", "\x1b\x7f", "\x1b ", "\x1bü", "\x1b走", "\x1b\\", "\x1b.", "\x1b5",
	"\x1b[A", "\x1b[1;5C", "\x1b[1;2R", "\x1b[R", "\x1b[Z", "\x1b[H", "\x1b[F", "\x1b[3~", "\x1b[15;2~", "\x1b[24~",
	"\x1b[27;5;99~", "\x1b[27;2;13~",
	"\x1bOA", "\x1bOP", "\x1bO5P", "\x1bOM", "\x1b\x1b[A", "\x1b\x1bOA", "\x1b[a", "\x1bOa", "\x1b[3^", "\x1b[3@",
	"\x1b[97u", "\x1b[97;5u", "\x1b[27u", "\x1b[97:65;2:3u", "\x1b[57441;2:1u", "\x1b[97:65:1092;6:2;1092:98u",
	"\x1b[1114111;1;1114111u", "\x1b[1;1:3A", "\x1b[3;5:2~", "\x1b[57376u", "\x1b[;;104:101:108:108:111u",
	"\x1b[<0;10;20M", "\x1b[<0;10;20m", "\x1b[<64;1;1M", "\x1b[<35;1000;1000M", "\x1b[M !!",
	"\x1b[M#~z", "\x1b[I", "\x1b[O",
	"\x1b[?62;1;2;4;6;9;15;16;17;18;21;22;28;29c", "\x1b[?1;2c", "\x1b[>41;354;0c", "\x1bP!|7E565445\x1b\\",
	"\x1bP>|XTerm(388)\x1b\\", "\x1bP>|kitty(0.42.1)\x1b\\",
	"\x1b[?2026;2$y", "\x1b[?2027;0$y", "\x1b[4;1$y", "\x1b[?1u", "\x1b[?31u", "\x1b[>4;2m", "\x1b[12;40R",
	"\x1b[?12;40;1R", "\x1b[?997;1n", "\x1b[0n",
	"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:0000/0000/0000\a",
	"\x1b]11;rgba:1e1e/1e1e/2e2e/ffff\x1b\\", "\x1b]12;#ff8800\a",
	"\x1bP1+r524742=382F382F38\x1b\\", "\x1bP0+r\x1b\\", "\x1bP1$r0;1;4;38:2::255:0:0m\x1b\\",
}

// hostile are sequences that no terminal sends, most of them beyond what the decoder can handle.
var hostileSequences = []string{
	"\x1b[" + strings.Repeat("1;", 33) + "1m", "\x1b[" + strings.Repeat(";", 40),
	"\x1b[?" + strings.Repeat("1;", 40) + "h", "\x1b[" + strings.Repeat("1:", 40) + "u",
	"\x1bP" + strings.Repeat("1;", 40) + "q", "\x1bP" + strings.Repeat(":", 33) + "1|x\x1b\\",
	"\x1b #[" + strings.Repeat("1;", 40) + "m", "\x1b P" + strings.Repeat("1;", 40) + "m",
	"\x9b" + strings.Repeat("1;", 40) + "m", "\x90" + strings.Repeat("1;", 40) + "q", "\x9bMabc", "\x1b[Mab\u009bMabc",
	"\x1b[M\xff\xff\xff", "\x1b[1;2Mabc", "\x1b[M", "\x1b[<M", "\x1b[<1M",
	"\x1b]0;✛" + strings.Repeat("1;", 40) + "m", "\x1b]✛" + strings.Repeat("1;", 40) + "m\a", "\x1b_✛M",
	"\x1b#_✛" + strings.Repeat("1;", 40) + "m", "\x1b/]95;x\a",
	"\x1bX\u009c\u009b" + strings.Repeat("1;", 33) + "1",
	"\x1b[65;0;97;1;0;65535_", "\x1b[0;0;55357;1;0;1_", "\x1b[0;0;55357;0;0;1_", "\x1b[0_", "\x1bP0_x\x1b\\",
	"\x1b[8;9999999;9999999t", "\x1b[48;9999999;9999999;1;1t", "\x1b[8;1;1t",
	"\x1b[99999999999999999999999999u", "\x1b[1;99999999999A", "\x1b[<99999999999;99999999999;1M",
	"\x1bO99999999999999P", "\x1b[4294967296u", "\x1b[55296u", "\x1b[1114112u",
	"\x1b[0200~", "\x1b[200;1~", "\x1b[200:1~", "\x1b[?200~", "\x1b[200$", "\x1b[20=0~", "\x1b[9999999?9999999u",
	"\x1b[200$~", "\x1b[201~", "\x1b[0201~", "\x1b[27~", "\x1b[~", "\x1b[u", "\x1b[_",
	"\x1b]", "\x1bP", "\x1bX", "\x1b^", "\x1b_", "\x1bO", "\x1b[", "\x1b", "\x1b\x1b", strings.Repeat("\x1b", 5000),
	"\x1b]" + strings.Repeat("x", 5000), "\x1bP" + strings.Repeat("y", 5000) + "\x1b\\",
	"\x1b_G" + strings.Repeat("a=1,", 2000) + ";z\x1b\\", "\x1b[" + strings.Repeat(" ", 5000) + "m",
	"\x1b[" + strings.Repeat("9", 5000) + "m", "\x1b" + strings.Repeat(" ", 2000) + "x",
	"\x1b]4;1;rgb:aa/00/00\x1b\\", "\x1b_Gi=31;OK\x1b\\", "\x1b]52;c;aGVsbG8=\x1b\\", "\x1b]95;x\a", "\x1b]95;x\x1b\\",
	"\x1bP1;2_x\x1b\\", "\x1b]11;zzz\a", "\x1b]11;rgb:\a", "\x1b]11;rgb:1/2\a", "\x1b]11;#\a", "\x1b]52;\a",
	"\x1b]52;;\a", "\x1b]99999999999999999999;x\a", "\x1bP1+r=;=;zz\x1b\\", "\x1bP!|zz\x1b\\",
	"\x1b_G;\x1b\\", "\x1b_G\x1b\\",
	"\x1b]11;x\x18", "\x1bPx\x1a", "\x1b]x\x1bx", "\x1b[1\x18", "\x1b[1\x1b", "\x1b[3$", "\x1b[3$\x1b[3$", "\x1b$$",
	"\x80", "\x9c", "\xc3", "\xe8\xb5", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	"\ufffd", "\u009b1;1m", "\u0090q",
}

// generate returns a random sequence: a legitimate or hostile one, possibly cut or altered, or
// bytes that are special to a parser.
func generate(any *rand.Rand) string {
	const bytes = "\x00\a\r\n\x18\x1a\x1b\x1b\x1b[[[]PX^_O\\ $!#<=>?;;;::0129mMtu_~RAcyn|" +
		"rqabc\x7f\x80\x90\x98\x9b\x9c\x9d\x9e\x9f\xc2\xe2\xff"
	switch any.IntN(8) {
	case 0:
		return legitimate[any.IntN(len(legitimate))]
	case 1, 2:
		return hostileSequences[any.IntN(len(hostileSequences))]
	case 3: // a control sequence with any parameters
		var s strings.Builder
		s.WriteString([]string{"\x1b[", "\x1b[", "\x1b[", "\x1bP", "\x9b", "\x1b ["}[any.IntN(6)])
		s.WriteString([]string{"", "", "?", "<", ">", "="}[any.IntN(6)])
		for range []int{3, 3, 6, 30, 34, 70}[any.IntN(6)] {
			fmt.Fprintf(&s, "%d%c", any.IntN([]int{4, 300, 70000, 1 << 31}[any.IntN(4)]), ";;;;:"[any.IntN(5)])
		}
		return s.String() + string("\x1b $mMtu_~RAcynq"[any.IntN(14)])
	case 4:
		s := make([]byte, 1+any.IntN(40))
		for i := range s {
			s[i] = bytes[any.IntN(len(bytes))]
		}
		return string(s)
	}
	s := []byte(legitimate[any.IntN(len(legitimate))])
	if any.IntN(2) == 0 {
		s = []byte(hostileSequences[any.IntN(len(hostileSequences))])
	}
	for range 1 + any.IntN(3) {
		at := any.IntN(len(s))
		switch any.IntN(4) {
		case 0:
			s = s[:at+1]
		case 1:
			s[at] = byte(any.IntN(256))
		case 2:
			s[at] = bytes[any.IntN(len(bytes))]
		default:
			s = append(s, s[at:min(len(s), at+40)]...)
		}
	}
	return string(s)
}
