// Package pcf turns commands in the programmable command format into what the command executor takes, and its replies
// into PCF responses. Commands, attributes and values are looked up in the tables of package attr, by number instead of
// by word; the structures are read and built by package mqi. Nothing is executed here.
package pcf
