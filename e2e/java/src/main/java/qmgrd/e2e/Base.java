package qmgrd.e2e;

import static qmgrd.e2e.Checks.reason;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Target.drain;
import static qmgrd.e2e.Target.gmo;
import static qmgrd.e2e.Target.pmo;
import static qmgrd.e2e.Target.text;

import com.ibm.mq.MQDistributionList;
import com.ibm.mq.MQDistributionListItem;
import com.ibm.mq.MQException;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import java.util.Arrays;

/**
 * The vendor's base classes: each check is one act of an application. Arguments: host, port, channel, queue manager, queue,
 * then names of checks (all when none are given). Prints one line per check; the exit code is the number of failures.
 */
public final class Base {
    private final Target target;
    private final String qmgr;
    private final String queue;

    private Base(Target t) {
        target = t;
        qmgr = t.qmgr;
        queue = t.queue;
    }

    public static void main(String[] args) throws Exception {
        Base b = new Base(new Target(args));
        Checks c = new Checks(args);
        c.check("connect", b::connect);
        c.check("putget", b::putGet);
        c.check("wait", b::waits);
        c.check("waitlater", b::waitsForOne);
        c.check("browse", b::browse);
        c.check("commit", b::commit);
        c.check("backout", b::backout);
        c.check("large", b::large);
        c.check("truncated", b::truncated);
        c.check("inquire", b::inquire);
        c.check("set", b::set);
        c.check("put1", b::put1);
        if (!"no".equals(System.getProperty("lists"))) {
            c.check("list", b::list);
        }
        c.check("async", b::async);
        c.check("readahead", b::readAhead);
        c.check("readaheadlarge", b::readAheadLarge);
        c.check("readaheadcut", b::readAheadCut);
        c.check("readaheadkept", b::readAheadKept);
        c.check("correl", b::byCorrelId);
        c.check("nosuchqueue", b::noSuchQueue);
        c.check("nosuchqmgr", b::noSuchQueueManager);
        c.check("shared", b::shared);
        c.check("lost", b::lost);
        c.exit();
    }

    private MQQueue open(MQQueueManager m) throws MQException {
        return m.accessQueue(queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT | CMQC.MQOO_BROWSE | CMQC.MQOO_INQUIRE
                | CMQC.MQOO_SET);
    }

    private void connect() throws Exception {
        MQQueueManager m = target.connect();
        same(true, m.isConnected());
        same(qmgr, m.getName().trim());
        m.disconnect();
        same(false, m.isConnected());
    }

