package qmgrd.load;

import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsFactoryFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
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
 * brokers are measured in turn, each by a process of its own, and the medians compared; before that each works until the virtual machine has
 * compiled what it runs most. Sends of nonpersistent messages are answered by MQ and not by Artemis, and Artemis gives consumers messages
 * ahead; either client can do the other's, so the nonpersistent ones are measured both ways. The exit code is 1 when qmgrd is
 * slower anywhere.
 */
public final class Load {
    private static final int PRODUCERS = 16;
    private static final int CONSUMERS = 16;
    private static final int SIZE = 1024;
    private static final int ROUNDS = 5;
    private static final double WARM_UP = 20;
    private static final String QUEUE = "DEV.QUEUE.1";
    private static final Map<Character, String> ROWS = Map.of('p', "persistent", 'n', "nonpersistent, each one answered",
            's', "nonpersistent, streamed both ways");

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

    /** Where each line goes to, and how. */
    private static Map<Character, Client> mq(int port, String password) throws JMSException {
        ConnectionFactory f = qmgrd(port, password);
        Client plain = new Client(f, QUEUE);
        return Map.of('p', plain, 'n', plain, 's', new Client(f, "queue:///" + QUEUE + "?putAsyncAllowed=1&readAheadAllowed=1"));
    }

    private static Map<Character, Client> artemis(int port) {
        String url = "tcp://127.0.0.1:" + port;
        Client plain = new Client(new ActiveMQConnectionFactory(url), QUEUE);
        ActiveMQConnectionFactory answered = new ActiveMQConnectionFactory(url);
        answered.setBlockOnNonDurableSend(true);
        answered.setConsumerWindowSize(0);
        return Map.of('p', plain, 'n', new Client(answered, QUEUE), 's', plain);
    }

    /** One client's process: measures what it is told, a line and seconds, and answers with the rate, until there is no more. */
    private static void side(Map<Character, Client> clients) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // the clients' own words are no rates
        for (Scanner in = new Scanner(System.in); in.hasNext(); out.flush()) {
            char row = in.next().charAt(0);
            out.println(measure(clients.get(row), row == 'p' ? DeliveryMode.PERSISTENT : DeliveryMode.NON_PERSISTENT,
                    Double.parseDouble(in.next())));
        }
    }

    /** A process of one client. In one virtual machine the two would slow each other down. */
    private static final class Side implements AutoCloseable {
        private final Process process;
        private final PrintStream to;
        private final Scanner from;

        Side(String... args) throws IOException {
            List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx1g",
                    "-cp", System.getProperty("java.class.path"), Load.class.getName()));
            command.addAll(List.of(args));
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            to = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            from = new Scanner(process.getInputStream(), StandardCharsets.UTF_8);
        }

        double rate(char row, double seconds) {
            to.println(row + " " + seconds);
            return Double.parseDouble(from.next());
        }

        @Override
        public void close() throws InterruptedException {
            to.close();
            process.waitFor();
        }
    }

    /** Measures both in turn and prints the medians; whether qmgrd was at least as fast. */
    private static boolean compare(String what, Side mq, Side artemis, char row, double seconds) {
        mq.rate(row, WARM_UP);
        artemis.rate(row, WARM_UP);
        double[] a = new double[ROUNDS];
        double[] b = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            a[i] = mq.rate(row, seconds);
            b[i] = artemis.rate(row, seconds);
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
        switch (args[0]) {
            case "qmgrd" -> side(mq(Integer.parseInt(args[1]), args[2]));
            case "artemis" -> side(artemis(Integer.parseInt(args[1])));
            default -> System.exit(both(args) ? 0 : 1);
        }
        System.exit(0);
    }

    private static boolean both(String[] args) throws Exception {
        double seconds = Double.parseDouble(args[3]);
        boolean ok = true;
        try (Side mq = new Side("qmgrd", args[0], args[2]); Side artemis = new Side("artemis", args[1])) {
            for (char row : args[4].toCharArray()) {
                ok &= compare(ROWS.get(row), mq, artemis, row, seconds);
            }
        }
        return ok;
    }
}
