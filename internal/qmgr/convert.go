package qmgr

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// convertBody does MQGMO_CONVERT for character messages (MQFMT_STRING). On success md says what the data is now. A
// reason code means that the data is as it was, and md with it.
func convertBody(md *mqi.MD, body []byte, ccsid, enc int32, room int) ([]byte, mqi.RC) {
	if ccsid == mqi.MQCCSI_Q_MGR {
		ccsid = 1208
	}
	if md.CodedCharSetID == ccsid && md.Encoding == enc {
		return body, 0
	}
	if md.Format != mqi.MQFMT_STRING {
		return nil, mqi.MQRC_FORMAT_ERROR
	}
	if md.CodedCharSetID != ccsid {
		from, to := charset(md.CodedCharSetID, md.Encoding), charset(ccsid, enc)
		switch {
		case from == nil:
			return nil, mqi.MQRC_SOURCE_CCSID_ERROR
		case to == nil:
			return nil, mqi.MQRC_TARGET_CCSID_ERROR
		}
		text, err := from.NewDecoder().Bytes(body)
		if err != nil {
			return nil, mqi.MQRC_NOT_CONVERTED
		}
		out, err := encoding.ReplaceUnsupported(to.NewEncoder()).Bytes(text)
		switch {
		case err != nil:
			return nil, mqi.MQRC_NOT_CONVERTED
		case len(out) > room:
			return nil, mqi.MQRC_CONVERTED_MSG_TOO_BIG
		}
		body = out
	}
	md.CodedCharSetID, md.Encoding = ccsid, enc
	return body, 0
}

// charset knows the coded character sets of Western, Central European, Cyrillic and Unicode text.
func charset(ccsid, enc int32) encoding.Encoding {
	if e := charsets[ccsid]; e != nil {
		return e
	}
	switch ccsid {
	case 1208:
		return unicode.UTF8
	case 1200, 13488, 17584:
		order := unicode.BigEndian
		if enc&mqi.MQENC_INTEGER_MASK == mqi.MQENC_INTEGER_REVERSED {
			order = unicode.LittleEndian
		}
		return unicode.UTF16(order, unicode.IgnoreBOM)
	case 1202:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

var charsets = map[int32]encoding.Encoding{
	37: charmap.CodePage037, 437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852,
	855: charmap.CodePage855, 858: charmap.CodePage858, 860: charmap.CodePage860, 862: charmap.CodePage862,
	863: charmap.CodePage863, 865: charmap.CodePage865, 866: charmap.CodePage866, 1047: charmap.CodePage1047,
	1140: charmap.CodePage1140, 819: charmap.ISO8859_1, 912: charmap.ISO8859_2, 913: charmap.ISO8859_3,
	914: charmap.ISO8859_4, 915: charmap.ISO8859_5, 916: charmap.ISO8859_8, 920: charmap.ISO8859_9,
	923: charmap.ISO8859_15, 1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252,
	1253: charmap.Windows1253, 1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256,
	1257: charmap.Windows1257, 1258: charmap.Windows1258, 878: charmap.KOI8R,
	5348: charmap.Windows1252, 367: charmap.ISO8859_1,
}
