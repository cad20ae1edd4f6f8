package tinygguf

import (
	"hash/fnv"
	"math"
	"math/rand"
	"strings"
)

// linear is a layer-norm epsilon so large that the norm is (almost) a plain
// scaling: y = (x-mean)/sqrt(var+eps)*sqrt(eps). If each vector is stored
// together with its negative, the mean is 0 and cosines are unchanged.
const linear = 1e4

// encoder returns the metadata of a BERT model, without weights.
func encoder(name string, tokens []string, types []int32, dim, layers, heads, hidden,
	context int, epsilon float32,
) *file {
	f := &file{}
	f.set("general.architecture", "bert")
	f.set("general.name", name)
	f.set("general.file_type", uint32(1))
	f.set("bert.context_length", uint32(context))
	f.set("bert.embedding_length", uint32(dim))
	f.set("bert.block_count", uint32(layers))
	f.set("bert.feed_forward_length", uint32(hidden))
	f.set("bert.attention.head_count", uint32(heads))
	f.set("bert.attention.layer_norm_epsilon", epsilon)
	f.set("bert.attention.causal", false)
	f.set("bert.pooling_type", uint32(1)) // mean
	f.set("tokenizer.ggml.model", "bert")
	f.set("tokenizer.ggml.tokens", tokens)
	f.set("tokenizer.ggml.token_type", types)
	f.set("tokenizer.ggml.token_type_count", uint32(2))
	f.set("tokenizer.ggml.padding_token_id", uint32(0))
	f.set("tokenizer.ggml.mask_token_id", uint32(0))
	f.set("tokenizer.ggml.unknown_token_id", uint32(1))
	f.set("tokenizer.ggml.cls_token_id", uint32(2))
	f.set("tokenizer.ggml.bos_token_id", uint32(2))
	f.set("tokenizer.ggml.seperator_token_id", uint32(3)) // sic: this is how the format spells it
	f.set("tokenizer.ggml.eos_token_id", uint32(3))
	f.set("tokenizer.ggml.add_bos_token", true)
	f.set("tokenizer.ggml.add_eos_token", true)
	return f
}

// embeddings adds the embedding tables of an encoder.
func embeddings(f *file, typ uint32, table []float32, tokens, dim, context int, norm float32) {
	f.add("token_embd.weight", typ, table, dim, tokens)
	f.add("token_types.weight", typeF32, make([]float32, 2*dim), dim, 2)
	f.add("position_embd.weight", typeF32, make([]float32, context*dim), dim, context)
	f.add("token_embd_norm.weight", typeF32, filled(dim, norm), dim, 0)
	f.add("token_embd_norm.bias", typeF32, make([]float32, dim), dim, 0)
}

// wordPieces returns the special tokens, each character both as the start of a
// word and inside one, and the words.
func wordPieces(words []string) (tokens []string, types []int32) {
	seen := map[string]bool{}
	add := func(s string, typ int32) {
		if !seen[s] {
			seen[s] = true
			tokens, types = append(tokens, s), append(types, typ)
		}
	}
	for _, special := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"} {
		add(special, tokenControl)
	}
	for c := '!'; c < 127; c++ {
		if c < 'A' || c > 'Z' {
			add("\u2581"+string(c), tokenNormal)
			add(string(c), tokenNormal)
		}
	}
	for _, w := range words {
		add("\u2581"+w, tokenNormal)
	}
	return tokens, types
}

// BagOfWords is an embedding model whose vector of a text is the mean of one
// fixed random direction per word. Each line is a set of synonyms that share a
// direction; words on no line have little weight.
func BagOfWords(lines []string, dim, context int) []byte {
	var words []string
	direction := map[string]string{}
	for _, line := range lines {
		synonyms := strings.Fields(strings.ToLower(line))
		for _, w := range synonyms {
			words = append(words, w)
			direction["\u2581"+w] = synonyms[0]
		}
	}
	tokens, types := wordPieces(words)
	table := make([]float32, 0, len(tokens)*dim)
	for i, token := range tokens {
		name, weight := token, float32(0.05) // a single character
		switch first, known := direction[token]; {
		case known:
			name, weight = first, 1
		case token == "[CLS]":
			weight = 0.01 // so that an empty text has a nonzero vector
		case types[i] == tokenControl:
			weight = 0
		}
		table = append(table, mirrored(name, dim, weight)...)
	}
	f := encoder("tiny-bow", tokens, types, dim, 0, 4, dim, context, linear)
	embeddings(f, typeF16, table, len(tokens), dim, context, float32(math.Sqrt(linear)))
	return f.bytes()
}

// mirrored returns the direction derived from name, followed by its negative.
func mirrored(name string, dim int, weight float32) []float32 {
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewSource(int64(h.Sum64())))
	row := make([]float32, dim)
	for i := range dim / 2 {
		x := float32(r.NormFloat64()/math.Sqrt(float64(dim/2))) * weight
		row[i], row[i+dim/2] = x, -x
	}
	return row
}
