package tinygguf

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
)

// Token types of a SentencePiece vocabulary.
const (
	tokenNormal  = 1
	tokenUnknown = 2
	tokenControl = 3
	tokenUser    = 4
	tokenByte    = 6
)

const endToken = 2 // </s>

type vocabulary struct {
	texts  []string
	scores []float32
	types  []int32
	ids    map[string]int
}

// newVocabulary returns a vocabulary that can encode any text: the special
// tokens, all 256 bytes and the printable ASCII characters.
func newVocabulary() *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	v.add("<unk>", 0, tokenUnknown)
	v.add("<s>", 0, tokenControl)
	v.add("</s>", 0, tokenControl)
	for i := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", i), 0, tokenByte)
	}
	for c := byte(' '); c < 127; c++ {
		v.add(string(rune(c)), -float32(c), tokenNormal)
	}
	return v
}

func (v *vocabulary) add(text string, score float32, typ int32) int {
	text = strings.ReplaceAll(text, " ", "\u2581")
	if _, dup := v.ids[text]; dup {
		panic(fmt.Sprintf("tinygguf: two tokens %q in one model", text))
	}
	id := len(v.texts)
	v.ids[text] = id
	v.texts, v.scores, v.types = append(v.texts, text), append(v.scores, score), append(v.types, typ)
	return id
}

type shape struct {
	dim, hidden, layers, heads, kvHeads, context int
}

