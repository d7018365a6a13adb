package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.reason;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.text;

import com.ibm.mq.MQMessage;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.mq.constants.CMQCFC;
import com.ibm.mq.headers.pcf.PCFMessage;
import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.mq.jms.MQDestination;
import com.ibm.mq.jms.MQQueue;
import com.ibm.mq.jms.MQTopic;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.InvalidDestinationException;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.TextMessage;

/**
 * JMS persistence and NPMCLASS: the numbered acceptance examples of facts/acceptance-003.md, each through the client. QN is a
 * queue of class NORMAL, QH of class HIGH. Arguments as {@link Target}; who connects must be an administrator.
 */
public final class Acceptance003 {
    private static final int WAIT = 20_000;
    private static final int P = DeliveryMode.PERSISTENT;
    private static final int N = DeliveryMode.NON_PERSISTENT;

    private final Target target;
    private final Admin admin;
    private final JmsConnectionFactory factory;

    private Acceptance003(Target t) throws Exception {
        target = t;
        admin = new Admin(t);
        factory = t.factory();
    }

    public static void main(String[] args) throws Exception {
        Acceptance003 a = new Acceptance003(new Target(args));
        Checks c = new Checks(args, a::fresh);
        c.check("1-2", a::attribute);
        c.check("3", () -> a.restartLeaves("QN", 0, "-c"));
        c.check("4", () -> a.restartLeaves("QN", 0, "-i"));
        c.check("5", a::normalAfterCrash);
        c.check("6", () -> a.restartLeaves("QH", 10, "-c"));
        c.check("7", () -> a.restartLeaves("QH", 10, "-i"));
        c.check("8", () -> a.crash(() -> a.admin.restart("-p")));
        c.check("9", a::killUnderLoad);
        c.check("10", a::uncommitted);
        c.check("11", a::property);
        c.check("12-13", a::highOnHigh);
        c.check("14", a::plainOnHigh);
        c.check("15", a::highOnNormal);
        c.check("16", a::logBytes);
        c.check("17", () -> a.transmission("NORMAL", 0));
        c.check("18", () -> a.transmission("HIGH", 1)); // as far as the transmission queue
        c.check("19", () -> a.subscriber("HIGH", 1));
        c.check("20", () -> a.subscriber("NORMAL", 0));
        c.check("21", a::managedSubscriber);
        c.check("22-23", a::consumer);
        c.check("24", a::receive);
        c.check("25", a::inquiredOnceBySends);
        c.check("26", a::inquiredOnceByConsumer);
        c.check("27", a::notInquired);
        c.check("28", a::authority);
        c.check("29", a::changeToNormalUnnoticed);
        c.check("30", a::newDestinationNotices);
        c.check("31", a::changeToHighUnnoticed);
        c.check("32", a::persistentSurvivesKill);
        c.check("33-34", a::temporaryQueue);
        c.check("35,37", () -> a.permanentModel("SYSTEM.JMS.TEMPQ.MODEL"));
        c.check("36", a::modelOfMine);
        c.check("38", a::wrongProperty);
        c.exit();
    }

    private void fresh() throws Exception {
        admin.queue("QN", "NPMCLASS(NORMAL)");
        admin.queue("QH", "NPMCLASS(HIGH)");
    }

    private static MQQueue destination(String queue, boolean high) throws JMSException {
        MQQueue d = new MQQueue(queue);
        if (high) {
            d.setPersistence(WMQConstants.WMQ_PER_NPHIGH);
        }
        return d;
    }

    private interface Act {
        void with(Session s) throws Exception;
    }

    private void session(Act act) throws Exception {
        session(factory, act);
    }

    private static void session(JmsConnectionFactory f, Act act) throws Exception {
        try (Connection c = f.createConnection()) {
            c.start();
            act.with(c.createSession(false, Session.AUTO_ACKNOWLEDGE));
        }
    }

    private static void send(Session s, MQDestination d, int mode, String text) throws JMSException {
        MessageProducer p = s.createProducer(d);
        p.setDeliveryMode(mode);
        p.send(s.createTextMessage(text));
        p.close();
    }

