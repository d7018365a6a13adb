package obs

import "strings"

// Notice is one row of the error log's message table: what a message means and what an operator does about it. The
// text itself comes with the event, because it names the object.
type Notice struct {
	Explanation, Action string
}

// notices are keyed by identifier without its severity letter. The words are ours.
var notices = map[string]Notice{
	"AMQ5008": {"A part of the queue manager ended although nobody asked for it.",
		"Look at the entries before this one; start the queue manager again when the cause is removed."},
	"AMQ5026": {"The program of a listener is ready: clients and channels can connect at the address shown.",
		"None."},
	"AMQ5027": {"A listener has ended; nobody can connect at its address any more.",
		"None when it was asked for. Otherwise START LISTENER."},
	"AMQ5028": {"The program of a service was started.", "None."},
	"AMQ5029": {"The program of a service has ended.",
		"None when it was asked for. Otherwise look at the service's STDERR file, then START SERVICE."},
	"AMQ5032": {"The program of a service could not be started.",
		"Check STARTCMD, the permissions of the file it names and the user id the queue manager runs as."},
	"AMQ5041": {"The queue manager is starting: its store is open and its objects are known.", "None."},
	"AMQ5051": {"Everything is in place, the doors are open and work is accepted.", "None."},
	"AMQ5776": {"A command of a script that runs at every start failed, and the start is strict.",
		"Correct the command at the file and line shown, or start with --mqsc-lenient to log such failures and go on."},
	"AMQ5777": {"A command of a script that runs at every start failed; the start goes on because it is lenient.",
		"Correct the command at the file and line shown."},
	"AMQ5540": {"A program gave no user id and password although it must, or gave a wrong one.",
		"The entry names the object that asks for it. Correct the program's credentials, set the password with qmgrd user add and " +
			"REFRESH SECURITY, or change CHCKCLNT."},
	"AMQ8077": {"A user asked for something that no authority record lets the user, or a group of the user, do.",
		"If it is to be allowed, SET AUTHREC with the object type, a profile and the authority that the entry names."},
	"AMQ8505": {"A command that came as a message was executed, or was none, and what it left (its reply, or itself) could not be " +
		"put where it should go. It lies on the dead-letter queue; the reason code in its header says why.",
		"Look at the reply-to queue the sender named: it must exist, have room, and let the sender put."},
	"AMQ8219": {"The command server, which executes the messages of the command queue, began or ended its work.",
		"None when it was asked for. Otherwise look at the entry before; strmqcsv starts it."},
	"AMQ8507": {"A message of the command server could be put neither where it should go nor on the dead-letter queue, and is gone. " +
		"The command itself was executed.", "Set DEADQ of the queue manager to a queue that exists and has room."},
	"AMQ8508": {"The command server cannot read the command queue, so nobody executes commands that come as messages. They stay " +
		"on the queue.", "Remove the cause (GET(DISABLED), another program that has the queue open), then strmqcsv."},
	"AMQ8509": {"The store refused the units of work of the command server again and again.",
		"Look at the entries of the store, then strmqcsv."},
	"AMQ9245": {"A client connected without any user id.", "Let the client give one, or set MCAUSER of the channel, or a CHLAUTH " +
		"record with USERSRC(MAP)."},
	"AMQ9631": {"What a client uses for TLS is not what SSLCIPH of its channel prescribes.",
		"Give both ends the same, or let the channel take more: SSLCIPH(ANY_TLS12_OR_HIGHER)."},
	"AMQ9633": {"The TLS handshake failed. The text says what this end saw; the program's side may know more.",
		"Check that each end trusts the other's certificate (trust.pem where SSLKEYR leads), that it is in date, and the TLS versions."},
	"AMQ9636": {"The name in the certificate of a client does not fit SSLPEER of its channel.",
		"Use another certificate, or change SSLPEER."},
	"AMQ9637": {"A client sent no certificate, and its channel wants one.", "Give the client a key store, or set SSLCAUTH(OPTIONAL)."},
	"AMQ9657": {"Keys and certificates for TLS cannot be used.", "docs/security.md says where SSLKEYR looks for them and in which form; " +
		"then REFRESH SECURITY TYPE(SSL)."},
	"AMQ9776": {"A channel authentication record of type BLOCKUSER lists the user.",
		"If it is to be allowed, SET CHLAUTH TYPE(BLOCKUSER) for this channel with another list. To let administrators in by a channel " +
			"is a decision to be taken with care."},
	"AMQ9777": {"A channel authentication record with USERSRC(NOACCESS) is the one that fits best.",
		"If it is to be allowed, SET CHLAUTH with a record that fits better; DISPLAY CHLAUTH MATCH(RUNCHECK) shows which one decides."},
	"AMQ9786": {"A channel authentication record of type BLOCKADDR lists the address. Nothing was read from the peer.",
		"If it is to be allowed, take the address off the list: SET CHLAUTH('*') TYPE(BLOCKADDR) ACTION(REMOVE)."},
	"AMQ9798": {"Passwords cross the network readable.", "Use --dev for development only, or bring certificates (docs/dev-setup.md)."},
	"AMQ6109": {"Something happened that the queue manager has no number for.",
		"The text says what. If it comes back, report it with the entries around it."},
	"AMQ6119": {"The store can no longer tell what is on disk, because a write or a sync failed. To go on would risk " +
		"acknowledged messages, so the queue manager ends.",
		"Check the disk and the free space of the data directory, run qmgrd check, then start again."},
	"AMQ6125": {"An internal error ended one request. The queue manager goes on.",
		"Report it together with this entry: it holds the place in the program."},
	"AMQ7017": {"The data directory cannot be used as it is.",
		"The text names the file. Restore it from a backup, or run qmgrd check for the details."},
	"AMQ7472": {"A message of a queue cannot be read back as it was put: its place on disk is damaged. It was given to nobody. The " +
		"program that met it was answered reason 2101; the queue's other messages are served, past it, and it counts in CURDEPTH.",
		"Find out what damaged the disk. With the queue manager stopped, qmgrd check lists every damaged place. When the message can " +
			"be done without, get the others, then CLEAR QLOCAL; otherwise restore the data directory from a backup."},
	"AMQ7463": {"A unit of work or a definition was refused because the file system of the data directory has no room. " +
		"Nothing of it was kept; gets and what else needs no room go on. This entry comes once a minute at most.",
		"Make room on the file system of the data directory, or get messages that are no longer wanted."},
	"AMQ7474": {"A unit of work was written although the disk had been full before it.", "None."},
	"AMQ7487": {"Units of work were prepared by a transaction manager (XA), which has not told their outcome before the queue manager " +
		"ended. Their messages stay hidden, and what they got stays locked.",
		"Start the transaction manager: it asks for them and settles them. If it does not come back, settle them with qmgrd trn resolve."},
	"AMQ7488": {"An operator has settled a unit of work that a transaction manager had prepared. The transaction manager is told when " +
		"it asks for the unit (XA_HEURCOM or XA_HEURRB).",
		"Settle the other resource managers of the same global unit of work in the same way."},
	"AMQ7489": {"Messages that were sent with a delivery delay are due, and their destination does not take them.",
		"The entry names destination and reason. Correct it; messages on SYSTEM.DDELAY.LOCAL.QUEUE are tried again twice a minute."},
	"AMQ7492": {"An orderly end keeps the nonpersistent messages of queues with NPMCLASS(HIGH) in a file. It could not be " +
		"written, most likely because the file system of the data directory has no room.",
		"Make room on the file system of the data directory before the next end. What must not be lost is put persistent."},
	"AMQ7048": {"The store has found something at its start or end that an operator should know. Nothing that was acknowledged " +
		"is lost by it unless the text says so.",
		"None after a power cut or a kill. If it comes back without one, check the disk."},
	"AMQ7077": {"The user asked for something that needs an administrator: root, the user whose process the queue " +
		"manager is, or a member of the administrators' group.",
		"Run it as such a user, or name a group in qm.ini (stanza AdminSocket, key Group)."},
	"AMQ7090": {"A line of qm.ini is not known to this version, so it has no effect.",
		"Correct its spelling or remove it."},
	"AMQ8003": {"The queue manager has begun.", "None."},
	"AMQ8004": {"The queue manager has ended.", "None."},
	"AMQ8156": {"The queue manager is ending and takes no new work.", "None."},
	"AMQ9209": {"A connection was closed by this side before it could be used.", "The text says why."},
	"AMQ9218": {"A listener could not bind its address.",
		"Another program may use the port (ss -ltnp shows it), or the address is not one of this machine."},
}

// Explain finds the row of an identifier, with or without its severity letter.
func Explain(id string) (Notice, bool) {
	n, ok := notices[strings.TrimRight(id, "IWEST")]
	return n, ok
}
