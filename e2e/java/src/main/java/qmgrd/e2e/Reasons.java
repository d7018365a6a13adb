package qmgrd.e2e;

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
import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.InvalidDestinationException;
import javax.jms.JMSSecurityException;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;

/**
 * What goes wrong, and the reason code that the client gives its application, by base classes and JMS. Arguments as
 * {@link Target}; who connects is the user app of the developers' set-up.
 */
public final class Reasons {
    private final Target target;
    private final Admin admin;
    private final String queue;
    private final JmsConnectionFactory factory;

    private Reasons(Target t) throws Exception {
        target = t;
        admin = new Admin(t);
        queue = t.queue;
        factory = t.factory();
    }

    public static void main(String[] args) throws Exception {
        Reasons r = new Reasons(new Target(args));
        Checks c = new Checks(args, r::fresh);
        c.check("passwords", r::passwords);
        c.check("atonce", r::atOnce);
        c.check("unknown", r::unknown);
        c.check("unauthorized", r::unauthorized);
        c.check("full", r::full);
        c.check("toolong", r::tooLong);
        c.check("toolongforchannel", r::tooLongForChannel);
        c.check("putinhibited", r::putInhibited);
        c.check("getinhibited", r::getInhibited);
        c.check("listenerinhibited", r::listenerInhibited);
        c.check("inuse", r::inUse);
        c.check("arguments", r::arguments);
        c.check("conversion", r::conversion);
        c.check("channelstopped", r::channelStopped);
        c.check("channelblocked", r::channelBlocked);
        c.check("channelfull", r::channelFull);
        c.check("nobodylistens", r::nobodyListens);
        c.exit();
    }

    private void fresh() throws Exception {
        admin.queue(queue, "SHARE PUT(ENABLED) GET(ENABLED) MAXDEPTH(5000) MAXMSGL(4194304)");
    }

    private interface BaseAct {
        void with(MQQueueManager m, MQQueue q) throws Exception;
    }

    private void base(BaseAct act) throws Exception {
        MQQueueManager m = target.connect();
        try {
            act.with(m, m.accessQueue(queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT | CMQC.MQOO_BROWSE | CMQC.MQOO_INQUIRE));
        } finally {
            m.disconnect();
        }
    }

    private interface JmsAct {
        void with(Session s, MessageProducer p) throws Exception;
    }

