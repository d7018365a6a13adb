package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.reason;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Target.gmo;
import static qmgrd.e2e.Target.pmo;
import static qmgrd.e2e.Target.text;

import com.ibm.mq.MQException;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.mq.spiMQXAQueueManager;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/**
 * Two-phase units of work of the base classes: the client's MQXAQueueManager (its class is spiMQXAQueueManager) gives an
 * XAResource whose branches have the MQI calls of its MQQueueManager.
 */
public final class XaBase {
    private static final int OPEN = CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT;

    private final Target target;

    private XaBase(Target t) {
        target = t;
    }

    public static void main(String[] args) throws Exception {
        XaBase x = new XaBase(new Target(args));
        Checks c = new Checks(args, x::empty);
        c.check("commit", x::commit);
        c.check("rollback", x::rollback);
        c.check("onephase", x::onePhase);
        c.check("put1", x::put1);
        c.check("readonly", x::readOnly);
        c.check("suspend", x::suspend);
        c.check("otherapp", x::otherApp);
        c.check("join", x::join);
        c.check("duplicate", x::duplicate);
        c.check("localcalls", x::localCalls);
        c.check("branches", x::branches);
        c.check("between", x::between);
        c.exit();
    }

    /** An application: its connection for branches, and the queue. */
    private final class App implements AutoCloseable {
        final spiMQXAQueueManager xa = new spiMQXAQueueManager(target.qmgr, target.props());
        final MQQueueManager manager = xa.getQueueManager();
        final XAResource resource = xa.getXAResource();
        final MQQueue queue = manager.accessQueue(target.queue, OPEN);

        App() throws Exception { }

        void put(String s) throws Exception {
            MQMessage m = text(s);
            m.persistence = CMQC.MQPER_PERSISTENT;
            queue.put(m, pmo(CMQC.MQPMO_SYNCPOINT));
        }

        String get() throws Exception {
            return XaBase.get(queue, CMQC.MQGMO_SYNCPOINT);
        }

        @Override
        public void close() throws Exception {
            queue.close();
            xa.close();
        }
    }

    /** The text of the next message, null when there is none. */
    private static String get(MQQueue q, int options) throws Exception {
        MQMessage m = new MQMessage();
        try {
            q.get(m, gmo(options | CMQC.MQGMO_NO_WAIT, 0));
        } catch (MQException e) {
            same(CMQC.MQRC_NO_MSG_AVAILABLE, e.reasonCode);
            return null;
        }
        return text(m);
    }

    private void empty() throws Exception {
        MQQueueManager m = target.connect();
        Target.drain(m.accessQueue(target.queue, OPEN));
        m.disconnect();
    }

    private void put(String... texts) throws Exception {
        MQQueueManager m = target.connect();
        for (String s : texts) {
            m.put(target.queue, text(s), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        }
        m.disconnect();
    }

    /** Everybody else sees these messages and no others, and gets them. */
    private void seen(String... want) throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = m.accessQueue(target.queue, OPEN);
        for (String w : want) {
            same(w, get(q, CMQC.MQGMO_NO_SYNCPOINT));
        }
        same(null, get(q, CMQC.MQGMO_NO_SYNCPOINT));
        m.disconnect();
    }

    private static Xid branch(String global, int qualifier) {
        byte[] g = global.getBytes(StandardCharsets.UTF_8);
        byte[] b = {0, (byte) qualifier};
        return new Xid() {
            @Override
            public int getFormatId() {
                return 77;
            }

            @Override
            public byte[] getGlobalTransactionId() {
                return g;
            }

            @Override
            public byte[] getBranchQualifier() {
                return b;
            }
        };
    }

    private static void code(int want, Checks.Act act) throws Exception {
        try {
            act.run();
        } catch (XAException e) {
            same("XA return value", want, e.errorCode);
            return;
        }
        throw new AssertionError("no XAException, want " + want);
    }

