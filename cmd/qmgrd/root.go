package main

import (
	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/paths"
)

// root builds the command tree.
func (e *env) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "qmgrd",
		Short: "a queue manager for unchanged MQ programs and MQSC scripts",
		Long: "qmgrd runs queue managers that unchanged MQ client programs and MQSC scripts work against.\n" +
			"Exit codes: 0 done, 10 the queue manager refused something, 20 nothing could be done.",
		SilenceUsage: true, SilenceErrors: true,
	}
	c.SetOut(e.stdout)
	c.SetErr(e.stderr)
	c.SetIn(e.stdin)
	c.PersistentFlags().String("data", "", "data `directory` (default $QMGRD_DATA, else /var/lib/qmgrd or ~/.local/state/qmgrd)")
	c.AddCommand(e.createCmd(), e.startCmd(), e.stopCmd(), e.statusCmd(), e.deleteCmd(), e.exportCmd(), e.checkCmd(),
		e.putCmd(), e.getCmd(), e.browseCmd(), e.publishCmd(), e.subscribeCmd(),
		e.userCmd(), e.setmqautCmd(), e.dspmqautCmd(), e.trigmonCmd(), e.dlqhandlerCmd(), e.trnCmd(), e.topCmd(), e.linksCmd(), e.versionCmd())
	return c
}

// dataDir resolves --data.
func dataDir(c *cobra.Command) (string, error) {
	flag, err := c.Flags().GetString("data")
	if err != nil {
		return "", err
	}
	return paths.DataDir(flag)
}
