package esql

import (
	"strings"
	"testing"
	"time"
)

// testNow is the moment of all runs here, at +01:00.
var testNow = time.Date(2026, 3, 5, 14, 30, 15, 123456000, time.FixedZone("", 3600))

const exprInput = `
XMLNSC
  a
    leaf 'text'
    empty ''
    null (NameValue) NULL
    bare (Name)
    n 5
    item 1
    item 2
    item 3
`

// value runs SET of one expression and gives the result as a literal, or the error's text.
func value(t *testing.T, x string) string {
	t.Helper()
	src := "CREATE COMPUTE MODULE T CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n DECLARE i INTEGER 7; DECLARE none CHARACTER;\nSET Environment.r VALUE = " +
		x + ";\nRETURN TRUE; END; END MODULE;"
	p, err := Compile("", []byte(src), Options{})
	if err != nil {
		return "compile: " + strings.TrimSpace(err.Error())
	}
	inv := &Invocation{InputRoot: readTree(t, exprInput), Now: testNow, Seed: 1, QueueManagerName: "QM1", NodeLabel: "N", MessageFlowLabel: "F",
		Host: &recorder{}, Domain: func(name string) (Domain, bool) { return lazyBody{}, name == "XMLNSC" }}
	if _, err := p.Modules()[0].Run(inv); err != nil {
		e := *err.(*Exception)
		if e.Line == 0 || e.Statement == "" || e.Module != "T" || e.Function != "Main" {
			t.Errorf("%s: the exception has no place: %+v", x, e)
		}
		e.Line = 0
		return e.Error()
	}
	return inv.Environment.Child("r").Value().String()
}

// table: every line is an expression, =>, and its value; "!" begins a part of the error that is wanted instead.
func table(t *testing.T, rules string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(rules), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		x, want, ok := strings.Cut(line, "=>")
		if !ok {
			t.Fatalf("no => in %q", line)
		}
		want = strings.TrimSpace(want)
		got := value(t, strings.TrimSpace(x))
		if part, isErr := strings.CutPrefix(want, "!"); isErr && strings.Contains(got, strings.TrimSpace(part)) && part != "" {
			continue
		}
		if got != want {
			t.Errorf("%s\n  is   %s\n  want %s", strings.TrimSpace(x), got, want)
		}
	}
}

// EQ-4, facts 4.4: NULL and the truth table; evaluation stops as soon as the result is fixed.
func TestNull(t *testing.T) {
	table(t, `
	InputRoot.XMLNSC.a.nothing                 => NULL
	InputRoot.XMLNSC.a.nothing IS NULL         => TRUE
	InputRoot.XMLNSC.a.nothing.deeper IS NULL  => TRUE
	InputRoot.JSON.Data IS NULL                => TRUE
	InputRoot.XMLNSC.a IS NULL                 => FALSE
	InputRoot.XMLNSC.a IS NOT NULL             => TRUE
	InputRoot.XMLNSC.a.empty IS NULL           => FALSE
	InputRoot.XMLNSC.a.null IS NULL            => TRUE
	InputRoot.XMLNSC.a.bare IS NULL            => TRUE
	InputRoot.XMLNSC.a.empty = ''              => TRUE
	none IS NULL                               => TRUE
	1 + NULL                                   => NULL
	'a' || none                                => NULL
	NULL = NULL                                => NULL
	none = 'a'                                 => NULL
	none <> 'a'                                => NULL
	LENGTH(none)                               => NULL
	TRUE AND TRUE   => TRUE
	TRUE AND FALSE  => FALSE
	TRUE AND UNKNOWN => NULL
	FALSE AND FALSE => FALSE
	FALSE AND UNKNOWN => FALSE
	UNKNOWN AND FALSE => FALSE
	UNKNOWN AND UNKNOWN => NULL
	UNKNOWN AND TRUE => NULL
	TRUE OR TRUE    => TRUE
	TRUE OR FALSE   => TRUE
	FALSE OR TRUE   => TRUE
	TRUE OR UNKNOWN => TRUE
	UNKNOWN OR TRUE => TRUE
	FALSE OR FALSE  => FALSE
	FALSE OR UNKNOWN => NULL
	UNKNOWN OR FALSE => NULL
	UNKNOWN OR UNKNOWN => NULL
	NOT TRUE        => FALSE
	NOT FALSE       => TRUE
	NOT UNKNOWN     => NULL
	FALSE AND 1/0 = 1 => FALSE
	TRUE OR 1/0 = 1   => TRUE
	TRUE AND 1/0 = 1  => ! division by zero
	UNKNOWN IS UNKNOWN => TRUE
	UNKNOWN IS NOT TRUE => TRUE
	TRUE IS TRUE => TRUE
	FALSE IS NOT FALSE => FALSE
	none IS TRUE => FALSE
	1 IS NUM => TRUE
	'a' IS NUM => FALSE
	CAST('NaN' AS FLOAT) IS NAN => TRUE
	CAST('inf' AS FLOAT) IS INF => TRUE
	CASE WHEN none = 1 THEN 'then' ELSE 'else' END => 'else'
	CASE none WHEN none THEN 'then' END => NULL
	CASE i WHEN 6 THEN 'six' WHEN 7 THEN 'seven' ELSE 'else' END => 'seven'
	5 AND TRUE => ! a BOOLEAN is wanted
	COALESCE(none, NULL, 'x', 1/0) => ! division by zero
	COALESCE(none, NULL, 'x') => 'x'
	COALESCE(none) => NULL
	NULLIF(1, 1) => NULL
	NULLIF(1, 2) => 1
	NULLIF(1, none) => 1
	`)
}

