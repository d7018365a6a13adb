package qmgrd.e2e;

import static qmgrd.e2e.Checks.body;
import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.text;

import com.ibm.mq.constants.CMQC;
import com.ibm.mq.jms.MQConnectionFactory;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsConstants;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.jms.CompletionListener;
import javax.jms.Connection;
import javax.jms.ConnectionConsumer;
import javax.jms.DeliveryMode;
import javax.jms.JMSConsumer;
import javax.jms.JMSContext;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.ServerSession;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.TemporaryTopic;
import javax.jms.TextMessage;
import javax.jms.Topic;

/**
 * Who gets a message, and how: listeners and sessions, acknowledgement and backout, temporary destinations, subscriptions,
 * asynchronous sends. Arguments as {@link Target}; who connects must be an administrator.
 */
public final class Consumers {
    private static final int WAIT = 20_000;

    private final Admin admin;
    private final JmsConnectionFactory factory;
    private final String queue;

    private Consumers(Target t) throws Exception {
        admin = new Admin(t);
        factory = t.factory();
        queue = t.queue;
    }

    public static void main(String[] args) throws Exception {
        Consumers m = new Consumers(new Target(args));
        Checks c = new Checks(args, m::fresh);
        c.check("sessions", m::sessions);
        c.check("exclusive", m::exclusive);
        c.check("clientack", m::clientAcknowledge);
        c.check("dupsok", m::dupsOk);
        c.check("backoutqueue", m::backoutQueue);
        c.check("backoutlistener", m::backoutListener);
        c.check("completion", m::completion);
        c.check("asyncput", m::asyncPut);
        c.check("asyncputlost", m::asyncPutLost);
        c.check("context", m::context);
        c.check("connectionconsumer", m::connectionConsumer);
        c.check("temporaryqueue", m::temporaryQueue);
        c.check("temporaryprefix", m::temporaryPrefix);
        c.check("tempqmodel", m::tempqModel);
        c.check("temporarytopic", m::temporaryTopic);
        c.check("retained", m::retained);
        c.check("durable", m::durable);
        c.check("nolocal", m::noLocal);
        c.check("shared", m::shared);
        c.check("shareddurable", m::sharedDurable);
        c.check("twotransactions", m::twoTransactions);
        c.exit();
    }

    private void fresh() throws Exception {
        admin.queue(queue, "SHARE BOTHRESH(0) BOQNAME(' ')");
    }

    private javax.jms.Queue queue(Session s) throws JMSException {
        return s.createQueue("queue:///" + queue);
    }

