package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.soon;
import static qmgrd.e2e.Checks.text;

import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.Topic;

/**
 * Clients that connect again by themselves, and what those are told that do not, when the queue manager is killed or ended and
 * started again. The system properties crash, restart, stop and stop.r are programs of the script that do that; each but stop and
 * stop.r return when the queue manager runs again.
 */
public final class Reconnect {
    private final Target target;

    private Reconnect(Target t) {
        target = t;
    }

    public static void main(String[] args) throws Exception {
        Reconnect r = new Reconnect(new Target(args));
        Checks c = new Checks(args);
        c.check("sendreceive", r::sendReceive);
        c.check("waiting", r::waiting);
        c.check("listener", r::listener);
        c.check("durable", r::durable);
        c.check("nondurable", r::nonDurable);
        c.check("backedout", r::backedOut);
        c.check("listenertransacted", r::listenerTransacted);
        c.check("plain", r::plain);
        c.check("immediate", r::immediate);
        c.check("immediatereconnect", r::immediateReconnect);
        c.check("quiesce", r::quiesce);
        c.check("quiescereconnect", r::quiesceReconnect);
        c.exit();
    }

    private static void program(String name) throws Exception {
        Process p = new ProcessBuilder(System.getProperty(name)).inheritIO().start();
        same(0, p.waitFor());
    }

    private JmsConnectionFactory factory(int option) throws JMSException {
        JmsConnectionFactory f = target.factory();
        f.setIntProperty(WMQConstants.WMQ_CLIENT_RECONNECT_OPTIONS, option);
        f.setIntProperty(WMQConstants.WMQ_CLIENT_RECONNECT_TIMEOUT, 60);
        return f;
    }

    private Connection connect() throws JMSException {
        return factory(WMQConstants.WMQ_CLIENT_RECONNECT).createConnection();
    }

    private Queue queue(Session s) throws JMSException {
        return s.createQueue("queue:///" + target.queue);
    }

    private void sendReceive() throws Exception {
        try (Connection c = connect()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            p.send(s.createTextMessage("before"));
            program("crash");
            p.send(s.createTextMessage("after"));
            MessageConsumer r = s.createConsumer(queue(s));
            text("before", r.receive(30_000));
            text("after", r.receive(30_000));
            program("crash");
            p.send(s.createTextMessage("again"));
            text("again", r.receive(30_000));
        }
    }

    /** A receive that waits goes on waiting. */
    private void waiting() throws Exception {
        try (Connection c = connect()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            AtomicReference<Object> got = new AtomicReference<>();
            Thread t = new Thread(() -> {
                try {
                    Message m = r.receive(60_000);
                    got.set(m == null ? "nothing" : Checks.body(m));
                } catch (JMSException e) {
                    got.set(e);
                }
            });
            t.start();
            Thread.sleep(500);
            program("crash");
            send("for who waits");
            t.join();
            same("for who waits", got.get());
        }
    }

    private void send(String text) throws Exception {
        try (Connection c = target.factory().createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createProducer(queue(s)).send(s.createTextMessage(text));
        }
    }

