package llmtest_test

import (
	"fmt"
	"os"
	"os/signal"
	"testing"

	"lifehub/llm/llmtest"
)

func TestServeForHand(t *testing.T) {
	if os.Getenv("SERVE") == "" {
		t.Skip()
	}
	s := llmtest.StartOllama(t)
	fmt.Println("URL", s.URL)
	os.WriteFile("/tmp/ollama-url", []byte(s.URL), 0o600)
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	<-c
}
