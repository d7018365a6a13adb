package main

import (
	"fmt"

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
		e.setmqautCmd(), e.dspmqautCmd(), e.linksCmd(), e.versionCmd())
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

// notYet is the answer of what a later step brings: it says so, and exits with 20.
func notYet(what, step string) error {
	return fmt.Errorf("%s is not in this version; %s brings it (docs/compatibility.md)", what, step)
}

func (e *env) publishCmd() *cobra.Command {
	c := &cobra.Command{Use: "publish QM TOPIC", Short: "publish lines of standard input (not in this version)",
		Args: cobra.ExactArgs(2),
		RunE: func(*cobra.Command, []string) error { return notYet("publish", "publish/subscribe, step 3,") }}
	c.Flags().Bool("retain", false, "keep the publication for later subscribers")
	c.Flags().Bool("persistent", false, "publish persistent messages")
	return c
}

func (e *env) subscribeCmd() *cobra.Command {
	c := &cobra.Command{Use: "subscribe QM TOPIC", Short: "print publications (not in this version)",
		Args: cobra.ExactArgs(2),
		RunE: func(*cobra.Command, []string) error { return notYet("subscribe", "publish/subscribe, step 3,") }}
	c.Flags().Bool("durable", false, "a durable subscription")
	c.Flags().String("name", "", "subscription name")
	c.Flags().Int("count", 0, "end after so many publications")
	c.Flags().Int("wait", -1, "end when none came for so many seconds")
	return c
}
