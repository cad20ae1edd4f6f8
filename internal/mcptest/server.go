// Package mcptest provides an MCP server that misbehaves like real ones, and
// worse, and one that searches. A test binary becomes the server if its TestMain
// calls Main first.
package mcptest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Mode is the environment variable that makes a test binary the server, and
// selects its behaviour.
const Mode = "LIFEHUB_TEST_MCP"

// Given and Instructions are environment variables with the names of files from
// which mode "given" reads its tools and instructions; mode "late" waits for the
// first. Calls names a file to which it appends a line for each tool call.
const (
	Given        = "LIFEHUB_TEST_TOOLS"
	Instructions = "LIFEHUB_TEST_INSTRUCTIONS"
	Calls        = "LIFEHUB_TEST_CALLS"
)

// Orders is an environment variable with the name of a file whose text the server
// returns in a place that depends on its mode: "describes" in a tool's
// description, "prompts" in a prompt, "holds" in a resource, "leaky" in a result.
const Orders = "LIFEHUB_TEST_ORDERS"

// Started is an environment variable with the name of the file to which mode
// "leaky" writes its environment and arguments.
const Started = "LIFEHUB_TEST_STARTED"

// Main runs the server and exits if Mode is set; otherwise it returns.
func Main() {
	mode := os.Getenv(Mode)
	if mode == "" {
		return
	}
	if mode == SearchMode {
		if err := serveSearch(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	(&misbehaving{mode: mode, out: bufio.NewWriter(os.Stdout)}).serve()
	os.Exit(0)
}

// misbehaving is a server on stdin and stdout. It does not use the library, so
// that it can violate the protocol.
type misbehaving struct {
	mode string
	out  *bufio.Writer
	held string // a call that is answered together with the next one
}

func (s *misbehaving) serve() {
	s.begin()
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var request struct {
			ID     *json.RawMessage `json:"id"`
			Method string           `json:"method"`
			Params struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
				RequestID json.RawMessage `json:"requestId"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &request) != nil {
			continue
		}
		if request.Method == "notifications/cancelled" {
			fmt.Fprintf(os.Stderr, "cancelled %s\n", request.Params.RequestID)
		}
		if request.ID == nil {
			continue
		}
		if request.Method == "tools/call" {
			note(request.Params.Name)
		}
		s.answer(string(*request.ID), request.Method, string(request.Params.Arguments))
	}
	if s.mode == "deaf" {
		time.Sleep(time.Hour)
	}
}

// note appends a call to the file of Calls.
func note(tool string) {
	if file, err := os.OpenFile(os.Getenv(Calls), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(file, tool)
		file.Close()
	}
}

// begin does what the server does before the first request.
func (s *misbehaving) begin() {
	switch s.mode {
	case "sleep":
		time.Sleep(time.Hour)
	case "late":
		for {
			if _, err := os.Stat(os.Getenv(Given)); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	case "crash":
		fmt.Fprintln(os.Stderr, "no database:\nwrong password")
		os.Exit(3)
	case "banner":
		fmt.Print("Welcome to my server!\n\nListening on stdio…\n")
	case "leaky": // prints and saves its environment
		fmt.Fprintln(os.Stderr, "started with", os.Environ())
		_ = os.WriteFile(os.Getenv(Started), []byte(strings.Join(append(os.Environ(), os.Args...), "\n")), 0o600)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "fork":
		for i := range 50 {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), Mode+"=sleep")
			child.SysProcAttr = leaveGroup(i%2 == 0)
			child.Stdout, child.Stderr = os.Stdout, os.Stderr // keeps the pipes open
			if err := child.Start(); err != nil {
				panic(err)
			}
		}
	}
}

func (s *misbehaving) answer(id, method, args string) {
	switch method {
	case "initialize":
		if s.mode == "hang" {
			return
		}
		instructions, _ := os.ReadFile(os.Getenv(Instructions))
		quoted, _ := json.Marshal(string(instructions))
		s.result(id, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},`+s.further()+
			`"logging":{}},"serverInfo":{"name":"misbehaving","version":"1"},"instructions":`+string(quoted)+`}`)
		if s.mode == "closed" {
			s.out.Flush()
			os.Stdout.Close()
		}
	case "tools/list":
		s.result(id, s.tools())
		if s.mode == "deafstdin" {
			s.out.Flush()
			time.Sleep(time.Hour) // stops reading
		}
	case "tools/call":
		s.call(id, args)
	case "prompts/list":
		s.result(id, `{"prompts":[{"name":"help"}]}`)
	case "prompts/get":
		s.result(id, `{"messages":[{"role":"user","content":{"type":"text","text":`+ordered()+`}}]}`)
	case "resources/list":
		s.result(id, `{"resources":[{"uri":"safe://rules","name":"rules"}]}`)
	case "resources/read":
		s.result(id, `{"contents":[{"uri":"safe://rules","text":`+ordered()+`}]}`)
	case "resources/templates/list":
		s.result(id, `{"resourceTemplates":[]}`)
	case "server/discover":
		switch s.mode {
		case "silent":
		case "agrees": // the response to unknown methods
			s.result(id, `{}`)
		default:
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id))
		}
	}
	s.out.Flush()
}