    /** MQMD.Persistence of all messages of a queue, browsed by base classes, oldest first. */
    private List<Integer> persistence(String queue) throws Exception {
        List<Integer> all = new ArrayList<>();
        for (MQMessage m : browse(queue)) {
            all.add(m.persistence);
        }
        return all;
    }

    private List<MQMessage> browse(String queue) throws Exception {
        List<MQMessage> all = new ArrayList<>();
        MQQueueManager m = target.connect();
        com.ibm.mq.MQQueue q = m.accessQueue(queue, CMQC.MQOO_BROWSE | CMQC.MQOO_INQUIRE);
        for (int left = q.getCurrentDepth(); left > 0; left--) {
            MQMessage in = new MQMessage();
            q.get(in, Target.gmo(CMQC.MQGMO_BROWSE_NEXT | CMQC.MQGMO_PROPERTIES_FORCE_MQRFH2, 0));
            all.add(in);
        }
        m.disconnect();
        return all;
    }

    private void attribute() throws Exception {
        admin.mqsc("DEFINE QLOCAL(E2E.DEFAULT) REPLACE");
        same("NORMAL", admin.attribute("DISPLAY QLOCAL(E2E.DEFAULT)", "NPMCLASS"));
        same("HIGH", admin.attribute("DISPLAY QLOCAL(QH)", "NPMCLASS"));
        MQQueueManager m = target.connect();
        for (String q : new String[] {"E2E.DEFAULT", "QH"}) {
            int[] value = new int[1];
            m.accessQueue(q, CMQC.MQOO_INQUIRE).inquire(new int[] {CMQC.MQIA_NPM_CLASS}, value, new byte[0]);
            same(q.equals("QH") ? CMQC.MQNPM_CLASS_HIGH : CMQC.MQNPM_CLASS_NORMAL, value[0]);
        }
        m.disconnect();
    }

    /** Ten of each persistence, in turn. */
    private void load(String queue) throws Exception {
        session(s -> {
            MessageProducer p = s.createProducer(destination(queue, false));
            for (int i = 0; i < 20; i++) {
                p.setDeliveryMode(i % 2 == 0 ? N : P);
                Message m = s.createTextMessage("m" + i);
                m.setIntProperty("number", i);
                p.send(m);
            }
        });
    }

    private static String describe(MQMessage m) throws Exception {
        byte[] data = new byte[m.getDataLength()];
        m.readFully(data);
        return m.persistence + " " + Arrays.toString(m.messageId) + " " + m.putDateTime.getTimeInMillis() + " "
                + Arrays.toString(data);
    }

    /** After a clean end the persistent ones are there, and the others of HIGH: the same messages in the same order. */
    private void restartLeaves(String queue, int nonpersistent, String how) throws Exception {
        load(queue);
        List<String> want = new ArrayList<>();
        for (MQMessage m : browse(queue)) {
            if (m.persistence == CMQC.MQPER_PERSISTENT || nonpersistent > 0) {
                want.add(describe(m));
            }
        }
        same(10 + nonpersistent, want.size());
        admin.restart(how);
        same(want.size(), admin.depth(queue));
        List<String> got = new ArrayList<>();
        for (MQMessage m : browse(queue)) {
            got.add(describe(m));
        }
        same(want, got);
    }

    private void normalAfterCrash() throws Exception {
        for (Checks.Act end : new Checks.Act[] {() -> admin.restart("-p"), admin::killAndStart}) {
            fresh();
            load("QN");
            end.run();
            same(java.util.Collections.nCopies(10, CMQC.MQPER_PERSISTENT), persistence("QN"));
        }
    }

    /** After a preemptive end the persistent ones of HIGH are there, and any of the others, whole. */
    private void crash(Checks.Act end) throws Exception {
        load("QH");
        end.run();
        Set<Integer> seen = new HashSet<>();
        session(s -> {
            MessageConsumer r = s.createConsumer(destination("QH", false));
            for (Message m = r.receive(WAIT / 10); m != null; m = r.receiveNoWait()) {
                int n = m.getIntProperty("number");
                text("m" + n, m);
                isTrue("m" + n + " came once", seen.add(n));
            }
        });
        for (int i = 1; i < 20; i += 2) {
            isTrue("persistent message m" + i + " is there", seen.contains(i));
        }
    }

