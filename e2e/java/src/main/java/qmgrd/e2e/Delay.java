package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.text;

import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.Topic;

/**
 * Delivery delay of JMS 2. "leave" sends what is still on its way when the script kills the queue manager, "arrived" waits for
 * it after the restart.
 */
public final class Delay {
    private static final long DELAY = 1500;

    private final Target target;

    private Delay(Target t) {
        target = t;
    }

    public static void main(String[] args) throws Exception {
        Delay d = new Delay(new Target(args));
        Checks c = new Checks(args);
        boolean named = args.length > Target.ARGUMENTS;
        c.check("queue", d::queue);
        c.check("order", d::order);
        c.check("transacted", d::transacted);
        c.check("topic", d::topic);
        c.check("context", d::context);
        c.check("expiry", d::expiry);
        if (named) {
            c.check("leave", d::leave);
            c.check("arrived", d::arrived);
        }
        c.exit();
    }

    private interface Act {
        void run(Session s, Queue q) throws Exception;
    }

    private void session(boolean transacted, Act act) throws Exception {
        try (Connection c = target.factory().createConnection()) {
            c.start();
            Session s = c.createSession(transacted, transacted ? Session.SESSION_TRANSACTED : Session.AUTO_ACKNOWLEDGE);
            act.run(s, s.createQueue("queue:///" + target.queue));
        }
    }

    private void queue() throws Exception {
        session(false, (s, q) -> {
            MessageProducer p = s.createProducer(q);
            for (int mode : new int[] {DeliveryMode.PERSISTENT, DeliveryMode.NON_PERSISTENT}) {
                s.createConsumer(q).close(); // what Java loads at first takes no part of the delay
                p.setDeliveryDelay(DELAY);
                p.setDeliveryMode(mode);
                Message out = s.createTextMessage("later");
                out.setStringProperty("colour", "red");
                long sent = System.nanoTime();
                p.send(out);
                MessageConsumer c = s.createConsumer(q);
                Message in = c.receiveNoWait(); // as a rule nothing; where the machine has stood still, what is due by now
                in = text("later", in == null ? c.receive(20_000) : in);
                long took = (System.nanoTime() - sent) / 1_000_000;
                isTrue("it took " + took + " ms", took >= DELAY - 50 && took < DELAY + 15_000);
                same(out.getJMSMessageID(), in.getJMSMessageID());
                same(out.getJMSDeliveryTime(), in.getJMSDeliveryTime());
                same("red", in.getStringProperty("colour"));
                same(mode, in.getJMSDeliveryMode());
                c.close();
            }
        });
    }

    private void order() throws Exception {
        session(false, (s, q) -> {
            MessageProducer p = s.createProducer(q);
            MessageConsumer c = s.createConsumer(q);
            boolean inTime = false;
            while (!inTime) { // again, where the machine has stood still between the sends
                long start = System.nanoTime();
                p.setDeliveryDelay(2 * DELAY);
                p.send(s.createTextMessage("third"));
                p.setDeliveryDelay(DELAY);
                p.send(s.createTextMessage("second"));
                p.setDeliveryDelay(0);
                p.send(s.createTextMessage("first"));
                inTime = System.nanoTime() - start < DELAY * 500_000;
                for (String want : new String[] {"first", "second", "third"}) {
                    Message in = c.receive(20_000);
                    isTrue(want + " came", in != null);
                    if (inTime) {
                        text(want, in);
                    }
                }
            }
        });
    }

    private void transacted() throws Exception {
        session(true, (s, q) -> {
            MessageProducer p = s.createProducer(q);
            p.setDeliveryDelay(DELAY / 3);
            p.send(s.createTextMessage("undone"));
            s.rollback();
            p.send(s.createTextMessage("done"));
            Thread.sleep(DELAY);
            MessageConsumer c = s.createConsumer(q);
            isTrue("nothing before the commit", c.receiveNoWait() == null);
            s.commit();
            text("done", c.receive(20_000));
            isTrue("nothing else", c.receiveNoWait() == null);
            s.commit();
        });
    }

    private void topic() throws Exception {
        session(false, (s, q) -> {
            Topic t = s.createTopic("topic://e2e/delay");
            MessageProducer p = s.createProducer(t);
            s.createConsumer(t).close(); // what Java loads at first takes no part of the delay
            long delay = DELAY;
            Message in = null;
            while (in == null) { // again, where the machine has stood still until it was too late to subscribe
                p.setDeliveryDelay(delay);
                long sent = System.nanoTime();
                p.send(s.createTextMessage("news"));
                try (MessageConsumer c = s.createConsumer(t)) {
                    boolean inTime = System.nanoTime() - sent < (delay - 500) * 1_000_000;
                    in = c.receive(20_000);
                    isTrue("who subscribes while it is delayed has it", in != null || !inTime);
                }
                delay *= 2;
            }
            text("news", in);
            same("topic://e2e/delay", in.getJMSDestination().toString());
        });
    }

    private void context() throws Exception {
        try (javax.jms.JMSContext c = target.factory().createContext()) {
            Queue q = c.createQueue("queue:///" + target.queue);
            c.createProducer().setDeliveryDelay(DELAY).send(q, "by context");
            same("by context", c.createConsumer(q).receiveBody(String.class, 20_000));
        }
    }

    private void expiry() throws Exception {
        session(false, (s, q) -> {
            MessageProducer p = s.createProducer(q);
            p.setDeliveryDelay(DELAY);
            p.setTimeToLive(DELAY / 2);
            Checks.throwsA(javax.jms.JMSException.class, () -> p.send(s.createTextMessage("never")));
            p.setTimeToLive(DELAY + 20_000);
            p.send(s.createTextMessage("just"));
            Message in = text("just", s.createConsumer(q).receive(20_000));
            isTrue("it expires", in.getJMSExpiration() > 0);
        });
    }

    private void leave() throws Exception {
        session(false, (s, q) -> {
            MessageProducer p = s.createProducer(q);
            p.setDeliveryDelay(6 * DELAY);
            p.send(s.createTextMessage("kept"));
            p.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
            p.send(s.createTextMessage("lost"));
        });
    }

    private void arrived() throws Exception {
        session(false, (s, q) -> {
            MessageConsumer c = s.createConsumer(q);
            text("kept", c.receive(40_000));
            isTrue("the other was not persistent", c.receive(500) == null);
        });
    }
}
