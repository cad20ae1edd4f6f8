package acp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/agent"
)

// imageExtensions are those of the formats that models accept.
var imageExtensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg",
	"image/gif": ".gif", "image/webp": ".webp",
}

// saveImage writes an image of a prompt to a file, which the message mentions like any other image,
// and returns its path. The file is deleted when the connection ends.
func (s *server) saveImage(image *acp.ContentBlockImage) (path string, err error) {
	data, err := base64.StdEncoding.DecodeString(image.Data)
	if err != nil {
		return "", errors.New("its data is not base64")
	}
	if err := agent.CheckPicture(data); err != nil {
		return "", err
	}
	extension, ok := imageExtensions[http.DetectContentType(data)]
	if !ok {
		return "", errors.New("not a PNG, JPEG, GIF or WebP image")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.images == "" {
		if s.images, err = os.MkdirTemp("", "lifehub-images-"); err != nil {
			return "", err
		}
	}
	s.imageCount++
	path = filepath.Join(s.images, fmt.Sprintf("image-%d%s", s.imageCount, extension))
	if strings.ContainsAny(path, "\"\n") {
		return "", errors.New("the folder for temporary files has a name that a message cannot mention")
	}
	return path, os.WriteFile(path, data, 0o600)
}
