package pdf

import (
	"os"
	"testing"
)

// cache is the folder of compiled code that the tests share.
var cache string

func TestMain(m *testing.M) {
	var err error
	if cache, err = os.MkdirTemp("", "pdf"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

func reader(tesseract string) Reader { return Reader{Tesseract: tesseract, Cache: cache} }
