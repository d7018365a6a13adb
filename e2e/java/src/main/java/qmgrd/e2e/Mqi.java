package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.reason;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Target.gmo;
import static qmgrd.e2e.Target.pmo;
import static qmgrd.e2e.Target.text;

import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import java.util.Arrays;

/**
 * What base classes ask of a queue manager beside the plain verbs of {@link Base}: groups and segments, properties, marks of
 * browsers, model queues, reports. Arguments as {@link Target}; who connects must be an administrator.
 */
public final class Mqi {
    private final Target target;
    private final Admin admin;

    private Mqi(Target t) {
        target = t;
        admin = new Admin(t);
    }

    public static void main(String[] args) throws Exception {
        Mqi m = new Mqi(new Target(args));
        Checks c = new Checks(args, () -> m.admin.queue(m.target.queue, "MSGDLVSQ(FIFO) PROPCTL(COMPAT)"));
        c.check("group", () -> m.with(m::group));
        c.check("segments", () -> m.with(m::segments));
        c.check("properties", () -> m.with(m::properties));
        c.check("propctl", () -> m.with(m::propctl));
        c.check("marks", () -> m.with(m::marks));
        c.check("lock", () -> m.with(m::lock));
        c.check("model", () -> m.with(m::model));
        c.check("reports", () -> m.with(m::reports));
        c.check("token", () -> m.with(m::byMsgId));
        c.check("context", () -> m.with(m::passContext));
        c.exit();
    }

    private interface Act {
        void with(MQQueueManager m, MQQueue q) throws Exception;
    }

    private void with(Act act) throws Exception {
        MQQueueManager m = target.connect();
        try {
            act.with(m, m.accessQueue(target.queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT | CMQC.MQOO_BROWSE
                    | CMQC.MQOO_INQUIRE | CMQC.MQOO_SAVE_ALL_CONTEXT));
        } finally {
            m.disconnect();
        }
    }

    private static MQMessage get(MQQueue q, int options) throws Exception {
        MQMessage in = new MQMessage();
        q.get(in, gmo(options | CMQC.MQGMO_NO_SYNCPOINT, 0));
        return in;
    }