// Facts 4.4 precedence, with || between * and + as the product's documentation has it.
func TestOperators(t *testing.T) {
	table(t, `
	1 + 2 * 3 => 7
	(1 + 2) * 3 => 9
	-2 * -3 => 6
	- -2 => 2
	+5 => 5
	'a' || 'b' || 'c' => 'abc'
	7 - 2 - 1 => 4
	2 + 3 = 5 AND NOT 1 = 2 OR FALSE => TRUE
	NOT FALSE AND FALSE => FALSE
	FALSE AND FALSE OR TRUE => TRUE
	'a' || 'b' = 'ab' => TRUE
	'1' + '2' => ! characters are joined by ||
	1 + '2' => ! CAST the CHARACTER AS INTEGER
	'a' || 1 => ! CAST to CHARACTER
	X'01' || X'02' => X'0102'
	B'1' || B'0' => B'10'
	# integers
	7 / 2 => 3
	-7 / 2 => -3
	1 / 0 => ! division by zero
	9223372036854775807 + 1 => ! more than an INTEGER holds
	-9223372036854775808 - 1 => ! more than an INTEGER holds
	9223372036854775807 * 2 => ! more than an INTEGER holds
	-9223372036854775808 / -1 => ! more than an INTEGER holds
	- -9223372036854775808 => ! is more than an INTEGER holds
	3037000500 * 3037000500 => ! more than an INTEGER holds
	-4611686018427387904 * 2 => -9223372036854775808
	0x1F => 31
	# decimals and floats
	1.5 + 1 => 2.5
	0.1 + 0.2 => 0.3
	1.10 + 2.20 => 3.30
	1.5 * 1.5 => 2.25
	1.0 / 3 => 0.3333333333333333333333333333333333
	10.0 / 4 => 2.5
	2.0 / 3 => 0.6666666666666666666666666666666667
	1.0 / 0 => ! division by zero
	9223372036854775808 + 1 => 9223372036854775809
	1.2e3 + 1 => 1.201E+3
	1e0 / 4 => 2.5E-1
	1e0 / 0 => ! division by zero
	1e308 * 10 => ! more than a FLOAT holds
	0.5e0 + 0.25 => 7.5E-1
	DECIMAL '42' + 1 => 43
	-1.50 => -1.50
	# comparisons
	1 < 2 => TRUE
	2 <= 2 => TRUE
	2 >= 3 => FALSE
	1 <> 1.0 => FALSE
	1 = 1.0e0 => TRUE
	'a' < 'b' => TRUE
	'hello' = 'hello  ' => TRUE
	'hello' = ' hello' => FALSE
	'10' = 10 => TRUE
	10 = '10.0' => TRUE
	'9' < 10 => TRUE
	1.5 = '1.50' => TRUE
	'x' = 1 => ! cannot become
	TRUE = 'true' => TRUE
	X'01' < X'02' => TRUE
	X'01' = '01' => TRUE
	TRUE = 1 => ! cannot be compared
	DATE '2020-01-31' = '2020-01-31' => TRUE
	DATE '2020-01-31' < TIMESTAMP '2020-01-31 00:00:01' => TRUE
	TIME '10:00:00' > '09:59:59' => TRUE
	GMTTIMESTAMP '2020-01-31 09:00:00' = TIMESTAMP '2020-01-31 10:00:00' => TRUE
	5 BETWEEN 1 AND 5 => TRUE
	5 NOT BETWEEN 1 AND 5 => FALSE
	5 BETWEEN 7 AND 1 => FALSE
	5 BETWEEN SYMMETRIC 7 AND 1 => TRUE
	5 BETWEEN ASYMMETRIC 1 AND none => NULL
	5 BETWEEN 6 AND none => FALSE
	2 IN (1, 2, 3) => TRUE
	2 NOT IN (1, 2, 3) => FALSE
	4 IN (1, 2, none) => NULL
	4 IN (1, 2) => FALSE
	2 IN (none, 2) => TRUE
	'abc' LIKE 'a%' => TRUE
	'abc' LIKE '_b_' => TRUE
	'abc' LIKE 'b%' => FALSE
	'abc' NOT LIKE '%c' => FALSE
	'a%c' LIKE 'a\%c' => TRUE
	'abc' LIKE 'a\%c' => FALSE
	'a%c' LIKE 'a!%c' ESCAPE '!' => TRUE
	'größe' LIKE 'gr__e' => TRUE
	'aXbXc' LIKE '%X%c' => TRUE
	'' LIKE '%' => TRUE
	none LIKE 'a' => NULL
	5 LIKE '5' => ! LIKE is for CHARACTER
	`)
}

