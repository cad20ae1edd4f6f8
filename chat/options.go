package chat

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// Options configure a front end. Assistant is required. If another field is nil,
// its feature is unavailable and has no key.
type Options struct {
	Opener Opener // nil: these options are complete

	Assistant     Assistant
	Resumer       Resumer       // nil: an interrupted turn cannot be resumed
	Modes         Modes         // nil: the mode cannot be changed
	Conversations Conversations // nil: nothing is saved
	Archive       Archive       // nil: saved conversations cannot be searched, renamed or deleted
	Branches      Branches      // nil: conversations have no branches
	Artifacts     Artifacts     // nil: turns create no documents
	Drafts        Drafts        // nil: unsent text is lost at the end
	Statistics    Statistics    // nil: no figures
	Models        Models        // nil: no model picker, no pull
	Notes         Notes         // nil: notes can be neither read nor mentioned
	Servers       Servers       // nil: no panel of MCP servers
	Templates     Templates     // nil: servers have no prompts
	Setup         Setup         // nil: no first-run screen
	Second        Second        // nil: no second view of the conversation

	// Conversation is the ID of the conversation to open; "" for a new one.
	Conversation string
	// Heading is its title; "" for its first question.
	Heading string
	// Turn is the turn to scroll to; "" for the end.
	Turn string
	// Pick opens the list of conversations first.
	Pick bool
	// Prompt is sent at the start unless it is "".
	Prompt string
	// FirstRun shows the first-run screen, which asks for a folder of notes.
	FirstRun bool

	// Status receives a complete snapshot after each change. Only the latest one
	// matters, so the sender may drop earlier ones.
	Status <-chan Status
	// Notices receives messages that belong to no turn.
	Notices <-chan string
	// Commands are further slash commands.
	Commands []Command
	// Used counts the uses of each command, and is updated by the screen; may be
	// nil.
	Used map[string]int

	Screen
}

// Opener returns the complete options if they take long to determine: the screen is shown first with options that need
// only set Screen.
type Opener interface {
	// Open is called once; its error ends the screen.
	Open(ctx context.Context) (Options, error)
}

// Screen holds the user's preferences for the screen. They are known before
// Opener.Open is called.
type Screen struct {
	Editor    string   // command line of the user's editor, run without a shell; "" if none
	Environ   []string // environment of the editor; nil: that of LifeHub
	Mode      string   // mode of turns: auto, plan, loop or team
	Theme     Theme
	Settings  Settings            // nil: a changed setting is not saved
	Keys      map[string][]string // keys by action, replacing the defaults
	NoMouse   bool                // leave the mouse to the terminal
	NoSidebar bool                // the sidebar is switched off
	Inline    bool                // finished output is printed into the terminal's scrollback
	Quiet     bool                // no bell and no notifications
	Host      string              // name of this machine, for links to notes; "" if unknown
}

// Settings saves settings of the user.
type Settings interface {
	Save(name, value string) error
}

// Theme is the colour theme.
type Theme struct {
	Name    string            // one of [draw.ThemeNames]; "": auto
	Colours map[string]string // colours that replace those of the theme, by name (see [draw.CheckColours])
}

// Assistant answers messages. *turn.Agent is the usual one.
type Assistant interface {
	// Ask starts a turn and returns immediately. The channel is closed at the end
	// of the turn.
	Ask(ctx context.Context, conversation, message string) <-chan agent.Event
}

// Resumer continues turns that were interrupted. *turn.Agent is the usual one.
type Resumer interface {
	// Resume continues the last turn of a conversation, as Assistant.Ask starts one.
	Resume(ctx context.Context, conversation, turn string) <-chan agent.Event
}

// Second is a second view of the conversation, such as a page in a browser.
type Second interface {
	// Follow shows the events of a turn of a conversation there, and passes them on. The channel that it returns is
	// to be read to its end.
	Follow(conversation string, events <-chan agent.Event) <-chan agent.Event
	// Sent has what the user sends from there.
	Sent() <-chan Sent
}