    /** A group is there for ALL_MSGS_AVAILABLE once its last message is. */
    private void group(MQQueueManager m, MQQueue q) throws Exception {
        int logical = CMQC.MQPMO_LOGICAL_ORDER | CMQC.MQPMO_NO_SYNCPOINT;
        int ordered = CMQC.MQGMO_LOGICAL_ORDER | CMQC.MQGMO_ALL_MSGS_AVAILABLE;
        for (int i = 1; i <= 3; i++) {
            MQMessage out = text("g" + i);
            out.messageFlags = i == 3 ? CMQC.MQMF_LAST_MSG_IN_GROUP : CMQC.MQMF_MSG_IN_GROUP;
            if (i == 3) {
                m.put(target.queue, text("between"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
                same("between", text(get(q, ordered))); // it is of no group
                reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> get(q, ordered));
            }
            q.put(out, pmo(logical));
            same(i, out.messageSequenceNumber);
        }
        byte[] id = null;
        for (int i = 1; i <= 3; i++) {
            MQMessage in = new MQMessage();
            MQGetMessageOptions g = gmo(ordered | CMQC.MQGMO_NO_SYNCPOINT, 0);
            q.get(in, g);
            same("g" + i, text(in));
            same(i, in.messageSequenceNumber);
            same(i == 3 ? CMQC.MQGS_LAST_MSG_IN_GROUP : CMQC.MQGS_MSG_IN_GROUP, g.groupStatus);
            isTrue("one group", id == null || Arrays.equals(id, in.groupId));
            id = in.groupId;
        }
    }

    /** Segments put one by one come as one message by COMPLETE_MSG. */
    private void segments(MQQueueManager m, MQQueue q) throws Exception {
        for (int i = 0; i < 3; i++) {
            MQMessage out = text("segment " + i + ".");
            out.messageFlags = i == 2 ? CMQC.MQMF_LAST_SEGMENT : CMQC.MQMF_SEGMENT;
            q.put(out, pmo(CMQC.MQPMO_LOGICAL_ORDER | CMQC.MQPMO_NO_SYNCPOINT));
        }
        same(3, q.getCurrentDepth());
        same("segment 0.segment 1.segment 2.", text(get(q, CMQC.MQGMO_COMPLETE_MSG)));
        same(0, q.getCurrentDepth());
    }

    private void properties(MQQueueManager m, MQQueue q) throws Exception {
        MQMessage out = text("body");
        out.setStringProperty("colour", "r\u00f6t");
        out.setIntProperty("n", -5);
        out.setBooleanProperty("flag", true);
        out.setDoubleProperty("d", 0.1);
        out.setBytesProperty("bytes", new byte[] {1, 0, -1});
        q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQMessage in = get(q, CMQC.MQGMO_PROPERTIES_IN_HANDLE);
        same("body", text(in));
        same("r\u00f6t", in.getStringProperty("colour"));
        same(-5, in.getIntProperty("n"));
        same(true, in.getBooleanProperty("flag"));
        same(0.1, in.getDoubleProperty("d"));
        same("[1, 0, -1]", Arrays.toString(in.getBytesProperty("bytes")));
        reason(CMQC.MQRC_PROPERTY_NOT_AVAILABLE, () -> in.getStringProperty("none"));
    }

    /** The classes get with a message handle: but for FORCE, properties are in it, whatever PROPCTL says. */
    private void propctl(MQQueueManager m, MQQueue q) throws Exception {
        String[][] want = {{"NONE", CMQC.MQFMT_STRING}, {"FORCE", CMQC.MQFMT_RF_HEADER_2}, {"ALL", CMQC.MQFMT_STRING}};
        for (String[] w : want) {
            admin.mqsc("ALTER QLOCAL(" + target.queue + ") PROPCTL(" + w[0] + ")");
            MQMessage out = text("body");
            out.setStringProperty("colour", "red");
            MQQueue h = m.accessQueue(target.queue, CMQC.MQOO_OUTPUT | CMQC.MQOO_INPUT_SHARED);
            h.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
            MQMessage in = get(h, CMQC.MQGMO_PROPERTIES_AS_Q_DEF);
            same(w[0], w[1], in.format);
            if (w[0].equals("FORCE")) {
                reason(CMQC.MQRC_PROPERTY_NOT_AVAILABLE, () -> in.getStringProperty("colour"));
            } else {
                same("red", in.getStringProperty("colour"));
            }
            h.close();
        }
    }

    /** What one browser has marked the others that co-operate do not see, until it takes the mark back. */
    private void marks(MQQueueManager m, MQQueue q) throws Exception {
        admin.mqsc("ALTER QMGR MARKINT(600000)"); // a mark goes after five seconds otherwise
        q.put(text("1"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        q.put(text("2"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        int options = CMQC.MQOO_BROWSE | CMQC.MQOO_CO_OP;
        int mark = CMQC.MQGMO_BROWSE_FIRST | CMQC.MQGMO_MARK_BROWSE_CO_OP | CMQC.MQGMO_UNMARKED_BROWSE_MSG;
        MQQueueManager n = target.connect();
        MQQueue a = m.accessQueue(target.queue, options);
        MQQueue b = n.accessQueue(target.queue, options);
        MQMessage first = new MQMessage();
        a.get(first, gmo(mark, 0));
        same("1", text(first));
        MQMessage second = new MQMessage();
        b.get(second, gmo(mark, 0));
        same("2", text(second));
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> a.get(new MQMessage(), gmo(mark, 0)));
        b.get(new MQMessage(), gmo(CMQC.MQGMO_BROWSE_MSG_UNDER_CURSOR | CMQC.MQGMO_UNMARK_BROWSE_CO_OP, 0));
        MQMessage again = new MQMessage();
        a.get(again, gmo(mark, 0));
        same("2", text(again));
        n.disconnect();
        admin.mqsc("ALTER QMGR MARKINT(5000)");
    }

    private void lock(MQQueueManager m, MQQueue q) throws Exception {
        q.put(text("locked"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQQueueManager n = target.connect();
        MQQueue other = n.accessQueue(target.queue, CMQC.MQOO_INPUT_SHARED);
        q.get(new MQMessage(), gmo(CMQC.MQGMO_BROWSE_FIRST | CMQC.MQGMO_LOCK, 0));
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> get(other, 0));
        same("locked", text(get(q, CMQC.MQGMO_MSG_UNDER_CURSOR)));
        n.disconnect();
    }

    private void model(MQQueueManager m, MQQueue q) throws Exception {
        MQQueue mine = m.accessQueue("SYSTEM.DEFAULT.MODEL.QUEUE", CMQC.MQOO_INPUT_EXCLUSIVE, null, "E2E.DYN.*", null);
        String name = mine.getName().trim();
        isTrue(name, name.startsWith("E2E.DYN.") && name.length() > 8);
        MQMessage ask = text("ping");
        ask.messageType = CMQC.MQMT_REQUEST;
        ask.replyToQueueName = name;
        q.put(ask, pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQMessage in = get(q, 0);
        same(name, in.replyToQueueName.trim());
        same(target.qmgr, in.replyToQueueManagerName.trim());
        MQMessage answer = text("pong");
        answer.correlationId = in.messageId;
        m.put(in.replyToQueueName, answer, pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQMessage got = new MQMessage();
        got.correlationId = ask.messageId;
        MQGetMessageOptions g = gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000);
        g.matchOptions = CMQC.MQMO_MATCH_CORREL_ID;
        mine.get(got, g);
        same("pong", text(got));
        mine.close();
        reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> m.accessQueue(name, CMQC.MQOO_OUTPUT));
    }

    private void reports(MQQueueManager m, MQQueue q) throws Exception {
        admin.queue("E2E.REPORTS", "");
        MQMessage out = text("reported");
        out.report = CMQC.MQRO_COA_WITH_DATA | CMQC.MQRO_COD | CMQC.MQRO_PASS_MSG_ID;
        out.replyToQueueName = "E2E.REPORTS";
        q.put(out, pmo(CMQC.MQPMO_SYNCPOINT));
        MQQueue r = m.accessQueue("E2E.REPORTS", CMQC.MQOO_INPUT_SHARED);
        m.commit();
        MQMessage coa = get(r, 0);
        same(CMQC.MQFB_COA, coa.feedback);
        same("reported", text(coa));
        same(Arrays.toString(out.messageId), Arrays.toString(coa.messageId));
        q.get(new MQMessage(), gmo(CMQC.MQGMO_SYNCPOINT, 0));
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> get(r, 0));
        m.commit();
        MQMessage cod = get(r, 0);
        same(CMQC.MQFB_COD, cod.feedback);
        same(CMQC.MQMT_REPORT, cod.messageType);
        same(0, cod.getDataLength());
    }

    private void byMsgId(MQQueueManager m, MQQueue q) throws Exception {
        byte[] token = null;
        for (String s : new String[] {"a", "b", "c"}) {
            MQMessage out = text(s);
            q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
            token = s.equals("b") ? out.messageId : token;
        }
        MQMessage in = new MQMessage();
        in.messageId = token;
        MQGetMessageOptions g = gmo(CMQC.MQGMO_NO_SYNCPOINT, 0);
        g.matchOptions = CMQC.MQMO_MATCH_MSG_ID;
        q.get(in, g);
        same("b", text(in));
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> q.get(in, g));
    }

    private void passContext(MQQueueManager m, MQQueue q) throws Exception {
        MQQueue set = m.accessQueue(target.queue, CMQC.MQOO_OUTPUT | CMQC.MQOO_SET_ALL_CONTEXT);
        MQMessage out = text("of another");
        out.userId = "somebody";
        out.applicationIdData = "identity";
        out.putApplicationName = "a program";
        set.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_SET_ALL_CONTEXT));
        MQMessage in = get(q, 0);
        MQQueue pass = m.accessQueue(target.queue, CMQC.MQOO_OUTPUT | CMQC.MQOO_PASS_ALL_CONTEXT);
        com.ibm.mq.MQPutMessageOptions p = pmo(CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_PASS_ALL_CONTEXT);
        p.contextReference = q;
        pass.put(in, p);
        MQMessage got = get(q, 0);
        same("somebody", got.userId.trim());
        same("identity", got.applicationIdData.trim());
        same("a program", got.putApplicationName.trim());
    }
}
