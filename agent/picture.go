package agent

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // the formats that model servers
	_ "image/jpeg" // read, and that can be
	_ "image/png"  // tried out here
)

// maxPixels bounds a picture that is tried out: a few bytes may hold one that
// fills the memory.
const maxPixels = 50 << 20

// CheckPicture says why a model would not take data as an image; nil: it would.
// One that is damaged makes a server refuse the whole message.
func CheckPicture(data []byte) error {
	if len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return nil // only servers can tell more
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