    private void send(int n) throws JMSException {
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            for (int i = 0; i < n; i++) {
                p.send(s.createTextMessage("m" + i));
            }
        }
    }

    private interface Act {
        void with(Connection c) throws Exception;
    }

    private void connected(Act act) throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            act.with(c);
        }
    }

    /** Four sessions of two connections share the messages; every one comes once. */
    private void sessions() throws Exception {
        int n = 200;
        Queue<String> got = new ConcurrentLinkedQueue<>();
        Set<Integer> who = java.util.concurrent.ConcurrentHashMap.newKeySet();
        CountDownLatch turns = new CountDownLatch(2);
        connected(a -> connected(b -> {
            for (int i = 0; i < 4; i++) {
                int me = i;
                Session s = (i < 2 ? a : b).createSession(i % 2 == 0, i % 2 == 0 ? Session.SESSION_TRANSACTED
                        : Session.AUTO_ACKNOWLEDGE);
                s.createConsumer(queue(s)).setMessageListener(m -> {
                    got.add(body(m));
                    try {
                        if (who.add(me)) { // the first session is not done before another has work
                            turns.countDown();
                            turns.await(20, TimeUnit.SECONDS);
                        }
                        if (s.getTransacted()) {
                            s.commit();
                        }
                        Thread.sleep(1);
                    } catch (Exception e) {
                        got.add(e.toString());
                    }
                });
            }
            send(n);
            isTrue("another session has work while one is at it", turns.await(20, TimeUnit.SECONDS));
            Checks.soon("all come", () -> got.size() >= n);
        }));
        same(n, got.size());
        Set<String> want = new TreeSet<>();
        for (int i = 0; i < n; i++) {
            want.add("m" + i);
        }
        same(want, new TreeSet<>(got));
        same(0, admin.depth(queue));
    }

    /** A queue for one consumer at a time answers 2042 to the second. */
    private void exclusive() throws Exception {
        admin.mqsc("ALTER QLOCAL(" + queue + ") NOSHARE");
        connected(c -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session other = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            Checks.reason(CMQC.MQRC_OBJECT_IN_USE, () -> other.createConsumer(queue(other)));
            r.close();
            other.createConsumer(queue(other)).close();
        });
    }

    private void clientAcknowledge() throws Exception {
        send(3);
        connected(c -> {
            Session s = c.createSession(false, Session.CLIENT_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            text("m0", r.receive(WAIT)).acknowledge();
            text("m1", r.receive(WAIT));
            s.recover();
            Message again = text("m1", r.receive(WAIT));
            same(true, again.getJMSRedelivered());
            same(2, again.getIntProperty("JMSXDeliveryCount"));
            text("m2", r.receive(WAIT));
        });
        same(2, admin.depth(queue));
    }

    private void dupsOk() throws Exception {
        send(30);
        connected(c -> {
            Session s = c.createSession(false, Session.DUPS_OK_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            for (int i = 0; i < 30; i++) {
                text("m" + i, r.receive(WAIT));
            }
            same(null, r.receiveNoWait());
        });
        same(0, admin.depth(queue));
    }

    /** The client moves a message that was backed out BOTHRESH times to BOQNAME. */
    private void backoutQueue() throws Exception {
        admin.queue("E2E.BACKOUT", "");
        admin.mqsc("ALTER QLOCAL(" + queue + ") BOTHRESH(2) BOQNAME(E2E.BACKOUT)");
        send(2);
        connected(c -> {
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            MessageConsumer r = s.createConsumer(queue(s));
            for (int i = 1; i <= 2; i++) {
                same(i, text("m0", r.receive(WAIT)).getIntProperty("JMSXDeliveryCount"));
                s.rollback();
            }
            text("m1", r.receive(WAIT));
            s.commit();
            text("m0", s.createConsumer(s.createQueue("queue:///E2E.BACKOUT")).receive(WAIT));
            s.commit();
        });
        same(0, admin.depth(queue));
    }

    private void backoutListener() throws Exception {
        admin.queue("E2E.BACKOUT", "");
        admin.mqsc("ALTER QLOCAL(" + queue + ") BOTHRESH(1) BOQNAME(E2E.BACKOUT)");
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        send(2);
        connected(c -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createConsumer(queue(s)).setMessageListener(m -> {
                got.add(body(m));
                if (body(m).equals("m0")) {
                    throw new IllegalStateException("a listener that fails on purpose");
                }
            });
            same("m0", got.poll(WAIT, TimeUnit.MILLISECONDS));
            same("m1", got.poll(WAIT, TimeUnit.MILLISECONDS));
        });
        same(1, admin.depth("E2E.BACKOUT"));
        same(0, admin.depth(queue));
    }

    private void completion() throws Exception {
        BlockingQueue<String> done = new LinkedBlockingQueue<>();
        CompletionListener listener = new CompletionListener() {
            @Override
            public void onCompletion(Message m) {
                done.add(body(m));
            }

            @Override
            public void onException(Message m, Exception e) {
                done.add(body(m) + " " + Checks.reasonOf(e));
            }
        };
        connected(c -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            for (int i = 0; i < 5; i++) {
                p.send(s.createTextMessage("m" + i), listener);
            }
            for (int i = 0; i < 5; i++) {
                same("m" + i, done.poll(WAIT, TimeUnit.MILLISECONDS));
            }
            admin.mqsc("ALTER QLOCAL(" + queue + ") MAXDEPTH(5)");
            p.send(s.createTextMessage("too many"), listener);
            same("too many 2053", done.poll(WAIT, TimeUnit.MILLISECONDS));
            admin.mqsc("ALTER QLOCAL(" + queue + ") MAXDEPTH(5000)");
        });
        same(5, admin.depth(queue));
    }

    /** Puts without an answer, by the property of the destination. */
    private void asyncPut() throws Exception {
        connected(c -> {
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer p = s.createProducer(s.createQueue("queue:///" + queue + "?putAsyncAllowed=1"));
            for (int i = 0; i < 100; i++) {
                p.send(s.createTextMessage("m" + i));
            }
            s.commit();
            same(100, admin.depth(queue));
            p.send(s.createTextMessage("undone"));
            s.rollback();
            MessageConsumer r = s.createConsumer(s.createQueue("queue:///" + queue + "?readAheadAllowed=1"));
            for (int i = 0; i < 100; i++) {
                text("m" + i, r.receive(WAIT));
            }
            s.commit();
            same(null, r.receiveNoWait());
        });
        same(0, admin.depth(queue));
    }

    /** A unit of work that lacks a message, because a put without an answer failed, is not committed; the next one is. */
    private void asyncPutLost() throws Exception {
        admin.mqsc("ALTER QLOCAL(" + queue + ") MAXDEPTH(2)");
        connected(c -> {
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            javax.jms.Queue q = s.createQueue("queue:///" + queue + "?putAsyncAllowed=1");
            MessageProducer open = s.createProducer(q);
            MessageProducer any = s.createProducer(null);
            for (int i = 0; i < 3; i++) {
                any.send(q, s.createTextMessage("m" + i));
            }
            Checks.reason(CMQC.MQRC_BACKED_OUT, s::commit);
            same(0, admin.depth(queue));
            for (int i = 0; i < 3; i++) {
                open.send(s.createTextMessage("m" + i));
            }
            Checks.reason(CMQC.MQRC_BACKED_OUT, s::commit);
            for (int i = 0; i < 3; i++) { // what may be lost is lost
                open.send(s.createTextMessage("m" + i), DeliveryMode.NON_PERSISTENT, Message.DEFAULT_PRIORITY, 0);
            }
            s.commit();
            same(2, admin.depth(queue));
        });
    }

    private void context() throws Exception {
        try (JMSContext c = factory.createContext(JMSContext.SESSION_TRANSACTED)) {
            javax.jms.Queue q = c.createQueue("queue:///" + queue);
            c.createProducer().setProperty("n", 5).setPriority(7).setTimeToLive(60_000).setJMSType("t").send(q, "in context");
            c.commit();
            try (JMSContext other = c.createContext(JMSContext.AUTO_ACKNOWLEDGE)) {
                JMSConsumer r = other.createConsumer(q, "n = 5");
                Message m = r.receive(WAIT);
                same("in context", m.getBody(String.class));
                same(7, m.getJMSPriority());
                same("t", m.getJMSType());
                isTrue("it expires", m.getJMSExpiration() > System.currentTimeMillis());
                same(null, r.receiveBodyNoWait(String.class));
            }
        }
    }

    /** What application servers use: messages handed to sessions of a pool. */
    private void connectionConsumer() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        connected(c -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.setMessageListener(m -> got.add(body(m)));
            ConnectionConsumer r = c.createConnectionConsumer(queue(s), null, () -> new ServerSession() {
                @Override
                public Session getSession() {
                    return s;
                }

                @Override
                public void start() {
                    s.run();
                }
            }, 1);
            send(5);
            for (int i = 0; i < 5; i++) {
                same("m" + i, got.poll(WAIT, TimeUnit.MILLISECONDS));
            }
            r.close();
        });
        same(0, admin.depth(queue));
    }

    private static String nameOf(javax.jms.Queue q) throws JMSException {
        return q.getQueueName().replaceFirst("queue://[^/]*/", "").replaceFirst("\\?.*", "");
    }

    private void temporaryQueue() throws Exception {
        List<String> name = new ArrayList<>();
        connected(c -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            TemporaryQueue mine = s.createTemporaryQueue();
            name.add(nameOf(mine));
            same("TEMPDYN", admin.attribute("DISPLAY QLOCAL('" + name.get(0) + "')", "DEFTYPE"));
            TextMessage ask = s.createTextMessage("ping");
            ask.setJMSReplyTo(mine);
            s.createProducer(queue(s)).send(ask);
            connected(replier -> {
                Session t = replier.createSession(true, Session.SESSION_TRANSACTED);
                Message in = text("ping", t.createConsumer(queue(t)).receive(WAIT));
                Message out = t.createTextMessage("pong");
                out.setJMSCorrelationID(in.getJMSMessageID());
                t.createProducer(in.getJMSReplyTo()).send(out);
                t.commit();
            });
            MessageConsumer r = s.createConsumer(mine, "JMSCorrelationID = '" + ask.getJMSMessageID() + "'");
            text("pong", r.receive(WAIT));
            Checks.throwsA(JMSException.class, mine::delete); // it has a consumer
            r.close();
        });
        gone(name.get(0));
    }

    /** The queue is not there; the queue manager deletes it just after its owner has disconnected. */
    private void gone(String name) throws Exception {
        Checks.soon(name + " is deleted", () -> {
            try {
                Admin.run(10, "DISPLAY QLOCAL('" + name + "')\n", "runmqsc", admin.name());
                return true;
            } catch (Exception e) {
                return false;
            }
        });
    }

    private void temporaryPrefix() throws Exception {
        ((MQConnectionFactory) factory).setTempQPrefix("E2E.TEMP.*");
        try {
            connected(c -> {
                Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
                TemporaryQueue a = s.createTemporaryQueue();
                TemporaryQueue b = s.createTemporaryQueue();
                isTrue(nameOf(a), nameOf(a).startsWith("E2E.TEMP."));
                isTrue(nameOf(a), !nameOf(a).equals(nameOf(b)) && nameOf(b).startsWith("E2E.TEMP."));
                a.delete();
                gone(nameOf(a));
            });
        } finally {
            ((MQConnectionFactory) factory).setTempQPrefix("");
        }
    }

    private void tempqModel() throws Exception {
        factory.setStringProperty(WMQConstants.WMQ_TEMPORARY_MODEL, "SYSTEM.JMS.TEMPQ.MODEL");
        try {
            connected(c -> {
                Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
                TemporaryQueue mine = s.createTemporaryQueue();
                same("PERMDYN", admin.attribute("DISPLAY QLOCAL('" + nameOf(mine) + "')", "DEFTYPE"));
                s.createProducer(mine).send(s.createTextMessage("purged"));
                mine.delete(); // closing the connection deletes it with client 9.1, not with 9.4
                gone(nameOf(mine));
            });
        } finally {
            factory.setStringProperty(WMQConstants.WMQ_TEMPORARY_MODEL, "SYSTEM.DEFAULT.MODEL.QUEUE");
        }
    }

    private void temporaryTopic() throws Exception {
        connected(c -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            TemporaryTopic mine = s.createTemporaryTopic();
            MessageConsumer r = s.createConsumer(mine);
            Message ask = s.createTextMessage("ping");
            ask.setJMSReplyTo(mine);
            s.createProducer(queue(s)).send(ask);
            connected(replier -> {
                Session t = replier.createSession(false, Session.AUTO_ACKNOWLEDGE);
                Message in = text("ping", t.createConsumer(queue(t)).receive(WAIT));
                t.createProducer(in.getJMSReplyTo()).send(t.createTextMessage("pong"));
            });
            text("pong", r.receive(WAIT));
            r.close();
            mine.delete();
        });
    }

    private void retained() throws Exception {
        connected(c -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic t = s.createTopic("topic://e2e/retained");
            Message m = s.createTextMessage("the last");
            m.setIntProperty(JmsConstants.JMS_IBM_RETAIN, JmsConstants.RETAIN_PUBLICATION);
            s.createProducer(t).send(m);
            MessageConsumer late = s.createConsumer(t);
            Message in = text("the last", late.receive(WAIT));
            same(JmsConstants.RETAIN_PUBLICATION, in.getIntProperty(JmsConstants.JMS_IBM_RETAIN));
            s.createProducer(t).send(s.createTextMessage("passing"));
            text("passing", late.receive(WAIT));
            late.close();
            text("the last", s.createConsumer(t).receive(WAIT));
        });
        admin.mqsc("CLEAR TOPICSTR('e2e/retained') CLRTYPE(RETAINED)");
    }

    private void durable() throws Exception {
        factory.setStringProperty(WMQConstants.CLIENT_ID, "e2e client");
        try {
            connected(c -> {
                Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
                Topic t = s.createTopic("topic://e2e/durable");
                MessageConsumer r = s.createDurableSubscriber(t, "sub", "n > 1", false);
                r.close();
                for (int i = 1; i <= 3; i++) {
                    Message m = s.createTextMessage("n" + i);
                    m.setIntProperty("n", i);
                    s.createProducer(t).send(m);
                }
            });
            connected(c -> {
                Session s = c.createSession(true, Session.SESSION_TRANSACTED);
                Topic t = s.createTopic("topic://e2e/durable");
                MessageConsumer r = s.createDurableSubscriber(t, "sub", "n > 1", false);
                text("n2", r.receive(WAIT));
                s.rollback();
                text("n2", r.receive(WAIT));
                text("n3", r.receive(WAIT));
                s.commit();
                Checks.throwsA(JMSException.class, () -> s.unsubscribe("sub")); // in use
                r.close();
                s.unsubscribe("sub");
                Checks.throwsA(javax.jms.InvalidDestinationException.class, () -> s.unsubscribe("sub"));
            });
        } finally {
            factory.setStringProperty(WMQConstants.CLIENT_ID, null);
        }
    }

    private void noLocal() throws Exception {
        connected(c -> connected(other -> {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic t = s.createTopic("topic://e2e/nolocal");
            MessageConsumer r = s.createConsumer(t, null, true);
            s.createProducer(t).send(s.createTextMessage("mine"));
            Session o = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
            o.createProducer(t).send(o.createTextMessage("yours"));
            text("yours", r.receive(WAIT));
        }));
    }

    private void shared() throws Exception {
        shared((s, t) -> s.createSharedConsumer(t, "shared"), s -> { });
    }

    private void sharedDurable() throws Exception {
        shared((s, t) -> s.createSharedDurableConsumer(t, "shared durable"), s -> s.unsubscribe("shared durable"));
    }

    private interface Subscribe {
        MessageConsumer to(Session s, Topic t) throws JMSException;
    }

    private interface End {
        void of(Session s) throws JMSException;
    }

    /** Consumers of two connections share what one subscription gets. */
    private void shared(Subscribe how, End end) throws Exception {
        Queue<String> got = new ConcurrentLinkedQueue<>();
        connected(a -> connected(b -> {
            List<MessageConsumer> consumers = new ArrayList<>();
            Session session = null;
            for (Connection c : new Connection[] {a, b}) {
                session = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
                MessageConsumer r = how.to(session, session.createTopic("topic://e2e/shared"));
                r.setMessageListener(m -> got.add(body(m)));
                consumers.add(r);
            }
            connected(c -> {
                Session p = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
                for (int i = 0; i < 20; i++) {
                    p.createProducer(p.createTopic("topic://e2e/shared")).send(p.createTextMessage("n" + i));
                }
            });
            Checks.soon("all come", () -> got.size() >= 20);
            Thread.sleep(200);
            same(20, got.size());
            same(20, new TreeSet<>(got).size());
            for (MessageConsumer r : consumers) {
                r.close();
            }
            end.of(session);
        }));
    }

    /** Two sessions of one connection have units of work of their own. */
    private void twoTransactions() throws Exception {
        connected(c -> {
            Session a = c.createSession(true, Session.SESSION_TRANSACTED);
            Session b = c.createSession(true, Session.SESSION_TRANSACTED);
            a.createProducer(queue(a)).send(a.createTextMessage("a"));
            b.createProducer(queue(b)).send(b.createTextMessage("b"));
            a.rollback();
            b.commit();
            MessageConsumer r = a.createConsumer(queue(a));
            text("b", r.receive(WAIT));
            same(null, b.createConsumer(queue(b)).receiveNoWait());
            a.rollback();
            r.close();
            text("b", b.createConsumer(queue(b)).receive(WAIT));
            b.commit();
        });
        same(0, admin.depth(queue));
    }
}
