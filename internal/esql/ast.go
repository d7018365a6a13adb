package esql

// The compiled program: expressions and statements in which every name is a slot, a number or a pointer. They are made by the
// parser and evaluate themselves (eval.go, exec.go); after Compile nothing changes them.

type expr interface {
	eval(m *machine) (Value, error)
	at() Pos
}

// listExpr is an expression that gives elements: a SELECT, a path with [], a ROW or LIST constructor.
type listExpr interface {
	expr
	// list gives elements that belong to no tree when owned, else those of the tree itself.
	list(m *machine) (nodes []*Node, owned bool, err error)
	isList() bool
}

func (p Pos) at() Pos { return p }

type (
	literal struct {
		Pos
		v Value
	}
	binary struct {
		Pos
		op   operator
		l, r expr
	}
	logical struct {
		Pos
		or   bool
		l, r expr
	}
	not struct {
		Pos
		x expr
	}
	minus struct {
		Pos
		x expr
	}
	isTest struct {
		Pos
		x    expr
		what string
		not  bool
	}
	between struct {
		Pos
		x, lo, hi      expr
		not, symmetric bool
	}
	inList struct {
		Pos
		x    expr
		list []expr
		not  bool
	}
	like struct {
		Pos
		x, pattern, escape expr
		not                bool
	}
	caseExpr struct {
		Pos
		subject expr
		when    [][2]expr
		other   expr
	}
	castExpr struct {
		Pos
		of                   []expr
		to                   declType
		ccsid, format, other expr
	}
	builtinCall struct {
		Pos
		f    *builtin
		args []expr
	}
	fieldCall struct {
		Pos
		name string
		of   *path
		with *path // of SAMEFIELD
	}
	bitStream struct {
		Pos
		of    *path
		parse parseClause
	}
	listCall struct { // CARDINALITY, EXISTS, SINGULAR, THE
		Pos
		name string
		of   listExpr
	}
	lastMove struct {
		Pos
		ref *variableRef
	}
	special struct { // CURRENT_TIMESTAMP, NodeLabel, …
		Pos
		name string
	}
	userCall struct {
		Pos
		name    string
		routine *routine
		args    []expr
		value   bool // its result is wanted
	}
	selectExpr struct {
		Pos
		item  bool
		star  bool
		items []selectItem
		from  []fromItem
		where expr
		one   bool // THE
	}
	rowExpr struct {
		Pos
		items []selectItem
	}
	listCons struct {
		Pos
		items []expr
	}
)

type selectItem struct {
	x    expr
	name string
}

type fromItem struct {
	of   *path
	slot int
}

// variableRef is a declared name.
type variableRef struct {
	Pos
	name   string
	slot   int
	module bool // in the module's variables, not in the routine's
	typ    declType
	frozen bool // CONSTANT, or a loop's own
}

// Where a path starts.
type rootID uint8

const (
	rootVar rootID = iota
	rootInputRoot
	rootInputBody
	rootInputProperties
	rootInputLE
	rootInputEL
	rootOutputRoot
	rootOutputLE
	rootOutputEL
	rootEnvironment
)

// path is a field reference.
type path struct {
	Pos
	root  rootID
	name  string // as written
	v     *variableRef
	elems []pathElem
	many  bool // the last element has []
}

type nsMode uint8

const (
	nsNone nsMode = iota // elements without a namespace
	nsAny
	nsExpr
)

type indexMode uint8

const (
	indexNone indexMode = iota
	indexLeft
	indexRight
	indexFirst
	indexLast
	indexAll
)

type pathElem struct {
	Pos
	typ     expr
	fixed   Type // typ, when it is known at compile time
	hasType bool
	nsMode  nsMode
	ns      expr
	any     bool
	name    string
	nameOf  expr
	index   indexMode
	n       expr
}

type stmt interface {
	exec(m *machine) (flow, error)
	where() *stmtPos
}

// stmtPos is what a failing statement says of itself.
type stmtPos struct {
	Pos
	file, text string
}

func (s *stmtPos) where() *stmtPos { return s }

type position uint8

const (
	posField position = iota
	posPrevious
	posNext
	posFirst
	posLast
	posParent
)

type nameClause struct {
	typ, ns, name expr
	identity      *pathElem
}

type parseClause struct {
	data                                        expr
	options, encoding, ccsid, set, typ, format_ expr
}

type (
	block struct {
		stmtPos
		label int
		body  []stmt
	}
	declareStmt struct {
		stmtPos
		vars []*variableRef
		init expr
		ref  *path
	}
	setStmt struct {
		stmtPos
		target *path
		part   string // TYPE, NAMESPACE, NAME, VALUE or nothing
		x      expr
	}
	createStmt struct {
		stmtPos
		pos    position
		of     *path
		as     *variableRef
		domain expr
		repeat bool
		names  nameClause
		value  expr
		from   *path
		parse  *parseClause
	}
	deleteStmt struct {
		stmtPos
		pos position
		of  *path
	}
	ifStmt struct {
		stmtPos
		cond expr
		then []stmt
		els  []stmt
	}
	caseStmt struct {
		stmtPos
		subject expr
		when    []caseArm
		other   []stmt
	}
	loopStmt struct {
		stmtPos
		label int
		while expr
		until expr
		body  []stmt
	}
	forStmt struct {
		stmtPos
		v    *variableRef
		of   *path
		body []stmt
	}
	moveStmt struct {
		stmtPos
		ref                    *variableRef
		to                     *path
		pos                    position
		names                  nameClause
		repeatType, repeatName bool
	}
	callStmt struct {
		stmtPos
		call *userCall
		into *path
	}
	propagateStmt struct {
		stmtPos
		terminal            expr
		env, msg, exc       *path
		noFinalize, noClear bool
	}
	throwStmt struct {
		stmtPos
		severity, catalog, message expr
		values                     []expr
	}
	logStmt struct {
		throwStmt
		user bool
	}
	returnStmt struct {
		stmtPos
		x expr
	}
	jumpStmt struct {
		stmtPos
		label   int
		iterate bool
	}
	attachStmt struct {
		stmtPos
		ref *variableRef
		to  *path
		pos position
	}
	detachStmt struct {
		stmtPos
		ref *variableRef
	}
)

type caseArm struct {
	x    expr
	body []stmt
}

type param struct {
	v       *variableRef
	out, in bool
}

// routine is a function or a procedure.
type routine struct {
	Pos
	file     string
	name     string
	function bool
	params   []param
	result   declType
	slots    int
	body     stmt
	calls    []*userCall
	uses     []use // correlation names, for the check of who may call it
}

// use is where a routine outside of a module names what only one kind of module has.
type use struct {
	Pos
	name string
	kind ModuleKind
}