    private void jms(JmsAct act) throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            act.with(s, s.createProducer(s.createQueue("queue:///" + queue)));
        }
    }

    private void passwords() throws Exception {
        reason(CMQC.MQRC_NOT_AUTHORIZED, JMSSecurityException.class, () -> factory.createConnection("app", "wrong-password"));
        reason(CMQC.MQRC_NOT_AUTHORIZED, JMSSecurityException.class, () -> factory.createConnection("eve", target.password));
        Hashtable<String, Object> p = target.props();
        p.put(CMQC.PASSWORD_PROPERTY, "wrong-password");
        reason(CMQC.MQRC_NOT_AUTHORIZED, () -> new MQQueueManager(target.qmgr, p));
    }

    /** Threads that connect at once share sockets on which nobody has connected yet; who is wrong among them holds up nobody. */
    private void atOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            for (int round = 0; round < 3; round++) {
                CyclicBarrier together = new CyclicBarrier(8);
                List<Future<Connection>> results = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    String password = i % 4 == 0 ? "wrong-password" : target.password;
                    results.add(threads.submit(() -> {
                        together.await();
                        return factory.createConnection("app", password);
                    }));
                }
                for (int i = 0; i < 8; i++) {
                    Future<Connection> f = results.get(i);
                    if (i % 4 == 0) {
                        ExecutionException e = refusal(f);
                        same(CMQC.MQRC_NOT_AUTHORIZED, Checks.reasonOf(e));
                    } else {
                        f.get(20, TimeUnit.SECONDS).close();
                    }
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static ExecutionException refusal(Future<?> f) throws Exception {
        try {
            f.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return e;
        }
        throw new AssertionError("connected with a wrong password");
    }

    private void unknown() throws Exception {
        base((m, q) -> {
            reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> m.accessQueue("DEV.NO.SUCH", CMQC.MQOO_OUTPUT));
            reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, () -> m.accessQueue("DEV.NO.SUCH", CMQC.MQOO_INPUT_SHARED));
            admin.mqsc("DEFINE QALIAS(DEV.LEADS.NOWHERE) TARGET(DEV.NO.SUCH) REPLACE");
            reason(CMQC.MQRC_UNKNOWN_ALIAS_BASE_Q, () -> m.accessQueue("DEV.LEADS.NOWHERE", CMQC.MQOO_OUTPUT));
            reason(CMQC.MQRC_UNKNOWN_REMOTE_Q_MGR, () -> m.accessQueue("DEV.QUEUE.1", CMQC.MQOO_OUTPUT, "NO.SUCH.QMGR", null,
                    null));
        });
        jms((s, p) -> {
            reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, InvalidDestinationException.class,
                    () -> s.createProducer(s.createQueue("queue:///DEV.NO.SUCH")));
            reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, InvalidDestinationException.class,
                    () -> s.createConsumer(s.createQueue("queue:///DEV.NO.SUCH")));
            reason(CMQC.MQRC_UNKNOWN_OBJECT_NAME, InvalidDestinationException.class,
                    () -> s.createBrowser(s.createQueue("queue:///DEV.NO.SUCH")).getEnumeration());
        });
        JmsConnectionFactory f = target.factory();
        f.setStringProperty(WMQConstants.WMQ_QUEUE_MANAGER, "NO.SUCH.QMGR");
        reason(CMQC.MQRC_Q_MGR_NAME_ERROR, f::createConnection);
        f = target.factory();
        f.setStringProperty(WMQConstants.WMQ_CHANNEL, "NO.SUCH.CHANNEL");
        reason(CMQC.MQRC_UNKNOWN_CHANNEL_NAME, f::createConnection);
    }

    private void unauthorized() throws Exception {
        admin.mqsc("DEFINE QLOCAL(NOT.FOR.APP) REPLACE", "DEFINE TOPIC(NOT.FOR.APP) TOPICSTR('notforapp') REPLACE");
        base((m, q) -> {
            reason(CMQC.MQRC_NOT_AUTHORIZED, () -> m.accessQueue("NOT.FOR.APP", CMQC.MQOO_OUTPUT));
            reason(CMQC.MQRC_NOT_AUTHORIZED, () -> m.accessQueue(queue, CMQC.MQOO_OUTPUT | CMQC.MQOO_SET_ALL_CONTEXT));
            reason(CMQC.MQRC_NOT_AUTHORIZED, () -> m.accessQueue(queue, CMQC.MQOO_SET));
        });
        jms((s, p) -> {
            reason(CMQC.MQRC_NOT_AUTHORIZED, JMSSecurityException.class,
                    () -> s.createConsumer(s.createQueue("queue:///NOT.FOR.APP")));
            reason(CMQC.MQRC_NOT_AUTHORIZED, JMSSecurityException.class,
                    () -> s.createConsumer(s.createTopic("topic://notforapp")));
            reason(CMQC.MQRC_NOT_AUTHORIZED, JMSSecurityException.class,
                    () -> s.createProducer(s.createTopic("topic://notforapp")));
        });
    }

    private void full() throws Exception {
        admin.mqsc("ALTER QLOCAL(" + queue + ") MAXDEPTH(2)");
        base((m, q) -> {
            q.put(text("1"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
            q.put(text("2"), pmo(CMQC.MQPMO_SYNCPOINT));
            reason(CMQC.MQRC_Q_FULL, () -> q.put(text("3"), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            reason(CMQC.MQRC_Q_FULL,
                    () -> m.put(queue, text("3"), pmo(CMQC.MQPMO_SYNCPOINT | CMQC.MQPMO_SYNC_RESPONSE)));
            m.commit();
            same(2, q.getCurrentDepth());
        });
        jms((s, p) -> reason(CMQC.MQRC_Q_FULL, () -> p.send(s.createTextMessage("3"))));
        // A put without an answer says so when it is asked.
        base((m, q) -> {
            q.put(text("3"), pmo(CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_ASYNC_RESPONSE));
            same(CMQC.MQRC_Q_FULL, m.getAsyncStatus().reasonCode);
        });
    }

    private static MQMessage bytes(int n) throws Exception {
        MQMessage m = new MQMessage();
        m.write(new byte[n]);
        return m;
    }

    private void tooLong() throws Exception {
        admin.mqsc("ALTER QLOCAL(" + queue + ") MAXMSGL(1000)");
        base((m, q) -> {
            q.put(bytes(1000), pmo(CMQC.MQPMO_NO_SYNCPOINT));
            reason(CMQC.MQRC_MSG_TOO_BIG_FOR_Q, () -> q.put(bytes(1001), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
        });
        jms((s, p) -> {
            BytesMessage b = s.createBytesMessage();
            b.writeBytes(new byte[1001]);
            reason(CMQC.MQRC_MSG_TOO_BIG_FOR_Q, () -> p.send(b));
        });
        admin.mqsc("ALTER QLOCAL(" + queue + ") MAXMSGL(4194304)", "ALTER QMGR MAXMSGL(2000000)");
        try {
            base((m, q) -> reason(CMQC.MQRC_MSG_TOO_BIG_FOR_Q_MGR,
                    () -> q.put(bytes(2_000_001), pmo(CMQC.MQPMO_NO_SYNCPOINT))));
        } finally {
            admin.mqsc("ALTER QMGR MAXMSGL(104857600)");
        }
    }

    /** What is longer than the channel's MAXMSGL the client itself refuses to send. */
    private void tooLongForChannel() throws Exception {
        String c = "CHANNEL(" + target.channel + ") CHLTYPE(SVRCONN) MAXMSGL";
        admin.mqsc("ALTER " + c + "(50000)");
        try {
            base((m, q) -> {
                q.put(bytes(49_000), pmo(CMQC.MQPMO_NO_SYNCPOINT));
                reason(CMQC.MQRC_DATA_LENGTH_ERROR, () -> q.put(bytes(50_001), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            });
        } finally {
            admin.mqsc("ALTER " + c + "(4194304)");
        }
    }

    private void putInhibited() throws Exception {
        admin.mqsc("ALTER QLOCAL(" + queue + ") PUT(DISABLED)");
        base((m, q) -> {
            reason(CMQC.MQRC_PUT_INHIBITED, () -> q.put(text("x"), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            reason(CMQC.MQRC_PUT_INHIBITED, () -> m.put(queue, text("x"), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
        });
        jms((s, p) -> reason(CMQC.MQRC_PUT_INHIBITED, () -> p.send(s.createTextMessage("x"))));
    }

    private void getInhibited() throws Exception {
        admin.mqsc("ALTER QLOCAL(" + queue + ") GET(DISABLED)");
        base((m, q) -> {
            reason(CMQC.MQRC_GET_INHIBITED, () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0)));
            reason(CMQC.MQRC_GET_INHIBITED, () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_BROWSE_FIRST, 0)));
        });
        jms((s, p) -> {
            MessageConsumer r = s.createConsumer(s.createQueue("queue:///" + queue));
            reason(CMQC.MQRC_GET_INHIBITED, r::receiveNoWait);
        });
        // A get that waits ends when gets become inhibited.
        admin.mqsc("ALTER QLOCAL(" + queue + ") GET(ENABLED)");
        base((m, q) -> {
            Thread t = inhibitSoon();
            reason(CMQC.MQRC_GET_INHIBITED,
                    () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 60_000)));
            t.join();
        });
        // Also that of a client that reads ahead, and the one that follows does not wait for its time to be up.
        admin.mqsc("ALTER QLOCAL(" + queue + ") GET(ENABLED)");
        jms((s, p) -> {
            MessageConsumer r = s.createConsumer(s.createQueue("queue:///" + queue + "?readAheadAllowed=1"));
            Thread t = inhibitSoon();
            long from = System.nanoTime();
            reason(CMQC.MQRC_GET_INHIBITED, r::receive);
            reason(CMQC.MQRC_GET_INHIBITED, () -> r.receive(60_000));
            same(true, System.nanoTime() - from < TimeUnit.SECONDS.toNanos(30));
            t.join();
            admin.mqsc("ALTER QLOCAL(" + queue + ") GET(ENABLED)");
            p.send(s.createTextMessage("late"));
            same("late", Checks.body(r.receive(20_000)));
        });
    }

    private Thread inhibitSoon() {
        Thread t = new Thread(() -> {
            try {
                Thread.sleep(300);
                admin.mqsc("ALTER QLOCAL(" + queue + ") GET(DISABLED)");
            } catch (Exception e) {
                e.printStackTrace(System.out);
            }
        });
        t.start();
        return t;
    }

    /** A listener is told that its queue gives nothing for a while; operators see how it fares. */
    private void listenerInhibited() throws Exception {
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        MQConnectionFactory f = (MQConnectionFactory) factory;
        int before = f.getAsyncExceptions();
        f.setAsyncExceptions(WMQConstants.ASYNC_EXCEPTIONS_ALL);
        try (Connection c = f.createConnection()) {
            c.setExceptionListener(e -> told.add("" + Checks.reasonOf(e)));
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createConsumer(s.createQueue("queue:///" + queue)).setMessageListener(m -> got.add(Checks.body(m)));
            c.start();
            Checks.soon("a consumer that is started", () -> consumer().equals("ACTIVE"));
            admin.mqsc("ALTER QLOCAL(" + queue + ") GET(DISABLED)");
            same("2016", told.poll(20, TimeUnit.SECONDS));
            same("SUSPTEMP", consumer());
            admin.mqsc("ALTER QLOCAL(" + queue + ") GET(ENABLED)");
            same("2494", told.poll(20, TimeUnit.SECONDS));
            for (String body : new String[] {"late", "later", "last"}) {
                base((m, q) -> q.put(text(body), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            }
            same("late", got.poll(20, TimeUnit.SECONDS));
            same("later", got.poll(20, TimeUnit.SECONDS));
            same("last", got.poll(20, TimeUnit.SECONDS));
            admin.mqsc("ALTER QLOCAL(" + queue + ") GET(DISABLED)");
            same("2016", told.poll(20, TimeUnit.SECONDS));
            base((m, q) -> q.put(text("waits"), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            base((m, q) -> q.put(text("as well"), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            admin.mqsc("ALTER QLOCAL(" + queue + ") GET(ENABLED)");
            same("2494", told.poll(20, TimeUnit.SECONDS));
            same("waits", got.poll(20, TimeUnit.SECONDS));
            same("as well", got.poll(20, TimeUnit.SECONDS));
            c.stop();
            same("INACTIVE", consumer());
            same(null, told.poll());
        } finally {
            f.setAsyncExceptions(before);
        }
    }

    /** How the consumers of the queue's handles fare, of the listener's as long as nobody else has it open. */
    private String consumer() {
        try {
            return admin.attribute("DISPLAY QSTATUS(" + queue + ") TYPE(HANDLE)", "ASTATE");
        } catch (Exception e) {
            return e.toString();
        }
    }

    private void inUse() throws Exception {
        base((m, q) -> reason(CMQC.MQRC_OBJECT_IN_USE, () -> m.accessQueue(queue, CMQC.MQOO_INPUT_EXCLUSIVE)));
        MQQueueManager m = target.connect();
        m.accessQueue(queue, CMQC.MQOO_INPUT_EXCLUSIVE);
        reason(CMQC.MQRC_OBJECT_IN_USE, () -> base((other, q) -> { }));
        m.disconnect();
        base((other, q) -> same(0, q.getCurrentDepth()));
    }

    private void arguments() throws Exception {
        base((m, q) -> {
            MQQueue out = m.accessQueue(queue, CMQC.MQOO_OUTPUT);
            reason(CMQC.MQRC_NOT_OPEN_FOR_INPUT, () -> out.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT, 0)));
            reason(CMQC.MQRC_NOT_OPEN_FOR_BROWSE, () -> out.get(new MQMessage(), gmo(CMQC.MQGMO_BROWSE_FIRST, 0)));
            MQQueue in = m.accessQueue(queue, CMQC.MQOO_INPUT_SHARED);
            reason(CMQC.MQRC_NOT_OPEN_FOR_OUTPUT, () -> in.put(text("x"), pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            reason(CMQC.MQRC_NOT_OPEN_FOR_INQUIRE, in::getCurrentDepth);
            reason(CMQC.MQRC_OPTIONS_ERROR, () -> q.put(text("x"), pmo(CMQC.MQPMO_NO_SYNCPOINT | CMQC.MQPMO_SYNCPOINT)));
            MQMessage priority = text("x");
            priority.priority = 10;
            reason(CMQC.MQRC_PRIORITY_EXCEEDS_MAXIMUM, () -> q.put(priority, pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            MQMessage persistence = text("x");
            persistence.persistence = 7;
            reason(CMQC.MQRC_PERSISTENCE_ERROR, () -> q.put(persistence, pmo(CMQC.MQPMO_NO_SYNCPOINT)));
            reason(CMQC.MQRC_NO_MSG_UNDER_CURSOR,
                    () -> q.get(new MQMessage(), gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_MSG_UNDER_CURSOR, 0)));
        });
    }

    private void conversion() throws Exception {
        base((m, q) -> {
            MQMessage out = bytes(10);
            out.format = "MYFORMAT";
            out.characterSet = 37;
            q.put(out, pmo(CMQC.MQPMO_NO_SYNCPOINT));
            MQMessage in = new MQMessage();
            in.characterSet = 1208;
            reason(CMQC.MQRC_FORMAT_ERROR, () -> q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_CONVERT, 0)));
            same(37, in.characterSet);
            MQMessage text = new MQMessage();
            text.format = CMQC.MQFMT_STRING;
            text.characterSet = 37;
            text.writeString("[Gr\u00fc\u00dfe]");
            q.put(text, pmo(CMQC.MQPMO_NO_SYNCPOINT));
            MQMessage got = new MQMessage();
            got.characterSet = 1208;
            q.get(got, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_CONVERT, 0));
            same(1208, got.characterSet);
            same("[Gr\u00fc\u00dfe]", text(got));
        });
    }

    private void channelStopped() throws Exception {
        admin.mqsc("STOP CHANNEL(" + target.channel + ")");
        try {
            reason(CMQC.MQRC_CHANNEL_NOT_AVAILABLE, factory::createConnection);
            reason(CMQC.MQRC_CHANNEL_NOT_AVAILABLE, target::connect);
        } finally {
            admin.mqsc("START CHANNEL(" + target.channel + ")");
        }
        target.connect().disconnect();
    }

    private void channelBlocked() throws Exception {
        admin.mqsc("DEFINE CHANNEL(E2E.BLOCKED) CHLTYPE(SVRCONN) REPLACE",
                "SET CHLAUTH(E2E.BLOCKED) TYPE(ADDRESSMAP) ADDRESS('127.*') USERSRC(NOACCESS)",
                "DEFINE CHANNEL(E2E.NOUSER) CHLTYPE(SVRCONN) REPLACE",
                "SET CHLAUTH(E2E.NOUSER) TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(CHANNEL)",
                "SET CHLAUTH(E2E.NOUSER) TYPE(BLOCKUSER) USERLIST('app')");
        try {
            for (String channel : new String[] {"E2E.BLOCKED", "E2E.NOUSER"}) {
                JmsConnectionFactory f = target.factory();
                f.setStringProperty(WMQConstants.WMQ_CHANNEL, channel);
                reason(CMQC.MQRC_NOT_AUTHORIZED, JMSSecurityException.class, f::createConnection);
            }
        } finally {
            admin.mqsc("SET CHLAUTH(E2E.NOUSER) TYPE(BLOCKUSER) ACTION(REMOVEALL)",
                    "SET CHLAUTH(E2E.NOUSER) TYPE(ADDRESSMAP) ADDRESS('*') ACTION(REMOVE)",
                    "SET CHLAUTH(E2E.BLOCKED) TYPE(ADDRESSMAP) ADDRESS('127.*') ACTION(REMOVE)");
        }
    }

    private void channelFull() throws Exception {
        admin.mqsc("DEFINE CHANNEL(E2E.ONE) CHLTYPE(SVRCONN) MAXINST(1) SHARECNV(1) MCAUSER('app') REPLACE",
                "SET CHLAUTH(E2E.ONE) TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(CHANNEL)");
        Hashtable<String, Object> p = target.props();
        p.put(CMQC.CHANNEL_PROPERTY, "E2E.ONE");
        MQQueueManager m = new MQQueueManager(target.qmgr, p);
        reason(CMQC.MQRC_CHANNEL_NOT_AVAILABLE, () -> new MQQueueManager(target.qmgr, p));
        m.disconnect();
        Checks.soon("the instance ends", () -> {
            try {
                new MQQueueManager(target.qmgr, p).disconnect();
                return true;
            } catch (MQException e) {
                return false;
            }
        });
        admin.mqsc("SET CHLAUTH(E2E.ONE) TYPE(ADDRESSMAP) ADDRESS('*') ACTION(REMOVE)");
        Checks.soon("the instance ends, and the channel can be deleted", () -> {
            try {
                return admin.mqsc("DELETE CHANNEL(E2E.ONE)").contains("AMQ8015I");
            } catch (Exception e) {
                return false; // AMQ9514E: in use
            }
        });
    }

    private void nobodyListens() throws Exception {
        try (SocketChannel nobody = Target.nobody()) {
            JmsConnectionFactory f = target.factory();
            f.setIntProperty(WMQConstants.WMQ_PORT, Target.port(nobody));
            reason(CMQC.MQRC_HOST_NOT_AVAILABLE, f::createConnection);
        }
    }
}