    /** The queue manager is killed while messages go in; what a send of a persistent one had returned for is there. */
    private void killUnderLoad() throws Exception {
        for (int round = 0; round < 3; round++) {
            admin.mqsc("CLEAR QLOCAL(QH)");
            List<String> done = java.util.Collections.synchronizedList(new ArrayList<>());
            List<Throwable> ends = java.util.Collections.synchronizedList(new ArrayList<>());
            Thread t = new Thread(() -> {
                try {
                    session(s -> {
                        for (int i = 0;; i++) {
                            send(s, destination("QH", false), i % 2 == 0 ? P : N, "r" + i);
                            done.add("r" + i);
                        }
                    });
                } catch (Exception e) {
                    ends.add(e);
                }
            });
            t.start();
            Checks.soon("something is sent", () -> done.size() > 2);
            Thread.sleep(20 + round * 70);
            admin.killAndStart();
            t.join();
            same(1, ends.size());
            isTrue("sends end by a broken connection: " + ends, Checks.reasonOf(ends.get(0)) == CMQC.MQRC_CONNECTION_BROKEN);
            Set<String> seen = new HashSet<>();
            session(s -> {
                MessageConsumer r = s.createConsumer(destination("QH", false));
                for (Message m = r.receive(WAIT / 10); m != null; m = r.receiveNoWait()) {
                    isTrue("once", seen.add(Checks.body(m)));
                    isTrue("whole", Checks.body(m).matches("r\\d+"));
                }
            });
            for (int i = 0; i < done.size(); i += 2) {
                isTrue(done.get(i) + " of " + done.size() + " is there", seen.contains(done.get(i)));
            }
        }
    }