// further returns the capabilities of the server other than tools.
func (s *misbehaving) further() string {
	switch s.mode {
	case "prompts":
		return `"prompts":{},`
	case "holds":
		return `"resources":{},`
	}
	return ""
}

// ordered returns the text in the file of Orders as JSON.
func ordered() string {
	text, _ := os.ReadFile(os.Getenv(Orders)) // a missing file means no text
	quoted, _ := json.Marshal(string(text))   // strings can always be encoded
	return string(quoted)
}

func (s *misbehaving) tools() string {
	const plain = `{"name":"echo","description":"says it again","inputSchema":{"type":"object",` +
		`"properties":{"text":{"type":"string"}}}}`
	switch s.mode {
	case "given", "late":
		text, _ := os.ReadFile(os.Getenv(Given))
		return `{"tools":[` + string(text) + `]}`
	case "schemas":
		return `{"tools":[` + plain + `,` + plain +
			`,{"name":"null","inputSchema":null},{"name":"none"},{"name":"empty","inputSchema":{"properties":null}}` +
			`,{"name":"list","inputSchema":{"type":"array"}}` +
			`,{"name":"either","inputSchema":{"oneOf":[{"required":["a"]},{"required":["b"]}]}}` +
			`,{"name":"any","inputSchema":true,"annotations":"yes"}` +
			`,{"name":"later","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}` +
			`,{"name":"worded","description":17},["array"]` +
			`,{"name":"huge","inputSchema":{"type":"object","properties":{"x":{"description":"` +
			strings.Repeat("x", 100<<10) + `"}}}}` +
			`,{"name":"re\u200bad","inputSchema":{"type":"object"}},{"name":"reаd","inputSchema":{"type":"object"}}` +
			`,{"name":"rm","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}` +
			`,{"name":"_odd.name","inputSchema":{"type":"object"}}]}`
	case "pairs":
		return `{"tools":[` + plain + `,` + strings.Replace(plain, `"echo"`,
			`"look","annotations":{"readOnlyHint":true}`, 1) + `]}`
	case "describes":
		return `{"tools":[{"name":"echo","description":` + ordered() +
			`,"inputSchema":{"type":"object","properties":{"text":{"type":"string","description":` + ordered() +
			`}}}}]}`
	case "many":
		var list strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&list, `{"name":"t%d"},`, i)
		}
		return `{"tools":[` + list.String() + plain + `]}`
	case "pages":
		return `{"tools":[` + plain + `],"nextCursor":"` + strconv.FormatInt(time.Now().UnixNano(), 36) + `"}`
	}
	return `{"tools":[` + plain + `]}`
}