// Facts 8, string functions (EQ-12).
func TestStringFunctions(t *testing.T) {
	table(t, `
	LENGTH('größe') => 5
	LENGTH('') => 0
	LENGTH(X'0102') => 2
	LENGTH(5) => ! LENGTH: INTEGER 5
	LEFT('abc', 2) => 'ab'
	LEFT('abc', 9) => 'abc'
	LEFT('abc', -1) => ''
	RIGHT('größe', 2) => 'ße'
	RIGHT('abc', 0) => ''
	SUBSTRING('hello' FROM 2) => 'ello'
	SUBSTRING('hello' FROM 2 FOR 3) => 'ell'
	SUBSTRING('größe' FROM 3 FOR 2) => 'öß'
	SUBSTRING('hello' FROM -1 FOR 4) => 'he'
	SUBSTRING('hello' FROM 9) => ''
	SUBSTRING('hello' FROM 2 FOR 0) => ''
	SUBSTRING('hello' FROM 2 FOR -1) => ! a length of 0 or more
	SUBSTRING('hello' FROM 'x') => ! an INTEGER is wanted
	SUBSTRING(X'010203' FROM 2 FOR 1) => X'02'
	SUBSTRING('a=b=c' BEFORE '=') => 'a'
	SUBSTRING('a=b=c' AFTER '=') => 'b=c'
	SUBSTRING('abc=def' BEFORE '=' FOR 2) => 'bc'
	SUBSTRING('abc=def' AFTER '=' FOR 2) => 'de'
	SUBSTRING('abc' BEFORE 'x') => ''
	SUBSTRING(none FROM 1) => NULL
	POSITION('l' IN 'hello') => 3
	POSITION('x' IN 'hello') => 0
	POSITION('ß' IN 'größe') => 4
	POSITION('l' IN 'hello' FROM 4) => 4
	POSITION('l' IN 'hello' REPEAT 2) => 4
	POSITION('l' IN 'hello' REPEAT 3) => 0
	POSITION('B' IN 'ABCABCABCABCABC' REPEAT -1) => 14
	POSITION('CA' IN 'ABCABCABCABCABC' REPEAT -1) => 12
	POSITION('BC' IN 'ABCABCABCABCABC' REPEAT -3) => 8
	POSITION('A' IN 'ABCABCABCABCABC' REPEAT -2) => 10
	POSITION('B' IN 'ABCABCABCABCABC' FROM 10 REPEAT -1) => 8
	POSITION('BC' IN 'ABCABCABCABCABC' FROM 10 REPEAT -3) => 2
	POSITION('BC' IN 'ABCABCABCABCABC' FROM 12 REPEAT -3) => 5
	POSITION('' IN 'abc') => 1
	POSITION(none IN 'abc') => NULL
	POSITION('a' IN X'61') => ! the type of X'61'
	UPPER('größe') => 'GRÖßE'
	UCASE('a') => 'A'
	LOWER('ÄB') => 'äb'
	LCASE('Q') => 'q'
	UPPER(1) => ! a CHARACTER is wanted
	TRIM('  a ') => 'a'
	TRIM(LEADING FROM '  a ') => 'a '
	TRIM(TRAILING FROM '  a ') => '  a'
	TRIM(BOTH 'x' FROM 'xxaxx') => 'a'
	TRIM('x' FROM 'xax') => 'a'
	TRIM(LEADING '0' FROM '0070') => '70'
	TRIM('xy' FROM 'a') => ! one character
	TRIM(X'0001000000') => X'01'
	LTRIM('  a ') => 'a '
	RTRIM('  a ') => '  a'
	REPLACE('banana', 'an', 'AN') => 'bANANa'
	REPLACE('banana', 'a') => 'bnn'
	REPLACE('banana', '', 'x') => 'banana'
	REPLICATE('ab', 3) => 'ababab'
	REPLICATE('ab', 0) => ''
	REPLICATE('ab', -3) => ''
	REPLICATE('ab', 9223372036854775807) => ! longer than the
	SPACE(3) => '   '
	OVERLAY('ABCDEFGHIJ' PLACING '1234' FROM 4 FOR 3) => 'ABC1234GHIJ'
	OVERLAY('ABCDEF' PLACING 'xy' FROM 2) => 'AxyDEF'
	OVERLAY('ABC' PLACING 'xy' FROM 9) => 'ABCxy'
	OVERLAY('ABC' PLACING 'xy' FROM 0) => ! 1 or more
	TRANSLATE('abcba', 'ab', 'xy') => 'xycyx'
	TRANSLATE('a-b-c', '-', '') => 'abc'
	TRANSLATE('a-b-c', '-') => 'abc'
	CONTAINS('hello', 'ell') => TRUE
	CONTAINS('hello', 'x') => FALSE
	STARTSWITH('hello', 'he') => TRUE
	ENDSWITH('hello', 'he') => FALSE
	ENDSWITH(X'0102', X'02') => TRUE
	CONTAINS('a', X'61') => ! the type of 'a'
	BASE64ENCODE(X'010203') => 'AQID'
	BASE64ENCODE('hi') => 'aGk='
	BASE64DECODE('AQID') => X'010203'
	BASE64DECODE('?') => ! not base64
	BASE64DECODE(none) => NULL
	LENGTH(UUIDASBLOB()) => 16
	LENGTH(UUIDASCHAR()) => 36
	UUIDASBLOB(UUIDASCHAR(X'000102030405060708090a0b0c0d0e0f')) => X'000102030405060708090a0b0c0d0e0f'
	UUIDASCHAR() = UUIDASCHAR() => FALSE
	UUIDASBLOB('x') => ! no UUID
	`)
}

