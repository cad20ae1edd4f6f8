package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/evalmodels"
	"lifehub/rag"
	"lifehub/rag/eval"
	"lifehub/tui/draw"
)

func newEval(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure how well the search finds your own notes",
		Long: "Measure how well the search finds your own notes: titles and headings are asked as questions, and the note each\n" +
			"was taken from should be found: by keywords, by meaning, and by both. Needs no chat model, changes nothing.",
		Example: "  lifehub eval\n  lifehub eval --notes ~/notes -n 500 --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runEval(cmd.Context(), sh, flags, most, asJSON) },
	}
	cmd.AddCommand(evalmodels.New(sh))
	app.RegisterNotes(&flags, cmd)
	app.AddNumber(cmd, &most, 200, 1, "questions", "maximum number of questions per notes folder")
	app.AddJSON(cmd, &asJSON, "print one JSON object")
	return cmd
}

// ownFigures is the result of the evaluation.
type ownFigures struct {
	Titles   int            `json:"titles"`   // questions from titles
	Headings int            `json:"headings"` // questions from headings
	Notes    int            `json:"notes"`
	Embedder string         `json:"embedder"`
	Settings []eval.Setting `json:"settings"`
	Advice   string         `json:"advice"`
}

func runEval(ctx context.Context, sh *app.Process, flags app.RunFlags, most int, asJSON bool) error {
	a, err := app.OpenNotes(sh, flags)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.NeedsNotes(); err != nil {
		return err
	}
	if err := a.Ready(ctx, app.NewBar(sh)); err != nil {
		return err
	}
	figures, err := measureOwn(ctx, a, most)
	if err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(sh, "figures", figures)
	}
	return printFigures(sh, figures)
}

// measureOwn asks the notes' own titles and headings with keyword search, semantic search and both.
func measureOwn(ctx context.Context, a *app.App, most int) (ownFigures, error) {
	var f ownFigures
	var questions []eval.OwnQuestion
	for _, v := range a.OpenVaults() {
		own, err := eval.OwnQuestions(ctx, v.Folder, most)
		if err != nil {
			return f, err
		}
		questions = append(questions, own...)
	}
	for _, q := range questions {
		if q.Heading {
			f.Headings++
		} else {
			f.Titles++
		}
	}
	for _, way := range []struct {
		name string
		side rag.Side
	}{{"words", rag.KeywordsAlone}, {"meaning", rag.SemanticAlone}, {"both", rag.Both}} {
		setting, err := eval.AskOwn(ctx, a, questions, way.name, way.side)
		if err != nil {
			return f, err
		}
		f.Settings = append(f.Settings, setting)
	}
	coverage, err := a.Library().Coverage(ctx)
	f.Notes, f.Embedder = coverage.Indexed, coverage.Embedder
	f.Advice = eval.Advice(f.Settings[0], f.Settings[1], f.Settings[2])
	return f, err
}

func printFigures(sh *app.Process, f ownFigures) error {
	text := fmt.Sprintf("%s and %s of %s, asked as questions\n\n%-9s %9s %7s %7s %7s\n",
		draw.Count(f.Titles, "title"), draw.Count(f.Headings, "heading"), draw.Count(f.Notes, "note"), "", "first", "in 5", "in 10", "MRR")
	for _, s := range f.Settings {
		text += fmt.Sprintf("%-9s %7.1f %% %5.1f %% %5.1f %% %7.3f\n", s.Name, 100*s.First, 100*s.InFive, 100*s.InTen, s.MRR)
	}
	text += "\n" + f.Advice + "\n"
	return app.PrintText(sh, "figures", text)
}
