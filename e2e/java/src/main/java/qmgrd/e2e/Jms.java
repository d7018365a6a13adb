package qmgrd.e2e;

import static qmgrd.e2e.Checks.body;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.text;

import com.ibm.mq.MQException;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TextMessage;

/** JMS over queues: arguments and output as {@link Base}. */
public final class Jms {
    private static final int WAIT = 30_000;

    private final Target target;
    private final JmsConnectionFactory factory;
    private final String queue;

    private Jms(Target t) throws Exception {
        target = t;
        factory = t.factory();
        queue = t.queue;
    }

    public static void main(String[] args) throws Exception {
        Jms j = new Jms(new Target(args));
        Checks c = new Checks(args, j::drain);
        c.check("sendreceive", j::sendReceive);
        c.check("bytes", j::bytes);
        c.check("nowait", j::noWait);
        c.check("transacted", j::transacted);
        c.check("browser", j::browser);
        c.check("correlation", j::correlation);
        c.check("listener", j::listener);
        c.check("twolisteners", j::twoListeners);
        c.check("listenerrollback", j::listenerRollback);
        c.check("stopstart", j::stopStart);
        c.check("readahead", j::readAhead);
        c.check("readaheadlistener", j::readAheadListener);
        c.check("closewhilereceiving", j::closeWhileReceiving);
        c.exit();
    }

    private Queue queue(Session s) throws Exception {
        return s.createQueue("queue:///" + queue);
    }

