package agent

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

func TestOnlyReadableImagesAreSent(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 64, 64))
	var asPNG, asJPEG bytes.Buffer
	if err := png.Encode(&asPNG, picture); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, picture, nil); err != nil {
		t.Fatal(err)
	}
	wide := bytes.Clone(asPNG.Bytes())
	binary.BigEndian.PutUint32(wide[16:], 1<<20) // width and height are in the first chunk
	binary.BigEndian.PutUint32(wide[20:], 1<<20)
	binary.BigEndian.PutUint32(wide[29:], crc32.ChecksumIEEE(wide[12:29]))
	for name, tc := range map[string]struct {
		data []byte
		want string // "": it is readable
	}{
		"PNG":       {asPNG.Bytes(), ""},
		"JPEG":      {asJPEG.Bytes(), ""},
		"WebP":      {[]byte("RIFF0000WEBPVP8 "), ""},
		"text":      {[]byte("not an image"), "not a PNG"},
		"nothing":   {nil, "not a PNG"},
		"cut":       {asPNG.Bytes()[:asPNG.Len()/2], "damaged"},
		"huge":      {wide, "too many"},
		"only head": {asPNG.Bytes()[:8], "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckPicture(tc.data)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