// Sent is what the user sends from a [Second] view.
type Sent struct {
	Message string // as [agent.Message] encodes it
	Resume  bool   // resume the turn that was interrupted, instead of sending a message
	Stop    bool   // stop the running turn, instead
}

// Modes sets the mode of later turns.
type Modes interface {
	Use(mode agent.Mode)
}

// Conversations reads conversations and makes their IDs.
type Conversations interface {
	// New returns the ID of a new conversation.
	New(ctx context.Context) (id string, err error)
	// Recent returns the latest conversations, newest first; limit 0 returns all.
	Recent(ctx context.Context, limit int) ([]agent.Conversation, error)
	// Exchanges returns the turns of a conversation, oldest first.
	Exchanges(ctx context.Context, id string) ([]agent.Exchange, error)
	// Latest returns the last n turns. It is fast for any number of turns.
	Latest(ctx context.Context, id string, n int) ([]agent.Exchange, error)
}

// Archive finds and changes what is saved.
type Archive interface {
	// Prompts returns the user's latest questions, newest first.
	Prompts(ctx context.Context, limit int) ([]string, error)
	// Search finds messages of a conversation, "" for all, newest first.
	Search(ctx context.Context, conversation, words string, limit int) ([]agent.Hit, error)
	// Rename sets the title of a conversation.
	Rename(ctx context.Context, conversation, title string) error
	// Remove deletes conversations and everything saved with them.
	Remove(ctx context.Context, conversations ...string) error
}

// Statistics aggregates turns.
type Statistics interface {
	// Figures aggregates turns by day, model or turn, latest first.
	Figures(ctx context.Context, by string) ([]agent.Figures, error)
}

// Models manages the models of all servers.
type Models interface {
	// List queries all servers concurrently. It sends a waiting entry for each
	// server, in the order of the settings, then each result as it arrives. The
	// channel is closed after the last one, even without a receiver.
	List(ctx context.Context) <-chan llm.Listing
	// Use sets the model of later turns.
	Use(ctx context.Context, name string) error
	// Pull downloads a model. It calls progress from one goroutine; total is 0
	// while the size is unknown.
	Pull(ctx context.Context, name string, progress func(status string, done, total int64)) error
}

// Notes reads notes and lists what a message can mention.
type Notes interface {
	// Note reads a note by its path, file name, title or alias. If from is not "",
	// name is a link in that note; otherwise name may also be another file.
	Note(ctx context.Context, name, from string) (Note, error)
	// Mentions lists what can follow an @ in a message: notes, resources and so
	// on. If place ends with a slash, it lists the files in that folder.
	Mentions(ctx context.Context, place string) ([]Mention, error)
}

// Setup finds a model and folders of notes for the first-run screen.
type Setup interface {
	// Model describes the model that answers, or how to get one.
	Model(ctx context.Context) FoundModel
	// Offers returns the folders to choose from, best first.
	Offers(ctx context.Context) ([]Offer, error)
	// Typed describes a path while the user types it.
	Typed(ctx context.Context, path string) TypedPath
	// Take uses a folder from now on: that of an offer or one typed by the user.
	// It is indexed in the background, which Options.Status reports.
	Take(ctx context.Context, offer Offer) error
}

// Servers manages the MCP servers.
type Servers interface {
	// List returns the state of each server in the order of the config.
	List() []Server
	// Restart restarts a server.
	Restart(name string) error
	// Switch turns a server on or off, permanently.
	Switch(name string, on bool) error
	// Log returns the end of a server's log; "" if it is empty.
	Log(name string) (string, error)
	// Trust marks the changes in seen as reviewed.
	Trust(name string, seen []Change) error
	// Consent runs the OAuth consent of a server. It calls show with the page to
	// open, and returns when the consent is complete or ctx ends.
	Consent(ctx context.Context, name string, show func(page string)) error
}