    private void commit() throws Exception {
        put("in");
        try (App a = new App()) {
            Xid x = branch("commit", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            same("in", a.get());
            a.put("out");
            a.resource.end(x, XAResource.TMSUCCESS);
            seen();
            same(XAResource.XA_OK, a.resource.prepare(x));
            seen();
            a.resource.commit(x, false);
            seen("out");
            code(XAException.XAER_NOTA, () -> a.resource.commit(x, false));
        }
    }

    private void rollback() throws Exception {
        put("in");
        try (App a = new App()) {
            for (boolean prepared : new boolean[] {false, true}) {
                Xid x = branch("rollback", 1);
                a.resource.start(x, XAResource.TMNOFLAGS);
                same("in", a.get());
                a.put("out");
                a.resource.end(x, XAResource.TMSUCCESS);
                if (prepared) {
                    same(XAResource.XA_OK, a.resource.prepare(x));
                }
                a.resource.rollback(x);
            }
        }
        seen("in");
    }

    private void onePhase() throws Exception {
        try (App a = new App()) {
            Xid x = branch("onephase", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.put("once");
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.commit(x, true);
        }
        seen("once");
    }

    private void put1() throws Exception {
        try (App a = new App()) {
            Xid x = branch("put1", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.manager.put(target.queue, text("by put1"), pmo(CMQC.MQPMO_SYNCPOINT));
            a.queue.put(text("outside"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
            seen("outside");
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.commit(x, true);
        }
        seen("by put1");
    }

    private void readOnly() throws Exception {
        try (App a = new App()) {
            Xid x = branch("readonly", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            same(null, a.get());
            a.resource.end(x, XAResource.TMSUCCESS);
            same(XAResource.XA_RDONLY, a.resource.prepare(x));
        }
    }

    private void suspend() throws Exception {
        try (App a = new App()) {
            Xid x = branch("suspend", 1);
            Xid y = branch("suspend", 2);
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.put("one");
            a.resource.end(x, XAResource.TMSUSPEND);
            a.resource.start(y, XAResource.TMNOFLAGS);
            a.put("never");
            a.resource.end(y, XAResource.TMFAIL);
            code(XAException.XA_RBROLLBACK, () -> a.resource.commit(y, true));
            a.resource.start(x, XAResource.TMRESUME);
            a.put("two");
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.commit(x, true);
        }
        seen("one", "two");
    }

    /** What one application has prepared another finds and settles. */
    private void otherApp() throws Exception {
        Xid x = branch("otherapp", 1);
        try (App a = new App()) {
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.put("left");
            a.resource.end(x, XAResource.TMSUCCESS);
            same(XAResource.XA_OK, a.resource.prepare(x));
        }
        seen();
        try (App b = new App()) {
            Xid[] all = b.resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN);
            same(1, all.length);
            isTrue("the identifier is ours", Arrays.equals(x.getGlobalTransactionId(), all[0].getGlobalTransactionId())
                    && Arrays.equals(x.getBranchQualifier(), all[0].getBranchQualifier()));
            b.resource.commit(all[0], false);
        }
        seen("left");
    }

    private void join() throws Exception {
        try (App a = new App()) {
            Xid x = branch("join", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.put("first");
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.start(x, XAResource.TMJOIN);
            a.put("second");
            a.resource.end(x, XAResource.TMSUCCESS);
            same(XAResource.XA_OK, a.resource.prepare(x));
            a.resource.commit(x, false);
        }
        seen("first", "second");
    }

    /** An identifier that is in use: of a branch that another works for, that has ended, and that is prepared. */
    private void duplicate() throws Exception {
        try (App a = new App(); App b = new App()) {
            Xid x = branch("duplicate", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            code(XAException.XAER_DUPID, () -> b.resource.start(x, XAResource.TMNOFLAGS));
            a.put("kept");
            a.resource.end(x, XAResource.TMSUCCESS);
            code(XAException.XAER_DUPID, () -> b.resource.start(x, XAResource.TMNOFLAGS));
            code(XAException.XAER_DUPID, () -> a.resource.start(x, XAResource.TMNOFLAGS));
            same(XAResource.XA_OK, a.resource.prepare(x));
            code(XAException.XAER_DUPID, () -> b.resource.start(x, XAResource.TMNOFLAGS));
            b.resource.start(branch("duplicate", 2), XAResource.TMNOFLAGS); // nothing of this has harmed b
            b.put("of b");
            b.resource.end(branch("duplicate", 2), XAResource.TMSUCCESS);
            b.resource.commit(branch("duplicate", 2), true);
            a.resource.commit(x, false);
        }
        seen("kept", "of b");
    }

    /** MQCMIT and MQBACK are the transaction manager's to call while a branch is there. */
    private void localCalls() throws Exception {
        try (App a = new App()) {
            Xid x = branch("localcalls", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.put("kept");
            reason(CMQC.MQRC_ENVIRONMENT_ERROR, a.manager::commit);
            reason(CMQC.MQRC_ENVIRONMENT_ERROR, a.manager::backout);
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.commit(x, true);
        }
        seen("kept");
    }

    /** The client says of no two resources that they are one, so a transaction manager gives each a branch of its own. */
    private void branches() throws Exception {
        try (App a = new App(); App b = new App()) {
            same(false, a.resource.isSameRM(b.resource));
            Xid x = branch("branches", 1);
            Xid y = branch("branches", 2);
            a.resource.start(x, XAResource.TMNOFLAGS);
            b.resource.start(y, XAResource.TMNOFLAGS);
            a.put("of a");
            b.put("of b");
            a.resource.end(x, XAResource.TMSUCCESS);
            b.resource.end(y, XAResource.TMSUCCESS);
            same(XAResource.XA_OK, a.resource.prepare(x));
            same(XAResource.XA_OK, b.resource.prepare(y));
            seen();
            a.resource.commit(x, false);
            b.resource.commit(y, false);
        }
        seen("of a", "of b");
    }

    /** Between branches the same connection has units of its own. */
    private void between() throws Exception {
        try (App a = new App()) {
            a.put("own");
            a.manager.commit();
            seen("own");
            Xid x = branch("between", 1);
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.put("of the branch");
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.rollback(x);
            a.put("own again");
            a.manager.backout();
        }
        seen();
    }
}