    private void drain() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            while (r.receiveNoWait() != null) {
                continue;
            }
        }
    }

    private void send(String... texts) throws Exception {
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            for (String t : texts) {
                p.send(s.createTextMessage(t));
            }
        }
    }

    private void sendReceive() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            TextMessage out = s.createTextMessage("Grüße, κόσμε");
            out.setStringProperty("colour", "red");
            out.setIntProperty("n", 42);
            p.send(out);
            p.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
            p.send(s.createTextMessage("second"));
            MessageConsumer r = s.createConsumer(queue(s));
            Message in = r.receive(WAIT);
            text("Grüße, κόσμε", in);
            same("red", in.getStringProperty("colour"));
            same(42, in.getIntProperty("n"));
            same(out.getJMSMessageID(), in.getJMSMessageID());
            same(DeliveryMode.PERSISTENT, in.getJMSDeliveryMode());
            in = r.receive(WAIT);
            text("second", in);
            same(DeliveryMode.NON_PERSISTENT, in.getJMSDeliveryMode());
        }
    }

    private void bytes() throws Exception {
        byte[] data = new byte[180_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 7 + i / 251);
        }
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            BytesMessage out = s.createBytesMessage();
            out.writeBytes(data);
            s.createProducer(queue(s)).send(out);
            BytesMessage in = (BytesMessage) s.createConsumer(queue(s)).receive(WAIT);
            byte[] got = new byte[(int) in.getBodyLength()];
            in.readBytes(got);
            same(true, Arrays.equals(data, got));
        }
    }

    private void noWait() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            same(true, r.receiveNoWait() == null);
            same(true, r.receive(300) == null);
        }
    }

    private void transacted() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            MessageProducer p = s.createProducer(queue(s));
            p.send(s.createTextMessage("undone"));
            s.rollback();
            p.send(s.createTextMessage("done"));
            s.commit();
            MessageConsumer r = s.createConsumer(queue(s));
            text("done", r.receive(WAIT));
            s.rollback();
            Message in = r.receive(WAIT);
            text("done", in);
            same(true, in.getJMSRedelivered());
            same(2, in.getIntProperty("JMSXDeliveryCount"));
            s.commit();
            same(true, r.receiveNoWait() == null);
        }
    }

    private void browser() throws Exception {
        send("x", "y", "z");
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            StringBuilder seen = new StringBuilder();
            Enumeration<?> e = s.createBrowser(queue(s)).getEnumeration();
            while (e.hasMoreElements()) {
                seen.append(((TextMessage) e.nextElement()).getText());
            }
            same("xyz", seen.toString());
        }
    }

    private void correlation() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            TextMessage a = s.createTextMessage("A");
            p.send(a);
            TextMessage b = s.createTextMessage("B");
            b.setJMSCorrelationID(a.getJMSMessageID());
            p.send(b);
            MessageConsumer r = s.createConsumer(queue(s), "JMSCorrelationID='" + a.getJMSMessageID() + "'");
            text("B", r.receive(WAIT));
            same(true, r.receiveNoWait() == null);
        }
    }

    private void listener() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            r.setMessageListener(m -> got.add(body(m)));
            c.start();
            send("1", "2", "3");
            for (String want : new String[] {"1", "2", "3"}) {
                same(want, String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
            }
            Thread.sleep(300);
            send("4");
            same("4", String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
            r.close();
            send("5");
            same(true, got.poll(300, TimeUnit.MILLISECONDS) == null);
        }
    }

    /** Two listeners of one Session: both queues are served by one conversation. */
    private void twoListeners() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createConsumer(queue(s)).setMessageListener(m -> got.add("one " + body(m)));
            s.createConsumer(s.createQueue("queue:///Q2")).setMessageListener(m -> got.add("two " + body(m)));
            c.start();
            Session t = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            t.createProducer(t.createQueue("queue:///Q2")).send(t.createTextMessage("b"));
            same("two b", String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
            t.createProducer(queue(t)).send(t.createTextMessage("a"));
            same("one a", String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
        }
    }

    private void listenerRollback() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            s.createConsumer(queue(s)).setMessageListener(m -> {
                try {
                    got.add(body(m) + " " + m.getJMSRedelivered());
                    if (m.getJMSRedelivered()) {
                        s.commit();
                    } else {
                        s.rollback();
                    }
                } catch (Exception e) {
                    got.add(e.toString());
                }
            });
            c.start();
            send("t");
            same("t false", String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
            same("t true", String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
            same(true, got.poll(300, TimeUnit.MILLISECONDS) == null);
        }
    }

    private void stopStart() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createConsumer(queue(s)).setMessageListener(m -> got.add(body(m)));
            c.start();
            send("1");
            same("1", String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
            c.stop();
            send("2");
            same(true, got.poll(400, TimeUnit.MILLISECONDS) == null);
            c.start();
            same("2", String.valueOf(got.poll(WAIT, TimeUnit.MILLISECONDS)));
        }
    }

    private void closeWhileReceiving() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            Object[] result = {"nothing"};
            Thread t = new Thread(() -> {
                try {
                    result[0] = r.receive(60_000);
                } catch (Exception e) {
                    result[0] = e;
                }
            });
            t.start();
            Checks.waits(t, "receive");
            long start = System.nanoTime();
            r.close();
            t.join();
            // without shared conversations it ends with the get that it waits for, which the client lets wait for five seconds
            same(true, (System.nanoTime() - start) / 1_000_000 < 30_000);
            same(true, result[0] == null);
        }
    }

    private Queue aheadOf(Session s) throws Exception {
        return s.createQueue("queue:///" + queue + "?readAheadAllowed=1");
    }

    private MessageConsumer consumer(Connection c) throws Exception {
        Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
        return s.createConsumer(aheadOf(s));
    }

    /** What is left on the queue, in order. */
    private String left() throws Exception {
        ended();
        StringBuilder all = new StringBuilder();
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createConsumer(queue(s));
            for (Message m = r.receive(1000); m != null; m = r.receiveNoWait()) {
                all.append(body(m));
            }
        }
        return all.toString();
    }

    /** The queue manager has ended the connection that is cut, so that what it had is back on the queue, in its place. */
    private void ended() throws Exception {
        MQQueueManager m = target.connect();
        MQQueue q = m.accessQueue(queue, CMQC.MQOO_INQUIRE);
        Checks.soon("the connection that is cut has ended", () -> {
            try {
                return q.getOpenInputCount() == 0;
            } catch (MQException e) {
                throw new IllegalStateException(e);
            }
        });
        m.disconnect();
    }

    /** Sends a message a letter, the small ones nonpersistent. */
    private void mixture(String letters) throws Exception {
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(queue(s));
            for (String l : letters.split("")) {
                p.send(s.createTextMessage(l), l.equals(l.toUpperCase()) ? DeliveryMode.PERSISTENT : DeliveryMode.NON_PERSISTENT,
                        Message.DEFAULT_PRIORITY, 0);
            }
        }
    }

    /** Of persistent messages only what was received has left the queue, also when the connection is cut. */
    private void readAhead() throws Exception {
        for (int taken = 1; taken < 6; taken++) {
            mixture("aBCdEF");
            try (Relay relay = new Relay(target)) {
                Connection c = relay.target().factory().createConnection();
                c.start();
                MessageConsumer r = consumer(c);
                for (int i = 0; i < taken; i++) {
                    text("aBCdEF".substring(i, i + 1), i % 2 == 0 ? r.receive(WAIT) : r.receiveNoWait());
                }
                relay.close();
                quietly(c);
            }
            String rest = "aBCdEF".substring(taken);
            same("after " + taken, rest.replace("d", ""), left().replace("d", ""));
        }
    }

    private static void quietly(Connection c) {
        try {
            c.close();
        } catch (javax.jms.JMSException e) {
            return; // it is cut
        }
    }

    /** The same of a listener. One that is in it when the connection is cut comes again. */
    private void readAheadListener() throws Exception {
        for (int taken = 1; taken < 6; taken++) {
            mixture("aBCdEF");
            BlockingQueue<String> got = new LinkedBlockingQueue<>();
            java.util.concurrent.Semaphore on = new java.util.concurrent.Semaphore(taken - 1);
            try (Relay relay = new Relay(target)) {
                Connection c = relay.target().factory().createConnection();
                Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
                s.createConsumer(aheadOf(s)).setMessageListener(m -> {
                    got.add(body(m));
                    on.acquireUninterruptibly();
                });
                c.start();
                for (int i = 0; i < taken; i++) {
                    same("aBCdEF".substring(i, i + 1), got.poll(WAIT, TimeUnit.MILLISECONDS));
                }
                Thread.sleep(100);
                relay.close();
                on.release(100);
                quietly(c);
            }
            String rest = "aBCdEF".substring(taken - 1);
            same("after " + taken, rest.replace("a", "").replace("d", ""), left().replace("a", "").replace("d", ""));
        }
    }
}
