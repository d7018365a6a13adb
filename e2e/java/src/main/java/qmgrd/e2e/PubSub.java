package qmgrd.e2e;

import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.text;

import com.ibm.mq.MQException;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.MQTopic;
import com.ibm.mq.constants.CMQC;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.jms.Connection;
import javax.jms.JMSContext;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.TextMessage;
import javax.jms.Topic;

/** Topics, temporary queues and selectors, by base classes and JMS: arguments and output as {@link Base}. */
public final class PubSub {
    private final Target target;
    private final JmsConnectionFactory factory;
    private final String queue;

    private PubSub(Target t) throws Exception {
        target = t;
        factory = t.factory();
        queue = t.queue;
    }

    public static void main(String[] args) throws Exception {
        PubSub p = new PubSub(new Target(args));
        Checks c = new Checks(args);
        c.check("basetopic", p::baseTopic);
        c.check("baseretained", p::baseRetained);
        c.check("jmstopic", p::jmsTopic);
        c.check("jmswildcard", p::jmsWildcard);
        c.check("jmsdurable", p::jmsDurable);
        c.check("jmscontext", p::jmsContext);
        c.check("jmslistener", p::jmsListener);
        c.check("requestreply", p::requestReply);
        c.check("selector", p::selector);
        c.exit();
    }

    private static MQGetMessageOptions wait(int ms) {
        MQGetMessageOptions g = new MQGetMessageOptions();
        g.options = CMQC.MQGMO_WAIT | CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_NO_PROPERTIES;
        g.waitInterval = ms;
        return g;
    }

    private void baseTopic() throws Exception {
        MQQueueManager m = target.connect();
        MQTopic sub = m.accessTopic("Sport/Foot", null, CMQC.MQTOPIC_OPEN_AS_SUBSCRIPTION,
                CMQC.MQSO_CREATE | CMQC.MQSO_MANAGED);
        MQTopic pub = m.accessTopic("Sport/Foot", null, CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT);
        pub.put(Target.text("goal"), new MQPutMessageOptions());
        MQMessage in = new MQMessage();
        sub.get(in, wait(20_000));
        same("goal", Target.text(in));
        sub.close();
        pub.put(Target.text("nobody"), new MQPutMessageOptions());
        pub.close();
        m.disconnect();
    }

    private void baseRetained() throws Exception {
        MQQueueManager m = target.connect();
        MQTopic pub = m.accessTopic("Score/Now", null, CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT);
        MQPutMessageOptions p = new MQPutMessageOptions();
        p.options = CMQC.MQPMO_RETAIN;
        pub.put(Target.text("2:1"), p);
        MQTopic sub = m.accessTopic("Score/Now", null, CMQC.MQTOPIC_OPEN_AS_SUBSCRIPTION,
                CMQC.MQSO_CREATE | CMQC.MQSO_MANAGED);
        MQMessage in = new MQMessage();
        sub.get(in, wait(20_000));
        same("2:1", Target.text(in));
        sub.close();
        MQTopic asks = m.accessTopic("Score/Never", null, CMQC.MQTOPIC_OPEN_AS_SUBSCRIPTION,
                CMQC.MQSO_CREATE | CMQC.MQSO_MANAGED | CMQC.MQSO_PUBLICATIONS_ON_REQUEST);
        try {
            asks.getSubscriptionReference().requestPublicationUpdate(0);
            throw new AssertionError("a retained publication where there is none");
        } catch (MQException e) {
            same(CMQC.MQRC_NO_RETAINED_MSG, e.reasonCode);
        }
        m.disconnect();
    }

    private void jmsTopic() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic t = s.createTopic("topic://News/World");
            MessageConsumer r = s.createConsumer(t);
            MessageProducer p = s.createProducer(t);
            p.send(s.createTextMessage("hello"));
            Message in = r.receive(20_000);
            text("hello", in);
            same("topic://News/World", in.getJMSDestination().toString());
            r.close();
            p.send(s.createTextMessage("nobody"));
        }
    }

    private void jmsWildcard() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(true, Session.SESSION_TRANSACTED);
            MessageConsumer all = s.createConsumer(s.createTopic("topic://W/#"));
            s.createProducer(s.createTopic("topic://W/a/b")).send(s.createTextMessage("deep"));
            s.rollback();
            s.createProducer(s.createTopic("topic://W/c")).send(s.createTextMessage("flat"));
            s.commit();
            Message in = all.receive(20_000);
            text("flat", in);
            same("topic://W/c", in.getJMSDestination().toString());
            s.commit();
        }
    }

    private void jmsDurable() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.setClientID("CID1");
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic t = s.createTopic("topic://Sport/Dur");
            s.createDurableSubscriber(t, "SUB1").close();
            s.createProducer(t).send(s.createTextMessage("while away"));
        }
        try (Connection c = factory.createConnection()) {
            c.setClientID("CID1");
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer r = s.createDurableSubscriber(s.createTopic("topic://Sport/Dur"), "SUB1");
            text("while away", r.receive(20_000));
            same(true, r.receiveNoWait() == null);
            r.close();
            s.unsubscribe("SUB1");
        }
    }

    private void jmsContext() throws Exception {
        try (JMSContext c = factory.createContext()) {
            javax.jms.JMSConsumer r = c.createConsumer(c.createTopic("topic://A/B"));
            c.createProducer().send(c.createTopic("topic://A/B"), "by context");
            same("by context", String.valueOf(r.receiveBody(String.class, 3000)));
        }
    }

    private void jmsListener() throws Exception {
        BlockingQueue<Message> got = new LinkedBlockingQueue<>();
        try (Connection c = factory.createConnection()) {
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createConsumer(s.createTopic("topic://L/1")).setMessageListener(got::add);
            c.start();
            Session t = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = t.createProducer(t.createTopic("topic://L/1"));
            for (int i = 0; i < 5; i++) {
                p.send(t.createTextMessage("n" + i));
            }
            for (int i = 0; i < 5; i++) {
                text("n" + i, got.poll(20, TimeUnit.SECONDS));
            }
        }
    }

    private void requestReply() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue q = s.createQueue("queue:///" + queue);
            TemporaryQueue mine = s.createTemporaryQueue();
            TextMessage ask = s.createTextMessage("ping");
            ask.setJMSReplyTo(mine);
            s.createProducer(q).send(ask);
            Message in = s.createConsumer(q).receive(20_000);
            text("ping", in);
            TextMessage answer = s.createTextMessage("pong");
            answer.setJMSCorrelationID(in.getJMSMessageID());
            s.createProducer(in.getJMSReplyTo()).send(answer);
            MessageConsumer r = s.createConsumer(mine);
            Message out = r.receive(20_000);
            text("pong", out);
            same(ask.getJMSMessageID(), out.getJMSCorrelationID());
            r.close();
            mine.delete();
        }
    }

    private void selector() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue q = s.createQueue("queue:///" + queue);
            MessageProducer p = s.createProducer(q);
            for (String colour : new String[] {"blue", "red"}) {
                TextMessage m = s.createTextMessage(colour);
                m.setStringProperty("colour", colour);
                p.send(m);
            }
            MessageConsumer r = s.createConsumer(q, "colour = 'red'");
            text("red", r.receive(20_000));
            same(true, r.receiveNoWait() == null);
            r.close();
            text("blue", s.createConsumer(q).receive(20_000));
        }
    }
}
