package mcpclient

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestImagesOfAResultArePassedToTheModel(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	good := mcp.NewImageContent(base64.StdEncoding.EncodeToString(picture.Bytes()), "image/png")
	address := mcp.NewImageContent("data:image/png;base64,"+good.Data, "image/png")
	damaged := mcp.NewImageContent("iVBORw0KGgo=", "image/png")
	for name, tc := range map[string]struct {
		content []mcp.Content
		want    int
	}{
		"one among text": {[]mcp.Content{mcp.NewTextContent("Here it is:"), good}, 1},
		"as an address":  {[]mcp.Content{address}, 1},
		"damaged ones":   {[]mcp.Content{damaged, mcp.NewImageContent("%%%", "image/png"), good}, 1},
		"many":           {[]mcp.Content{good, good, good, good, good, good}, maxPictures},
		"none":           {[]mcp.Content{mcp.NewTextContent("no picture")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := pictures(&mcp.CallToolResult{Content: tc.content})
			if len(got) != tc.want {
				t.Fatalf("got %d images, want %d", len(got), tc.want)
			}
			for _, one := range got {
				if !bytes.Equal(one, picture.Bytes()) {
					t.Error("an image came out otherwise than it was sent")
				}
			}
		})
	}
}