// Facts 8, numeric functions. ROUND goes to even and keeps the type.
func TestNumericFunctions(t *testing.T) {
	table(t, `
	ABS(-5) => 5
	ABS(-5.5) => 5.5
	ABS(-5e0) => 5E+0
	ABS('x') => ! a number is wanted
	ABS(-9223372036854775808) => ! more than an INTEGER holds
	MOD(7, 3) => 1
	MOD(-7, 3) => -1
	MOD(7, 0) => ! division by zero
	MOD(-9223372036854775808, -1) => 0
	MOD(7.5, 2) => ! an INTEGER is wanted
	ROUND(27.75, 2) => 27.75
	ROUND(27.75, 1) => 27.8
	ROUND(27.75, 0) => 28
	ROUND(2.5, 0) => 2
	ROUND(3.5, 0) => 4
	ROUND(-2.5, 0) => -2
	ROUND(2.5, 0 MODE ROUND_HALF_UP) => 3
	ROUND(2.5, 0 MODE ROUND_HALF_DOWN) => 2
	ROUND(1.1, 0 MODE ROUND_UP) => 2
	ROUND(-1.6, 0 MODE ROUND_DOWN) => -1
	ROUND(-1.1, 0 MODE ROUND_CEILING) => -1
	ROUND(-1.1, 0 MODE ROUND_FLOOR) => -2
	ROUND(1234, -2) => 1200
	ROUND(1250, -2) => 1200
	ROUND(1350, -2) => 1400
	ROUND(1234.5, -2) => 1200
	ROUND(1234.5e0, 0) => 1.234E+3
	ROUND(1, 'x') => ! number of places
	ROUND(5, 3) => 5
	TRUNCATE(27.79, 1) => 27.7
	TRUNCATE(-27.79, 0) => -27
	TRUNCATE(1299, -2) => 1200
	FLOOR(2.7) => 2
	FLOOR(-2.1) => -3
	FLOOR(-2.1e0) => -3E+0
	CEIL(2.1) => 3
	CEILING(-2.7) => -2
	SIGN(-3) => -1
	SIGN(0.0) => 0
	SIGN(2e1) => 1
	POWER(2, 10) => 1024
	POWER(1.1, 2) => 1.21
	POWER(2, -1) => 5E-1
	POWER(2, 70) => 1.1805916207174113E+21
	POWER(0, -1) => ! no FLOAT
	SQRT(16) => 4E+0
	SQRT(-1) => ! is negative
	RAND(1) BETWEEN 0 AND 1 => TRUE
	RAND(1) = RAND(1) => TRUE
	RAND() = RAND() => FALSE
	`)
}

