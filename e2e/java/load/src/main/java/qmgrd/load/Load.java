package qmgrd.load;

import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsFactoryFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.ConnectionFactory;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/**
 * Producers and consumers of one queue, each with a connection of its own: the messages of 1024 bytes received per second.
 * Arguments: qmgrd's port, Artemis' port, password of app, seconds for each measurement, which rows (any of p, n and s). Both
 * brokers are measured in turn in one process, and the medians compared; before that each works until the virtual machine has
 * compiled what it runs most. Sends of nonpersistent messages are answered by MQ and not by Artemis, and Artemis gives consumers messages
 * ahead; either client can do the other's, so the nonpersistent ones are measured both ways. The exit code is 1 when qmgrd is
 * slower anywhere.
 */
public final class Load {
    private static final int PRODUCERS = 16;
    private static final int CONSUMERS = 16;
    private static final int SIZE = 1024;
    private static final int ROUNDS = 3;
    private static final double WARM_UP = 10;

    private Load() {}

    private static ConnectionFactory qmgrd(int port, String password) throws JMSException {
        JmsConnectionFactory f = JmsFactoryFactory.getInstance(WMQConstants.WMQ_PROVIDER).createConnectionFactory();
        f.setStringProperty(WMQConstants.WMQ_HOST_NAME, "127.0.0.1");
        f.setIntProperty(WMQConstants.WMQ_PORT, port);
        f.setStringProperty(WMQConstants.WMQ_CHANNEL, "DEV.APP.SVRCONN");
        f.setIntProperty(WMQConstants.WMQ_CONNECTION_MODE, WMQConstants.WMQ_CM_CLIENT);
        f.setStringProperty(WMQConstants.USERID, "app");
        f.setStringProperty(WMQConstants.PASSWORD, password);
        return f;
    }

    /** How to connect, and the name of the queue with what JMS is asked for. */
    private record Client(ConnectionFactory factory, String queue) { }

    /** One measurement: messages received per second. */
    private static double measure(Client on, int mode, double seconds) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong received = new AtomicLong();
        AtomicReference<Throwable> failed = new AtomicReference<>();
        List<Connection> connections = new ArrayList<>();
        List<Thread> producers = new ArrayList<>();
        List<Thread> consumers = new ArrayList<>();
        for (int i = 0; i < PRODUCERS + CONSUMERS; i++) {
            Connection c = on.factory.createConnection();
            connections.add(c);
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            if (i < CONSUMERS) {
                MessageConsumer r = s.createConsumer(s.createQueue(on.queue));
                consumers.add(new Thread(() -> consume(r, received, failed)));
            } else {
                MessageProducer p = s.createProducer(s.createQueue(on.queue));
                p.setDeliveryMode(mode);
                BytesMessage m = s.createBytesMessage();
                m.writeBytes(new byte[SIZE]);
                producers.add(new Thread(() -> produce(p, m, stop, failed)));
            }
        }
        consumers.forEach(Thread::start);
        producers.forEach(Thread::start);
        Thread.sleep((long) (seconds * 300));
        long from = received.get();
        long start = System.nanoTime();
        Thread.sleep((long) (seconds * 1000));
        double rate = (received.get() - from) / ((System.nanoTime() - start) / 1e9);
        stop.set(true);
        for (Thread t : producers) {
            t.join();
        }
        for (Thread t : consumers) {
            t.join();
        }
        for (Connection c : connections) {
            c.close();
        }
        if (failed.get() != null) {
            throw new IllegalStateException("a producer or consumer failed", failed.get());
        }
        return rate;
    }

    private static void produce(MessageProducer p, BytesMessage m, AtomicBoolean stop, AtomicReference<Throwable> failed) {
        try {
            while (!stop.get()) {
                p.send(m);
            }
        } catch (JMSException e) {
            failed.compareAndSet(null, e);
        }
    }

    /** Takes messages until none has come for a second: the queue is empty after each measurement. */
    private static void consume(MessageConsumer r, AtomicLong received, AtomicReference<Throwable> failed) {
        try {
            while (r.receive(1000) != null) {
                received.incrementAndGet();
            }
        } catch (JMSException e) {
            failed.compareAndSet(null, e);
        }
    }

    /** Measures both in turn and prints the medians; whether qmgrd was at least as fast. */
    private static boolean compare(String what, Client mq, Client artemis, int mode, double seconds) throws Exception {
        measure(mq, mode, WARM_UP);
        measure(artemis, mode, WARM_UP);
        double[] a = new double[ROUNDS];
        double[] b = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            a[i] = measure(mq, mode, seconds);
            b[i] = measure(artemis, mode, seconds);
        }
        String all = Arrays.toString(Arrays.stream(a).mapToLong(Math::round).toArray()) + " "
                + Arrays.toString(Arrays.stream(b).mapToLong(Math::round).toArray());
        double ours = median(a);
        double theirs = median(b);
        System.out.printf("%-34s  qmgrd %7.0f/s  Artemis %7.0f/s  ratio %.2f  %s%n", what, ours, theirs, ours / theirs, all);
        return ours >= theirs;
    }

    private static double median(double[] of) {
        Arrays.sort(of);
        return of[of.length / 2];
    }

    public static void main(String[] args) throws Exception {
        String queue = "DEV.QUEUE.1";
        double seconds = Double.parseDouble(args[3]);
        ConnectionFactory f = qmgrd(Integer.parseInt(args[0]), args[2]);
        Client mq = new Client(f, queue);
        Client streams = new Client(f, "queue:///" + queue + "?putAsyncAllowed=1&readAheadAllowed=1");
        boolean ok = true;
        String url = "tcp://127.0.0.1:" + args[1];
        try (ActiveMQConnectionFactory a = new ActiveMQConnectionFactory(url);
                ActiveMQConnectionFactory answered = new ActiveMQConnectionFactory(url)) {
            answered.setBlockOnNonDurableSend(true);
            answered.setConsumerWindowSize(0);
            int p = DeliveryMode.PERSISTENT;
            int n = DeliveryMode.NON_PERSISTENT;
            String rows = args[4];
            if (rows.indexOf('p') >= 0) {
                ok &= compare("persistent", mq, new Client(a, queue), p, seconds);
            }
            if (rows.indexOf('n') >= 0) {
                ok &= compare("nonpersistent, each one answered", mq, new Client(answered, queue), n, seconds);
            }
            if (rows.indexOf('s') >= 0) {
                ok &= compare("nonpersistent, streamed both ways", streams, new Client(a, queue), n, seconds);
            }
        }
        System.exit(ok ? 0 : 1);
    }
}