    private void uncommitted() throws Exception {
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            send(s, destination("QH", false), N, "committed");
            s.commit();
            send(s, destination("QH", false), N, "not committed");
            admin.restart("-i");
            same(1, admin.depth("QH"));
            session(t -> text("committed", t.createConsumer(destination("QH", false)).receive(WAIT)));
        } catch (JMSException e) {
            // The connection that the end took away cannot be closed any more.
            same(CMQC.MQRC_CONNECTION_BROKEN, Checks.reasonOf(e));
        }
    }

    private void property() throws Exception {
        same(WMQConstants.WMQ_PER_NPHIGH, destination("QH", true).getPersistence());
        session(s -> same(WMQConstants.WMQ_PER_NPHIGH,
                ((MQDestination) s.createQueue("queue:///QH?persistence=3")).getPersistence()));
    }

    private void sent(String queue, boolean high, Integer... want) throws Exception {
        session(s -> {
            MQQueue d = destination(queue, high);
            send(s, d, P, "persistent");
            send(s, d, N, "nonpersistent");
        });
        same(Arrays.asList(want), persistence(queue));
    }

    private void highOnHigh() throws Exception {
        sent("QH", true, 0, 0);
    }

    private void plainOnHigh() throws Exception {
        sent("QH", false, 1, 0);
    }

    private void highOnNormal() throws Exception {
        sent("QN", true, 1, 0);
    }

    private static long metric(String name) throws Exception {
        String all = Admin.local("/metrics");
        Matcher m = Pattern.compile("(?m)^" + name + "(?:\\{[^}]*\\})? ([0-9.e+]+)$").matcher(all);
        isTrue(name + " is there", m.find());
        return (long) Double.parseDouble(m.group(1));
    }

    /** Messages to HIGH cost no force of the log; the same sends without HIGH cost one each. */
    private void logBytes() throws Exception {
        long[] high = cost(true);
        long[] plain = cost(false);
        isTrue("HIGH: " + Arrays.toString(high) + ", otherwise " + Arrays.toString(plain),
                high[0] < 20 && high[1] < 20_000 && plain[0] >= 100 && plain[1] > 100_000);
    }

    /** Forces and bytes written of 100 persistent sends. */
    private long[] cost(boolean high) throws Exception {
        long[] used = new long[2];
        session(s -> {
            MessageProducer p = s.createProducer(destination("QH", high));
            p.send(s.createTextMessage("first"));
            used[0] = -metric("qmgrd_store_syncs_total");
            used[1] = -metric("qmgrd_store_written_bytes_total");
            for (int i = 0; i < 100; i++) {
                p.send(s.createTextMessage("x".repeat(1000)));
            }
            used[0] += metric("qmgrd_store_syncs_total");
            used[1] += metric("qmgrd_store_written_bytes_total");
        });
        return used;
    }

    private void transmission(String npmclass, int left) throws Exception {
        admin.queue("E2E.XMIT", "USAGE(XMITQ) NPMCLASS(" + npmclass + ")");
        admin.mqsc("DEFINE QREMOTE(E2E.REMOTE) RNAME(QH2) RQMNAME(QM2) XMITQ(E2E.XMIT) REPLACE");
        session(s -> send(s, destination("E2E.REMOTE", false), N, "far away"));
        same(1, admin.depth("E2E.XMIT"));
        admin.restart("-i");
        same(left, admin.depth("E2E.XMIT"));
    }

    private static MQTopic topic() throws JMSException {
        MQTopic t = new MQTopic("T/1");
        t.setPersistence(WMQConstants.WMQ_PER_NPHIGH);
        return t;
    }

    private void subscriber(String npmclass, int left) throws Exception {
        admin.queue("E2E.SUBQ", "NPMCLASS(" + npmclass + ")");
        admin.mqsc("DEFINE SUB(E2E.S1) TOPICSTR('T/1') DEST(E2E.SUBQ) REPLACE");
        try {
            session(s -> send(s, topic(), P, "published"));
            same(List.of(0), persistence("E2E.SUBQ"));
            admin.restart("-i");
            same(left, admin.depth("E2E.SUBQ"));
        } finally {
            admin.mqsc("DELETE SUB(E2E.S1)");
        }
    }

    private void managedSubscriber() throws Exception {
        admin.mqsc("ALTER QMODEL(SYSTEM.DURABLE.MODEL.QUEUE) NPMCLASS(HIGH)");
        JmsConnectionFactory f = target.factory();
        f.setStringProperty(WMQConstants.CLIENT_ID, "acceptance");
        try {
            session(f, s -> {
                s.createDurableSubscriber(topic(), "21").close();
                send(s, topic(), P, "kept");
            });
            String queue = admin.attribute("DISPLAY SUB('JMS:QM1:acceptance:21')", "DEST");
            same("HIGH", admin.attribute("DISPLAY QLOCAL('" + queue + "')", "NPMCLASS"));
            same(List.of(0), persistence(queue));
            admin.restart("-i");
            session(f, s -> {
                MessageConsumer r = s.createDurableSubscriber(new MQTopic("T/1"), "21");
                text("kept", r.receive(WAIT));
                r.close();
                s.unsubscribe("21");
            });
        } finally {
            admin.mqsc("ALTER QMODEL(SYSTEM.DURABLE.MODEL.QUEUE) NPMCLASS(NORMAL)");
        }
    }

    private void consumer() throws Exception {
        session(s -> {
            Checks.throwsA(InvalidDestinationException.class, () -> s.createConsumer(destination("QN", true)));
            s.createConsumer(destination("QH", true)).close();
        });
    }

    private void receive() throws Exception {
        for (boolean high : new boolean[] {true, false}) {
            sent("QH", true, 0, 0);
            session(s -> {
                MessageConsumer r = s.createConsumer(destination("QH", high));
                same(P, text("persistent", r.receive(WAIT)).getJMSDeliveryMode());
                same(N, text("nonpersistent", r.receive(WAIT)).getJMSDeliveryMode());
            });
        }
    }

    /** How many MQINQ calls for queues there were in the act, by the statistics of the queue manager. */
    private int inquired(Checks.Act act) throws Exception {
        admin.mqsc("ALTER QMGR STATMQI(ON)", "RESET QMGR TYPE(STATISTICS)", "CLEAR QLOCAL(SYSTEM.ADMIN.STATISTICS.QUEUE)");
        act.run();
        admin.mqsc("RESET QMGR TYPE(STATISTICS)");
        int n = 0;
        int counted = 0;
        MQQueueManager m = target.connect();
        com.ibm.mq.MQQueue q = m.accessQueue("SYSTEM.ADMIN.STATISTICS.QUEUE", CMQC.MQOO_INPUT_SHARED);
        try {
            while (true) {
                MQMessage in = new MQMessage();
                q.get(in, Target.gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 500));
                PCFMessage s = new PCFMessage(in);
                if (s.getCommand() == CMQCFC.MQCMD_STATISTICS_MQI) {
                    counted++;
                    n += s.getIntListParameterValue(CMQCFC.MQIAMO_INQS)[CMQC.MQOT_Q];
                }
            }
        } catch (com.ibm.mq.MQException e) {
            same(CMQC.MQRC_NO_MSG_AVAILABLE, e.reasonCode);
        }
        m.disconnect();
        isTrue("the act was counted", counted > 0);
        return n;
    }

    private void inquiredOnceBySends() throws Exception {
        MQQueue d = destination("QH", true);
        same("sends", 1, inquired(() -> session(s -> {
            send(s, d, P, "1");
            send(s, d, P, "2");
        })));
        same("later sends", 0, inquired(() -> session(s -> send(s, d, P, "3"))));
    }

    private int inquiredByConsumer(MQQueue d) throws Exception {
        return inquired(() -> session(s -> s.createConsumer(d).close()));
    }

    /** A consumer asks for the backout attributes too: the difference is what HIGH costs. */
    private void inquiredOnceByConsumer() throws Exception {
        same(1, inquiredByConsumer(destination("QH", true)) - inquiredByConsumer(destination("QH", false)));
    }

    private void notInquired() throws Exception {
        same(0, inquired(() -> session(s -> {
            send(s, destination("QH", false), P, "1");
            send(s, destination("QN", false), N, "2");
        })));
    }

    private void authority() throws Exception {
        JmsConnectionFactory f = target.factory();
        f.setStringProperty(WMQConstants.WMQ_CHANNEL, "DEV.APP.SVRCONN");
        f.setStringProperty(WMQConstants.USERID, "app");
        f.setStringProperty(WMQConstants.PASSWORD, System.getProperty("app.password"));
        admin.mqsc("SET AUTHREC PROFILE(QH) OBJTYPE(QUEUE) GROUP('mqclient') AUTHADD(PUT)");
        // The client does not pass the refusal on (2035, AMQ8077W): it sends as to a queue of class NORMAL.
        session(f, s -> send(s, destination("QH", true), P, "no"));
        same(List.of(1), persistence("QH"));
        isTrue("the refusal is logged", Admin.run(0, "", "tail", "-n", "12", System.getProperty("error.log"))
                .contains("missing(INQ) object(QH)"));
        admin.mqsc("CLEAR QLOCAL(QH)");
        admin.mqsc("SET AUTHREC PROFILE(QH) OBJTYPE(QUEUE) GROUP('mqclient') AUTHADD(INQ)");
        session(f, s -> send(s, destination("QH", true), P, "yes"));
        same(List.of(0), persistence("QH"));
        admin.mqsc("DELETE AUTHREC PROFILE(QH) OBJTYPE(QUEUE) GROUP('mqclient')");
    }

    /** Sends, changes the class, and sends with the same destination object; gives the persistence of the second. */
    private int afterChange(String from, String to, boolean anew) throws Exception {
        admin.mqsc("ALTER QLOCAL(QH) NPMCLASS(" + from + ")");
        MQQueue d = destination("QH", true);
        session(s -> {
            send(s, d, P, "1");
            admin.mqsc("ALTER QLOCAL(QH) NPMCLASS(" + to + ")");
            if (!anew) {
                send(s, d, P, "2");
            }
        });
        if (anew) {
            session(s -> send(s, destination("QH", true), P, "2"));
        }
        return persistence("QH").get(1);
    }

    private void changeToNormalUnnoticed() throws Exception {
        same(CMQC.MQPER_NOT_PERSISTENT, afterChange("HIGH", "NORMAL", false));
    }

    private void newDestinationNotices() throws Exception {
        same(CMQC.MQPER_PERSISTENT, afterChange("HIGH", "NORMAL", true));
    }

    private void changeToHighUnnoticed() throws Exception {
        same(CMQC.MQPER_PERSISTENT, afterChange("NORMAL", "HIGH", false));
    }

    private void persistentSurvivesKill() throws Exception {
        session(s -> send(s, destination("QH", false), P, "safe"));
        admin.killAndStart();
        session(s -> text("safe", s.createConsumer(destination("QH", false)).receive(WAIT)));
    }

    private static String nameOf(javax.jms.Queue q) throws JMSException {
        return q.getQueueName().replaceFirst("queue://[^/]*/", "").replaceFirst("\\?.*", "");
    }

    private void temporaryQueue() throws Exception {
        session(s -> {
            TemporaryQueue mine = s.createTemporaryQueue();
            String name = nameOf(mine);
            same("TEMPDYN", admin.attribute("DISPLAY QLOCAL('" + name + "')", "DEFTYPE"));
            MQQueueManager m = target.connect();
            MQMessage out = Target.text("persistent");
            out.persistence = CMQC.MQPER_PERSISTENT;
            reason(CMQC.MQRC_PERSISTENT_NOT_ALLOWED, () -> m.put(name, out, Target.pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            m.disconnect();
            TextMessage ask = s.createTextMessage("ping");
            ask.setJMSReplyTo(mine);
            s.createProducer(destination("QN", false)).send(ask);
            session(t -> {
                Message in = t.createConsumer(destination("QN", false)).receive(WAIT);
                reason(CMQC.MQRC_PERSISTENT_NOT_ALLOWED, () -> t.createProducer(
                        t.createQueue("queue:///" + name + "?persistence=2")).send(t.createTextMessage("b")));
                MessageProducer p = t.createProducer(in.getJMSReplyTo());
                p.setDeliveryMode(P);
                p.send(t.createTextMessage("c"));
            });
            same(List.of(0), persistence(name));
            text("c", s.createConsumer(mine).receive(WAIT));
        });
    }

    private void modelOfMine() throws Exception {
        admin.mqsc("DEFINE QMODEL(MY.MODEL) DEFTYPE(PERMDYN) REPLACE");
        permanentModel("MY.MODEL");
    }

    private void permanentModel(String model) throws Exception {
        JmsConnectionFactory f = target.factory();
        ((MQConnectionFactory) f).setTemporaryModel(model);
        session(f, s -> {
            TemporaryQueue mine = s.createTemporaryQueue();
            String name = nameOf(mine);
            same("PERMDYN", admin.attribute("DISPLAY QLOCAL('" + name + "')", "DEFTYPE"));
            MQQueueManager m = target.connect();
            MQMessage out = Target.text("persistent");
            out.persistence = CMQC.MQPER_PERSISTENT;
            m.put(name, out, Target.pmo(CMQC.MQPMO_NO_SYNCPOINT));
            m.disconnect();
            MessageConsumer r = s.createConsumer(mine);
            same(P, text("persistent", r.receive(WAIT)).getJMSDeliveryMode());
            r.close();
            mine.delete();
            Admin.run(10, "DISPLAY QLOCAL('" + name + "')\n", "runmqsc", target.qmgr);
        });
    }

    private void wrongProperty() throws Exception {
        for (int wrong : new int[] {4, 0, -3}) {
            try {
                destination("QH", false).setPersistence(wrong);
            } catch (JMSException e) {
                same("JMSCMQ0004", e.getErrorCode());
                continue;
            }
            throw new AssertionError("setPersistence(" + wrong + ") was taken");
        }
    }
}