    private void listener() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        List<JMSException> told = new CopyOnWriteArrayList<>();
        try (Connection c = connect()) {
            c.setExceptionListener(told::add);
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createConsumer(queue(s)).setMessageListener(m -> got.add(Checks.body(m)));
            c.start();
            send("one");
            same("one", got.poll(30, TimeUnit.SECONDS));
            program("crash");
            send("two");
            same("two", got.poll(60, TimeUnit.SECONDS));
        }
        for (JMSException e : told) {
            isTrue("the listener was told of the reconnection only: " + e, e.getErrorCode() != null);
        }
    }

    private void durable() throws Exception {
        try (Connection c = connect()) {
            c.setClientID("reconnect");
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic t = s.createTopic("topic://e2e/reconnect");
            MessageConsumer r = s.createDurableSubscriber(t, "kept");
            MessageProducer p = s.createProducer(t);
            p.send(s.createTextMessage("one"));
            program("crash");
            p.send(s.createTextMessage("two"));
            text("one", r.receive(30_000));
            text("two", r.receive(30_000));
            r.close();
            s.unsubscribe("kept");
        }
    }

    /** A subscription that is not durable is made again. */
    private void nonDurable() throws Exception {
        try (Connection c = connect()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic t = s.createTopic("topic://e2e/reconnect");
            MessageConsumer r = s.createConsumer(t);
            MessageProducer p = s.createProducer(t);
            TemporaryQueue mine = s.createTemporaryQueue();
            program("crash");
            p.send(s.createTextMessage("news"));
            text("news", r.receive(30_000));
            // The temporary queue was made again, by the same name for who has it.
            s.createProducer(mine).send(s.createTextMessage("reply"));
            text("reply", s.createConsumer(mine).receive(30_000));
        }
    }

    /** A unit of work that the queue manager's end has backed out cannot be committed; the next one can. */
    private void backedOut() throws Exception {
        try (Connection c = connect()) {
            c.start();
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer p = s.createProducer(queue(s));
            p.send(s.createTextMessage("never"));
            program("crash");
            Checks.throwsA(javax.jms.TransactionRolledBackException.class, s::commit);
            p.send(s.createTextMessage("once"));
            s.commit();
            MessageConsumer r = s.createConsumer(queue(s));
            text("once", r.receive(30_000));
            s.commit();
            isTrue("nothing else", r.receiveNoWait() == null);
        }
    }

    private void listenerTransacted() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        try (Connection c = connect()) {
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            s.createConsumer(queue(s)).setMessageListener(m -> {
                try {
                    got.add(Checks.body(m));
                    s.commit();
                } catch (JMSException e) {
                    got.add(e.toString());
                }
            });
            c.start();
            send("one");
            same("one", got.poll(30, TimeUnit.SECONDS));
            program("crash");
            send("two");
            same("two", got.poll(60, TimeUnit.SECONDS));
        }
    }

    /** Without the option the connection is broken: 2009. */
    private void plain() throws Exception {
        List<JMSException> told = new CopyOnWriteArrayList<>();
        try (Connection c = factory(WMQConstants.WMQ_CLIENT_RECONNECT_DISABLED).createConnection()) {
            c.setExceptionListener(told::add);
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            program("crash");
            Checks.reason(2009, () -> p.send(s.createTextMessage("never")));
            soon("the exception listener is told", () -> !told.isEmpty());
            same(2009, Checks.reasonOf(told.get(0)));
        } catch (JMSException e) {
            same(2009, Checks.reasonOf(e)); // of close
        }
    }

    /** An immediate end breaks the connection too. */
    private void immediate() throws Exception {
        try (Connection c = factory(WMQConstants.WMQ_CLIENT_RECONNECT_DISABLED).createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            program("restart");
            try {
                p.send(s.createTextMessage("never"));
            } catch (JMSException e) {
                int rc = Checks.reasonOf(e);
                isTrue("2009 or 2162: " + rc, rc == 2009 || rc == 2162);
                return;
            }
            throw new AssertionError("the connection is still there");
        } catch (JMSException e) {
            isTrue("of close: " + e, Checks.reasonOf(e) == 2009);
        }
    }

    /** One connection puts before and after the programs, and gets both messages. */
    private void beforeAndAfter(String... programs) throws Exception {
        try (Connection c = connect()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            p.send(s.createTextMessage("before"));
            for (String name : programs) {
                program(name);
            }
            p.send(s.createTextMessage("after"));
            MessageConsumer r = s.createConsumer(queue(s));
            text("before", r.receive(30_000));
            text("after", r.receive(30_000));
        }
    }

    private void immediateReconnect() throws Exception {
        beforeAndAfter("restart");
    }

    /** A quiesced end: the exception listener hears 2161, and calls fail with it; the client does not connect again. */
    private void quiesce() throws Exception {
        List<JMSException> told = new CopyOnWriteArrayList<>();
        try (Connection c = factory(WMQConstants.WMQ_CLIENT_RECONNECT_DISABLED).createConnection()) {
            c.setExceptionListener(told::add);
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            p.setDeliveryMode(DeliveryMode.PERSISTENT);
            program("stop");
            soon("the exception listener is told", () -> !told.isEmpty());
            same(2161, Checks.reasonOf(told.get(0)));
            Checks.reason(2161, () -> p.send(s.createTextMessage("never")));
        }
        program("started");
    }

    /** A quiesced end that asks clients to connect again: they do, when the queue manager is back. */
    private void quiesceReconnect() throws Exception {
        beforeAndAfter("stop.r", "started");
    }
}
