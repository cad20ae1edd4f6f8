// Package backend is what either front end works with, the screen or the chat by
// lines: what answers, what saves, what is said of the world, and the commands.
package backend

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// Options is what the screen works with. Assistant is required; where another
// part is nil, the screen does without it and offers no key for it.
type Options struct {
	// Open returns all the options, where finding them takes longer than a first
	// picture may; those given with it need only tell how the screen looks and
	// how it is used. It is called once, while the screen is there already; what
	// it reports ends the screen. nil: all is given.
	Open func(ctx context.Context) (Options, error)

	Assistant     Assistant
	Conversations Conversations // nil: nothing is saved
	Models        Models        // nil: no model picker, no pull
	Branches      Branches      // nil: a conversation is one path
	Notes         Notes         // nil: no first-run screen
	Servers       Servers       // nil: no panel of MCP servers
	Drafts        Drafts        // nil: what is typed and not sent ends with the screen

	// Conversation is opened at the start; "" begins a new one.
	Conversation string
	// Left learns which conversation was open when the user left; nil: nobody asks.
	Left func(conversation string)
	// Heading is its title; "": its first question.
	Heading string
	// Turn is where it is opened; "": at its end.
	Turn string
	// Pick opens the list of conversations at the start.
	Pick bool
	// Prompt is asked at the start; "" asks nothing.
	Prompt string
	// FirstRun shows at the start what was found, and asks which notes to use.
	FirstRun bool
	// FindModel tells a new user which model answers, and how to get one. nil:
	// nothing is said of it.
	FindModel func(ctx context.Context) FoundModel

	// Status sends a whole snapshot whenever something changed. The sender
	// may drop a snapshot that a newer one replaces.
	Status <-chan Status
	// Notices are things to know that belong to no turn, one a message.
	Notices <-chan string
	// Prompts returns what the user asked before, newest first.
	Prompts func(ctx context.Context, limit int) ([]string, error)
	// Resume continues the last turn of a conversation, which did not come to
	// its end, as Assistant.Ask begins one. nil: none is resumed.
	Resume func(ctx context.Context, conversation, turn string) <-chan agent.Event
	// Reader is the model as a second reader of answers.
	Reader Reader
	// Search finds messages of all conversations, newest first. nil: none does.
	Search func(ctx context.Context, words string, limit int) ([]agent.Hit, error)
	// Rename gives a conversation the user's own title. nil: they can't be renamed.
	Rename func(ctx context.Context, conversation, title string) error
	// Remove deletes conversations and everything saved with them. nil: they can't
	// be deleted.
	Remove func(ctx context.Context, conversations ...string) error
	// Artifacts are the documents of the open conversation; nil: none are saved.
	Artifacts Artifacts

	// Figures sums up the turns by day, model or turn, the latest first; nil:
	// there is no page of them.
	Figures func(ctx context.Context, by string) ([]agent.Figures, error)
	// Mentions are what a message can name after an @, at this moment: notes,
	// resources and the like, or for a place, which ends with a slash, the files
	// in that folder. nil: nothing.
	Mentions func(ctx context.Context, place string) ([]Mention, error)
	// Note reads the note that a name stands for: a path, a file name, a title or
	// an alias, as a link in the note from means it where that is not ""; else it
	// may be another file as well. nil: none.
	Note func(ctx context.Context, name, from string) (Note, error)
	// Templates are the prompts that servers have ready, at this moment. nil: none.
	Templates func() []Template
	// Commands are slash commands besides the screen's own.
	Commands []Command
	// Used is how often each command was used, which the screen counts on. nil: it
	// does not count.
	Used map[string]int

	UseMode func(mode string) // makes later turns so; nil: the mode can't be changed
	Screen
}

// Screen is how the user wants the screen to look and to be used. It is known
// before anything is open.
type Screen struct {
	Editor  string   // command line of the user's editor, split without a shell; "": none
	Environ []string // the editor's environment; nil: that of LifeHub
	Mode    string   // how turns are made: auto, plan, loop or team
	Theme   Theme
	// SaveSetting writes a setting for later runs. nil: none is saved.
	SaveSetting func(name, value string) error
	Keys        map[string][]string // keys by action, over the built-in ones
	NoMouse     bool                // leave the mouse to the terminal
	NoSidebar   bool                // the user has switched it off
	Inline      bool                // what is over is printed into the terminal's own scrollback
	Quiet       bool                // no bell and no notification
	Host        string              // this machine's name, for links to notes; "": any
}

// Theme is how the screen looks.
type Theme struct {
	Name    string            // see [draw.ThemeNames]; "": auto
	Colours map[string]string // put over its own, by name (see [draw.CheckColours])
}

// Reader lets the model judge the sentences of an answer that quote nothing.
type Reader struct {
	// Read returns all citations of a turn's answer, with what the model says. nil:
	// none is judged.
	Read   func(ctx context.Context, conversation, turn string) ([]agent.Citation, error)
	Always bool // every answer is judged once it is there
}

