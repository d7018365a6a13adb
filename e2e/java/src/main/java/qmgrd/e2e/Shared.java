package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.same;

import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.Topic;

/** Shared subscriptions of JMS 2: each message goes to one member. */
public final class Shared {
    private static final int MESSAGES = 40;

    private final Target target;

    private Shared(Target t) {
        target = t;
    }

    public static void main(String[] args) throws Exception {
        Shared s = new Shared(new Target(args));
        Checks c = new Checks(args);
        c.check("shared", s::shared);
        c.check("shareddurable", s::sharedDurable);
        c.check("sharedlisteners", s::sharedListeners);
        c.check("sharedbyconnections", s::sharedByConnections);
        c.check("exclusive", s::exclusive);
        c.exit();
    }

    private interface Maker {
        MessageConsumer make(Session s, Topic t) throws JMSException;
    }

    private static Topic topic(Session s) throws JMSException {
        return s.createTopic("topic://e2e/shared");
    }

    private void publish() throws Exception {
        try (Connection c = target.factory().createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(topic(s));
            for (int i = 0; i < MESSAGES; i++) {
                p.send(s.createTextMessage(String.format("%02d", i)));
            }
        }
    }

    /** Both have some, nobody has one twice, and none is missing. */
    private static void fair(Queue<String> one, Queue<String> two) throws Exception {
        Set<String> all = new TreeSet<>(one);
        all.addAll(two);
        same(MESSAGES, all.size());
        same(MESSAGES, one.size() + two.size());
    }

    /** Gets what is there for one consumer until nothing comes for a while. */
    private static void take(MessageConsumer c, Queue<String> into, int most) throws Exception {
        for (int i = 0; i < most; i++) {
            Message m = c.receive(500);
            if (m == null) {
                return;
            }
            into.add(Checks.body(m));
        }
    }

    private void twoSessions(Connection c, Maker make) throws Exception {
        c.start();
        Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Session t = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageConsumer a = make.make(s, topic(s));
        MessageConsumer b = make.make(t, topic(t));
        publish();
        Queue<String> one = new ConcurrentLinkedQueue<>();
        Queue<String> two = new ConcurrentLinkedQueue<>();
        take(a, one, MESSAGES / 2);
        take(b, two, MESSAGES);
        take(a, one, MESSAGES);
        fair(one, two);
        same(MESSAGES / 2, one.size());
        a.close();
        publish(); // the other member has them all
        two.clear();
        take(b, two, MESSAGES);
        same(MESSAGES, two.size());
        b.close();
    }

    private void shared() throws Exception {
        try (Connection c = target.factory().createConnection()) {
            twoSessions(c, (s, t) -> s.createSharedConsumer(t, "members"));
            publish(); // nobody is a member any more
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            isTrue("the subscription ended with its last member",
                    s.createSharedConsumer(topic(s), "members").receive(300) == null);
        }
    }

    private void sharedDurable() throws Exception {
        try (Connection c = target.factory().createConnection()) {
            c.setClientID("e2e");
            twoSessions(c, (s, t) -> s.createSharedDurableConsumer(t, "members"));
            publish();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer again = s.createSharedDurableConsumer(topic(s), "members");
            Queue<String> kept = new ConcurrentLinkedQueue<>();
            take(again, kept, MESSAGES + 1);
            same(MESSAGES, kept.size());
            again.close();
            s.unsubscribe("members");
        }
    }

    private void sharedListeners() throws Exception {
        Queue<String> one = new ConcurrentLinkedQueue<>();
        Queue<String> two = new ConcurrentLinkedQueue<>();
        try (Connection c = target.factory().createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session t = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createSharedConsumer(topic(s), "listeners").setMessageListener(m -> one.add(Checks.body(m)));
            t.createSharedConsumer(topic(t), "listeners").setMessageListener(m -> two.add(Checks.body(m)));
            c.start();
            publish();
            Checks.soon("all have come", () -> one.size() + two.size() >= MESSAGES);
            Thread.sleep(200);
            fair(one, two);
        }
    }

    /** Without a client identifier members may belong to several connections. */
    private void sharedByConnections() throws Exception {
        Queue<String> one = new ConcurrentLinkedQueue<>();
        Queue<String> two = new ConcurrentLinkedQueue<>();
        try (Connection c = target.factory().createConnection(); Connection d = target.factory().createConnection()) {
            c.start();
            d.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session t = d.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer a = s.createSharedDurableConsumer(topic(s), "everybody");
            MessageConsumer b = t.createSharedDurableConsumer(topic(t), "everybody");
            publish();
            take(a, one, 7);
            take(b, two, MESSAGES);
            fair(one, two);
            same(7, one.size());
            a.close();
            b.close();
            s.unsubscribe("everybody");
        }
    }

    /** A durable subscription that is not shared has one consumer. */
    private void exclusive() throws Exception {
        try (Connection c = target.factory().createConnection()) {
            c.setClientID("alone");
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session t = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer a = s.createDurableConsumer(topic(s), "mine");
            Checks.throwsA(JMSException.class, () -> t.createDurableConsumer(topic(t), "mine"));
            a.close();
            s.unsubscribe("mine");
        }
    }
}