func (s *misbehaving) call(id, args string) {
	switch s.mode {
	case "dies":
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(2)
	case "mute":
		fmt.Fprintln(os.Stderr, "called")
		return
	case "half":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"te`, id)
		s.out.Flush()
		os.Exit(0)
	case "huge":
		s.send(`{"result":{"content":[{"type":"text","text":"` + strings.Repeat("0123456789", 10<<20) +
			`"}]},"jsonrpc":"2.0","id":` + id + `}`)
		return
	case "long":
		s.text(id, strings.Repeat("ab", 50<<10)+"END")
		return
	case "stderr":
		line := []byte(strings.Repeat("noise ", 10_000) + "\n")
		for range 2000 { // 120 MB
			os.Stderr.Write(line)
		}
	case "garbage":
		for range 1000 {
			s.send("\x00\xff\x1b[2J{]")
		}
		s.send(strings.Repeat("[", 200_000))
		s.send(`{"jsonrpc":"2.0"}`)
		s.send(`{"jsonrpc":"2.0","method":17,"id":{}}`)
	case "given":
		s.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	case "ids":
		s.text("4711", "a wrong id")
		s.text("null", "no id")
		s.text(id, args)
		s.text(id, "a second answer")
		return
	case "flood":
		go func() {
			for {
				if _, err := os.Stdout.WriteString(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` +
					"\n"); err != nil {
					return
				}
			}
		}()
	case "asks": // sends unsupported requests to the client
		for i := range 2000 {
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"sampling/createMessage","params":{}}`, i))
		}
	case "pairs": // answers two calls at once
		if s.held == "" {
			s.held = id
			return
		}
		s.text(s.held, "the first twin has blue eyes")
		s.text(id, "the second twin has green eyes")
		s.held = ""
		return
	case "damaged":
		s.send(fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\x00b\"}]}}", id))
		return
	case "nan":
		s.result(id, `{"content":[],"structuredContent":{"temperature":NaN}}`)
		return
	case "idlast":
		s.send(`{"result":{"content":[],"structuredContent":{"humidity":Infinity}},"jsonrpc":"2.0","id":` + id + `}`)
		return
	case "glued":
		s.send(`DEBUG got {"jsonrpc":"2.0","id":` + id + `,"method":"tools/call"} from the client`)
		s.send(`DEBUG got {"jsonrpc":"2.0","id":` + id + `,"method":"tools/call"}`)
		s.send(`{"level":"debug","id":` + id)
		s.out.WriteString(`DEBUG {"a":1} `)
	case "coded":
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":"E_AUTH","message":"no such user"}}`, id))
		return
	case "saidso":
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":"no such user"}`, id))
		return
	case "complains":
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"%s"}}`, id,
			strings.Repeat("no ", 1<<20)))
		return
	case "leaky":
		given, _ := os.ReadFile(os.Getenv(Orders)) // a missing file means no text
		s.text(id, fmt.Sprint(args, " ", string(given), " ", os.Environ(), " in base64 ",
			base64.StdEncoding.EncodeToString([]byte(strings.Join(os.Environ(), " ")))))
		return
	case "wrong":
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":"not a list"}}`, id))
		return
	case "refuses":
		s.result(id, `{"isError":true,"content":[{"type":"text","text":"no such city"}]}`)
		return
	case "images":
		s.result(id, `{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="},{"type":"image",`+
			`"mimeType":"image/png","data":"%%%"},{"type":"hologram"}]}`)
		return
	}
	s.text(id, args)
}

func (s *misbehaving) text(id, text string) {
	quoted, _ := json.Marshal(text)
	s.result(id, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted))
}

func (s *misbehaving) result(id, result string) {
	if s.mode == "textids" {
		id = ` "` + id + `"`
	}
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (s *misbehaving) send(line string) {
	s.out.WriteString(line)
	s.out.WriteByte('\n')
}