// Server is the state of an MCP server. Some of its texts come from the server
// and are untrusted.
type Server struct {
	Name     string
	Address  string // command line or url
	About    string // name and version reported by the server
	State    string // state in one line
	Running  bool
	Off      bool // it is not restarted automatically
	Consent  bool // it needs Servers.Consent
	Up       time.Duration
	Restarts int
	Tools    int
	Tokens   int // estimated prompt tokens of its tools
	Calls    int
	Failed   int
	P95      time.Duration // 95th percentile of recent call durations
	Stderr   string        // last line on stderr
	Unseen   []Change      // changes that are not used until reviewed
}

// Change is a change of a server that the user has not reviewed.
type Change struct {
	What   string // "entry", "instructions" or "tool NAME"
	Before string // "" for something new
	After  string
}

// Offer is a folder of notes to choose on the first-run screen.
type Offer struct {
	Name   string // such as "Obsidian vault"
	Path   string // "" for notes that will be created
	Detail string // such as "1,284 notes"
}

// TypedPath describes a path while the user types it.
type TypedPath struct {
	Detail   string  // number of notes in the folder, or why it cannot be used
	Missing  bool    // neither a folder nor the beginning of one
	Begun    []Offer // folders that begin with the path, those with notes first
	Complete string  // longest common prefix of all of them; "" if there are none
}

// FoundModel describes the model on the first-run screen.
type FoundModel struct {
	Ready  bool   // a model is available
	Detail string // description, a sentence
	Next   string // what the user can do; "" if nothing
	Pull   string // model to offer for download; "" if none
	Why    string // reason for offering it, in a few words
}

// Status is what the header and the status line show.
type Status struct {
	Provider string // ollama, openai or offline
	Model    string // "" if there is none
	Remote   string // host of the model; "" for this machine
	Silent   bool   // the model's server did not answer the last question; each question tries again
	Window   int    // size of the context window in tokens; 0: unknown
	Fitting  string // the mode that auto selects for the model: plan or loop; "" if unknown
	Notes    int    // notes in all folders
	Indexed  int    // indexed notes

	Unreadable int    // notes that cannot be read
	Indexing   bool   // the index is being updated
	Embedding  bool   // Indexed and Notes count passages, which are being embedded
	Scope      string // restriction on the notes, in two words; "" for all
	ReadOnly   bool   // tools that write or send do not run
	Sent       int64  // bytes sent from this machine since the start

	Vault     string   // name of the folder, or the number of folders
	News      string   // summary of recent changes; "" if none or unknown
	Questions []string // suggested questions for new users
	Due       []Task   // the first of the open tasks that are due
}

// Task is a task in a note.
type Task struct {
	Text string
	When string // such as "due today"
	Note string // file of the note
	Name string // of the note, as commands take it
	Line int
}

// Command is a slash command. If no function and no Template is set, the front
// end implements it (see [Command.Own]).
type Command struct {
	Name    string // without slash
	Aliases []string
	Args    string // arguments as shown in the palette, such as "[DIR]"
	Help    string // one line
	Group   string // heading in the palette; "" for Yours, those of the user and of servers
	// Template is the server's prompt that the command fills in.
	Template *Template
	// Run is called in the background and returns Markdown to show, which may be
	// "". conversation is "" if no conversation is open.
	Run func(ctx context.Context, conversation, args string) (string, error)
	// Turn, if not nil, is used instead of Run: the command starts a turn. line
	// is the command as typed.
	Turn func(ctx context.Context, conversation, line, args string) <-chan agent.Event
	// Begin, if not nil, is called before Run, in the background. If it returns a
	// turn, that is started instead of Run.
	Begin func(ctx context.Context, conversation, args string) (TurnStarter, error)
	// Prompt, if not nil, is used instead of all others: the command sends the
	// message that it returns. It does not block, except to read a file.
	Prompt func(args string) (string, error)
	// Document, if not "", is the title under which the screen shows what Run returns: in the reader, whose
	// links open notes.
	Document string
	// Reload is set if Run may change the conversation, which is then shown again.
	Reload bool
}

