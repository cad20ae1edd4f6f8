package llm

import "testing"

func TestParametersAreReadFromNames(t *testing.T) {
	for name, want := range map[string]float64{
		"8.2B": 8.2e9, "134.52M": 134.52e6, "1.0T": 1e12, "109K": 109e3,
		"qwen3:4b": 4e9, "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf": 1.5e9,
		"/models/SmolLM2-135M.gguf": 135e6, "llama-3.2-3b": 3e9,
		"Qwen3-30B-A3B": 30e9, "Mixtral-8x7B": 7e9, "meta-llama/Llama-3.1-70B": 70e9, "Qwen2.5-14B-Instruct-1M": 14e9,
		"phi-3-mini-128k": 0, "gpt-4o": 0, "qwen3:latest": 0, "v1.5b": 0, "": 0, "b": 0,
	} {
		if got := ParametersIn(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