// Facts 8, dates: CURRENT_* stand still, arithmetic follows the calendar.
func TestMoments(t *testing.T) {
	table(t, `
	CURRENT_DATE => DATE '2026-03-05'
	CURRENT_TIME => TIME '14:30:15.123456'
	CURRENT_TIMESTAMP => TIMESTAMP '2026-03-05 14:30:15.123456'
	CURRENT_GMTDATE => DATE '2026-03-05'
	CURRENT_GMTTIME => GMTTIME '13:30:15.123456'
	CURRENT_GMTTIMESTAMP => GMTTIMESTAMP '2026-03-05 13:30:15.123456'
	LOCAL_TIMEZONE => INTERVAL '1:00'
	DATE '2024-02-29' => DATE '2024-02-29'
	DATE '2023-02-29' => ! is no DATE
	TIME '24:00:00' => ! is no TIME
	TIMESTAMP '2020-01-31 10:00:00.5' => TIMESTAMP '2020-01-31 10:00:00.500000'
	DATE '2024-01-31' + INTERVAL '1' MONTH => DATE '2024-02-29'
	DATE '2024-02-29' + INTERVAL '1' YEAR => DATE '2025-02-28'
	DATE '2024-03-31' - INTERVAL '1' MONTH => DATE '2024-02-29'
	DATE '2024-12-31' + INTERVAL '1' DAY => DATE '2025-01-01'
	INTERVAL '1' DAY + DATE '2024-12-31' => DATE '2025-01-01'
	DATE '2024-03-01' - DATE '2024-02-01' => INTERVAL '29'
	TIMESTAMP '2024-01-01 00:00:00' - INTERVAL '1' SECOND => TIMESTAMP '2023-12-31 23:59:59'
	TIMESTAMP '2024-01-02 01:00:00' - TIMESTAMP '2024-01-01 00:00:00' => INTERVAL '1 01:00:00'
	TIME '23:30:00' + INTERVAL '1' HOUR => TIME '00:30:00'
	TIME '10:00:00' - TIME '09:15:00' => INTERVAL '0:45:00'
	TIME '10:00:00' + INTERVAL '1' MONTH => ! has no months
	INTERVAL '90' MINUTE + INTERVAL '1' HOUR => INTERVAL '2:30'
	INTERVAL '1' MONTH + INTERVAL '1' DAY => ! no fixed number of days
	INTERVAL '2' HOUR * 3 => INTERVAL '6'
	3 * INTERVAL '2' HOUR => INTERVAL '6'
	INTERVAL '3' HOUR / 2 = INTERVAL '90' MINUTE => TRUE
	INTERVAL -'10' YEAR => INTERVAL '-10'
	INTERVAL '2-06' YEAR TO MONTH => INTERVAL '2-06'
	INTERVAL '1 02:03:04.5' DAY TO SECOND => INTERVAL '1 02:03:04.5'
	INTERVAL '5' => ! expected YEAR
	INTERVAL '1-2' DAY TO HOUR = INTERVAL '1 2' DAY TO HOUR => TRUE
	DATE '9999-12-31' + INTERVAL '1' DAY => ! outside of the years
	DATE '2024-01-01' + 1 => ! do not go together
	DATE '2024-01-01' + DATE '2024-01-01' => ! do not go together
	EXTRACT(YEAR FROM DATE '2024-02-29') => 2024
	EXTRACT(MONTH FROM TIMESTAMP '2024-02-29 10:11:12.5') => 2
	EXTRACT(DAY FROM DATE '2024-02-29') => 29
	EXTRACT(HOUR FROM TIME '10:11:12') => 10
	EXTRACT(MINUTE FROM TIME '10:11:12') => 11
	EXTRACT(SECOND FROM TIME '10:11:12.5') => 12.5
	EXTRACT(SECOND FROM TIME '10:11:12') => 12
	EXTRACT(DAYOFYEAR FROM DATE '2024-12-31') => 366
	EXTRACT(DAYOFWEEK FROM DATE '2026-03-05') => 5
	EXTRACT(QUARTEROFYEAR FROM DATE '2026-03-05') => 1
	EXTRACT(ISLEAPYEAR FROM DATE '2024-01-01') => TRUE
	EXTRACT(DAYS FROM DATE '0001-01-01') => 1
	EXTRACT(HOUR FROM DATE '2024-01-01') => ! a TIME or TIMESTAMP
	EXTRACT(YEAR FROM TIME '10:00:00') => ! a DATE or TIMESTAMP
	EXTRACT(HOUR FROM INTERVAL '1 02:03:04' DAY TO SECOND) => 2
	EXTRACT(DAY FROM INTERVAL '1 02:03:04' DAY TO SECOND) => 1
	EXTRACT(MONTH FROM INTERVAL '2-06' YEAR TO MONTH) => 6
	`)
}

