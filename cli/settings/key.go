package settings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Limits of a program that prints a key. It may wait for the user to unlock something.
const (
	keyTime = 10 * time.Second
	maxKey  = 8 << 10 // bytes
)

// KeyOf returns a function that reads the key of a model server when it is first needed and
// remembers it. The key is then redacted. KeyOf returns nil if the server has no key.
func (r *Redaction) KeyOf(s ModelServer) func(context.Context) (string, error) {
	if s.KeyEnv == "" && s.KeyFile == "" && len(s.KeyCommand) == 0 {
		return nil
	}
	var mu sync.Mutex
	var known string
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != "" {
			return known, nil
		}
		key, err := r.readKey(ctx, s)
		if err == nil && (key == "" || strings.ContainsFunc(key, unicode.IsControl)) {
			err = errors.New("not a valid key")
		}
		if err != nil {
			return "", fmt.Errorf("find the key of %s: %w", s.Name, err)
		}
		r.Add(key)
		known = key
		return key, nil
	}
}

func (r *Redaction) readKey(ctx context.Context, s ModelServer) (string, error) {
	switch {
	case s.KeyFile != "":
		file := s.KeyFile
		if below, ok := strings.CutPrefix(file, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", err
			}
			file = filepath.Join(home, below)
		}
		return ReadSecret(file)
	case s.KeyEnv != "":
		for _, entry := range r.Environ {
			if key, ok := strings.CutPrefix(entry, s.KeyEnv+"="); ok && key != "" {
				return strings.TrimSpace(key), nil
			}
		}
		return "", fmt.Errorf("the variable %s is not set", s.KeyEnv)
	}
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	var out keyOutput
	cmd := exec.CommandContext(ctx, s.KeyCommand[0], s.KeyCommand[1:]...)
	cmd.Env, cmd.Stdout, cmd.WaitDelay = r.Environ, &out, time.Second // stderr is discarded: it may contain a secret
	if err := cmd.Run(); errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "", fmt.Errorf("%s did not print it within %v; it may be waiting for you to unlock something: "+
			"run it yourself, then try again", s.KeyCommand[0], keyTime)
	} else if err != nil {
		return "", fmt.Errorf("%s: %w; run it yourself to see why", s.KeyCommand[0], err)
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return strings.TrimSpace(line), nil
}

// keyOutput collects the output of a program up to maxKey bytes.
type keyOutput struct{ strings.Builder }

func (o *keyOutput) Write(p []byte) (int, error) {
	if o.Len()+len(p) > maxKey {
		return 0, errors.New("it prints more than a key")
	}
	return o.Builder.Write(p)
}