func llama(name string, s shape, v *vocabulary) *file {
	f := &file{}
	f.set("general.architecture", "llama")
	f.set("general.name", name)
	f.set("general.file_type", uint32(0))
	f.set("llama.context_length", uint32(s.context))
	f.set("llama.embedding_length", uint32(s.dim))
	f.set("llama.block_count", uint32(s.layers))
	f.set("llama.feed_forward_length", uint32(s.hidden))
	f.set("llama.attention.head_count", uint32(s.heads))
	f.set("llama.attention.head_count_kv", uint32(s.kvHeads))
	f.set("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	f.set("llama.rope.dimension_count", uint32(s.dim/s.heads))
	f.set("llama.vocab_size", uint32(len(v.texts)))
	f.set("tokenizer.ggml.model", "llama")
	f.set("tokenizer.ggml.tokens", v.texts)
	f.set("tokenizer.ggml.scores", v.scores)
	f.set("tokenizer.ggml.token_type", v.types)
	f.set("tokenizer.ggml.bos_token_id", uint32(1))
	f.set("tokenizer.ggml.eos_token_id", uint32(endToken))
	f.set("tokenizer.ggml.unknown_token_id", uint32(0))
	f.set("tokenizer.ggml.add_bos_token", true)
	f.set("tokenizer.ggml.add_eos_token", false)
	return f
}

// blocks adds the transformer's layers; weights returns the values of a matrix.
func blocks(f *file, s shape, weights func(rows, cols int) []float32) {
	kv := s.dim / s.heads * s.kvHeads
	for layer := range s.layers {
		matrix := func(name string, rows, cols int) {
			f.add(fmt.Sprintf("blk.%d.%s.weight", layer, name), typeF32, weights(rows, cols), cols, rows)
		}
		f.add(fmt.Sprintf("blk.%d.attn_norm.weight", layer), typeF32, ones(s.dim), s.dim, 0)
		matrix("attn_q", s.dim, s.dim)
		matrix("attn_k", kv, s.dim)
		matrix("attn_v", kv, s.dim)
		matrix("attn_output", s.dim, s.dim)
		f.add(fmt.Sprintf("blk.%d.ffn_norm.weight", layer), typeF32, ones(s.dim), s.dim, 0)
		matrix("ffn_gate", s.hidden, s.dim)
		matrix("ffn_up", s.hidden, s.dim)
		matrix("ffn_down", s.dim, s.hidden)
	}
}

// Random returns a chat model with random weights. Its text is meaningless, but
// with a schema it produces valid JSON.
func Random(seed int64) []byte {
	v := newVocabulary()
	v.add("<|im_start|>", 0, tokenControl)
	v.add("<|im_end|>", 0, tokenControl)
	s := shape{dim: 64, hidden: 128, layers: 2, heads: 4, kvHeads: 2, context: 2048}
	f := llama("tiny-random", s, v)
	weights := gaussian(seed)
	n := len(v.texts)
	f.add("token_embd.weight", typeF32, weights(n, s.dim), s.dim, n)
	blocks(f, s, weights)
	f.add("output_norm.weight", typeF32, ones(s.dim), s.dim, 0)
	f.add("output.weight", typeF32, weights(n, s.dim), s.dim, n)
	return f.bytes()
}

func gaussian(seed int64) func(rows, cols int) []float32 {
	r := rand.New(rand.NewSource(seed))
	return func(rows, cols int) []float32 {
		x := make([]float32, rows*cols)
		for i := range x {
			x[i] = float32(r.NormFloat64() / math.Sqrt(float64(cols)))
		}
		return x
	}
}

// Script is a text that a model produces, one piece per token, if the last token
// of its prompt is Marker. The script without a marker follows any other token.
type Script struct {
	Marker string
	Pieces []string
	Loop   bool // start again at the end, forever
}

// Scripted returns a chat model that reproduces its scripts word for word at any
// usual temperature. All pieces and markers must be distinct; [Cut] returns such
// pieces. context is the context length that the model declares.
//
// Its attention and feed-forward weights are zero, so the output depends only on
// the last token. Its embedding and output matrices are a transition table
// between tokens, in which each state has its own dimension.
func Scripted(name string, scripts []Script, context int) []byte {
	v := newVocabulary()
	next := map[int]int{} // successor of each token
	first := endToken     // successor of all other tokens
	for _, script := range scripts {
		marker := -1
		if script.Marker != "" {
			marker = v.add(script.Marker, 0, tokenUser)
		}
		ids := make([]int, len(script.Pieces))
		for i, piece := range script.Pieces {
			ids[i] = v.add(piece, -1e6, tokenNormal)
		}
		for i, id := range ids {
			switch {
			case i+1 < len(ids):
				next[id] = ids[i+1]
			case script.Loop:
				next[id] = ids[0]
			default:
				next[id] = endToken
			}
		}
		if marker >= 0 {
			next[marker] = ids[0]
		} else {
			first = ids[0]
		}
	}
	const margin = 60 // logit distance of the wanted token to all others
	dim := 64
	for dim < len(next)+1 {
		dim += 64
	}
	n := len(v.texts)
	embedding, output := make([]float32, n*dim), make([]float32, n*dim)
	weight := float32(margin / math.Sqrt(float64(dim)))
	output[first*dim] = weight // dimension 0: all tokens without a state
	state := 1
	for token := range n {
		follows, ok := next[token]
		if !ok {
			embedding[token*dim] = 1
			continue
		}
		embedding[token*dim+state] = 1
		output[follows*dim+state] = weight
		state++
	}
	s := shape{dim: dim, hidden: 32, layers: 1, heads: dim / 32, kvHeads: 1, context: context}
	f := llama(name, s, v)
	f.add("token_embd.weight", typeF32, embedding, dim, n)
	blocks(f, s, func(rows, cols int) []float32 { return make([]float32, rows*cols) })
	f.add("output_norm.weight", typeF32, ones(dim), dim, 0)
	f.add("output.weight", typeF32, output, dim, n)
	return f.bytes()
}

// Cut splits a text into pieces that differ from each other and from those in
// taken, and adds them to taken. A piece is one word, or several if the word
// occurred before.
func Cut(text string, taken map[string]bool) []string {
	var pieces []string
	piece := ""
	for word := range strings.SplitAfterSeq(text, " ") {
		piece += word
		if len(piece) > 1 && !taken[piece] {
			taken[piece] = true
			pieces = append(pieces, piece)
			piece = ""
		}
	}
	for piece != "" { // the last piece is a duplicate: merge it with the one before
		if len(pieces) == 0 || len(piece) > 1 && !taken[piece] {
			taken[piece] = true
			return append(pieces, piece)
		}
		piece = pieces[len(pieces)-1] + piece
		pieces = pieces[:len(pieces)-1]
	}
	return pieces
}
