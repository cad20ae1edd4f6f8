package agent

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // for image.Decode
	_ "image/jpeg"
	_ "image/png"
	"path/filepath"
	"slices"
	"strings"
)

// maxPixels bounds the size of a decoded image: a few bytes may encode one that
// exhausts memory.
const maxPixels = 50 << 20

// IsPicture reports whether a file name has the extension of an image format that
// models accept.
func IsPicture(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp", ".gif"}, strings.ToLower(filepath.Ext(name)))
}

// CheckPicture returns an error if a model would not accept data as an image. A
// damaged image makes a server reject the whole message.
func CheckPicture(data []byte) error {
	if len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return nil // only servers can decode WebP
	}
	head, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case errors.Is(err, image.ErrFormat):
		return errors.New("not a PNG, JPEG, GIF or WebP image")
	case err != nil:
		return fmt.Errorf("the image is damaged: %w", err)
	case head.Width <= 0 || head.Height <= 0 || head.Width > maxPixels/head.Height:
		return fmt.Errorf("the image has %d × %d pixels, which is too many", head.Width, head.Height)
	}
	if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
		return fmt.Errorf("the image is damaged: %w", err)
	}
	return nil
}