// Assistant answers messages. *agent.Agent is the real one; tests script one.
type Assistant interface {
	// Ask starts a turn and returns at once; the channel closes when it is over.
	Ask(ctx context.Context, conversation, message string) <-chan agent.Event
}

// Conversations saves what was said. *store.Store is the real one.
type Conversations interface {
	// New returns the id of a new conversation.
	New(ctx context.Context) (id string, err error)
	// Recent returns the latest conversations, newest first; all if limit is 0.
	Recent(ctx context.Context, limit int) ([]agent.Conversation, error)
	// Exchanges returns the turns of a conversation, oldest first.
	Exchanges(ctx context.Context, id string) ([]agent.Exchange, error)
	// Latest returns the last n of them, fast however many there are.
	Latest(ctx context.Context, id string, n int) ([]agent.Exchange, error)
}

// Models are the model servers.
type Models interface {
	// List asks all servers at once what they have: each is told as waiting, in
	// the order of the settings, and then as it answers. The channel closes after
	// the last, also when nobody reads.
	List(ctx context.Context) <-chan llm.Listing
	// Use makes later turns use the named model.
	Use(ctx context.Context, name string) error
	// Pull fetches a model. It calls progress from one goroutine; total is 0
	// while the size is unknown.
	Pull(ctx context.Context, name string, progress func(status string, done, total int64)) error
}

// Notes finds folders of notes for a user who has named none.
type Notes interface {
	// Offers returns the folders to choose from, best first.
	Offers(ctx context.Context) ([]Offer, error)
	// Typed returns what a path that is being typed means by now.
	Typed(ctx context.Context, path string) TypedPath
	// Take uses the folder of an offer, or one whose path the user typed, from
	// now on. Its indexing goes on in the background and is told through
	// Options.Status.
	Take(ctx context.Context, offer Offer) error
}

// Servers are the MCP servers.
type Servers interface {
	// List reports how each is at this moment, in the order of the config.
	List() []Server
	// Restart starts one again.
	Restart(name string) error
	// Switch switches one on or off, also for later.
	Switch(name string, on bool) error
	// Log returns the end of what one wrote; "" is nothing.
	Log(name string) (string, error)
	// Trust takes changes of one as seen by the user.
	Trust(name string, seen []Change) error
	// Consent has the user go through the consent of one that wants it: show is
	// given the page to open. It returns when that is done, or with ctx.
	Consent(ctx context.Context, name string, show func(page string)) error
}

// Server is an MCP server as the panel shows it. Its texts come partly from
// the server.
type Server struct {
	Name     string
	Address  string // its command line or url
	About    string // its own name and version
	State    string // one line
	Running  bool
	Off      bool // and not tried again
	Consent  bool // it waits for Servers.Consent
	Up       time.Duration
	Restarts int
	Tools    int
	Tokens   int // what its tools cost in a prompt, estimated
	Calls    int
	Failed   int
	P95      time.Duration // of its last calls
	Said     string        // its last line on stderr
	Unseen   []Change      // what is not used before the user has seen it
}

// Change is something of a server that the user has not seen.
type Change struct {
	What   string // "entry", "program", "instructions" or "tool NAME"
	Before string // "": it was not there
	After  string
}

// Offer is a folder of notes that the first-run screen shows.
type Offer struct {
	Name   string // "Obsidian vault"
	Path   string // where it is; "" for notes that do not exist yet
	Detail string // "1,284 notes"
}

// TypedPath is what a path means while it is typed.
type TypedPath struct {
	Says     string  // of the folder itself: how many notes it holds, or that there is none
	Missing  bool    // and none begins like that
	Begun    []Offer // the folders that it may become, those with notes first
	Complete string  // what all that it may become have in common; "": nothing
}

// FoundModel is what the first-run screen says of the model.
type FoundModel struct {
	Ready bool   // one answers
	Says  string // how it is, a sentence
	Next  string // what the user can do about it; "": nothing
	Pull  string // the model that can be fetched now; "": none
	Why   string // what for, a few words
}

// Status is what the header and the status line tell about the world around
// the conversation.
type Status struct {
	Provider string // ollama, openai or offline
	Model    string // its name; "" when no model is used
	Remote   string // host that runs it, when that is not this machine
	Silent   bool   // its server did not answer the last question; each question tries again
	Window   int    // tokens of its context window; 0: unknown
	Fitting  string // the mode that auto is for it: plan or loop; "": not known yet
	Notes    int    // notes in all folders
	Indexed  int    // notes that the index holds

	Unreadable int    // notes that cannot be read now
	Indexing   bool   // the index is being made to match the notes
	Embedding  bool   // so far that Indexed and Notes count passages
	Scope      string // what the questions may use of the notes, in two words; "": all
	ReadOnly   bool   // nothing that writes or sends runs
	Sent       int64  // bytes that left this machine since the start

	Vault     string   // the folder of the notes by its name; of several, how many
	News      string   // what is new in them, a few words; "": nothing, or not known yet
	Questions []string // that they answer, for who has asked none
	Due       []Task   // the first of the open tasks that are due
}

// Task is a task in a note.
type Task struct {
	Text string
	When string // "due today"
	Note string // its file
	Line int
}

