package web

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

func TestPageIsDecodedAsDeclared(t *testing.T) {
	const (
		german  = "Süßer Tee und Café, dreimal am Tag."
		kana    = "マラソンの練習は週に三回。"
		chinese = "马拉松训练每周三次。"
		russian = "Тренировка три раза в неделю."
	)
	bigEndian, littleEndian := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	for name, test := range map[string]struct {
		written      encoding.Encoding
		header, meta string
		text         string
	}{
		"UTF-8":                   {written: unicode.UTF8, header: "utf-8", text: german},
		"UTF-8, not declared":     {written: unicode.UTF8, text: russian},
		"UTF-8, declared Latin-1": {written: unicode.UTF8, header: "iso-8859-1", text: german},
		"UTF-8 with a mark":       {written: unicode.UTF8BOM, text: chinese},
		"UTF-16 with a mark": {
			written: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
			text:    russian,
		},
		"UTF-16 of big end with a mark":       {written: unicode.UTF16(unicode.BigEndian, unicode.UseBOM), text: kana},
		"UTF-16 declared by the server":       {written: littleEndian, header: "utf-16le", text: german},
		"UTF-16 of big end, declared":         {written: bigEndian, header: "utf-16be", text: chinese},
		"Shift_JIS declared by the server":    {written: japanese.ShiftJIS, header: "Shift_JIS", text: kana},
		"Shift_JIS declared by the page":      {written: japanese.ShiftJIS, meta: "shift_jis", text: kana},
		"GBK declared by the server":          {written: simplifiedchinese.GBK, header: "gbk", text: chinese},
		"GBK declared by the page":            {written: simplifiedchinese.GBK, meta: "gb2312", text: chinese},
		"Windows-1251 declared by the server": {written: charmap.Windows1251, header: "windows-1251", text: russian},
		"Windows-1251 declared by the page":   {written: charmap.Windows1251, meta: "windows-1251", text: russian},
		"Windows-1252, not declared":          {written: charmap.Windows1252, text: german},
	} {
		kind, head := "text/html", ""
		if test.header != "" {
			kind += "; charset=" + test.header
		}
		if test.meta != "" {
			head = `<meta charset="` + test.meta + `">`
		}
		want := "<html><head>" + head + "</head><body><p>" + test.text + "</p></body></html>"
		body, err := test.written.NewEncoder().String(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := asUTF8(webPage{header: http.Header{"Content-Type": {kind}}, body: []byte(body)})
		if err != nil || got != want {
			t.Errorf("%s: %v, %q", name, err, got)
		}
	}
}

func TestDamagedUTF8IsStillUTF8(t *testing.T) {
	body := strings.Repeat("ASCII only. ", 200) + "Süßer Tee, cut in the middle: \xc3 und Café"
	got, err := asUTF8(webPage{header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: []byte(body)})
	if want := strings.ReplaceAll(body, "\xc3 ", "\uFFFD "); err != nil || got != want {
		t.Errorf("%v, %q", err, got)
	}
}
