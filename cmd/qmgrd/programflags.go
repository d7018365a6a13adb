package main

// The flags of the MQ names: what works, what is taken without effect and what is refused, with the reason. The page
// docs/compatibility.d/commands.md says the same in words; TestCommandFlagsAreDocumented compares them.

const (
	noInstall  = "there are no installations here"
	noStandby  = "there are no standby instances and no switch-over here"
	noClient   = "only queue managers on this machine, through their socket"
	useScripts = "start-up scripts are files of the start: qmgrd start --mqsc FILE QM"
)

var crtFlags = []mqFlag{{name: "-u="}, {name: "-d="}, {name: "-p="}, {name: "-c="}, {name: "-x="}, {name: "-h="}, {name: "-q"},
	{name: "-z", inert: true}, {name: "-lc", inert: true}, {name: "-ll", inert: true}, {name: "-lla", inert: true},
	{name: "-lln", inert: true}, {name: "-lf=", inert: true}, {name: "-lp=", inert: true}, {name: "-ls=", inert: true},
	{name: "-ld=", inert: true}, {name: "-md=", inert: true}, {name: "-g=", inert: true}, {name: "-t=", inert: true},
	{name: "-oa=", inert: true}, {name: "-si", inert: true},
	{name: "-ic=", refused: useScripts}, {name: "-ii=", refused: "qm.ini is made by crtmqm; edit it afterwards"},
	{name: "-iv=", refused: "write the variables into stanza Variables of qm.ini"}, {name: "-sx", refused: noStandby},
	{name: "-sxs", refused: noStandby}, {name: "-lr=", refused: noStandby}}

var strFlags = []mqFlag{{name: "-z", inert: true}, {name: "-ns", inert: true}, {name: "-d=", inert: true}, {name: "-f", inert: true},
	{name: "-si", inert: true}, {name: "-x", inert: true}, {name: "-a", inert: true},
	{name: "-c", refused: "the SYSTEM objects are made by crtmqm; define what was deleted with runmqsc"},
	{name: "-r", refused: "replace the SYSTEM objects with runmqsc"}}

var endFlags = []mqFlag{{name: "-c"}, {name: "-w"}, {name: "-i"}, {name: "-p"}, {name: "-t="}, {name: "-tp="},
	{name: "-r"}, {name: "-z", inert: true}, {name: "-s", refused: noStandby}, {name: "-x", refused: noStandby}}

var dltFlags = []mqFlag{{name: "-z", inert: true}}

var dspmqFlags = []mqFlag{{name: "-m="}, {name: "-a"}, {name: "-o="}, {name: "-x"}, {name: "-n", inert: true},
	{name: "-s", inert: true}, {name: "-i=", refused: noInstall}, {name: "-c=", refused: noInstall}}

var cfgFlags = []mqFlag{{name: "-m="}, {name: "-a"}, {name: "-z"}, {name: "-o="}, {name: "-x="}, {name: "-n="}, {name: "-t="},
	{name: "-c=", refused: noClient}, {name: "-r=", refused: noClient}, {name: "-u=", refused: noClient},
	{name: "-s=", refused: "channels have no sequence numbers to export"}}

var verFlags = []mqFlag{{name: "-a"}, {name: "-b"}, {name: "-f="}, {name: "-p=", inert: true}, {name: "-i", inert: true},
	{name: "-v", inert: true}}

var autFlags = []mqFlag{{name: "-m="}, {name: "-n="}, {name: "-t="}, {name: "-p="}, {name: "-g="}, {name: "-remove"},
	{name: "-s=", inert: true}}
