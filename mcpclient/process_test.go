package mcpclient

import (
	"strings"
	"testing"
)

func TestChildGetsAMinimalEnvironment(t *testing.T) {
	t.Setenv("LIFEHUB_TEST_SECRET", "hunter2")
	env := strings.Join(environment(map[string]string{"DECLARED": "yes", "HOME": "/elsewhere"}, "tag"), "\n")
	if strings.Contains(env, "hunter2") || !strings.Contains(env, "DECLARED=yes") || !strings.Contains(env, "PATH=") {
		t.Errorf("got\n%s", env)
	}
	if last := strings.LastIndex(env, "HOME="); !strings.HasPrefix(env[last:], "HOME=/elsewhere") {
		t.Errorf("a declared name does not win:\n%s", env)
	}
}