// Command is what can be typed after a slash. One with none of the functions is
// the front end's own (see [Command.Own]).
type Command struct {
	Name    string // without the slash
	Aliases []string
	Args    string // what may follow, for the palette: "[DIR]"
	Help    string // one line
	Group   string // under which the palette lists it; "": Yours, of the user and of servers
	// Template is the prompt of a server that the command fills in.
	Template *Template
	// Run works on the open conversation, whose id is "" while it has no message,
	// and returns Markdown to show; "" shows nothing. It runs in the background.
	Run func(ctx context.Context, conversation, args string) (string, error)
	// Turn is used in place of Run, when it is set, by a command that is a turn
	// of its own: asked is the line as it was typed.
	Turn func(ctx context.Context, conversation, asked, args string) <-chan agent.Event
	// Begin is asked first, when it is set: a turn that it returns takes the
	// place of Run; nil: Run does the work. It runs in the background.
	Begin func(ctx context.Context, conversation, args string) (Turn, error)
	// Prompt is used in place of all, when it is set, by a command that asks
	// what it returns. It reads no more than a file.
	Prompt func(args string) (string, error)
	// Reload says that Run may have changed the conversation, which is shown again.
	Reload bool
}

// Turn begins a turn in a way of its own; asked is the line as it was typed.
type Turn func(ctx context.Context, conversation, asked string) <-chan agent.Event

// Ended says how the user left the screen.
type Ended int

// The ways to leave.
const (
	Quit        Ended = iota // /quit, Ctrl+D, Ctrl+C twice: exit code 0
	Interrupted              // SIGINT, or Ctrl+C twice while something runs: exit code 130
	Terminated               // SIGTERM, SIGHUP or SIGQUIT, or the terminal went away
)

// Artifacts are the documents that turns made. *store.Store is the real one.
type Artifacts interface {
	// Artifacts are the newest versions of a conversation's, the latest changed first.
	Artifacts(ctx context.Context, conversation string) ([]agent.Artifact, error)
	// ArtifactVersions are all versions of one, oldest first.
	ArtifactVersions(ctx context.Context, conversation, name string) ([]agent.Artifact, error)
}

// Branches moves in the tree that a conversation is. *store.Store is the real one.
type Branches interface {
	// Tree returns all turns of a conversation in the order of asking.
	Tree(ctx context.Context, conversation string) ([]agent.Exchange, error)
	// GoOn has the next message answer a turn; "" begins a new one.
	GoOn(ctx context.Context, conversation, turn string) error
	// Show makes the path through a turn current, down to the newest below it.
	Show(ctx context.Context, conversation, turn string) error
	// Fork copies the path that ends with a turn into a new conversation.
	Fork(ctx context.Context, conversation, turn string) (agent.Conversation, error)
}

// Mention is something that a message can name after an @.
type Mention struct {
	Name   string // what stands after the @; one that ends with a slash is a folder of files
	Detail string
	Tool   bool // it is one, and named where a message begins
}

// Note is a text that is read as a whole.
type Note struct {
	Path string // in its folder
	File string // where it is; "": in no file
	Text string
	Line int // that its name led to; 0: none
	Body int // the first line behind its front matter
}

// Beginning returns what shows the beginning of the note of a name; nil: nothing does.
func (o *Options) Beginning(ctx context.Context) func(name string) string {
	if o.Note == nil {
		return nil
	}
	return func(name string) string {
		n, err := o.Note(ctx, name, "")
		if err != nil {
			return ""
		}
		lines := strings.SplitAfter(n.Text[:min(len(n.Text), previewSize+64<<10)], "\n") // front matter is no longer
		text := strings.TrimSpace(strings.Join(lines[min(len(lines), max(0, n.Body-1)):], ""))
		return strings.ToValidUTF8(text[:min(len(text), previewSize)], "")
	}
}

// previewSize is how much of a note or file a preview shows, in bytes.
const previewSize = 2 << 10

// Template is a prompt that a server has ready: a slash command that fills the
// composer.
type Template struct {
	Name   string // server:prompt
	Help   string
	Blanks []Blank
	// Fill returns the text for the composer. It runs in the background.
	Fill func(ctx context.Context, values map[string]string) (string, error)
}

// Blank is a text that a prompt needs.
type Blank struct {
	Name, Help string
	Required   bool
}

// Drafts saves what is typed and not sent, so that it survives a kill.
// *store.Store is the real one.
type Drafts interface {
	// SaveDraft saves a draft in place of what this process saved before.
	SaveDraft(ctx context.Context, d agent.Draft) error
	// LoadDraft returns what a process that has ended left for a conversation;
	// the zero value if there is nothing.
	LoadDraft(ctx context.Context, conversation string) (agent.Draft, error)
	// DraftFile makes the file in which the editor gets the draft that was saved
	// last.
	DraftFile() (*os.File, error)
}

// CanUndo reports whether there is a command that takes back what a turn changed.
func (o *Options) CanUndo() bool {
	return slices.ContainsFunc(o.Commands, func(c Command) bool { return c.Name == "undo" })
}