// Paths in expressions, facts 2 and 4.
func TestPathsAndLists(t *testing.T) {
	table(t, `
	InputRoot.XMLNSC.a.leaf => 'text'
	InputBody.a.leaf => 'text'
	InputRoot.XMLNSC.a.item => 1
	InputRoot.XMLNSC.a.item[2] => 2
	InputRoot.XMLNSC.a.item[>2] => 2
	InputRoot.XMLNSC.a.item[<] => 3
	InputRoot.XMLNSC.a.item[<1] => 3
	InputRoot.XMLNSC.a.item[<3] => 1
	InputRoot.XMLNSC.a.item[>] => 1
	InputRoot.XMLNSC.a.item[4] => NULL
	InputRoot.XMLNSC.a.item[i - 5] => 2
	InputRoot.XMLNSC.a.item[0] => ! an index begins with 1
	InputRoot.XMLNSC.a.item[i - 7] => ! BIP2434: an index begins with 1
	InputRoot.XMLNSC.a.item['<'] => ! write [<]
	InputRoot.XMLNSC.a.item['2'] => ! an index is an INTEGER
	InputRoot.XMLNSC.a.item[none] => ! BIP2434
	InputRoot.XMLNSC.a.*[1] => 'text'
	InputRoot.XMLNSC.a.[1] => 'text'
	InputRoot.*[<].a.leaf => 'text'
	InputRoot.XMLNSC.a.{'le' || 'af'} => 'text'
	InputRoot.XMLNSC.a."leaf" => 'text'
	InputRoot.XMLNSC.a.LEAF => NULL
	inputroot.XMLNSC.a.leaf => 'text'
	InputRoot.XMLNSC.a.*:leaf => 'text'
	InputRoot.XMLNSC.a.:leaf => 'text'
	InputRoot.XMLNSC.a.{'urn:x'}:leaf => NULL
	InputRoot.XMLNSC.a.(NameValue)leaf => 'text'
	InputRoot.XMLNSC.a.(XMLNSC.Attribute)leaf => NULL
	InputRoot.XMLNSC.a.(XMLNSC.Field)leaf => 'text'
	CARDINALITY(InputRoot.XMLNSC.a.item[]) => 3
	CARDINALITY(InputRoot.XMLNSC.a.*[]) => 8
	CARDINALITY(InputRoot.XMLNSC.a.nothing[]) => 0
	CARDINALITY(InputRoot.XMLNSC.b.nothing[]) => 0
	EXISTS(InputRoot.XMLNSC.a.item[]) => TRUE
	EXISTS(InputRoot.XMLNSC.a.nothing[]) => FALSE
	SINGULAR(InputRoot.XMLNSC.a.item[]) => FALSE
	SINGULAR(InputRoot.XMLNSC.a.leaf[]) => TRUE
	THE(InputRoot.XMLNSC.a.item[]) => 1
	THE(SELECT ITEM T FROM InputRoot.XMLNSC.a.item[] AS T WHERE T > 1) => 2
	CARDINALITY(SELECT T FROM InputRoot.XMLNSC.a.item[] AS T WHERE T > 1) => 2
	EXISTS(SELECT * FROM InputRoot.XMLNSC.a.item[] AS T WHERE T > 9) => FALSE
	THE(SELECT ITEM T FROM InputRoot.XMLNSC.a.item[] AS T WHERE T > 9) => NULL
	CARDINALITY(SELECT A, B FROM InputRoot.XMLNSC.a.item[] AS A, InputRoot.XMLNSC.a.item[] AS B WHERE A < B) => 3
	CARDINALITY(LIST{1, 2}) => 2
	FIELDNAME(InputBody) => 'XMLNSC'
	FIELDNAME(InputRoot.*[<]) => 'XMLNSC'
	FIELDNAME(InputRoot.XMLNSC.nothing) => NULL
	FIELDNAMESPACE(InputBody) => ''
	FIELDTYPE(InputRoot.XMLNSC.a.leaf) = NameValue => TRUE
	FIELDTYPE(InputRoot.XMLNSC.a) = Name => TRUE
	FIELDVALUE(InputRoot.XMLNSC.a.leaf) => 'text'
	FIELDVALUE(i) => 7
	FIELDNAME(i) => ! no field
	SAMEFIELD(InputBody, InputRoot.XMLNSC) => TRUE
	SAMEFIELD(InputRoot.XMLNSC.x, InputRoot.XMLNSC.x) => FALSE
	CAST(ASBITSTREAM(InputRoot.XMLNSC.a CCSID 1208) AS CHAR CCSID 1208) => '<leaf>text</><empty></><null></><bare></><n></><item></><item></><item></>'
	ASBITSTREAM(Environment.x) => NULL
	ASBITSTREAM(Environment, 546, 1208) => ! belongs to no domain
	InputRoot.XMLNSC.a.item[] => ! [] is a list
	InputRoot.XMLNSC.a.item[] + 1 => ! [] is a list
	(SELECT T FROM InputRoot.XMLNSC.a.item[] AS T) => ! take one of it with THE
	i.x => ! has no fields
	i[1] => ! an index belongs to a field
	InputRoot.XMLNSC.a.'leaf' => ! double quotes
	QueueManagerName || ExecutionGroupLabel || BrokerName || NodeLabel || MessageFlowLabel => 'QM1QM1QM1NF'
	MQMD_CURRENT_VERSION => 2
	MQFMT_STRING => 'MQSTR   '
	MQRO_PASS_CORREL_ID + MQRO_COA => 320
	LENGTH(MQMI_NONE) => 24
	MQNO_SUCH => ! no MQ constant has this name
	SLEEP(5) => TRUE
	SLEEP(-1) => ! milliseconds
	SQLCODE => ! is not offered
	`)
}
