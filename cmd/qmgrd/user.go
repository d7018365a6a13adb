package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/chzyer/readline"
	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/daemon"
)

// userCmd keeps the users that CONNAUTH checks passwords of.
func (e *env) userCmd() *cobra.Command {
	c := &cobra.Command{Use: "user", Short: "keep the users whose passwords a queue manager checks",
		Long: "user keeps the password file of a queue manager, which AUTHINFO objects of type IDPWOS check passwords by.\n" +
			"A running queue manager takes a change over at REFRESH SECURITY."}
	c.AddCommand(e.userAddCmd(), e.userDeleteCmd(), e.userListCmd())
	return c
}

func (e *env) userAddCmd() *cobra.Command {
	var groups []string
	c := &cobra.Command{Use: "add QM NAME", Short: "add a user, or give one a new password and groups", Args: cobra.ExactArgs(2),
		Long: "add reads the password from standard input, one line, or asks for it twice on a terminal. A member of group\n" +
			auth.AdminGroup + " is an administrator. Without --group a user that exists keeps its groups.",
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			return e.userAdd(dir, args[0], args[1], groups, c.Flags().Changed("group"))
		}}
	c.Flags().StringArrayVarP(&groups, "group", "g", nil, "make the user a member of this `group`; may be given more than once")
	return c
}

func (e *env) userAdd(dir, qm, name string, groups []string, given bool) error {
	if err := auth.ValidUser(name); err != nil {
		return fmt.Errorf("user: %w", err)
	}
	if _, err := daemon.ListUsers(dir, qm); err != nil {
		return err // before anybody types a password for nothing
	}
	password, err := e.newPassword(name)
	if err != nil {
		return err
	}
	err = daemon.EditUsers(dir, qm, func(u *auth.Users) error {
		if old, ok := u.Find(name); ok && !given {
			groups = old.Groups
		}
		return u.Set(name, password, groups)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "user %s of queue manager %s is set; REFRESH SECURITY makes it known where the queue manager runs\n", name, qm)
	return nil
}

// newPassword reads a password.
func (e *env) newPassword(name string) (string, error) {
	f, ok := e.stdin.(*os.File)
	if !ok || !readline.IsTerminal(int(f.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(e.stdin, auth.MaxPassword+2)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2][]byte
	for i, prompt := range [...]string{"Password of " + name + ": ", "Once more: "} {
		fmt.Fprint(e.stderr, prompt)
		b, err := readline.ReadPassword(int(f.Fd()))
		fmt.Fprintln(e.stderr)
		if err != nil {
			return "", err
		}
		typed[i] = b
	}
	if !bytes.Equal(typed[0], typed[1]) {
		return "", errors.New("the two passwords are not the same; nothing was changed")
	}
	return string(typed[0]), nil
}

func (e *env) userDeleteCmd() *cobra.Command {
	return &cobra.Command{Use: "delete QM NAME", Short: "remove a user", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			err = daemon.EditUsers(dir, args[0], func(u *auth.Users) error {
				if !u.Delete(args[1]) {
					return withCode(exitRefused, fmt.Errorf("queue manager %s has no user %s", args[0], args[1]))
				}
				return nil
			})
			if err == nil {
				fmt.Fprintf(e.stdout, "user %s of queue manager %s removed\n", args[1], args[0])
			}
			return err
		}}
}

func (e *env) userListCmd() *cobra.Command {
	return &cobra.Command{Use: "list QM", Short: "show users and their groups", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			list, err := daemon.ListUsers(dir, args[0])
			for _, u := range list {
				fmt.Fprintf(e.stdout, "USER(%s) GROUPS(%s)\n", u.Name, strings.Join(u.Groups, ","))
			}
			return err
		}}
}