    private void putGet() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        MQMessage out = text("hello world");
        out.correlationId = "COR".getBytes();
        q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQMessage in = new MQMessage();
        q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
        same("hello world", text(in));
        same(Arrays.toString(out.messageId), Arrays.toString(in.messageId));
        same((byte) 'C', in.correlationId[0]);
        same(CMQC.MQFMT_STRING, in.format);
        q.close();
        m.disconnect();
    }

    private void waits() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        long start = System.nanoTime();
        reason(CMQC.MQRC_NO_MSG_AVAILABLE,
                () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_WAIT | CMQC.MQGMO_NO_SYNCPOINT, 700)));
        long ms = (System.nanoTime() - start) / 1_000_000;
        if (ms < 600 || ms > 15_000) {
            throw new AssertionError("waited " + ms + " ms");
        }
        m.disconnect();
    }

    private void waitsForOne() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        Thread t = new Thread(() -> {
            try {
                Thread.sleep(300);
                MQQueueManager m2 = target.connect();
                open(m2).put(text("later"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
                m2.disconnect();
            } catch (Exception e) {
                e.printStackTrace(System.out);
            }
        });
        t.start();
        MQMessage in = new MQMessage();
        q.get(in, gmo(CMQC.MQGMO_WAIT | CMQC.MQGMO_NO_SYNCPOINT, 10_000));
        same("later", text(in));
        t.join();
        m.disconnect();
    }

    private void browse() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        for (String s : new String[] {"a", "b", "c"}) {
            q.put(text(s), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        }
        StringBuilder seen = new StringBuilder();
        int how = CMQC.MQGMO_BROWSE_FIRST;
        for (int i = 0; i < 3; i++) {
            MQMessage in = new MQMessage();
            q.get(in, gmo(how, 0));
            seen.append(text(in));
            how = CMQC.MQGMO_BROWSE_NEXT;
        }
        same("abc", seen.toString());
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_BROWSE_NEXT, 0)));
        same(3, q.getCurrentDepth());
        drain(q);
        m.disconnect();
    }

    private void commit() throws Exception {
        MQQueueManager m = target.connect();
        MQQueueManager other = target.connect();
        MQQueue q = open(m);
        MQQueue seen = open(other);
        drain(q);
        q.put(text("one"), pmo(CMQC.MQPMO_SYNCPOINT));
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> seen.get(new MQMessage(), gmo(CMQC.MQGMO_BROWSE_FIRST, 0)));
        m.commit();
        MQMessage in = new MQMessage();
        seen.get(in, gmo(CMQC.MQGMO_SYNCPOINT, 0));
        same("one", text(in));
        other.commit();
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0)));
        m.disconnect();
        other.disconnect();
    }

    private void backout() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        q.put(text("gone"), pmo(CMQC.MQPMO_SYNCPOINT));
        m.backout();
        reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0)));
        q.put(text("again"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        q.get(new MQMessage(), gmo(CMQC.MQGMO_SYNCPOINT, 0));
        m.backout();
        MQMessage in = new MQMessage();
        q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
        same("again", text(in));
        same(1, in.backoutCount);
        m.disconnect();
    }

    private void large() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        byte[] data = new byte[1_000_003];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 31 + i / 257);
        }
        MQMessage out = new MQMessage();
        out.write(data);
        q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQMessage in = new MQMessage();
        q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
        byte[] got = new byte[in.getDataLength()];
        in.readFully(got);
        same(true, Arrays.equals(data, got));
        m.disconnect();
    }

    private void truncated() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        q.put(text("0123456789"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        reason(CMQC.MQRC_TRUNCATED_MSG_FAILED,
                () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0), 4));
        MQMessage in = new MQMessage();
        reason(CMQC.MQRC_TRUNCATED_MSG_ACCEPTED,
                () -> q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_ACCEPT_TRUNCATED_MSG, 0), 4));
        same(0, q.getCurrentDepth());
        m.disconnect();
    }

    private void inquire() throws Exception {
        MQQueueManager m = target.connect();
        same(qmgr, m.getAttributeString(CMQC.MQCA_Q_MGR_NAME, 48).trim());
        MQQueue q = open(m);
        drain(q);
        q.put(text("x"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        same(1, q.getCurrentDepth());
        same(CMQC.MQQT_LOCAL, q.getQueueType());
        q.getDescription();
        // Room for more numbers and characters than there are: the client looks for the characters behind all numbers.
        int[] numbers = new int[3];
        byte[] name = new byte[60];
        q.inquire(new int[] {CMQC.MQIA_Q_TYPE, CMQC.MQCA_Q_NAME}, numbers, name);
        same(CMQC.MQQT_LOCAL, numbers[0]);
        same(queue, new String(name, 0, 48).trim());
        drain(q);
        m.disconnect();
    }

    private void set() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        q.setInhibitGet(CMQC.MQQA_GET_INHIBITED);
        reason(CMQC.MQRC_GET_INHIBITED, () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0)));
        q.setInhibitGet(CMQC.MQQA_GET_ALLOWED);
        m.disconnect();
    }

    /** A distribution list with a queue that is not there: the others get the message, each record tells its own. */
    private void list() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        MQDistributionListItem[] items = new MQDistributionListItem[3];
        for (int i = 0; i < items.length; i++) {
            items[i] = new MQDistributionListItem();
            items[i].queueName = i == 1 ? "NO.SUCH.QUEUE" : queue;
            items[i].feedback = CMQC.MQFB_APPL_FIRST + i;
        }
        MQDistributionList list = new MQDistributionList(m, items, CMQC.MQOO_OUTPUT, null);
        same(CMQC.MQRC_UNKNOWN_OBJECT_NAME, items[1].reasonCode);
        MQPutMessageOptions put = pmo(CMQC.MQPMO_NO_SYNCPOINT);
        put.recordFields = CMQC.MQPMRF_MSG_ID | CMQC.MQPMRF_FEEDBACK;
        reason(CMQC.MQRC_MULTIPLE_REASONS, () -> list.put(text("for all"), put));
        same(CMQC.MQRC_OPEN_FAILED, items[1].reasonCode);
        same(2, put.knownDestCount);
        same(1, put.invalidDestCount);
        list.close();
        for (int i = 0; i < items.length; i += 2) {
            MQMessage in = new MQMessage();
            q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
            same("for all", text(in));
            same(items[i].feedback, in.feedback);
            same(Arrays.toString(items[i].messageId), Arrays.toString(in.messageId));
        }
        m.disconnect();
    }

    private void put1() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        m.put(queue, text("put1"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQMessage in = new MQMessage();
        q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
        same("put1", text(in));
        reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> m.put("NO.SUCH.QUEUE", text("x"), pmo(0)));
        m.disconnect();
    }

    private void async() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        for (int i = 0; i < 20; i++) {
            q.put(text("async" + i), pmo(CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_ASYNC_RESPONSE));
        }
        com.ibm.mq.MQAsyncStatus s = m.getAsyncStatus();
        same(20, s.putSuccessCount);
        same(0, s.putFailureCount);
        for (int i = 0; i < 20; i++) {
            MQMessage in = new MQMessage();
            q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
            same("async" + i, text(in));
        }
        m.disconnect();
    }

    private void readAhead() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        for (int i = 0; i < 50; i++) {
            q.put(text("ra" + i), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        }
        q.close();
        MQQueue r = m.accessQueue(queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_READ_AHEAD);
        for (int i = 0; i < 50; i++) {
            MQMessage in = new MQMessage();
            r.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000));
            same("ra" + i, text(in));
        }
        reason(CMQC.MQRC_NO_MSG_AVAILABLE,
                () -> r.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 500)));
        r.close();
        m.disconnect();
    }

    /** Messages longer than the buffer that the client begins with. */
    private void readAheadLarge() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        for (int i = 0; i < 5; i++) {
            MQMessage out = new MQMessage();
            out.write(new byte[50_000 + i]);
            q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
        }
        q.close();
        MQQueue r = m.accessQueue(queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_READ_AHEAD);
        for (int i = 0; i < 5; i++) {
            MQMessage in = new MQMessage();
            r.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000));
            same(50_000 + i, in.getDataLength());
        }
        r.close();
        same(0, open(m).getCurrentDepth());
        m.disconnect();
    }

    /** Messages longer than the buffer that the application names: each once, whatever comes behind it; repeated, since it is about timing. */
    private void readAheadCut() throws Exception {
        MQQueueManager m = target.connect();
        for (int round = 0; round < 25; round++) {
            MQQueue q = open(m);
            drain(q);
            for (int i = 0; i < 6; i++) {
                MQMessage out = new MQMessage();
                out.write(new byte[i % 3 == 1 ? 20_000 + i : 100 + i]);
                q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
            }
            q.close();
            MQQueue r = m.accessQueue(queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_READ_AHEAD);
            for (int i = 0; i < 6; i++) {
                if (i % 3 == 1) {
                    reason(CMQC.MQRC_TRUNCATED_MSG_FAILED,
                            () -> r.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000), 1000));
                }
                MQMessage in = new MQMessage();
                r.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000), 30_000);
                same(i % 3 == 1 ? 20_000 + i : 100 + i, in.getDataLength());
            }
            r.close();
            same(0, open(m).getCurrentDepth());
        }
        m.disconnect();
    }

    /** Persistent messages that the application has not got are on the queue: while it runs, and when its connection is cut. */
    private void readAheadKept() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        for (int taken = 0; taken <= 5; taken++) {
            drain(q);
            MQQueueManager reader;
            try (Relay relay = new Relay(target)) {
                reader = relay.target().connect();
                MQQueue r = reader.accessQueue(queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_READ_AHEAD);
                if (taken == 0) { // its window is open, and nobody waits
                    reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> r.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0)));
                }
                for (int i = 0; i < 5; i++) {
                    MQMessage out = text("m" + i);
                    out.persistence = i == 0 ? CMQC.MQPER_NOT_PERSISTENT : CMQC.MQPER_PERSISTENT;
                    q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
                }
                for (int i = 0; i < taken; i++) {
                    MQMessage in = new MQMessage();
                    r.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | (i % 2 == 0 ? CMQC.MQGMO_WAIT : 0), 10_000));
                    same("m" + i, text(in));
                }
            }
            for (int i = Math.max(taken, 1); i < 5; i++) {
                MQMessage in = new MQMessage();
                q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000));
                String got = text(in);
                if (taken == 0 && i == 1 && got.equals("m0")) { // nor was that one sent
                    MQMessage next = new MQMessage();
                    q.get(next, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
                    got = text(next);
                }
                same("m" + i, got);
            }
            reason(CMQC.MQRC_NO_MSG_AVAILABLE, () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0)));
            MQQueueManager gone = reader;
            reason(CMQC.MQRC_CONNECTION_BROKEN, () -> gone.accessQueue(queue, CMQC.MQOO_INPUT_SHARED));
        }
        readAheadLate(m, q);
        m.disconnect();
    }

    /** A get that waits while its window is open has the message that comes, whatever that is. */
    private void readAheadLate(MQQueueManager m, MQQueue q) throws Exception {
        MQQueueManager n = target.connect();
        MQQueue r = n.accessQueue(queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_READ_AHEAD);
        for (int i = 0; i < 12; i++) {
            if (i % 4 == 3) { // in vain
                reason(CMQC.MQRC_NO_MSG_AVAILABLE,
                        () -> r.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20)));
            }
            MQMessage out = text("late" + i);
            out.persistence = i % 3 == 0 ? CMQC.MQPER_NOT_PERSISTENT : CMQC.MQPER_PERSISTENT;
            Thread t = new Thread(() -> {
                try {
                    Thread.sleep(50);
                    q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            t.start();
            MQMessage in = new MQMessage();
            r.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000));
            same("late" + i, text(in));
            t.join();
        }
        same(0, q.getCurrentDepth());
        n.disconnect();
    }

    private void byCorrelId() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        for (String s : new String[] {"A", "B"}) {
            MQMessage out = text(s);
            out.correlationId = s.getBytes();
            q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
        }
        MQMessage in = new MQMessage();
        in.correlationId = Arrays.copyOf("B".getBytes(), 24);
        MQGetMessageOptions g = gmo(CMQC.MQGMO_NO_SYNCPOINT, 0);
        g.matchOptions = CMQC.MQMO_MATCH_CORREL_ID;
        q.get(in, g);
        same("B", text(in));
        drain(q);
        m.disconnect();
    }

    private void noSuchQueue() throws Exception {
        MQQueueManager m = target.connect();
        reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> m.accessQueue("NO.SUCH.QUEUE", CMQC.MQOO_OUTPUT));
        m.disconnect();
    }

    private void noSuchQueueManager() throws Exception {
        reason(CMQC.MQRC_Q_MGR_NAME_ERROR, () -> new MQQueueManager("NO.SUCH.QMGR", target.props()));
        new MQQueueManager("", target.props()).disconnect();
        new MQQueueManager("*ANY", target.props()).disconnect();
    }

    /** A get that waits on one connection must not hold up another on the same socket. */
    private void shared() throws Exception {
        MQQueueManager a = target.connect();
        MQQueueManager b = target.connect();
        MQQueue q = open(a);
        drain(q);
        Throwable[] bad = new Throwable[1];
        Thread t = new Thread(() -> {
            try {
                MQMessage in = new MQMessage();
                q.get(in, gmo(CMQC.MQGMO_WAIT | CMQC.MQGMO_NO_SYNCPOINT, 20_000));
                same("now", text(in));
            } catch (Exception | AssertionError e) {
                bad[0] = e;
            }
        });
        t.start();
        Thread.sleep(200);
        MQQueue p = open(b);
        p.getCurrentDepth();
        p.put(text("now"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        t.join();
        if (bad[0] != null) {
            throw new AssertionError(bad[0]);
        }
        a.disconnect();
        b.disconnect();
    }

    /** What was not committed when a connection ends in order is committed; close without disconnect changes nothing. */
    private void lost() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = open(m);
        drain(q);
        q.put(text("kept"), pmo(CMQC.MQPMO_SYNCPOINT));
        q.close();
        m.commit();
        m.disconnect();
        MQQueueManager n = target.connect();
        MQQueue r = open(n);
        MQMessage in = new MQMessage();
        r.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT, 0));
        same("kept", text(in));
        n.disconnect();
    }
}