// Done is the name of the command that ticks off a task, as NOTE:LINE.
const Done = "done"

// TurnStarter starts a turn. line is the command as typed.
type TurnStarter func(ctx context.Context, conversation, line string) <-chan agent.Event

// Ended is how the user left.
type Ended int

// How the user can leave.
const (
	Quit        Ended = iota // /quit, Ctrl+D, Ctrl+C twice: exit code 0
	Interrupted              // SIGINT, or Ctrl+C twice while something runs: exit code 130
	Terminated               // SIGTERM, SIGHUP, SIGQUIT or a lost terminal
)

// Artifacts reads the documents created by turns. *store.Store implements it.
type Artifacts interface {
	// Artifacts returns the newest version of each document of a conversation,
	// most recently changed first.
	Artifacts(ctx context.Context, conversation string) ([]agent.Artifact, error)
	// ArtifactVersions returns all versions of a document, oldest first.
	ArtifactVersions(ctx context.Context, conversation, name string) ([]agent.Artifact, error)
}

// Branches navigates the tree of turns of a conversation. *store.Store
// implements it.
type Branches interface {
	// Tree returns all turns of a conversation in the order in which they began.
	Tree(ctx context.Context, conversation string) ([]agent.Exchange, error)
	// GoOn makes the next message follow a turn; "" starts a new branch at the
	// root.
	GoOn(ctx context.Context, conversation, turn string) error
	// Show makes the path through a turn current, down to the newest turn below it.
	Show(ctx context.Context, conversation, turn string) error
	// Fork copies the path up to a turn into a new conversation.
	Fork(ctx context.Context, conversation, turn string) (agent.Conversation, error)
}

// Mention is something that can follow an @ in a message.
type Mention struct {
	Name   string // text after the @; if it ends with a slash, it is a folder of files
	Detail string
	Tool   bool // a tool, which is offered only at the beginning of a message
}

// Note is a complete note.
type Note struct {
	Path string // path in its folder of notes
	File string // path in the file system; "" if it is not a file
	Text string
	Line int // line that its name refers to; 0 for none
	Body int // first line after the front matter
}

// Beginning returns the beginning of a note for previews; "" if it cannot be read.
func Beginning(ctx context.Context, from Notes, name string) string {
	n, err := from.Note(ctx, name, "")
	if err != nil {
		return ""
	}
	lines := strings.SplitAfter(n.Text[:min(len(n.Text), previewSize+64<<10)], "\n") // front matter is at most 64 KiB
	text := strings.TrimSpace(strings.Join(lines[min(len(lines), max(0, n.Body-1)):], ""))
	return strings.ToValidUTF8(text[:min(len(text), previewSize)], "")
}

// previewSize bounds a preview of a note or file, in bytes.
const previewSize = 2 << 10

// Templates lists and fills the prompts of the running servers.
type Templates interface {
	Templates() []Template
	// Fill returns the filled prompt for the composer. It is called in the background.
	Fill(ctx context.Context, template string, values map[string]string) (string, error)
}

// Template is a prompt that a server provides.
type Template struct {
	Name   string // server:prompt
	Help   string
	Blanks []Blank
}

// Blank is an argument of a Template.
type Blank struct {
	Name, Help string
	Required   bool
}

// Drafts saves unsent text, so that it survives a kill. *store.Store implements
// it.
type Drafts interface {
	// SaveDraft saves the draft of this process, replacing the previous one.
	SaveDraft(ctx context.Context, d agent.Draft) error
	// LoadDraft moves the draft of an ended process to this one; the zero value
	// means none.
	LoadDraft(ctx context.Context, conversation string) (agent.Draft, error)
	// DraftFile creates a file for editing the saved draft in an external editor.
	DraftFile() (*os.File, error)
}

// CanUndo reports whether there is a command to undo a turn.
func (o *Options) CanUndo() bool {
	return slices.ContainsFunc(o.Commands, func(c Command) bool { return c.Name == "undo" })
}
